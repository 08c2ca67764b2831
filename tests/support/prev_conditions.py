"""Conditions on an event and an earlier one for random workloads: as SQL, as the planner sees them, and as Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
)
from tests.support.enumerator import sort_key

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AdjacentCase:
    """A condition on an event and the one before.

    Attributes:
        sql: As DEFINE spells it.
        start: What must be true of an event that starts a trend, as SQL; None when none may.
        condition: The tree.
        holds: True, False or None for NULL, of the values of the event and of the one before.
    """

    sql: str
    start: str | None
    condition: Operand
    holds: Callable[[Values, Values], bool | None]


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "v % 2": lambda row: None if row.v is None else int(math.fmod(row.v, 2)),
    "d * 2": lambda row: None if row.d is None else row.d * 2,
    "kind": lambda row: row.kind,
}
"""Further attributes of a row."""

_V, _V2 = Attribute("v", "int"), Attribute("v % 2", "int")
_W = Attribute("w", "double")
_D, _D2 = Attribute("d", "decimal(12,2)"), Attribute("d * 2", "decimal(12,2)")
_BIG = Attribute("big", "decimal(38,0)")
_DAY = Attribute("day", "date")
_KIND = Attribute("kind", "string")
_FLAG = ValueKind.FLAG


def _flag(operation: Operation, *operands: Operand) -> Operand:
    return Apply(operation, operands, _FLAG)


def _pair(attribute: Attribute, kind: ValueKind) -> tuple[OwnAttribute, PrevAttribute]:
    return OwnAttribute(attribute, kind), PrevAttribute(attribute, kind)


_HV, _PV = _pair(_V, ValueKind.WHOLE)
_HW, _PW = _pair(_W, ValueKind.NUMBER)
_HD, _PD = _pair(_D, ValueKind.WHOLE)
_HBIG, _PBIG = _pair(_BIG, ValueKind.KEY)
_HDAY, _PDAY = _pair(_DAY, ValueKind.WHOLE)
_HKIND, _PKIND = _pair(_KIND, ValueKind.IDENTITY)
_ZERO, _ONE, _TWO, _FIVE = (Constant(number, ValueKind.WHOLE) for number in (0, 1, 2, 5))


def less(left: Any, right: Any) -> bool | None:
    """``one < other`` as Spark has it: NULL with NULL, NaN greatest."""
    if left is None or right is None:
        return None
    return bool(sort_key(left) < sort_key(right))


def equal(left: Any, right: Any) -> bool | None:
    """``one = other`` as Spark has it."""
    return None if left is None or right is None else bool(sort_key(left) == sort_key(right))


def both(left: bool | None, right: bool | None) -> bool | None:
    """Three-valued AND."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def negated(truth: bool | None) -> bool | None:
    """Three-valued NOT."""
    return None if truth is None else not truth


def either(left: bool | None, right: bool | None) -> bool | None:
    """Three-valued OR."""
    return negated(both(negated(left), negated(right)))


def _sum(*numbers: Any) -> Any:
    return None if None in numbers else sum(numbers)


def _close(here: Values, prev: Values) -> bool | None:
    difference = _sum(here["v"], None if prev["v"] is None else -prev["v"])
    return None if difference is None else abs(difference) <= 2


def _near(here: float | None, prev: float | None) -> bool | None:
    return None if here is None or prev is None else less(abs(here - prev), 0.75)


def _by_case(here: Values, prev: Values) -> bool | None:
    return less(here["v"], 5) if less(2, prev["v"]) else less(1, here["v"])


ADJACENT = (
    AdjacentCase("v < PREV(v)", None, _flag(Operation.LESS, _HV, _PV), lambda h, p: less(h["v"], p["v"])),
    AdjacentCase("w >= PREV(w)", None, _flag(Operation.AT_MOST, _PW, _HW), lambda h, p: negated(less(h["w"], p["w"]))),
    AdjacentCase(
        "PREV(d) IS NULL OR d > PREV(d)",
        "TRUE",
        _flag(Operation.OR, _flag(Operation.IS_NULL, _PD), _flag(Operation.LESS, _PD, _HD)),
        lambda h, p: p["d"] is None or less(p["d"], h["d"]),
    ),
    AdjacentCase("v = PREV(v)", None, _flag(Operation.EQUAL, _HV, _PV), lambda h, p: equal(h["v"], p["v"])),
    AdjacentCase(
        "kind <> PREV(kind)",
        None,
        _flag(Operation.NOT, _flag(Operation.EQUAL, _HKIND, _PKIND)),
        lambda h, p: negated(equal(h["kind"], p["kind"])),
    ),
    AdjacentCase(
        "kind = PREV(kind)", None, _flag(Operation.EQUAL, _PKIND, _HKIND), lambda h, p: equal(h["kind"], p["kind"])
    ),
    AdjacentCase(
        "v % 2 = PREV(v % 2) AND w < PREV(w)",
        None,
        _flag(
            Operation.AND,
            _flag(Operation.EQUAL, OwnAttribute(_V2, ValueKind.WHOLE), PrevAttribute(_V2, ValueKind.WHOLE)),
            _flag(Operation.LESS, _HW, _PW),
        ),
        lambda h, p: both(equal(h["v % 2"], p["v % 2"]), less(h["w"], p["w"])),
    ),
    AdjacentCase(
        "abs(v - PREV(v)) <= 2",
        None,
        _flag(
            Operation.AT_MOST,
            Apply(Operation.ABS, (Apply(Operation.SUBTRACT, (_HV, _PV), ValueKind.WHOLE),), ValueKind.WHOLE),
            _TWO,
        ),
        _close,
    ),
    AdjacentCase(
        "w + PREV(w) > 1.5D",
        None,
        _flag(Operation.LESS, Constant(1.5, ValueKind.NUMBER), Apply(Operation.ADD, (_HW, _PW), ValueKind.NUMBER)),
        lambda h, p: less(1.5, _sum(h["w"], p["w"])),
    ),
    AdjacentCase(
        "d <= PREV(d * 2)",
        None,
        _flag(Operation.AT_MOST, _HD, PrevAttribute(_D2, ValueKind.WHOLE)),
        lambda h, p: negated(less(p["d * 2"], h["d"])),
    ),
    AdjacentCase(
        "v > PREV(v) OR w < PREV(w)",
        None,
        _flag(Operation.OR, _flag(Operation.LESS, _PV, _HV), _flag(Operation.LESS, _HW, _PW)),
        lambda h, p: either(less(p["v"], h["v"]), less(h["w"], p["w"])),
    ),
    AdjacentCase(
        "PREV(v) IS NULL OR v < PREV(v)",
        "TRUE",
        _flag(Operation.OR, _flag(Operation.IS_NULL, _PV), _flag(Operation.LESS, _HV, _PV)),
        lambda h, p: either(p["v"] is None, less(h["v"], p["v"])),
    ),
    AdjacentCase(
        "v < PREV(v) OR PREV(w) IS NULL",
        "TRUE",
        _flag(Operation.OR, _flag(Operation.LESS, _HV, _PV), _flag(Operation.IS_NULL, _PW)),
        lambda h, p: either(less(h["v"], p["v"]), p["w"] is None),
    ),
    AdjacentCase(
        "w <> PREV(w)",
        None,
        _flag(Operation.NOT, _flag(Operation.EQUAL, _HW, _PW)),
        lambda h, p: negated(equal(h["w"], p["w"])),
    ),
    AdjacentCase(
        "v < PREV(v) AND w >= PREV(w)",
        None,
        _flag(Operation.AND, _flag(Operation.LESS, _HV, _PV), _flag(Operation.AT_MOST, _PW, _HW)),
        lambda h, p: both(less(h["v"], p["v"]), negated(less(h["w"], p["w"]))),
    ),
    AdjacentCase(
        "NOT (abs(w - PREV(w)) < 0.75D AND v <> PREV(v))",
        None,
        _flag(
            Operation.NOT,
            _flag(
                Operation.AND,
                _flag(
                    Operation.LESS,
                    Apply(Operation.ABS, (Apply(Operation.SUBTRACT, (_HW, _PW), ValueKind.NUMBER),), ValueKind.NUMBER),
                    Constant(0.75, ValueKind.NUMBER),
                ),
                _flag(Operation.NOT, _flag(Operation.EQUAL, _HV, _PV)),
            ),
        ),
        lambda h, p: negated(both(_near(h["w"], p["w"]), negated(equal(h["v"], p["v"])))),
    ),
    AdjacentCase(
        "v * PREV(v) > 2",
        None,
        _flag(Operation.LESS, _TWO, Apply(Operation.MULTIPLY, (_HV, _PV), ValueKind.WHOLE)),
        lambda h, p: None if None in (h["v"], p["v"]) else h["v"] * p["v"] > 2,
    ),
    AdjacentCase(
        "v % PREV(v) = 0",
        None,
        _flag(Operation.EQUAL, Apply(Operation.REMAINDER, (_HV, _PV), ValueKind.WHOLE), _ZERO),
        lambda h, p: None if h["v"] is None or not p["v"] else h["v"] % p["v"] == 0,
    ),
    AdjacentCase("big > PREV(big)", None, _flag(Operation.LESS, _PBIG, _HBIG), lambda h, p: less(p["big"], h["big"])),
    AdjacentCase(
        "day >= PREV(day)", None, _flag(Operation.AT_MOST, _PDAY, _HDAY), lambda h, p: negated(less(h["day"], p["day"]))
    ),
    AdjacentCase(
        "PREV(v) IS NOT NULL",
        None,
        _flag(Operation.NOT, _flag(Operation.IS_NULL, _PV)),
        lambda _, p: p["v"] is not None,
    ),
    AdjacentCase("v <=> PREV(v)", "v IS NULL", _flag(Operation.SAME, _HV, _PV), lambda h, p: h["v"] == p["v"]),
    AdjacentCase(
        "CASE WHEN PREV(v) > 2 THEN v < 5 ELSE v > 1 END",
        "v > 1",
        _flag(
            Operation.CHOOSE,
            _flag(Operation.LESS, _TWO, _PV),
            _flag(Operation.LESS, _HV, _FIVE),
            _flag(Operation.LESS, _ONE, _HV),
        ),
        _by_case,
    ),
)
"""Conditions for random workloads, of every access and on every kind of value."""

ADJACENT_BY_SQL = {case.sql: case for case in ADJACENT}

STARTS: dict[str, Callable[[Any], bool]] = {
    "TRUE": lambda _: True,
    "v IS NULL": lambda row: row.v is None,
    "v > 1": lambda row: row.v is not None and row.v > 1,
}
"""What ``start`` means, by row."""


def meaning(case: AdjacentCase) -> Callable[[Values, Values | None], bool]:
    """The condition as the enumerator wants it: whether it is true."""
    nothing = dict.fromkeys(("v", "w", "d", "big", "day", "at", *COMPUTED))
    return lambda here, prev: case.holds(here, nothing if prev is None else prev) is True


def on_earlier(case: AdjacentCase, variable: str) -> str:
    """The condition as DEFINE spells it when it is on the latest event of a variable, in place of the one before."""

    def earlier(call: re.Match[str]) -> str:
        return "(" + _COLUMN.sub(lambda column: f"{variable}.{column[0]}", call[1]) + ")"

    return _PREV.sub(earlier, case.sql)


_PREV, _COLUMN = re.compile(r"PREV\(([^)]*)\)"), re.compile(r"[a-z]+")

MEANINGS = {case.sql: meaning(case) for case in ADJACENT} | {
    on_earlier(case, variable): meaning(case)
    for case in ADJACENT
    for variable in ("A", "B", "C", "D", "X0", "X1", "X2")
}
"""What conditions mean, on the event before and on the latest event of a variable."""
