"""What a session has set, declared and registered: what counts is what a statement means now."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, position, values
from tests.support.tiers import every, first

EVENTS = """CREATE OR REPLACE TEMP VIEW e AS SELECT * FROM VALUES
  (1, 'A', 10, TIMESTAMP'2026-01-01 00:01:00Z', '1'), (2, 'B', 20, TIMESTAMP'2026-01-01 00:02:00Z', '2'),
  (3, 'A', 30, TIMESTAMP'2026-01-01 00:03:00Z', 'x'), (4, 'B', 40, TIMESTAMP'2026-01-01 00:04:00Z', '4')
  AS r(t, k, v, ts, place)"""
CHANGED = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.decimalOperations.allowPrecisionLoss",
)


@pytest.fixture
def events(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with a relation e, whose state is as it was afterwards."""
    before = {name: spark.conf.get(name) for name in CHANGED}
    spark.sql(EVENTS)
    yield spark
    spark.sql("DROP TABLE IF EXISTS kept")
    assert spark._jvm is not None
    spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
    SparkSession._activeSession = SparkSession._instantiatedSession = spark  # new sessions have taken its place
    for name, value in before.items():
        spark.conf.set(name, str(value))
    spark.sql("DROP TEMPORARY VARIABLE IF EXISTS lim")
    spark.sql("DROP TEMPORARY FUNCTION IF EXISTS big")


def trend(rest: str, measure: str = "COUNT(*)", type_by: str = "k", more: str = "") -> str:
    """A query over the events."""
    return (
        f"SELECT * FROM e MATCH_TREND (ORDER BY t TYPE BY {type_by} MEASURES {measure} AS n PATTERN (A B) "
        f"{f'DEFINE {rest}' if rest else ''} {more})"
    )


def declare(value: int) -> Callable[[SparkSession], object]:
    return lambda spark: spark.sql(f"DECLARE OR REPLACE VARIABLE lim INT DEFAULT {value}")


def declare_double(value: float) -> Callable[[SparkSession], object]:
    return lambda spark: spark.sql(f"DECLARE OR REPLACE VARIABLE lim DOUBLE DEFAULT {value}D")


def undeclare(spark: SparkSession) -> None:
    spark.sql("DROP TEMPORARY VARIABLE lim")


def assign(value: int) -> Callable[[SparkSession], object]:
    return lambda spark: spark.sql(f"SET VAR lim = {value}")


def set_conf(name: str, value: str) -> Callable[[SparkSession], object]:
    return lambda spark: spark.sql(f"SET {name} = {value}")


def python_function(least: int) -> Callable[[SparkSession], object]:
    return lambda spark: spark.udf.register("big", lambda v: v > least, "boolean")


def collate(collation: str) -> Callable[[SparkSession], object]:
    return lambda spark: spark.sql(EVENTS.replace("SELECT *", f"SELECT t, k COLLATE {collation} AS k, v, ts, place"))


def sql_function(least: int) -> Callable[[SparkSession], object]:
    def register(spark: SparkSession) -> None:
        spark.sql("DROP TEMPORARY FUNCTION IF EXISTS big")  # one in Python cannot be replaced
        spark.sql(f"CREATE TEMPORARY FUNCTION big(x INT) RETURNS BOOLEAN RETURN x > {least}")

    return register


Steps: TypeAlias = "list[tuple[Callable[[SparkSession], object], list[object] | None]]"
"""Changes of the session, each with what is right after it."""

ZONE, ANSI = "spark.sql.session.timeZone", "spark.sql.ansi.enabled"
FOLLOWED: dict[str, tuple[str, Steps]] = {
    "variable in a condition": (trend("A AS v > lim"), [(declare(5), [3]), (assign(15), [1]), (assign(100), [])]),
    "variable in an aggregate": (trend("", "SUM(A.v + lim)"), [(declare(1), [53.0]), (assign(3), [59.0])]),
    "variable in a measure": (trend("", "COUNT(*) + lim"), [(declare(1), [4]), (assign(3), [6])]),
    "variable in TYPE BY": (trend("", type_by="IF(lim = 1, k, 'A')"), [(declare(1), [3]), (assign(2), [])]),
    "variable in a window": (trend("", "COUNT(*)", more="WITHIN lim"), [(declare(10), [3]), (assign(20), [3])]),
    "variable beside PREV": (trend("B AS v > PREV(v) AND v > lim"), [(declare(5), [3]), (assign(30), [2])]),
    "Python function": (trend("A AS big(v)"), [(python_function(5), [3]), (python_function(15), [1])]),
    "SQL function": (trend("A AS big(v)"), [(sql_function(5), [3]), (sql_function(15), [1])]),
    "collation of a column": (trend("A AS k = 'a'"), [(collate("UTF8_LCASE"), [3]), (collate("UTF8_BINARY"), [])]),
    "function of the other kind": (trend("A AS big(v)"), [(sql_function(5), [3]), (python_function(15), [1])]),
}
"""Statements with what changes, and what they return then; views follow as statements do."""

AT_CREATION: dict[str, tuple[str, Steps]] = {
    "time zone in a condition": (
        trend("A AS hour(ts) = 0"),
        [(set_conf(ZONE, "UTC"), [3]), (set_conf(ZONE, "Asia/Tokyo"), [])],
    ),
    "time zone in an aggregate": (
        trend("", "SUM(hour(A.ts))"),
        [(set_conf(ZONE, "UTC"), [0.0]), (set_conf(ZONE, "Asia/Tokyo"), [27.0])],
    ),
    "ANSI": (
        trend("A AS try_cast(place AS INT) IS NOT NULL OR cast(place AS INT) IS NULL"),
        [(set_conf("spark.sql.ansi.enabled", "false"), [3]), (set_conf("spark.sql.ansi.enabled", "true"), None)],
    ),
    "conf of the types of decimals": (
        trend("A AS typeof(CAST(v AS DECIMAL(38,10)) * CAST(v AS DECIMAL(38,10))) LIKE '%,6)'"),
        [
            (set_conf("spark.sql.decimalOperations.allowPrecisionLoss", "true"), [3]),
            (set_conf("spark.sql.decimalOperations.allowPrecisionLoss", "false"), []),
        ],
    ),
    "conf of how times are parsed": (
        trend("A AS try_to_timestamp('2026-1-1', 'yyyy-MM-dd') IS NOT NULL"),
        [
            (set_conf("spark.sql.legacy.timeParserPolicy", "LEGACY"), [3]),
            (set_conf("spark.sql.legacy.timeParserPolicy", "CORRECTED"), []),
        ],
    ),
}
"""Likewise; views keep what was set when they were created, as all views of Spark's do."""


def rows(spark: SparkSession, statement: str) -> list[object] | None:
    """Values of the measure; None when the statement fails."""
    try:
        of_statement = values(spark.sql(statement))
    except PySparkException:
        return None
    return [row[-1] if isinstance(row, tuple) else row for row in of_statement]


@pytest.mark.parametrize("cache", first(1, ["auto", "off"]))
@pytest.mark.parametrize("name", every(3, [*FOLLOWED, *AT_CREATION]))
def test_statements_follow(events: SparkSession, name: str, cache: str) -> None:
    events.conf.set("spark.sparkext.cache", cache)
    statement, steps = (FOLLOWED | AT_CREATION)[name]
    for change, right in [*steps, steps[0]]:
        change(events)
        assert rows(events, statement) == right


@pytest.mark.parametrize("name", every(5, FOLLOWED))
def test_views_follow_variables_and_functions(events: SparkSession, name: str) -> None:
    """Of two views, so that results are kept."""
    statement, steps = FOLLOWED[name]
    steps[0][0](events)
    events.sql(f"CREATE TEMP VIEW one AS {statement}")
    events.sql(f"CREATE TEMP VIEW other AS {statement.replace('(A B)', '(A+ B)')}")
    for change, right in [*steps, steps[0]]:
        change(events)
        assert rows(events, "SELECT * FROM one") == right
        assert len(rows(events, "SELECT * FROM other") or []) == len(right or [])


@pytest.mark.parametrize("condition", ["A AS v > §lim", "A AS A.v > 1, B AS v > PREV(v) + §lim"])
def test_a_variable_that_is_gone(events: SparkSession, condition: str) -> None:
    """The error is about what the user has written, also where Spark has looked at the relation but once."""
    declare(5)(events)
    events.sql("CREATE TABLE kept USING parquet AS TABLE e")
    written = trend(condition).replace("FROM e", "FROM kept")
    view = f"CREATE TEMP VIEW asks AS {written}"
    events.sql(view.replace("§", ""))
    assert rows(events, "SELECT * FROM asks")
    undeclare(events)
    for read, text in (("SELECT * FROM asks", view), (written.replace("§", ""), written)):
        error = fails(events, read, "TREND_UNKNOWN_COLUMN")
        assert position(error) == (1, text.index("§") + 1)


def test_a_variable_of_another_type(events: SparkSession) -> None:
    events.sql("CREATE TABLE kept USING parquet AS TABLE e")
    statement = trend("", "MAX(A.v + lim)").replace("FROM e", "FROM kept")
    for change, right in ((declare(1), [31]), (declare_double(0.5), [30.5]), (declare(2), [32]), (undeclare, None)):
        change(events)
        assert rows(events, statement) == right


@pytest.mark.long
def test_a_function_that_is_gone_concerns_only_the_views_that_call_it(events: SparkSession) -> None:
    """Of one pool: each is read together with the others."""
    python_function(5)(events)
    events.sql(f"CREATE TEMP VIEW calls AS {trend('A AS big(v)')}")
    events.sql(f"CREATE TEMP VIEW plain AS {trend('')}")
    right = rows(events, "SELECT * FROM plain")
    events.sql("DROP TEMPORARY FUNCTION big")
    for statement in ("SELECT * FROM plain", trend(""), "SELECT * FROM plain"):
        assert rows(events, statement) == right
        events.sql("REFRESH SHARING")
    with pytest.raises(AnalysisException, match="big"):
        events.sql("SELECT * FROM calls").collect()


@pytest.mark.parametrize("name", every(3, AT_CREATION))
def test_views_keep_what_was_set(events: SparkSession, name: str) -> None:
    statement, steps = AT_CREATION[name]
    for number, (change, _) in enumerate(steps):
        change(events)
        events.sql(f"CREATE TEMP VIEW made_{number} AS {statement}")
        events.sql(f"CREATE TEMP VIEW more_{number} AS {statement.replace('(A B)', '(A+ B)')}")
    for change, _ in steps:
        change(events)
        for number, (_, right) in enumerate(steps):
            assert rows(events, f"SELECT * FROM made_{number}") == right
        shared = events.sql("EXPLAIN SHARING").first()
        assert shared is not None


@pytest.mark.long
def test_views_read_the_schema_that_they_were_created_in(events: SparkSession, tmp_path: object) -> None:
    for name, type_ in (("one", "B"), ("other", "A")):
        events.sql(f"CREATE DATABASE {name} LOCATION '{tmp_path}/{name}'")
        events.sql(f"CREATE TABLE {name}.e2 USING parquet AS SELECT 1 AS t, 'A' AS k UNION ALL SELECT 2, '{type_}'")
    statement = "SELECT * FROM e2 MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n PATTERN ({}))"
    try:
        events.sql("USE one")
        events.sql(f"CREATE TEMP VIEW ab AS {statement.format('A B')}")
        events.sql(f"CREATE TEMP VIEW aa AS {statement.format('A A')}")
        assert rows(events, "SELECT * FROM ab") == [1]
        events.sql("USE other")
        assert rows(events, "SELECT * FROM ab") == [1]
        assert rows(events, "SELECT * FROM aa") == []
        assert rows(events, statement.format("A B")) == []
        assert rows(events, statement.format("A A")) == [1]
        events.sql("INSERT INTO one.e2 VALUES (3, 'B')")
        assert rows(events, "SELECT * FROM ab") == [2]
    finally:
        events.sql("USE default")
        for name in ("one", "other"):
            events.sql(f"DROP DATABASE {name} CASCADE")


@pytest.mark.long
def test_the_catalog_in_use_decides_what_is_read(events: SparkSession) -> None:
    """Ad hoc queries read the table of the catalog that is in use now, views that of the one that was."""
    name = "spark.sql.catalog.derby"
    events.conf.set(name, "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    events.conf.set(f"{name}.url", "jdbc:derby:memory:catalogs;create=true")
    events.conf.set(f"{name}.driver", "org.apache.derby.iapi.jdbc.AutoloadedDriver")
    events.conf.set(f"{name}.pushDownPredicate", "false")  # Spark makes strings CLOBs, which Derby cannot compare
    query = "SELECT * FROM E3 MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n PATTERN ({}))"
    try:
        events.sql("CREATE TABLE E3 USING parquet AS SELECT 1 AS t, 'A' AS k UNION ALL SELECT 2, 'A'")
        events.sql("CREATE TABLE derby.APP.E3 (t INT, k VARCHAR(9))")
        events.sql("INSERT INTO derby.APP.E3 VALUES (1, 'A'), (2, 'B')")
        for catalog, schema, right in (("spark_catalog", "default", [[], [1]]), ("derby", "APP", [[1], []])):
            events.sql(f"USE {catalog}.{schema}")
            assert [rows(events, query.format(pattern)) for pattern in ("A B", "A A")] == right
            events.sql(f"CREATE TEMP VIEW {catalog}_ab AS {query.format('A B')}")
            events.sql(f"CREATE TEMP VIEW {catalog}_aa AS {query.format('A A')}")
        for catalog in ("derby.APP", "spark_catalog.default"):
            events.sql(f"USE {catalog}")
            assert [rows(events, f"SELECT * FROM derby_{pattern}") for pattern in ("ab", "aa")] == [[1], []]
            assert [rows(events, f"SELECT * FROM spark_catalog_{pattern}") for pattern in ("ab", "aa")] == [[], [1]]
        assert rows(events, query.format("A A")) == [1]
    finally:
        events.sql("USE spark_catalog.default")
        events.sql("DROP TABLE IF EXISTS E3")
        events.sql("DROP TABLE IF EXISTS derby.APP.E3")
        for more in ("", ".url", ".driver", ".pushDownPredicate"):
            events.conf.unset(f"{name}{more}")


@pytest.mark.long
def test_now_is_the_time_of_the_statement(events: SparkSession) -> None:
    """What depends on it is not kept, and the rest of its pool is."""
    events.sql("CREATE TEMP VIEW c AS SELECT * FROM VALUES (now(), 'A'), (now() + INTERVAL 1 SECOND, 'B') AS r(t, k)")
    recent = events.sql("SELECT * FROM c").collect()
    events.createDataFrame(recent, "t TIMESTAMP, k STRING").createOrReplaceTempView("recent")
    view = "CREATE TEMP VIEW {} AS SELECT * FROM recent MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n {})"
    newer = "DEFINE A AS t > now() - INTERVAL 15 SECONDS"
    events.sql(view.format("last", f"PATTERN (A B) {newer}"))
    events.sql(view.format("last_kleene", f"PATTERN (A+ B) {newer}"))
    events.sql(view.format("all_time", "PATTERN (A B)"))
    events.sql(view.format("all_time_kleene", "PATTERN (A+ B)"))
    assert rows(events, "SELECT * FROM last") == rows(events, "SELECT * FROM last_kleene") == [1]
    assert rows(events, "SELECT * FROM all_time") == rows(events, "SELECT * FROM all_time_kleene") == [1]
    time.sleep(16)
    assert rows(events, "SELECT * FROM last") == rows(events, "SELECT * FROM last_kleene") == []
    assert rows(events, "SELECT * FROM all_time") == [1]
    states = {row.name: row.state for row in events.sql("SHOW TREND QUERIES").collect()}
    assert states["all_time"] == states["all_time_kleene"] == "computed"
    assert states["last"] == "planned"


def test_parameters_before_the_clause(events: SparkSession) -> None:
    clause = "MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n PATTERN (A B))"
    for relation, named, placed in (
        ("(SELECT * FROM e WHERE v > :x)", {"x": 15}, None),
        ("(SELECT * FROM e WHERE v > ?)", None, [15]),
        ("IDENTIFIER(:name)", {"name": "e"}, None),
    ):
        right = [3] if relation.startswith("IDENTIFIER") else [1]
        frame = events.sql(f"SELECT * FROM {relation} {clause}", args=named or placed)
        assert [row.n for row in frame.collect()] == right
    with_cte = f"WITH s AS (SELECT * FROM e WHERE v > :x) SELECT * FROM s {clause} WHERE n > :least"
    assert [row.n for row in events.sql(with_cte, args={"x": 15, "least": 0}).collect()] == [1]
    by_place = f"SELECT ? AS one, n, ? AS two FROM (SELECT * FROM e WHERE v > ?) {clause} WHERE n > ?"
    assert values(events.sql(by_place, args=[1, 2, 15, 0])) == [(1, 1, 2)]


def test_scripts_see_what_they_make(events: SparkSession) -> None:
    """Views, variables of the session and of the script; and handlers catch what is wrong with a clause."""
    clause = "MATCH_TREND (ORDER BY t TYPE BY k MEASURES COUNT(*) AS n PATTERN (A B) DEFINE A AS v > {})"
    view = "CREATE OR REPLACE TEMP VIEW made AS SELECT * FROM e WHERE v < 40;"
    assert rows(events, f"BEGIN {view} SELECT * FROM made {clause.format(0)}; END") == [1]
    assert rows(events, f"BEGIN DECLARE z INT DEFAULT 15; SELECT * FROM e {clause.format('z')}; END") == [1]
    twice = f"BEGIN DECLARE z INT DEFAULT 15; SET z = 100; SELECT * FROM e {clause.format('z')}; END"
    assert rows(events, twice) == []
    declare(15)(events)
    assert rows(events, f"BEGIN SET lim = 5; SELECT * FROM e {clause.format('lim')}; END") == [3]
    caught = f"""BEGIN
      DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 'caught' AS n; END;
      SELECT * FROM e {clause.format("no_column")};
    END"""
    assert rows(events, caught) == ["caught"]


@pytest.mark.long
def test_random_changes_between_reads(events: SparkSession) -> None:
    """A session that has changed again and again returns what a fresh statement of a new session does."""
    numbers = random.Random(20261123)
    statements = [
        trend("A AS v > lim AND big(v)"),
        trend("A AS hour(ts) < 9", "SUM(A.v + lim)"),
        trend("B AS big(v)"),
        trend("A AS v > lim OR size(CAST(NULL AS ARRAY<INT>)) = -1"),  # -1 without ANSI
    ]
    zone, ansi, least, limit = "UTC", "true", 5, 5
    events.conf.set(ANSI, ansi)
    events.conf.set(ZONE, zone)
    python_function(least)(events)
    declare(limit)(events)
    for number, statement in enumerate(statements):
        events.sql(f"CREATE TEMP VIEW r{number} AS {statement}")
    for _ in range(12):
        match numbers.randrange(4):
            case 0:
                zone = numbers.choice(["UTC", "Asia/Tokyo", "America/New_York"])
                events.conf.set(ZONE, zone)
            case 1:
                ansi = numbers.choice(["true", "false"])
                events.conf.set(ANSI, ansi)
            case 2:
                least = numbers.choice([5, 15, 25, 35])
                numbers.choice([python_function, sql_function])(least)(events)
            case _:
                limit = numbers.choice([5, 15, 25])
                assign(limit)(events)
        fresh = events.newSession()
        try:
            fresh.conf.set(ZONE, zone)
            fresh.conf.set(ANSI, ansi)
            fresh.sql(EVENTS)
            python_function(least)(fresh)
            declare(limit)(fresh)
            at = numbers.randrange(len(statements))
            right = rows(fresh, statements[at])
            assert rows(events, statements[at]) == right
            fresh.conf.set(ZONE, "UTC")
            fresh.conf.set(ANSI, "true")
            assert rows(events, f"SELECT * FROM r{at}") == rows(fresh, statements[at])
        finally:
            fresh.sql("DROP VIEW e")
