"""How many tasks a pass over a source has."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from sparkext import settings

BYTES_PER_TASK = 64 << 20
"""Size of the source that one task of a pass is given, as far as Spark knows the size."""

LEAST_BYTES = 4 << 20
"""Size of the source, for one query, from which on a second core is worth its start: as little as Spark gives a task
that reads files. The first task on a core starts Python, which takes longer than computing this much."""

TASKS_PER_CORE = 4
"""Tasks of a pass for a core when Spark does not know the size of the source. A task costs Spark some
50 ms whatever it does, and the sort spills to disk when it must, so few are better than many."""

_UNKNOWN_SIZE = 1 << 62


def source_bytes(source: DataFrame) -> int:
    """Size of a source as Spark knows it; 2^62 and more when it does not."""
    return int(str(source._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))


def number_of_tasks(spark: SparkSession, source: DataFrame, queries: int, on_all_cores: bool) -> int:
    """Number of tasks of a pass: as the user says, else by the size of the source.

    Args:
        spark: The session.
        source: What is read.
        queries: How many the pass computes.
        on_all_cores: Whether all cores are to be used however small the source is.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``.
    """
    wanted = settings.partitions(spark)
    if wanted is not None:
        return wanted
    size, cores = source_bytes(source), spark.sparkContext.defaultParallelism
    if size >= _UNKNOWN_SIZE:
        return TASKS_PER_CORE * cores
    busy = cores if on_all_cores else min(cores, size * queries // LEAST_BYTES)
    return max(1, busy, -(-size // BYTES_PER_TASK))
