"""A pass that goes through windows one by one.

What is forbidden at the start of a pattern must not happen since the window has begun, so what an event is there
depends on the window. Each window is taken for a key of its own, with copies of its events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.query import Window
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.key_changes import changes, same
from sparkext.udfs.arrow.order_keys import as_int64
from sparkext.udfs.completions.completion_machine import NODES
from sparkext.udfs.tables.program import Ints
from sparkext.udfs.workers.completion_run import CompletionRun
from sparkext.udfs.workers.count_run import CountRun
from sparkext.udfs.workers.counters import Counters

_WINDOW = "window of the events"

_MOST = 1 << 16
"""Copies of events in a batch."""


class WindowByWindowRun(CompletionRun):
    """A `CompletionRun` of a plan whose queries have windows that are gone through one by one.

    Args:
        plan: As for `CompletionRun`; it says what the windows are.
        layout: Likewise.
        more: What else `CompletionRun` takes.
    """

    def __init__(self, plan: KernelPlan, layout: Layout, **more: Any) -> None:
        asked, groups = plan.completions, layout.group_keys
        assert asked is not None
        assert asked.windows is not None
        self._window = asked.windows
        keys = tuple(key + (key >= groups) for key in asked.keys)
        plan = replace(plan, completions=replace(asked, keys=keys))
        super().__init__(plan, replace(layout, group_keys=groups + 1), **more)
        self._layout_of_keys = layout
        self.counters = Counters(plan, layout.keys)

    def results(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """As those of any pass: the key that a window has been is its number again."""
        groups = self._layout_of_keys.group_keys
        for rows in super().results(by_window(batches, self._layout_of_keys, self._window)):
            number = rows.schema.get_field_index("window")
            yield rows.set_column(number, "window", rows.column(groups)).remove_column(groups)

    def _nulls(self, arrow: pa.RecordBatch) -> list[int]:
        nulls = super()._nulls(arrow)
        del nulls[self._layout_of_keys.group_keys]
        return nulls


def completion_run(plan: KernelPlan, layout: Layout, nodes: int = NODES, **more: Any) -> CountRun:
    """The pass that a plan with completions needs, see `CountRun` and `CompletionRun`."""
    asked = plan.completions
    assert asked is not None
    if asked.needs_starts_alone:
        return CountRun(plan, layout, **more)
    return (CompletionRun if asked.windows is None else WindowByWindowRun)(plan, layout, nodes=nodes, **more)


def by_window(batches: Iterator[pa.RecordBatch], layout: Layout, window: Window) -> Iterator[pa.RecordBatch]:
    """Events, once for each window that they are in: sorted by key, window and time.

    Args:
        batches: Of events, sorted by key and time.
        layout: Of the events. In what is given there is a column with the number of the window after the group keys.
        window: The windows.
    """
    left: pa.RecordBatch | None = None
    done = 0
    for arrow in batches:
        if not arrow.num_rows:
            continue
        plain = _plain(arrow, layout.keys)
        goes_on = left is not None and _is_same_key(left, plain, layout.keys)
        if left is not None and not goes_on:
            yield from _copies(left, layout, window, done, None)
            left = None
        first = done if goes_on else None
        held = plain if left is None else pa.concat_batches([left, plain])
        starts = np.flatnonzero(_new_keys(held, layout.keys))
        last_key = int(starts[-1]) if len(starts) else 0
        if last_key:
            yield from _copies(held.slice(0, last_key), layout, window, first, None)
            first = None
        left = held.slice(last_key)
        times = as_int64(left.column(layout.keys))
        # Windows that end before the last event, or at it, have all of theirs.
        over = (int(times[-1]) - window.within) // window.slide + 1
        begins = _first_window(times[:1], window)[0] if first is None else first
        if over > begins:
            yield from _copies(left, layout, window, first, over)
            # The last event stays in any case, as it has the key.
            left = left.slice(min(int(np.searchsorted(times, over * window.slide)), len(times) - 1))
            done = over
        else:
            done = int(begins)
    if left is not None:
        yield from _copies(left, layout, window, done, None)


def _copies(
    events: pa.RecordBatch, layout: Layout, window: Window, since: int | None, until: int | None
) -> Iterator[pa.RecordBatch]:
    """Events once for each of their windows, of which those before ``since`` of the first key have been given.

    Args:
        events: Of whole keys, but for the first and the last.
        layout: Of the events.
        window: The windows.
        since: First window of the first key.
        until: The window after the last one that is wanted; None for all.
    """
    times = as_int64(events.column(layout.keys))
    keys = np.cumsum(_new_keys(events, layout.keys))
    first, last = _first_window(times, window), times // window.slide
    if since is not None:
        first = np.where(keys == keys[0], np.maximum(first, since), first)
    if until is not None:
        last = np.minimum(last, until - 1)
    many = np.maximum(last - first + 1, 0)
    rows = np.repeat(np.arange(len(times)), many)
    numbers = first[rows] + np.arange(len(rows)) - (np.cumsum(many) - many)[rows]
    order = np.lexsort((rows, numbers, keys[rows]))
    rows, numbers = rows[order], numbers[order]
    for begin in range(0, len(rows), _MOST):
        part = slice(begin, begin + _MOST)
        taken = events.take(as_arrow(np.ascontiguousarray(rows[part])))
        yield taken.add_column(layout.group_keys, _WINDOW, as_arrow(np.ascontiguousarray(numbers[part])))


def _first_window(times: Ints, window: Window) -> Ints:
    """The first window that each time is in."""
    newest = times // window.slide
    first: Ints = newest - (window.within - 1 - (times - newest * window.slide)) // window.slide
    return first


def _new_keys(events: pa.RecordBatch, keys: int) -> np.ndarray:
    """Where events have another key than the one before; not at the first."""
    is_new = np.zeros(events.num_rows, np.bool_)
    for number in range(keys):
        is_new |= changes(events.column(number))
    is_new[0] = False
    return is_new


def _is_same_key(left: pa.RecordBatch, events: pa.RecordBatch, keys: int) -> bool:
    return all(same(left.column(number)[0], events.column(number)[0]) for number in range(keys))


def _plain(events: pa.RecordBatch, keys: int) -> pa.RecordBatch:
    """Events whose keys are not encoded."""
    for number in range(keys):
        if pa.types.is_dictionary(events.column(number).type):
            name = events.schema.names[number]
            events = events.set_column(number, name, events.column(number).dictionary_decode())
    return events
