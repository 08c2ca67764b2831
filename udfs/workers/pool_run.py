"""The function that Spark calls with the Arrow batches of one partition of a pool."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import Encoding, KernelPlan, Layout
from sparkext.udfs.arrow.bank_order import by_bank
from sparkext.udfs.arrow.batches import BatchReader, keys_at, rows_of
from sparkext.udfs.arrow.difference_keys import difference_types
from sparkext.udfs.arrow.result_batch import result_batch
from sparkext.udfs.arrow.whole_groups import whole_groups
from sparkext.udfs.sorting.sorted_events import Sort, sorted_events
from sparkext.udfs.state.fresh import new_output
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.field_indexes import field_indexes
from sparkext.udfs.tables.program import Floats
from sparkext.udfs.workers.counters import Counters
from sparkext.udfs.workers.fallback import Fallback
from sparkext.udfs.workers.machine import Machine
from sparkext.udfs.workers.variants import KernelForm

OUTPUT_BYTES = 16 << 20
"""Room for result rows before they are handed to Spark."""


NODE = "MatchTrend["
"""Beginning of the name that passes have in Spark's plans."""


def pool_kernel(
    plan: KernelPlan,
    layout: Layout,
    report: Callable[[Floats], object] | None = None,
    run_of: Callable[[KernelPlan, Layout], PoolRun] | None = None,
    name: str = "",
    is_whole: bool = False,
    sort: Sort | None = None,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given: batches of events in, partial results out.

    `sparkext.udfs.arrow.result_batch.result_batch` says what columns the results have.

    Args:
        plan: What to compute.
        layout: Of the events.
        report: Is given what `sparkext.udfs.workers.counters.Counters` has counted, at the end of the partition.
        run_of: Makes the pass; a `PoolRun` if left out.
        name: Of what is computed, which Spark shows in its plans.
        is_whole: Whether the partition has all events of its groups, one group after another, so that each group, bank
            and window is to have one row. The results of the group under way are held, if there are many.
        sort: How events are sorted; None where they come by key and time.
    """

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        run = (run_of or PoolRun)(plan, layout)
        results = run.results(batches if sort is None else sorted_events(layout, sort, batches))
        if is_whole:
            results = whole_groups(plan.fields, layout.group_keys, results)
        elif not layout.other_keys and not plan.is_stretched:
            results = by_bank(layout.group_keys, results)  # kept as they are; others are yet to be added up
        yield from results
        if report is not None:
            report(run.counters.totals())

    kernel.__name__ = f"{NODE}{name}]"
    return kernel


class PoolRun:
    """One pass over one sorted stream of events.

    Args:
        plan: What to compute.
        layout: Of the events.
        output_bytes: Room for result rows before they are flushed.
        fallback: Chooses between the plan and its fallback, if it has one.
        form: Says whether compiled or interpreted kernels run.
    """

    def __init__(
        self,
        plan: KernelPlan,
        layout: Layout,
        output_bytes: int = OUTPUT_BYTES,
        fallback: Fallback | None = None,
        form: KernelForm | None = None,
    ) -> None:
        self._plan = plan
        self._layout = layout
        self._form = form or KernelForm()
        self._machines = [self._machine(plan)]
        self._at = 0
        self._fallback = None if plan.fallback is None else fallback or Fallback()
        self._indexes, words, floats = field_indexes(plan.fields)
        self._output = new_output(plan, min(1 << 16, output_bytes // (8 * (words + floats + 3))))
        self._groups: list[pa.RecordBatch] = []
        self._types = difference_types(plan.fields)
        self.counters = Counters(plan, layout.group_keys + layout.other_keys)

    def results(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Partial results of the stream, in batches."""
        reader = BatchReader(self._plan, self._layout)
        for arrow in self._sized(batches):
            batch = reader.read(arrow)
            self._remember(arrow, batch.new_group)
            self.counters.add(batch, arrow.num_rows, self._nulls(arrow))
            yield from self._process(arrow, batch)
        yield from self._end_key()
        if self._now.rows:
            yield self._flush()
        if self._fallback is not None:
            self.counters.by_fallback = self._fallback.events
        self.counters.bursts = self._machines[0].bursts
        self.counters.interpreted, self.counters.alone = self._form.events, int(self._form.alone)

    def _nulls(self, arrow: pa.RecordBatch) -> list[int]:
        """How many NULLs a batch has of each key."""
        keys = self._layout.group_keys + self._layout.other_keys
        return [arrow.column(index).null_count for index in range(keys)]

    @property
    def _now(self) -> Machine:
        """The machine that has the key under way."""
        return self._machines[self._at]

    def _process(self, arrow: pa.RecordBatch, batch: Batch) -> Iterator[pa.RecordBatch]:
        """Let the machines process a batch, read from ``arrow``; one takes over from the other where it can."""
        del arrow
        rows = turn = len(batch.time)
        wanted = self._at if self._fallback is None else self._fallback.wanted
        if wanted != self._at:
            turns = np.flatnonzero(self._may_take_over(batch))
            turn = int(turns[0]) if len(turns) else rows
        yield from self._extend(batch, 0, turn)
        if turn < rows:
            if batch.new_key[turn]:
                yield from self._end_key()
            else:
                self._now.pause()
            self._take_over(wanted)
            yield from self._extend(batch, turn, rows)

    def _extend(self, batch: Batch, row: int, end: int) -> Iterator[pa.RecordBatch]:
        """Process the events of a batch from ``row`` to ``end``, as many at once as there is room for."""
        while row < end:
            until = row + self._now.at_once(end - row)
            yield from self._advance(self._now.extend(rows_of(batch, row, until)), 0, until - row)
            row = until

    def _may_take_over(self, batch: Batch) -> NDArray[np.bool_]:
        """Before which events: those of another key, and of a later time if one machine can be what another was."""
        begins: NDArray[np.bool_] = batch.new_key != 0
        if self._plan.fallback is not None and self._plan.fallback.handover and self._now.has_begun:
            begins |= np.diff(batch.time, prepend=self._now.time) != 0
        return begins

    def _advance(self, batch: Batch, row: int, end: int) -> Iterator[pa.RecordBatch]:
        """Process the events of a batch from ``row`` to ``end``."""
        part = batch._replace(time=batch.time[:end])
        first, seconds, interpreted = row, 0.0, self._form.events
        while row < end:
            begin = time.thread_time()
            row = self._now.advance(part, row, self._output)
            seconds += time.thread_time() - begin
            if row < end:
                yield self._flush()
        if self._fallback is not None and self._form.events == interpreted:
            self._fallback.took(self._at, end - first, seconds)
        elif self._fallback is not None:
            self._fallback.events += self._at * (end - first)  # how long they take interpreted says nothing

    def _end_key(self) -> Iterator[pa.RecordBatch]:
        """Write out the key under way."""
        if self._now.has_begun and self._now.rows * 2 > len(self._output.group):
            yield self._flush()
        self._now.end_key(self._output)

    def _take_over(self, number: int) -> None:
        """Let another machine go on, where no key is under way or the one that goes has paused."""
        assert self._plan.fallback is not None
        if number == len(self._machines):
            self._machines.append(self._machine(self._plan.fallback))
        pairs = self._plan.fallback.handover
        if pairs:
            self._machines[number].take_over(self._now, pairs if number == 0 else [pair[::-1] for pair in pairs])
        else:
            self._machines[number].follow(self._now)
        self._at = number

    def _machine(self, plan: KernelPlan) -> Machine:
        combine = self._layout.other_keys > 0
        return Machine(plan, self._layout.chunk, combine, regions=plan is self._plan.fallback, form=self._form)

    def _sized(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches that are not empty, put together where that saves work."""
        waiting: list[pa.RecordBatch] = []
        for arrow in batches:
            if arrow.num_rows:
                waiting.append(arrow)
            rows = sum(batch.num_rows for batch in waiting)
            if rows and not self._now.would_wait(rows):
                yield pa.concat_batches(waiting) if len(waiting) > 1 else waiting[0]
                waiting = []
        if waiting:
            yield pa.concat_batches(waiting)

    def _remember(self, arrow: pa.RecordBatch, new_group: np.ndarray) -> None:
        """Keep the keys of the groups that start in a batch, and the types of attributes."""
        if self._layout.group_keys:
            self._groups.append(keys_at(arrow, self._layout.group_keys, np.flatnonzero(new_group)))
        attributes = arrow.schema.types[arrow.num_columns - len(self._plan.columns) :]
        for column, kind in zip(self._plan.columns, attributes, strict=True):
            if column.encoding in (Encoding.LEAST, Encoding.GREATEST):
                self._types[column.attribute.type] = kind

    def _flush(self) -> pa.RecordBatch:
        """The rows written since the last flush; only the group under way is kept."""
        rows = self._rows(self._now.rows)
        if self._layout.group_keys:
            self._groups = [self._groups[0].slice(self._now.group)]
        self._now.flushed()
        self._output.table.fill(-1)
        return rows

    def _rows(self, number: int) -> pa.RecordBatch:
        """The first rows written since the last flush; the groups since then are put together for it."""
        keys = pa.concat_batches(self._groups) if self._layout.group_keys else None
        self._groups = [] if keys is None else [keys]
        return result_batch(self._output, number, keys, self._plan.fields, self._indexes, self._types)
