"""Passes that compute windows by panes from what earlier ones have left of keys, beside the events since then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.state.carried_tables import CarriedWindows, Left
from sparkext.udfs.state.fresh import totals_of
from sparkext.udfs.streams.windows_of_events import OUTPUT_BYTES, in_order, together
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Ints
from sparkext.udfs.workers.pool_run import PoolRun

MOST_LEFT = 64 << 20
"""Most bytes of what is left of fronts by one pass: of more keys, fewer windows are computed ahead."""

_FROM = "from"
"""Name of the column that says which key of what has been left a row stands for."""


@dataclass(frozen=True, slots=True)
class Front:
    """What keys hold in windows of one kind at a time: totals of those that have begun.

    Attributes:
        kind: Number of the kind.
        first, last: Of the windows.
        keys: A hash of the keys, and these.
        ends: Per key, the end of its entries.
        newest: Per entry, the newest window that holds it; it is for those after the entry before it.
        high, low: Per entry, its totals. Shape (entries, values).
    """

    kind: int
    first: int
    last: int
    keys: pa.RecordBatch
    ends: Ints
    newest: Ints
    high: Ints
    low: Ints

    def cut(self, first: int, last: int) -> Front:
        """What is about some of the windows."""
        begins = np.append(0, self.ends)[:-1]
        after = np.append(self.first - 1, self.newest)[: len(self.newest)]  # each is for windows after that
        after[begins[begins < self.ends]] = self.first - 1
        wanted = np.flatnonzero((self.newest >= first) & (after < last))
        of = np.searchsorted(self.ends, wanted, side="right")
        counts = np.bincount(of, minlength=len(self.ends))
        there = np.flatnonzero(counts)
        keys = self.keys.take(as_arrow(there))
        newest = np.minimum(self.newest[wanted], last)
        ends = np.cumsum(counts[there])
        return Front(self.kind, first, last, keys, ends, newest, self.high[wanted], self.low[wanted])


@dataclass(frozen=True, slots=True)
class Since:
    """What keys have done since the fronts of some kinds of windows.

    Attributes:
        kinds: Numbers of the kinds; the lanes of others mean nothing.
        keys: A hash of the keys, and these.
        flags: See `sparkext.udfs.state.carried_tables.Left`.
        high, low: Shape (keys, lanes).
    """

    kinds: tuple[int, ...]
    keys: pa.RecordBatch
    flags: Ints
    high: Ints
    low: Ints


class CarriedPass(PoolRun):
    """A pass that goes on from what has been left of keys, or leaves it.

    Args:
        plan: Of all passes that leave something to each other; without fallback.
        layout: Of the events.
        wanted: What becomes of each kind of windows; others do not open.
        fronts: What it goes on from.
        since: What has been done since these fronts.
    """

    def __init__(
        self,
        plan: KernelPlan,
        layout: Layout,
        wanted: Mapping[int, CarriedWindows],
        fronts: Sequence[Front] = (),
        since: Sequence[Since] = (),
    ) -> None:
        super().__init__(plan, layout, OUTPUT_BYTES)
        self._wanted = dict(wanted)
        self._fronts, self._since = fronts, since
        self._begins: Ints = np.zeros(0, np.int64)  # of keys, in the order of the pass
        self._is_known: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def rows(self, events: Sequence[pa.RecordBatch], schema: pa.Schema, time: int) -> Iterator[pa.RecordBatch]:
        """The rows of windows that end; then `front` or `since` say what is left.

        Args:
            events: Those since the fronts, or since what has been done that is known: a hash of their keys and
                what the layout says.
            schema: Of them.
            time: Before all of them, and after the begin of all windows of the fronts.
        """
        keys = [front.keys for front in self._fronts] + [one.keys for one in self._since]
        parts = [*(_as_events(some, schema, time) for some in keys if some.num_rows), *events]
        self._ordered = together(parts) if parts else pa.RecordBatch.from_pylist([], schema)
        if not parts:
            return
        numbers = np.full(self._ordered.num_rows, -1, np.int64)
        carried = sum(some.num_rows for some in keys)
        numbers[:carried] = np.arange(carried)
        ordered = in_order(self._ordered.append_column(_FROM, as_arrow(numbers)), self._layout.keys)
        self._numbers = as_numbers(ordered.column(ordered.num_columns - 1), np.int64)
        self._ordered = ordered.select(range(ordered.num_columns - 1))
        yield from self.results(iter([self._ordered.select(range(1, self._ordered.num_columns))]))

    def _process(self, arrow: pa.RecordBatch, batch: Batch) -> Iterator[pa.RecordBatch]:
        self._begins = np.flatnonzero(batch.new_key)
        of_rows = np.cumsum(batch.new_key, dtype=np.int64) - 1
        is_carried = self._numbers >= 0
        of_carried = np.zeros(np.count_nonzero(is_carried), np.int64)
        of_carried[self._numbers[is_carried]] = of_rows[is_carried]
        self._is_known = np.zeros(len(self._begins), np.bool_)
        self._is_known[of_rows[~is_carried]] = True
        self._is_known[of_carried[sum(front.keys.num_rows for front in self._fronts) :]] = True
        entries = self._most_entries(np.diff(self._begins, append=len(of_rows)))
        self._now.carry(self._wanted, self._came(of_carried), self._of(of_carried), entries)
        yield from super()._process(arrow, batch)

    def _most_entries(self, events: Ints) -> int:
        """How many entries fronts may have that are left of keys with so many events."""
        most = 0
        for kind, one in self._wanted.items():
            if one.begins:
                room = MOST_LEFT // (16 * self._now.carried_values * len(events))
                newest = min(one.newest, max(one.last, one.first + room - 1))
                self._wanted[kind] = replace(one, newest=newest)
                most += int(np.minimum(events, newest - one.first + 1).sum())
        return most

    def _came(self, of_carried: Ints) -> Left:
        """What has been left, by the numbers of its keys in this pass."""
        keys, paned = len(self._begins), self._now.paned
        entries = np.zeros((self._now.carried.windows.shape[0], keys, 2), np.int64)
        newest, high, low = [], [], []
        at = held = 0
        for kind in dict.fromkeys(front.kind for front in self._fronts):
            fronts = [front for front in self._fronts if front.kind == kind]
            own = [np.diff(front.ends, prepend=0) for front in fronts]
            rows = sum(map(len, own))
            of_entries = np.repeat(of_carried[at : at + rows], np.concatenate(own))
            of_kind = np.concatenate([front.newest for front in fronts])
            order = np.lexsort((of_kind, of_entries))
            newest.append(of_kind[order])
            high += [np.concatenate([front.high for front in fronts])[order].ravel()]
            low += [np.concatenate([front.low for front in fronts])[order].ravel()]
            bounds = held + np.searchsorted(of_entries[order], np.arange(keys + 1))
            entries[paned[kind], :, 0], entries[paned[kind], :, 1] = bounds[:-1], bounds[1:]
            at, held = at + rows, held + len(order)
        return Left(
            lanes=totals_of(
                _joined([one.high.ravel() for one in self._since]), _joined([one.low.ravel() for one in self._since])
            ),
            flags=_joined([one.flags.ravel() for one in self._since]).reshape(-1, 2),
            entries=entries,
            newest=_joined(newest),
            values=totals_of(_joined(high), _joined(low)),
        )

    def _of(self, of_carried: Ints) -> Ints:
        """Per window by panes and key of this pass, of which of those it is that have done something."""
        of = np.full((self._now.carried.windows.shape[0], len(self._begins)), -1, np.int64)
        at, came = sum(front.keys.num_rows for front in self._fronts), 0
        for one in self._since:
            rows = one.keys.num_rows
            for kind in one.kinds:
                of[self._now.paned[kind], of_carried[at : at + rows]] = np.arange(came, came + rows)
            at, came = at + rows, came + rows
        return of

    def front(self, kind: int) -> Front:
        """What has been left of the windows of a kind, where it began."""
        one, left, place = self._wanted[kind], self._now.carried.left, self._now.paned[kind]
        begins, ends = left.entries[place, :, 0], left.entries[place, :, 1]
        there = np.flatnonzero(ends > begins)
        entries = np.concatenate([np.arange(begins[key], ends[key]) for key in there] or [there])
        shape = -1, self._now.carried_values
        high, low = (words.reshape(shape)[entries] for words in (left.values.high, left.values.low))
        keys, lengths = self._keys(there), (ends - begins)[there]
        return Front(kind, one.first, one.newest, keys, np.cumsum(lengths), left.newest[entries], high, low)

    def since(self) -> Since:
        """What keys have done since the fronts of all kinds of windows that have gone on."""
        left, there = self._now.carried.left, np.flatnonzero(self._is_known)
        shape = len(self._begins), self._now.carried_lanes
        high, low = (words.reshape(shape)[there] for words in (left.lanes.high, left.lanes.low))
        return Since(tuple(self._wanted), self._keys(there), left.flags[there], high, low)

    def _keys(self, numbers: Ints) -> pa.RecordBatch:
        """Keys, and their hash, by their numbers in the order of the pass."""
        return self._ordered.select(range(self._layout.keys + 1)).take(as_arrow(self._begins[numbers]))


def _as_events(keys: pa.RecordBatch, schema: pa.Schema, time: int) -> pa.RecordBatch:
    """An event of no class for each of some keys."""
    rows = keys.num_rows
    times = as_arrow(np.full(rows, time, np.int64)).cast(schema.types[keys.num_columns])
    columns = [*keys.columns, times]
    for kind in schema.types[len(columns) :]:
        columns.append(pa.nulls(rows, kind))
    return pa.RecordBatch.from_arrays(columns, schema.names)


def _joined(parts: Sequence[Ints]) -> Ints:
    """Parts put together, in memory that may be written to, as kernels are compiled for."""
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
