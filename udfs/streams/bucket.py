"""A bucket: some keys of a stream, the events that rows to come may be about, and what becomes final.

Events are kept, and not the totals of windows under way: events may come in any order before the watermark, and
the windows that end at it are computed from all of their events, by the very pass that a batch has. So whatever a
query may ask for is right on a stream if it is in a batch. An event is computed once for each window that it is in, or
for each micro-batch in which one of them ends, if these are fewer; or twice, where totals are carried on beside events
(`sparkext.udfs.streams.carrying`). Completions of trends with a span need the events of
a span before the watermark, whether there are windows or not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import Window
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.arrow.order_keys import as_int64
from sparkext.udfs.streams.carrying import Carrying
from sparkext.udfs.streams.late_rows import beside_late, late_rows
from sparkext.udfs.streams.other_forms import in_form
from sparkext.udfs.streams.packs import from_bytes
from sparkext.udfs.streams.query_changes import adopted, change_list, check_state, first_unseen, is_of_others
from sparkext.udfs.streams.stored import (
    NEVER,
    Header,
    Page,
    Store,
    UnusableError,
    page_bytes,
    page_events,
    page_of,
)
from sparkext.udfs.streams.stream_plan import StreamPlan
from sparkext.udfs.streams.windows_of_events import in_order, last_ended, settled_rows, together, window_rows
from sparkext.udfs.tables.program import Ints

SMALL_PAGE = 64 << 10
"""Size in bytes below which a page is put together with what comes next, if that is at least half as much."""

TINY_PAGE = 4 << 10
"""Size in bytes below which it always is."""

MOST_ROWS = 1 << 18
"""Most events of a page."""

_GREATEST = np.iinfo(np.int64).max


@dataclass(slots=True)
class BucketCounts:
    """How many events a bucket has had, and holds.

    Attributes:
        events: That have come, late ones too.
        late: That came too late.
        kept: That are in the state now.
        size: Of the state now, in bytes.
        lateness: How long the latest of them came after the watermark, in units of the event time.
        computed: Events that the kernel has been given, again if it had them before.
        windows: That have ended, of those that have events.
        kernel_seconds: In which events were sorted and computed.
    """

    events: int = 0
    late: int = 0
    kept: int = 0
    size: int = 0
    lateness: int = 0
    computed: int = 0
    windows: int = 0
    kernel_seconds: float = 0.0


@dataclass(slots=True)
class _Step:
    """One micro-batch of a bucket.

    Attributes:
        closing: The first and the last window of each kind that end in it.
        keep_from: The time of the first event that is needed after it.
        new: Events that have come in time.
        late: Others.
        loaded: Events of pages that have been read.
        gone: Pages that are not needed any more as they are.
    """

    closing: list[tuple[int, int]]
    keep_from: int
    new: list[pa.RecordBatch] = field(default_factory=list)
    late: list[pa.RecordBatch] = field(default_factory=list)
    loaded: dict[int, pa.RecordBatch] = field(default_factory=dict)
    gone: list[Page] = field(default_factory=list)


class Bucket:
    """A bucket as it has been stored.

    Attributes:
        header: What is known of it.
        counts: Of the last micro-batch.

    Args:
        of: What is computed.
        store: Where it is stored.

    Raises:
        UnusableError: What is stored is of no use for that; the text says why.
        DamagedError: It is not as it was written.
    """

    def __init__(self, of: StreamPlan, store: Store) -> None:
        self._of = of
        self._store = store
        data = store.header()
        self.header = _new_header(of) if data is None else Header.read(data)
        self.counts = BucketCounts()
        if data is not None:
            check_state(self.header, of)

    def begin(self, packs: Sequence[bytes]) -> None:
        """Store events from before the stream; those of the stream that are from before that time are late, then.

        Args:
            packs: As for `step`. It may be called several times, before any step.
        """
        assert self._of.begins_at is not None
        at, header = self._of.begins_at, self.header
        step = _Step([], self._of.needed_from(at), [from_bytes(pack) for pack in packs])
        header.latest = max([header.latest, *(int(self._times(events).max()) for events in step.new)])
        header.until = at
        self._keep(step, at)
        self._store_header()

    def step(self, packs: Sequence[bytes], watermark: int) -> Iterator[pa.RecordBatch]:
        """The rows that the watermark makes final; the state is stored when all have been taken.

        They are those of the windows that end, or of completions that wait for nothing more; and where they are asked
        for, one for each event that has come too late.

        Args:
            packs: Events that have come, as `sparkext.udfs.streams.packs.packed` has packed them.
            watermark: In units of the event time; `NEVER` when there is none yet.

        Raises:
            UnusableError: The state is that of other queries, from which one cannot go on, or whose changes are asked
                for.
            DamagedError: A page is not as it was written.
        """
        self.counts = BucketCounts()
        header = self.header
        watermark = max(watermark, header.until)
        if header.ahead is not None:  # that of the events before, of which the delay may have been another
            header.seen = max(header.seen, first_unseen(watermark, header.ahead))
        if is_of_others(header, self._of):
            self._adopt(watermark)
        step = self._begun(packs, watermark)
        final = self._settle(step, watermark) if self._of.is_by_event else self._close(step, watermark)
        if self._of.late_schema is None:
            yield from final
        else:
            yield from late_rows(step.late, header.until, self._of.layout.keys, self._of.late_schema)
            yield from map(beside_late, final)
        self._drop(step)
        self._keep(step, watermark)
        header.until, header.ahead = watermark, self._of.ahead
        size = self._store_header()
        self.counts.kept = sum(page.rows for page in header.pages)
        carried = () if header.carried is None else header.carried.pages
        self.counts.size = size + sum(page.size for page in header.pages) + sum(page.size for page in carried)

    def _store_header(self) -> int:
        """Store what is known; its size."""
        header = self.header
        if not header.has_gaps:
            header.whole_from = max(header.whole_from, self._of.whole_from(header.until))
        data = header.write()
        self._store.put_header(data)
        return len(data)

    def _adopt(self, watermark: int) -> None:
        """Go on from the state of other queries."""
        header, of = self.header, self._of
        changed = adopted(header, of, watermark)
        if of.on_change == "list":
            raise UnusableError(
                "it is that of other queries, and spark.sparkext.stream.onChange is list:\n"
                f"{change_list(header, of, changed)}\nSET spark.sparkext.stream.onChange = allow goes on so"
            )
        header.needs, header.queries, header.whole_from = changed.needs, changed.queries, changed.whole_from
        header.has_gaps, header.finality = of.has_gaps, of.finality

    def _begun(self, packs: Sequence[bytes], watermark: int) -> _Step:
        until, windows = self.header.until, self._of.windows
        closing: list[tuple[int, int]] = []
        for window in windows:
            first = NEVER if until == NEVER else last_ended(window, until - self._of.after) + 1
            last = first - 1 if watermark == until else last_ended(window, watermark - self._of.after)
            closing.append((first, last))
        step = _Step([] if watermark == NEVER else closing, self._of.needed_from(watermark))
        for pack in packs:
            events = from_bytes(pack)
            self.counts.events += events.num_rows
            times = self._times(events)
            self.header.latest = max(self.header.latest, int(times.max()))
            in_time = _where(events, times >= until)
            if in_time.num_rows < events.num_rows:
                step.late.append(_where(events, times < until))
                self.counts.late += step.late[-1].num_rows
                self.counts.lateness = max(self.counts.lateness, until - int(times.min()))
            if in_time.num_rows:
                step.new.append(in_time)
        return step

    def _close(self, step: _Step, watermark: int) -> Iterator[pa.RecordBatch]:
        """The rows of the windows that end."""
        if not any(last >= first for first, last in step.closing):
            return
        pages, new = self.header.pages, [self._times(events) for events in step.new]
        earliest = min([_GREATEST, *(page.first for page in pages), *(int(times.min()) for times in new)])
        latest = max([NEVER, *(page.last for page in pages), *(int(times.max()) for times in new)])
        closing = {
            window: (max(first, last_ended(window, earliest) + 1) if first <= last else first, last)
            for window, (first, last) in zip(self._of.windows, step.closing, strict=True)
        }
        carrying = Carrying(self._of, self.header, self._store, closing)
        self.counts.windows = sum(_with_events(*ending, earliest, latest) for ending in carrying.carried)
        yield from map(self._whole, self._plain(step, carrying.plan, carrying.plain))
        rows = carrying.rows(partial(self._counted_between, step), watermark)
        yield from map(self._whole, self._timed(rows))

    def _plain(
        self, step: _Step, plan: KernelPlan, closing: Sequence[tuple[Window, int, int]]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of windows that end, out of all of their events.

        Args:
            step: The micro-batch.
            plan: By which they are computed.
            closing: For each of its kinds of windows, the first and the last.
        """
        ending = [one for one in closing if one[1] <= one[2]]
        if not ending:
            return
        span = 1 if self._of.span is None else self._of.span
        begin = min(first * window.slide for window, first, _ in ending) - span + 1
        end = min(_GREATEST, max(last * window.slide + window.within for window, _, last in ending) + self._of.after)
        parts = self._counted_between(step, begin, end)
        if parts:
            events = together(parts)
            times = self._times(events)
            self.counts.windows += sum(_with_events(*one, int(times.min()), int(times.max())) for one in ending)
            pairs = [(first, last) for _, first, last in closing]
            yield from self._timed(window_rows(plan, self._of.layout, events, pairs))

    def _settle(self, step: _Step, watermark: int) -> Iterator[pa.RecordBatch]:
        """The rows of completions that the watermark settles."""
        since = self.header.until
        if watermark == since:
            return
        parts = self._counted_between(step, self._of.needed_from(since), watermark)
        if parts:
            events = together(parts)
            queries = [self.header.queries[query.text] for query in self._of.queries]
            yield from self._timed(settled_rows(self._of.plan, self._of.layout, events, since, watermark, queries))

    def _whole(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Those rows of windows of which all events are there that their queries need."""
        groups, span = self._of.layout.group_keys, 1 if self._of.span is None else self._of.span
        windows = as_int64(rows.column(groups + 1))
        banks = as_numbers(rows.column(groups), np.int32)
        is_whole = np.ones(rows.num_rows, np.bool_)
        for query in self._of.queries:
            since = self.header.queries[query.text]
            if since != NEVER:
                assert query.slide is not None  # else rows are of events
                first = (since + span + query.slide - 2) // query.slide
                is_whole &= (windows >= first) | ~np.isin(banks, query.banks)
        return _where(rows, is_whole)

    def _counted_between(self, step: _Step, begin: int, end: int) -> list[pa.RecordBatch]:
        """The events from a time up to another, which the kernel is given."""
        parts = self._between(step, begin, end)
        self.counts.computed += sum(part.num_rows for part in parts)
        return parts

    def _timed(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows; how long they take is counted."""
        while True:
            began = time.perf_counter()
            batch = next(rows, None)
            self.counts.kernel_seconds += time.perf_counter() - began
            if batch is None:
                return
            yield batch

    def _between(self, step: _Step, begin: int, end: int) -> list[pa.RecordBatch]:
        """The events from a time up to another, of which pages are read for the step."""
        parts = []
        for page in self.header.pages:
            if page.first < end and page.last >= begin and page.number not in step.loaded:
                step.loaded[page.number] = self._read(page)
        for events in [*step.loaded.values(), *step.new]:
            times = self._times(events)
            parts.append(_where(events, (times >= begin) & (times < end)))
        return [part for part in parts if part.num_rows]

    def _drop(self, step: _Step) -> None:
        """Forget pages of which no event is needed; those that are small, or mostly of no use, are put together."""
        step.gone = [page for page in self.header.pages if page.last < step.keep_from]
        left = [page for page in self.header.pages if page.last >= step.keep_from]
        worn, rows = [], sum(events.num_rows for events in step.new)
        for page in reversed(left):
            if self._is_worn(page, step, rows):
                worn.append(page)
                rows += page.rows
        if len(worn) + len(step.new) > 1 or any(page.first < step.keep_from for page in worn):
            for page in worn:
                step.new.append(step.loaded.get(page.number) or self._read(page))
            step.gone += worn
        for page in step.gone:
            self._store.drop_page(page.number)
            self.header.pages.remove(page)

    def _is_worn(self, page: Page, step: _Step, rows: int) -> bool:
        """Whether a page is small, or most of it is of no use, unless that has to be read to be known.

        One that is much larger than the rows that it is put together with is left until there are more, so that no
        event is written often.
        """
        loaded = step.loaded.get(page.number)
        if page.size < SMALL_PAGE and (page.size < TINY_PAGE or page.rows <= 2 * rows):
            return bool(step.new) or loaded is not None
        return loaded is not None and bool(2 * np.count_nonzero(self._times(loaded) >= step.keep_from) < page.rows)

    def _keep(self, step: _Step, watermark: int) -> None:
        """Store the events that are needed after the step."""
        needed = [_where(events, self._is_needed(self._times(events), step, watermark)) for events in step.new]
        needed = [events for events in needed if events.num_rows]
        if not needed:
            return
        events = in_order(together(needed), self._of.layout.keys)
        for begin in range(0, events.num_rows, MOST_ROWS):
            part = events.slice(begin, MOST_ROWS)
            data, number, form = page_bytes(part), self.header.next_page, self.header.form_number(self._of.form)
            self._store.put_page(number, data)
            self.header.next_page += 1
            self.header.pages.append(page_of(number, data, self._times(part), form))

    def _read(self, page: Page) -> pa.RecordBatch:
        """The events of a page that are of use, in the form of those that come."""
        events = page_events(page, self._store.page(page.number))
        return in_form(events, self.header.forms[page.form], self._of.form, self._of.schema)

    def _is_needed(self, times: Ints, step: _Step, watermark: int) -> NDArray[np.bool_]:
        """Whether events of some times are: those in windows that have not ended, or not further back than a span."""
        if self._of.span is not None:
            return times >= step.keep_from
        is_needed = np.zeros(len(times), np.bool_)
        for window in self._of.windows:
            starts = times // window.slide * window.slide
            is_needed |= (times - starts < window.within) & (starts > max(NEVER, watermark - window.within))
        return is_needed

    def _times(self, events: pa.RecordBatch) -> Ints:
        return as_int64(events.column(self._of.layout.keys + 1))


def _new_header(of: StreamPlan) -> Header:
    queries = {query.text: NEVER for query in of.queries}
    needs = dict.fromkeys(of.needs, NEVER)
    return Header(of.buckets, of.meaning, [], needs, queries, NEVER, of.has_gaps, of.finality)


def _with_events(window: Window, first: int, last: int, begin: int, end: int) -> int:
    """How many windows, from the first to the last of those that have ended, may have events from a time to another."""
    return max(0, min(last, end // window.slide) - max(first, last_ended(window, begin) + 1) + 1)


def _where(events: pa.RecordBatch, wanted: NDArray[np.bool_]) -> pa.RecordBatch:
    return events if wanted.all() else events.take(as_arrow(np.flatnonzero(wanted)))
