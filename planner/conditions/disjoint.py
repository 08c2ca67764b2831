"""Conditions taken apart into conjunctions of which at most one is true.

The events that go with an event are found for each conjunction by itself, and what they hold is added up. So no event
may be found twice: ``a OR b`` becomes ``a`` on the one hand, and ``b`` where ``a`` is not true on the other.

What names one attribute of the event before, however often, stays whole, since one structure answers it (`monotone`).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import product
from typing import TypeAlias

from sparkext.planner.conditions.monotone import axes
from sparkext.planner.patterns.prev_condition import Apply, Constant, Operand, Operation, ValueKind

MOST_TERMS = 8
"""Most conjunctions that a condition is taken apart into; each is a structure of its own."""


class WantedTruth(Enum):
    """What a condition is to be; with NULL there are two ways of not being true."""

    TRUE = "true"
    FALSE = "false"
    NOT_TRUE = "not true"
    NOT_FALSE = "not false"


Conjunction: TypeAlias = "tuple[Operand, ...]"
"""Conditions that are all true, each of which names at most one attribute of the event before."""

_OPPOSITE = {
    WantedTruth.TRUE: WantedTruth.NOT_TRUE,
    WantedTruth.NOT_TRUE: WantedTruth.TRUE,
    WantedTruth.FALSE: WantedTruth.NOT_FALSE,
    WantedTruth.NOT_FALSE: WantedTruth.FALSE,
}
_NEGATED = {
    WantedTruth.TRUE: WantedTruth.FALSE,
    WantedTruth.FALSE: WantedTruth.TRUE,
    WantedTruth.NOT_TRUE: WantedTruth.NOT_FALSE,
    WantedTruth.NOT_FALSE: WantedTruth.NOT_TRUE,
}
_YES = Constant(1, ValueKind.FLAG)


class _TooManyError(Exception):
    """There would be too many conjunctions, or there are none that name one attribute each."""


def disjoint(condition: Operand) -> list[Conjunction] | None:
    """Conjunctions of which exactly one is true when ``condition`` is, and none else.

    Returns:
        None where an operator relates several attributes of the event before, or where there would be more than
        `MOST_TERMS`.
    """
    try:
        return _split(condition, WantedTruth.TRUE)
    except _TooManyError:
        return None


def _split(node: Operand, wanted: WantedTruth) -> list[Conjunction]:
    """Conjunctions of which one is true when ``node`` is what is wanted."""
    if isinstance(node, Apply) and node.operation is Operation.NOT:
        return _split(node.operands[0], _NEGATED[wanted])
    if isinstance(node, Apply) and node.operation in (Operation.AND, Operation.OR):
        parts = _by_axis(node)
        # AND is true when all parts are, and not false when none is; OR is the reverse.
        of_all = (
            (WantedTruth.TRUE, WantedTruth.NOT_FALSE)
            if node.operation is Operation.AND
            else (WantedTruth.FALSE, WantedTruth.NOT_TRUE)
        )
        if len(parts) > 1:
            return _all_of(parts, wanted) if wanted in of_all else _some_of(parts, wanted)
    if len(axes(node)) <= 1:
        return [(_as_condition(node, wanted),)]
    if isinstance(node, Apply) and node.operation is Operation.CHOOSE:
        condition, then, otherwise = node.operands
        chosen = _joined(_split(condition, WantedTruth.TRUE), _split(then, wanted))
        return _limited(chosen + _joined(_split(condition, WantedTruth.NOT_TRUE), _split(otherwise, wanted)))
    raise _TooManyError


def _all_of(parts: Iterable[Operand], wanted: WantedTruth) -> list[Conjunction]:
    conjunctions: list[Conjunction] = [()]
    for part in parts:
        conjunctions = _joined(conjunctions, _split(part, wanted))
    return conjunctions


def _some_of(parts: list[Operand], wanted: WantedTruth) -> list[Conjunction]:
    """The first part, or the second and not the first, and so on."""
    conjunctions: list[Conjunction] = []
    before: list[Conjunction] = [()]
    for index, part in enumerate(parts):
        conjunctions = _limited(conjunctions + _joined(before, _split(part, wanted)))
        if index < len(parts) - 1:
            before = _joined(before, _split(part, _OPPOSITE[wanted]))
    return conjunctions


def _joined(some: list[Conjunction], others: list[Conjunction]) -> list[Conjunction]:
    return _limited([left + right for left, right in product(some, others)])


def _limited(conjunctions: list[Conjunction]) -> list[Conjunction]:
    if len(conjunctions) > MOST_TERMS:
        raise _TooManyError
    return conjunctions


def _by_axis(node: Apply) -> list[Operand]:
    """What ``node`` joins with AND or OR, smaller ones first; all that names the same one attribute is one part."""
    parts: dict[object, Operand] = {}
    for number, part in enumerate(_flat(node, node.operation)):
        named = axes(part)
        key = named if len(named) <= 1 else number
        parts[key] = Apply(node.operation, (parts[key], part), ValueKind.FLAG) if key in parts else part
    return sorted(parts.values(), key=lambda part: len(axes(part)))


def _flat(node: Operand, operation: Operation) -> list[Operand]:
    if isinstance(node, Apply) and node.operation is operation:
        return [part for operand in node.operands for part in _flat(operand, operation)]
    return [node]


def _as_condition(node: Operand, wanted: WantedTruth) -> Operand:
    """A condition that is true when ``node`` is what is wanted."""
    if wanted in (WantedTruth.FALSE, WantedTruth.NOT_FALSE):
        node = Apply(Operation.NOT, (node,), ValueKind.FLAG)
    if wanted in (WantedTruth.TRUE, WantedTruth.FALSE):
        return node
    return Apply(Operation.NOT, (Apply(Operation.SAME, (node, _YES), ValueKind.FLAG),), ValueKind.FLAG)
