"""A pass that counts the completions of some queries beside what the kernel computes of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import (
    NO_EVENT,
    Arithmetic,
    CompletionQuery,
    Completions,
    KernelPlan,
    Layout,
)
from sparkext.planner.patterns.query import Distinct
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.batches import BatchReader, keys_at
from sparkext.udfs.arrow.result_batch import FieldValues, field_columns
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.completions.latest_starts import (
    CHANGE_KEY,
    CHANGE_QUERY,
    GROUP_COMPLETIONS,
    GROUP_KEY,
    GROUP_KEYS,
)
from sparkext.udfs.completions.start_machine import StartMachine
from sparkext.udfs.completions.tallies import GroupCounts, Tallies, by_group
from sparkext.udfs.sorting.row_order import moments
from sparkext.udfs.tables.batch import Batch, no_batch
from sparkext.udfs.tables.program import NO_KEY, Flags, Ints
from sparkext.udfs.workers.fallback import Fallback
from sparkext.udfs.workers.pool_run import OUTPUT_BYTES, PoolRun
from sparkext.udfs.workers.variants import CountArguments, KernelForm, variant_of

ROWS = 1 << 16
"""Room for completions before they are handed on."""

KEYS = 1 << 12
"""Keys whose counts are held before those of a group are added up and handed on."""

TALLIES = 1 << 20
"""Changes of counts that are held likewise."""


class Finder(Protocol):
    """What finds completions."""

    def finish(self) -> bool:
        """End the key under way; returns whether that is done, or completions are to be taken first."""

    def taken(self) -> Ints:
        """What has been found of completions, which is not held any longer."""


class CountRun(PoolRun):
    """One pass over one sorted stream of events, which counts the completions of some queries.

    Args:
        plan: What to compute; it has completions, of which starts alone are needed.
        layout: Of the events; keys are not cut into chunks. After the attributes come the further expressions of ORDER
            BY, and then what is shown.
        output_bytes: Room for result rows before they are flushed.
        fallback: For the kernel.
        form: Says whether compiled or interpreted kernels run.
        rows: Room for completions before they are handed on.
    """

    def __init__(
        self,
        plan: KernelPlan,
        layout: Layout,
        output_bytes: int = OUTPUT_BYTES,
        fallback: Fallback | None = None,
        form: KernelForm | None = None,
        rows: int = ROWS,
    ) -> None:
        super().__init__(plan, layout, output_bytes, fallback, form)
        assert plan.completions is not None
        assert layout.chunk is None
        self._asked: Completions = plan.completions
        self._adds = any(cell.event != NO_EVENT for cell in plan.cells)
        self._tallies = Tallies(self._asked.queries)
        self._sums: list[list[Ints]] = [[] for _ in self._asked.queries]
        self._key = -1
        self._key_rows: list[pa.RecordBatch] = []
        self._has_null: list[np.ndarray] = []
        self._group_of: list[Ints] = []
        self._group = 0
        self._first_key = 0
        self._last: list[pa.Array] = []
        self._finder = self._new_finder(rows)

    def _new_finder(self, rows: int) -> Finder:
        machine = self._start_machine = StartMachine(self._plan, rows, Form(lambda: variant_of(arguments).wait()))
        arguments = CountArguments(*machine.arrays, no_batch(self._plan))
        return machine

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
            while not self._finder.finish():
                yield from self._hand_on()
            yield from self._hand_on()
            yield from self._tallied(self._key + 1)

    def _look(self, arrow: pa.RecordBatch, batch: Batch, first: int) -> Iterator[pa.RecordBatch]:
        """Find the completions of a batch; columns from ``first`` on are those beside the events."""
        keys = self._key + np.cumsum(batch.new_key, dtype=np.int64)
        self._key = int(keys[-1])
        self._begin_keys(arrow, batch)
        is_later = self._moments(arrow, batch, first, self._asked.orders)
        yield from self._find(batch, is_later, keys, arrow.select(range(first + self._asked.orders, arrow.num_columns)))
        over = self._key - self._first_key
        if over >= KEYS or (over and self._tallies.held >= TALLIES):
            yield from self._tallied(self._key)

    def _find(self, batch: Batch, is_later: Flags, keys: Ints, shown: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Find the completions of a batch.

        Args:
            batch: The batch.
            is_later: Where events are at another moment than the event before. Shape (rows,).
            keys: Numbers of their keys. Shape (rows,).
            shown: What rows of completions may show.
        """
        del shown  # nothing is
        counts = (~np.concatenate(self._has_null)[keys - self._first_key]).astype(np.uint8)
        row = 0
        while row < len(keys):
            row = self._start_machine.advance(batch, is_later, keys, counts, row)
            yield from self._hand_on()

    def _begin_keys(self, arrow: pa.RecordBatch, batch: Batch) -> None:
        """Remember the keys that begin in a batch, and which of them have a NULL."""
        begins = np.flatnonzero(batch.new_key)
        of_keys = keys_at(arrow, self._layout.keys, begins)
        groups = self._group + np.cumsum(batch.new_group[begins], dtype=np.int64)
        self._group = int(groups[-1]) if len(groups) else self._group
        self._group_of.append(groups)
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
        """Take what has been found since; what is to be shown of it."""
        for number, of_query in self._by_query(self._start_machine.taken(), CHANGE_QUERY):
            if self._asked.queries[number].window is None:
                self._sums[number].append(of_query)
            else:
                self._tallies.change(number, of_query[:, CHANGE_KEY:])
        yield from ()

    def _by_query(self, rows: Ints, column: int) -> Iterator[tuple[int, Ints]]:
        """Rows of each query that has some, whose number stands in a column."""
        if len(self._asked.queries) > 1:
            rows = rows[np.argsort(rows[:, column], kind="stable")]
        ends = np.searchsorted(rows[:, column], np.arange(len(self._asked.queries) + 1))
        for number in range(len(self._asked.queries)):
            if ends[number] < ends[number + 1]:
                yield number, rows[ends[number] : ends[number + 1]]

    def _tallied(self, until: int) -> Iterator[pa.RecordBatch]:
        """Rows of what has been counted for keys before one; those that begin later are kept."""
        nulls, groups = np.concatenate(self._has_null), np.concatenate(self._group_of)
        for number, query in enumerate(self._asked.queries):
            if not query.counted:
                continue
            if self._sums[number]:  # of groups that are over
                sums = np.ascontiguousarray(np.concatenate(self._sums[number]).T)
                self._sums[number].clear()
                windows = np.zeros_like(sums[GROUP_KEY])
                counts = GroupCounts(sums[GROUP_KEY], windows, sums[GROUP_COMPLETIONS], sums[GROUP_KEYS])
            elif len(changes := self._tallies.take(number, until)):
                at = changes[:, 0] - self._first_key
                # Keys of a group are partial results, if groups have several.
                of_group = groups[at] if self._layout.other_keys else changes[:, 0]
                counts = by_group(changes, of_group, ~nulls[at])
            else:
                continue
            count_of = {Distinct.COMPLETIONS: counts.completions, Distinct.KEYS: counts.distinct}
            nothing = np.zeros(len(counts.keys), np.int64)
            values = {field: FieldValues(nothing, count_of[kind]) for kind, field in query.counted}
            yield self._batch(self._bank_of_counts(query), counts.keys, counts.windows, values, {})
        if until > self._first_key:
            drop = until - self._first_key
            self._key_rows = [pa.concat_batches(self._key_rows).slice(drop)]
            self._has_null, self._group_of = [nulls[drop:]], [groups[drop:]]
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
        """Columns of all slots, by name; here nothing is shown."""
        del slots, rows
        return {}

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
