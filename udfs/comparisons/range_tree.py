"""Range trees: totals of events whose ranks by two orders are in two intervals.

By the first order, events are cut into blocks of `FANOUT`, blocks of these, and so on. Each block of each level has its
events in the second order, and a segment tree over groups of `GROUP` of them. What an interval of the first order
covers is a few blocks of each level, and in each of them the events in an interval of the second order are found by a
binary search: those of whole groups by the tree, and the others, at both ends, one by one on level 0.

With blocks of two there would be a tree for each of log n levels, so n log n nodes. Many in a block make few levels:
four for a million events. Then more blocks are asked for an event, and memory is what there is less of than time. So
it is with groups: trees over single events would have four times as many nodes.

The last block of a level, if it is not full, is never asked as a whole, and nothing is in its tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkext.udfs.jit.compiled import arithmetic
from sparkext.udfs.tables.program import Ints, Narrow

FANOUT = 32

GROUP = 4
"""Events of a block below a lowest node of its tree. `FANOUT` is a multiple of it."""


@arithmetic
def nodes_of_level(leaves: int) -> int:
    """Nodes of the trees of a level above 0, for so many leaves: two for each group of its full blocks."""
    return 2 * (leaves // GROUP)


class RangeLayout(NamedTuple):
    """Where events are in the blocks of a range tree.

    Attributes:
        levels: Number of levels of blocks; a block of level 0 is one leaf. 0 when there is no range tree.
        nodes: Number of nodes.
        order: Per level, the ranks by the second order of the events of each block, sorted. Shape (levels, leaves).
        sorted: Per level, their leaves, in that order. Shape (levels, leaves).
        slots: Per level and leaf, the number of its event in the order of its block. Shape (levels, leaves).
    """

    levels: int
    nodes: int
    order: Narrow
    sorted: Narrow
    slots: Narrow

    @property
    def most_blocks(self) -> int:
        """Most blocks that cover an interval of the first order."""
        return 2 * FANOUT * self.levels

    def used(self, sizes: Ints) -> Ints:
        """To how many levels an event is added of which only intervals within so many leaves are asked."""
        edges = FANOUT ** np.arange(1, self.levels)
        return 1 + np.searchsorted(edges, sizes, side="right")


_NONE: Narrow = np.zeros((0, 0), np.int32)
NO_LAYOUT = RangeLayout(0, 0, _NONE, _NONE, _NONE)


def laid_out(ranks: Ints, widest: int) -> RangeLayout:
    """The layout for events in the first order.

    Args:
        ranks: Ranks of the events by the second order.
        widest: Most leaves that an interval of the first order has.
    """
    leaves, levels = len(ranks), 1
    while FANOUT**levels <= widest:
        levels += 1
    order = np.empty((levels, leaves), np.int32)
    by_order = np.zeros((levels, leaves), np.int32)
    slots = np.zeros((levels, leaves), np.int32)
    order[0] = ranks
    at = np.arange(leaves)
    by_rank = np.argsort(ranks, kind="stable")
    for level in range(1, levels):
        size = FANOUT**level
        # Sorted by rank already, so by block it is a stable sort of small numbers.
        sorted_leaves = by_rank[np.argsort((by_rank // size).astype(np.int32), kind="stable")]
        order[level], by_order[level] = ranks[sorted_leaves], sorted_leaves
        slots[level][sorted_leaves] = at % size
    return RangeLayout(levels, leaves + (levels - 1) * nodes_of_level(leaves), order, by_order, slots)
