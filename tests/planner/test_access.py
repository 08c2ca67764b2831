"""Conditions on adjacent events: what is a hash table, what a tree and what a scan, and what may start a trend."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sparkext.planner.conditions.access import accesses, compile_comparison
from sparkext.planner.conditions.disjoint import MOST_TERMS
from sparkext.planner.conditions.instructions import program
from sparkext.planner.kernel_plan.kernel_plan import Access, Column, Encoding, Order
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
    conjuncts,
    may_start,
)
from tests.support.instruction_twin import evaluate
from tests.support.kernel_plans import random_attribute, random_values
from tests.support.kernel_twin import compares
from tests.support.prev_conditions import ADJACENT, AdjacentCase
from tests.support.random_conditions import random_adjacent

FLAG, WHOLE, NUMBER = ValueKind.FLAG, ValueKind.WHOLE, ValueKind.NUMBER
V, W, S = Attribute("v", "int"), Attribute("w", "int"), Attribute("s", "string")
U = Attribute("u", "int")
HASH, FENWICK, SEGMENT, RANGE, SCAN = ((access,) for access in Access)
HERE, PREV = OwnAttribute(V, WHOLE), PrevAttribute(V, WHOLE)
HERE_W, PREV_W = OwnAttribute(W, WHOLE), PrevAttribute(W, WHOLE)
ONE = Constant(1, WHOLE)
TRUE, FALSE, NULL = Constant(1, FLAG), Constant(0, FLAG), Constant(None, FLAG)


def flag(operation: Operation, *operands: Operand) -> Operand:
    return Apply(operation, operands, FLAG)


def both(*parts: Operand) -> Operand:
    return flag(Operation.AND, *parts)


EQUAL = flag(Operation.EQUAL, HERE, PREV)
LESS = flag(Operation.LESS, PREV_W, HERE_W)
DIFFERENCE = Apply(Operation.SUBTRACT, (HERE, PREV), WHOLE)
NO_PREV = flag(Operation.IS_NULL, PREV)
NO_PREV_W = flag(Operation.IS_NULL, PREV_W)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (EQUAL, HASH),
        (flag(Operation.EQUAL, PREV, HERE), HASH),
        (flag(Operation.EQUAL, OwnAttribute(S, ValueKind.IDENTITY), PrevAttribute(S, ValueKind.IDENTITY)), HASH),
        (flag(Operation.EQUAL, HERE, PREV_W), HASH),
        (both(EQUAL, flag(Operation.EQUAL, HERE_W, PREV_W)), HASH),
        (LESS, FENWICK),
        (flag(Operation.LESS, HERE, PREV), FENWICK),
        (flag(Operation.AT_MOST, HERE, PREV), FENWICK),
        (flag(Operation.AT_MOST, PREV, HERE_W), FENWICK),
        (both(EQUAL, LESS), FENWICK),
        (both(LESS, both(EQUAL, flag(Operation.EQUAL, HERE_W, PREV))), FENWICK),
        (flag(Operation.OR, NO_PREV_W, LESS), FENWICK),
        (flag(Operation.OR, LESS, NO_PREV_W), FENWICK),
        (both(flag(Operation.OR, NO_PREV_W, LESS), EQUAL), FENWICK),
        # What concerns the event before alone, or the event at hand alone, says who stands and who asks.
        (NO_PREV, HASH),
        (PrevAttribute(V, FLAG), HASH),
        (TRUE, HASH),
        (flag(Operation.EQUAL, HERE, ONE), HASH),
        (both(NO_PREV, LESS), FENWICK),
        (flag(Operation.OR, NO_PREV, LESS), HASH + FENWICK),
        (flag(Operation.OR, NO_PREV, EQUAL), SEGMENT),
        (flag(Operation.OR, LESS, EQUAL), FENWICK + SEGMENT),
        (flag(Operation.NOT, EQUAL), SEGMENT),
        (flag(Operation.SAME, HERE, PREV), SEGMENT),
        (
            flag(
                Operation.NOT,
                flag(Operation.EQUAL, OwnAttribute(S, ValueKind.IDENTITY), PrevAttribute(S, ValueKind.IDENTITY)),
            ),
            SEGMENT,
        ),
        (flag(Operation.LESS, PREV, Apply(Operation.ADD, (HERE, ONE), WHOLE)), SEGMENT),
        (flag(Operation.LESS, Apply(Operation.ABS, (DIFFERENCE,), WHOLE), ONE), SEGMENT),
        (both(EQUAL, flag(Operation.LESS, ONE, DIFFERENCE)), SEGMENT),
        (both(EQUAL, flag(Operation.NOT, LESS)), SEGMENT),
        (flag(Operation.CHOOSE, flag(Operation.LESS, PREV, ONE), flag(Operation.LESS, HERE, PREV), TRUE), SEGMENT),
        (both(LESS, flag(Operation.LESS, HERE, PREV)), RANGE),
        (both(LESS, flag(Operation.LESS, ONE, DIFFERENCE)), RANGE),
        (flag(Operation.OR, LESS, flag(Operation.LESS, HERE, PREV)), FENWICK + RANGE),
        # All that names one attribute is one part, wherever it stands.
        (flag(Operation.OR, flag(Operation.OR, LESS, flag(Operation.LESS, HERE, PREV)), NO_PREV_W), FENWICK + RANGE),
        # Two of the event before in one operator, three orders, a remainder.
        (flag(Operation.EQUAL, PREV, PREV_W), SCAN),
        (flag(Operation.LESS, DIFFERENCE, PREV), SCAN),
        (both(LESS, both(flag(Operation.LESS, HERE, PREV), flag(Operation.LESS, HERE, PrevAttribute(U, WHOLE)))), SCAN),
        (flag(Operation.LESS, Apply(Operation.REMAINDER, (PREV, HERE), WHOLE), ONE), SCAN),
    ],
    ids=str,
)
def test_accesses(condition: Operand, expected: tuple[Access, ...]) -> None:
    assert accesses(condition, guarded=False) == expected
    assert accesses(condition, guarded=True) == SCAN


@given(st.integers(0, 2**64))
@settings(max_examples=300, deadline=None, phases=[Phase.generate])
def test_terms_say_what_the_condition_means(seed: int) -> None:
    """Of any two events, exactly one term is true if the condition is, and none else."""
    random, columns = Random(seed), Columns()
    condition = random_adjacent(random)
    comparison = compile_comparison(condition, False, columns)
    instructions = program(condition, columns)
    assert len(comparison.terms) <= MOST_TERMS
    for _ in range(60):
        here, prev = (random_values(random, columns.known) for _ in range(2))
        expected = evaluate(instructions, columns.known, here, prev) is True
        assert compares(comparison, columns.known, here, prev) == expected, (here, prev)


def test_conjuncts() -> None:
    assert conjuncts(both(EQUAL, both(LESS, NO_PREV))) == (EQUAL, LESS, NO_PREV)
    assert conjuncts(flag(Operation.OR, EQUAL, LESS)) == (flag(Operation.OR, EQUAL, LESS),)


class Columns:
    """Numbers columns in order of first use."""

    def __init__(self) -> None:
        self.known: list[Column] = []

    def __call__(self, column: Column) -> int:
        if column not in self.known:
            self.known.append(column)
        return self.known.index(column)


def test_what_a_tree_is_told() -> None:
    columns = Columns()
    (term,) = compile_comparison(both(EQUAL, flag(Operation.OR, NO_PREV_W, LESS), EQUAL), False, columns).terms
    assert term.equal == ((0, 0),)
    assert term.order == Order(here=1, prev=1, before_is_less=True, or_equal=False, or_null=True)
    assert columns.known == [Column(V, Encoding.LEAST), Column(W, Encoding.LEAST)]


def test_equal_parts_of_a_program_are_computed_once() -> None:
    difference = Apply(Operation.SUBTRACT, (HERE, PREV), WHOLE)
    wide = both(flag(Operation.LESS, difference, ONE), flag(Operation.LESS, ONE, difference))
    rows = program(wide, Columns())
    assert [row.code for row in rows] == [
        "here_whole",
        "prev_whole",
        "subtract_whole",
        "constant",
        "less_whole",
        "less_whole",
        "and_whole",
    ]


def test_programs_know_how_values_are_held() -> None:
    kinds = {
        ("decimal(10,2)", WHOLE): ("prev_digits", Encoding.LEAST),
        ("decimal(38,0)", ValueKind.KEY): ("prev_key", Encoding.LEAST),
        ("double", NUMBER): ("prev_number", Encoding.NUMBER),
        ("float", ValueKind.SINGLE): ("prev_number", Encoding.NUMBER),
        ("string", ValueKind.IDENTITY): ("prev_whole", Encoding.IDENTITY),
        ("timestamp", WHOLE): ("prev_whole", Encoding.LEAST),
        ("boolean", FLAG): ("prev_whole", Encoding.LEAST),
    }
    for (type_, kind), (code, encoding) in kinds.items():
        columns = Columns()
        prev = PrevAttribute(Attribute("x", type_), kind)
        assert program(flag(Operation.IS_NULL, prev), columns)[0].code == code
        assert columns.known == [Column(prev.attribute, encoding)]


def test_single_precision_is_rounded_after_each_operation() -> None:
    single = Attribute("x", "float")
    total = Apply(
        Operation.ADD,
        (OwnAttribute(single, ValueKind.SINGLE), PrevAttribute(single, ValueKind.SINGLE)),
        ValueKind.SINGLE,
    )
    rows = program(flag(Operation.LESS, total, total), Columns())
    assert [row.code for row in rows] == [
        "here_number",
        "prev_number",
        "add_number",
        "to_single_number",
        "less_number",
    ]


@pytest.mark.parametrize("case", ADJACENT, ids=lambda case: case.sql)
@pytest.mark.parametrize("guarded", [False, True])
def test_comparisons_say_what_the_conditions_mean(case: AdjacentCase, guarded: bool) -> None:
    columns, random = Columns(), Random(case.sql)
    comparison = compile_comparison(case.condition, guarded, columns)
    for _ in range(200):
        drawn = [
            {column.attribute.text: random_attribute(random, column) for column in columns.known} for _ in range(2)
        ]
        here, prev = ([values[column.attribute.text] for column in columns.known] for values in drawn)
        names = dict.fromkeys(("v", "w", "d", "big", "day", "at", "kind", "v % 2", "d * 2"))
        expected = case.holds(names | drawn[0], names | drawn[1]) is True
        assert compares(comparison, columns.known, here, prev) == expected, drawn


@pytest.mark.parametrize("case", ADJACENT, ids=lambda case: case.sql)
def test_which_conditions_may_start_a_trend(case: AdjacentCase) -> None:
    assert may_start(case.condition) == (case.start is not None)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (TRUE, True),
        (FALSE, False),
        (NULL, False),
        (EQUAL, False),
        (NO_PREV, True),
        (flag(Operation.NOT, NO_PREV), False),
        (flag(Operation.NOT, EQUAL), False),
        (flag(Operation.OR, EQUAL, NO_PREV), True),
        (flag(Operation.OR, EQUAL, LESS), False),
        (flag(Operation.OR, EQUAL, TRUE), True),
        (both(EQUAL, TRUE), False),
        (both(NO_PREV, NO_PREV_W), True),
        (both(NO_PREV, NULL), False),
        (flag(Operation.NOT, both(EQUAL, FALSE)), True),
        (flag(Operation.NOT, flag(Operation.OR, EQUAL, NULL)), False),
        (flag(Operation.LESS, HERE, HERE_W), True),
        (flag(Operation.LESS, HERE, Constant(None, WHOLE)), False),
        (flag(Operation.SAME, HERE, PREV), True),
        (flag(Operation.CHOOSE, NO_PREV, FALSE, TRUE), False),
        (flag(Operation.CHOOSE, EQUAL, TRUE, FALSE), False),
        (flag(Operation.CHOOSE, EQUAL, FALSE, TRUE), True),
        (flag(Operation.CHOOSE, flag(Operation.LESS, HERE, ONE), FALSE, NULL), False),
        (flag(Operation.LESS, Apply(Operation.CHOOSE, (NO_PREV, ONE, PREV), WHOLE), HERE), True),
        (flag(Operation.LESS, Apply(Operation.CHOOSE, (NO_PREV, PREV, ONE), WHOLE), HERE), False),
        # What may be known even when there is no event before, such as COALESCE(PREV(v), 0) computed by Spark.
        (flag(Operation.LESS, PrevAttribute(V, WHOLE, absent=False), HERE), True),
    ],
    ids=str,
)
def test_what_may_start_a_trend(condition: Operand, expected: bool) -> None:
    assert may_start(condition) is expected
