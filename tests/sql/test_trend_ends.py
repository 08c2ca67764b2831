"""Aggregates of the ends of trends: FIRST and LAST, their differences, their types, and where they are shown."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

import sparkext
from tests.support.sql_cases import KEYED, position, relation, results, settings, stream, trends, values

ABAB = {"x": "a1 b2 a3 b4"}


def test_values_by_hand(spark: SparkSession) -> None:
    """A+ B over a1 b2 a3 b4: trends 12, 14, 34, 134; v is ten times the time."""
    stream(spark, ABAB)
    measures = """COUNT(*) AS n, SUM(FIRST(A.v)) AS fa, SUM(LAST(A.v)) AS la, AVG(LAST(v)) AS l, MIN(LAST(A.t)) AS lo,
        MAX(FIRST(t)) AS hi, COUNT(LAST(B.v)) AS c, SUM(LAST(v) - FIRST(v)) AS d, AVG(LAST(A.v) - FIRST(A.v)) AS da,
        COUNT(LAST(B.t) - FIRST(A.t)) AS cd, SUM(FIRST(A.v * 2 + B)) AS twice"""
    relation(
        spark,
        "e",
        "k, t, ty, v, b",
        ("'x', 1, 'A', 10, 0", "'x', 2, 'B', 20, 0", "'x', 3, 'A', 30, 0", "'x', 4, 'B', 40, 0"),
    )
    rows = values(spark.sql(trends("A+ B", measures)))
    assert rows == [("x", 4, 60.0, 80.0, 35.0, 1, 3, 4, 80.0, 5.0, 4, 120.0)]


def test_a_variable_that_a_trend_has_not_gives_null(spark: SparkSession) -> None:
    """B? A over b1 a2: trends 12 and 2. A difference is NULL if either of its ends is."""
    stream(spark, {"x": "b1 a2"})
    measures = (
        "COUNT(*) AS n, COUNT(FIRST(B.v)) AS c, SUM(FIRST(B.v)) AS s, COUNT(LAST(v) - FIRST(B.v)) AS cd,"
        " AVG(LAST(v) - FIRST(B.v)) AS d, AVG(FIRST(B.v) - LAST(v)) AS back"
    )
    assert values(spark.sql(trends("B? A", measures))) == [("x", 2, 1, 10.0, 1, 10.0, -10.0)]
    none = "COUNT(FIRST(C.v)) AS c, SUM(FIRST(C.v)) AS s, MAX(LAST(C.v)) AS m, AVG(LAST(C.v) - FIRST(v)) AS d"
    assert values(spark.sql(trends("B? A C?", none))) == [("x", 0, None, None, None)]


def test_nulls_are_skipped(spark: SparkSession) -> None:
    """(A | B) B over a1 b2 b3, where w is NULL at b2: of the trends 12, 13, 23 only 13 has both values."""
    relation(spark, "e", "k, t, ty, w", ("'x', 1, 'A', 5", "'x', 2, 'B', NULL", "'x', 3, 'B', 7"))
    measures = (
        "COUNT(*) AS n, COUNT(LAST(w)) AS c, SUM(LAST(w)) AS s, COUNT(LAST(w) - FIRST(w)) AS cd,"
        " SUM(LAST(w) - FIRST(w)) AS d, LOG10_COUNT(LAST(w) - FIRST(w)) AS l, MIN(FIRST(w)) AS m"
    )
    assert values(spark.sql(trends("(A | B) B", measures))) == [("x", 3, 2, 14.0, 1, 2.0, 0.0, 5)]


@pytest.mark.parametrize(
    ("kind", "first", "last", "mean"),
    [
        ("TINYINT", "1", "4", 3.0),
        ("BIGINT", "1700000000000", "1700000000250", 250.0),
        ("FLOAT", "1.5", "1.25", -0.25),
        ("DOUBLE", "'Infinity'", "1", -math.inf),
        ("DECIMAL(10,2)", "10.25", "12.50", 2.25),
        ("DATE", "'2024-02-28'", "'2024-03-01'", 2.0),
        ("TIMESTAMP", "'2024-01-01 10:00:00'", "'2024-01-01 10:01:30.000001'", timedelta(seconds=90, microseconds=1)),
        ("TIMESTAMP_NTZ", "'2024-01-01 10:00:00'", "'2024-01-01 09:00:00'", timedelta(hours=-1)),
    ],
)
def test_types(spark: SparkSession, kind: str, first: str, last: str, mean: object) -> None:
    """Extremes are of the attribute's type, differences intervals or doubles."""
    rows = (f"'x', 1, 'A', CAST({first} AS {kind})", f"'x', 2, 'B', CAST({last} AS {kind})")
    relation(spark, "e", "k, t, ty, w", rows)
    frame = spark.sql(trends("A B", "AVG(LAST(w) - FIRST(w)) AS d, SUM(B.t) AS s, MAX(LAST(B.w)) AS hi"))
    types = dict(frame.dtypes)
    assert types["hi"].upper() == kind
    assert types["d"] == ("interval day to second" if "TIMESTAMP" in kind else "double")
    ((_, first_value, _, hi),) = values(frame)
    assert first_value == mean
    assert hi is not None


def test_durations_keep_their_digits(spark: SparkSession) -> None:
    """Trends of some seconds, thousands of millions of them, 50 years after 1970."""
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW long AS SELECT"
        " TIMESTAMP '2024-05-01' + make_dt_interval(0, 0, 0, id * 0.001) AS ts,"
        " CASE WHEN id = 0 THEN 'A' WHEN id = 40 THEN 'C' ELSE 'B' END AS ty FROM range(41)"
    )
    body = "ORDER BY ts TYPE BY ty MEASURES AVG(LAST(ts) - FIRST(ts)) AS d, COUNT(*) AS n PATTERN (A B* C)"
    ((duration, count),) = values(spark.sql(f"SELECT * FROM long MATCH_TREND ({body})"))
    assert (duration, count) == (timedelta(milliseconds=40), 2**39)


def test_hours_that_a_clock_repeats_count(spark: SparkSession) -> None:
    """A duration is the time that passes, whatever the time zone says of it."""
    with settings(spark, spark_sql_session_timeZone="America/New_York"):
        relation(
            spark,
            "night",
            "k, t, ty",
            ("'x', TIMESTAMP'2024-03-10 01:30:00', 'A'", "'x', TIMESTAMP'2024-03-10 03:30:00', 'B'"),
        )
        rows = values(spark.sql(trends("A B", "SUM(LAST(t) - FIRST(t)) AS d", source="night")))
    assert rows == [("x", timedelta(hours=1))]


def test_sums_of_durations_that_are_no_interval(spark: SparkSession) -> None:
    """2^100 trends of a second each: they fail, or are NULL, as sums of intervals in Spark."""
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW long AS SELECT TIMESTAMP '2024-05-01' + make_dt_interval(0, 0, 0, id) AS ts,"
        " CASE WHEN id = 0 THEN 'A' WHEN id = 100 THEN 'C' ELSE 'B' END AS ty FROM range(101)"
    )
    body = "ORDER BY ts TYPE BY ty MEASURES SUM(LAST(ts) - FIRST(ts)) AS s, AVG(LAST(ts) - FIRST(ts)) AS d"
    statement = f"SELECT * FROM long MATCH_TREND ({body} PATTERN (A B* C))"
    with settings(spark, spark_sql_ansi_enabled="false"):
        assert values(spark.sql(statement)) == [(None, timedelta(seconds=100))]
    overflow = pytest.raises(PySparkException, match=r"TREND_INTERVAL_OVERFLOW.* of measure s ")
    with settings(spark, spark_sql_ansi_enabled="true"), overflow:
        spark.sql(statement).collect()


@pytest.mark.long
def test_with_windows_and_what_trends_leave_out(spark: SparkSession) -> None:
    """The ends are those of the trends of each window and selection."""
    stream(spark, {"x": "a1 a2 c3 b4 a5 b6"})
    spans = "COUNT(*) AS n, SUM(LAST(t) - FIRST(t)) AS d, SUM(LAST(A.t)) AS la"
    rows = values(spark.sql(trends("A+ B", spans, "WITHIN 4 SLIDE 2")))
    assert rows == [("x", 2, 6, 1, 2.0, 2.0), ("x", 4, 8, 1, 1.0, 5.0)]
    statements = [trends("A+ B", spans, more) for more in ("SKIP TILL NEXT MATCH", "CONTIGUOUS", "")]
    # Next: 124, 24, 56; contiguous: 56; any: 14, 16, 24, 26, 124, 126, 56, 156, 256, 1256.
    assert results(spark, statements, ("n", "d", "la")) == [[(3, 6.0, 9.0)], [(1, 1.0, 5.0)], [(10, 37.0, 30.0)]]
    guarded = [trends("A NOT C B", spans), trends("A B", spans, "DEFINE B AS B.v - PREV(v) < 25")]
    # Not: 56, 1 and 2 have c3 after them. Less than 25 apart: 24, 56.
    assert results(spark, guarded, ("n", "d", "la")) == [[(1, 1.0, 5.0)], [(2, 3.0, 7.0)]]
    earlier = trends("A+ C B", spans, "DEFINE B AS B.v - A.v > 25")
    # 134 alone has an A as far back as that, and 1346, 1236, 236, 136 too.
    assert results(spark, [earlier], ("n", "d", "la")) == [[(4, 3.0 + 5 + 4 + 5, 1.0 + 1 + 2 + 2)]]


def test_in_expressions_of_measures(spark: SparkSession) -> None:
    """As other aggregates, in any case and with comments."""
    stream(spark, ABAB)
    measures = "round(sum( last /* c */ (A.v) ) / count(*), 1) AS m, MAX((LAST(e.t))) AS l"
    measures += ", avg((first(`a`.v) - Last(v))) AS d"
    assert values(spark.sql(trends("A+ B", measures))) == [("x", 20.0, 4, -20.0)]


def test_views_and_what_shows_them(spark: SparkSession) -> None:
    """A pool computes them with other queries, and shows them as they are written."""
    stream(spark, ABAB | {"y": "a1 b2"})
    plain = "SELECT * FROM e MATCH_TREND (" + KEYED + " MEASURES COUNT(*) AS n PATTERN (A+ B))"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW ends_plain AS {plain}")
    measures = "AVG(LAST(t) - FIRST(t)) AS d, MAX(FIRST(A.v + 1)) AS m, MAX(LAST(t) - FIRST(t)) AS x"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW ends_view AS {trends('A+ B', measures)}")
    try:
        assert values(spark.table("ends_view")) == [("x", 2.0, 31.0, 3), ("y", 1.0, 11.0, 1)]
        assert values(spark.table("ends_plain")) == [("x", 4), ("y", 1)]
        for command in ("EXPLAIN SHARING", "EXPLAIN SHARING JSON", "EXPLAIN SHARING FOR ends_view"):
            (row,) = spark.sql(command).collect()
            assert "AVG(LAST(t) - FIRST(t))" in row[0]
            assert "MAX(FIRST(A: v + 1))" in row[0]
            assert "MAX(LAST(t) - FIRST(t))" in row[0]
        shown = {row.name: row.measures for row in spark.sql("SHOW TREND QUERIES").collect()}
        assert "AVG(LAST(t) - FIRST(t))" in str(shown["ends_view"])
    finally:
        spark.catalog.dropTempView("ends_view")
        spark.catalog.dropTempView("ends_plain")


def test_data_frames(spark: SparkSession) -> None:
    stream(spark, ABAB)
    frame = sparkext.match_trend(
        spark.table("e"),
        partition_by="k",
        order_by="t",
        type_by="ty",
        measures={"d": "AVG(LAST(t) - FIRST(t))", "l": "SUM(LAST(B.v))", "x": "MAX(LAST(t) - FIRST(t))"},
        pattern="A+ B",
    )
    assert values(frame) == [("x", 2.0, 140.0, 3)]


def test_conditions_on_values_that_may_fail(spark: SparkSession) -> None:
    """An attribute of a difference is evaluated for events of its variable alone."""
    relation(spark, "e", "k, t, ty, w", ("'x', 1, 'A', '5'", "'x', 2, 'C', 'no number'", "'x', 3, 'B', '7'"))
    with settings(spark, spark_sql_ansi_enabled="true"):
        measures = "SUM(LAST(B.w * 1.0) - FIRST(CAST(A.w AS INT))) AS d, COUNT(C) AS c"
        assert values(spark.sql(trends("A C? B", measures))) == [("x", 4.0, 1)]


def test_extremes_of_many_types(spark: SparkSession) -> None:
    columns = "k, t, ty, day, at, dec"
    rows = (
        "'x', 1, 'A', DATE'2024-01-01', TIMESTAMP'2024-01-01 00:00:00', 1.50BD",
        "'x', 2, 'A', DATE'2023-01-01', TIMESTAMP'2025-01-01 00:00:00', 2.50BD",
    )
    relation(spark, "e", columns, rows)
    measures = "MIN(FIRST(day)) AS a, MAX(LAST(A.at)) AS b, MAX(FIRST(dec)) AS c, MIN(LAST(dec)) AS d"
    by_spark = values(spark.sql(trends("A A", measures)))
    assert by_spark == [("x", date(2024, 1, 1), datetime(2025, 1, 1), Decimal("1.50"), Decimal("2.50"))]


@pytest.mark.parametrize(
    ("kind", "first", "last", "shown", "least"),
    [
        ("TINYINT", "-128", "127", "bigint", 255),
        ("INT", "-2147483648", "2147483647", "bigint", 4294967295),
        ("BIGINT", "-9223372036854775808", "9223372036854775807", "decimal(20,0)", Decimal(2**64 - 1)),
        ("DECIMAL(10,2)", "10.25", "12.50", "decimal(11,2)", Decimal("2.25")),
        ("DECIMAL(37,0)", "-" + "9" * 37, "9" * 37, "decimal(38,0)", Decimal(2 * (10**37 - 1))),
        ("DECIMAL(38,0)", "1", "3", "double", 2.0),
        ("FLOAT", "1.5", "1.25", "double", -0.25),
        ("DOUBLE", "'Infinity'", "'Infinity'", "double", math.nan),
        ("DATE", "'2024-02-28'", "'2024-03-01'", "bigint", 2),
        ("TIMESTAMP", "'0001-01-01'", "'9999-12-31 23:59:59.999999'", None, timedelta(3652058, 86399, 999999)),
        ("TIMESTAMP_NTZ", "'2024-01-01 10:00:00'", "'2024-01-01 09:00:00'", None, timedelta(hours=-1)),
    ],
)
def test_extremes_of_differences_are_exact(
    spark: SparkSession, kind: str, first: str, last: str, shown: str | None, least: object
) -> None:
    """Of all types, to their last digit, with the difference either way round."""
    rows = (f"'x', 1, 'A', CAST({first} AS {kind})", f"'x', 2, 'B', CAST({last} AS {kind})")
    relation(spark, "e", "k, t, ty, w", rows)
    measures = "MIN(LAST(w) - FIRST(w)) AS lo, MAX(LAST(w) - FIRST(w)) AS hi, MAX(FIRST(A.w) - LAST(B.w)) AS back"
    frame = spark.sql(trends("A B", measures))
    assert set(frame.dtypes[1:]) == {(name, shown or "interval day to second") for name in ("lo", "hi", "back")}
    ((_, low, high, back),) = values(frame)
    # Not negated by Spark, which rounds decimals to 34 digits when it does.
    negated = back.copy_negate() if isinstance(back, Decimal) else -back
    assert list(map(str, (low, high, negated))) == [str(least)] * 3


def test_extremes_of_differences_by_hand(spark: SparkSession) -> None:
    """A+ B over a1 b2 a3 b4: trends 12, 14, 34, 134; with C, of which there is none; w is NULL at 3."""
    rows = ("'x', 1, 'A', 7", "'x', 2, 'B', 5", "'x', 3, 'A', NULL", "'x', 4, 'B', 100")
    relation(spark, "e", "k, t, ty, w", rows)
    measures = """MIN(LAST(t) - FIRST(t)) AS lo, MAX(LAST(t) - FIRST(t)) AS hi, MIN(LAST(t) - LAST(A.t)) AS since,
        MAX(LAST(w) - FIRST(w)) AS w, MIN(LAST(w) - FIRST(w)) AS v, MAX(LAST(w) - LAST(A.w)) AS u,
        MIN(FIRST(C.w) - LAST(w)) AS none, MAX(LAST(B.t * 10) - FIRST(t)) AS other, MAX(LAST(t) - LAST(t)) AS zero"""
    by_spark = values(spark.sql(trends("A+ C? B", measures)))
    assert by_spark == [("x", 1, 3, 1, 93, -2, 93, None, 39, 0)]


def test_extremes_of_differences_with_all_else(spark: SparkSession) -> None:
    """As the trends of each window, selection, NOT and condition are."""
    stream(spark, {"x": "a1 a2 c3 b4 a5 b6"})
    spans = "COUNT(*) AS n, MIN(LAST(t) - FIRST(t)) AS lo, MAX(LAST(t) - FIRST(t)) AS hi"
    rows = values(spark.sql(trends("A+ B", spans, "WITHIN 6 SLIDE 2")))
    assert rows == [("x", 0, 6, 3, 2, 3), ("x", 2, 8, 4, 1, 4), ("x", 4, 10, 1, 1, 1)]
    statements = [trends("A+ B", spans, more) for more in ("SKIP TILL NEXT MATCH", "CONTIGUOUS", "")]
    statements += [trends("A NOT C B", spans), trends("A B", spans, "DEFINE B AS B.v - PREV(v) < 25")]
    statements += [trends("A+ C B", spans, "DEFINE B AS B.v - A.v > 25")]
    assert results(spark, statements, ("n", "lo", "hi")) == [
        [(3, 1, 3)],
        [(1, 1, 1)],
        [(10, 1, 5)],
        [(1, 1, 1)],
        [(2, 1, 2)],
        [(4, 3, 5)],
    ]


def test_extremes_of_differences_that_are_no_interval(spark: SparkSession) -> None:
    """Half a million years apart: it fails, or is NULL, as the difference does in Spark."""
    far = "timestamp_micros(-9223372036854775808)", "timestamp_micros(9223372036854775807)"
    relation(spark, "e", "k, t, ty, w", (f"'x', 1, 'A', {far[0]}", f"'x', 2, 'B', {far[1]}"))
    statement = trends("A B", "MAX(LAST(w) - FIRST(w)) AS d")
    with settings(spark, spark_sql_ansi_enabled="false"):
        assert values(spark.sql(statement)) == [("x", None)]
    overflow = pytest.raises(PySparkException, match=r"TREND_INTERVAL_OVERFLOW.*MAX\(LAST\(w\) - FIRST\(w\)\)")
    with settings(spark, spark_sql_ansi_enabled="true"), overflow:
        spark.sql(statement).collect()


@pytest.mark.long
def test_pools_that_check_themselves(spark: SparkSession) -> None:
    """Intervals are made of doubles, which need not be the same to the last digit."""
    stream(spark, ABAB | {"y": "a1 b2"})
    spark.sql("CREATE OR REPLACE TEMP VIEW moments AS SELECT *, timestamp_seconds(t) AS ts FROM e")
    keys = "PARTITION BY k ORDER BY ts TYPE BY ty"
    body = trends("A+ B", "AVG(LAST(ts) - FIRST(ts)) AS d, SUM(LAST(v)) AS s", keys=keys, source="moments")
    with settings(spark, spark_sparkext_debug="true"):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW ends_view AS {body}")
        try:
            rows = values(spark.table("ends_view"))
        finally:
            spark.catalog.dropTempView("ends_view")
    assert rows == [("x", timedelta(seconds=2), 140.0), ("y", timedelta(seconds=1), 20.0)]


@pytest.mark.long
def test_relations_that_are_parts_of_others(spark: SparkSession) -> None:
    """The filter of the relation, conditions, those on the event before, and values that are not NULL, all at once."""
    rows = ("'x', 1, 'A', 5", "'x', 2, 'B', NULL", "'x', 3, 'B', 7", "'x', 4, 'B', 70", "'x', 5, 'B', 9")
    relation(spark, "e", "k, t, ty, w", rows)
    measures = "COUNT(*) AS n, SUM(LAST(w) - FIRST(w)) AS d, COUNT(LAST(B.w) - FIRST(B.w)) AS c, SUM(LAST(w + t)) AS l"
    plain = "SELECT * FROM e WHERE coalesce(w, 0) < 50"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW ends_all AS {trends('A B', measures)}")
    try:
        define = "DEFINE B AS B.t > 1 AND (PREV(t) IS NULL OR PREV(t) < 3)"
        of_relation = values(spark.sql(trends("A? B", measures, define, source=f"({plain})")))
    finally:
        spark.catalog.dropTempView("ends_all")
    # Trends are 1 2, 1 3, 1 5, and 2, 3 and 5 alone; at 2, w is NULL.
    assert of_relation == [("x", 6, (7 - 5.0) + (9 - 5), 4, (10 + 14.0) * 2)]


def test_patterns_that_become_too_large(spark: SparkSession) -> None:
    """Which of eight variables will still occur makes 256 parts of each state."""
    stream(spark, ABAB)
    names = "ABCDEFGH"
    measures = ", ".join(f"SUM(LAST({name}.v)) AS {name}" for name in names)
    statement = trends(f"({' | '.join(names)})+", measures)
    with pytest.raises(
        AnalysisException, match=r"TREND_PATTERN_TOO_LARGE.*1000 states, taken apart by the ends"
    ) as caught:
        spark.sql(statement)
    assert position(caught.value) == (1, statement.index("PATTERN") + 1)
