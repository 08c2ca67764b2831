"""Parameter markers in clauses and in what they read: replaced by their values before the clause is parsed.

Markers elsewhere are Spark's business and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparkext.jvm.statement_analyzer import only_at, values_of
from sparkext.planner.errors import PlanningError
from sparkext.sql.find_clauses import ClauseSpan
from sparkext.sql.text_edits import Edits
from sparkext.sql.tokens import Token


def fill_in(sql: str, tokens: list[Token], spans: Sequence[ClauseSpan], context: Any) -> tuple[Edits, Any]:
    """The replacement of the markers in the clauses of a statement, and the context that fits what is left.

    Args:
        sql: The user's statement.
        tokens: Of the statement.
        spans: Its clauses with the relations before them.
        context: Spark's ParameterContext; None when this version of Spark hands none to its parser.

    Raises:
        PlanningError: ``TREND_PARAMETER`` for a marker without a value.
    """
    edits = Edits(sql)
    marks = [at for at, token in enumerate(tokens) if _is_marker(tokens, at)]
    if not marks:
        return edits, context
    filled = [(span.start, span.end) for span in spans]
    filled += [entry for span in spans for entries in span.ctes for entry in entries]
    values = values_of(context)
    kept: list[int] = []
    position = 0
    for at in marks:
        token, is_named = tokens[at], tokens[at].is_symbol(":")
        name: int | str = tokens[at + 1].name or "" if is_named else position
        end = tokens[at + 1].end if is_named else token.end
        if any(start <= token.start < stop for start, stop in filled):
            if name not in values:
                raise PlanningError("TREND_PARAMETER", token.start, end, marker=f":{name}" if is_named else "?")
            edits.replace(token.start, end, values[name])
        elif not is_named:
            kept.append(position)
        position += not is_named
    return edits, context if len(kept) == position else only_at(context, kept)


def _is_marker(tokens: list[Token], at: int) -> bool:
    """Whether the token at ``at`` begins a parameter: ``?``, or ``:`` before a name and not right after a value.

    A colon right after a value, as in ``row:a.b``, gets a part of a VARIANT.
    """
    if tokens[at].is_symbol("?"):
        return not _is_quantifier(tokens, at)
    if not tokens[at].is_symbol(":") or at + 1 == len(tokens) or tokens[at + 1].name is None:
        return False
    before = tokens[at - 1] if at else None
    is_value = before is not None and (before.name is not None or before.is_symbol(")") or before.is_symbol("]"))
    return before is None or not is_value or before.end < tokens[at].start


def _is_quantifier(tokens: list[Token], at: int) -> bool:
    """Whether the ``?`` at ``at`` is in a pattern."""
    depth = 0
    for before in range(at - 1, -1, -1):
        if tokens[before].is_symbol(")"):
            depth += 1
        elif tokens[before].is_symbol("("):
            depth -= 1
            if depth < 0 and before > 0 and tokens[before - 1].word == "PATTERN":
                return True
    return False
