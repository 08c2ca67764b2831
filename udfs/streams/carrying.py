"""Windows that overlap much, without computing their events over and over: what keys have done is carried on.

An event is computed twice, however many windows it is in: once for a *front*, which says what all windows that are
open at a time hold then, and once after that, for what all events since the front do to it. A window is the product of
both. When all windows of a front have been written, the next one is made of the events of those that are open then.
So events stay the state, and what is carried can be made of them at any time: after a change of queries it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import Window
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.state.carried_tables import CarriedWindows
from sparkext.udfs.streams.carried_pass import CarriedPass, Front, Since
from sparkext.udfs.streams.stored import (
    CarriedPage,
    CarriedState,
    Header,
    Store,
    carried_batches,
    carried_page_of,
    page_bytes,
)
from sparkext.udfs.streams.stream_plan import StreamPlan
from sparkext.udfs.tables.program import Ints
from sparkext.udfs.workers.machine import Machine

CARRIED_FROM = 8
"""How many windows must be open, for each that ends at once, for something to be carried for them. An event is computed
twice then, and not for each window; measured with ``benchmarks/stream_phi.py``."""

PAGE_BYTES = 128 << 10
"""About how large a page of a front is before it is compressed; it is read for each of its windows."""

Between: TypeAlias = Callable[[int, int], list[pa.RecordBatch]]
"""Gives the events from a time up to another."""


class Carrying:
    """What becomes of the windows of a bucket that end in a micro-batch, as far as something is carried for them.

    Attributes:
        plan: By which the windows are computed for which nothing is carried.
        plain: These: for each of the plan's kinds the first and the last.
        carried: The others.

    Args:
        of: What is computed.
        header: Of the bucket; what is carried is noted there.
        store: Where it is stored.
        closing: Per kind of windows, the first and the last that end.
    """

    def __init__(self, of: StreamPlan, header: Header, store: Store, closing: Mapping[Window, tuple[int, int]]) -> None:
        self._of, self._header, self._store = of, header, store
        self._known = _carried_by(of)
        state = header.carried
        if state is not None and (self._known is None or state.plan != self._known.digest):
            self._drop(state.pages)
            state = None
        self._state = state
        self._newest = {} if state is None else dict(state.newest)
        self._begun: dict[int, CarriedWindows] = {}
        self._windows = () if self._known is None else self._known.windows
        self._closing = [closing[window] for window in self._windows]
        for kind in () if self._known is None else self._known.paned:
            first, last = self._closing[kind]
            if first <= last and last > self._newest.get(kind, first - 1):
                self._newest.pop(kind, None)
                begun = _begun(self._windows[kind], first, last)
                if begun is not None:
                    self._begun[kind] = begun
        kinds = self._newest.keys() | self._begun.keys()
        self.carried = [(self._windows[kind], *self._closing[kind]) for kind in kinds]
        if self._known is None or not kinds:
            self.plan, self.plain = of.plan, [(window, *closing[window]) for window in of.windows]
        else:
            self.plan = self._known.plan
            ending = enumerate(zip(self._windows, self._closing, strict=True))
            self.plain = [(window, *((1, 0) if kind in kinds else pair)) for kind, (window, pair) in ending]

    def rows(self, between: Between, watermark: int) -> Iterator[pa.RecordBatch]:
        """The rows of windows that end and are `carried`; what is carried is stored behind the last."""
        pages = () if self._state is None else self._state.pages
        kept = [page for page in pages if page.is_front and page.kinds[0] in self._newest]
        done = [page for page in pages if not page.is_front]
        since: list[Since] = []
        if self._newest:
            assert self._state is not None
            wanted = {kind: self._going_on(kind, newest) for kind, newest in self._newest.items()}
            fronts = [self._front(page) for page in kept if page.first <= wanted[page.kinds[0]].last]
            of_done = [self._since(page) for page in done]
            yield from self._go_on(wanted, fronts, of_done, since, between, self._state.until, watermark)
        made = []
        for kind, begun in self._begun.items():
            time = _end(self._windows[kind], begun.first)
            front = self._made(kind, begun, between(begun.first * self._windows[kind].slide, time), time)
            made.append(front)
            self._newest[kind] = front.last
            wanted = {kind: self._going_on(kind, front.last)}
            now = front.cut(begun.first, begun.last)
            yield from self._go_on(wanted, [now], [], since, between, time, watermark)
        over = {kind: last for kind, (_, last) in enumerate(self._closing)}
        left = [page for page in kept if page.last > over[page.kinds[0]]]
        self._drop([page for page in pages if page not in left])
        self._header.carried = None
        self._newest = {kind: newest for kind, newest in self._newest.items() if newest > over[kind]}
        if self._newest:
            assert self._known is not None
            left += [page for front in made for page in self._put_front(front, over[front.kind] + 1)]
            left += [self._put(self._since_bytes(one), one.kinds) for one in since if one.keys.num_rows]
            self._header.carried = CarriedState(self._known.digest, watermark, self._newest, tuple(left))

    def _going_on(self, kind: int, newest: int) -> CarriedWindows:
        first, last = self._closing[kind]
        return CarriedWindows(False, first, last, newest)

    def _go_on(
        self,
        wanted: dict[int, CarriedWindows],
        fronts: list[Front],
        done: list[Since],
        since: list[Since],
        between: Between,
        begin: int,
        end: int,
    ) -> Iterator[pa.RecordBatch]:
        """The rows of windows that end, of what is carried and the events since; what has been done since is added."""
        assert self._known is not None
        one = CarriedPass(self._known.plan, self._of.layout, wanted, fronts, done)
        yield from one.rows(between(begin, end), self._of.schema, begin - 1)
        since.append(one.since())

    def _made(self, kind: int, begun: CarriedWindows, events: list[pa.RecordBatch], time: int) -> Front:
        """The front of a kind of windows at a time."""
        assert self._known is not None
        one = CarriedPass(self._known.plan, self._of.layout, {kind: begun})
        for rows in one.rows(events, self._of.schema, time - 1):
            assert not rows.num_rows, "no window ends before its front"
        return one.front(kind)

    def _put_front(self, front: Front, first: int) -> Iterator[CarriedPage]:
        """Store a front from a window on, in parts."""
        size = front.high.nbytes + front.low.nbytes
        windows = front.last - first + 1
        step = max(1, -(-windows // max(1, size // PAGE_BYTES)))
        for begin in range(first, front.last + 1, step):
            part = front.cut(begin, min(front.last, begin + step - 1))
            if part.keys.num_rows:
                keys = part.keys.append_column("ends", as_arrow(part.ends))
                values = _as_batch(newest=part.newest, high=part.high.ravel(), low=part.low.ravel())
                yield self._put(page_bytes(keys, *values), (front.kind,), (part.first, part.last))

    def _since_bytes(self, one: Since) -> bytes:
        return page_bytes(one.keys, *_as_batch(flags=one.flags.ravel(), high=one.high.ravel(), low=one.low.ravel()))

    def _put(self, data: bytes, kinds: tuple[int, ...], windows: tuple[int, int] = (0, -1)) -> CarriedPage:
        page = carried_page_of(self._header.next_page, data, kinds, windows)
        self._store.put_page(page.number, data)
        self._header.next_page += 1
        return page

    def _front(self, page: CarriedPage) -> Front:
        keys, newest, high, low = carried_batches(page, self._store.page(page.number))
        ends = _as_ints(keys.column(keys.num_columns - 1))
        entries = newest.num_rows
        high, low = (_as_ints(one.column(0)).reshape(entries, -1) for one in (high, low))
        own = keys.select(range(keys.num_columns - 1))
        return Front(page.kinds[0], page.first, page.last, own, ends, _as_ints(newest.column(0)), high, low)

    def _since(self, page: CarriedPage) -> Since:
        keys, flags, high, low = carried_batches(page, self._store.page(page.number))
        high, low = (_as_ints(one.column(0)).reshape(keys.num_rows, -1) for one in (high, low))
        return Since(page.kinds, keys, _as_ints(flags.column(0)).reshape(-1, 2), high, low)

    def _drop(self, pages: Sequence[CarriedPage]) -> None:
        for page in pages:
            self._store.drop_page(page.number)


def carried_windows(plan: KernelPlan) -> list[Window]:
    """The kinds of windows for which something is carried on, unless many of them end in a micro-batch."""
    carried = () if plan.carried is None else (plan.carried.windows[pane.number] for pane in plan.carried.panes)
    return [window for window in carried if window is not None]


class _Known(NamedTuple):
    """A plan that something is carried on by.

    Attributes:
        of: What is computed.
        plan: The plan.
        digest: By which it is known again.
        windows: Its kinds of windows.
        paned: Numbers of those that are by panes.
    """

    of: StreamPlan
    plan: KernelPlan
    digest: str
    windows: tuple[Window, ...]
    paned: tuple[int, ...]


_known: list[_Known] = []
"""The last one, which all buckets of a task have."""


def _carried_by(of: StreamPlan) -> _Known | None:
    """By which plan something is carried on; None where nothing can be."""
    if not _known or _known[0].of is not of:
        plan = of.plan.carried
        if plan is None:
            return None
        form = repr((of.form, of.layout.keys)).encode()
        tables = Machine(plan, None, combine=False).layout
        digest = hashlib.sha256(tables + form).hexdigest()[:16]
        windows = tuple(window for window in plan.windows if window is not None)  # streams have no unbounded ones
        _known[:] = [_Known(of, plan, digest, windows, tuple(pane.number for pane in plan.panes))]
    return _known[0]


def _begun(window: Window, first: int, last: int) -> CarriedWindows | None:
    """Of which windows a front is made where the first of those ends that end now; None where none is worth it."""
    newest = (_end(window, first) - 1) // window.slide
    if last > newest or window.live < CARRIED_FROM * (last - first + 1):
        return None
    return CarriedWindows(True, first, last, newest)


def _end(window: Window, number: int) -> int:
    return number * window.slide + window.within


def _as_batch(**columns: Ints) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_arrays([as_arrow(values)], [name]) for name, values in columns.items()]


def _as_ints(column: pa.Array) -> Ints:
    return as_numbers(column, np.int64)
