"""From a statement to the one that Spark gets: clauses become calls of a table function, commands become rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkext.binding.clause_use import ClauseUse
from sparkext.explain.builder import registered, report
from sparkext.explain.comparison import COMPARED_COLUMNS, comparison_rows
from sparkext.explain.graph_languages import dot, mermaid
from sparkext.explain.json_document import json_text
from sparkext.explain.report import Report
from sparkext.explain.text import QUERY_COLUMNS, Row, query_row, sharing_text
from sparkext.jvm.table_function import in_place_of
from sparkext.parser.commands import Command, ParsedCommand, ReportForm, command, created_view, is_script
from sparkext.parser.parameters import fill_in
from sparkext.planner.errors import PlanningError
from sparkext.sql.clause_grammar import parse_clause
from sparkext.sql.find_clauses import ClauseSpan, find_clauses
from sparkext.sql.text_edits import Edits
from sparkext.sql.tokens import Token, TokenError, tokenize, with_double_quoted_names
from sparkext.sql.view_text import stored
from sparkext.workload.running_streams import COLUMNS
from sparkext.workload.trend_query import ParsedClause, TrendQuery, View
from sparkext.workload.workload import Workload

CONCERNS_US = re.compile(
    r"MATCH_TREND|\b(SHARING|TREND)\b|^\s*(?P<changes>DROP|ALTER|CREATE|BEGIN|WITH|\w+\s*:)\b", re.IGNORECASE
)
"""In statements that are looked at more closely; all others are Spark's alone."""

SHOWS_TEXT = re.compile(
    r"\s*(SHOW\s+(CREATE\s+TABLE|TABLE\s+EXTENDED)|DESC(RIBE)?\b.*\b(EXTENDED|FORMATTED|JSON))\b",
    re.IGNORECASE | re.DOTALL,
)
"""Commands that may show the text of a permanent view."""

_EXPLAIN: dict[ReportForm, Callable[[Report], str]] = {
    ReportForm.TEXT: sharing_text,
    ReportForm.JSON: json_text,
    ReportForm.DOT: dot,
    ReportForm.MERMAID: mermaid,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows that a command returns, with the names and types of their columns."""

    columns: Mapping[str, str]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class RewrittenStatement:
    """A statement of the user's, ready for Spark.

    Attributes:
        filled: With values in place of the parameters of clauses.
        text: What Spark is to parse: the very same string when the statement has no clause.
        context: Of the parameters that are left; None when this version of Spark hands none to its parser.
        replaced: What is to stand in the catalog for what Spark is to parse; None if the catalog keeps no text.
    """

    filled: Edits
    text: str
    context: Any
    replaced: tuple[tuple[str, str], ...] | None = None

    def text_to_be_stored(self, parsed: str) -> str:
        """What the catalog is to have of a permanent view.

        Args:
            parsed: Its query as it stands in `text`.
        """
        for stand_in, written in self.replaced or ():
            blanks = stand_in[len(stand_in.rstrip()) :]  # where it is the last in the query, these are not its own
            parsed = f"{parsed}{blanks}".replace(stand_in, written).rstrip()
        return stored(parsed)


def rewrite_statement(workload: Workload, given: Edits, context: Any = None) -> RewrittenStatement | Answer:
    """What Spark is to parse instead of a user's statement that may concern us, or what a command returns.

    Args:
        workload: Of the session.
        given: The statement, with values in place of variables.
        context: Spark's context of its parameters; None when this version of Spark hands none to its parser.

    Raises:
        PlanningError: The clause or command is wrong, at its place in the statement without values. Nothing is
            registered.
    """
    sql = given.result()
    plain = RewrittenStatement(Edits(given.text), given.text, context)
    filled = given
    try:
        try:
            tokens = _tokens(workload, sql)
        except TokenError:
            return plain  # Spark says what is wrong with it
        if sets_conf(tokens):
            return plain
        asked = command(tokens)
        if asked is not None and asked.explained_at is None:
            return _answer(workload, asked)
        spans = find_clauses(tokens)
        if not spans and asked is None:
            return plain
        parameters, rest = fill_in(sql, tokens, spans, context)
        filled = given.then(parameters)
        if not parameters.is_empty():
            tokens = _tokens(workload, filled.result())
            spans = find_clauses(tokens)
        if asked is not None:
            explained = sql[slice(*asked.explained_at)] if asked.explained_at is not None else ""
            return _answer(workload, asked, _written(workload, filled, tokens, spans)[1], explained)
        views = [created_view(tokens, span.start, workload.is_temporary) for span in spans]
        text, written = _written(workload, filled, tokens, spans, views)
        workload.remember(written, is_script(tokens))
        if not written[0].is_to_be_stored:
            return RewrittenStatement(filled, text, rest)
        original = filled.result()
        texts = [original[span.start : span.end] for span in spans]
        stand_ins = [
            in_place_of(clause_text, clause.number) for clause_text, clause in zip(texts, written, strict=True)
        ]
        return RewrittenStatement(filled, text, rest, tuple(zip(stand_ins, texts, strict=True)))
    except PlanningError as error:
        if error.text is None:
            error.start, error.end = filled.origin(error.start, error.end)
        raise


def _tokens(workload: Workload, sql: str) -> list[Token]:
    """Tokens of a statement, of which those in double quotes are names where the session reads them so."""
    tokens = tokenize(sql)
    return with_double_quoted_names(tokens) if '"' in sql and workload.has_double_quoted_names() else tokens


def sets_conf(tokens: Sequence[Token]) -> bool:
    """Whether a statement is ``SET name = …``, in which any text may stand; that of a variable is an expression."""
    words = [token.word for token in tokens[:2]]
    return words[:1] == ["SET"] and words[1:] not in (["VAR"], ["VARIABLE"])


def rewrite_view(workload: Workload, view: str, text: str) -> str:
    """What Spark is to parse instead of a permanent view's text, of which the clauses are remembered.

    Args:
        workload: Of the session.
        view: Catalog, schema and name of the view.
        text: As the user wrote it.

    Raises:
        PlanningError: A clause is wrong, as another version of sparkext has written it.
    """

    def rewritten() -> tuple[str, tuple[ParsedClause, ...]]:
        tokens = _tokens(workload, text)
        created = View(view.rsplit(".", 1)[-1], is_global=False, read_at_once=False, is_permanent=True)
        try:
            spans = find_clauses(tokens)
            return _written(workload, Edits(text), tokens, spans, [created] * len(spans), view)
        except PlanningError as error:
            error.text, error.view = text, view
            raise

    return workload.text_of_view(view, text, rewritten)


def _written(
    workload: Workload,
    filled: Edits,
    tokens: list[Token],
    spans: Sequence[ClauseSpan],
    views: Sequence[View | None] = (),
    view: str | None = None,
) -> tuple[str, tuple[ParsedClause, ...]]:
    """A statement with stand-ins in place of its clauses, and the clauses.

    Args:
        workload: Of the session.
        filled: The statement, with values in place of parameters.
        tokens: Of the statement.
        spans: The clauses.
        views: What the statement creates with each; nothing if left out.
        view: The permanent view of which the statement is the text; None if it is of none.
    """
    sql = filled.result()
    views = views or [None] * len(spans)
    clauses = [parse_clause(tokens[span.body : span.body_end], tokens[span.body - 2]) for span in spans]
    numbers = workload.take_numbers(len(spans))
    edits = Edits(sql)
    parsed: list[ParsedClause] = []
    for at, (span, clause, number, created) in enumerate(zip(spans, clauses, numbers, views, strict=True)):
        before = [token for token in tokens if span.start <= token.start < span.keyword]
        source_at = (span.start, before[-1].end)
        text = sql[span.keyword : span.end]
        use = ClauseUse(filled, clause, text, _source_query(edits, span, source_at), source_at, before[-1].name, view)
        is_one_of_many = created is not None and views.count(created) > 1
        parsed.append(ParsedClause(number, use, created, views[: at + 1].count(created) if is_one_of_many else None))
        edits.replace(span.start, span.end, in_place_of(sql[span.start : span.end], number))
    if any(created is not None for created in views) and any(span.ctes for span in spans) and workload.inlines_ctes():
        _leave_out_ctes(edits, tokens, spans)
    return edits.result(), tuple(parsed)


def _leave_out_ctes(edits: Edits, tokens: Sequence[Token], spans: Sequence[ClauseSpan]) -> None:
    """Leave out CTEs that nothing but clauses reads: where Spark puts the others in place, it loses sight of these."""
    read = [token for token in tokens if not any(span.start <= token.start < span.end for span in spans)]
    for entries in dict.fromkeys(entries for span in spans for entries in span.ctes):
        left = list(entries)
        for start, end in reversed(entries):
            name = next(
                token.name for token in tokens if token.start >= start and token.name not in (None, "RECURSIVE")
            )
            words = [token.name for token in read if not start <= token.start < end]
            if not any(word is not None and word.lower() == (name or "").lower() for word in words):
                left.remove((start, end))
                read = [token for token in read if not start <= token.start < end]
        if len(left) < len(entries):
            begin, end = entries[0][0], entries[-1][1]
            kept = ", ".join(edits.result(*entry) for entry in left)
            if not left:
                before = [token for token in tokens if token.start < begin]
                begin = before[-1].start
            lines = edits.text[begin:end].count("\n") - kept.count("\n")
            edits.replace(begin, end, kept + "\n" * max(lines, 0))


def _source_query(edits: Edits, span: ClauseSpan, source_at: tuple[int, int]) -> str:
    """A complete query for the relation before a clause, with the CTEs that it may use."""
    query = f"SELECT * FROM {edits.result(*source_at)}"
    for number, entries in enumerate(reversed(span.ctes)):
        defined = ", ".join(edits.result(*entry) for entry in entries)
        query = f"WITH {defined} {query}" if number == 0 else f"WITH {defined} SELECT * FROM ({query})"
    return query


def _answer(
    workload: Workload, asked: ParsedCommand, written: Sequence[ParsedClause] = (), explained: str = ""
) -> Answer:
    match asked.command:
        case Command.EXPLAIN_SHARING:
            try:
                sharing = report(_explained(workload, asked, written, explained), asked.only, asked.compares)
            except PlanningError as error:
                if error.condition == "TREND_UNKNOWN_QUERY":
                    error.start, error.end = asked.only_at
                raise
            if asked.compares and asked.form is ReportForm.TEXT:
                return Answer(COMPARED_COLUMNS, tuple(comparison_rows(sharing)))
            return Answer({"plan": "STRING"}, ((_EXPLAIN[asked.form](sharing),),))
        case Command.SHOW_TREND_QUERIES:
            rows = [query_row(*entry) for entry in registered(workload.queries())]
            shown = (row for row in rows if asked.like is None or _is_like(str(row[0]), asked.like))
            return Answer(QUERY_COLUMNS, tuple(shown))
        case Command.SHOW_TREND_STREAMS:
            return Answer(COLUMNS, tuple(workload.streams()))
        case Command.REFRESH_SHARING:
            workload.drop_results()
            return Answer({"result": "STRING"}, (("The results of all trend queries have been dropped.",),))


def _explained(
    workload: Workload, asked: ParsedCommand, written: Sequence[ParsedClause], explained: str
) -> list[TrendQuery]:
    """All queries of views, or those that the clauses of a statement would be pooled with, and these.

    Of a UNION ALL of views over streams, it is the queries that it has.
    """
    if asked.explained_at is None:
        return workload.explained(samples=asked.compares)
    if not written and (numbers := workload.united(explained)):
        return [query for query in workload.explained(samples=asked.compares) if query.written.number in numbers]
    if not written:
        problem = "the statement after EXPLAIN SHARING has no MATCH_TREND"
        raise PlanningError("TREND_COMMAND_SYNTAX", *asked.explained_at, problem=problem)
    workload.remember(written, is_script=False)
    queries = workload.explained(written, samples=asked.compares)
    numbers = {clause.number for clause in written}
    pools = {query.pool for query in queries if query.written.number in numbers}
    return [query for query in queries if query.pool in pools]


def _is_like(name: str, pattern: str) -> bool:
    """Whether a name matches a pattern as Spark's SHOW commands take it: ``*`` for anything, ``|`` between choices."""
    choices = (re.escape(choice.strip()).replace(r"\*", ".*") for choice in pattern.split("|"))
    return any(re.fullmatch(choice, name, re.IGNORECASE | re.DOTALL) for choice in choices)
