"""Range trees: totals of events whose places by two orders are in two intervals.

By the first order, events are cut into blocks of `FANOUT`, blocks of these, and so on. Each block of each level has a
segment tree over its events in the second order. What an interval of the first order covers is a few blocks of each
level, and in each of them the events in an interval of the second order are found by a binary search.

With blocks of two there would be a tree for each of log n levels, so n log n nodes. Many in a block make few levels:
four for a million events. Then more blocks are asked for an event, and memory is what there is less of than time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkext.udfs.state.program import Ints, Narrow

FANOUT = 32


class RangeLayout(NamedTuple):
    """Where events are in the blocks of a range tree.

    Attributes:
        levels: Number of levels of blocks; a block of level 0 is one place. 0 when there is no range tree.
        nodes: Number of nodes.
        order: Per level, the ranks by the second order of the events of each block, sorted. Shape (levels, places).
        slots: Per level and place, the number of its event in the order of its block. Shape (levels, places).
    """

    levels: int
    nodes: int
    order: NDArray[np.int32]
    slots: NDArray[np.int32]

    @property
    def most_blocks(self) -> int:
        """Most blocks that cover an interval of the first order."""
        return 2 * FANOUT * self.levels

    def used(self, sizes: Ints) -> Ints:
        """To how many levels an event is added of which only intervals within so many places are asked."""
        edges = FANOUT ** np.arange(1, self.levels)
        return 1 + np.searchsorted(edges, sizes, side="right")


_NONE: Narrow = np.zeros((0, 0), np.int32)
NO_LAYOUT = RangeLayout(0, 0, _NONE, _NONE)


def laid_out(ranks: Ints, widest: int) -> RangeLayout:
    """The layout for events in the first order.

    Args:
        ranks: Ranks of the events by the second order.
        widest: Most places that an interval of the first order has.
    """
    places, levels = len(ranks), 1
    while FANOUT**levels <= widest:
        levels += 1
    order = np.empty((levels, places), np.int32)
    slots = np.zeros((levels, places), np.int32)
    order[0] = ranks
    at = np.arange(places)
    by_rank = np.argsort(ranks, kind="stable")
    for level in range(1, levels):
        size = FANOUT**level
        # Sorted by rank already, so by block it is a stable sort of small numbers.
        sorted_places = by_rank[np.argsort((by_rank // size).astype(np.int32), kind="stable")]
        order[level] = ranks[sorted_places]
        slots[level][sorted_places] = at % size
    return RangeLayout(levels, places * (2 * levels - 1), order, slots)
