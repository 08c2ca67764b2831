"""Event trend aggregation in Spark SQL.

>>> import sparkext
>>> spark = sparkext.enable(spark)     # doctest: +SKIP
>>> spark.sql("SELECT * FROM rides MATCH_TREND (…)")     # doctest: +SKIP
"""

from __future__ import annotations

from sparkext import own_packages

own_packages.check()

from sparkext.session import enable, explain_sharing  # noqa: E402

__all__ = ["__version__", "enable", "explain_sharing"]
__version__ = "0.1.0"
