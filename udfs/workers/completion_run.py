"""A pass that finds the completions of some queries beside what the kernel computes of others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import (
    NO_EVENT,
    Arithmetic,
    CompletionQuery,
    Completions,
    KernelPlan,
    Layout,
    ShownColumn,
    too_many,
)
from sparkext.planner.patterns.query import Distinct
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.batches import BatchReader, keys_at
from sparkext.udfs.arrow.result_batch import FieldValues, field_columns
from sparkext.udfs.completions.completion_machine import NODES, CompletionMachine
from sparkext.udfs.completions.completion_program import (
    NODE_PREV,
    NODE_ROW,
    NODE_STATE,
    OUT_KEY,
    OUT_LAST,
    OUT_NODE,
    OUT_QUERY,
    OUT_ROW,
    OUT_VALUES,
    OUT_WINDOW,
)
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.completions.tallies import Tallies
from sparkext.udfs.sorting.row_order import moments
from sparkext.udfs.tables.batch import Batch, no_batch
from sparkext.udfs.tables.program import NO_KEY, Ints
from sparkext.udfs.workers.fallback import Fallback
from sparkext.udfs.workers.kept_rows import KeptRows
from sparkext.udfs.workers.pool_run import OUTPUT_BYTES, PoolRun
from sparkext.udfs.workers.variants import CompletionArguments, KernelForm, variant_of

ROWS = 1 << 16
"""Room for completions before they are handed on."""


class CompletionRun(PoolRun):
    """One pass over one sorted stream of events, which finds the completions of some queries.

    Args:
        plan: What to compute; it has completions.
        layout: Of the events; keys are not cut into chunks. After the attributes come the further expressions of ORDER
            BY, and then what is shown.
        output_bytes: Room for result rows before they are flushed.
        fallback: For the kernel.
        form: Says whether compiled or interpreted kernels run.
        rows: Room for completions before they are handed on.
        nodes: Room for nodes to begin with.
    """

    def __init__(
        self,
        plan: KernelPlan,
        layout: Layout,
        output_bytes: int = OUTPUT_BYTES,
        fallback: Fallback | None = None,
        form: KernelForm | None = None,
        rows: int = ROWS,
        nodes: int = NODES,
    ) -> None:
        super().__init__(plan, layout, output_bytes, fallback, form)
        assert plan.completions is not None
        assert layout.chunk is None
        self._asked: Completions = plan.completions
        self._adds = any(cell.event != NO_EVENT for cell in plan.cells)
        self._completion_machine = CompletionMachine(plan, rows, Form(self._wait_for_kernel), nodes)
        self._kept = KeptRows(len(self._asked.shown))
        self._tallies = Tallies(self._asked.queries)
        self._key = -1
        self._base = 0
        self._key_rows: list[pa.RecordBatch] = []
        self._has_null: list[np.ndarray] = []
        self._first_key = 0
        self._last: list[pa.Array] = []
        self._shown_types: list[pa.DataType] = []

    def _wait_for_kernel(self) -> None:
        """Return when the kernel of completions is loaded; one process of a machine compiles it."""
        variant_of(CompletionArguments(*self._completion_machine.arrays, no_batch(self._plan))).wait()

    def results(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Partial results of the stream, in batches."""
        reader = BatchReader(self._plan, self._layout)
        for arrow in self._sized(batches):
            more = self._asked.orders + len(self._asked.shown)
            events = arrow.select(range(arrow.num_columns - more))
            batch = reader.read(events)
            self._remember(events, batch.new_group)
            self.counters.add(batch, arrow.num_rows, self._nulls(arrow))
            if self._adds:
                for rows in self._process(events, batch):
                    yield self._widened(rows)
            yield from self._look(arrow, batch, arrow.num_columns - more)
        if self._adds:
            for rows in self._end_key():
                yield self._widened(rows)
            if self._now.rows:
                yield self._widened(self._flush())
        if self._key >= 0:
            while not self._completion_machine.finish():
                yield from self._hand_on()
            yield from self._hand_on()
            yield from self._tallied(self._key + 1)

    def _look(self, arrow: pa.RecordBatch, batch: Batch, first: int) -> Iterator[pa.RecordBatch]:
        """Find the completions of a batch; columns from ``first`` on are those beside the events."""
        orders, rows = self._asked.orders, arrow.num_rows
        keys = self._key + np.cumsum(batch.new_key, dtype=np.int64)
        self._key = int(keys[-1])
        self._begin_keys(arrow, batch)
        is_later = self._moments(arrow, batch, first, orders)
        shown = arrow.select(range(first + orders, arrow.num_columns))
        self._shown_types = list(shown.schema.types)
        self._kept.add(shown, self._base)
        row = 0
        part = self._completion_machine.begin(batch, self._base)
        while row < rows:
            row = self._completion_machine.advance(part, is_later, keys, row)
            yield from self._hand_on()
            if row < rows:
                yield from self._given_up(int(keys[row]))
        self._base += rows
        if self._kept.is_large():
            self._kept.keep(self._completion_machine.rows_in_use(drop=True))
        yield from self._tallied(self._key)

    def _given_up(self, key: int) -> Iterator[pa.RecordBatch]:
        """Let the machine make room; rows that say which queries had to be given up for it."""
        for number, window in self._completion_machine.make_room():
            bank = too_many(self._asked.queries[number].bank)
            yield self._batch(bank, np.array([key]), np.array([window]), {}, {})

    def _begin_keys(self, arrow: pa.RecordBatch, batch: Batch) -> None:
        """Remember the keys that begin in a batch, and which of them have a NULL."""
        of_keys = keys_at(arrow, self._layout.keys, np.flatnonzero(batch.new_key))
        self._key_rows.append(of_keys.select(range(self._layout.group_keys)))
        null = np.zeros(of_keys.num_rows, np.bool_)
        for position in self._asked.keys:
            null |= ~np.asarray(of_keys.column(position).is_valid().to_numpy(zero_copy_only=False), np.bool_)
        self._has_null.append(null)

    def _moments(self, arrow: pa.RecordBatch, batch: Batch, first: int, orders: int) -> np.ndarray:
        """Where events are at another moment than the event before."""
        columns = [arrow.column(self._layout.keys), *(arrow.column(first + number) for number in range(orders))]
        is_new = batch.new_key.astype(np.bool_)
        for before, column in zip(self._last, columns, strict=True) if self._last else ():
            is_new |= moments(pa.concat_arrays([before, column]))[1:]
        if not self._last:
            for column in columns:
                is_new |= moments(column)
        self._last = [column.slice(len(column) - 1) for column in columns]
        return is_new.astype(np.uint8)

    def _hand_on(self) -> Iterator[pa.RecordBatch]:
        """Rows of the completions that have been found since."""
        out = self._taken()
        if not len(out):
            return
        if len(self._asked.queries) > 1:
            out = out[np.argsort(out[:, OUT_QUERY], kind="stable")]
        ends = np.searchsorted(out[:, OUT_QUERY], np.arange(len(self._asked.queries) + 1))
        for number, query in enumerate(self._asked.queries):
            of_query = out[ends[number] : ends[number + 1]]
            if not len(of_query):
                continue
            if query.counted:
                self._tallies.add(number, of_query[:, OUT_KEY], of_query[:, OUT_WINDOW], of_query[:, OUT_LAST])
            if query.has_rows:
                yield self._rows_of(number, of_query)

    def _taken(self) -> Ints:
        """Completions that have been found since."""
        return self._completion_machine.taken()

    def _rows_of(self, number: int, completions: Ints) -> pa.RecordBatch:
        """The rows of completions of a query: one for each window."""
        query = self._asked.queries[number]
        times = completions[:, OUT_LAST] - completions[:, OUT_WINDOW] + 1
        slots: dict[int, pa.Array] = {}
        for value in query.shown:
            slot = self._asked.slots[value.slot]
            if slot.column is None:
                slots[value.slot] = self._variables(query, completions[:, OUT_NODE])
            elif slot.is_list:
                slots[value.slot] = self._lists(slot.column, completions[:, OUT_NODE])
            elif value.is_last:
                slots[value.slot] = self._kept.take(slot.column, completions[:, OUT_ROW])
            else:
                assert value.register is not None
                slots[value.slot] = self._kept.take(
                    slot.column, self._completion_machine.registers(completions[:, OUT_NODE], value.register)
                )
        keys, windows, at = completions[:, OUT_KEY], completions[:, OUT_WINDOW], completions[:, OUT_VALUES]
        if (times != 1).any():
            repeated = np.repeat(np.arange(len(completions)), times)
            begun = np.cumsum(times) - times
            windows = windows[repeated] + np.arange(len(repeated)) - begun[repeated]
            keys, at = keys[repeated], at[repeated]
            slots = {slot: array.take(as_arrow(repeated)) for slot, array in slots.items()}
        values: dict[int, FieldValues] = {}
        for field, total in zip(query.values, self._completion_machine.values(number, at, windows), strict=True):
            is_number = self._plan.fields[field].arithmetic is Arithmetic.NUMBER
            values[field] = FieldValues(total.low, numbers=total.number) if is_number else FieldValues(*total)
        return self._batch(query.bank, keys, windows, values, slots)

    def _variables(self, query: CompletionQuery, nodes: Ints) -> pa.Array:
        """The variables of the last events."""
        names = [end.variable for end in query.ends]
        variable_of = np.zeros(len(self._asked.states), np.int64)
        for number, end in enumerate(query.ends):
            variable_of[end.state] = number
        return pa.array(names, pa.string()).take(
            as_arrow(variable_of[self._completion_machine.nodes(nodes, NODE_STATE)])
        )

    def _lists(self, column: int, nodes: Ints) -> pa.Array:
        """Per node, the values of all events of its trend."""
        lengths = np.zeros(len(nodes), np.int64)
        steps: list[tuple[Ints, Ints]] = []
        places, at = np.arange(len(nodes)), nodes
        while len(at):
            steps.append((places, self._completion_machine.nodes(at, NODE_ROW)))
            lengths[places] += 1
            before = self._completion_machine.nodes(at, NODE_PREV)
            places, at = places[before >= 0], before[before >= 0]
        ends = np.cumsum(lengths)
        rows = np.zeros(int(ends[-1]), np.int64)
        for number, (of_step, numbers) in enumerate(steps):
            rows[ends[of_step] - 1 - number] = numbers
        values = self._kept.take(column, rows)
        offsets = as_arrow(np.concatenate([[0], ends]).astype(np.int32))
        return pa.ListArray.from_arrays(offsets, values)

    def _tallied(self, until: int) -> Iterator[pa.RecordBatch]:
        """Rows of what has been counted for keys before one; those that begin later are kept."""
        for number, query in enumerate(self._asked.queries):
            if query.counted:
                keys, windows, counts = self._tallies.take(number, until)
                if len(keys):
                    null = np.concatenate(self._has_null)[keys - self._first_key]
                    has_key = (~null).astype(np.int64)
                    count_of = {Distinct.COMPLETIONS: counts, Distinct.KEYS: has_key}
                    values = {
                        field: FieldValues(np.zeros(len(keys), np.int64), count_of[kind])
                        for kind, field in query.counted
                    }
                    yield self._batch(self._bank_of_counts(query), keys, windows, values, {})
        if until > self._first_key:
            drop = until - self._first_key
            self._key_rows = [pa.concat_batches(self._key_rows).slice(drop)]
            self._has_null = [np.concatenate(self._has_null)[drop:]]
            self._first_key = until

    @staticmethod
    def _bank_of_counts(query: CompletionQuery) -> int:
        assert query.counted_in is not None
        return query.counted_in

    def _batch(
        self, bank: int, keys: Ints, windows: Ints, values: dict[int, FieldValues], slots: dict[int, pa.Array]
    ) -> pa.RecordBatch:
        """Rows of one bank; fields and slots that it does not have are empty."""
        rows = len(keys)
        columns: dict[str, pa.Array] = {}
        if self._layout.group_keys:
            if len(self._key_rows) > 1:
                self._key_rows = [pa.concat_batches(self._key_rows)]
            of_rows = self._key_rows[0].take(as_arrow(keys - self._first_key))
            columns |= zip(of_rows.schema.names, of_rows.columns, strict=True)
        columns["bank"] = as_arrow(np.full(rows, bank, np.int32))
        columns["window"] = as_arrow(np.ascontiguousarray(windows))
        fields = self._plan.fields
        held = [values.get(number, _empty(field.arithmetic, rows)) for number, field in enumerate(fields)]
        columns |= field_columns(fields, held, self._types, rows)
        columns |= self._slots(slots, rows)
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def _slots(self, slots: dict[int, pa.Array], rows: int) -> dict[str, pa.Array]:
        """Columns of all slots, by name."""
        columns: dict[str, pa.Array] = {}
        for number, slot in enumerate(self._asked.slots):
            values = slots.get(number)
            columns[slot.name] = pa.nulls(rows, self._slot_type(slot)) if values is None else values
        return columns

    def _slot_type(self, slot: ShownColumn) -> pa.DataType:
        if slot.column is None:
            return pa.string()
        kind = self._shown_types[slot.column]
        return pa.list_(kind) if slot.is_list else kind

    def _widened(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of the kernel, with slots in which nothing is."""
        empty = self._slots({}, batch.num_rows)
        return pa.RecordBatch.from_arrays([*batch.columns, *empty.values()], [*batch.schema.names, *empty])


def _empty(arithmetic: Arithmetic, rows: int) -> FieldValues:
    """Values of a field in rows that have none."""
    nothing = np.zeros(rows, np.int64)
    match arithmetic:
        case Arithmetic.EXACT:
            return FieldValues(nothing, nothing)
        case Arithmetic.NUMBER:
            return FieldValues(nothing, numbers=np.zeros(rows))
        case Arithmetic.EXTREME:
            return FieldValues(nothing + NO_KEY[0], nothing + NO_KEY[1])
