"""From a statement to the one that Spark gets: clauses become stand-in relations, commands become rows."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Callable, Iterable, Sequence

from planner.errors import PlanningError
from sparkext.clause_grammar import parse_clause
from sparkext.edits import Edits
from sparkext.explain import explain_run, explain_sharing, trend_queries
from sparkext.explain_json import explain_json
from sparkext.explain_pictures import explain_dot, explain_mermaid
from sparkext.recognise import Span, find_clauses
from sparkext.statement import Asked, Command, Form, command, created_view
from sparkext.tokens import Token, TokenError, tokenize
from sparkext.trend_query import RELATION_PREFIX, TrendQuery
from sparkext.use import Use
from sparkext.workload import Workload

log = logging.getLogger(__name__)

_MAY_CONCERN_US = re.compile(r"MATCH_TREND|\b(SHARING|TREND)\b", re.IGNORECASE)
_STAND_IN = re.compile(rf"\b{RELATION_PREFIX}\d+\b")
_EXPLAIN: dict[Form, Callable[[Sequence[TrendQuery], str | None], str]] = {
    Form.TEXT: explain_sharing,
    Form.JSON: explain_json,
    Form.DOT: explain_dot,
    Form.MERMAID: explain_mermaid,
}
_SHOWN = ("name", "pool", "source", "pattern", "window", "measures", "state")


def rewrite_statement(workload: Workload, sql: str) -> str:
    """What Spark is to parse instead of the user's statement ``sql``.

    The very same string when the statement has neither the clause nor a command.

    Raises:
        PlanningError: The clause or command is wrong. Nothing is registered.
    """
    workload.begin_statement()
    if not _MAY_CONCERN_US.search(sql):
        return rewrite_query(workload, sql)
    try:
        tokens = tokenize(sql)
    except TokenError:
        return sql  # Spark says what is wrong with it
    asked = command(tokens)
    if asked is not None:
        return _answer(workload, asked)
    spans = find_clauses(tokens)
    if not spans:
        return rewrite_query(workload, sql)
    with workload.looking_once():
        return _with_stand_ins(workload, sql, tokens, spans)


def reads_stand_ins(sql: str) -> bool:
    """Whether a query without clauses, such as a view's text, refers to stand-in relations."""
    return _STAND_IN.search(sql) is not None


def rewrite_query(workload: Workload, sql: str) -> str:
    """Plan the stand-in relations that a query without clauses, such as a view's text, refers to."""
    relations = _STAND_IN.findall(sql)
    if relations:
        _plan(workload, dict.fromkeys(relations))
    return sql


def _plan(workload: Workload, relations: Iterable[str]) -> None:
    for run in workload.plan(relations):
        if log.isEnabledFor(logging.INFO):
            log.info("planned %s\n%s", run.name, explain_run(run))


def _with_stand_ins(workload: Workload, sql: str, tokens: list[Token], spans: Sequence[Span]) -> str:
    views = [created_view(tokens, span.start) for span in spans]
    clauses = [parse_clause(tokens[span.body : span.body_end], tokens[span.body - 2]) for span in spans]
    edits = Edits(sql)
    registered: list[str] = []
    try:
        for at, (span, clause, view) in enumerate(zip(spans, clauses, views, strict=True), 1):
            before = [token for token in tokens if span.start <= token.start < span.keyword]
            source_at = (span.start, before[-1].end)
            text = sql[span.keyword : span.end]
            use = Use(sql, clause, text, _source_query(edits, span, source_at), source_at, before[-1].name)
            number = views[:at].count(view) if views.count(view) > 1 else None
            registered.append(workload.register(use, view, number))
            edits.replace(span.start, span.end, _in_place_of(sql[span.start : span.end], registered[-1]))
        read = [name for name, view in zip(registered, views, strict=True) if view is None or view.read_at_once]
        _plan(workload, read)
    except BaseException:
        workload.abandon(registered)
        raise
    return edits.result()


def _in_place_of(written: str, name: str) -> str:
    """``name`` with blanks and line ends around it, so that what follows keeps its line and column."""
    lines = written.split("\n")
    roomy = next((at for at, line in enumerate(lines) if len(line) >= len(name)), 0)
    return "\n".join((name if at == roomy else "").ljust(len(line)) for at, line in enumerate(lines))


def _source_query(edits: Edits, span: Span, source_at: tuple[int, int]) -> str:
    """A complete query for the relation before a clause, with the CTEs that it may use."""
    query = f"SELECT * FROM {edits.result(*source_at)}"
    for number, entries in enumerate(reversed(span.ctes)):
        defined = ", ".join(edits.result(*entry) for entry in entries)
        query = f"WITH {defined} {query}" if number == 0 else f"WITH {defined} SELECT * FROM ({query})"
    return query


def _answer(workload: Workload, asked: Asked) -> str:
    match asked.command:
        case Command.EXPLAIN_SHARING:
            try:
                text = _EXPLAIN[asked.form](workload.queries(), asked.only)
            except PlanningError as error:
                if error.condition == "TREND_UNKNOWN_QUERY":
                    error.start, error.end = asked.only_at
                raise
            return _rows(["plan"], [(text,)])
        case Command.SHOW_TREND_QUERIES:
            return _rows(_SHOWN, trend_queries(workload.queries()))
        case Command.REFRESH_SHARING:
            workload.drop_results()
            return _rows(["result"], [("The results of all trend queries have been dropped.",)])


def _rows(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A query that returns ``rows`` of strings; the texts travel encoded, whatever quotes they hold."""
    document = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    text = base64.b64encode(document.encode()).decode()
    schema = ", ".join(f"{name} STRING" for name in names)
    return f"SELECT inline(from_json(decode(unbase64('{text}'), 'UTF-8'), 'ARRAY<STRUCT<{schema}>>'))"
