"""Keys that several tasks compute, each a stretch of time: what a stretch does is handed on and multiplied.

The events are cut by key and time, so of the keys of a task only the first and the last may go on elsewhere. What the
events of such a key do to totals is one matrix (`panes`), which travels as a row beside those of results. Where
all rows of a group meet, the matrices of each key are multiplied in the order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.kernel_plan.result_columns import MATRIX
from sparkext.udfs.arrow.arrays import as_arrow, as_binary
from sparkext.udfs.arrow.batches import keys_at
from sparkext.udfs.arrow.result_batch import extreme_types, result_batch
from sparkext.udfs.state.fresh import new_output
from sparkext.udfs.state.pane_tables import Matrix
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.field_indexes import field_indexes
from sparkext.udfs.workers.machine import Machine
from sparkext.udfs.workers.pool_run import OUTPUT_BYTES, PoolRun
from sparkext.udfs.workers.variants import KernelForm

_START = "start"
"""Name of the time of the first event of a stretch, with its matrix on its way; after its key."""


class StretchRun(PoolRun):
    """One pass over the stretches of a task.

    Args:
        plan: What to compute; a stretched one.
        layout: Of the events.
        output_bytes: Room for result rows before they are flushed.
        form: Says whether compiled or interpreted kernels run.
    """

    def __init__(
        self, plan: KernelPlan, layout: Layout, output_bytes: int = OUTPUT_BYTES, form: KernelForm | None = None
    ) -> None:
        super().__init__(plan, layout, output_bytes, form=form)
        self._scratch = new_output(plan, 1)
        self._is_first = True
        self._begin: pa.RecordBatch | None = None

    def _process(self, arrow: pa.RecordBatch, batch: Batch) -> Iterator[pa.RecordBatch]:
        begins = np.flatnonzero(batch.new_key)
        turn = 0
        if self._is_first:
            later = begins if self._begin is not None else begins[1:]
            turn = int(later[0]) if len(later) else len(batch.time)
            self._note_begin(arrow, batch, begins[begins < turn])
            yield from self._advance(batch, 0, turn)
            if len(later):
                yield from self._end_key()
                self._is_first = False
        if turn < len(batch.time):
            self._note_begin(arrow, batch, begins)
            yield from self._advance(batch, turn, len(batch.time))

    def _note_begin(self, arrow: pa.RecordBatch, batch: Batch, begins: np.ndarray) -> None:
        """Remember key and time of the event that the last of some stretches begins with."""
        if len(begins):
            at = int(begins[-1])
            key = keys_at(arrow, self._layout.keys, begins[-1:])
            self._begin = key.append_column(_START, as_arrow(batch.time[at : at + 1]))

    def _end_key(self) -> Iterator[pa.RecordBatch]:
        """Hand on what the events of the stretch under way do, if they do anything."""
        if not self._now.has_begun:
            return
        assert self._begin is not None
        matrix = self._now.end_stretch(self._scratch)
        if matrix is None:
            return
        packed = self._begin
        for name, words in matrix._asdict().items():
            packed = packed.append_column(name, as_binary(words, pa.large_binary()))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, packed.schema) as stream:
            stream.write_batch(packed)
        like = self._rows(0)
        groups = self._layout.group_keys
        columns = [*self._begin.columns[:groups], *(pa.nulls(1, kind) for kind in like.schema.types[groups:-1])]
        matrices = as_binary(sink.getvalue(), pa.binary())
        yield pa.RecordBatch.from_arrays([*columns, matrices], schema=like.schema)

    def _rows(self, number: int) -> pa.RecordBatch:
        rows = super()._rows(number)
        return rows.append_column(MATRIX, pa.nulls(rows.num_rows, pa.binary()))


def merged(plan: KernelPlan, layout: Layout) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given where all rows of a group meet: rows of `StretchRun` in, partial results out.

    Args:
        plan: What is computed.
        layout: Of the events.
    """

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: dict[str, list[pa.RecordBatch]] = {}
        schema: pa.Schema | None = None
        for batch in batches:
            schema = batch.schema
            matrices = batch.column(MATRIX)
            for packed in matrices.drop_null():
                row = pa.ipc.open_stream(packed.as_buffer()).read_next_batch()
                waiting.setdefault(repr(row.select(range(layout.keys)).to_pylist()), []).append(row)
            plain = batch.filter(matrices.is_null()).drop_columns([MATRIX])
            if plain.num_rows:
                yield plain
        if waiting:
            assert schema is not None
            yield _products(plan, layout, list(waiting.values()), schema)

    return kernel


def _products(plan: KernelPlan, layout: Layout, keys: list[list[pa.RecordBatch]], schema: pa.Schema) -> pa.RecordBatch:
    """Results of keys by the matrices of their stretches."""
    machine = Machine(plan, None, combine=False, stretches=max(map(len, keys)))
    output = new_output(plan, len(keys) * len(plan.banks))
    for number, stretches in enumerate(keys):
        stretches.sort(key=lambda row: row.column(_START)[0].as_py())
        machine.multiply([_matrix(row) for row in stretches], number, output)
    groups = pa.concat_batches([rows[0].select(range(layout.group_keys)) for rows in keys])
    types = extreme_types(plan.fields, schema)
    indexes, _, _ = field_indexes(plan.fields)
    return result_batch(output, machine.rows, groups if layout.group_keys else None, plan.fields, indexes, types)


def _matrix(row: pa.RecordBatch) -> Matrix:
    high, low, touched = (row.column(name)[0].as_buffer() for name in Matrix._fields)
    return Matrix(np.frombuffer(high, np.int64), np.frombuffer(low, np.int64), np.frombuffer(touched, np.uint8))
