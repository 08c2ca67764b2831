"""The rows of some windows, out of all of their events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import CompletionQuery, KernelPlan, Layout
from sparkext.planner.patterns.query import Window
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.key_changes import changes
from sparkext.udfs.arrow.order_keys import as_int64
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.sorting.row_order import Digit, digit, digits_of, row_order
from sparkext.udfs.streams.stored import NEVER
from sparkext.udfs.tables.program import Ints
from sparkext.udfs.workers.completion_run import CompletionRun
from sparkext.udfs.workers.machine import Machine
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.window_by_window import completion_run

OUTPUT_BYTES = 1 << 20
"""Room for result rows of a bucket; most have few."""


_LEAST_BITS = 20
"""Least bits of a hash by which keys may be told apart; few buckets have a million."""


class WindowRun(PoolRun):
    """One pass over sorted events, for some of the windows that they are in.

    Args:
        plan: The plan.
        layout: Of the events.
        windows: Numbers of the first and the last window, for each kind of window of the plan.
    """

    def __init__(self, plan: KernelPlan, layout: Layout, windows: Sequence[tuple[int, int]]) -> None:
        self._windows = windows
        super().__init__(plan, layout, OUTPUT_BYTES)

    def _machine(self, plan: KernelPlan) -> Machine:
        machine = super()._machine(plan)
        machine.restrict(self._windows)
        return machine


class SettledRun(CompletionRun):
    """One pass over sorted events for the completions that become final between two watermarks.

    Args:
        plan: The plan.
        layout: Of the events.
        times: Of all events of the pass.
        since: The earlier watermark.
        until: The later one.
        whole_from: Per query the time from which on all events are there that it needs.
    """

    def __init__(
        self, plan: KernelPlan, layout: Layout, times: Ints, since: int, until: int, whole_from: Sequence[int]
    ) -> None:
        super().__init__(plan, layout, OUTPUT_BYTES)
        query = self._asked.queries[0]  # of all, rows are final at the same time
        wait = 1 if query.wait is None else query.wait
        self._ending = None  # windows that end before, and decide
        if query.span is None:
            assert query.window is not None
            wait, self._ending = min(wait, query.window.within), query.window
        # A watermark at the time of an event does not settle it: another event of that time may come.
        self._settled = times + wait
        self._since, self._until = since, until
        # The first event of a trend may be a span before its last, or at the beginning of its window.
        first_needed = times if query.span is None else times - query.span + 1
        self._first_needed, self._whole_from = first_needed, np.array(whole_from, np.int64)

    def _taken(self) -> Ints:
        rows = super()._taken()
        whole_from = self._whole_from[rows[:, col.OUT_QUERY]]
        if self._ending is None:
            rows = rows[self._first_needed[rows[:, col.OUT_ROW]] >= whole_from]
        else:
            rows[:, col.OUT_WINDOW] = np.maximum(
                rows[:, col.OUT_WINDOW], (whole_from + self._ending.slide - 1) // self._ending.slide
            )
        settled = self._settled[rows[:, col.OUT_ROW]]
        if self._ending is None:
            return rows[(settled > self._since) & (settled <= self._until)]
        open_before = max(NEVER, last_ended(self._ending, self._since) + 1)
        rows[:, col.OUT_WINDOW] = np.maximum(rows[:, col.OUT_WINDOW], open_before)
        over = np.minimum(rows[:, col.OUT_LAST], max(NEVER, last_ended(self._ending, self._until)))
        rows[:, col.OUT_LAST] = np.where(settled <= self._until, rows[:, col.OUT_LAST], over)
        return rows[(settled > self._since) & (rows[:, col.OUT_WINDOW] <= rows[:, col.OUT_LAST])]


def settled_rows(
    plan: KernelPlan, layout: Layout, events: pa.RecordBatch, since: int, until: int, whole_from: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """The rows of completions that become final between two watermarks.

    Args:
        plan: What to compute; it has completions of queries that are final together, and wait for nothing or for a
            given time.
        layout: Of the events, without their first column.
        events: As for `window_rows`; all that rows need which are not final at the first watermark, up to the second.
        since: The first watermark.
        until: The second one.
        whole_from: Per query the time from which on all events are there that it needs.
    """
    ordered = in_order(events, layout.keys, _orders(plan, events))
    times = as_int64(ordered.column(layout.keys + 1))
    rows = ordered.select(range(1, ordered.num_columns))
    yield from SettledRun(plan, layout, times, since, until, whole_from).results(iter([rows]))


def waits_after_window(query: CompletionQuery) -> int:
    """How long after the end of a window what follows on its completions may matter; 0 where that ends with it."""
    return 0 if query.wait is None or query.span is None else query.wait - 1


def last_ended(window: Window, watermark: int) -> int:
    """Number of the last window that ends at the watermark or before."""
    return (watermark - window.within) // window.slide


def window_rows(
    plan: KernelPlan, layout: Layout, events: pa.RecordBatch, windows: Sequence[tuple[int, int]]
) -> Iterator[pa.RecordBatch]:
    """The rows of windows, as `sparkext.udfs.workers.pool_run.pool_kernel` gives them.

    Args:
        plan: What to compute.
        layout: Of the events, without their first column.
        events: A hash of their keys, then what the layout says; in any order.
        windows: See `WindowRun`.
    """
    ordered = in_order(events, layout.keys, _orders(plan, events))
    sorted_events = iter([ordered.select(range(1, ordered.num_columns))])
    if plan.completions is None:
        yield from WindowRun(plan, layout, windows).results(sorted_events)
        return
    # All queries have the same windows, by panes or not; those before and after lack some of their events.
    ((first, last),) = set(windows)
    for rows in completion_run(plan, layout, output_bytes=OUTPUT_BYTES).results(sorted_events):
        numbers = as_int64(rows.column(layout.group_keys + 1))
        yield rows.take(as_arrow(np.flatnonzero((numbers >= first) & (numbers <= last))))


def _orders(plan: KernelPlan, events: pa.RecordBatch) -> range:
    """Numbers of the columns by which events of one time are ordered."""
    if plan.completions is None:
        return range(0)
    end = events.num_columns - len(plan.completions.shown)
    return range(end - plan.completions.orders, end)


def in_order(events: pa.RecordBatch, keys: int, orders: Sequence[int] = ()) -> pa.RecordBatch:
    """Events sorted by key and time, keys by the hash that is in the first column.

    Where different keys have one hash, they are told apart by their values.

    Args:
        events: A hash of their keys, these, the time, and further columns.
        keys: How many keys there are.
        orders: Numbers of the columns by which events of one time are ordered.
    """
    hashes = digit(as_int64(events.column(0)))
    rest = [digit(as_int64(events.column(keys + 1)))]
    rest += (of_column for number in orders for of_column in digits_of(events.column(number)))
    # A part of the hash that has room beside the rest in a word is sorted several times as fast, and mostly does.
    bits = 64 - sum(of_column.bits for of_column in rest)
    shorter = [_shortened(hashes, bits)] if _LEAST_BITS <= bits < hashes.bits else []
    for of_keys in (*shorter, hashes):
        order = row_order([of_keys, *rest], events.num_rows)
        ordered = _taken(events, order)
        if not keys or not _are_mixed(ordered, keys, of_keys.values[order]):
            return ordered
    numbers_of: dict[str, int] = {}
    values = zip(*(column.to_pylist() for column in ordered.columns[1 : keys + 1]), strict=True)
    numbers = np.array([numbers_of.setdefault(repr(key), len(numbers_of)) for key in values], np.int64)
    return _taken(ordered, np.argsort(numbers, kind="stable"))  # of one key, they are in order


def _shortened(whole: Digit, bits: int) -> Digit:
    """The upper bits of a digit."""
    values: NDArray[np.uint64] = whole.values.astype(np.uint64) >> np.uint64(whole.bits - bits)
    return Digit(values, bits)


def _are_mixed(ordered: pa.RecordBatch, keys: int, hashes: NDArray[Any]) -> bool:
    """Whether events with different keys stand beside each other that have one hash."""
    is_other = np.zeros(ordered.num_rows, np.bool_)
    for index in range(1, keys + 1):
        is_other |= changes(ordered.column(index))
    return bool((is_other[1:] & (hashes[1:] == hashes[:-1])).any())


def _taken(events: pa.RecordBatch, order: Ints) -> pa.RecordBatch:
    return events.take(as_arrow(order.astype(np.int64, copy=False)))


def together(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Events of several batches, in types that may have other names within: a session may be in another time zone.

    Columns that have no NULL in some batches may have one in others, such as those of keys without an event.
    """
    schema = parts[-1].schema
    if not all(part.schema.equals(schema) for part in parts):
        schema = pa.schema([field.with_nullable(True) for field in schema])
        parts = [part.cast(schema) for part in parts]
    return parts[0] if len(parts) == 1 else pa.concat_batches(parts)
