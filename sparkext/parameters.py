"""Parameter markers inside clauses: replaced by their values before the clause is parsed.

Markers elsewhere are Spark's business and stay.
"""

from __future__ import annotations

from typing import Any

from sqlglot.errors import TokenError

from planner.errors import PlanningError
from sparkext.edits import Edits
from sparkext.recognise import find_clauses
from sparkext.tokens import Token, tokenize


def fill_in(sql: str, context: Any) -> tuple[Edits, Any]:
    """The replacement of the markers in the clauses of ``sql``, and the context that fits what is left.

    Args:
        sql: The user's statement.
        context: Spark's ParameterContext; None when this version of Spark hands none to its parser.

    Raises:
        PlanningError: ``TREND_PARAMETER`` for a marker without a value.
    """
    if "match_trend" not in sql.lower():
        return Edits(sql), context
    try:
        tokens = tokenize(sql)
    except TokenError:
        return Edits(sql), context
    spans = [
        (tokens[span.body].start, tokens[span.body_end].start)
        for span in find_clauses(tokens)
        if span.body < span.body_end
    ]
    if not spans:
        return Edits(sql), context
    named = context is not None and context.getClass().getSimpleName() == "NamedParameterContext"
    values = context.params() if context is not None else None
    edits = Edits(sql)
    kept: list[int] = []
    position = 0
    for at, token in enumerate(tokens):
        inside = any(start <= token.start < end for start, end in spans)
        if token.is_symbol("?") and not _is_quantifier(tokens, at):
            if inside:
                if values is None or named or position >= values.size():
                    raise PlanningError("TREND_PARAMETER", token.start, token.end, marker="?")
                edits.replace(token.start, token.end, str(values.apply(position).sql()))
            else:
                kept.append(position)
            position += 1
        elif inside and token.is_symbol(":") and at + 1 < len(tokens) and (name := tokens[at + 1].name) is not None:
            if values is None or not named or not values.contains(name):
                raise PlanningError("TREND_PARAMETER", token.start, tokens[at + 1].end, marker=f":{name}")
            edits.replace(token.start, tokens[at + 1].end, str(values.apply(name).sql()))
    if values is not None and not named and len(kept) < position:
        context = context.copy(_only(values, kept))
    return edits, context


def _is_quantifier(tokens: list[Token], at: int) -> bool:
    """Whether the ``?`` at ``at`` is in a pattern."""
    depth = 0
    for place in range(at - 1, -1, -1):
        if tokens[place].is_symbol(")"):
            depth += 1
        elif tokens[place].is_symbol("("):
            depth -= 1
            if depth < 0 and place > 0 and tokens[place - 1].word == "PATTERN":
                return True
    return False


def _only(values: Any, kept: list[int]) -> Any:
    """A Scala sequence of the elements of ``values`` at ``kept``."""
    builder = values.take(0)
    for position in kept:
        builder = builder.appended(values.apply(position))
    return builder
