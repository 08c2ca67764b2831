"""sqlglot reads statements with the clause, writes them as they were, and knows where columns come from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.lineage import lineage
from sqlglot.optimizer.scope import build_scope

from sparkext.sql.dialect import MatchTrend, Sparkext
from tests.sql.test_docs import examples

FUNNEL = """SELECT step, COUNT(DISTINCT user) AS users
FROM visits MATCH_TREND (
  PARTITION BY user ORDER BY at TYPE BY page
  ONE ROW PER COMPLETION
  MEASURES CLASSIFIER() AS step, LAST(at) - FIRST(View.at) AS took -- as long as that
  PATTERN (FUNNEL(View, Cart, Pay)) WITHIN INTERVAL 1 DAY) AS f
GROUP BY step"""
BETWEEN = FUNNEL[FUNNEL.index("MATCH_TREND") : FUNNEL.index(" AS f")]


def test_it_is_written_as_it_was() -> None:
    for pretty in (False, True):
        written = sqlglot.parse_one(FUNNEL, dialect="sparkext").sql("sparkext", pretty=pretty)
        assert BETWEEN in written
        assert " ".join(written.split()).startswith("SELECT step, COUNT(DISTINCT user) AS users FROM visits")
        assert sqlglot.parse_one(written, dialect=Sparkext) == sqlglot.parse_one(FUNNEL, dialect=Sparkext)


def test_the_relation_is_written_as_a_tool_has_it() -> None:
    parsed = sqlglot.parse_one(FUNNEL, dialect=Sparkext)
    for table in parsed.find_all(exp.Table):
        table.set("db", exp.to_identifier("shop"))
    assert "FROM shop.visits MATCH_TREND (" in parsed.sql(Sparkext)


def test_tables_and_columns() -> None:
    """The columns of the relation that the keys and measures are made of, variables being none."""
    parsed = sqlglot.parse_one(FUNNEL, dialect=Sparkext)
    assert [table.name for table in parsed.find_all(exp.Table)] == ["visits"]
    (clause,) = parsed.find_all(MatchTrend)
    assert clause.this.named_selects == ["user", "window_start", "window_end", "step", "took"]
    scope = build_scope(parsed)
    assert scope is not None
    (inner,) = scope.subquery_scopes or scope.derived_table_scopes
    assert {column.sql() for column in inner.columns} == {"user", "at", "page"}


@pytest.mark.parametrize(
    ("column", "sources"), [("step", {"visits.page"}), ("took", {"visits.at"}), ("window_start", {"visits.at"})]
)
def test_lineage(column: str, sources: set[str]) -> None:
    sql = FUNNEL.replace("SELECT step, COUNT(DISTINCT user) AS users", f"SELECT {column}").replace("GROUP BY step", "")
    schema = {"visits": {"user": "int", "at": "timestamp", "page": "string"}}
    found = lineage(column, sql, schema=schema, dialect="sparkext")
    assert {node.name for node in found.walk() if not node.downstream} == sources


def test_statements_of_the_pages() -> None:
    """What the page of the language shows, sqlglot reads, and writes so that it is the same again."""
    statements = [sql for example in examples() for sql in example.statements if "MATCH_TREND" in sql]
    right = [sql for sql in statements if not read(sql)]
    others = [read(sql) for sql in statements if read(sql) and "[TREND_" not in read(sql)]
    assert len(others) < 3 < 50 < len(right), others
    for sql in right:
        parsed = sqlglot.parse_one(sql, dialect=Sparkext)
        assert not list(parsed.find_all(exp.Command)), sql
        assert sum(1 for _ in parsed.find_all(MatchTrend)) == sql.count("MATCH_TREND"), sql
        written = parsed.sql(Sparkext)
        assert sqlglot.parse_one(written, dialect=Sparkext).sql(Sparkext) == written, sql


def read(sql: str) -> str:
    """What sqlglot says of a statement; nothing if it is right."""
    try:
        sqlglot.parse_one(sql, dialect=Sparkext)
    except ParseError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM e MATCH_TREND (ORDER BY t)", "TREND_CLAUSE_MISSING"),
        ("SELECT * FROM e MATCH_TREND (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A B)", r"Expecting \)"),
    ],
)
def test_what_is_wrong(sql: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        sqlglot.parse_one(sql, dialect=Sparkext)


def test_other_statements_are_those_of_spark() -> None:
    for sql in ("SELECT a, b FROM t AS u JOIN v ON u.k = v.k WHERE a > 1", "WITH c AS (SELECT 1 AS x) SELECT * FROM c"):
        assert sqlglot.transpile(sql, read="sparkext", write="spark") == [sql]


def test_entry_point() -> None:
    """By which sqlglot finds it."""
    if sys.version_info >= (3, 11):
        import tomllib

        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
        named = project["entry-points"]["sqlglot.dialects"]
        assert named == {"sparkext": f"{Sparkext.__module__}:{Sparkext.__name__}"}
