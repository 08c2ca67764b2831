"""Ranks: which events stand in which tree, and how many of them an event asks for, against every pair."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sparkext.planner.kernel_plan.kernel_plan import (
    Access,
    Column,
    Comparison,
    Encoding,
    KernelPlan,
    Layout,
    Order,
    Term,
)
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import EventClass
from sparkext.udfs.arrow.batches import BatchReader
from sparkext.udfs.comparisons.range_tree import FANOUT
from sparkext.udfs.comparisons.ranks import (
    ASKED,
    ASKED_END,
    ASKED_NODE,
    ASKED_OTHERS,
    ASKED_RANKS,
    LEAF,
    NODE,
    RANK,
    SIZE,
    RankedEvents,
    Ranker,
)
from tests.support.kernel_harness import source_batch
from tests.support.kernel_plans import random_comparison, random_values
from tests.support.kernel_twin import KernelRow, compares
from tests.support.tiers import EXAMPLES

Values = tuple[object, ...]


def check(
    comparison: Comparison, columns: list[Column], rows: list[Values], keys: list[int], before: list[bool]
) -> None:
    """An event finds another exactly when the comparison is true of them, and once."""
    plan = KernelPlan(
        (EventClass(None, None, "c"),), tuple(columns), (None,), (), (), (), (), comparisons=(comparison,)
    )
    source = source_batch(plan, [KernelRow((1,), (), 0, frozenset({0}), values) for values in rows])
    batch = BatchReader(plan, Layout(1, 0)).read(source)
    row_pairs = []
    for term in comparison.terms:
        every = np.ones(len(rows), np.bool_)
        ranked = Ranker(plan, term).ranks(batch, np.array(keys), every, np.array(before))
        if term.access in (Access.HASH, Access.FENWICK):
            check_trees(ranked)
            row_pairs.append(by_prefix(ranked))
        else:
            row_pairs.append(by_interval(ranked))
    for row, here in enumerate(rows):
        for earlier_row, prev in enumerate(rows):
            holds = before[earlier_row] and keys[row] == keys[earlier_row] and compares(comparison, columns, here, prev)
            assert sum((row, earlier_row) in pairs for pairs in row_pairs) == holds, (here, prev)


def by_prefix(ranked: RankedEvents) -> set[tuple[int, int]]:
    """Rows that ask, with rows that they find in a Fenwick tree."""
    asked, stood = ranked.table[:, [ASKED_NODE, ASKED_RANKS]], ranked.table[:, [NODE, RANK]]
    return {
        (row, earlier_row)
        for row, (tree, ranks) in enumerate(asked)
        for earlier_row, (node, rank) in enumerate(stood)
        if 0 <= node == tree and rank < ranks
    }


def check_trees(ranked: RankedEvents) -> None:
    """Fenwick trees do not overlap."""
    stood = ranked.table[ranked.table[:, NODE] >= 0]
    assert ((stood[:, RANK] >= 0) & (stood[:, RANK] < stood[:, SIZE])).all()
    assert sum(size for _, size in {(int(row[NODE]), int(row[SIZE])) for row in stood}) == ranked.nodes


def by_interval(ranked: RankedEvents) -> set[tuple[int, int]]:
    """Rows that ask, with rows that they find in a tree by intervals; blocks are those of their places."""
    layout, pairs = ranked.layout, []
    for level in range(1, layout.levels):
        for begin in range(0, ranked.leaves, FANOUT**level):
            in_block = slice(begin, begin + FANOUT**level)
            block = layout.order[level, in_block]
            assert (block[1:] >= block[:-1]).all()
            assert (block[layout.slots[level, in_block]] == layout.order[0, in_block]).all()
            assert (
                layout.sorted[level, in_block][layout.slots[level, in_block]] == range(ranked.leaves)[in_block]
            ).all()
    for row, asked in enumerate(ranked.table):
        first = ranked.intervals[asked[ASKED] : asked[ASKED_OTHERS]]
        second = ranked.intervals[asked[ASKED_OTHERS] : asked[ASKED_END]]
        for earlier_row, leaf in enumerate(ranked.table[:, LEAF]):
            if leaf < 0:
                continue
            in_block = sum(begin <= leaf < end for begin, end in first)
            if layout.levels:
                in_block *= sum(begin <= layout.order[0, leaf] < end for begin, end in second)
            assert in_block <= 1
            if in_block:
                pairs.append((row, earlier_row))
    return set(pairs)


@given(st.integers(0, 2**64))
@settings(max_examples=EXAMPLES, deadline=None, phases=[Phase.generate])
def test_random_comparisons(seed: int) -> None:
    random = Random(seed)
    columns: list[Column] = []
    comparison = random_comparison(random, columns)
    count = random.choice((1, 5, 25, 25, 90))
    rows = [random_values(random, columns) for _ in range(count)]
    keys = sorted(random.choice((0, 0, 1, 2)) for _ in rows)
    if not comparison.is_scan:
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
    comparison = Comparison((Term(Access.FENWICK, (), order),))
    check(comparison, held, rows, [0] * len(rows), [True] * len(rows))


def test_nothing_that_can_come_before() -> None:
    column = Column(Attribute("a", "int"), Encoding.LEAST)
    comparison = Comparison((Term(Access.HASH, ((0, 0),)),))
    check(comparison, [column], [(1,), (None,), (1,)], [0, 0, 0], [False] * 3)
