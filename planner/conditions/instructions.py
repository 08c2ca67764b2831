"""Conditions on adjacent events as instructions for the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sparkext.planner.kernel_plan.kernel_plan import Column, Encoding, Instruction
from sparkext.planner.patterns.prev_condition import Apply, Constant, Operand, OwnAttribute, PrevAttribute, ValueKind

ColumnNumber: TypeAlias = Callable[[Column], int]

_ENCODINGS = {
    ValueKind.FLAG: Encoding.LEAST,
    ValueKind.WHOLE: Encoding.LEAST,
    ValueKind.NUMBER: Encoding.NUMBER,
    ValueKind.SINGLE: Encoding.NUMBER,
    ValueKind.KEY: Encoding.LEAST,
    ValueKind.IDENTITY: Encoding.IDENTITY,
}


def program(condition: Operand, number: ColumnNumber) -> tuple[Instruction, ...]:
    """The instructions of ``condition``; ``number`` gives a column of the events its number."""
    return _Assembler(number).program(condition)


def loaded(side: OwnAttribute | PrevAttribute) -> Column:
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
            case OwnAttribute(attribute, kind) | PrevAttribute(attribute, kind):
                side = "here" if isinstance(node, OwnAttribute) else "prev"
                column = self._number(loaded(node))
                code = f"{side}_{_load(kind, attribute.type)}"
                row = Instruction(code, column=column)
            case Constant(value, kind):
                plain = value is not None
                held = float(value or 0) if kind in (ValueKind.NUMBER, ValueKind.SINGLE) else int(value or 0)
                row = Instruction("constant_number" if isinstance(held, float) else "constant", value=(held, plain))
            case Apply(operation, operands, kind):
                registers = tuple(map(self._add, operands))
                held_as = _family(operands[-1].kind)
                row = Instruction(f"{operation.name.lower()}_{held_as}", registers)
                if kind is ValueKind.SINGLE:
                    row = Instruction("to_single_number", (self._rows.setdefault(row, len(self._rows)),))
        return self._rows.setdefault(row, len(self._rows))


def _load(kind: ValueKind, type_: str) -> str:
    if kind is ValueKind.WHOLE and type_.startswith("decimal"):
        return "digits"
    return _family(kind)


def _family(kind: ValueKind) -> str:
    """Which of the instructions of an operation apply: to numbers, to 128-bit keys, or to whole numbers."""
    if kind in (ValueKind.NUMBER, ValueKind.SINGLE):
        return "number"
    return "key" if kind is ValueKind.KEY else "whole"
