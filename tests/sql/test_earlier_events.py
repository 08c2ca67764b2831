"""Conditions on the latest event of another variable, in SQL: what they mean, and what is pooled."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import SparkSession

import sparkext
from tests.support.sql_cases import relation, results, trends

EVENTS = ("1, 'A', 5", "2, 'B', NULL", "3, 'A', 1", "4, 'B', NULL", "5, 'C', 3", "6, 'C', 7")
KEYS = "ORDER BY t TYPE BY ty"


def counted(spark: SparkSession, pattern: str, *conditions: str, rows: tuple[str, ...] = EVENTS) -> list[object]:
    """``COUNT(*)`` of a pattern with each of some definitions."""
    relation(spark, "e", "t, ty, x", rows)
    statements = [
        trends(pattern, more=f"DEFINE {condition}" if condition else "", keys=KEYS) for condition in conditions
    ]
    return [row[0] for row in results(spark, statements)]


@pytest.mark.parametrize(
    ("pattern", "trends_found", "without"), [("A B C", 4, 6), ("A B+ C", 5, 8), ("A+ B C", 6, 8), ("A B? C", 7, 10)]
)
def test_counts_by_hand(spark: SparkSession, pattern: str, trends_found: int, without: int) -> None:
    spellings = ("C AS C.x > A.x", "c AS x > a . x", "C AS NOT (C.x <= A.`x`)", "C AS e.x - A.x > 0 AND A.x + A.X < 99")
    counts = counted(spark, pattern, "", *spellings)
    assert counts == [without, *(4 * [trends_found])]


def test_equality_and_intervals(spark: SparkSession) -> None:
    rows = [
        "TIMESTAMP '2024-01-01 00:00:00', 'Login', 'u'",
        "TIMESTAMP '2024-01-01 00:01:00', 'Login', 'v'",
        "TIMESTAMP '2024-01-01 00:02:00', 'Action', 'w'",
        "TIMESTAMP '2024-01-01 00:04:00', 'Logout', 'v'",
        "TIMESTAMP '2024-01-01 00:05:30', 'Logout', 'u'",
    ]
    relation(spark, "e", "t, ty, user", rows)
    conditions = (
        "Logout.user = Login.user",
        "Logout.t - Login.t < INTERVAL 5 MINUTES",
        "Logout.user = Login.user AND Logout.t - Login.t < INTERVAL 5 MINUTES",
        "upper(Login.user) = 'V'",
    )
    statements = [trends("Login Action Logout", more=f"DEFINE Logout AS {c}", keys=KEYS) for c in conditions]
    assert results(spark, statements) == [[2], [3], [1], [2]]


def test_a_variable_that_has_not_occurred_is_null(spark: SparkSession) -> None:
    counts = counted(spark, "(A | B) B? C", "C AS A.x IS NULL OR C.x < A.x", "C AS C.x < A.x", "C AS A.x <=> 1")
    # A3 alone or with B4, then C5 or C6.
    assert counts == [9, 3, 4]


def test_the_relation_may_have_columns_of_those_names(spark: SparkSession) -> None:
    relation(spark, "e", "t, ty, A, `__0`", ["1, 'A', 5, 1", "2, 'B', 6, 1", "3, 'B', 4, 9"])
    statements = [trends("A B", more=f"DEFINE B AS {c}", keys=KEYS) for c in ("B.A > A.A", "B.A > A.A AND A.`__0` = 1")]
    assert results(spark, statements) == [[1], [1]]


def test_of_a_data_frame(spark: SparkSession) -> None:
    relation(spark, "e", "t, ty, x", EVENTS)
    frame = sparkext.match_trend(
        spark.table("e"),
        pattern="A B+ C",
        order_by="t",
        type_by="ty",
        measures={"n": "COUNT(*)"},
        define={"C": "C.x > A.x"},
    )
    assert [row.n for row in frame.collect()] == [5]


def test_what_explain_sharing_says(spark: SparkSession) -> None:
    relation(spark, "e", "t, ty, x", EVENTS)
    spark.sql(f"CREATE OR REPLACE TEMP VIEW above AS {trends('A B? C', more='DEFINE C AS C.x > A.x', keys=KEYS)}")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW odd AS {trends('A B C', more='DEFINE C AS C.x % A.x = 1', keys=KEYS)}")
    document = json.loads(spark.sql("EXPLAIN SHARING JSON").first()[0])  # type: ignore[index]
    (planned,) = document["pools"]
    assert planned["conditions_on_the_event_before"] == []
    assert [(entry["condition"], entry["found_by"]) for entry in planned["conditions_on_earlier_events"]] == [
        ("x > A.x", "looks back at A, by Fenwick tree"),
        ("x > A.x", "looks back at A, by scan of the ranks of its events"),
        ("x % A.x = 1", "looks back at A, by scan of its events"),
    ]
    assert "looks back at A, by scan of its events" in sparkext.explain_sharing(spark).html


def test_views_share_a_pool(spark: SparkSession) -> None:
    relation(spark, "e", "t, ty, x", EVENTS)
    measures = "COUNT(*) AS n, SUM(A.x) AS s, MIN(C.x) AS least, MAX(A.x) AS most, AVG(C.x) AS mean, COUNT(B) AS b"
    for name, condition in (("above", "C AS C.x > A.x"), ("below", "C AS C.x < A.x"), ("any", "C AS true")):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {trends('A B+ C', measures, f'DEFINE {condition}', KEYS)}")
    rows_of_views = {name: tuple(spark.table(name).first() or ()) for name in ("above", "below", "any")}
    # Above: A1 and one of three B+ with C6; A3 B4 with C5 and C6. Below: A1 and one of three with C5.
    assert rows_of_views["above"] == (5, 17.0, 3, 5, (4 * 7 + 3) / 5, 3 + 1 + 2)
    assert rows_of_views["below"] == (3, 15.0, 3, 5, 3.0, 4)
    assert rows_of_views["any"] == (8, 32.0, 3, 5, 40 / 8, 10)
    shown = "".join(row[0] for row in spark.sql("EXPLAIN SHARING FOR above").collect())
    assert "x > A.x" in shown
