"""Random statements through all that reads them before Spark does, and what such statements have found."""

from __future__ import annotations

import random
import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.errors import PlanningError
from sparkext.sql.event_expressions import Names, event_expression
from sparkext.sql.find_clauses import find_clauses
from sparkext.sql.tokens import TokenError, tokenize
from tests.support.fuzz import (
    BODY,
    CORPUS,
    VOCABULARY,
    check,
    good_statements,
    meaning,
    problem,
    rewritten,
    spaced,
    statements,
)
from tests.support.tiers import first

CLAUSE = f"MATCH_TREND ({BODY})"
NAMED = "MATCH_TREND"


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_random_statements(seed: int) -> None:
    assert [fault for sql in statements(seed, 700) if (fault := problem(sql))] == []


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(VOCABULARY), max_size=30), st.sampled_from(["", " ", "\n"]))
def test_words(words: list[str], between: str) -> None:
    check(between.join(words))


@settings(max_examples=300, deadline=None)
@given(st.text(), st.text(), st.text())
def test_texts(before: str, inside: str, after: str) -> None:
    check(before)
    check(f"{before} FROM e MATCH_TREND ({inside}) {after}")
    check(f"SELECT * FROM e MATCH_TREND ({BODY} DEFINE A AS {inside})")


def test_the_corpus_is_read() -> None:
    """Most of it is right, so that changes to it come far."""
    assert len(good_statements()) > 9
    assert sum(check(sql) in ("replaced", "command", "unchanged") for sql in CORPUS) > 14


@pytest.mark.parametrize("sql", good_statements())
def test_comments_and_blanks_mean_nothing(sql: str) -> None:
    chance = random.Random(sql)
    for _ in range(20):
        assert meaning(spaced(sql, chance)) == meaning(sql)


@pytest.mark.parametrize("sql", good_statements())
def test_statements_cut_anywhere(sql: str) -> None:
    for end in range(len(sql)):
        check(sql[:end])


DEEP = 5000
CALLS = 500
"""Of functions, in Python and in C, that a character of a statement may take: work that grows with the square of
`DEEP` takes thousands."""


@pytest.mark.long
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * FROM {'(' * DEEP}e {CLAUSE}{')' * DEEP}",
        f"SELECT * FROM {'(' * DEEP}e{')' * DEEP} {CLAUSE}",
        f"SELECT {'(' * DEEP}1{')' * DEEP} FROM e {CLAUSE}",
        f"SELECT * FROM e MATCH_TREND {'(' * DEEP}{BODY}{')' * DEEP}",
        f"SELECT * FROM e {CLAUSE.replace('B.v', '(' * DEEP + 'B.v' + ')' * DEEP)}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', '(' * DEEP + 'A' + ')' * DEEP)}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', 'A' * DEEP)}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', 'A ' * DEEP)}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', 'NOT ' * DEEP + 'A')}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', 'SEQ(' * DEEP)}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', 'A & ' * DEEP + 'A')}",
        f"SELECT * FROM e {CLAUSE.replace('A+ B', 'A' + '{1,2}' * DEEP)}",
        f"SELECT * FROM e {CLAUSE * 30}",
        "SHOW " * DEEP + "MATCH_TREND (",
        f"{'/* ' * DEEP}SELECT * FROM e {CLAUSE}{' */' * DEEP}",
        f"SELECT {'[' * DEEP} FROM e {CLAUSE}",
        f"WITH {'c (SELECT 1), ' * 1000} d (SELECT 1) SELECT * FROM c {CLAUSE}",
    ],
)
def test_deep_and_long_statements(sql: str) -> None:
    """No recursion that is as deep as the statement, and no work that grows with its square.

    Work is calls of functions, of which there are as many on any machine.
    """
    calls = 0

    def count(_frame: FrameType, _event: str, _argument: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check(sql)
    finally:
        sys.setprofile(before)
    assert calls < CALLS * len(sql)


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("'it''s' x", ["'it''s'", "x"]),
        ("'it' 's' x", ["'it'", "'s'", "x"]),
        ('"a""b" "\\""', ['"a""b"', '"\\""']),
        ("r'\\' x R\"\\\" y", ["r'\\'", "x", 'R"\\"', "y"]),
        ("$$ it's $$ x $a$ $$ $b$ $a$", ["$$ it's $$", "x", "$a$ $$ $b$ $a$"]),
        ("/* a /*+ b */ c", ["c"]),
        ("/* a /* b */ c */ d", ["d"]),
        ("/*+ B(t), '*/' */ x", ["x"]),
        ("count(* /* all */)", ["count", "(", "*", ")"]),
        ("count(*/* all */)", ["count", "(", "*/", "*", "all", "*/", ")"]),
        ("/*/* a */ b */ c", ["c"]),
        ("/*+ a */*x*/ b", ["*", "x", "*/", "b"]),
        ("-- a \\\n b\nc", ["c"]),
        ("-- a\r\nb", ["b"]),
        ("a--b", ["a"]),
        ("a{# b #}", ["a", "{", "#", "b", "#", "}"]),
        ("a {% b", ["a", "{", "%", "b"]),
        ("${a},${b} $a1$", ["$", "{", "a", "}", ",", "$", "{", "b", "}", "$", "a1", "$"]),
        ("N'x' X'zz' 0x1F 1e-5x 1.5L", ["N", "'x'", "X", "'zz'", "0x1F", "1e-5", "x", "1", ".", "5L"]),
        ("a!<b !>c != d", ["a", "!<", "b", "!>", "c", "!=", "d"]),
        ("a😀b", ["a", "😀", "b"]),
        (".5 t.5 1.x 1e5 1.5e t.1st 2x 5L 1BD 1..2", None),
        ("`a``b` `--`", ["`a``b`", "`--`"]),
        ("a>>b>>>c <=> d |> e", ["a", ">>", "b", ">>>", "c", "<=>", "d", "|>", "e"]),
        ("SHOW 'a' x; SHOW y", ["SHOW", "'a'", "x", ";", "SHOW", "y"]),
        ("EXECUTE IMMEDIATE 'x' USING a", ["EXECUTE", "IMMEDIATE", "'x'", "USING", "a"]),
        ("BEGIN SHOW a; END; group  by x", ["BEGIN", "SHOW", "a", ";", "END", ";", "group", "by", "x"]),
    ],
)
def test_tokens_are_those_of_spark(sql: str, texts: list[str] | None) -> None:
    numbers = [".5", "t", ".5", "1", ".", "x", "1e5", "1", ".", "5e", "t", ".", "1st", "2x", "5L", "1BD", "1.", ".2"]
    assert [token.text for token in tokenize(sql)] == (numbers if texts is None else texts)


@pytest.mark.parametrize("sql", ["'a", '"a', "`a", "/* a", "/* /* */", "/*+ a", "$$ a", "'a\\'", "'a''"])
def test_what_is_never_closed_is_for_spark(sql: str) -> None:
    with pytest.raises(TokenError):
        tokenize(sql)
    statement = f"SELECT * FROM e {CLAUSE} {sql}"
    assert rewritten(statement)[0] is statement


def test_different_strings_make_different_conditions() -> None:
    """Spark joins neighbouring strings, so ``'it' 's'`` is its, and ``'it''s'`` is it's."""
    conditions = [
        "k = 'it' 's'",
        "k = 'it''s'",
        'k = "it""s"',
        "k = 'it\\'s'",
        "k > > 1",
        "k >> 1",
        "k = .5",
        "k = 0.5",
    ]
    different = set()
    for condition in conditions:
        stub = rewritten(f"SELECT * FROM e {CLAUSE[:-1]} DEFINE A AS {condition})")[1]
        (use,) = stub.uses
        different.add(event_expression(use.sql, use.clause.define[0].condition, Names(("A", "B"))).canonical)
    assert len(different) == len(conditions)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE match_trend (pattern STRING, b INT)",
        "CREATE TABLE match_trend (measures INT)",
        "CREATE FUNCTION match_trend (x INT) RETURNS INT RETURN x",
        "INSERT INTO match_trend (type, b) VALUES (1, 2)",
        "INSERT INTO match_trend (within) VALUES (1)",
        "SELECT 1 FROM e WHERE match_trend (a + 1) > 2 AND match_trend (b + 1) OR NOT match_trend (c * 2)",
        "SELECT a, match_trend (1 + 1), 2 * match_trend (3 + x), CASE WHEN match_trend (a + 1) THEN 1 END FROM e",
        "SELECT * FROM match_trend (1 + 1)",
        "SELECT * FROM e, match_trend (1 + 1), db.match_trend (2 + 2)",
        "SELECT * FROM match_trend (TABLE(e) PARTITION BY k)",
        "SELECT * FROM e JOIN f ON match_trend (e.x + 1) = f.y",
        "SELECT * FROM e match_trend (type, b)",
        "SELECT * FROM e AS match_trend (pattern, within)",
        "SELECT extract(DAY FROM match_trend (a + 1)) FROM e",
        "FROM e |> WHERE match_trend (a + 1) > 2",
        "CREATE VIEW v AS SELECT 'MATCH_TREND (' AS c -- FROM e MATCH_TREND (PATTERN (A))",
        "CREATE TABLE view USING parquet AS SELECT 1",
    ],
)
def test_names_that_are_called_like_the_clause(sql: str) -> None:
    assert rewritten(sql)[0] is sql


@pytest.mark.parametrize(
    ("before", "problem"),
    [
        ("SELECT * FROM e WHERE t > 1", "follows a relation"),
        ("SELECT * FROM e GROUP BY k, t", "follows a relation"),
        ("SELECT * FROM e JOIN f ON e.k = f.k", "follows a relation"),
        ("SELECT * FROM e JOIN f USING (k)", "follows a relation"),
        ("SELECT * FROM e JOIN f ON e.k IS NOT DISTINCT FROM f", "follows a relation"),
        ("SELECT a, b", "follows a relation"),
        ("DELETE FROM e", "follows a relation"),
        ("TABLE e", "follows a relation"),
        ("FROM e |> SELECT k |>", "follows a relation"),
        ("SELECT * FROM", "must stand before"),
        ("SELECT * FROM e JOIN", "must stand before"),
        ("SELECT * FROM e,", "must stand before"),
        ("WITH c AS (SELECT 1), d", "follows a relation"),
        ("SELECT 1 IN (e", "follows a relation"),
    ],
)
def test_places_where_the_clause_cannot_stand(before: str, problem: str) -> None:
    sql = f"{before} {CLAUSE}"
    with pytest.raises(PlanningError) as caught:
        rewritten(sql)
    assert caught.value.condition == "TREND_CLAUSE_SYNTAX"
    assert problem in caught.value.parameters["problem"]
    assert sql[caught.value.start : caught.value.end] == NAMED


@pytest.mark.parametrize(
    ("before", "relation"),
    [
        ("SELECT * FROM VALUES (1, 'a'), (2, 'b') AS r(t, k)", "VALUES (1, 'a'), (2, 'b') AS r(t, k)"),
        ("SELECT * FROM f, VALUES 1, 2", "VALUES 1, 2"),
        ("SELECT * FROM values, e", "e"),
        ("SELECT * FROM (a JOIN (b JOIN e", "e"),
        ("SELECT * FROM ((e x", "e x"),
        ("SELECT * FROM (f, e", "e"),
        ("SELECT * FROM a JOIN b ON a.x = b.x, e", "e"),
        ("SELECT * FROM db.from", "db.from"),
        ("SELECT * FROM order", "order"),
        ("SELECT * FROM a JOIN where AS group", "where AS group"),
        ("SELECT * FROM e TABLESAMPLE (5 ROWS) AS s", "e TABLESAMPLE (5 ROWS) AS s"),
        ("SELECT * FROM e VERSION AS OF 1", "e VERSION AS OF 1"),
        ("SELECT * FROM a NATURAL LEFT JOIN range(10)", "range(10)"),
        ("MERGE INTO t USING e", "e"),
        ("MERGE INTO t USING (SELECT 1) AS s", "(SELECT 1) AS s"),
        ("SELECT * FROM IDENTIFIER('e')", "IDENTIFIER('e')"),
    ],
)
def test_relations(before: str, relation: str) -> None:
    sql = f"{before} {CLAUSE}{')' * (before.count('(') - before.count(')'))}"
    (use,) = rewritten(sql)[1].uses
    assert sql[slice(*use.source_at)] == relation


@pytest.mark.parametrize(
    ("before", "ctes"),
    [
        ("WITH a AS (SELECT 1), b(x) AS (SELECT 2) SELECT * FROM e", ["a AS (SELECT 1)", "b(x) AS (SELECT 2)"]),
        ("WITH a (SELECT 1), b (x) (SELECT 2) SELECT * FROM e", ["a (SELECT 1)", "b (x) (SELECT 2)"]),
        (
            "WITH RECURSIVE a MAX RECURSION LEVEL 9 AS (SELECT 1) SELECT * FROM e",
            ["RECURSIVE a MAX RECURSION LEVEL 9 AS (SELECT 1)"],
        ),
        ("WITH recursive AS (SELECT 1) SELECT * FROM e", ["recursive AS (SELECT 1)"]),
        (
            "WITH a AS (SELECT 1) SELECT * FROM (WITH b AS (SELECT 2) SELECT * FROM e",
            ["a AS (SELECT 1)", "b AS (SELECT 2)"],
        ),
        ("SELECT * FROM (WITH b AS (SELECT 2) SELECT * FROM b) JOIN e", []),
        ("WITH a AS (SELECT 1), b AS (SELECT * FROM e", ["a AS (SELECT 1)"]),
        ("BEGIN WITH a AS (SELECT 1) SELECT 1; SELECT * FROM e", []),
        ("CREATE TEMP VIEW v WITH SCHEMA BINDING AS (SELECT * FROM e", []),
        ("INSERT INTO t WITH SCHEMA EVOLUTION WITH a AS (SELECT 1) SELECT * FROM e", ["a AS (SELECT 1)"]),
    ],
)
def test_ctes(before: str, ctes: list[str]) -> None:
    sql = f"{before} {CLAUSE}{')' * (before.count('(') - before.count(')'))}"
    (span,) = find_clauses(tokenize(sql))
    assert [sql[slice(*entry)] for entries in span.ctes for entry in entries] == ctes


@pytest.mark.parametrize("before", ["e, LATERAL (SELECT 1)", "e LATERAL VIEW explode(a) x AS y", "LATERAL f(1)"])
def test_lateral_relations(before: str) -> None:
    sql = f"SELECT * FROM {before} {CLAUSE}"
    with pytest.raises(PlanningError, match="TREND_LATERAL") as caught:
        rewritten(sql)
    assert sql[caught.value.start : caught.value.end] == "LATERAL"


def test_lateral_inside_of_the_relation_is_fine() -> None:
    assert check(f"SELECT * FROM (SELECT * FROM e, LATERAL (SELECT 1)) {CLAUSE}") == "replaced"


def test_a_stand_in_is_laid_out_like_its_clause() -> None:
    """A relation that is alone in its line is shorter than the query that stands in for it."""
    sql = f"SELECT *\nFROM e\n  {CLAUSE}\n AS t"
    result = rewritten(sql)[0]
    assert result == f"SELECT *\nFROM  \n{'(SELECT * FROM sparkext_trend(1))':{len(CLAUSE) + 2}}\n AS t"
    short = "SELECT *\nFROM e\nMATCH_TREND (\nORDER BY t\nTYPE BY ty\nMEASURES\nCOUNT(*)\nAS n\nPATTERN (A)) AS t"
    lines = ["SELECT *", "FROM  ", "(SELECT      ", "* FROM    ", " " * 10, " " * 8, " " * 8, " " * 4]
    assert rewritten(short)[0] == "\n".join([*lines, "sparkext_trend(1)) AS t"])
