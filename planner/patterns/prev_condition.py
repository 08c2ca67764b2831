"""Conditions between an event of a trend and the one just before it, as typed trees.

What concerns one event alone is an attribute that Spark evaluates; the tree holds what relates the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from sparkext.planner.patterns.attribute import Attribute


class ValueKind(Enum):
    """How a value is held while a condition is evaluated.

    FLAG: 0 or 1. WHOLE: 64-bit integers, also of dates, timestamps and intervals, and the digits of
    decimals of at most 18. NUMBER: doubles. SINGLE: doubles rounded to 32 bits. KEY: 128-bit order
    keys, for decimals of more digits. IDENTITY: numbers of strings and binaries; only equality counts.
    """

    FLAG = "flag"
    WHOLE = "whole"
    NUMBER = "number"
    SINGLE = "single"
    KEY = "key"
    IDENTITY = "identity"


class Operation(Enum):
    """An operator, as Spark SQL understands it, NULL and NaN included.

    Its operands have one kind, but for CHOOSE, whose first is a flag, and TO_NUMBER. What does not
    fit into 64 bits, and a division by zero, is NULL.
    """

    EQUAL = "="
    SAME = "<=>"
    LESS = "<"
    AT_MOST = "<="
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IS_NULL = "IS NULL"
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"
    NEGATE = "negate"
    ABS = "abs"
    CHOOSE = "if"
    TO_NUMBER = "double"


@dataclass(frozen=True, slots=True)
class OwnAttribute:
    """An attribute of the event."""

    attribute: Attribute
    kind: ValueKind

    def __str__(self) -> str:
        return self.attribute.text


@dataclass(frozen=True, slots=True)
class PrevAttribute:
    """An attribute of the event before; ``absent`` says that it is certainly NULL when there is none."""

    attribute: Attribute
    kind: ValueKind
    absent: bool = True

    def __str__(self) -> str:
        return f"PREV({self.attribute.text})"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; None is NULL."""

    value: int | float | None
    kind: ValueKind

    def __str__(self) -> str:
        return "NULL" if self.value is None else str(self.value)


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator with its operands; ``kind`` is that of its value."""

    operation: Operation
    operands: tuple[Operand, ...]
    kind: ValueKind

    def __str__(self) -> str:
        shown = [f"({o})" if isinstance(o, Apply) else str(o) for o in self.operands]
        if len(shown) == 2:
            return f"{shown[0]} {self.operation.value} {shown[1]}"
        return f"{self.operation.value}({', '.join(map(str, self.operands))})"


Operand: TypeAlias = OwnAttribute | PrevAttribute | Constant | Apply


def conjuncts(condition: Operand) -> tuple[Operand, ...]:
    """The conditions that ``condition`` joins with AND."""
    if isinstance(condition, Apply) and condition.operation is Operation.AND:
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)


def may_start(condition: Operand) -> bool:
    """Whether ``condition`` can be true of an event without one before it."""
    return True in _possible(condition)


_ANY: frozenset[bool | None] = frozenset((True, False, None))


def _possible(node: Operand) -> frozenset[bool | None]:
    """What a value may be without an event before it: None for NULL, else a flag's value, or both."""
    match node:
        case OwnAttribute():
            return _ANY
        case PrevAttribute(absent=absent):
            return frozenset((None,)) if absent else _ANY
        case Constant(value, kind):
            values = _ANY - {None} if kind is not ValueKind.FLAG else frozenset((bool(value),))
            return frozenset((None,)) if value is None else values
    operands = [_possible(operand) for operand in node.operands]
    match node.operation:
        case Operation.AND | Operation.OR:
            stops = node.operation is Operation.OR
            return frozenset(_joined(left, right, stops) for left in operands[0] for right in operands[1])
        case Operation.NOT:
            return frozenset(None if value is None else not value for value in operands[0])
        case Operation.IS_NULL:
            return frozenset(value is None for value in operands[0])
        case Operation.SAME:
            return _ANY - {None}
        case Operation.CHOOSE:
            chosen = operands[1] if True in operands[0] else frozenset()
            return chosen | (operands[2] if operands[0] - {True} else frozenset())
    null = frozenset((None,)) if any(None in operand for operand in operands) else frozenset()
    return null | (_ANY - {None} if all(operand - {None} for operand in operands) else frozenset())


def _joined(left: bool | None, right: bool | None, stops: bool) -> bool | None:
    """Three-valued AND, or OR when ``stops`` is True: the value that decides by itself."""
    if stops in (left, right):
        return stops
    return None if left is None or right is None else not stops
