"""Settings: Spark confs under ``spark.sparkext``."""

from __future__ import annotations

from pyspark.sql import SparkSession

from planner.errors import PlanningError

CACHE = "spark.sparkext.cache"
PARTITIONS = "spark.sparkext.partitions"
_CHOICES = {CACHE: ("auto", "off")}


def choice(spark: SparkSession, name: str) -> str:
    """Value of a setting that has known values; the first of them is the default.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    known = _CHOICES[name]
    value = str(spark.conf.get(name, known[0])).lower()
    if value not in known:
        raise PlanningError("TREND_UNKNOWN_SETTING", 0, 0, name=name, value=value, known=", ".join(known))
    return value


def partitions(spark: SparkSession) -> int | None:
    """Number of tasks that the user wants for a pass over a pool; None to choose by size.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    value = spark.conf.get(PARTITIONS, "auto")
    if value is None or value == "auto":
        return None
    if not value.isdigit() or int(value) == 0:
        raise PlanningError(
            "TREND_UNKNOWN_SETTING", 0, 0, name=PARTITIONS, value=value, known="auto, or a positive integer"
        )
    return int(value)
