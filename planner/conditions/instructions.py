"""Conditions on adjacent events as instructions for the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sparkext.planner.compiler.kernel_plan import Column, Encoding, Instruction
from sparkext.planner.conditions.prev_condition import Apply, Constant, Here, Kind, Operand, Prev

ColumnNumber: TypeAlias = Callable[[Column], int]

_ENCODINGS = {
    Kind.FLAG: Encoding.LEAST,
    Kind.WHOLE: Encoding.LEAST,
    Kind.NUMBER: Encoding.NUMBER,
    Kind.SINGLE: Encoding.NUMBER,
    Kind.KEY: Encoding.LEAST,
    Kind.IDENTITY: Encoding.IDENTITY,
}


def program(condition: Operand, number: ColumnNumber) -> tuple[Instruction, ...]:
    """The instructions of ``condition``; ``number`` gives a column of the events its number."""
    return _Assembler(number).program(condition)


def loaded(side: Here | Prev) -> Column:
    """The column that an attribute is loaded from."""
    return Column(side.attribute, _ENCODINGS[side.kind])


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
                column = self._number(loaded(node))
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
