"""Ranks: which events stand in which tree, and how many of them an event asks for, against every pair."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from planner.attribute import Attribute
from planner.kernel_plan import Access, Column, Comparison, Encoding, KernelPlan, Layout, Order
from planner.query import EventClass
from tests.harness import source_batch
from tests.kernel_plans import random_attribute, random_comparison
from tests.kernel_twin import KernelRow, compares
from udfs.batches import BatchReader
from udfs.ranks import ranks

Values = tuple[object, ...]


def check(
    comparison: Comparison, columns: list[Column], rows: list[Values], keys: list[int], before: list[bool]
) -> None:
    """An event is among the first so many of a tree exactly when the one that asks goes with it."""
    plan = KernelPlan(
        (EventClass(None, None, "c"),), tuple(columns), (None,), (), (), (), (), comparisons=(comparison,)
    )
    source = source_batch(plan, [KernelRow((1,), (), 0, frozenset({0}), values) for values in rows])
    batch = BatchReader(plan, Layout(1, 0)).read(source)
    result, nodes = ranks(comparison, batch, np.array(keys), np.array(before))
    for one, here in enumerate(rows):
        for other, prev in enumerate(rows):
            first, rank, size = result[other, :3]
            asked, wanted = result[one, 3:]
            found = 0 <= first == asked and rank < wanted
            holds = before[other] and keys[one] == keys[other] and compares(comparison, columns, here, prev)
            assert found == holds, (here, prev)
            if first >= 0:
                assert 0 <= rank < size
                assert first + size <= nodes
    trees = {(int(first), int(size)) for first, _, size, *_ in result if first >= 0}
    assert sum(size for _, size in trees) == nodes, "trees do not overlap"


@given(st.integers(0, 2**64))
@settings(max_examples=80, deadline=None, phases=[Phase.generate])
def test_random_comparisons(seed: int) -> None:
    random = Random(seed)
    columns: list[Column] = []
    comparison = random_comparison(random, columns, random.choice((Access.HASH, Access.FENWICK)))
    rows = [tuple(random_attribute(random, column) for column in columns) for _ in range(random.randint(1, 25))]
    keys = sorted(random.choice((0, 0, 1, 2)) for _ in rows)
    check(comparison, columns, rows, keys, [random.random() < 0.8 for _ in rows])


@pytest.mark.parametrize("before_is_less", [False, True])
@pytest.mark.parametrize("or_equal", [False, True])
@pytest.mark.parametrize("or_null", [False, True])
@pytest.mark.parametrize("columns", [1, 2])
def test_orders(before_is_less: bool, or_equal: bool, or_null: bool, columns: int) -> None:
    """With ties, NULL, and values of the event at hand that occur nowhere before."""
    held = [Column(Attribute(name, "int"), Encoding.LEAST) for name in "ab"[:columns]]
    order = Order(0, columns - 1, before_is_less, or_equal, or_null)
    values = [None, 1, 1, 2, 4, 4, None, 7]
    rows: list[Values] = [(value,) * columns for value in values]
    if columns == 2:
        rows = [(here, prev) for here, prev in zip([0, None, 3, 4, 8, 1, 2, 5], values, strict=True)]
    comparison = Comparison(Access.FENWICK, (), order, ())
    check(comparison, held, rows, [0] * len(rows), [True] * len(rows))


def test_nothing_that_can_come_before() -> None:
    column = Column(Attribute("a", "int"), Encoding.LEAST)
    comparison = Comparison(Access.HASH, ((0, 0),), None, ())
    check(comparison, [column], [(1,), (None,), (1,)], [0, 0, 0], [False] * 3)
