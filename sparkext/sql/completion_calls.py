"""What measures ask of completions, as it is written: of one trend of each, or how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Distinct, Side
from sparkext.sql.aggregate_calls import SIDES, is_distinct, one_end
from sparkext.sql.clause import Expression, Item
from sparkext.sql.event_expressions import (
    AGGREGATES,
    EventExpression,
    Names,
    event_expression,
    is_call,
    is_star,
)
from sparkext.sql.tokens import Token, matching, split_at_commas

EVENTS, CLASSIFIER = "EVENTS", "CLASSIFIER"
OF_WITNESS = frozenset((*SIDES, EVENTS, CLASSIFIER))
"""Names of what is asked of the witness of a completion."""

_DISTINCT = "DISTINCT applies to LAST(*), the completions, and to all expressions of PARTITION BY, the keys: {0}"
_ROWS = "with ONE ROW PER COMPLETION each is a row, of which an outer query counts what it likes"


@dataclass(frozen=True, slots=True)
class ShownCall:
    """``FIRST(X.a)``, ``LAST(a)``, ``EVENTS(e)`` or ``CLASSIFIER()`` outside of aggregates.

    Offsets are those in the statement.

    Attributes:
        name: Which.
        side: Of FIRST and LAST.
        variable: Whose events are meant; None for any.
        attribute: What is asked of them; None for CLASSIFIER.
        start, end: Where it stands.
    """

    name: str
    side: Side | None
    variable: str | None
    attribute: EventExpression | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DistinctCall:
    """``COUNT(DISTINCT LAST(*))`` or ``COUNT(DISTINCT k1, k2)``; offsets as in the statement."""

    kind: Distinct
    start: int
    end: int


def shown_calls(sql: str, expression: Expression, names: Names) -> list[ShownCall]:
    """What a measure asks of the witness of a completion, outside of aggregates; in order.

    Raises:
        PlanningError: ``TREND_END_ARGUMENT``, ``TREND_UNKNOWN_VARIABLE`` or ``TREND_OTHER_VARIABLE``.
    """
    calls: list[ShownCall] = []
    tokens = expression.tokens
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if not is_call(tokens, at) or token.word not in (*OF_WITNESS, *AGGREGATES):
            at += 1
            continue
        closing = matching(tokens, at + 1)
        if closing is None:
            problem = "the parenthesis is never closed"
            raise PlanningError("TREND_CLAUSE_SYNTAX", token.start, token.end, problem=problem)
        if token.word in OF_WITNESS:
            calls.append(_shown(sql, token, tokens[at + 2 : closing], tokens[closing].end, names))
        at = closing + 1
    return calls


def _shown(sql: str, function: Token, inner: Sequence[Token], end: int, names: Names) -> ShownCall:
    word = function.word

    def wrong(problem: str, *at: Token) -> PlanningError:
        first, last = (at[0], at[-1]) if at else (function, function)
        return PlanningError("TREND_END_ARGUMENT", first.start, last.end, function=word, problem=problem)

    if word == CLASSIFIER:
        if inner:
            raise wrong("it has none: it is the variable of the last event", *inner)
        return ShownCall(word, None, None, None, function.start, end)
    nested = next(
        (t for at, t in enumerate(inner) if t.word in (*AGGREGATES, *OF_WITNESS) and is_call(inner, at)), None
    )
    if nested is not None:
        raise wrong(f"{nested.word} stands inside it", nested)
    if word in SIDES:
        shown = one_end(sql, function, inner, end, names)
        return ShownCall(word, shown.side, shown.variable, shown.attribute, function.start, end)
    if not inner:
        raise wrong("it has no argument")
    if is_star(inner) or len(split_at_commas(inner)) != 1:
        raise wrong("it takes one expression, such as named_struct('id', id, 'page', page)", *inner)
    attribute = event_expression(sql, Expression(tuple(inner)), names)
    return ShownCall(word, None, None, attribute, function.start, end)


def distinct_calls(sql: str, expression: Expression, names: Names, partition_by: Sequence[Item]) -> list[DistinctCall]:
    """What a measure counts once, in order.

    Raises:
        PlanningError: ``TREND_AGGREGATE_ARGUMENT`` if it is something else.
    """
    tokens = expression.tokens
    return [_distinct(sql, tokens, at, names, partition_by) for at in range(len(tokens)) if is_distinct(tokens, at)]


def _distinct(sql: str, tokens: Sequence[Token], at: int, names: Names, partition_by: Sequence[Item]) -> DistinctCall:
    function, word = tokens[at], tokens[at + 2]
    closing = matching(tokens, at + 1)

    def wrong(problem: str) -> PlanningError:
        said = _DISTINCT.format(problem)
        return PlanningError("TREND_AGGREGATE_ARGUMENT", word.start, word.end, function="COUNT", problem=said)

    if closing is None:
        problem = "the parenthesis is never closed"
        raise PlanningError("TREND_CLAUSE_SYNTAX", function.start, function.end, problem=problem)
    inner = tokens[at + 3 : closing]
    start, end = function.start, tokens[closing].end
    if [token.text.upper() for token in inner] == ["LAST", "(", "*", ")"]:
        return DistinctCall(Distinct.COMPLETIONS, start, end)
    if not partition_by:
        raise wrong(f"here is no PARTITION BY, and {_ROWS}")
    pieces = split_at_commas(inner)
    spellings = [_spellings(sql, item, names) for item in partition_by]
    named = {number for piece in pieces for number, spelled in enumerate(spellings) if _text(piece) in spelled}
    is_known = all(any(_text(piece) in spelled for spelled in spellings) for piece in pieces)
    if not inner or not is_known or len(named) != len(spellings):
        keys = ", ".join(sql[item.expression.start : item.expression.end] for item in partition_by)
        raise wrong(f"those are {keys}, and {_ROWS}")
    return DistinctCall(Distinct.KEYS, start, end)


def _spellings(sql: str, item: Item, names: Names) -> set[str]:
    """How an expression of PARTITION BY may be spelled where it is counted."""
    spellings = {_text(item.expression.tokens), event_expression(sql, item.expression, names).canonical.lower()}
    if item.name is not None:
        spellings.add((item.name.name or "").lower())
    return spellings


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.name or token.text for token in tokens).lower()
