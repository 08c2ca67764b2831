"""How many tasks a pass over a source has."""

from __future__ import annotations

from pyspark.sql import SparkSession

from sparkext.jvm.analysed_frame import AnalysedFrame

BYTES_PER_TASK = 16 << 20
"""Size of the source that one task of a pass is given, as far as Spark knows the size: about a million events, which
it sorts in memory."""

LEAST_BYTES = 4 << 20
"""Size of the source, for one query, from which on a second core is worth its start: as little as Spark gives a task
that reads files. The first task on a core starts Python, which takes longer than computing this much."""

TASKS_PER_CORE = 4
"""Tasks of a pass for a core when Spark does not know the size of the source. A task costs Spark some
50 ms whatever it does, and the sort spills to disk when it must, so few are better than many."""

MOST_TASKS = 5000
"""Tasks of a pass however large the source is: its data is in blocks of tasks times tasks, and the driver takes a
hundred sampled rows for each task of a range of time, and keeps a bound of each."""

OF_ONE_QUERY = 750.0
"""Nanoseconds that an event takes to be read, given to Python and sorted; one query takes about as many in all."""

DIVIDING = 5 << 20
"""Size of the source that one query is computed over in the time that it takes to divide a pass of several queries: to
shuffle events, and to add up what tasks have of a group."""

MOST_READS = 100
"""Tasks by which all views of a pool together read its results, where cores and the size of the source allow that."""

_UNKNOWN_SIZE = 1 << 53
"""Size from which on Spark does not know it: it takes 2^63 bytes for a relation, and their share for some columns."""


def number_of_tasks(spark: SparkSession, source: AnalysedFrame, queries: int, on_all_cores: bool) -> int:
    """Number of tasks of a pass, by the size of the source.

    Args:
        spark: The session.
        source: What is read.
        queries: How many the pass computes.
        on_all_cores: Whether all cores are to be used however small the source is.
    """
    size = source.size_in_bytes
    if size * queries < LEAST_BYTES and not on_all_cores and not source.multiplies:
        return 1
    cores = spark.sparkContext.defaultParallelism
    if size >= _UNKNOWN_SIZE:
        return TASKS_PER_CORE * cores
    busy = min(cores, size * queries // LEAST_BYTES)
    if on_all_cores or (busy < cores and source.multiplies):  # of which Spark takes no account in the size
        busy = cores
    by_size = -(-size // BYTES_PER_TASK)
    if by_size > cores:
        by_size = -(-by_size // cores) * cores  # else cores are idle while the last tasks run
    return max(1, busy, min(by_size, MOST_TASKS))


def is_for_one_task(spark: SparkSession, source: AnalysedFrame, kernel: float) -> bool:
    """Whether a pass of several queries takes no longer in one task than divided among all cores.

    Args:
        spark: The session.
        source: What is read.
        kernel: Nanoseconds that the kernel is expected to take for an event.
    """
    size, cores = source.size_in_bytes, spark.sparkContext.defaultParallelism
    saved = size * (1 + kernel / OF_ONE_QUERY) * (1 - 1 / cores)
    return saved < DIVIDING and not source.multiplies


def parts_of_result(spark: SparkSession, tasks: int, queries: int) -> int:
    """Number of partitions of results that are shuffled once more.

    They are read as often as there are views, by a task for each partition, and are mostly small beside the source.

    Args:
        spark: The session.
        tasks: Of the pass.
        queries: How many it computes.
    """
    return min(tasks, max(spark.sparkContext.defaultParallelism, MOST_READS // queries, tasks // 8))
