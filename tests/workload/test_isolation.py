"""What one session's statements may read of another's: nothing, but for what all sessions see."""

from __future__ import annotations

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

import sparkext
from sparkext.session import parsers_of
from tests.support.sql_cases import fails, relation, trends, values

TYPED = (
    "SELECT * FROM sparkext_trend(1)",
    "SELECT * FROM SPARKEXT_TREND ('x')",
    "SELECT * FROM `sparkext_trend`()",
    "SELECT * FROM sparkext_trend/**/(NULL)",
    "CREATE VIEW stolen AS SELECT * FROM sparkext_trend(1, 2)",
    "CREATE GLOBAL TEMPORARY VIEW stolen AS SELECT * FROM sparkext_trend(1)",
    "BEGIN SELECT * FROM sparkext_trend(1); END",
    "SET VAR x = (SELECT max(n) FROM sparkext_trend(1))",
    "EXPLAIN SELECT * FROM sparkext_trend(1)",
)


@pytest.fixture
def sessions(spark: SparkSession) -> tuple[SparkSession, SparkSession]:
    """Two sessions of an application, each with a view of its own over its own events."""
    other_session = sparkext.enable(spark.newSession())
    sparkext.enable(spark)
    for session, pay in ((spark, 4242), (other_session, 1)):
        relation(session, "e", "k, t, ty, pay", [f"'x', 1, 'A', {pay}", f"'x', 2, 'B', {pay}"])
        session.sql(f"CREATE OR REPLACE TEMP VIEW mine AS {trends('A B', 'MAX(A.pay) AS pay')}")
        assert values(session.table("mine")) == [("x", pay)]
    return spark, other_session


def numbers(session: SparkSession) -> list[int]:
    """Of the stand-ins of a session's views."""
    [parser] = parsers_of(session)
    return [query.written.number for query in parser.workload.queries()]


@pytest.mark.parametrize("statement", TYPED)
def test_stand_ins_cannot_be_typed(sessions: tuple[SparkSession, SparkSession], statement: str) -> None:
    fails(sessions[1], statement, "TREND_STAND_IN")


def test_whatever_way_a_number_comes(sessions: tuple[SparkSession, SparkSession]) -> None:
    """Past the look at the text: a name that is computed, an expression, a statement that is run within another."""
    alice, bob = sessions
    [number] = numbers(alice)
    call = f"IDENTIFIER('sparkext' || '_trend')({number})"
    fails(bob, f"SELECT * FROM {call}", "TREND_STAND_IN")
    bob.sql(f"DECLARE OR REPLACE VARIABLE statement STRING DEFAULT 'SELECT * FROM sparkext' || '_trend({number})'")
    fails(bob, "/* */ EXECUTE IMMEDIATE statement", "TREND_STAND_IN")
    for wrong in ("'x'", "", "NULL", "1.5", "1, 2"):
        fails(bob, f"SELECT * FROM IDENTIFIER('sparkext' || '_trend')({wrong})", "TREND_STAND_IN")
    with pytest.raises(ParseException, match="TREND_STAND_IN"):
        bob.range(1).selectExpr(f"(SELECT max(pay) FROM sparkext_trend({number}))")


def test_views_that_all_sessions_see(sessions: tuple[SparkSession, SparkSession]) -> None:
    alice, bob = sessions
    alice.sql(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW everyones AS {trends('A B', 'MAX(A.pay) AS pay')}")
    assert values(bob.table("global_temp.everyones")) == [("x", 4242)]
    [number] = set(numbers(alice)) - {min(numbers(alice))}
    alice.catalog.dropGlobalTempView("everyones")
    fails(bob, f"SELECT * FROM IDENTIFIER('sparkext' || '_trend')({number})", "TREND_STAND_IN")


def test_a_session_that_is_cloned_has_the_views(sessions: tuple[SparkSession, SparkSession]) -> None:
    """As the session in which a stream calls ``foreachBatch``."""
    alice, _ = sessions
    cloned = SparkSession(alice.sparkContext, alice._jsparkSession.cloneSession())
    assert values(cloned.table("mine")) == [("x", 4242)]


def test_a_session_that_is_cloned_reads_what_it_calls_so(sessions: tuple[SparkSession, SparkSession]) -> None:
    """Each of the two has relations of its own from then on, and one may end before the other."""
    alice, _ = sessions
    cloned = SparkSession(alice.sparkContext, alice._jsparkSession.cloneSession())
    relation(cloned, "e", "k, t, ty, pay", ["'x', 1, 'A', 7", "'x', 2, 'B', 7"])
    assert values(cloned.table("mine")) == [("x", 7)]
    assert values(alice.table("mine")) == [("x", 4242)]
    assert [row.name for row in cloned.sql("SHOW TREND QUERIES").collect()] == ["mine"]
    relation(alice, "e", "k, t, ty, pay", ["'x', 1, 'A', 8", "'x', 2, 'B', 8"])
    assert values(cloned.sql("SELECT * FROM mine")) == [("x", 7)]
    assert values(alice.sql("SELECT * FROM mine")) == [("x", 8)]
    again = SparkSession(alice.sparkContext, cloned._jsparkSession.cloneSession())
    again.sql("SELECT 1").collect()
    for session in (alice, cloned):
        for parser in parsers_of(session):
            parser.workload.release()
    assert values(again.table("mine")) == [("x", 7)]


def test_views_that_all_sessions_see_outlive_the_one_that_made_them(
    sessions: tuple[SparkSession, SparkSession],
) -> None:
    alice, bob = sessions
    alice.sql("CREATE TABLE everybodys USING parquet AS SELECT * FROM e")
    try:
        query = trends("A B", "MAX(A.pay) AS pay", source="everybodys")
        alice.sql(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW everyones AS {query}")
        [parser] = parsers_of(alice)
        parser.workload.release()
        for _ in range(2):
            assert values(bob.table("global_temp.everyones")) == [("x", 4242)]
        alice.catalog.dropGlobalTempView("everyones")
    finally:
        alice.sql("DROP TABLE everybodys")


def test_others_neither_list_nor_explain_them(sessions: tuple[SparkSession, SparkSession]) -> None:
    alice, bob = sessions
    alice.sql(f"CREATE OR REPLACE TEMP VIEW secret AS {trends('A+ B')}")
    assert [row.name for row in bob.sql("SHOW TREND QUERIES").collect()] == ["mine"]
    [plan] = bob.sql("EXPLAIN SHARING").head() or [None]
    assert plan is not None
    assert "secret" not in plan
