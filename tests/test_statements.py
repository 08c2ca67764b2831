"""Where the clause may stand: statements of all kinds, relations of all kinds, parameters, names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.sql_cases import KEYED, clause, fails, relation, stream, trends, values

EVENTS = {"x": "a1 b2 a3 b4", "y": "a1 b2", "z": "b1"}
AB = clause("A B")
RESULT = [("x", 3), ("y", 1)]


@pytest.fixture
def events(spark: SparkSession) -> SparkSession:
    """The session with a relation e."""
    stream(spark, EVENTS)
    return spark


@pytest.fixture
def schema(events: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A database for tables."""
    events.sql(f"CREATE DATABASE statements LOCATION '{tmp_path}'")
    yield "statements"
    events.sql("DROP DATABASE statements CASCADE")


QUERIES = {
    "plain": f"SELECT * FROM e {AB}",
    "lower case": f"select * from e {AB.lower().replace('(a b)', '(A B)')}",
    "projection": f"SELECT lower(upper(k)) AS k, n + 0 AS n FROM e {AB} WHERE n > 0 ORDER BY k",
    "alias after": f"SELECT t.k, t.n FROM e {AB} AS t WHERE t.n > 0",
    "alias after without AS": f"SELECT t.k, t.n FROM e {AB} t",
    "alias before": f"SELECT * FROM e AS x {clause('A B', keys='PARTITION BY x.k ORDER BY x.t TYPE BY x.ty')}",
    "alias before without AS": f"SELECT * FROM e events {AB}",
    "columns renamed after": f"SELECT key AS k, number AS n FROM e {AB} AS t(key, number)",
    "subquery before": f"SELECT * FROM (SELECT * FROM e WHERE t > 0) {AB}",
    "subquery with alias before": f"SELECT * FROM (SELECT k, t + 1 AS t, ty FROM e) AS s {AB}",
    "subquery around": f"SELECT * FROM (SELECT * FROM e {AB}) AS q",
    "parentheses": f"(SELECT * FROM e {AB})",
    "values": f"SELECT k, n * 3 AS n FROM (VALUES ('x', 1, 'A'), ('x', 2, 'B') AS r(k, t, ty)) {AB} "
    f"UNION ALL SELECT * FROM (VALUES ('y', 1, 'A'), ('y', 2, 'B') AS r(k, t, ty)) {AB}",
    "cte that holds it": f"WITH c AS (SELECT * FROM e {AB}) SELECT * FROM c",
    "clause over a cte": f"WITH c AS (SELECT * FROM e), d(k, t, ty) AS (SELECT k, t, ty FROM c) SELECT * FROM d {AB}",
    "clause over a cte from around": f"WITH c AS (SELECT * FROM e) SELECT * FROM (SELECT * FROM c {AB}) WHERE n > 0",
    "cte inside a subquery": f"SELECT * FROM (WITH c AS (SELECT * FROM e) SELECT * FROM c {AB})",
    "cte that hides a view": f"WITH e AS (SELECT * FROM e WHERE k <> 'w') SELECT * FROM e {AB}",
    "cte over a cte with a clause": f"WITH c AS (SELECT * FROM e {AB}), d AS (SELECT * FROM c) SELECT * FROM d",
    "union": f"SELECT * FROM e {AB} WHERE k = 'x' UNION ALL SELECT * FROM e {AB} WHERE k = 'y'",
    "in": f"SELECT DISTINCT k, IF(k = 'x', 3, 1) AS n FROM e WHERE k IN (SELECT k FROM e {AB})",
    "scalar subquery": f"SELECT k, n FROM e {AB} WHERE n <= (SELECT max(n) FROM e {AB})",
    "join of two": f"SELECT l.k, n FROM e {AB} AS l JOIN e {clause('A B', 'COUNT(*) AS m')} AS r ON l.k = r.k",
    "join using": f"SELECT k, l.n FROM e {AB} AS l JOIN e {AB} AS r USING (k)",
    "join with a table": f"SELECT l.k, n FROM (SELECT DISTINCT k FROM e) AS l JOIN e {AB} AS r ON l.k = r.k",
    "comma": f"SELECT l.k, l.n FROM e {AB} AS l, e {AB} AS r WHERE l.k = r.k",
    "outer join": f"SELECT r.k, r.n FROM e AS l LEFT JOIN e {AB} AS r ON l.k = r.k WHERE r.n IS NOT NULL GROUP BY ALL",
    "over another trend": f"SELECT * FROM (SELECT k, 1 AS t, 'A' AS ty, n AS m FROM e {AB}) "
    + clause("A", "MAX(A.m) AS n"),
    "comments": "SELECT /* MATCH_TREND ( */ * -- MATCH_TREND\nFROM e /* here */ "
    + AB.replace("PATTERN", "/* MATCH_TREND (a) */ PATTERN -- (C)\n"),
    "strings": f"SELECT k, n FROM e {AB} WHERE 'MATCH_TREND (' <> \"FROM e MATCH_TREND (PATTERN (A))\"",
    "string in the clause": trends("A B", more="DEFINE A AS A.k <> ') PATTERN (B) MATCH_TREND ('"),
    "hint": f"SELECT /*+ BROADCAST(t) */ * FROM e {AB} AS t",
    "semicolon": f"SELECT * FROM e {AB};",
    "from first": f"FROM e {AB} SELECT k, n",
    "pipe": f"FROM e {AB} |> WHERE n > 0 |> SELECT k, n",
    "qualified names": f"SELECT * FROM e {clause('A B', keys='PARTITION BY e.k ORDER BY `e`.t TYPE BY E.ty')}",
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries(events: SparkSession, name: str) -> None:
    assert values(events.sql(QUERIES[name])) == RESULT


def test_views_over_views(events: SparkSession) -> None:
    events.sql("CREATE TEMP VIEW some AS SELECT * FROM e WHERE t < 100")
    events.sql(f"CREATE OR REPLACE TEMPORARY VIEW v COMMENT 'MATCH_TREND' AS SELECT * FROM some {AB}")
    events.sql("CREATE TEMP VIEW w AS SELECT k, CAST(n AS INT) AS t, 'A' AS ty, n FROM v")
    events.sql(f"CREATE TEMP VIEW x AS SELECT * FROM w {clause('A', 'MAX(A.n) AS n')}")
    events.sql("CREATE TEMP VIEW y (key, number) AS SELECT * FROM x")
    for name in ("v", "x", "y"):
        assert values(events.table(name)) == RESULT
        assert values(events.sql(f"SELECT * FROM {name} WHERE true")) == RESULT
    assert events.table("y").columns == ["key", "number"]
    assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["v", "x"]


def test_global_views(events: SparkSession) -> None:
    events.sql("CREATE OR REPLACE GLOBAL TEMP VIEW all_e AS SELECT * FROM e")
    events.sql(f"CREATE OR REPLACE GLOBAL TEMP VIEW shared AS SELECT * FROM global_temp.all_e {AB}")
    try:
        assert values(events.table("global_temp.shared")) == RESULT
        assert values(events.sql("SELECT * FROM global_temp.shared")) == RESULT
        assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["shared"]
    finally:
        events.sql("DROP VIEW global_temp.shared")
        events.sql("DROP VIEW global_temp.all_e")
    assert values(events.sql("SHOW TREND QUERIES")) == []


def test_results_are_data_frames(events: SparkSession) -> None:
    frame = events.sql(trends("A B"))
    assert frame.count() == 2
    assert frame.join(events.table("e"), "k").where(F.col("n") > 1).select("t").distinct().count() == 4
    assert values(frame.groupBy().agg(F.sum("n"))) == [(4,)]
    frame.createOrReplaceTempView("framed")
    assert values(events.sql("SELECT * FROM framed")) == RESULT
    assert list(frame.toPandas().columns) == ["k", "n"]
    assert values(events.sql("SELECT * FROM {t} " + AB, t=events.table("e"))) == RESULT


def test_tables(events: SparkSession, schema: str) -> None:
    """CREATE TABLE AS, INSERT, and a table as the relation; all are written at once."""
    events.sql(f"CREATE TABLE {schema}.source USING parquet AS SELECT * FROM e")
    events.sql(f"CREATE TABLE {schema}.found USING parquet AS SELECT * FROM {schema}.source {AB}")
    assert values(events.table(f"{schema}.found")) == RESULT
    events.sql(
        f"INSERT INTO {schema}.found SELECT k, n + 1 FROM `{schema}`.`source` AS s {AB} WHERE s.k = 'y'".replace(
            "s.k", "k"
        )
    )
    assert values(events.table(f"{schema}.found")) == [("x", 3), ("y", 1), ("y", 2)]
    events.sql(f"INSERT OVERWRITE {schema}.found SELECT * FROM spark_catalog.{schema}.source {AB}")
    assert values(events.table(f"{schema}.found")) == RESULT
    assert values(events.sql("SHOW TREND QUERIES")) == []


def test_cached_table(events: SparkSession) -> None:
    events.sql(f"CACHE TABLE kept AS {trends('A B')}")
    assert values(events.table("kept")) == RESULT
    events.sql("UNCACHE TABLE kept")


def test_data_frame_writers_read_views(events: SparkSession, schema: str) -> None:
    events.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    events.table("v").write.saveAsTable(f"{schema}.written")
    assert values(events.table(f"{schema}.written")) == RESULT


def test_parameters(events: SparkSession) -> None:
    """Named and by position, inside of the clause and outside, with any literal."""
    bounded = clause("A+ B", more="DEFINE A AS A.v > :low AND A.k = :key WITHIN :span")
    found = events.sql(
        f"SELECT k, n, :low AS low FROM e {bounded} WHERE n > :least",
        args={"low": 5.0, "key": "x", "span": 100, "least": 0},
    )
    assert values(found) == [("x", 4, 5.0)]
    positions = clause("A? B", more="DEFINE A AS A.v < ? WITHIN ?")
    found = events.sql(
        f"SELECT ? AS tag, k, n FROM e {positions} WHERE n > ? AND k < ?", args=["it's", 15.0, 50, 0, "y"]
    )
    assert values(found) == [("it's", "x", 4)]
    quoted = clause("A", more="DEFINE A AS A.k || ? = ?")
    assert values(events.sql(f"SELECT * FROM e {quoted}", args=["'; DROP", "x'; DROP"])) == [("x", 2)]


def test_session_variables(events: SparkSession) -> None:
    events.sql("DECLARE OR REPLACE VARIABLE low DOUBLE DEFAULT 15D")
    try:
        assert values(events.sql(trends("A B", more="DEFINE A AS A.v > low"))) == [("x", 1)]
    finally:
        events.sql("DROP TEMPORARY VARIABLE low")


def test_names_that_are_called_like_the_clause(events: SparkSession) -> None:
    """An alias, a column, a table, a function."""
    alone = [
        ("SELECT match_trend.id FROM range(1) match_trend", (0,)),
        ("SELECT a, b FROM (SELECT 1, 2) match_trend(a, b)", (1, 2)),
        ("SELECT `partition`, b FROM (SELECT 1, 2) AS match_trend(`partition`, b)", (1, 2)),
        ("SELECT match_trend FROM (SELECT 1 AS match_trend)", (1,)),
        ("SELECT match_trend (1, 2) FROM range(1)", None),
        ("SELECT 1 AS match_trend", (1,)),
    ]
    for statement, row in alone:
        if row is None:
            assert fails(events, statement, "UNRESOLVED_ROUTINE").getSqlState() == "42883"
        else:
            assert values(events.sql(statement)) == [row]
    relation(events, "match_trend", "k, t, ty, v", ["'x', 1, 'A', 1", "'x', 2, 'B', 1"])
    assert values(events.sql(f"SELECT match_trend.n FROM match_trend {AB} AS match_trend")) == [(1,)]
    assert values(events.sql(f"SELECT * FROM match_trend match_trend {AB}")) == [("x", 1)]


def test_explain_of_a_statement_with_a_clause(events: SparkSession) -> None:
    for mode in ("", "EXTENDED ", "FORMATTED "):
        plan = events.sql(f"EXPLAIN {mode}{trends('A B')}").collect()[0][0]
        assert "MapInArrow" in plan
        assert "not been planned" not in plan
    assert values(events.sql("SHOW TREND QUERIES")) == []


@pytest.mark.parametrize("lines", ["", "\n", "\r\n", "\n\n -- é (\n"])
def test_places_after_the_clause_are_the_users(events: SparkSession, lines: str) -> None:
    """Spark's own errors after a clause name the line and column of the user's text."""
    statement = f"SELECT k,{lines} n FROM e {lines}{clause('A B', more=lines)}{lines} AS t{lines} WHERE zz > 1"
    with pytest.raises(AnalysisException) as caught:
        events.sql(statement)
    assert caught.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    (context,) = caught.value.getQueryContext()
    assert context.fragment() == "zz"
    line = statement[: statement.index("zz")].count("\n") + 1
    column = statement.index("zz") - (statement.rfind("\n", 0, statement.index("zz")) + 1)
    assert f"line {line} pos {column}" in str(caught.value)


def test_syntax_errors_after_the_clause(events: SparkSession) -> None:
    statement = f"SELECT *\nFROM e {clause('A B')}\n  WHERE )"
    assert "(line 3, pos 8)" in str(fails(events, statement, "PARSE_SYNTAX_ERROR"))


def test_many_clauses_in_one_statement(events: SparkSession) -> None:
    united = " UNION ALL ".join(f"SELECT {i} AS i, k, n FROM e {clause('A' + ' B' * i)}" for i in range(12))
    assert values(events.sql(united))[:4] == [(0, "x", 2), (0, "y", 1), (1, "x", 3), (1, "y", 1)]
    assert KEYED in united
