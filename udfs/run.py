"""The function that Spark calls with the Arrow batches of one partition of a pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from planner.kernel_plan import Arithmetic, Encoding, KernelPlan, Layout, field_columns
from udfs.batches import Batch, BatchReader
from udfs.counters import Counters
from udfs.kernel import advance, end_key
from udfs.order_keys import decode
from udfs.panes import new_panes
from udfs.past import PastRoom
from udfs.program import Floats, assemble, field_places, new_guards, new_output, new_state
from udfs.regions import new_regions

OUTPUT_BYTES = 16 << 20
"""Room for result rows before they are handed to Spark."""


def pool_kernel(
    plan: KernelPlan, layout: Layout, report: Callable[[Floats], object] | None = None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given: batches of events sorted by key and time in, partial results out.

    The columns of the results are the group keys, ``bank`` (int32), ``window`` (int64) and those that
    `planner.kernel_plan.field_columns` names.

    Args:
        plan: What to compute.
        layout: Of the events.
        report: Is given what `udfs.counters.Counters` has counted, at the end of the partition.
    """

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        run = PoolRun(plan, layout)
        yield from run.results(batches)
        if report is not None:
            report(run.counters.totals())

    return kernel


class PoolRun:
    """One pass over one sorted stream of events."""

    def __init__(self, plan: KernelPlan, layout: Layout, output_bytes: int = OUTPUT_BYTES) -> None:
        self._plan = plan
        self._layout = layout
        self._combine = layout.other_keys > 0
        self._program = assemble(plan)
        self._state = new_state(self._program, layout.chunk)
        self._guards = new_guards(self._program) if plan.guard_states else None
        self._room = PastRoom(plan, self._program) if plan.comparisons else None
        self._regions = new_regions(plan, self._state) if plan.regions else None
        self._panes = new_panes(plan, self._program)
        self._places, words, floats = field_places(plan.fields)
        self._output = new_output(plan, min(1 << 16, output_bytes // (8 * (words + floats + 3))))
        self._groups: list[pa.RecordBatch] = []
        self._types: dict[str, pa.DataType] = {}
        self.counters = Counters(plan)

    def results(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Partial results of the stream, in batches."""
        reader = BatchReader(self._plan, self._layout)
        for arrow in self._sized(batches):
            batch = reader.read(arrow)
            self._remember(arrow, batch.new_group)
            self.counters.add(batch, arrow.num_rows)
            if self._room is not None:
                batch = self._room.extend(batch, self._state)
            row = self._advance(batch, 0)
            while row < arrow.num_rows:
                yield self._flush()
                row = self._advance(batch, row)
        if self._state.cursor[0]:
            if self._state.cursor[3] * 2 > len(self._output.group):
                yield self._flush()
            end_key(*self._parts(), self._combine)
        if self._state.cursor[3]:
            yield self._flush()

    def _advance(self, batch: Batch, row: int) -> int:
        return int(advance(*self._parts(), batch, row, self._combine))

    def _parts(self) -> tuple[object, ...]:
        """What a kernel works on."""
        past = None if self._room is None else self._room.past
        return self._program, self._state, self._guards, past, self._regions, self._panes, self._output

    def _sized(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches that are not empty, put together where that saves work."""
        waiting: list[pa.RecordBatch] = []
        for arrow in batches:
            if arrow.num_rows:
                waiting.append(arrow)
            rows = sum(batch.num_rows for batch in waiting)
            if rows and not (self._room is not None and self._room.worth_waiting(rows)):
                yield pa.concat_batches(waiting) if len(waiting) > 1 else waiting[0]
                waiting = []
        if waiting:
            yield pa.concat_batches(waiting)

    def _remember(self, arrow: pa.RecordBatch, new_group: np.ndarray) -> None:
        """Keep the keys of the groups that start in a batch, and the types of attributes."""
        keys = arrow.select(range(self._layout.group_keys))
        self._groups.append(keys.take(pa.array(np.flatnonzero(new_group))))
        attributes = arrow.schema.types[arrow.num_columns - len(self._plan.columns) :]
        for column, kind in zip(self._plan.columns, attributes, strict=True):
            if column.encoding in (Encoding.LEAST, Encoding.GREATEST):
                self._types[column.attribute.type] = kind

    def _flush(self) -> pa.RecordBatch:
        """The rows written since the last flush; only the group under way is kept."""
        cursor, output = self._state.cursor, self._output
        rows = int(cursor[3])
        known = pa.concat_batches(self._groups) if self._groups else None
        arrays: list[pa.Array] = []
        names: list[str] = []
        if known is not None and known.num_columns:
            arrays += known.take(pa.array(output.group[:rows])).columns
            names += known.schema.names
        arrays += [pa.array(output.bank[:rows].astype(np.int32)), pa.array(output.window[:rows].copy())]
        names += ["bank", "window"]
        columns = field_columns(self._plan.fields)
        for field, place, labels in zip(self._plan.fields, self._places, columns, strict=True):
            word = np.ascontiguousarray(output.words[:rows, place.word])
            names += labels
            if field.arithmetic is Arithmetic.NUMBER:
                arrays += [pa.array(np.ascontiguousarray(output.floats[:rows, place.float])), pa.array(word)]
                continue
            low = np.ascontiguousarray(output.words[:rows, place.word + 1])
            if field.arithmetic is Arithmetic.EXACT:
                arrays += [pa.array(word), pa.array(low)]
            else:
                kind = self._types[str(field.type)]
                arrays.append(decode(word, low, kind, field.encoding is Encoding.GREATEST))
        if known is not None and known.num_columns:
            self._groups = [known.slice(int(cursor[4]))]
        cursor[3] = cursor[4] = 0
        output.table.fill(-1)
        return pa.RecordBatch.from_arrays(arrays, names)
