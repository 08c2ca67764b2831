"""Conditions between an event of a trend and the one just before it, as typed trees.

What concerns one event alone is an attribute that Spark evaluates; the tree holds what relates the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from planner.attribute import Attribute


class Kind(Enum):
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
class Here:
    """An attribute of the event."""

    attribute: Attribute
    kind: Kind

    def __str__(self) -> str:
        return self.attribute.text


@dataclass(frozen=True, slots=True)
class Prev:
    """An attribute of the event before."""

    attribute: Attribute
    kind: Kind

    def __str__(self) -> str:
        return f"PREV({self.attribute.text})"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; None is NULL."""

    value: int | float | None
    kind: Kind

    def __str__(self) -> str:
        return "NULL" if self.value is None else str(self.value)


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator with its operands; ``kind`` is that of its value."""

    operation: Operation
    operands: tuple[Operand, ...]
    kind: Kind

    def __str__(self) -> str:
        shown = [f"({o})" if isinstance(o, Apply) else str(o) for o in self.operands]
        if len(shown) == 2:
            return f"{shown[0]} {self.operation.value} {shown[1]}"
        return f"{self.operation.value}({', '.join(map(str, self.operands))})"


Operand: TypeAlias = Here | Prev | Constant | Apply


def conjuncts(condition: Operand) -> tuple[Operand, ...]:
    """The conditions that ``condition`` joins with AND."""
    if isinstance(condition, Apply) and condition.operation is Operation.AND:
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)
