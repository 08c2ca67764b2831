"""A pass that builds the matches of some queries beside what the kernel computes of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import (
    CLASSES_PER_WORD,
    Arithmetic,
    KernelPlan,
    Layout,
    class_words,
    too_many,
)
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.batches import keys_at
from sparkext.udfs.arrow.result_batch import FieldValues, field_columns
from sparkext.udfs.matches.building import Building, TooManyMatchesError
from sparkext.udfs.matches.match_totals import Totals
from sparkext.udfs.matches.moments import Moments
from sparkext.udfs.matches.windows_of_moments import first_open
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import NO_KEY, Ints
from sparkext.udfs.workers.fallback import Fallback
from sparkext.udfs.workers.pool_run import OUTPUT_BYTES, PoolRun
from sparkext.udfs.workers.variants import KernelForm

ROWS = 1 << 15
"""Rows from which on their matches are built, as far as all events are there that may be in them."""


class MatchRun(PoolRun):
    """One pass over one sorted stream of events, of which the matches of some queries are built.

    Rows are held until all rows have come that are less than the longest window after them; where a window has no
    bounds, all rows of a key are held.

    Args:
        plan: What to compute; it has matches.
        layout: Of the events; keys are not cut into chunks.
        output_bytes: Room for result rows before they are flushed.
        fallback: For the kernel.
        form: Says whether compiled or interpreted kernels run.
        rows: From how many rows on their matches are built.
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
        assert plan.matches is not None
        assert layout.chunk is None
        self._matches = plan.matches
        self._windows = {root.bank: root.window for root in plan.matches.roots}
        self._totals = {
            root.bank: Totals(plan.fields, [contribution.field for contribution in root.added])
            for root in plan.matches.roots
        }
        self._building = Building(plan.matches, self._windows.keys())
        self._usable = np.zeros(class_words(len(plan.classes)), np.int64)
        for step in plan.matches.steps:
            for event in step.classes:
                self._usable[event // CLASSES_PER_WORD] |= 1 << event % CLASSES_PER_WORD
        self._at_least = self._wait_for = rows
        self._held: list[Batch] = []
        self._keys: list[Ints] = []
        self._key = -1
        self._group_keys: list[pa.RecordBatch] = []
        self._first_group = 0

    def results(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Partial results of the stream, in batches."""
        yield from super().results(batches)
        yield from self._build(is_last=True)

    def _process(self, arrow: pa.RecordBatch, batch: Batch) -> Iterator[pa.RecordBatch]:
        yield from super()._process(arrow, batch)
        if not self._totals:
            return
        keys = self._key + np.cumsum(batch.new_key, dtype=np.int64)
        self._key = int(keys[-1])
        if self._layout.group_keys:
            self._group_keys.append(keys_at(arrow, self._layout.group_keys, np.flatnonzero(batch.new_key)))
        kept = np.flatnonzero((batch.classes & self._usable).any(axis=1))
        self._held.append(_rows(batch, kept))
        self._keys.append(keys[kept])
        if sum(map(len, self._keys)) >= self._wait_for:
            yield from self._build(is_last=False)

    def _build(self, is_last: bool) -> Iterator[pa.RecordBatch]:
        """Build the matches of all rows after which enough others have come, and write out what is over."""
        if not self._held:
            return
        batch, keys = _together(self._held), np.concatenate(self._keys)
        ready = len(keys)
        if ready:
            moments = Moments(keys, batch.time)
            _, until = moments.bounds(self._building.within)
            if not is_last:
                ready = int(np.count_nonzero((keys < self._key) | (until < len(keys))))
            at = 0
            while at < ready:
                end = min(ready, max(at + self._at_least, int(until[at])))
                reach = int(until[end - 1])
                yield from self._build_slice(_rows(batch, slice(at, reach)), keys[at:reach], end - at)
                at = end
        batch, keys = _rows(batch, slice(ready, None)), keys[ready:]
        self._held, self._keys = [batch], [keys]
        self._wait_for = max(self._at_least, 2 * len(keys))
        yield from self._over(None if is_last else keys, batch.time)

    def _build_slice(self, batch: Batch, keys: Ints, end: int) -> Iterator[pa.RecordBatch]:
        """Build the matches that begin before a row; queries that have too many are given up."""
        moments = Moments(keys, batch.time)
        while True:
            totals = {bank: held.copy() for bank, held in self._totals.items()}
            try:
                self._building.add(batch, moments, end, totals)
            except TooManyMatchesError as error:
                del self._totals[error.bank]
                self._building = Building(self._matches, self._totals.keys())
                yield self._result(too_many(error.bank), np.array([error.key]), np.array([error.window]), {})
            else:
                self._totals = totals
                return

    def _over(self, keys: Ints | None, times: Ints) -> Iterator[pa.RecordBatch]:
        """Write out totals to which no later row adds anything.

        Args:
            keys: Of the rows that are left; None if no other rows come.
            times: Of these rows.
        """
        key = self._key if keys is None or not len(keys) else int(keys[0])
        for bank, totals in self._totals.items():
            is_over = totals.keys < key
            window = self._windows[bank]
            if keys is None:
                is_over[:] = True
            elif window is not None and len(keys):
                is_over |= (totals.keys == key) & (totals.windows < first_open(window, times[:1]))
            if is_over.any():
                yield self._result(bank, *totals.take(is_over))
        if self._layout.group_keys:
            self._group_keys = [pa.concat_batches(self._group_keys).slice(key - self._first_group)]
            self._first_group = key

    def _result(self, bank: int, keys: Ints, windows: Ints, values: dict[int, FieldValues]) -> pa.RecordBatch:
        """Rows of one bank; the fields of others are empty."""
        columns: dict[str, pa.Array] = {}
        rows = len(keys)
        if self._layout.group_keys:
            self._group_keys = [pa.concat_batches(self._group_keys)]
            of_rows = self._group_keys[0].take(as_arrow(keys - self._first_group))
            columns |= zip(of_rows.schema.names, of_rows.columns, strict=True)
        columns["bank"] = as_arrow(np.full(rows, bank, np.int32))
        columns["window"] = as_arrow(windows)
        nothing = np.zeros(rows, np.int64)
        empty = {
            Arithmetic.EXACT: FieldValues(nothing, nothing),
            Arithmetic.NUMBER: FieldValues(nothing, numbers=np.zeros(rows)),
            Arithmetic.EXTREME: FieldValues(nothing + NO_KEY[0], nothing + NO_KEY[1]),
        }
        fields = self._plan.fields
        held = [values.get(number, empty[field.arithmetic]) for number, field in enumerate(fields)]
        columns |= field_columns(fields, held, self._types, rows)
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def _rows(batch: Batch, rows: Ints | slice) -> Batch:
    """Some rows of a batch, of which keys are not cut into chunks."""
    return Batch(*(_part(field, part, rows) for field, part in batch._asdict().items()))


def _part(field: str, part: NDArray[Any], rows: Ints | slice) -> NDArray[Any]:
    if field == "chunk":
        return part
    return part[:, rows] if field in _BY_COLUMN else part[rows]


def _together(batches: list[Batch]) -> Batch:
    """Batches one after another."""
    parts_by_field = zip(Batch._fields, zip(*batches, strict=True), strict=True)
    return Batch(*(np.concatenate(parts, axis=1 if field in _BY_COLUMN else 0) for field, parts in parts_by_field))


_BY_COLUMN = ("valid", "numbers", "key_high", "key_low")
"""Parts of a batch whose first axis is that of columns."""
