"""Event trend aggregation in Spark SQL.

>>> import sparkext
>>> spark = sparkext.enable(spark)     # doctest: +SKIP
>>> spark.sql("SELECT * FROM rides MATCH_TREND (…)")     # doctest: +SKIP

Workers import `sparkext.udfs` through this package, so it imports nothing of Spark's before it is asked for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparkext.dataframe_api import match_trend
    from sparkext.session import disable, enable, explain_sharing
    from sparkext.stream_views import split, stream, views_of
    from sparkext.trend_stream import TrendStream

__all__ = [
    "TrendStream",
    "__version__",
    "disable",
    "enable",
    "explain_sharing",
    "match_trend",
    "split",
    "stream",
    "views_of",
]
_MODULES = {
    "TrendStream": "trend_stream",
    "match_trend": "dataframe_api",
    "split": "stream_views",
    "stream": "stream_views",
    "views_of": "stream_views",
}
__version__ = "0.2.0"

if sys.platform == "win32":
    raise ImportError("sparkext runs on Linux and macOS, and on Windows inside of WSL.")
if find_spec("sparkext.planner") is None or find_spec("sparkext.udfs") is None:
    raise ImportError(
        f"{__path__[0]}/planner and {__path__[0]}/udfs are links of the repository that this copy of it does not have, "
        "as archives make text files of them: install it with pip install --editable and the folder that it is in."
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sparkext' has no attribute '{name}'")
    return getattr(import_module(f"sparkext.{_MODULES.get(name, 'session')}"), name)
