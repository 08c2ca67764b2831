"""Permanent views: the catalog keeps what the user wrote, and every session with the extension reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.errors.exceptions.captured import ParseException
from pyspark.sql import SparkSession

import sparkext
from tests.sql.test_statements import QUERIES
from tests.support.sql_cases import clause, fails, position, settings, trends, values
from tests.support.tiers import every, first

DATABASES = ("made", "elsewhere")
ROWS = "SELECT * FROM VALUES ('x', 1, 'A'), ('x', 2, 'B'), ('x', 3, 'A'), ('x', 4, 'B') AS r(k, t, ty)"
WRITTEN = (
    "AS SELECT /* mine */ n, k -- all\nFROM e\n  MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY ty\n"
    "    MEASURES COUNT(*) AS n /* '/* nested */' */ PATTERN (A B)\n    DEFINE A AS A.k <> '*/ UNION TABLE e /*')"
)
QUERY_NAMES = ("comments", "strings", "semicolon", "from first", "join using", "over another trend", "comma")
NOT_ENABLED = "sparkext, which this view needs and this session has not enabled"


@pytest.fixture
def events(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    """The session in a schema of its own with a table e; another one is empty."""
    for name in DATABASES:
        spark.sql(f"CREATE DATABASE {name} LOCATION '{tmp_path}/{name}'")
    spark.sql("USE made")
    spark.sql(f"CREATE TABLE e USING parquet AS {ROWS}")
    yield spark
    spark.sql("USE default")
    for name in DATABASES:
        spark.sql(f"DROP DATABASE {name} CASCADE")


@pytest.fixture
def other(events: SparkSession) -> Iterator[SparkSession]:
    """Another enabled session; switched off in the end, so that it keeps no results."""
    session = events.newSession()
    yield session
    sparkext.disable(session)
    sessions = events.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
    sessions.setActiveSession(events._jsparkSession)
    SparkSession._instantiatedSession = SparkSession._activeSession = events


@pytest.fixture
def without(events: SparkSession) -> Iterator[SparkSession]:
    """A session of the same catalog in which the extension is off."""
    enabled = sparkext.enable(events.newSession())
    sparkext.disable(enabled)
    yield enabled
    sessions = events.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
    sessions.setDefaultSession(events._jsparkSession)
    sessions.setActiveSession(events._jsparkSession)
    SparkSession._instantiatedSession = SparkSession._activeSession = events


def queries(spark: SparkSession) -> list[tuple[str, str]]:
    """Name and pool of each trend query of a session."""
    return [(row.name, row.pool) for row in spark.sql("SHOW TREND QUERIES").collect()]


def counted(spark: SparkSession, view: str) -> list[int]:
    """The column n of a view."""
    return sorted(int(row.n) for row in spark.table(view).collect())


@pytest.mark.long
def test_it_is_read_in_the_session_that_creates_it_and_in_others(events: SparkSession, other: SparkSession) -> None:
    """Its queries are those of a session once it has been read there, and are pooled with others."""
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    assert queries(events) == []
    assert counted(events, "v") == [3]
    assert counted(events, "made.v") == counted(other, "spark_catalog.made.v") == [3]
    assert queries(events) == queries(other) == [("v", "pool 1")]
    events.sql(f"CREATE TEMP VIEW w AS {trends('A+ B')}")
    assert counted(events, "w") == [4]
    assert counted(events, "v") == [3]
    assert queries(events) == [("v", "pool 1"), ("w", "pool 1")]
    assert "v: A B | COUNT(*)" in events.sql("EXPLAIN SHARING FOR v").collect()[0].plan
    assert "Pool 1: 2 queries, 1 pass" in events.sql("EXPLAIN SHARING").collect()[0].plan


@pytest.mark.parametrize("name", first(1, QUERY_NAMES))
def test_any_query_can_be_a_permanent_view(events: SparkSession, name: str) -> None:
    """It is shown as it was written, has the rows of the query, and can be made of what is shown."""
    query = QUERIES[name]
    events.sql(f"CREATE VIEW v AS {query}")
    shown = events.sql("SHOW CREATE TABLE v").collect()[0].createtab_stmt
    assert shown.endswith(f"\nAS {query.removesuffix(';')}\n")
    right = values(events.sql(query))
    assert values(events.table("v")) == right
    events.sql("DROP VIEW v")
    events.sql(shown)
    assert values(events.table("v")) == right


def test_everything_about_it_shows_what_the_user_wrote(events: SparkSession) -> None:
    events.sql(
        f"CREATE VIEW v (number COMMENT 'of trends', k) COMMENT 'mine' TBLPROPERTIES ('p' = '1') {WRITTEN} -- end"
    )
    text = WRITTEN.removeprefix("AS ")
    shown = events.sql("SHOW CREATE TABLE v").collect()[0].createtab_stmt
    assert shown.startswith("CREATE VIEW made.v (\n  number COMMENT 'of trends',\n  k)\nCOMMENT 'mine'\nTBLPROPERTIES")
    assert shown.endswith(f"\nAS {text}\n")
    described = {row.col_name: row.data_type for row in events.sql("DESCRIBE TABLE EXTENDED v").collect()}
    assert described["number"] == "decimal(38,0)"
    assert described["View Text"] == described["View Original Text"] == text
    assert [row.col_name for row in events.sql("DESC v").collect()] == ["number", "k"]
    [[as_json]] = events.sql("DESCRIBE EXTENDED v AS JSON").collect()
    assert json.loads(as_json)["view_text"] == text
    [of_table] = events.sql("SHOW TABLE EXTENDED LIKE 'v'").collect()
    assert f"View Text: {text}\n" in of_table.information
    assert of_table.isTemporary is False
    assert values(events.table("v")) == [(Decimal(3), "x")]


def test_commands_that_show_other_tables_are_sparks(events: SparkSession, without: SparkSession) -> None:
    for command in ("SHOW CREATE TABLE made.e", "DESCRIBE EXTENDED made.e", "SHOW TABLE EXTENDED IN made LIKE '*'"):
        assert events.sql(command).collect() == without.sql(command).collect()
    fails(events, "SHOW CREATE TABLE nowhere", "TABLE_OR_VIEW_NOT_FOUND")


def test_a_session_without_the_extension_gets_an_error_that_names_it(
    events: SparkSession, without: SparkSession
) -> None:
    """Whatever it asks of the view; it may describe and drop it."""
    events.sql(f"CREATE VIEW v {WRITTEN}")
    for statement in ("SELECT * FROM made.v", "SELECT count(*) FROM made.v", "CREATE VIEW made.w AS TABLE made.v"):
        assert NOT_ENABLED in str(fails(without, statement, "UNRESOLVABLE_TABLE_VALUED_FUNCTION"))
    assert [row.col_name for row in without.sql("DESCRIBE made.v").collect()] == ["n", "k"]
    without.sql("DROP VIEW made.v")
    assert events.sql("SHOW VIEWS").collect() == []


def test_it_follows_its_source(events: SparkSession) -> None:
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    assert counted(events, "v") == [3]
    events.sql("INSERT INTO e VALUES ('x', 5, 'B')")
    assert counted(events, "v") == [5]
    events.sql("DROP TABLE e")
    error = fails(events, "SELECT * FROM v", "TREND_SOURCE")
    assert "`e` cannot be found" in str(error)
    assert "== SQL of VIEW spark_catalog.made.v (line 1, position 15) ==" in str(error)
    events.sql("CREATE TABLE e USING parquet AS SELECT 'x' AS k, 1 AS t")
    assert "There is no column `ty`" in str(fails(events, "SELECT * FROM v", "TREND_UNKNOWN_COLUMN"))
    events.sql("DROP TABLE e")
    events.sql(f"CREATE TABLE e USING parquet AS {ROWS}")
    assert counted(events, "v") == [3]


@pytest.mark.parametrize("kind", first(1, ["BIGINT", "SMALLINT", "STRING"]))
def test_types_that_change_in_the_source(events: SparkSession, kind: str) -> None:
    """A column is cast to the type that it had, as Spark does for every view, or the view is refused."""
    events.sql(f"CREATE VIEW v AS {trends('A B', 'MAX(A.t) AS n', keys='ORDER BY CAST(t AS INT) TYPE BY ty')}")
    events.sql("DROP TABLE e")
    events.sql(f"CREATE TABLE e USING parquet AS SELECT k, ty, CAST(t AS {kind}) AS t FROM ({ROWS})")
    if kind == "STRING":
        fails(events, "SELECT * FROM v", "TREND_ATTRIBUTE_TYPE")
    else:
        assert counted(events, "v") == [3]
        assert dict(events.table("v").dtypes) == {"n": "int"}


def test_columns_that_leave_the_source(events: SparkSession) -> None:
    """Where the source has none, `user` is who is asking: Spark says to create the view anew, as the user wrote it."""
    events.sql("CREATE TABLE u USING parquet AS SELECT k AS user, t, ty FROM e")
    events.sql(f"CREATE VIEW v AS {trends('A B', source='u', keys='PARTITION BY user ORDER BY t TYPE BY ty')}")
    assert [row.user for row in events.sql("SELECT user FROM v").collect()] == ["x"]
    events.sql("DROP TABLE u")
    events.sql("CREATE TABLE u USING parquet AS SELECT k, t, ty FROM e")
    with pytest.raises(AnalysisException) as caught:
        events.sql("SELECT * FROM v")
    assert caught.value.getCondition() == "INCOMPATIBLE_VIEW_SCHEMA_CHANGE"
    assert NOT_ENABLED not in str(caught.value)
    assert "MATCH_TREND (PARTITION BY user" in str(caught.value)


def test_it_is_replaced_altered_renamed_and_dropped(events: SparkSession) -> None:
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    assert counted(events, "v") == [3]
    fails(events, f"CREATE VIEW v AS {trends('A')}", "TABLE_OR_VIEW_ALREADY_EXISTS")
    events.sql(f"CREATE VIEW IF NOT EXISTS v AS {trends('A')}")
    assert counted(events, "v") == [3]
    events.sql(f"CREATE OR REPLACE VIEW v AS {trends('A')}")
    assert counted(events, "v") == [2]
    events.sql(f"ALTER VIEW v AS {trends('A+ B')}")
    assert counted(events, "v") == [4]
    assert events.sql("SHOW CREATE TABLE v").collect()[0][0].endswith(f"AS {trends('A+ B')}\n")
    events.sql("ALTER VIEW v RENAME TO w")
    assert counted(events, "w") == [4]
    assert queries(events) == [("w", "pool 1")]
    fails(events, "SELECT * FROM v", "TABLE_OR_VIEW_NOT_FOUND")
    events.sql("DROP VIEW w")
    assert queries(events) == []
    fails(events, "SELECT * FROM w", "TABLE_OR_VIEW_NOT_FOUND")


@pytest.mark.parametrize("how", ["CREATE OR REPLACE VIEW made.v AS {}", "ALTER VIEW made.v AS {}"])
@pytest.mark.long
def test_another_session_replaces_a_view_that_this_one_has_read(
    events: SparkSession, other: SparkSession, how: str
) -> None:
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    assert counted(events, "v") == [3]
    other.sql(how.format(trends("A+ B", source="made.e")))
    assert counted(events, "v") == [4]
    assert queries(events) == [("v", "pool 1")]
    other.sql(how.format("SELECT 7 AS n"))
    assert counted(events, "v") == [7]
    assert queries(events) == []
    other.sql("DROP VIEW made.v")
    other.sql(f"CREATE VIEW made.v AS {trends('A', source='made.e')}")
    assert counted(events, "v") == [2]


@pytest.mark.long
def test_views_of_it(events: SparkSession, other: SparkSession) -> None:
    """Permanent ones without a clause of their own and with one, and temporary ones."""
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    assert counted(events, "v") == [3]
    events.sql("CREATE VIEW w AS SELECT n + 1 AS n FROM v")
    again = clause("A", "MAX(A.m) AS n")
    events.sql(f"CREATE VIEW x AS SELECT * FROM (SELECT k, 1 AS t, 'A' AS ty, n AS m FROM v) {again}")
    events.sql("CREATE TEMP VIEW y AS SELECT n + 2 AS n FROM v")
    for spark in (events, other):
        assert [counted(spark, f"made.{name}") for name in ("w", "x")] == [[4], [3]]
    assert counted(events, "y") == [5]
    events.sql("INSERT INTO e VALUES ('x', 5, 'B')")
    assert [counted(events, name) for name in ("w", "x", "y")] == [[6], [5], [7]]


def test_a_view_that_would_read_itself(events: SparkSession) -> None:
    events.sql("CREATE VIEW base AS TABLE e")
    events.sql(f"CREATE VIEW v AS {trends('A B', source='base')}")
    events.sql("CREATE VIEW later AS SELECT 'x' AS k, 1 AS t, 'A' AS ty FROM v")
    for view, source in (
        ("base", "base"),
        ("later", "later"),
        ("v", "later"),
        ("v", "(SELECT *, 1 AS t, k AS ty FROM v)"),
    ):
        for statement in ("ALTER VIEW", "CREATE OR REPLACE VIEW"):
            fails(events, f"{statement} {view} AS {trends('A', source=source)}", "RECURSIVE_VIEW")
    events.sql("CREATE OR REPLACE VIEW base AS SELECT k, 1 AS t, 'A' AS ty FROM v")
    for view in ("v", "base"):
        assert "[TREND_RECURSIVE_VIEW] The view v would read itself" in str(
            fails(events, f"SELECT * FROM {view}", "TREND_SOURCE")
        )


@pytest.mark.long
def test_names_are_those_of_the_schema_that_it_was_created_in(events: SparkSession, other: SparkSession) -> None:
    """Whatever the session that reads it calls so, tables and temporary views."""
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    events.sql(f"CREATE VIEW elsewhere.w AS {trends('A')}")
    events.sql("CREATE TABLE elsewhere.e USING parquet AS SELECT 'y' AS k, 1 AS t, 'A' AS ty")
    other.sql("USE elsewhere")
    assert counted(other, "made.v") == [3]
    assert counted(other, "w") == [2]
    for spark in (events, other):
        spark.sql("CREATE TEMP VIEW e AS SELECT 'z' AS k, 1 AS t, 'A' AS ty")
        assert counted(spark, "made.v") == [3]
        assert counted(spark, "elsewhere.w") == [2]
        assert values(spark.sql("SELECT k FROM (SELECT * FROM e)")) == [("z",)]
    events.sql("USE elsewhere")
    assert counted(events, "made.v") == [3]
    events.sql("INSERT INTO made.e VALUES ('x', 5, 'B')")
    assert counted(events, "made.v") == counted(other, "made.v") == [5]
    assert {name for name, _ in queries(events)} == {"v", "w"}


def test_it_keeps_what_was_set_when_it_was_created(events: SparkSession, other: SparkSession) -> None:
    """Time zone and ANSI."""
    day = clause("A", "COUNT(*) AS n, MAX(hour(A.moment)) AS hour", "DEFINE A AS A.v / (A.t - 1) IS NULL")
    with settings(events, spark_sql_session_timeZone="Asia/Tokyo", spark_sql_ansi_enabled="false"):
        source = "(SELECT *, 1 AS v, TIMESTAMP'2026-01-01 10:00:00 UTC' AS moment FROM e)"
        events.sql(f"CREATE VIEW v AS SELECT * FROM {source} {day}")
        right = values(events.table("v"))
    assert right == [("x", Decimal(1), 19)]
    assert values(events.table("v")) == values(other.table("made.v")) == right


TEMPORARY = {
    trends("A", source="temporary"): "temporary",
    trends("A", source="(SELECT * FROM e WHERE t IN (SELECT t FROM temporary))"): "temporary",
    "WITH c AS (TABLE temporary) " + trends("A", source="c"): "temporary",
    trends("A", more="DEFINE A AS own(A.t) > 0"): "own",
    trends("A", "own(COUNT(*)) AS n"): "own",
    trends("A", source="(SELECT k, own(t) AS t, ty FROM e)"): "own",
    trends("A", more="DEFINE A AS A.t > lim"): "lim",
    f"SELECT * FROM (SELECT k, t, 'A' AS ty FROM temporary {clause('A', 'MAX(A.t) AS t')}) {clause('A')}": "",
}
"""Queries, and what the error of each says is temporary."""


@pytest.mark.parametrize("query", every(4, TEMPORARY))
def test_what_is_temporary_is_refused(events: SparkSession, query: str) -> None:
    """By Spark, as in every permanent view; and nothing is created."""
    events.sql("CREATE TEMP VIEW temporary AS TABLE e")
    events.sql("CREATE TEMPORARY FUNCTION own(x INT) RETURNS INT RETURN x + 1")
    events.sql("DECLARE OR REPLACE VARIABLE lim INT DEFAULT 1")
    try:
        assert values(events.sql(query))
        for statement in ("CREATE VIEW v AS", "CREATE OR REPLACE VIEW kept AS", "ALTER VIEW kept AS"):
            events.sql("CREATE OR REPLACE VIEW kept AS SELECT 7 AS n")
            error = fails(events, f"{statement} {query}", "INVALID_TEMP_OBJ_REFERENCE")
            assert f"the temporary object `{TEMPORARY[query]}" in str(error)
            assert [row.viewName for row in events.sql("SHOW VIEWS").collect() if not row.isTemporary] == ["kept"]
            assert counted(events, "kept") == [7]
    finally:
        events.sql("DROP TEMPORARY FUNCTION own")
        events.sql("DROP TEMPORARY VARIABLE lim")


def test_functions_are_called_with_their_schema(events: SparkSession, other: SparkSession) -> None:
    """In a clause; before it, Spark finds them in the schema of the view."""
    events.sql("CREATE FUNCTION later(x INT) RETURNS INT RETURN x + 1")
    wrong = f"CREATE VIEW v AS {trends('A B', more='DEFINE A AS §later(A.t) > 2')}"
    before, after = wrong.split("§")
    error = fails(events, before + after, "TREND_PERMANENT_VIEW")
    assert position(error) == (1, len(before) + 1)
    assert "Write spark_catalog.made.later." in str(error) or "Write made.later." in str(error)
    events.sql(f"CREATE VIEW v AS {trends('A B', more='DEFINE A AS made.later(A.t) > 2')}")
    events.sql(f"CREATE VIEW w AS {trends('A B', source='(SELECT k, later(t) AS t, ty FROM e)')}")
    assert counted(other, "made.v") == [1]
    assert counted(other, "made.w") == [3]


@pytest.mark.parametrize(
    "query",
    first(
        1, [trends("A B", "COUNT(C) AS n"), trends("A", keys="ORDER BY zz TYPE BY ty"), trends("A", source="nowhere")]
    ),
)
def test_what_is_wrong_is_said_at_once(events: SparkSession, query: str) -> None:
    """Nothing is created, and what there is stays as it is."""
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    for statement in ("CREATE VIEW w AS", "CREATE OR REPLACE VIEW v AS", "ALTER VIEW v AS"):
        with pytest.raises(ParseException) as caught:
            events.sql(f"{statement} {query}")
        assert "[TREND_" in str(caught.value)
        assert "of VIEW" not in str(caught.value)
    assert [row.viewName for row in events.sql("SHOW VIEWS").collect()] == ["v"]
    assert counted(events, "v") == [3]


@pytest.mark.long
def test_cached(events: SparkSession) -> None:
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    events.sql("CACHE TABLE v")
    assert counted(events, "v") == [3]
    assert events.catalog.isCached("v")
    assert "InMemoryRelation" in events.sql("EXPLAIN SELECT * FROM v").collect()[0][0]
    events.sql("ANALYZE TABLE v COMPUTE STATISTICS FOR COLUMNS n")
    events.sql("UNCACHE TABLE v")
    assert counted(events, "v") == [3]
    fails(events, "ANALYZE TABLE v COMPUTE STATISTICS", "UNSUPPORTED_FEATURE.ANALYZE_VIEW")


def test_switching_off_leaves_it(events: SparkSession) -> None:
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    assert counted(events, "v") == [3]
    sparkext.disable(events)
    try:
        assert NOT_ENABLED in str(fails(events, "SELECT * FROM v", "UNRESOLVABLE_TABLE_VALUED_FUNCTION"))
    finally:
        sparkext.enable(events)
    assert queries(events) == []
    assert counted(events, "v") == [3]


def test_values_of_parameters_are_kept(events: SparkSession) -> None:
    query = trends("A B", more="DEFINE A AS A.t > {}")
    with pytest.raises(AnalysisException):
        events.sql(f"CREATE VIEW v AS {query.format(':least')}")
    assert events.sql("SHOW VIEWS").collect() == []
    if tuple(map(int, events.version.split(".")[:2])) >= (4, 1):
        events.sql(f"CREATE VIEW v AS {query.format(':least')}", {"least": 2})
        assert counted(events, "v") == [1]
        assert f"AS {query.format('2')}\n" in events.sql("SHOW CREATE TABLE v").collect()[0][0]


@pytest.mark.parametrize(
    "statement", ["DROP VIEW v", "ALTER VIEW v AS SELECT 1 AS n", "CREATE OR REPLACE VIEW v AS {}"]
)
def test_to_drop_or_replace_it_runs_nothing(events: SparkSession, other: SparkSession, statement: str) -> None:
    events.sql(f"CREATE VIEW v AS {trends('A B')}")
    tracker = events.sparkContext.statusTracker()
    before = list(tracker.getJobIdsForGroup(None))
    other.sql("USE made")
    other.sql(statement.format(trends("A")))
    assert list(tracker.getJobIdsForGroup(None)) == before


def test_views_of_several_schemas_and_settings_are_one_pool(events: SparkSession, other: SparkSession) -> None:
    """Whichever schema was the current one, and whether a setting has been given the value that it has anyhow."""
    patterns = ("A B", "A+ B", "A B+", "A+ B+")
    for number, pattern in enumerate(patterns):
        if number == 1:
            events.sql("USE elsewhere")
        if number == 2:
            events.sql("SET spark.sql.caseSensitive = false")
        if number == 3:
            events.sql(f"CREATE TABLE e USING parquet AS {ROWS} WHERE t > 2")
        events.sql(f"CREATE VIEW made.v{number} AS {trends(pattern, source='made.e')}")
        events.sql(f"CREATE VIEW w{number} AS {trends(pattern, source='e')}") if number == 3 else None
    events.conf.unset("spark.sql.caseSensitive")
    rows = [values(other.table(f"made.v{number}")) for number in range(4)]
    assert rows == [[("x", n)] for n in (3, 4, 4, 5)]
    assert values(other.table("elsewhere.w3")) == [("x", 1)]
    text = other.sql("EXPLAIN SHARING").collect()[0].plan
    assert re.findall(r"^Pool \d: (\d quer\w+)", text, re.MULTILINE) == ["4 queries", "1 query"]
    assert "broken" not in text
    events.sql("INSERT INTO made.e VALUES ('x', 5, 'B')")
    assert values(other.table("made.v3")) == [("x", 13)]
    assert [values(other.table(f"made.v{number}")) for number in range(3)] == [[("x", 5)], [("x", 7)], [("x", 10)]]


def test_views_whose_functions_depend_on_the_schema_are_not(events: SparkSession, other: SparkSession) -> None:
    """They are computed where they mean what they do."""
    events.sql("CREATE FUNCTION made.later(x INT) RETURNS INT RETURN x + 1")
    events.sql(f"CREATE VIEW made.v0 AS {trends('A B', more='DEFINE B AS made.later(B.t) > 3')}")
    events.sql("USE elsewhere")
    events.sql(f"CREATE VIEW made.v1 AS {trends('A B', source='made.e', more='DEFINE B AS made.later(B.t) > 3')}")
    for name in ("v0", "v1"):
        assert values(other.table(f"made.{name}")) == [("x", 2)]
    assert "Pool 2: 1 query" in other.sql("EXPLAIN SHARING").collect()[0].plan


PATTERNS = ("A B", "A+ B", "A B+", "(A B)+", "A A", "B A")


def test_views_beside_the_one_that_is_read_are_computed_with_it(events: SparkSession, other: SparkSession) -> None:
    """Those of its schema that read the same table, in one pool and one pass, unless a setting says otherwise."""
    events.sql(f"CREATE TABLE z USING parquet AS {ROWS}")
    for number, pattern in enumerate(PATTERNS):
        events.sql(f"CREATE VIEW v{number} AS {trends(pattern)}")
    events.sql(f"CREATE VIEW of_z AS {trends('A').replace('FROM e', 'FROM z')}")
    events.sql("CREATE VIEW plain AS SELECT 'MATCH_TREND' AS e FROM e")
    events.sql("CREATE TABLE w AS SELECT * FROM e")
    events.sql(
        f"CREATE VIEW wrong AS {trends('A').replace('FROM e', 'FROM (SELECT * FROM e JOIN w USING (k, t, ty))')}"
    )
    events.sql("DROP TABLE w")
    context = events.sparkContext
    other.sql("USE made")
    rows, jobs = [], []
    for number in range(len(PATTERNS)):
        context.setJobGroup(f"read {number}", "")
        rows.append(values(other.table(f"v{number}")))
        jobs.append(len(context.statusTracker().getJobIdsForGroup(f"read {number}")))
    assert jobs[0] > 0
    assert sum(jobs[1:]) <= 1  # what is kept goes to the driver once
    (pool,) = json.loads(other.sql("EXPLAIN SHARING JSON").collect()[0][0])["pools"]
    assert len(pool["queries"]) == len(PATTERNS)
    assert {row["name"] for row in other.sql("SHOW TREND QUERIES").collect()} == {f"v{n}" for n in range(6)}
    alone = sparkext.enable(events.newSession())
    with settings(alone, spark_sparkext_catalogViews="0"):
        alone.sql("USE made")
        for number, found in enumerate(rows):
            assert values(alone.table(f"v{number}")) == found
            assert alone.sql("SHOW TREND QUERIES").count() == number + 1
    sparkext.disable(alone)


def test_datasets_of_pipelines_are_no_permanent_views(events: SparkSession) -> None:
    """Spark itself says that they are for pipelines, and nothing is left of them."""
    for kind in ("MATERIALIZED VIEW", "STREAMING TABLE"):
        with pytest.raises(PySparkException) as caught:
            events.sql(f"CREATE {kind} pairs AS {trends('A B')}")
        assert "TREND_" not in str(caught.value)
        assert not events.catalog.tableExists("pairs")
    assert events.sql("SHOW TREND QUERIES LIKE 'pairs'").count() == 0
