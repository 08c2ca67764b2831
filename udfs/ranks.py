"""Ranks: where the events of a batch stand in the Fenwick trees of a comparison, and what they ask of them.

Events before are put in one tree per key of the partition and combination of values that must be equal.
In a tree they are ordered so that those that an event goes with are always the first so many. A hash
table is the case without an order: all events of a tree have rank 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.kernel_plan import Comparison, Order
from udfs.batches import Batch
from udfs.program import Ints


def ranks(comparison: Comparison, batch: Batch, keys: Ints, before: NDArray[np.bool_]) -> tuple[Ints, int]:
    """Ranks of all rows of a batch, and the number of nodes of all trees together.

    Args:
        comparison: With equalities or an order.
        batch: The events; rows past ``len(batch.time)`` are events from earlier batches.
        keys: Per row, a number of its key of the partition.
        before: Per row, whether events of its classes can come before another.

    Returns:
        Per row as in ``Past.ranks``, shape (rows, 5), and the number of nodes.
    """
    asks, stands = np.ones(len(keys), np.bool_), before.copy()
    here: list[Ints] = [keys]
    prev: list[Ints] = [keys]
    for here_column, prev_column in comparison.equal:
        asks &= batch.valid[here_column] != 0
        stands &= batch.valid[prev_column] != 0
        here += [batch.key_high[here_column], batch.key_low[here_column]]
        prev += [batch.key_high[prev_column], batch.key_low[prev_column]]
    here_tree, prev_tree = _common_numbers(here, prev) if comparison.equal else (keys, keys)
    wanted = np.zeros(len(keys), np.int64)
    order = np.zeros(len(keys), np.int64)
    if comparison.order is not None:
        wanted, order = _places(comparison.order, batch)
        asks &= wanted >= 0
        stands &= order >= 0
    places = int(max(wanted.max(initial=0), order.max(initial=0))) + 1
    trees = int(max(here_tree.max(initial=0), prev_tree.max(initial=0))) + 1
    below, nodes = _below((prev_tree * places + order)[stands], trees * places)
    result = np.empty((len(keys), 5), np.int64)
    first = below(prev_tree * places)
    result[:, 0] = np.where(stands, first, -1)
    result[:, 1] = np.where(stands, below(prev_tree * places + order) - first, -1)
    result[:, 2] = np.where(stands, below((prev_tree + 1) * places) - first, -1)
    first = below(here_tree * places)
    result[:, 3] = np.where(asks, first, -1)
    result[:, 4] = np.where(asks, below(here_tree * places + wanted + 1) - first, -1)
    return result, nodes


def _below(values: Ints, most: int) -> tuple[Callable[[Ints], Ints], int]:
    """How many different ones of ``values`` are below others, and how many there are; all are from 0 up to ``most``.

    Where they are dense a table tells, else a search.
    """
    if most <= 8 * len(values) + 1024:
        table = np.zeros(most + 2, np.int64)
        table[values + 1] = 1
        np.cumsum(table, out=table)
        return lambda wanted: table[np.maximum(wanted, 0)], int(table[-1])
    known = np.unique(values)
    return lambda wanted: np.searchsorted(known, wanted), len(known)


def _places(order: Order, batch: Batch) -> tuple[Ints, Ints]:
    """Per row, the last place that an event goes with, and the place of the event itself; -1 for none.

    Places are even for values that occur and odd between them. Place 0 is for NULL.
    """
    here = [batch.key_high[order.here], batch.key_low[order.here].view(np.uint64)]
    prev = [batch.key_high[order.prev], batch.key_low[order.prev].view(np.uint64)]
    if order.here == order.prev:
        wanted = place = _numbers(here)
    else:
        wanted, place = _common_numbers(here, prev)
    if not order.before_is_less:
        last = max(int(wanted.max(initial=0)), int(place.max(initial=0)))
        wanted, place = last - wanted, last - place
    wanted, place = 2 * wanted + (2 if order.or_equal else 1), 2 * place + 2
    null = 0 if order.or_null else -1
    wanted = np.where(batch.valid[order.here] != 0, wanted, null)
    return wanted, np.where(batch.valid[order.prev] != 0, place, null)


def _common_numbers(one: list[NDArray[Any]], other: list[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Numbers of the rows of two tables such that equal rows have equal numbers and order is kept."""
    numbers = _numbers([np.concatenate(pair) for pair in zip(one, other, strict=True)])
    return numbers[: len(one[0])], numbers[len(one[0]) :]


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
