"""A pass that finds the completions of some queries beside what the kernel computes of others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import (
    Arithmetic,
    CompletionQuery,
    KernelPlan,
    Layout,
    ShownColumn,
    too_many,
)
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.result_batch import FieldValues
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.completion_machine import NODES, CompletionMachine
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.tables.batch import Batch, no_batch
from sparkext.udfs.tables.program import Flags, Ints
from sparkext.udfs.workers.count_run import ROWS, CountRun, Finder
from sparkext.udfs.workers.fallback import Fallback
from sparkext.udfs.workers.kept_rows import KeptRows
from sparkext.udfs.workers.pool_run import OUTPUT_BYTES
from sparkext.udfs.workers.variants import CompletionArguments, KernelForm, variant_of


class CompletionRun(CountRun):
    """One pass over one sorted stream of events, which finds the completions of some queries and shows them.

    Args:
        plan: What to compute; it has completions.
        layout: As for `CountRun`, and so are the others, but for ``nodes``.
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
        assert plan.completions is not None
        self._completion_machine = CompletionMachine(plan, rows, Form(self._wait_for_kernel), nodes)
        super().__init__(plan, layout, output_bytes, fallback, form, rows)
        self._kept = KeptRows(len(self._asked.shown))
        self._base = 0
        self._shown_types: list[pa.DataType] = []

    def _new_finder(self, rows: int) -> Finder:
        del rows
        return self._completion_machine

    def _wait_for_kernel(self) -> None:
        """Return when the kernel of completions is loaded; one process of a machine compiles it."""
        variant_of(CompletionArguments(*self._completion_machine.arrays, no_batch(self._plan))).wait()

    def _find(self, batch: Batch, is_later: Flags, keys: Ints, shown: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        self._shown_types = list(shown.schema.types)
        self._kept.add(shown, self._base)
        row = 0
        part = self._completion_machine.begin(batch, self._base)
        while row < len(keys):
            row = self._completion_machine.advance(part, is_later, keys, row)
            yield from self._hand_on()
            if row < len(keys):
                yield from self._given_up(int(keys[row]))
        self._base += len(keys)
        if self._kept.is_large():
            self._kept.keep(self._completion_machine.rows_in_use(drop=True))

    def _hand_on(self) -> Iterator[pa.RecordBatch]:
        for number, completions in self._by_query(self._taken(), col.OUT_QUERY):
            query = self._asked.queries[number]
            if query.counted:
                self._tallies.add(number, *completions[:, (col.OUT_KEY, col.OUT_WINDOW, col.OUT_LAST)].T)
            if query.has_rows:
                yield self._rows_of(number, completions)

    def _taken(self) -> Ints:
        """Completions that have been found since."""
        return self._completion_machine.taken()

    def _given_up(self, key: int) -> Iterator[pa.RecordBatch]:
        """Let the machine make room; rows that say which queries had to be given up for it."""
        for number, window in self._completion_machine.make_room():
            bank = too_many(self._asked.queries[number].bank)
            yield self._batch(bank, np.array([key]), np.array([window]), {}, {})

    def _rows_of(self, number: int, completions: Ints) -> pa.RecordBatch:
        """The rows of completions of a query: one for each window."""
        query = self._asked.queries[number]
        times = completions[:, col.OUT_LAST] - completions[:, col.OUT_WINDOW] + 1
        slots: dict[int, pa.Array] = {}
        for value in query.shown:
            slot = self._asked.slots[value.slot]
            if slot.column is None:
                slots[value.slot] = self._variables(query, completions[:, col.OUT_NODE])
            elif slot.is_list:
                slots[value.slot] = self._lists(slot.column, completions[:, col.OUT_NODE])
            elif value.is_last:
                slots[value.slot] = self._kept.take(slot.column, completions[:, col.OUT_ROW])
            else:
                assert value.register is not None
                slots[value.slot] = self._kept.take(
                    slot.column, self._completion_machine.registers(completions[:, col.OUT_NODE], value.register)
                )
        keys, windows, at = completions[:, col.OUT_KEY], completions[:, col.OUT_WINDOW], completions[:, col.OUT_VALUES]
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
            as_arrow(variable_of[self._completion_machine.nodes(nodes, col.NODE_STATE)])
        )

    def _lists(self, column: int, nodes: Ints) -> pa.Array:
        """Per node, the values of all events of its trend."""
        lengths = np.zeros(len(nodes), np.int64)
        steps: list[tuple[Ints, Ints]] = []
        places, at = np.arange(len(nodes)), nodes
        while len(at):
            steps.append((places, self._completion_machine.nodes(at, col.NODE_ROW)))
            lengths[places] += 1
            before = self._completion_machine.nodes(at, col.NODE_PREV)
            places, at = places[before >= 0], before[before >= 0]
        ends = np.cumsum(lengths)
        rows = np.zeros(int(ends[-1]), np.int64)
        for number, (of_step, numbers) in enumerate(steps):
            rows[ends[of_step] - 1 - number] = numbers
        values = self._kept.take(column, rows)
        offsets = as_arrow(np.concatenate([[0], ends]).astype(np.int32))
        return pa.ListArray.from_arrays(offsets, values)

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
