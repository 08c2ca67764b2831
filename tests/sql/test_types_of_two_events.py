"""Conditions on two events whose values are of different types, against a join of the events with themselves."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails

NAMES = re.compile(r"PREV\((\w+)\)|\b(f|p|d|i|w|c3|c5|v)\b")
"""Columns of the event before, and of the event."""

FLOATS = "SELECT * FROM VALUES (1, FLOAT(0.1)), (2, FLOAT(0.2)), (3, FLOAT(NULL)), (4, FLOAT(0.05)) AS e(t, f)"
DECIMALS = (
    "SELECT * FROM VALUES (1, 0.500BD, 1.0BD, 10, 60.00BD), (2, 1.000BD, 5.0BD, 7, 50.00BD), "
    "(3, -2.250BD, -9.5BD, -990, 49.99BD), (4, 0.125BD, NULL, 999, -60.00BD) AS e(t, p, d, i, w)"
)
CHARS = "SELECT * FROM padded"

CONDITIONS = (
    (FLOATS, "abs(PREV(f) - f) <= 0.1F"),
    (FLOATS, "coalesce(f, PREV(f)) = 0.1F"),
    (FLOATS, "greatest(f, PREV(f)) > 0.2F"),
    (FLOATS, "f + PREV(f) = FLOAT(0.3)"),
    (DECIMALS, "d DIV PREV(p) = 10"),
    (DECIMALS, "i DIV PREV(p) > 13"),
    (DECIMALS, "d % PREV(p) = 0"),
    (DECIMALS, "CAST(w + PREV(w) AS DECIMAL(4, 2)) > 90"),
    (DECIMALS, "CAST(w + PREV(w) AS DECIMAL(4, 2)) IS NULL"),
    (DECIMALS, "try_cast(w + PREV(w) AS DECIMAL(6, 3)) < 0"),
    (DECIMALS, "CAST(i + PREV(i) AS DECIMAL(3, 0)) IS NOT NULL"),
    (DECIMALS, "CAST(i + PREV(i) AS DECIMAL(5, 1)) > 1000"),
    (DECIMALS, "i + PREV(i) > nullif(9, 2147483647)"),
    (DECIMALS, "i + PREV(i) > CASE WHEN 5 BETWEEN 1 AND 10 THEN 9 END"),
    (CHARS, "c5 = PREV(c3)"),
    (CHARS, "c3 <=> PREV(c5)"),
    (CHARS, "PREV(c3) IN (c5, v)"),
)


@pytest.fixture
def events(spark: SparkSession) -> SparkSession:
    spark.sql("DROP TABLE IF EXISTS padded")
    spark.sql("CREATE TABLE padded (t INT, c3 CHAR(3), c5 CHAR(5), v STRING) USING parquet")
    spark.sql(
        "INSERT INTO padded VALUES (1, 'a', 'a', 'a'), (2, 'a', 'a', 'a  '), (3, 'b', 'a', 'b'), (4, NULL, 'b', 'b')"
    )
    return spark


@pytest.mark.parametrize(("source", "condition"), CONDITIONS)
def test_they_are_as_in_a_join(events: SparkSession, source: str, condition: str) -> None:
    """What overflows between two events is NULL, as of `try_cast`."""
    clause = f"MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B) DEFINE A AS true, B AS {condition})"
    joined = NAMES.sub(lambda match: f"a.{match[1]}" if match[1] else f"b.{match[2]}", condition)
    joined = re.sub(r"\b(try_)?cast\(", "try_cast(", joined, flags=re.IGNORECASE)
    try:
        both = f"({source}) a JOIN ({source}) b ON a.t < b.t"
        [row] = events.sql(f"SELECT count(*) AS n FROM {both} WHERE {joined}").collect()
        rows = events.sql(f"SELECT n FROM ({source}) {clause}").collect()
        assert [int(n) for (n,) in rows] == [row.n] * (row.n > 0), joined
    finally:
        events.sql("DROP TABLE padded")


@pytest.mark.parametrize(
    "condition",
    [
        "greatest(s, PREV(s)) = 'b'",
        "least(x, PREV(x)) = X'62'",
        "n % PREV(q) >= 0",
        "n DIV PREV(q) > 0",
    ],
)
def test_what_is_refused(spark: SparkSession, condition: str) -> None:
    """Strings have no order between two events, and numbers of more than 18 digits no arithmetic."""
    source = "(SELECT 1 AS t, 'a' AS s, X'61' AS x, CAST(1 AS DECIMAL(18, 0)) AS n, 0.30BD AS q)"
    clause = f"MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B) DEFINE A AS true, B AS {condition})"
    fails(spark, f"SELECT n FROM {source} {clause}", "TREND_PREV_UNSUPPORTED")
