"""Event trend aggregation in Spark SQL.

>>> import sparkext
>>> spark = sparkext.enable(spark)     # doctest: +SKIP
>>> spark.sql("SELECT * FROM rides MATCH_TREND (…)")     # doctest: +SKIP
"""

from __future__ import annotations

from sparkext import own_packages

own_packages.check()

from sparkext.frames import match_trend  # noqa: E402
from sparkext.session import disable, enable, explain_sharing  # noqa: E402

__all__ = ["__version__", "disable", "enable", "explain_sharing", "match_trend"]
__version__ = "0.1.0"
