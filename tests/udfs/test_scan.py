"""Scans: each instruction on values at the edge, and whole programs, against their twin in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.kernel_plan.kernel_plan import (
    Arithmetic,
    Bank,
    Cell,
    Column,
    Comparison,
    Encoding,
    Field,
    Instruction,
    KernelPlan,
    Layout,
    Link,
    Slot,
)
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import EventClass
from sparkext.udfs.arrow.batches import BatchReader
from sparkext.udfs.comparisons.codes import CODES
from sparkext.udfs.comparisons.scan import find_matches
from sparkext.udfs.state.assemble import assemble
from sparkext.udfs.state.fresh import registers_for
from sparkext.udfs.tables.program import SCAN_CHUNK
from tests.support.instruction_twin import GREATEST, LEAST, applied, evaluate
from tests.support.kernel_harness import source_batch
from tests.support.kernel_plans import random_attribute, random_program
from tests.support.kernel_twin import KernelRow

WHOLE = Column(Attribute("whole", "bigint"), Encoding.LEAST)
NUMBER = Column(Attribute("number", "double"), Encoding.NUMBER)
KEY = Column(Attribute("key", "decimal(38,0)"), Encoding.LEAST)
COLUMNS = {"whole": WHOLE, "number": NUMBER, "key": KEY}

FLAGS = (None, 0, 1)
WHOLES = (None, 0, 1, -1, 2, 3, 7, -7, 3037000500, -(1 << 32), LEAST, LEAST + 1, GREATEST - 1, GREATEST)
NUMBERS = (None, 0.0, -0.0, 1.5, -2.5, 0.1, 5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf)
KEYS = (None, *map(Decimal, (0, 1, -1, 1 << 63, 1 << 64, -(1 << 64), 10**38 - 1, 1 - 10**38)))

ARITHMETIC = ("add", "subtract", "multiply", "divide", "remainder")
COMPARED = ("equal", "same", "less", "at_most")
VALUES: dict[str, Sequence[Any]] = {"whole": WHOLES, "number": NUMBERS, "key": KEYS}

OPERATIONS: dict[str, tuple[Sequence[Any], ...]] = {
    **{f"{name}_{kind}": (VALUES[kind],) * 2 for name in COMPARED for kind in VALUES},
    **{f"{name}_{kind}": (VALUES[kind],) * 2 for name in ARITHMETIC for kind in ("whole", "number")},
    **{f"{name}_{kind}": (VALUES[kind],) for name in ("negate", "abs") for kind in ("whole", "number")},
    **{f"is_null_{kind}": (values,) for kind, values in VALUES.items()},
    **{f"choose_{kind}": (FLAGS, values[:6], values[:6]) for kind, values in VALUES.items()},
    "and_whole": (FLAGS, FLAGS),
    "or_whole": (FLAGS, FLAGS),
    "not_whole": (FLAGS,),
    "to_number_whole": (WHOLES,),
    "to_single_number": (NUMBERS,),
}
"""Per instruction that is no load, what its operands are tried with."""


def matches(
    columns: Sequence[Column], program: Sequence[Instruction], rows: Sequence[Sequence[Any]], row: int
) -> list[int]:
    """The rows that a program is true of, as those before the one at hand."""
    cell = Cell(Arithmetic.EXACT, 0, 0, True, (), None, None, False, links=(Link(0, ALWAYS, 0),))
    comparison = Comparison((), tuple(program))
    plan = KernelPlan(
        classes=(EventClass(None, None, "c"),),
        columns=tuple(columns),
        windows=(None,),
        cells=(cell,),
        fields=(Field(Arithmetic.EXACT),),
        banks=(Bank(0, (Slot(0, (0,)),)),),
        results=(),
        comparisons=(comparison,),
    )
    source = source_batch(plan, [KernelRow((1,), (), 0, frozenset({0}), tuple(values)) for values in rows])
    batch = BatchReader(plan, Layout(1, 0)).read(source)
    match_of = np.full(len(rows), -1, np.int64)
    code = assemble(plan).code
    count = find_matches(
        code, batch, row, np.arange(len(rows)), 0, len(rows), match_of, registers_for(code, SCAN_CHUNK)
    )
    return [int(index) for index in match_of[:count]]


def truth(code: str, operands: Sequence[Any]) -> Any:
    """What an instruction gives; flags are 0 and 1 in a column."""
    logical = code.split("_")[0] in ("and", "or", "not") or (code.startswith("choose"))
    held = [
        bool(o) if o is not None and logical and (index == 0 or code[0] != "c") else o
        for index, o in enumerate(operands)
    ]
    result = applied(code, held)
    return int(result) if isinstance(result, bool) else result


@pytest.mark.parametrize("code", OPERATIONS)
def test_operations(code: str) -> None:
    """Of every combination of operands, the result is the same as the expected one, which is a column too."""
    operands = list(product(*OPERATIONS[code]))
    expected = [truth(code, some) for some in operands]
    family = code.rsplit("_", 1)[1]
    flag = not code.startswith(("choose", "to", "negate", "abs", *ARITHMETIC))
    held = "whole" if flag else "number" if code == "to_number_whole" else family
    kinds = [family] * len(operands[0])
    if code.startswith("choose"):
        kinds[0] = "whole"
    columns = [*(COLUMNS[kind] for kind in kinds), COLUMNS[held]]
    program = [Instruction(f"prev_{kind}", column=index) for index, kind in enumerate((*kinds, held))]
    last = len(program)
    program.append(Instruction(code, tuple(range(last - 1))))
    program.append(Instruction(f"same_{held}", (last, last - 1)))
    rows = [(*some, result) for some, result in zip(operands, expected, strict=True)]
    actual = set(matches(columns, program, rows, 0))
    assert [
        (some, result)
        for index, (some, result) in enumerate(zip(operands, expected, strict=True))
        if index not in actual
    ] == []


def test_every_instruction_is_tried() -> None:
    loads = {f"{side}_{kind}" for side in ("here", "prev") for kind in ("whole", "number", "key", "digits")}
    assert {*OPERATIONS, *loads, "constant", "constant_number"} == set(CODES)


@pytest.mark.parametrize(
    ("code", "operands", "result"),
    [
        ("add_whole", (GREATEST, 1), None),
        ("subtract_whole", (LEAST, 1), None),
        ("multiply_whole", (1 << 32, 1 << 31), None),
        ("multiply_whole", (-1, LEAST), None),
        ("multiply_whole", (1 << 32, -(1 << 31)), LEAST),
        ("divide_whole", (-7, 2), -3),
        ("divide_whole", (7, -2), -3),
        ("divide_whole", (7, 0), None),
        ("divide_whole", (LEAST, -1), None),
        ("remainder_whole", (-7, 2), -1),
        ("remainder_whole", (7, -2), 1),
        ("remainder_whole", (LEAST, -1), 0),
        ("remainder_whole", (7, 0), None),
        ("negate_whole", (LEAST,), None),
        ("abs_whole", (LEAST,), None),
        ("divide_number", (1.0, -0.0), None),
        ("remainder_number", (-7.5, 2.0), -1.5),
        ("equal_number", (math.nan, math.nan), True),
        ("less_number", (math.inf, math.nan), True),
        ("less_number", (math.nan, math.inf), False),
        ("equal_number", (0.0, -0.0), True),
        ("same_whole", (None, None), True),
        ("same_whole", (None, 0), False),
        ("equal_whole", (None, None), None),
        ("and_whole", (None, False), False),
        ("and_whole", (None, True), None),
        ("or_whole", (None, True), True),
        ("or_whole", (None, False), None),
        ("not_whole", (None,), None),
        ("choose_whole", (None, 1, 2), 2),
        ("to_single_number", (0.1,), 0.10000000149011612),
        ("to_single_number", (1e308,), math.inf),
    ],
)
def test_the_twin_knows_what_spark_does(code: str, operands: tuple[Any, ...], result: Any) -> None:
    assert applied(code, operands) == result


LOADED: dict[str, tuple[Column, Sequence[Any], Sequence[int | None]]] = {
    "bigint": (WHOLE, WHOLES, WHOLES),
    "tinyint": (Column(Attribute("a", "tinyint"), Encoding.LEAST), (None, -128, 127), (None, -128, 127)),
    "date": (
        Column(Attribute("a", "date"), Encoding.LEAST),
        (None, date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29)),
        (None, 0, -1, 19782),
    ),
    "timestamp": (
        Column(Attribute("a", "timestamp"), Encoding.LEAST),
        (None, datetime(1970, 1, 1, tzinfo=timezone.utc) - timedelta(microseconds=1)),
        (None, -1),
    ),
    "digits": (
        Column(Attribute("a", "decimal(18,2)"), Encoding.LEAST),
        (None, Decimal("-0.01"), Decimal("1.50"), Decimal(10**18 - 1).scaleb(-2), -Decimal(10**18 - 1).scaleb(-2)),
        (None, -1, 150, 10**18 - 1, 1 - 10**18),
    ),
}
"""Per kind of column, values and the whole numbers that are read."""


@pytest.mark.parametrize("kind", LOADED)
@pytest.mark.parametrize("side", ["here", "prev"])
def test_loads(kind: str, side: str) -> None:
    column, values, wholes = LOADED[kind]
    load = "digits" if kind == "digits" else "whole"
    program = [
        Instruction(f"{side}_{load}", column=0),
        Instruction("prev_whole", column=1),
        Instruction("same_whole", (0, 1)),
    ]
    rows = list(zip(values, wholes, strict=True))
    for row in range(len(rows)):
        assert matches([column, WHOLE], program, rows, row) == ([row] if side == "here" else list(range(len(rows))))


@pytest.mark.parametrize("value", [0, -5, LEAST, GREATEST, None])
def test_constants(value: int | None) -> None:
    program = [
        Instruction("constant", value=(value or 0, value is not None)),
        Instruction("prev_whole", column=0),
        Instruction("same_whole", (0, 1)),
    ]
    assert matches([WHOLE], program, [(v,) for v in WHOLES], 0) == [p for p, v in enumerate(WHOLES) if v == value]


@pytest.mark.parametrize("value", [0.0, -1.5, 5e-324, math.inf])
def test_constant_doubles(value: float) -> None:
    program = [
        Instruction("constant_number", value=(value, True)),
        Instruction("prev_number", column=0),
        Instruction("equal_number", (0, 1)),
    ]
    rows = [(v,) for v in (*NUMBERS, -1.5)]
    assert matches([NUMBER], program, rows, 0) == [p for p, (v,) in enumerate(rows) if v == value]


@pytest.mark.parametrize("size", [0, 1, SCAN_CHUNK - 1, SCAN_CHUNK, SCAN_CHUNK + 1, 3 * SCAN_CHUNK + 7])
def test_many_events_are_looked_at_in_chunks(size: int) -> None:
    random = Random(size)
    rows = [(random.randint(0, 9),) for _ in range(size + 1)]
    program = [
        Instruction("prev_whole", column=0),
        Instruction("here_whole", column=0),
        Instruction("less_whole", (0, 1)),
    ]
    entries = matches([WHOLE], program, rows, size)
    assert entries == [index for index, (value,) in enumerate(rows) if value < rows[size][0]]


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    random = Random(seed)
    columns: list[Column] = []
    program = random_program(random, columns)
    rows = [tuple(random_attribute(random, column) for column in columns) for _ in range(25)]
    for row in (0, 7, 24):
        expected = [p for p, prev in enumerate(rows) if evaluate(program, columns, rows[row], prev) is True]
        assert matches(columns, program, rows, row) == expected
