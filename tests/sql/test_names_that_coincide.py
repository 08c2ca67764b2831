"""Names and texts that mean something else elsewhere: lambda parameters, keywords, quotes, case, types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, relation, values

TEXT = "SELECT * FROM {} MATCH_TREND ({} ORDER BY t TYPE BY e MEASURES {} PATTERN ({}) {})"


def query(
    measures: str = "COUNT(*) AS n", pattern: str = "A B", more: str = "", keys: str = "", source: str = "ev"
) -> str:
    return TEXT.format(source, keys, measures, pattern, more)


@pytest.fixture
def conf(spark: SparkSession) -> Iterator[Any]:
    """Sets confs of Spark's, which are taken back."""
    names: list[str] = []

    def set_conf(name: str, value: str) -> None:
        names.append(name)
        spark.conf.set(name, value)

    yield set_conf
    for name in names:
        spark.conf.unset(name)


@pytest.mark.parametrize(
    "condition",
    [
        "exists(items, x -> x.price > 10)",
        "exists(items, a -> a.price > 10)",
        "exists(items, b -> b.price > 10)",
        "exists(items, ev -> ev.price > 10)",
        "aggregate(items, 0, (a, b) -> a + b.price, a -> a) > 10",
        "exists(A.items, b -> b.price > 10 AND exists(items, a -> a.price = b.price))",
    ],
)
def test_parameters_of_lambda_functions(spark: SparkSession, condition: str) -> None:
    """What a function within an expression calls its argument hides variables, the relation and columns."""
    items = "from_json('[{{\"price\": {}}}]', 'ARRAY<STRUCT<price: INT>>')"
    rows = [f"1, 'A', 1, {items.format(50)}", f"2, 'A', 99, {items.format(2)}", f"3, 'B', 0, {items.format(0)}"]
    relation(spark, "ev", "t, e, price, items", rows)
    frame = spark.sql(query("COUNT(*) AS n, MAX(A.t) AS at", more=f"DEFINE A AS {condition}"))
    assert values(frame) == [(1, 1)]


@pytest.mark.parametrize(
    "condition",
    [
        "exists(items, x -> x > 10) AND v > A.v",
        "exists(items, a -> a > 10) AND v > PREV(v)",
        "aggregate(items, 0, (a, b) -> a + b) > 10 AND v > A.v",
        "exists(items, a -> exists(items, b -> a = b + 8)) AND v > A.v",
        "transform(items, a -> a + B.v)[0] > A.v + 10",
        "transform(items, a -> a + v)[0] > PREV(transform(items, b -> b + v)[0]) + 9",
    ],
)
def test_parameters_beside_an_earlier_event(spark: SparkSession, condition: str) -> None:
    """Spark writes such functions as it cannot read them."""
    relation(spark, "ev", "t, e, v, items", ["1, 'A', 5, array(2)", "2, 'B', 6, array(11, 3)", "3, 'B', 7, array(3)"])
    frame = spark.sql(query("COUNT(*) AS n, MAX(B.t) AS at", more=f"DEFINE B AS {condition}"))
    assert values(frame) == [(1, 2)]


def test_a_parameter_in_an_aggregate(spark: SparkSession) -> None:
    relation(spark, "ev", "t, e, v", ["1, 'A', array(1, 2)", "2, 'B', array(3, 4)"])
    frame = spark.sql(query("SUM(aggregate(B.v, 0, (b, a) -> b + a)) AS s"))
    assert values(frame) == [(7,)]


def test_variables_called_like_the_words_of_a_query(spark: SparkSession) -> None:
    relation(spark, "ev", "t, e", ["1, 'Select'", "2, 'From'", "3, 'With'"])
    measures = "COUNT(Select) AS n, SUM(From.t) AS s, MAX(With.t) AS m"
    assert values(spark.sql(query(measures, "Select From With"))) == [(1, 2, 3)]
    fails(spark, query("COUNT((SELECT 1)) AS n"), "TREND_UNSUPPORTED_EXPRESSION")


def test_columns_that_differ_in_case(spark: SparkSession, conf: Any) -> None:
    conf("spark.sql.caseSensitive", "true")
    rows = ["1, 'A', 5, 1, 'x', 'p'", "2, 'B', 4, 2, 'x', 'q'", "3, 'A', 1, 9, 'x', 'p'", "4, 'B', 7, 8, 'x', 'p'"]
    relation(spark, "ev", "t, e, v, V, k, K", [*rows, "5, 'B', 2, 10, 'x', 'p'"])
    frame = spark.sql(query("COUNT(*) AS n, SUM(A.v) AS s, SUM(A.V) AS S", more="DEFINE B AS B.v < A.v AND B.V > A.V"))
    assert (frame.columns, values(frame)) == (["n", "s", "S"], [(2, 10, 2)])
    assert values(spark.sql(query(more="DEFINE B AS B.v > A.V"))) == [(3,)]
    assert values(spark.sql(query(more="DEFINE B AS v > PREV(V)"))) == [(3,)]
    assert values(spark.sql(query(keys="PARTITION BY k, K"))) == [("x", "p", 4)]
    fails(spark, query(keys="PARTITION BY k, k"), "TREND_COLUMN_REPEATED")


def test_types_that_are_filled_up_with_blanks(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE filled (t INT, e CHAR(8), s STRUCT<e: CHAR(8)>, v VARCHAR(8)) USING parquet")
    try:
        kinds = ("A", "B", "B")
        rows = ", ".join(f"({t}, '{kind}', named_struct('e', '{kind}'), '{kind}')" for t, kind in enumerate(kinds))
        spark.sql(f"INSERT INTO filled VALUES {rows}")
        for by in ("e", "s.e", "v", "filled.e", "upper(e)"):
            text = query("COUNT(*) AS n, MAX(length(B.e)) AS l", source="filled").replace("TYPE BY e", f"TYPE BY {by}")
            assert values(spark.sql(text)) == [(2, 8)], by
    finally:
        spark.sql("DROP TABLE filled")


def test_views_of_keys_that_are_filled_up_with_blanks(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE filled (k CHAR(4) COMMENT 'which', t INT, e VARCHAR(8)) USING parquet")
    try:
        spark.sql("INSERT INTO filled VALUES ('a', 1, 'A'), ('a', 2, 'B'), ('b', 3, 'A'), ('b', 4, 'B'), ('b', 5, 'B')")
        plain = "SELECT k, CAST(count_if(e = 'B') AS DECIMAL(38,0)) AS n FROM filled GROUP BY k"
        clause = query(keys="PARTITION BY k", source="filled").replace("PARTITION BY k", "PARTITION BY k AS `k.k`")
        views = {"plain": plain, "of_clause": query(keys="PARTITION BY k", source="filled"), "renamed": clause}
        for kind in ("TEMP VIEW", "VIEW"):
            for name, text in views.items():
                spark.sql(f"CREATE {kind} {name} AS {text}")
            for name in (*views, *views):  # the second time of kept results
                key = "`k.k`" if name == "renamed" else "k"
                assert spark.sql(f"DESCRIBE {name}").first() == (
                    "k.k" if name == "renamed" else "k",
                    "char(4)",
                    "which",
                )
                for where in (f"{key} = 'a'", f"{key} IN ('a', 'z')", f"'a' = {key}", f"{key} < 'a1'"):
                    assert values(spark.sql(f"SELECT * FROM {name} WHERE {where}")) == [("a   ", 1)], (kind, name)
            for name in views:
                spark.sql(f"DROP VIEW {name}")
    finally:
        spark.sql("DROP TABLE filled")


def test_names_in_double_quotes(spark: SparkSession, conf: Any) -> None:
    relation(spark, "ev", "`Key`, t, `event type`, `within`", ["'x', 1, 'A', 5", "'x', 2, 'page view', 6"])
    conf("spark.sql.ansi.enabled", "true")
    conf("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    text = (
        'SELECT * FROM "ev" AS "e 1" MATCH_TREND (PARTITION BY "Key" AS "my ""key""" ORDER BY "t" TYPE BY "event type" '
        'MEASURES COUNT(*) AS "n 1", MAX("page view"."within") AS m, MIN(length(A."event type")) AS l '
        'PATTERN (A "page view") DEFINE "page view" AS "within" > PREV("within") AND "e 1"."within" > 5)'
    )
    frame = spark.sql(text)
    assert (frame.columns, values(frame)) == (['my "key"', "n 1", "m", "l"], [("x", 1, 6, 1)])
    spark.sql(f"CREATE OR REPLACE TEMP VIEW quoted AS {text}")
    spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "false")
    assert values(spark.table("quoted")) == [("x", 1, 6, 1)]
    fails(spark, text, "TREND_CLAUSE_SYNTAX")


def test_names_in_backticks_that_would_be_patterns(spark: SparkSession, conf: Any) -> None:
    relation(spark, "ev", "`the key`, t, e, `a.v`", ["'x', 1, 'A', 5", "'x', 2, 'B', 6"])
    conf("spark.sql.parser.quotedRegexColumnNames", "true")
    measures = "COUNT(*) AS n, SUM(B.`a.v`) AS `sum (v)`, MAX(B.`a.v`) + 1 AS m"
    text = query(measures, more="DEFINE B AS `a.v` > PREV(`a.v`) WITHIN 10", keys="PARTITION BY `the key`")
    assert values(spark.sql(text)) == [("x", 0, 10, 1, 6, 7)]
    spark.sql(f"CREATE OR REPLACE TEMP VIEW made AS {text}")
    assert values(spark.table("made")) == [("x", 0, 10, 1, 6, 7)]
    # In a query of the user's, they are.
    inner = "(SELECT `t|e|a.v` FROM ev)"
    assert values(spark.sql(query("MAX(B.`a.v`) AS m", source=inner))) == [(6,)]


def test_words_that_are_reserved(spark: SparkSession, conf: Any) -> None:
    relation(spark, "ev", "k, t, e, ts", ["'x', 1, 'A', TIMESTAMP'2026-01-01'", "'x', 2, 'B', TIMESTAMP'2026-01-02'"])
    conf("spark.sql.ansi.enabled", "true")
    conf("spark.sql.ansi.enforceReservedKeywords", "true")
    conf("spark.sparkext.chunks", "on")
    text = query("COUNT(*) AS n, MAX(B.t) + 1 AS m", more="WITHIN INTERVAL 2 DAYS").replace("ORDER BY t", "ORDER BY ts")
    assert [row[2:] for row in values(spark.sql(text))] == [(1, 3)]
    assert values(spark.sql(query(more="DEFINE B AS t > PREV(t)", keys="PARTITION BY k"))) == [("x", 1)]


@pytest.mark.parametrize("field", ["a.b", "a-b", "Größe", "a`b"])
def test_fields_of_any_name(spark: SparkSession, field: str) -> None:
    """A condition on an earlier event compares a field of a struct that has one of that name, too."""
    name = field.replace("`", "``")
    struct = "named_struct('id', {0}, '{1}', {0})"
    relation(spark, "ev", "t, e, s", [f"{t}, '{kind}', {struct.format(t, field)}" for t, kind in enumerate("ABB")])
    more = f"DEFINE B AS B.s.id = A.s.id + 1 AND B.s.`{name}` > A.s.`{name}`"
    assert values(spark.sql(query("COUNT(*) AS n, MAX(B.t) AS m", more=more))) == [(1, 1)]


def test_decimals_of_negative_scale(spark: SparkSession, conf: Any) -> None:
    relation(spark, "raw", "t, e", ["1, 'A'", "2, 'B'"])
    conf("spark.sql.legacy.allowNegativeScaleOfDecimal", "true")
    source = "(SELECT t, e, 1E5BD * t AS v FROM raw)"
    text = query("MAX(B.v) AS m", more="DEFINE B AS v > PREV(v)", keys="PARTITION BY 1E5BD AS k", source=source)
    assert [tuple(map(float, row)) for row in values(spark.sql(text))] == [(100_000.0, 200_000.0)]


@pytest.mark.parametrize("time", ["2", "2 + 1", "DATE'2026-01-01'", "length('two')"])
def test_a_time_that_is_constant(spark: SparkSession, time: str) -> None:
    relation(spark, "ev", "t, e", ["1, 'A'", "2, 'B'"])
    fails(spark, query().replace("ORDER BY t", f"ORDER BY {time}"), "TREND_ORDER_CONSTANT")
