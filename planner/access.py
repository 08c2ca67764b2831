"""How the events before are found that a condition on adjacent events lets through.

A conjunction of equalities is a hash table, with one ordered comparison a Fenwick tree, everything
else a scan. Where guards depend on the time of the event before, totals of several events cannot be
used, so that is a scan as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from planner.adjacent import Apply, Constant, Here, Kind, Operand, Operation, Prev, conjuncts
from planner.kernel_plan import Access, Column, Comparison, Encoding, Instruction, Order

ColumnNumber: TypeAlias = Callable[[Column], int]

_ENCODINGS = {
    Kind.FLAG: Encoding.LEAST,
    Kind.WHOLE: Encoding.LEAST,
    Kind.NUMBER: Encoding.NUMBER,
    Kind.SINGLE: Encoding.NUMBER,
    Kind.KEY: Encoding.LEAST,
    Kind.IDENTITY: Encoding.IDENTITY,
}


def access(condition: Operand, guarded: bool) -> Access:
    """How the events before are found for ``condition``.

    Args:
        condition: On an event and the one before it.
        guarded: Whether it also matters when the event before was.
    """
    parts = [_fast(part) for part in conjuncts(condition)]
    orders = sum(isinstance(part, _Ordered) for part in parts)
    if guarded or None in parts or orders > 1:
        return Access.SCAN
    return Access.FENWICK if orders else Access.HASH


def compile_comparison(condition: Operand, guarded: bool, number: ColumnNumber) -> Comparison:
    """The comparison that the kernel makes for ``condition``.

    Args:
        condition: On an event and the one before it.
        guarded: Whether it also matters when the event before was.
        number: Gives a column of the events its number.
    """
    chosen = access(condition, guarded)
    if chosen is Access.SCAN:
        return Comparison(chosen, (), None, _Assembler(number).program(condition))
    equal: list[tuple[int, int]] = []
    order: Order | None = None
    for part in conjuncts(condition):
        fast = _fast(part)
        assert fast is not None
        here, prev = (number(_key_column(side)) for side in (fast.here, fast.prev))
        if isinstance(fast, _Equal):
            equal.append((here, prev))
        else:
            order = Order(here, prev, fast.before_is_less, fast.or_equal, fast.or_null)
    return Comparison(chosen, tuple(sorted(set(equal))), order, ())


@dataclass(frozen=True, slots=True)
class _Equal:
    """An equality of an attribute with one of the event before."""

    here: Here
    prev: Prev


@dataclass(frozen=True, slots=True)
class _Ordered:
    """An ordered comparison of an attribute with one of the event before; see `Order`."""

    here: Here
    prev: Prev
    before_is_less: bool
    or_equal: bool
    or_null: bool


def _fast(part: Operand) -> _Equal | _Ordered | None:
    """What a hash table or a Fenwick tree needs to know of a condition; None when it takes a scan."""
    match part:
        case Apply(Operation.OR, (Apply(Operation.IS_NULL, (Prev() as prev,)), other)):
            return _or_null(prev, other)
        case Apply(Operation.OR, (other, Apply(Operation.IS_NULL, (Prev() as prev,)))):
            return _or_null(prev, other)
        case Apply(Operation.EQUAL, (Here() as here, Prev() as prev) | (Prev() as prev, Here() as here)):
            return _Equal(here, prev)
        case Apply(Operation.LESS | Operation.AT_MOST, (Prev() as prev, Here() as here)):
            return _Ordered(here, prev, True, part.operation is Operation.AT_MOST, False)
        case Apply(Operation.LESS | Operation.AT_MOST, (Here() as here, Prev() as prev)):
            return _Ordered(here, prev, False, part.operation is Operation.AT_MOST, False)
    return None


def _or_null(prev: Prev, other: Operand) -> _Ordered | None:
    fast = _fast(other)
    if not isinstance(fast, _Ordered) or fast.prev != prev:
        return None
    return _Ordered(fast.here, fast.prev, fast.before_is_less, fast.or_equal, True)


def _key_column(side: Here | Prev) -> Column:
    """The column of an attribute that is compared by its order key, or by its identity."""
    return Column(side.attribute, Encoding.IDENTITY if side.kind is Kind.IDENTITY else Encoding.LEAST)


class _Assembler:
    """Turns a tree into instructions, equal parts once."""

    def __init__(self, number: ColumnNumber) -> None:
        self._number = number
        self._rows: dict[Instruction, int] = {}

    def program(self, condition: Operand) -> tuple[Instruction, ...]:
        last = self._add(condition)
        assert last == len(self._rows) - 1
        return tuple(self._rows)

    def _add(self, node: Operand) -> int:
        match node:
            case Here(attribute, kind) | Prev(attribute, kind):
                side = "here" if isinstance(node, Here) else "prev"
                column = self._number(Column(attribute, _ENCODINGS[kind]))
                code = f"{side}_{_load(kind, attribute.type)}"
                row = Instruction(code, column=column)
            case Constant(value, kind):
                plain = value is not None
                held = float(value or 0) if kind in (Kind.NUMBER, Kind.SINGLE) else int(value or 0)
                row = Instruction("constant_number" if isinstance(held, float) else "constant", value=(held, plain))
            case Apply(operation, operands, kind):
                registers = tuple(map(self._add, operands))
                held_as = _family(operands[-1].kind)
                row = Instruction(f"{operation.name.lower()}_{held_as}", registers)
                if kind is Kind.SINGLE:
                    row = Instruction("to_single_number", (self._rows.setdefault(row, len(self._rows)),))
        return self._rows.setdefault(row, len(self._rows))


def _load(kind: Kind, type_: str) -> str:
    if kind is Kind.WHOLE and type_.startswith("decimal"):
        return "digits"
    return _family(kind)


def _family(kind: Kind) -> str:
    """Which of the instructions of an operation apply: to numbers, to 128-bit keys, or to whole numbers."""
    if kind in (Kind.NUMBER, Kind.SINGLE):
        return "number"
    return "key" if kind is Kind.KEY else "whole"
