"""A twin of the instructions that scans are made of: each on Python values, None for what is not known."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, TypeAlias

from sparkext.planner.kernel_plan.kernel_plan import Column, Encoding, Instruction
from tests.support.enumerator import sort_key

Value: TypeAlias = Any

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


def evaluate(
    program: Sequence[Instruction], columns: Sequence[Column], here: Sequence[Value], prev: Sequence[Value]
) -> Value:
    """The value of a program's last register.

    Args:
        program: The instructions.
        columns: What ``here`` and ``prev`` hold.
        here: Attributes of the event.
        prev: Attributes of the event before.
    """
    registers: list[Value] = []
    for instruction in program:
        if instruction.column >= 0:
            side = here if instruction.code.startswith("here") else prev
            registers.append(loaded(instruction.code, columns[instruction.column], side[instruction.column]))
        elif not instruction.operands:
            value, is_known = instruction.value
            registers.append(value if is_known else None)
        else:
            registers.append(applied(instruction.code, [registers[operand] for operand in instruction.operands]))
    return registers[-1]


def is_true(flag: Value) -> bool:
    """Whether a flag is true, which a constant one is as the number 1."""
    return flag is not None and bool(flag)


def loaded(code: str, column: Column, value: Value) -> Value:
    """What a register holds of an attribute."""
    if value is None or code.endswith("key") or column.encoding is Encoding.IDENTITY:
        return value
    if code.endswith("number"):
        return float(value)
    if isinstance(value, Decimal):
        return int(value.scaleb(int(column.attribute.type.split(",")[1][:-1])))
    if isinstance(value, datetime):
        zone = timezone.utc if value.tzinfo else None
        return (value - datetime(1970, 1, 1, tzinfo=zone)) // timedelta(microseconds=1)
    return (value - date(1970, 1, 1)).days if isinstance(value, date) else value


def applied(code: str, operands: Sequence[Value]) -> Value:
    """The value of an operation: three-valued logic, NaN equal to itself and greatest, 64-bit integers."""
    name, kind = code.rsplit("_", 1)
    if name == "same":
        left, right = operands
        return (left is None) == (right is None) and (left is None or sort_key(left) == sort_key(right))
    if name == "is_null":
        return operands[0] is None
    if name == "choose":
        return operands[1] if is_true(operands[0]) else operands[2]
    if name == "and":
        return False if False in operands else None if None in operands else True
    if name == "or":
        return True if True in operands else None if None in operands else False
    if None in operands:
        return None
    if name in _COMPARISONS:
        return _COMPARISONS[name](*map(sort_key, operands))
    if name == "not":
        return not operands[0]
    if name == "to_number":
        return float(operands[0])
    if name == "to_single":
        return _single(operands[0])
    return _whole(name, *operands) if kind == "whole" else _number(name, *operands)


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "less": operator.lt,
    "at_most": operator.le,
}


def _whole(name: str, left: int, right: int = 0) -> int | None:
    if name in ("divide", "remainder") and right == 0:
        return None
    match name:
        case "add":
            result = left + right
        case "subtract":
            result = left - right
        case "multiply":
            result = left * right
        case "divide":
            result = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        case "remainder":
            result = abs(left) % abs(right) * (-1 if left < 0 else 1)
        case "negate":
            result = -left
        case "abs":
            result = abs(left)
    return result if LEAST <= result <= GREATEST else None


def _number(name: str, left: float, right: float = 0.0) -> float | None:
    match name:
        case "add":
            return left + right
        case "subtract":
            return left - right
        case "multiply":
            return left * right
        case "negate":
            return -left
        case "abs":
            return abs(left)
    if right == 0:
        return None
    if name == "divide":
        return left / right
    # Where `math.fmod` raises, C and Java give NaN.
    return math.fmod(left, right) if math.isfinite(left) else math.nan


def _single(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)
