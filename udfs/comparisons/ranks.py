"""Ranks: where the events of a batch stand in the structures of a term, and what they ask of them.

Events before are put in one tree per key of the partition and combination of values that must be equal. In a Fenwick
tree they are ordered so that those that an event goes with are always the first so many; a hash table is the case
without an order: all events of a tree have rank 0. The trees with intervals are all one, of which the events of a key
and combination are a part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import Access, Encoding, KernelPlan, Order, Term
from sparkext.udfs.comparisons.evaluation import COLUMN, OPCODE, PREV_DIGITS, PREV_NUMBER, PREV_WHOLE
from sparkext.udfs.comparisons.histories import coded
from sparkext.udfs.comparisons.intervals import Axis, Search, holds_alone, intersect, intervals, search_for
from sparkext.udfs.comparisons.range_tree import GROUP, NO_LAYOUT, RangeLayout, laid_out
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Ints, Narrow

NODE, RANK, SIZE, ASKED_NODE, ASKED_RANKS = range(5)
"""Columns of ``Past.ranks`` for a Fenwick tree: its first node (-1: in no tree), rank in it, its size, first node of
the tree that is asked (-1: none), how many ranks match."""

LEAF, LEVELS, ASKED, ASKED_OTHERS, ASKED_END = range(5)
"""Columns of ``Past.ranks`` for a tree with intervals: leaf in it (-1: none), to how many levels of nodes an event is
added, begin of the intervals that are asked for, of those by the second order, and their end."""


class RankedEvents(NamedTuple):
    """Where events stand in a structure, and what they ask of it.

    Attributes:
        table: Per row as in ``Past.ranks``, shape (rows, 5).
        nodes: Number of nodes of all trees together.
        leaves: Number of leaves of a tree with intervals.
        intervals: Begins and ends of all intervals. Shape (intervals, 2).
        layout: Of a range tree; of anything else, without levels.
    """

    table: Narrow
    nodes: int
    leaves: int
    intervals: Narrow
    layout: RangeLayout

    @property
    def most_asked(self) -> int:
        """Most nodes that an event asks for, at most two on each level of a segment tree."""
        if not self.leaves:
            return 0
        first = int((self.table[:, ASKED_OTHERS] - self.table[:, ASKED]).max())
        second = int((self.table[:, ASKED_END] - self.table[:, ASKED_OTHERS]).max())
        nodes = 2 * (self.leaves.bit_length() + GROUP)
        return first * second * self.layout.most_blocks * nodes if self.layout.levels else first * nodes


_NO_INTERVALS: Narrow = np.zeros((0, 2), np.int32)


class Ranker:
    """Ranks events by one term.

    Args:
        plan: That the term is of.
        term: Any.
    """

    def __init__(self, plan: KernelPlan, term: Term) -> None:
        self.access = term.access
        self._term = term
        self._asks, self._stands = coded(term.asks), coded(term.stands)
        self._searches = [search_for(coded(interval.program)) for interval in term.intervals]
        self._is_number = [plan.columns[interval.axis].encoding is Encoding.NUMBER for interval in term.intervals]

    def ranks(self, batch: Batch, keys: Ints, asks: NDArray[np.bool_], stands: NDArray[np.bool_]) -> RankedEvents:
        """Ranks of all rows of a batch.

        Args:
            batch: The events; rows past ``len(batch.time)`` are events from earlier batches.
            keys: Per row, a number of its key of the partition.
            asks: Per row, whether events of its classes look for others before them.
            stands: Per row, whether events of its classes can come before another.
        """
        term = self._term
        if len(self._asks):
            asks = asks & holds_alone(self._asks, batch, len(keys))
        if len(self._stands):
            stands = stands & holds_alone(self._stands, batch, len(keys))
        here_columns: list[Ints] = [keys]
        prev: list[Ints] = [keys]
        for here_column, prev_column in term.equal:
            asks = asks & (batch.valid[here_column] != 0)
            stands = stands & (batch.valid[prev_column] != 0)
            here_columns += [batch.key_high[here_column], batch.key_low[here_column]]
            prev += [batch.key_high[prev_column], batch.key_low[prev_column]]
        here_tree, prev_tree = _common_numbers(here_columns, prev) if term.equal else (keys, keys)
        if term.access in (Access.HASH, Access.FENWICK):
            return _by_prefix(term.order, batch, asks, stands, here_tree, prev_tree)
        return self._by_interval(batch, asks, stands, here_tree, prev_tree)

    def _by_interval(
        self, batch: Batch, asks: NDArray[np.bool_], stands: NDArray[np.bool_], here_tree: Ints, prev_tree: Ints
    ) -> RankedEvents:
        rows = np.flatnonzero(stands)
        table = np.zeros((len(asks), 5), np.int32)
        table[:, LEAF] = -1
        if not len(rows):
            return RankedEvents(table, 0, 0, _NO_INTERVALS, NO_LAYOUT)
        orders = [
            _Ranking(interval.axis, is_number, search, batch, rows, prev_tree)
            for interval, is_number, search in zip(self._term.intervals, self._is_number, self._searches, strict=True)
        ]
        by_order = [order.intervals(batch, asks, here_tree) for order in orders]
        first, (asked, until) = orders[0], by_order[0]
        numbers, trees, layout = first.numbers, first.trees, NO_LAYOUT
        if len(orders) == 2:
            second, (others, others_until) = orders[1], by_order[1]
            numbers = _numbers([first.numbers, second.numbers])
            leaves = int(numbers.max()) + 1
            by_first, by_second = np.empty((2, leaves), np.int64)
            by_first[numbers], by_second[numbers] = first.numbers, second.numbers
            trees = first.trees[by_first]
            asked = np.searchsorted(by_first, asked)
            if (by_second[1:] >= by_second[:-1]).all():
                # Both orders are one, as those of x - 1 and x + 1 are.
                common = np.empty((len(asked) + len(others), 2), np.int64)
                common_until = np.zeros_like(until)
                intersect(asked, until, np.searchsorted(by_second, others), others_until, common, common_until)
                asked, until = common[: common_until[-1]], common_until
            else:
                layout = laid_out(by_second, int(np.diff(_begins(trees), append=leaves).max()))
        leaves = len(trees)
        sizes = np.diff(_begins(trees), append=leaves)
        sizes = np.repeat(sizes, sizes)
        table[rows, LEAF] = numbers
        table[:, ASKED], table[:, ASKED_OTHERS] = until[:-1], until[1:]
        table[:, ASKED_END] = until[1:]
        if not layout.levels:
            table[rows, LEVELS] = _bits(sizes)[numbers]
            return RankedEvents(table, 2 * leaves, leaves, asked.astype(np.int32), layout)
        table[rows, LEVELS] = layout.used(sizes)[numbers]
        # The intervals by the one order and by the other stand one after the other.
        table[:, ASKED] += others_until[:-1]
        table[:, ASKED_OTHERS] = table[:, ASKED] + np.diff(until)
        table[:, ASKED_END] = table[:, ASKED_OTHERS] + np.diff(others_until)
        together = np.empty((len(asked) + len(others), 2), np.int32)
        together[np.arange(len(asked)) + np.repeat(others_until[:-1], np.diff(until))] = asked
        together[np.arange(len(others)) + np.repeat(until[1:], np.diff(others_until))] = others
        return RankedEvents(table, layout.nodes, leaves, together, layout)


class _Ranking:
    """The events that stand in a tree, in the order of one attribute.

    Attributes:
        numbers: Per event that stands, the number of its tree and value among all.
        trees: Per number, the tree.
    """

    def __init__(self, axis: int, is_number: bool, search: Search, batch: Batch, rows: Ints, prev_tree: Ints) -> None:
        valid = batch.valid[axis][rows]
        is_value = valid != 0
        columns: list[NDArray[Any]] = [prev_tree[rows], valid]
        if is_number:
            columns.append(np.where(is_value, batch.numbers[axis][rows], 0.0))
        else:
            columns.append(np.where(is_value, batch.key_high[axis][rows], 0))
            columns.append(np.where(is_value, batch.key_low[axis][rows], 0).view(np.uint64))
        self.numbers = _numbers(columns)
        first = np.empty(int(self.numbers.max()) + 1, np.int64)
        first[self.numbers] = rows
        self.trees = prev_tree[first]
        self._search = search
        self._axis = _axis(search.code, axis, batch, first)

    def intervals(self, batch: Batch, asks: NDArray[np.bool_], here_tree: Ints) -> tuple[Ints, Ints]:
        """See `sparkext.udfs.comparisons.intervals.intervals`."""
        if self.trees[0] == self.trees[-1]:
            is_in_tree = here_tree == self.trees[0]
            begins, ends = np.zeros(len(is_in_tree), np.int64), np.where(is_in_tree, len(self.trees), 0)
        else:
            begins = np.searchsorted(self.trees, here_tree)
            ends = np.searchsorted(self.trees, here_tree, side="right")
        return intervals(self._search, self._axis, batch, asks, begins, ends)


def _axis(code: Ints, column: int, batch: Batch, rows: Ints) -> Axis:
    """The values of a column in ``rows``, as the program reads them of the event before."""
    loads = (code[:, OPCODE] >= PREV_WHOLE) & (code[:, OPCODE] <= PREV_DIGITS) & (code[:, COLUMN] == column)
    opcode = code[np.flatnonzero(loads)[0], OPCODE]
    nothing = np.zeros(len(rows), np.int64)
    if opcode == PREV_NUMBER:
        words, lows = batch.numbers[column][rows].view(np.int64), nothing
    elif opcode == PREV_DIGITS:
        words, lows = batch.key_low[column][rows], nothing
    else:
        words, lows = batch.key_high[column][rows], batch.key_low[column][rows]
    return Axis(words, lows, batch.valid[column][rows])


def _begins(numbers: Ints) -> Ints:
    """Where runs of equal numbers begin."""
    return np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))


def _bits(sizes: Ints) -> Ints:
    """How many levels of a segment tree an interval within so many leaves may take nodes of."""
    return np.frexp(sizes.astype(np.float64))[1].astype(np.int64)


def _by_prefix(
    by: Order | None,
    batch: Batch,
    asks: NDArray[np.bool_],
    stands: NDArray[np.bool_],
    here_tree: Ints,
    prev_tree: Ints,
) -> RankedEvents:
    """Ranks in hash tables and Fenwick trees."""
    wanted = np.zeros(len(asks), np.int64)
    order = np.zeros(len(asks), np.int64)
    if by is not None:
        wanted, order = _order_numbers(by, batch)
        asks = asks & (wanted >= 0)
        stands = stands & (order >= 0)
    per_tree = int(max(wanted.max(initial=0), order.max(initial=0))) + 1
    trees = int(max(here_tree.max(initial=0), prev_tree.max(initial=0))) + 1
    below, nodes = _below((prev_tree * per_tree + order)[stands], trees * per_tree)
    result = np.empty((len(asks), 5), np.int32)
    first = below(prev_tree * per_tree)
    result[:, NODE] = np.where(stands, first, -1)
    result[:, RANK] = np.where(stands, below(prev_tree * per_tree + order) - first, -1)
    result[:, SIZE] = np.where(stands, below((prev_tree + 1) * per_tree) - first, -1)
    first = below(here_tree * per_tree)
    result[:, ASKED_NODE] = np.where(asks, first, -1)
    result[:, ASKED_RANKS] = np.where(asks, below(here_tree * per_tree + wanted + 1) - first, -1)
    return RankedEvents(result, nodes, 0, _NO_INTERVALS, NO_LAYOUT)


def _below(values: Ints, most: int) -> tuple[Callable[[Ints], Ints], int]:
    """How many different ones of ``values`` are below others, and how many there are; all are from 0 up to ``most``.

    Where they are dense a table tells, else a search.
    """
    if most <= 8 * len(values) + 1024:
        table = np.zeros(most + 2, np.int64)
        table[values + 1] = 1
        np.cumsum(table, out=table)
        return lambda wanted: table[np.maximum(wanted, 0)], int(table[-1])
    distinct = np.unique(values)
    return lambda wanted: np.searchsorted(distinct, wanted), len(distinct)


def _order_numbers(order: Order, batch: Batch) -> tuple[Ints, Ints]:
    """Per row, the last number in the order that an event goes with, and that of the event itself; -1 for none.

    Numbers are even for values that occur and odd between them. Number 0 is for NULL.
    """
    here_columns = [batch.key_high[order.here], batch.key_low[order.here].view(np.uint64)]
    prev = [batch.key_high[order.prev], batch.key_low[order.prev].view(np.uint64)]
    if order.here == order.prev:
        wanted = reached = _numbers(here_columns)
    else:
        wanted, reached = _common_numbers(here_columns, prev)
    if not order.before_is_less:
        last = max(int(wanted.max(initial=0)), int(reached.max(initial=0)))
        wanted, reached = last - wanted, last - reached
    wanted, reached = 2 * wanted + (2 if order.or_equal else 1), 2 * reached + 2
    null = 0 if order.or_null else -1
    wanted = np.where(batch.valid[order.here] != 0, wanted, null)
    return wanted, np.where(batch.valid[order.prev] != 0, reached, null)


def _common_numbers(left: list[NDArray[Any]], right: list[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Numbers of the rows of two tables such that equal rows have equal numbers and order is kept."""
    numbers = _numbers([np.concatenate(pair) for pair in zip(left, right, strict=True)])
    return numbers[: len(left[0])], numbers[len(left[0]) :]


def _numbers(columns: list[NDArray[Any]]) -> Ints:
    """Numbers of the rows of a table such that equal rows have equal numbers and order is kept."""
    columns = [column for column in columns if len(column) and (column != column[0]).any()] or columns[:1]
    # One column is sorted much faster than several.
    by_value = np.argsort(columns[0]) if len(columns) == 1 else np.lexsort(columns[::-1])
    changes = np.zeros(len(by_value), np.bool_)
    for column in columns:
        values = column[by_value]
        changes[1:] |= values[1:] != values[:-1]
    numbers = np.empty(len(by_value), np.int64)
    numbers[by_value] = np.cumsum(changes)
    return numbers
