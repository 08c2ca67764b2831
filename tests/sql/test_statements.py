"""Where the clause may stand: statements of all kinds, relations of all kinds, parameters, names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.support.sql_cases import KEYED, clause, fails, position, relation, results, settings, stream, trends, values
from tests.support.tiers import every, first

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


@pytest.mark.parametrize("name", every(12, QUERIES))
def test_queries(events: SparkSession, name: str) -> None:
    assert values(events.sql(QUERIES[name])) == RESULT


XY = "FROM e WHERE k < 'z'"
WITHIN_A_STATEMENT = {
    "exists": f"SELECT k, n FROM e {AB} AS l WHERE EXISTS (SELECT * FROM e {AB} AS r WHERE r.k = l.k)",
    "not in": f"SELECT k, IF(k = 'x', 3, 1) AS n FROM (SELECT DISTINCT k FROM e) WHERE k NOT IN "
    f"(SELECT k FROM e {clause('B', 'COUNT(*) AS n', 'DEFINE B AS k = :z')})".replace(":z", "'z'"),
    "correlated around the clause": "SELECT * FROM (SELECT DISTINCT k, (SELECT max(n) FROM e "
    f"{AB} AS r WHERE r.k = o.k) AS n FROM e AS o) WHERE n > 0",
    "lateral around the clause": f"SELECT o.k, m AS n FROM (SELECT DISTINCT k FROM e) AS o, "
    f"LATERAL (SELECT n AS m FROM e {AB} AS r WHERE r.k = o.k)",
    "lateral after the clause": f"SELECT k, m AS n FROM e {AB} AS t, LATERAL (SELECT t.n AS m)",
    "three joins": f"SELECT a.k, c.n FROM e {AB} AS a JOIN (SELECT DISTINCT k FROM e) AS b ON a.k = b.k "
    f"LEFT JOIN e {AB} c ON c.k = b.k CROSS JOIN (SELECT count(*) AS z FROM e {AB})",
    "join in parentheses": f"SELECT x.k, x.n FROM (e {AB} AS x JOIN (e {AB} AS y) ON x.k = y.k)",
    "natural join": f"SELECT k, n FROM e {AB} NATURAL JOIN e {AB} AS r",
    "semi join": f"SELECT k, n FROM e {AB} AS l LEFT SEMI JOIN e {AB} AS r ON l.k = r.k",
    "over a join": "SELECT * FROM (SELECT l.k, l.t, r.ty FROM e AS l JOIN e AS r ON l.k = r.k AND l.t = r.t) " + AB,
    "over a join with a clause": f"SELECT * FROM (SELECT l.*, n AS m FROM e AS l LEFT JOIN e {AB} r ON l.k = r.k) {AB}",
    "over a clause at once": f"SELECT k, n FROM e {clause('A B', 'COUNT(*) AS m')} "
    + clause("A", "CAST(SUM(A.m) AS INT) AS n", "DEFINE A AS true", "PARTITION BY k ORDER BY CAST(m AS INT)"),
    "three deep": "SELECT * FROM (SELECT k, 1 AS t, 'A' AS ty, n AS m FROM "
    f"(SELECT k, 1 AS t, 'A' AS ty, n AS l FROM e {AB}) {clause('A', 'MAX(A.l) AS n')}) {clause('A', 'MAX(A.m) AS n')}",
    "cte without AS": f"WITH c (SELECT * FROM e), d (k, t, ty) (SELECT k, t, ty FROM c) SELECT * FROM d {AB}",
    "recursive cte": "WITH RECURSIVE c(t) AS (SELECT 1 UNION ALL SELECT t + 1 FROM c WHERE t < 2) SELECT k, n FROM c "
    + clause(
        "A", keys="PARTITION BY IF(t = 1, 'y', 'x') AS k ORDER BY t TYPE BY 'A'", measures="MAX(5 - A.t * 2) AS n"
    ).replace("MAX(5 - A.t * 2)", "IF(MAX(A.t) = 1, 1, 3)"),
    "shadowed ctes": f"WITH e AS (SELECT * {XY}) SELECT * FROM "
    f"(WITH e AS (SELECT *, 1 AS one FROM e) SELECT * FROM e {AB})",
    "cte of an inner query does not leak": f"SELECT * FROM e {AB} WHERE k IN (WITH e AS (SELECT 1) SELECT 'x') "
    f"UNION ALL SELECT * FROM e {AB} WHERE k = 'y'",
    "cte that another clause reads": f"WITH c AS (SELECT k, n AS m, 1 AS t, 'A' AS ty FROM e {AB}) SELECT * FROM c "
    + clause("A", "MAX(A.m) AS n"),
    "inline table": f"SELECT k, n * 3 AS n FROM VALUES ('x', 1, 'A'), ('x', 2, 'B') AS r(k, t, ty) {AB} "
    f"UNION ALL SELECT * FROM VALUES ('y', 1, 'A'), ('y', 2, 'B') AS r(k, t, ty) {AB}",
    "columns renamed before": "SELECT * FROM e AS q(kk, tt, yy, vv) "
    + clause("A B", keys="PARTITION BY q.kk AS k ORDER BY tt TYPE BY q.yy"),
    "columns renamed on both sides": "SELECT a AS k, b AS n FROM e q(kk, tt, yy, vv) "
    + clause("A B", keys="PARTITION BY kk ORDER BY tt TYPE BY yy")
    + " t(a, b)",
    "TABLESAMPLE before": f"SELECT * FROM e TABLESAMPLE (100 PERCENT) {AB}",
    "TABLESAMPLE after": f"SELECT * FROM e {AB} TABLESAMPLE (100 PERCENT) AS t",
    "PIVOT before": "SELECT k, n FROM (SELECT k, t, v, ty FROM e) PIVOT (max(v) AS v FOR ty IN ('A', 'B')) "
    + clause("A B", more="DEFINE A AS A.A > 0, B AS B.B > 0", keys="PARTITION BY k ORDER BY t"),
    "PIVOT after": f"SELECT stack(2, 'x', x, 'y', y) AS (k, n) FROM e {AB} PIVOT (sum(n) FOR k IN ('x', 'y'))",
    "UNPIVOT after": f"SELECT k, value AS n FROM e {AB} UNPIVOT (value FOR name IN (n))",
    "LATERAL VIEW after": f"SELECT k, i AS n FROM e {AB} LATERAL VIEW explode(array(n)) l AS i",
    "GROUP BY, HAVING, ORDER BY, LIMIT after": f"SELECT k, sum(n) AS n FROM e {AB} WHERE n > 0 GROUP BY k "
    "HAVING sum(n) > 0 ORDER BY n DESC LIMIT 2",
    "WINDOW after": f"SELECT k, sum(n) OVER w AS n FROM e {AB} WINDOW w AS (PARTITION BY k ORDER BY n)",
    "set operations": f"(SELECT * FROM e {AB} UNION SELECT * FROM e {AB}) INTERSECT (SELECT * FROM e {AB} EXCEPT "
    f"SELECT * FROM e {clause('C')})",
    "pipes": f"FROM e {AB} |> JOIN e {AB} AS q USING (k) |> AGGREGATE max(q.n) AS n GROUP BY k |> ORDER BY n",
    "pipes before": f"SELECT * FROM (FROM e |> WHERE k < 'z' |> EXTEND 1 AS one) {AB}",
    "comments between all words": "SELECT /**/ * /*/*(*/*/ FROM/**/e -- MATCH_TREND (\n\r\n"
    + AB.replace(" ", " /* ' */ -- `\n"),
    "comments that go on": f"SELECT * FROM e -- MATCH_TREND ( \\\n' still a comment\n{AB}",
    "comments that end with a hint": f"SELECT /*+ BROADCAST(t) */ * /* /*+ no hint */ FROM e {AB} AS t",
    "quotes of all kinds": "SELECT k, n FROM e "
    + clause("A B", more="DEFINE A AS k IN ('it''s', 'MATCH_TREND (', \"q\"\"(\", r'\\', 'a\\'(', k) AND `e`.`t` > .5"),
    "quoted names": "SELECT `k`, `n` FROM `e` AS `a b` "
    + clause("`A` B", "COUNT(`A`) AS `n`", keys="PARTITION BY `a b`.`k` ORDER BY `a b`.t TYPE BY `ty`"),
    "names like the words of the clause": "SELECT k, n FROM "
    "(SELECT k, t AS `within`, ty AS type, v AS `define`, t AS pattern FROM e) "
    "AS measures "
    + clause(
        "A B",
        more="DEFINE A AS measures.within > 0 AND pattern > 0",
        keys="PARTITION BY k ORDER BY `within` TYPE BY type",
    ),
    "names that start with a digit": "SELECT k, n FROM (SELECT k, t AS 1st, ty, v AS 2x FROM e) AS 3rd "
    + clause("A B", more="DEFINE A AS A.2x > 0 AND 3rd.1st > 0", keys="PARTITION BY k ORDER BY 3rd.1st TYPE BY ty"),
    "casts": f"SELECT k::string, n::int FROM e {clause('A B', more='DEFINE A AS A.t::int > 0')}",
    "mixed case": "SeLeCt * FrOm e MaTcH_tReNd "
    "(pArTiTiOn By k OrDeR bY t TyPe By ty MeAsUrEs CoUnT(*) aS n PaTtErN (A B))",
    "another order": "SELECT * FROM e MATCH_TREND (PATTERN (A B) MEASURES COUNT(*) AS n DEFINE B AS B.t > 0, A AS true "
    "TYPE BY ty ORDER BY t PARTITION BY k)",
}


@pytest.mark.long
def test_queries_within_one_statement(events: SparkSession) -> None:
    """Each is a subquery of one statement, which holds some seventy clauses."""
    answers = results(events, list(WITHIN_A_STATEMENT.values()), ("k", "CAST(n AS INT)"))
    assert dict(zip(WITHIN_A_STATEMENT, answers, strict=True)) == dict.fromkeys(WITHIN_A_STATEMENT, RESULT)


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        (
            f"SELECT * FROM e AS o WHERE EXISTS (SELECT * FROM §(SELECT * FROM e AS i WHERE i.k = o.k) {AB})",
            "TREND_SOURCE",
        ),
        (f"SELECT * FROM e AS o, LATERAL (SELECT * FROM §(SELECT o.k, o.t, o.ty) {AB})", "TREND_SOURCE"),
        (
            f"SELECT (SELECT max(n) FROM e {clause('A', more='DEFINE A AS A.v > §o.v')}) FROM e AS o",
            "TREND_UNKNOWN_COLUMN",
        ),
        (f"SELECT (SELECT max(n) FROM e {clause('A', 'COUNT(*) + §o.v AS n')}) FROM e AS o", "TREND_UNKNOWN_COLUMN"),
        (f"SELECT (SELECT max(n) FROM e {clause('A', more='WITHIN §o.t')}) FROM e AS o", "TREND_WINDOW_INVALID"),
        (f"SELECT * FROM e AS o, §LATERAL (SELECT * FROM e) {AB}", "TREND_LATERAL"),
        (f"SELECT * FROM e §LATERAL VIEW explode(array(1)) x AS y {AB}", "TREND_LATERAL"),
        (f"SELECT * FROM e WHERE k = 'x' §{AB}", "TREND_CLAUSE_SYNTAX"),
        (f"SELECT * FROM e JOIN e AS f USING (k) §{AB}", "TREND_CLAUSE_SYNTAX"),
        (
            f"§CREATE TEMPORARY FUNCTION f() RETURNS TABLE (k STRING) RETURN SELECT k FROM e {AB}",
            "TREND_NOT_SUPPORTED_YET",
        ),
        (f"CREATE TEMP VIEW §IDENTIFIER('a' || 'b') AS SELECT k FROM e {AB}", "TREND_NOT_SUPPORTED_YET"),
        (f"BEGIN SELECT 1; §CREATE VIEW v AS SELECT k FROM e {AB}; END", "TREND_PERMANENT_VIEW"),
    ],
)
def test_places_that_it_cannot_have(events: SparkSession, statement: str, condition: str) -> None:
    """Among them correlated references, out of the relation and out of the clause."""
    before, after = statement.split("§")
    assert position(fails(events, before + after, condition)) == (1, len(before) + 1)


def test_scripts(events: SparkSession) -> None:
    """Clauses in the statements of a script, and views that it creates, which outlive it."""
    script = f"""BEGIN
      DECLARE least INT DEFAULT 1;
      WITH e AS (SELECT 1) SELECT * FROM e;
      IF EXISTS (SELECT * FROM e {AB}) THEN
        CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM e {AB} UNION ALL SELECT * FROM e {clause("C")};
      END IF;
      CREATE OR REPLACE TEMP VIEW w AS SELECT k, CASE WHEN n = 1 THEN n ELSE 3 END AS n FROM e {AB};
      FOR r AS SELECT * FROM e {AB} DO SET least = least + CAST(r.n AS INT); END FOR;
      SELECT v.k, w.n, least FROM v JOIN w USING (k) JOIN e {AB} AS t USING (k);
    END"""
    assert values(events.sql(script)) == [("x", 3, 5), ("y", 1, 5)]
    for name in ("v", "w"):
        assert values(events.table(name)) == RESULT
    assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["v#1", "v#2", "w"]


def test_errors_of_scripts_are_those_of_spark(events: SparkSession) -> None:
    fails(events, "BEGIN SELECT 1; DECLARE x INT; END", "INVALID_VARIABLE_DECLARATION.ONLY_AT_BEGINNING")


@pytest.mark.long
def test_execute_immediate(events: SparkSession) -> None:
    """The text is parsed like any statement, its values among the parameters of the clause."""
    low = clause("A B", more="DEFINE A AS A.t > :low")
    positions = clause("A B", more="DEFINE A AS A.t > ?")
    events.sql("DECLARE OR REPLACE VARIABLE one INT DEFAULT 1")
    try:
        for statement, expected in {
            f"'SELECT * FROM e {AB}'": RESULT,
            f"'SELECT * FROM e {low} WHERE n < :most' USING 1 AS low, 5 AS most": [("x", 1)],
            f"'SELECT * FROM e {low}' USING 2 - 1 AS low": [("x", 1)],
            f"'SELECT k, n + ? AS n FROM e {positions} WHERE n < ?' USING 7, one, 5": [("x", 8)],
        }.items():
            assert values(events.sql(f"EXECUTE IMMEDIATE {statement}")) == expected
    finally:
        events.sql("DROP TEMPORARY VARIABLE one")
    events.sql(f"EXECUTE IMMEDIATE 'CREATE TEMP VIEW v AS SELECT * FROM e {AB}'")
    assert values(events.table("v")) == RESULT


def test_views_that_are_named_in_other_ways(events: SparkSession) -> None:
    events.sql(f"CREATE TEMP VIEW IDENTIFIER('named') AS SELECT * FROM e {AB}")
    events.sql("CREATE GLOBAL TEMP VIEW altered AS SELECT 1")
    events.sql(f"ALTER VIEW global_temp.altered AS SELECT * FROM IDENTIFIER('e') {AB}")
    try:
        assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["named", "altered"]
        assert values(events.table("named")) == values(events.table("global_temp.altered")) == RESULT
    finally:
        events.sql("DROP VIEW global_temp.altered")


@pytest.mark.parametrize("database", ["", "global_temp."])
def test_views_are_renamed(events: SparkSession, database: str) -> None:
    """With their queries, which are planned together as ever, and forgotten when they are dropped."""
    scope = "GLOBAL TEMP" if database else "TEMP"

    def names() -> list[str]:
        return [row.name for row in events.sql("SHOW TREND QUERIES").collect()]

    both = f"SELECT * FROM e {AB} UNION ALL SELECT * FROM e {AB}"
    for name, text in {"one": trends("A B"), "two": trends("A+ B"), "both": both}.items():
        events.sql(f"CREATE {scope} VIEW {name} AS {text}")
    try:
        events.sql(f"ALTER VIEW {database}one RENAME TO {database}first")
        events.sql("SELECT 1")
        assert values(events.table(f"{database}first")) == RESULT
        events.sql(f"ALTER VIEW {database}both RENAME TO {database}one")
        assert names() == ["first", "two", "one#1", "one#2"]
        assert values(events.table(f"{database}one")) == sorted([*RESULT, *RESULT])
        events.sql(f"ALTER VIEW {database}first RENAME TO {database}both")
        assert names() == ["both", "two", "one#1", "one#2"]
    finally:
        for name in ("both", "first", "one", "two"):
            events.sql(f"DROP VIEW IF EXISTS {database}{name}")
    assert names() == []


def test_a_view_is_renamed_by_the_script_that_makes_it(events: SparkSession) -> None:
    events.sql(f"BEGIN CREATE TEMP VIEW v AS {trends('A B')}; ALTER VIEW v RENAME TO w; END")
    assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["w"]
    assert values(events.table("w")) == RESULT


def test_a_view_is_renamed_after_its_statement_has_been_noted(events: SparkSession) -> None:
    """What has changed may be looked for between a statement's parsing and its run."""
    events.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    state = events._jsparkSession.sessionState()
    state.sqlParser().parsePlan("ALTER VIEW v RENAME TO w")
    assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["v"]
    assert events._jvm is not None
    named = events._jvm.org.apache.spark.sql.catalyst.TableIdentifier
    state.catalog().renameTable(named("v"), named("w"))
    assert [row.name for row in events.sql("SHOW TREND QUERIES").collect()] == ["w"]
    assert values(events.table("w")) == RESULT


def test_a_view_is_renamed_in_another_session(events: SparkSession) -> None:
    events.sql(f"CREATE GLOBAL TEMP VIEW everywhere AS {trends('A B')}")
    session = events.newSession()
    try:
        session.sql("ALTER VIEW global_temp.everywhere RENAME TO elsewhere")
        events.sql("CREATE OR REPLACE GLOBAL TEMP VIEW everywhere AS SELECT 1 AS one")
        events.sql("SELECT 2")
        assert values(events.table("global_temp.elsewhere")) == RESULT
    finally:
        for name in ("everywhere", "elsewhere"):
            session.sql(f"DROP VIEW IF EXISTS global_temp.{name}")
    assert events.sql("SHOW TREND QUERIES").collect() == []


@pytest.mark.parametrize("name", first(2, ["`a|b*`", "`a``b`", "`a.b`", "`(`", "`\\d\nx`", "`été`"]))
def test_views_may_have_any_name(events: SparkSession, name: str) -> None:
    """They are looked up by their names, which Spark takes for patterns, when they may have been dropped."""
    events.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {trends('A B')}")
    events.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {trends('A+ B')}")
    events.sql(f"CREATE OR REPLACE TEMP VIEW other AS SELECT * FROM {name}")
    assert len(events.sql("SHOW TREND QUERIES").collect()) == 1
    assert values(events.table("other")) == values(events.table(name))
    events.sql(f"DROP VIEW {name}")
    assert events.sql("SHOW TREND QUERIES").collect() == []


def test_session_variable_of_a_result(events: SparkSession) -> None:
    events.sql("DECLARE OR REPLACE VARIABLE most DECIMAL(38,0)")
    try:
        events.sql(f"SET VAR most = (SELECT max(n) FROM e {AB})")
        assert values(events.sql("SELECT most")) == [(3,)]
    finally:
        events.sql("DROP TEMPORARY VARIABLE most")


def test_strings_that_differ_in_a_quote(events: SparkSession) -> None:
    """``'it' 's'`` is its: two conditions, not one that a pool shares."""
    relation(events, "q", "k, t, ty", ["'its', 1, 'A'", "'it''s', 2, 'A'", "'it''s', 3, 'A'"])
    conditions = ["A.k = 'it' 's'", "A.k = 'it''s'"]
    answers = results(
        events, [trends("A", "COUNT(*) AS n", f"DEFINE A AS {c}", source="q") for c in conditions], ("k", "n")
    )
    assert answers == [[("its", 1)], [("it's", 2)]]


@pytest.mark.long
def test_relations_that_differ_in_names_only(events: SparkSession) -> None:
    """To Spark they are semantically equal; a pool of both would read the wrong column."""
    relation(events, "q", "k, t, ty, a, b", ["1, 1, 'A', 10, 200"])
    relation(events, "same", "k, t, ty, a, b", ["1, 1, 'A', 10, 200"])
    sources = ["q", "(SELECT k, t, ty, a AS b, b AS a FROM q)", "(SELECT k, t, ty, a, b AS c FROM q)", "q AS x"]
    answers = results(events, [trends("A", "SUM(A.a) AS n", source=source) for source in sources])
    assert answers == [[10.0], [200.0], [10.0], [10.0]]
    events.sql("CREATE TEMP VIEW v AS " + trends("A", "SUM(A.a) AS n", source="same"))
    assert values(events.table("v")) == [(1, 10.0)]
    events.sql("CREATE OR REPLACE TEMP VIEW same AS SELECT k, t, ty, a AS b, b AS a FROM q")
    assert values(events.table("v")) == [(1, 200.0)]


@pytest.mark.long
def test_writing_to_tables_in_other_ways(events: SparkSession, schema: str) -> None:
    """CTEs before and after INSERT, several inserts of one FROM, a table that is called VIEW."""
    table = f"{schema}.view"
    events.sql(f"CREATE TABLE {table} USING parquet AS WITH c AS (SELECT * FROM e) SELECT * FROM c {AB}")
    events.sql(f"INSERT INTO {table} WITH c AS (SELECT * FROM e) SELECT k, n + 10 FROM c {AB}")
    events.sql(f"WITH c AS (SELECT * FROM e) INSERT INTO {table} SELECT k, n + 20 FROM c {AB}")
    events.sql(f"FROM e {AB} INSERT INTO {table} SELECT k, n + 30 WHERE n > 1 INSERT INTO {table} SELECT k, n + 40")
    added = {"x": (0, 10, 20, 30, 40), "y": (0, 10, 20, 40)}
    assert values(events.table(table)) == [(key, n + more) for key, n in RESULT for more in added[key]]


@pytest.mark.long
def test_results_go_to_directories_and_to_pandas(events: SparkSession, tmp_path: Path) -> None:
    events.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/found' USING parquet SELECT * FROM e {AB}")
    assert values(events.read.parquet(f"{tmp_path}/found")) == RESULT
    from pyspark import pandas  # which warns of what it sets

    table = pandas.sql(f"SELECT * FROM e {AB}").to_pandas()
    assert sorted(zip(table["k"], table["n"], strict=True)) == RESULT


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE rows SET id = 7 WHERE id IN (SELECT n FROM e {AB})",
        f"DELETE FROM rows WHERE id IN (SELECT n FROM e {AB})",
        f"MERGE INTO rows USING e {AB} AS s ON rows.id = s.n WHEN MATCHED THEN DELETE",
    ],
)
def test_changes_of_rows_reach_spark(events: SparkSession, statement: str) -> None:
    """Spark's relations in memory take none; what is said about it is what Spark says."""
    events.sql("CREATE OR REPLACE TEMP VIEW rows AS SELECT * FROM range(3)")
    with pytest.raises(Exception, match=r"UNSUPPORTED_FEATURE|INTERNAL_ERROR") as caught:
        events.sql(statement)
    assert "TREND_" not in str(caught.value)


def test_double_quotes_for_names(events: SparkSession) -> None:
    """With Spark's setting for it, columns within the clause may be written so."""
    keys = 'PARTITION BY "k" ORDER BY "t" TYPE BY "ty"'
    with settings(events, spark_sql_ansi_doubleQuotedIdentifiers="true"):
        assert values(events.sql(f'SELECT "n" FROM e {clause("A B", keys=keys)}')) == [(1,), (3,)]


@pytest.mark.long
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
    frame = events.sql(
        f"SELECT k, n, :low AS low FROM e {bounded} WHERE n > :least",
        args={"low": 5.0, "key": "x", "span": 100, "least": 0},
    )
    assert values(frame) == [("x", 4, 5.0)]
    positions = clause("A? B", more="DEFINE A AS A.v < ? WITHIN ?")
    frame = events.sql(
        f"SELECT ? AS tag, k, n FROM e {positions} WHERE n > ? AND k < ?", args=["it's", 15.0, 50, 0, "y"]
    )
    assert values(frame) == [("it's", "x", 4)]
    quoted = clause("A", more="DEFINE A AS A.k || ? = ?")
    assert values(events.sql(f"SELECT * FROM e {quoted}", args=["'; DROP", "x'; DROP"])) == [("x", 2)]


def test_session_variables(events: SparkSession) -> None:
    events.sql("DECLARE OR REPLACE VARIABLE low DOUBLE DEFAULT 15D")
    try:
        assert values(events.sql(trends("A B", more="DEFINE A AS A.v > low"))) == [("x", 1)]
    finally:
        events.sql("DROP TEMPORARY VARIABLE low")


def test_session_variables_beside_the_event_before(events: SparkSession) -> None:
    """A constant of the statement, on either side."""
    events.sql("DECLARE OR REPLACE VARIABLE step INT DEFAULT 5")
    try:
        expected = values(events.sql(trends("A B", more="DEFINE B AS v > PREV(v) + 5")))
        assert expected == values(events.sql(trends("A B", more="DEFINE B AS v > PREV(v) + step"))) != []
        assert expected == values(events.sql(trends("A B", more="DEFINE B AS B.v - step > PREV(v)")))
    finally:
        events.sql("DROP TEMPORARY VARIABLE step")


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
    assert position(caught.value) == (line, column + 1)


def test_syntax_errors_after_the_clause(events: SparkSession) -> None:
    statement = f"SELECT *\nFROM e {clause('A B')}\n  WHERE )"
    assert "(line 3, pos 8)" in str(fails(events, statement, "PARSE_SYNTAX_ERROR"))


def test_many_clauses_in_one_statement(events: SparkSession) -> None:
    united = " UNION ALL ".join(f"SELECT {i} AS i, k, n FROM e {clause('A' + ' B' * i)}" for i in range(12))
    assert values(events.sql(united))[:4] == [(0, "x", 2), (0, "y", 1), (1, "x", 3), (1, "y", 1)]
    assert KEYED in united


def test_braces_of_a_pattern_beside_those_of_a_frame(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 a2 b3"})
    text = trends("A{2} B").replace("{", "{{").replace("}", "}}").replace("FROM e", "FROM {df}")
    assert values(spark.sql(text, df=spark.table("e"))) == [("x", 1)]
