"""Completions through ``spark.sql``: one row for each event that ends a trend, and counts of them."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support.completion_sql import mismatches
from tests.support.sql_cases import KEYED, relation, settings, stream, trends, values
from tests.support.tiers import first

ROWS = "ONE ROW PER COMPLETION"


@pytest.mark.parametrize("part", first(4, range(40)))
def test_random_pools(spark: SparkSession, part: int) -> None:
    """Rows, witnesses, aggregates and counts are those of the enumerator, in 1, 2 and 7 partitions."""
    wrong: list[str] = []
    seed, pools = 1000 * part, 0
    with settings(spark, spark_sparkext_partitions="2"):
        while pools < 3:
            problems, rows = mismatches(spark, seed)
            wrong += problems
            seed, pools = seed + 1, pools + (rows > 0)
    assert not wrong, "\n".join(wrong)


def test_a_funnel(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2 a3 b5 c9", "y": "a4 c5"})
    measures = "CLASSIFIER() AS step, FIRST(A.v) AS f, LAST(t) - FIRST(t) AS took, EVENTS(t) AS e, COUNT(*) AS ways"
    rows = values(spark.sql(trends("FUNNEL(A, B, C)", measures, f"SKIP TILL NEXT MATCH SPAN 7 {ROWS}")))
    assert rows == [
        ("x", "A", 10.0, 0, [1], 1),
        ("x", "A", 30.0, 0, [3], 1),
        ("x", "B", 10.0, 1, [1, 2], 1),
        ("x", "B", 30.0, 2, [3, 5], 1),
        ("x", "C", 30.0, 6, [3, 5, 9], 1),
        ("y", "A", 40.0, 0, [4], 1),
    ]


def test_aggregates_add_up_to_those_of_the_query_without_rows(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2 a3 b4 a5 b7", "y": "a1 a2 b9"})
    measures = "COUNT(*) AS n, SUM(A.v) AS s, MAX(B.v) AS m"
    for more in ("", "WITHIN 4 SLIDE 2", "SKIP TILL NEXT MATCH"):
        rows = spark.sql(trends("A+ B", measures, f"{ROWS} {more}"))
        bounds = ["window_start"] if "WITHIN" in more else []
        added = rows.groupBy("k", *bounds).agg({"n": "sum", "s": "sum", "m": "max"})
        together = spark.sql(trends("A+ B", measures, more)).select("k", *bounds, "n", "s", "m")
        of_rows = added.select("k", *bounds, "sum(n)", "sum(s)", "max(m)")
        assert values(of_rows) == values(together)
        assert len(values(together)) > 1


def test_what_is_aggregated_is_evaluated_for_all_who_ask(spark: SparkSession) -> None:
    """Of one pass, whose totals of another query have the same expression of other events."""
    stream(spark, {"x": "a1 b2 b3 c4 b5"})
    asked = {
        "rows": trends("C", "LAST(t) AS t, AVG(C.v * 2) AS mean", ROWS),
        "runs": trends("B+", "LAST(t) AS t, SUM(LAST(v * 2) - FIRST(v * 2)) AS rise", f"CONTIGUOUS {ROWS}"),
        "counted": trends("A NOT B B", "COUNT(DISTINCT k) AS n, AVG(B.v * 2) AS mean"),
        "totals": trends("A B", "COUNT(DISTINCT LAST(*)) AS n, MAX(A.v * 2) AS most"),
    }
    for name, text in asked.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {text}")
    wanted = {
        "rows": [("x", 4, 80.0)],
        "runs": [("x", 2, 0.0), ("x", 3, 20.0), ("x", 5, 0.0)],
        "counted": [("x", 1, 40.0)],
        "totals": [("x", 3, 20.0)],
    }
    assert {name: values(spark.table(name)) for name in asked} == wanted


def test_aggregates_go_with_all_that_rows_go_with(spark: SparkSession) -> None:
    """By hand: over x, the events A1 B2 A3 B4 C5 with values 10, 20, …"""
    stream(spark, {"x": "a1 b2 a3 b4 c5"})
    measures = "LAST(t) AS t, COUNT(*) AS n, SUM(A.v) AS s, MIN(LAST(v) - FIRST(v)) AS d"
    for pattern, more, expected in (
        ("A B", "DEFINE B AS v > A.v + 15", [(4, 1, 10.0, 30.0)]),
        ("A+ B", "DEFINE B AS v > PREV(v)", [(2, 1, 10.0, 10.0), (4, 3, 80.0, 10.0)]),
        ("A B NOT C", "", [(2, 0, 0.0, 0.0)][:0]),
        ("A B NOT C FOR 2", "", [(2, 1, 10.0, 10.0)]),
        ("A B", "SPAN 2", [(2, 1, 10.0, 10.0), (4, 1, 30.0, 10.0)]),
    ):
        rows = values(spark.sql(trends(pattern, measures, f"{more} {ROWS}")))
        assert rows == [("x", *row) for row in expected], (pattern, more)


def test_a_count_that_is_too_large(spark: SparkSession) -> None:
    """2^139 trends end in the last of 140 events, which is more than 38 digits; 2^126 in the 127th."""
    relation(spark, "e", "k, t, ty, v", [f"'x', {t}, 'A', 1D" for t in range(1, 141)])
    measures = "LAST(t) AS t, COUNT(*) AS n, APPROX_COUNT(*) AS about, SUM(A.v) AS s"
    for more in ("", "SPAN 1000", "WITHIN 1000 SLIDE 500"):
        rows = spark.sql(trends("A+", measures, f"{more} {ROWS}")).where("t <= 127 OR n > 0")
        with pytest.raises(PySparkException, match="TREND_COUNT_OVERFLOW"):
            rows.collect()
        with settings(spark, spark_sql_ansi_enabled="false"):
            by_time = spark.sql(trends("A+", measures, f"{more} {ROWS}")).orderBy("t").collect()
        assert {row.t: row.n for row in by_time} == {t: 2 ** (t - 1) if t <= 127 else None for t in range(1, 141)}
        assert {row.about for row in by_time if row.t == 140} == {2.0**139}
        assert {row.s for row in by_time if row.t == 3} == {8.0}  # 1 + 2 · 2 + 3


def test_what_is_counted_once_of_one_completion(spark: SparkSession) -> None:
    """It is one completion, of one key unless a part of that is NULL."""
    rows = [f"{key}, 'y', {t}, {t}D, '{ty}'" for key in ("'x'", "NULL") for t, ty in ((1, "A"), (2, "B"))]
    relation(spark, "e", "k, j, t, v, ty", rows)
    measures = "LAST(t) AS t, COUNT(DISTINCT LAST(*)) AS d, COUNT(DISTINCT j, k) AS keys"
    frame = spark.sql(trends("A B", measures, ROWS, "PARTITION BY k, j ORDER BY t TYPE BY ty"))
    assert [tuple(row) for row in frame.orderBy("k").collect()] == [(None, "y", 2, 1, 0), ("x", "y", 2, 1, 1)]


def test_windows(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2 a3 b4"})
    rows = spark.sql(trends("A B", "FIRST(t) AS f, LAST(t) AS l", f"WITHIN 3 SLIDE 2 {ROWS}"))
    assert values(rows) == [("x", 0, 3, 1, 2), ("x", 2, 5, 3, 4)]


def test_what_must_not_come_after(spark: SparkSession) -> None:
    """An order and no payment within 5 of it; times are those of the order."""
    stream(spark, {"x": "o1 p3 o10 o20 p25", "y": "o7"})
    rows = values(spark.sql(trends("O NOT P FOR 5", "LAST(t) AS at", ROWS)))
    assert rows == [("x", 10), ("x", 20), ("y", 7)]
    assert values(spark.sql(trends("O NOT P", "LAST(t) AS at", ROWS))) == [("y", 7)]
    assert values(spark.sql(trends("O NOT P FOR 6", "COUNT(DISTINCT LAST(*)) AS d"))) == [("x", 1), ("y", 1)]


@pytest.mark.parametrize("last", [-(2**63), 2**63 - 1])
@pytest.mark.parametrize("wait", [1, 2, 4, 5, 2**63 - 1])
def test_what_must_not_come_after_at_the_ends_of_bigint(spark: SparkSession, last: int, wait: int) -> None:
    """Up to the last time that there is, and from the first one on."""
    times = [last - 4, last] if last > 0 else [last, last + 4]
    events = list(zip(times, "op", strict=True))
    frame = spark.createDataFrame([("x", t, kind.upper()) for t, kind in events], "k STRING, t BIGINT, ty STRING")
    frame.createOrReplaceTempView("at_the_ends")
    rows = spark.sql(
        "SELECT * FROM at_the_ends MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY ty ONE ROW PER COMPLETION"
        f" MEASURES LAST(t) AS at PATTERN (O NOT P FOR {wait}))"
    )
    assert values(rows) == ([("x", times[0])] if wait <= 4 else [])


def test_order_within_one_time(spark: SparkSession) -> None:
    stream(spark, {"x": "b1 a1 b1"})
    ordered = "PARTITION BY k ORDER BY t, ty TYPE BY ty"
    assert values(spark.sql(trends("A B", "EVENTS(ty) AS e", ROWS))) == []
    assert values(spark.sql(trends("A B", "EVENTS(ty) AS e", ROWS, ordered))) == [("x", ["A", "B"])] * 2


ORDERS = {
    "struct": "named_struct('n', n % 3, 's', struct(upper(s)))",
    "array": "transform(array(n % 3, n), x -> IF(x = 1, NULL, x / 2))",
    "array of doubles": "array(CAST(IF(n % 2 = 0, '-0.0', '0.0') AS DOUBLE), IF(n > 4, double('NaN'), n))",
    "decimal": "CAST(n AS DECIMAL(38, 2)) * IF(n % 2 = 0, -100000000000000000000, 1)",
    "binary": "CAST(IF(n = 3, 'é', s) AS BINARY)",
    "text": "s",
    "collated": "s COLLATE UTF8_LCASE",
    "collated within": "array(named_struct('s', s COLLATE UNICODE_CI))",
    "days": "make_dt_interval(n % 3 - 1, 1)",
    "months": "make_ym_interval(n % 3 - 1, n)",
    "null": "IF(n % 2 = 0, NULL, double('NaN'))",
}
"""Expressions of each kind of type that Spark has an order of; some of their values are equal in it."""


@pytest.mark.parametrize("kind", first(1, ORDERS))
@pytest.mark.parametrize("way", [{}, {"spark_sparkext_partitions": "2"}, {"spark_sparkext_sort": "spark"}])
def test_order_of_any_type(spark: SparkSession, kind: str, way: dict[str, str]) -> None:
    """Before each event stands one of those that Spark's ORDER BY has before it, and none that is equal to it."""
    order = ORDERS[kind]
    rows = [f"'{k}', 1, {n}, '{s}', {8 * len(k) + n}" for k in ("x", "yy") for n, s in enumerate("aBbAzZé")]
    relation(spark, "e", "k, t, n, s, id", rows)
    ranked = spark.sql(f"SELECT id, k, dense_rank() OVER (PARTITION BY k ORDER BY t, {order}) AS rank FROM e").collect()
    ranks = {row.id: (row.k, row.rank) for row in ranked}
    keys = f"PARTITION BY k ORDER BY t, {order}"
    with settings(spark, **way, spark_sql_execution_arrow_maxRecordsPerBatch="3"):
        frame = spark.sql(trends("A B", "FIRST(id) AS a, LAST(id) AS b", f"DEFINE A AS true, B AS true {ROWS}", keys))
        pairs = {row.b: row.a for row in frame.collect()}
    assert sorted(pairs) == sorted(number for number, (_, rank) in ranks.items() if rank > 1)
    for after, before in pairs.items():
        k, rank = ranks[after]
        assert ranks[before] == (k, rank - 1)


def test_two_aggregates(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2 b3", "y": "a1 b2", "z": "a1"})
    spark.sql("CREATE TEMP VIEW f AS SELECT * FROM e UNION ALL SELECT NULL, t, ty, v FROM e WHERE k = 'y'")
    measures = "COUNT(DISTINCT LAST(*)) AS events, COUNT(DISTINCT k) AS keys, COUNT(*) AS n"
    grouped = "PARTITION BY k GROUP BY 1 AS one ORDER BY t TYPE BY ty"
    assert values(spark.sql(trends("A+ B", measures, keys=grouped, source="f"))) == [(1, 4, 2, 4)]
    assert values(spark.sql(trends("A+ B", measures, "WITHIN 3", keys=grouped, source="f"))) == [(1, 0, 3, 3, 2, 3)]
    assert values(spark.sql(trends("A+ B", "2 * COUNT(DISTINCT LAST(*)) AS n", source="f"))) == [
        (None, 2),
        ("x", 4),
        ("y", 2),
    ]


def test_words_that_say_what_is_so(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2 b3"})
    plain = values(spark.sql(trends("A B+")))
    assert plain == [("x", 3)]
    for more in ("AFTER MATCH NO SKIP", "ALL MATCHES", "all matches after match no skip"):
        assert values(spark.sql(trends("A B+", more=more))) == plain
    rising = [f"DEFINE B AS B.v > {prev}" for prev in ("PREV(v)", "LAST(v, 1)", "LAST ( B.v , 1 )")]
    rows = [values(spark.sql(trends("A B+", more=more))) for more in rising]
    assert rows == [plain] * 3


def test_values_of_any_type(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    struct = "named_struct('t', t, 'm', map(ty, v), 'a', array(ty))"
    (row,) = spark.sql(trends("A B", f"FIRST({struct}) AS f, EVENTS({struct}) AS e", ROWS)).collect()
    assert row.f.asDict() == {"t": 1, "m": {"A": 10.0}, "a": ["A"]}
    assert [event.m for event in row.e] == [{"A": 10.0}, {"B": 20.0}]


@pytest.mark.parametrize("unit", ["YEAR", "MONTH", "YEAR TO MONTH"])
def test_intervals_of_months(spark: SparkSession, unit: str) -> None:
    """Python workers cannot be given them."""
    stream(spark, {"x": "a1 b2"})
    months = f"CAST(make_ym_interval(t, 0) AS INTERVAL {unit})"
    struct = f"named_struct('m', map(ty, array({months})), 'interval year', {months}, 'a `b:', t)"
    shown = f"FIRST({months}) AS f, LAST(IF(ty = 'A', {months}, NULL)) AS l, LAST({struct}) AS s, EVENTS({struct}) AS e"
    spark.sql(f"CREATE TEMP VIEW shown AS {trends('A B', shown, ROWS)}")
    right = spark.sql(
        f"SELECT first(k), min({months}), CAST(NULL AS INTERVAL {unit}), max_by({struct}, t), "
        f"array((SELECT {struct} FROM e WHERE t = 1), (SELECT {struct} FROM e WHERE t = 2)) FROM e"
    )
    frame = spark.table("shown")
    assert [field.dataType.simpleString() for field in frame.schema] == [
        field.dataType.simpleString() for field in right.schema
    ]
    rows = [
        one.toDF(*"kflse").selectExpr(*(f"to_json(struct({name}))" for name in "kflse")).collect()
        for one in (frame, right)
    ]
    assert rows[0] == rows[1]


def test_pools_mix_queries_with_and_without_rows(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2 b3"})
    spark.sql(f"CREATE TEMP VIEW pairs AS {trends('A B')}")
    spark.sql(f"CREATE TEMP VIEW events AS {trends('A B', 'LAST(t) AS t', ROWS)}")
    spark.sql(f"CREATE TEMP VIEW counted AS {trends('A B', 'COUNT(DISTINCT LAST(*)) AS d')}")
    for _ in range(2):
        assert values(spark.table("events")) == [("x", 2), ("x", 3)]
        assert values(spark.table("pairs")) == [("x", 2)]
        assert values(spark.table("counted")) == [("x", 2)]
    shown = spark.sql("EXPLAIN SHARING").collect()[0][0]
    assert "Pool 1: 3 queries" in shown
    assert "Completions: 2 states" in shown
    joined = f"SELECT e.t, p.n FROM ({trends('A B', 'LAST(t) AS t', ROWS)}) e JOIN ({trends('A B')}) p ON e.k = p.k"
    assert values(spark.sql(joined)) == [(2, 2), (3, 2)]


def test_keys_come_first(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    keys = "PARTITION BY k, ty IS NULL AS missing GROUP BY k, upper(k) AS u ORDER BY t TYPE BY ty"
    frame = spark.sql(trends("A B", "LAST(t) AS last", ROWS, keys))
    assert frame.columns == ["k", "missing", "u", "last"]
    assert values(frame) == [("x", False, "X", 2)]
    assert KEYED in trends("A")


def test_too_many_nodes(spark: SparkSession) -> None:
    """The error names the query, the number and what to do; other queries of the pass have their rows."""
    relation(spark, "e", "k, t, ty", [f"'{k}', {t}, '{'AB'[t > 0]}'" for k in "xy" for t in range(700)])
    with settings(spark, spark_sparkext_maxNodes="300"):
        spark.sql(f"CREATE TEMP VIEW whole AS {trends('A B+', 'EVENTS(t) AS e', ROWS)}")
        spark.sql(f"CREATE TEMP VIEW near AS {trends('A B+', 'EVENTS(t) AS e', f'SPAN 20 {ROWS}')}")
        spark.sql(f"CREATE TEMP VIEW ends AS {trends('A B+', 'LAST(t) AS t', ROWS)}")
        assert [spark.table(name).count() for name in ("near", "ends")] == [38, 1398]
        with pytest.raises(PySparkException) as caught:
            spark.table("whole").collect()
        message = str(caught.value)
        for part in ("TREND_TOO_MANY_NODES", "query whole", "more than 300 events of one key", "SPAN", "maxNodes"):
            assert part in message, part
        assert "Traceback" not in message
