"""Parameter markers inside clauses: replaced by their values before the clause is parsed.

Markers elsewhere are Spark's business and stay.
"""

from __future__ import annotations

from typing import Any

from planner.errors import PlanningError
from sparkext.edits import Edits
from sparkext.recognise import find_clauses
from sparkext.tokens import Token, TokenError, tokenize


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
    values = _values(context)
    edits = Edits(sql)
    kept: list[int] = []
    position = 0
    for at, token in enumerate(tokens):
        inside = any(start <= token.start < end for start, end in spans)
        if token.is_symbol("?") and not _is_quantifier(tokens, at):
            if inside:
                if position not in values:
                    raise PlanningError("TREND_PARAMETER", token.start, token.end, marker="?")
                edits.replace(token.start, token.end, values[position])
            else:
                kept.append(position)
            position += 1
        elif inside and token.is_symbol(":") and at + 1 < len(tokens) and (name := tokens[at + 1].name) is not None:
            if name not in values:
                raise PlanningError("TREND_PARAMETER", token.start, tokens[at + 1].end, marker=f":{name}")
            edits.replace(token.start, tokens[at + 1].end, values[name])
    return edits, context if len(kept) == position else _without(context, kept)


def _values(context: Any) -> dict[int | str, str]:
    """The values, in SQL, by their names or positions."""
    match None if context is None else context.getClass().getSimpleName():
        case None:
            return {}
        case "NamedParameterContext":
            pairs = context.params().toSeq()
            return {str(pairs.apply(i)._1()): str(pairs.apply(i)._2().sql()) for i in range(pairs.size())}
        case "PositionalParameterContext":
            return {i: str(context.params().apply(i).sql()) for i in range(context.params().size())}
        case _:  # of EXECUTE IMMEDIATE, where a value has a position and may have a name
            args, names = context.args(), context.paramNames()
            given = [(str(names.apply(i)), i, str(args.apply(i).sql())) for i in range(args.size())]
            return {key: value for name, at, value in given for key in (name, at)}


def _without(context: Any, kept: list[int]) -> Any:
    """A context of the parameters by position that are at ``kept``."""
    if context.getClass().getSimpleName() == "PositionalParameterContext":
        return context.copy(_only(context.params(), kept))
    return context.copy(_only(context.args(), kept), _only(context.paramNames(), kept))


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
