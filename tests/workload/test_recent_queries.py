"""A statement that comes again is the query it was, for as long as all that it depends on is the same."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from sparkext.workload.statements import MOST_RECENT
from tests.support.sql_cases import settings, stream, trends, values

EVENTS = {"x": "a1 b2 a3 b4 c5", "y": "a1 b2 c3 c4"}
QUERY = trends("A B", "COUNT(*) AS n, SUM(A.v) AS s")


@pytest.fixture(autouse=True)
def events(spark: SparkSession) -> None:
    stream(spark, EVENTS)
    spark.sql("REFRESH SHARING")  # of what other tests have asked


@pytest.fixture
def passes(caplog: pytest.LogCaptureFixture) -> Callable[[], int]:
    """How many passes have been planned since it was asked last."""
    caplog.set_level(logging.INFO, "sparkext.workload.making")

    def planned() -> int:
        total = sum(record.message.startswith("planned ") for record in caplog.records)
        caplog.clear()
        return total

    return planned


def test_planned_once(spark: SparkSession, passes: Callable[[], int]) -> None:
    rows = [values(spark.sql(QUERY)) for _ in range(3)]
    assert rows == [[("x", 3, 50.0), ("y", 1, 10.0)]] * 3
    assert passes() == 1
    assert values(spark.sql(QUERY.replace("(A B)", "(A C)"))) != rows[0]
    assert passes() == 1


def test_each_clause_of_a_statement(spark: SparkSession) -> None:
    """Also if two of them read alike."""
    twice = f"SELECT * FROM ({QUERY}) AS one JOIN ({QUERY}) AS two USING (k)"
    for _ in range(3):
        assert values(spark.sql(twice)) == [("x", 3, 50.0, 3, 50.0), ("y", 1, 10.0, 1, 10.0)]


def test_refresh_plans_anew(spark: SparkSession, passes: Callable[[], int]) -> None:
    for _ in range(2):
        spark.sql(QUERY).collect()
        spark.sql("REFRESH SHARING")
    assert passes() == 2


def test_other_rows(spark: SparkSession) -> None:
    assert values(spark.sql(QUERY)) == [("x", 3, 50.0), ("y", 1, 10.0)]
    stream(spark, {"x": "a1 b2"})
    assert values(spark.sql(QUERY)) == [("x", 1, 10.0)]
    rows = "VALUES ('z', 1, 'A', 1D), ('z', 2, 'B', 2D) AS r(k, t, ty, v)"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW e AS SELECT k, t, ty, 2 * v AS v FROM {rows}")
    assert values(spark.sql(QUERY)) == [("z", 1, 2.0)]


def test_another_function(spark: SparkSession) -> None:
    query = trends("A B", "COUNT(*) AS n", "DEFINE B AS wanted(v)")
    for least, expected in ((30, [("x", 2)]), (0, [("x", 3), ("y", 1)])):
        spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION wanted(v DOUBLE) RETURNS BOOLEAN RETURN v > {least}")
        for _ in range(2):
            assert values(spark.sql(query)) == expected
    spark.sql("DROP TEMPORARY FUNCTION wanted")


def test_another_value_of_a_variable(spark: SparkSession) -> None:
    """In a condition, and in a measure."""
    condition = trends("A B", "COUNT(*) AS n", "DEFINE B AS v > least")
    measure = trends("A B", "COUNT(*) + least AS n")
    spark.sql("DECLARE OR REPLACE VARIABLE least DOUBLE")
    for least, counted, added in (
        (30, [("x", 2)], [("x", 33.0), ("y", 31.0)]),
        (0, [("x", 3), ("y", 1)], [("x", 3.0), ("y", 1.0)]),
    ):
        spark.sql(f"SET VARIABLE least = {least}")
        for _ in range(2):
            assert values(spark.sql(condition)) == counted
            assert values(spark.sql(measure)) == added
    spark.sql("DROP TEMPORARY VARIABLE least")


def test_another_setting(spark: SparkSession, passes: Callable[[], int]) -> None:
    """What the analyzer reads, and what a pass is planned by."""
    query = trends("A B", "CAST(CAST(timestamp_seconds(0) AS STRING) AS STRING) AS at, COUNT(*) AS n")
    plans_made = []
    for zone in ("UTC", "Asia/Tokyo"):
        with settings(spark, spark_sql_session_timeZone=zone):
            plans_made.append(values(spark.sql(query)))
    assert [rows[0][1] for rows in plans_made] == ["1970-01-01 00:00:00", "1970-01-01 09:00:00"]
    passes()
    for optimizer in ("greedy", "none"):
        with settings(spark, spark_sparkext_optimizer=optimizer):
            assert values(spark.sql(QUERY)) == [("x", 3, 50.0), ("y", 1, 10.0)]
    assert passes() == 2


def test_now_is_now(spark: SparkSession) -> None:
    query = trends("A B", "COUNT(*) AS n, unix_micros(now()) AS at")
    moments = [spark.sql(query).collect()[0]["at"] for _ in range(3)]
    assert moments == sorted(set(moments))


def test_only_some_are_remembered(spark: SparkSession, passes: Callable[[], int]) -> None:
    spark.sql(QUERY).collect()
    for number in range(MOST_RECENT):
        spark.sql(trends("A B", f"COUNT(*) + {number} AS n")).collect()
    passes()
    spark.sql(QUERY).collect()
    assert passes() == 1
