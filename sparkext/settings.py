"""Settings: Spark confs under ``spark.sparkext``."""

from __future__ import annotations

import json
import math

from pyspark.sql import SparkSession

from planner.errors import PlanningError
from planner.optimizers import MODELS, OPTIMIZERS

CACHE = "spark.sparkext.cache"
CHUNKS = "spark.sparkext.chunks"
COST_MODEL = "spark.sparkext.costModel"
DEBUG = "spark.sparkext.debug"
OPTIMIZER = "spark.sparkext.optimizer"
PARTITIONS = "spark.sparkext.partitions"
STATISTICS = "spark.sparkext.statistics"
SAMPLE_ROWS = "spark.sparkext.statistics.sampleRows"
_CHOICES = {
    CACHE: ("auto", "off"),
    CHUNKS: ("auto", "on", "off"),
    COST_MODEL: MODELS,
    DEBUG: ("false", "true"),
    OPTIMIZER: tuple(OPTIMIZERS),
}
_SAMPLED = 10_000


def choice(spark: SparkSession, name: str) -> str:
    """Value of a setting that has known values; the first of them is the default.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    known = {value.lower(): value for value in _CHOICES[name]}
    value = str(spark.conf.get(name, _CHOICES[name][0]))
    if value.lower() not in known:
        raise _unknown(name, value, ", ".join(known.values()))
    return known[value.lower()]


def partitions(spark: SparkSession) -> int | None:
    """Number of tasks that the user wants for a pass over a pool; None to choose by size.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    value = spark.conf.get(PARTITIONS, "auto")
    return None if value is None or value == "auto" else _positive(PARTITIONS, value, "auto, or a positive integer")


def sample_rows(spark: SparkSession) -> int:
    """How many rows of a source are read to estimate its statistics; 0 when none are to be read.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    value = str(spark.conf.get(SAMPLE_ROWS, str(_SAMPLED)))
    rows = _positive(SAMPLE_ROWS, value, "a positive integer")
    return rows if str(spark.conf.get(STATISTICS, "sample")).lower() == "sample" else 0


def given_statistics(spark: SparkSession) -> dict[str, float]:
    """Events in a group and window by class or type, as far as the user gives them.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    value = str(spark.conf.get(STATISTICS, "sample"))
    if value.lower() in ("sample", "none"):
        return {}
    try:
        given = json.loads(value)
        events = {str(name): float(number) for name, number in given.items()}
        if all(math.isfinite(number) and number >= 0 for number in events.values()):
            return events
    except (ValueError, TypeError, AttributeError):
        pass
    known = 'sample, none, or a JSON object of events per window such as {"A": 100, "B": 7.5}'
    raise _unknown(STATISTICS, value, known)


def _positive(name: str, value: str, known: str) -> int:
    if not value.isdigit() or int(value) == 0:
        raise _unknown(name, value, known)
    return int(value)


def _unknown(name: str, value: str, known: str) -> PlanningError:
    return PlanningError("TREND_UNKNOWN_SETTING", 0, 0, name=name, value=value, known=known)
