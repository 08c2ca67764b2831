"""SPAN: how long a trend may be, and in which windows it is then."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from pyspark.sql import SparkSession

import sparkext
from tests.support.sql_cases import relation, results, settings, stream, trends, values
from tests.support.tiers import first

HAND = "a2 b3 a4 b6"
"""Trends of A B: a2b3, a4b6, a2b6, from the shortest to the longest."""


def test_by_hand(spark: SparkSession) -> None:
    stream(spark, {"x": HAND})
    more = ["SPAN 1", "SPAN 2", "SPAN 3", "SPAN 4", "SPAN (2 + 3)", "span 9223372036854775807"]
    assert results(spark, [trends("A B", more=selection) for selection in more]) == [[], [1], [2], [2], [3], [3]]


def test_windows_hold_trends_that_end_in_them(spark: SparkSession) -> None:
    stream(spark, {"x": HAND})
    more = ["WITHIN 4 SPAN 5", "SPAN 5 WITHIN 4", "WITHIN 4", "WITHIN 4 SLIDE 2 SPAN 2", "WITHIN 1 SLIDE 3 SPAN 5"]
    answers = results(spark, [trends("A B", more=selection) for selection in more], ("window_start", "window_end", "n"))
    assert answers == [
        [(0, 4, 1), (4, 8, 2)],
        [(0, 4, 1), (4, 8, 2)],
        [(0, 4, 1), (4, 8, 1)],
        [(0, 4, 1), (2, 6, 1)],
        [(3, 4, 1), (6, 7, 2)],
    ]


def test_all_measures(spark: SparkSession) -> None:
    """Trends a2b3, a4b6, a2b6; v is ten times the time."""
    stream(spark, {"x": HAND})
    measures = (
        "COUNT(*) AS n, COUNT(A) AS c, SUM(B.v) AS s, AVG(A.v) AS m, MIN(A.v) AS lo, MAX(B.v) AS hi, "
        "APPROX_COUNT(*) AS approx, LOG10_COUNT(*) AS digits"
    )
    assert values(spark.sql(trends("A B", measures, "SPAN 5")).drop("digits")) == [
        ("x", 3, 3, 150.0, pytest.approx(80 / 3), 20.0, 60.0, 3.0)
    ]
    assert values(spark.sql(trends("A B", measures, "SPAN 2")).drop("digits")) == [
        ("x", 1, 1, 30.0, 20.0, 20.0, 30.0, 1.0)
    ]


@pytest.mark.parametrize(
    ("time", "span"),
    [
        ("timestamp_seconds(60 * t)", "INTERVAL 5 MINUTES"),
        ("timestamp_seconds(60 * t)", "'5 minutes'"),
        ("TIMESTAMP_NTZ'2026-03-01 00:00:00' + make_dt_interval(0, 0, t)", "INTERVAL '0:05' HOUR TO MINUTE"),
        ("date_from_unix_date(t)", "INTERVAL 5 DAYS"),
        ("CAST(t AS TINYINT)", "5"),
        ("CAST(t AS BIGINT)", "5"),
    ],
)
def test_all_kinds_of_time(spark: SparkSession, time: str, span: str) -> None:
    """A row without a time is in no trend, and events of one time are in none together."""
    relation(spark, "e", "k, t, ty", [f"'x', {t}, '{ty}'" for t, ty in zip((2, 3, 3, 6, 7), "ABABB", strict=True)])
    spark.sql("CREATE OR REPLACE TEMP VIEW timed AS SELECT k, t, ty FROM e UNION ALL VALUES ('x', NULL, 'B')")
    keys = f"PARTITION BY k ORDER BY {time} TYPE BY ty"
    # a2b3, a2b6, a3b6, a3b7; and not a2b7.
    assert values(spark.sql(trends("A B", more=f"SPAN {span}", keys=keys, source="timed"))) == [("x", 4)]


def test_groups_of_several_partitions(spark: SparkSession) -> None:
    stream(spark, {"x": HAND, "y": "a0 b4 b5", "z": "a1 b99"})
    by_key = trends(
        "A B", more="SPAN 5 WITHIN 10", keys="PARTITION BY k GROUP BY t < 99 AS early ORDER BY t TYPE BY ty"
    )
    assert values(spark.sql(by_key)) == [(True, 0, 10, 4)]
    alone = trends("A B", more="SPAN 5", keys="ORDER BY t TYPE BY ty")
    assert values(spark.sql(alone)) == [(11,)]


def test_columns_called_span(spark: SparkSession) -> None:
    spark.sql("CREATE TEMP VIEW e AS SELECT * FROM VALUES (1, 'A', 2), (2, 'B', 3) AS e(t, ty, span)")
    more = "DEFINE A AS span > 1, B AS B.span > 1 AND span < 9 SPAN 2"
    frame = spark.sql(trends("A B", "SUM(A.span) AS span", more, keys="GROUP BY span > 0 AS g ORDER BY t TYPE BY ty"))
    assert values(frame) == [(True, 2.0)]
    assert values(spark.sql(trends("A B", "SUM(A.span) AS span", keys="SPAN 4 ORDER BY span TYPE BY ty"))) == [(2.0,)]


def test_counts_beyond_38_digits(spark: SparkSession) -> None:
    """A+ over 200 events in a span of 150: what ends at each is 2^149 in the end."""
    spark.sql("CREATE TEMP VIEW e AS SELECT 'x' AS k, CAST(id AS INT) AS t, 'A' AS ty, 1D AS v FROM range(200)")
    measures = "COUNT(*) AS n, LOG10_COUNT(*) AS digits, AVG(A.v) AS m, SUM(A.v) / COUNT(A) AS same"
    expected = sum(2 ** min(end, 149) for end in range(200))
    with settings(spark, spark_sql_ansi_enabled="false"):
        ((_, count, digits, mean, _),) = values(spark.sql(trends("A+", measures, "SPAN 150")))
    assert count is None
    assert 10**digits == pytest.approx(expected)
    assert mean == 1.0
    short = "COUNT(*) AS n"
    assert values(spark.sql(trends("A+", short, "SPAN 100"))) == [("x", sum(2 ** min(end, 99) for end in range(200)))]


@pytest.mark.long
def test_views_with_spans_and_without_are_one_pass(spark: SparkSession) -> None:
    stream(spark, {"x": HAND})
    asked = {"five": "SPAN 5", "two": "SPAN 2 WITHIN 4", "also": "SPAN 5 WITHIN 4", "none": "WITHIN 4", "all": ""}
    for name, more in asked.items():
        spark.sql(f"CREATE TEMP VIEW {name}_ AS {trends('A B', more=more)}")
    assert [[row[-1] for row in values(spark.table(f"{name}_"))] for name in asked] == [[3], [1], [1, 2], [1, 1], [3]]
    shown = {row["name"]: (row["pool"], row["window"]) for row in spark.sql("SHOW TREND QUERIES").collect()}
    assert {pool for pool, _ in shown.values()} == {"pool 1"}
    assert [shown[f"{name}_"][1] for name in asked] == [
        "unbounded, span 5",
        "within 4, span 2",
        "within 4, span 5",
        "within 4",
        "unbounded",
    ]
    text = spark.sql("EXPLAIN SHARING").collect()[0][0]
    assert "five_: A B | COUNT(*) | unbounded, span 5" in text
    document = json.loads(spark.sql("EXPLAIN SHARING JSON").collect()[0][0])
    assert [query.get("span") for query in document["pools"][0]["queries"]] == ["5", "2", "5", None, None]
    (transition,) = document["pools"][0]["transitions"]
    together = {tuple(qset["queries"]): qset["snapshot"] for qset in transition["qsets"]}
    assert together[("five_", "also_")] is None, "totals that are equal"
    assert together[("two_",)] is None
    assert "unbounded, span 5" in sparkext.explain_sharing(spark).html


@pytest.mark.parametrize("span", first(1, [timedelta(minutes=5), "5 minutes", "INTERVAL 5 MINUTES", "'5 minutes'"]))
def test_of_data_frames(spark: SparkSession, span: timedelta | str) -> None:
    rows = [("x", datetime(2026, 3, 1, 0, int(event[1:])), event[0].upper()) for event in HAND.split()]
    events = spark.createDataFrame(rows, "k STRING, at TIMESTAMP, ty STRING")
    frame = sparkext.match_trend(
        events, pattern="A B", order_by="at", type_by="ty", measures="COUNT(*) AS n", partition_by="k", span=span
    )
    assert values(frame) == [("x", 3)]


@pytest.mark.long
def test_chunks_and_stretches_are_for_others(spark: SparkSession) -> None:
    """Where keys may be cut by time, those of spans are not."""
    stream(spark, {"x": " ".join(f"{'ab'[t % 2]}{t}" for t in range(60))})
    statements = [trends("A B", more=more) for more in ("SPAN 7", "SPAN 7 WITHIN 10", "WITHIN 10 SLIDE 5")]
    with settings(spark, spark_sparkext_chunks="off"):
        expected = results(spark, statements)
    spark.sql("REFRESH SHARING")
    with settings(spark, spark_sparkext_chunks="on"):
        assert results(spark, statements) == expected
