"""How many tasks a pass has."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from sparkext.execution.task_count import (
    BYTES_PER_TASK,
    DIVIDING,
    LEAST_BYTES,
    MOST_TASKS,
    OF_ONE_QUERY,
    is_for_one_task,
    number_of_tasks,
)
from sparkext.jvm.analysed_frame import AnalysedFrame
from tests.support.sql_cases import settings, trends

ROW = 8
"""Bytes of a row of a range, as Spark sees it."""


def rows_of(spark: SparkSession, size: int) -> AnalysedFrame:
    source = AnalysedFrame.of(spark.range(size // ROW))
    assert source.size_in_bytes == size
    return source


@pytest.mark.parametrize(
    ("size", "queries", "on_all_cores", "expected"),
    [
        (0, 1, False, 1),
        (LEAST_BYTES, 1, False, 1),
        (LEAST_BYTES, 1, True, 2),
        (2 * LEAST_BYTES, 1, False, 2),
        (LEAST_BYTES // 64, 100, False, 1),
        (LEAST_BYTES // 32, 100, False, 2),
        (2 * BYTES_PER_TASK, 1, False, 2),
        (2 * BYTES_PER_TASK + ROW, 1, False, 4),
        (10 * BYTES_PER_TASK, 100, True, 10),
        (10 * MOST_TASKS * BYTES_PER_TASK, 1, False, MOST_TASKS),
    ],
)
def test_by_size(spark: SparkSession, size: int, queries: int, on_all_cores: bool, expected: int) -> None:
    assert spark.sparkContext.defaultParallelism == 2
    assert number_of_tasks(spark, rows_of(spark, size), queries, on_all_cores) == expected


@pytest.mark.parametrize(
    ("size", "kernel", "expected"),
    [
        (DIVIDING, 0.0, True),
        (2 * DIVIDING, 0.0, False),
        (DIVIDING, OF_ONE_QUERY / 2, True),
        (DIVIDING, OF_ONE_QUERY, False),
        (DIVIDING // 64, 100 * OF_ONE_QUERY, True),
        (DIVIDING // 32, 100 * OF_ONE_QUERY, False),
    ],
)
def test_what_little_is_not_divided(spark: SparkSession, size: int, kernel: float, expected: bool) -> None:
    """By what the kernel takes for an event, on two cores."""
    assert is_for_one_task(spark, rows_of(spark, size), kernel) == expected


def test_sizes_that_spark_does_not_know(spark: SparkSession) -> None:
    """Where there may be many rows all cores are used."""
    made_of_one = AnalysedFrame.of(spark.sql("SELECT explode(sequence(1, 10000000)) AS t"))
    assert made_of_one.size_in_bytes < LEAST_BYTES
    assert number_of_tasks(spark, made_of_one, 1, on_all_cores=False) == 2
    unknown = AnalysedFrame.of(spark.createDataFrame(spark.sparkContext.parallelize([(1,)]), "t INT"))
    assert number_of_tasks(spark, unknown, 1, on_all_cores=False) == 8
    wide = unknown.selectExpr("t", *(f"string(t) AS c{n}" for n in range(200)))
    narrow = AnalysedFrame.of(spark.createDataFrame(wide.rdd, wide.schema).select("t"))
    assert narrow.size_in_bytes < unknown.size_in_bytes / 100
    assert number_of_tasks(spark, narrow, 1, on_all_cores=False) == 8


def test_as_the_user_says(spark: SparkSession) -> None:
    """From one statement to the next, in SQL; small sources are one task if nothing is said."""
    spark.sql("CREATE TEMP VIEW few AS SELECT id % 7 AS k, id AS t, IF(id % 2 = 0, 'A', 'B') AS ty FROM range(1000)")
    statement = trends("A B", source="few")
    for wanted, tasks in {"auto": 1, "3": 3, "2": 2}.items():
        with settings(spark, spark_sparkext_partitions=wanted):
            assert spark.sql(statement).rdd.getNumPartitions() == tasks
