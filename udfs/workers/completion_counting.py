"""Aggregates over the trends that end in one event, cell by cell.

What comes to a cell is held apart by when its trends have begun, so that it can be said of each completion, and of each
window that it is in, which of them count. This is Python, with counts and sums of any size, and takes some microseconds
for each event, cell and beginning; a query without aggregates does without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sparkext.planner.automata.guards import Condition
from sparkext.planner.kernel_plan.kernel_plan import (
    CLASSES_PER_WORD,
    COUNT_LIMIT,
    NO_EVENT,
    SCALE_BITS,
    STUCK_HIGH,
    Arithmetic,
    Cell,
    CompletionQuery,
    Completions,
    KernelPlan,
)
from sparkext.udfs.arrow.result_batch import FieldValues
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import NEVER_YET, NO_KEY, Flags, Ints

Total: TypeAlias = Any
"""EXACT: an int. NUMBER: an int, a Fraction, or a double that is not finite. EXTREME: an order key as one int."""

ByStart: TypeAlias = "dict[int, Total]"
"""Totals by the time at which their trends have begun."""

_NO_KEY = (NO_KEY[0] << 64) + (NO_KEY[1] & (1 << 64) - 1)


@dataclass(slots=True)
class _Held:
    """What a cell holds of events before the moment under way.

    Attributes:
        buckets: By the moment of their first event; one bucket, if no condition tells moments apart.
        pending: Of the moment under way.
        leaving: Numbers of buckets that leave when it is over; all, if there is -1.
    """

    buckets: list[tuple[int, ByStart]] = field(default_factory=list)
    pending: ByStart = field(default_factory=dict)
    leaving: set[int] = field(default_factory=set)


class Counter:
    """Adds up what is asked of the trends that end in each event of a class that trends end with.

    Args:
        asked: With a plan that counts.
    """

    def __init__(self, asked: Completions) -> None:
        assert asked.counting is not None
        self._plan: KernelPlan = asked.counting
        self._cells = self._plan.cells
        of_query = {query.bank: query for query in asked.queries if query.values}
        self._wanted = {cell for query in of_query.values() for _, cells in query.values for cell in cells}
        self._by_class: dict[int, list[int]] = {}
        for number, cell in enumerate(self._cells):
            if cell.event != NO_EVENT:
                self._by_class.setdefault(cell.event, []).append(number)
        self._is_read = {source for cell in self._cells for source in cell.sources}
        self._is_read |= {link.cell for cell in self._cells for link in cell.links}
        guarded = {link.cell for cell in self._cells for link in cell.links if link.condition.guards}
        cut = {n for n, cell in enumerate(self._cells) if any(one.condition.guards for one in cell.cuts)}
        self._in_buckets = guarded | cut
        self._cuts: dict[int, list[tuple[int, Condition]]] = {}
        for number, cell in enumerate(self._cells):
            for one in cell.cuts if number in self._is_read else ():
                self._cuts.setdefault(one.event, []).append((number, one.condition))
        reach = [query.reach for query in of_query.values()]
        self._horizon = None if None in reach else max((one for one in reach if one is not None), default=0)
        self._is_timed = any(query.window is not None or query.span is not None for query in of_query.values())
        self._classes = sorted({*self._by_class, *self._cuts, *(state.event for state in self._plan.guard_states)})
        self.values: dict[int, dict[int, ByStart]] = {}
        self._forget()

    def _forget(self) -> None:
        self._held = [_Held() for _ in self._cells]
        self._latest = [NEVER_YET for _ in self._plan.guard_states]
        self._coming = list(self._latest)
        self._broken = [NEVER_YET for _ in range(self._plan.guards)]
        self._moment = 0
        self._touched: set[int] = set()

    def add(self, batch: Batch, moments: Flags, base: int) -> None:
        """Count with the events of a batch, which are numbered from ``base`` on.

        What is wanted of them is in ``values`` then: per event and cell, totals by when their trends have begun.
        """
        self.values = {}
        words = batch.classes
        for row in range(len(batch.time)):
            if batch.new_key[row]:
                self._forget()
            elif moments[row]:
                self._settle()
            self._moment += int(moments[row])
            here = [
                event
                for event in self._classes
                if words[row, event // CLASSES_PER_WORD] >> event % CLASSES_PER_WORD & 1
            ]
            if here:
                self._event(batch, row, base, here)

    def _event(self, batch: Batch, row: int, base: int, here: Sequence[int]) -> None:
        time = int(batch.time[row])
        begun = time if self._is_timed else 0
        oldest = None if self._horizon is None else time - self._horizon
        now: dict[int, ByStart] = {}
        for number in sorted(number for event in here for number in self._by_class.get(event, ())):
            cell = self._cells[number]
            found: ByStart = {}
            if cell.start and (cell.start_event is None or _is_of(batch, row, cell.start_event)):
                if self._holds(cell.start_condition, NEVER_YET):
                    found[begun] = 1
            for source in cell.sources:
                for _, totals in self._held[source].buckets:
                    _merge(cell.arithmetic, found, totals, oldest)
            for link in cell.links:
                for moment, totals in self._held[link.cell].buckets:
                    if self._holds(link.condition, moment):
                        _merge(cell.arithmetic, found, totals, oldest)
            self._contribute(cell, batch, row, now, found)
            now[number] = found
            if number in self._is_read:
                _merge(cell.arithmetic, self._held[number].pending, found, None)
                self._touched.add(number)
        mine = {number: found for number, found in now.items() if number in self._wanted}
        if mine:
            self.values[base + row] = mine
        self._forbid(here)
        for event in here:
            for number, condition in self._cuts.get(event, ()):
                held = self._held[number]
                self._touched.add(number)
                for index, (moment, _) in enumerate(held.buckets):
                    if self._holds(condition, moment):
                        held.leaving.add(index)

    def _contribute(self, cell: Cell, batch: Batch, row: int, now: Mapping[int, ByStart], found: ByStart) -> None:
        """Add what an event contributes by itself."""
        if cell.count is None or (cell.column is not None and not batch.valid[cell.column, row]):
            return
        for start, count in now.get(cell.count, {}).items():
            if cell.arithmetic is Arithmetic.EXTREME:
                if count:
                    assert cell.column is not None
                    key = (int(batch.key_high[cell.column, row]) << 64) + (
                        int(batch.key_low[cell.column, row]) & (1 << 64) - 1
                    )
                    found[start] = min(found.get(start, _NO_KEY), key)
            else:
                value: Total = 1
                if cell.weighted:
                    assert cell.column is not None
                    value = float(batch.numbers[cell.column, row])
                    value = Fraction(value) if math.isfinite(value) else value
                found[start] = _sum(found.get(start, 0), _times(value, count))

    def _holds(self, condition: Condition, since: int) -> bool:
        if not condition.guards:
            return bool(condition.intact)
        return condition.holds(frozenset(guard for guard in condition.guards if self._broken[guard] <= since))

    def _forbid(self, here: Sequence[int]) -> None:
        for number, state in enumerate(self._plan.guard_states):
            if state.event in here:
                latest = self._moment if state.start else NEVER_YET
                latest = max([latest, *(self._latest[source] for source in state.sources)])
                self._coming[number] = max(self._coming[number], latest)

    def _settle(self) -> None:
        """End the moment under way."""
        for number, state in enumerate(self._plan.guard_states):
            self._latest[number] = max(self._latest[number], self._coming[number])
            if state.end:
                self._broken[state.guard] = max(self._broken[state.guard], self._coming[number])
            self._coming[number] = NEVER_YET
        for number in self._touched:
            held, arithmetic = self._held[number], self._cells[number].arithmetic
            if held.leaving:
                held.buckets = [one for index, one in enumerate(held.buckets) if index not in held.leaving]
                held.leaving = set()
            if not held.pending:
                continue
            is_new = not held.buckets or (number in self._in_buckets and self._is_split(held.buckets[-1][0]))
            if is_new:
                held.buckets.append((self._moment, held.pending))
            else:
                _merge(arithmetic, held.buckets[-1][1], held.pending, None)
            held.pending = {}
        self._touched.clear()

    def _is_split(self, earlier: int) -> bool:
        """Whether something forbidden tells events at an earlier moment from those of the one under way."""
        return any(earlier < latest <= self._moment for latest in self._latest)

    def fields(self, query: CompletionQuery, rows: Ints, times: Ints, windows: Ints) -> dict[int, FieldValues]:
        """Values of the fields of the rows of a query.

        Args:
            query: The query.
            rows: Numbers of the events. Shape (rows,).
            times: Of the events.
            windows: That the rows are about.
        """
        arithmetics = {field_: self._cells[cells[0]].arithmetic for field_, cells in query.values if cells}
        found: dict[int, list[Total]] = {number: [] for number in arithmetics}
        for row, time, window in zip(rows.tolist(), times.tolist(), windows.tolist(), strict=True):
            least = NEVER_YET
            if query.span is not None:
                least = time - query.span + 1
            elif query.window is not None:
                least = window * query.window.slide
            of_cells = self.values.get(row, {})
            for number, cells in query.values:
                if cells:
                    totals = (of_cells.get(cell, {}).items() for cell in cells)
                    some = [total for each in totals for start, total in each if start >= least or not self._is_timed]
                    found[number].append(_together(arithmetics[number], some))
        return {number: _as_field(arithmetics[number], totals) for number, totals in found.items()}


def _is_of(batch: Batch, row: int, event: int) -> bool:
    return bool(batch.classes[row, event // CLASSES_PER_WORD] >> event % CLASSES_PER_WORD & 1)


def _merge(arithmetic: Arithmetic, to: ByStart, more: Mapping[int, Total], oldest: int | None) -> None:
    """Add totals to others, but for those of trends that have begun at ``oldest`` or before."""
    for start, total in more.items():
        if oldest is not None and start <= oldest:
            continue
        if arithmetic is Arithmetic.EXTREME:
            to[start] = min(to.get(start, _NO_KEY), total)
        else:
            to[start] = _sum(to[start], total) if start in to else total


def _together(arithmetic: Arithmetic, totals: Iterable[Total]) -> Total:
    if arithmetic is Arithmetic.EXTREME:
        return min(totals, default=_NO_KEY)
    found: Total = 0
    for total in totals:
        found = _sum(found, total)
    return found


def _sum(one: Total, other: Total) -> Total:
    """The sum of two totals, of which one that is not finite outweighs all that are."""
    if isinstance(one, float) or isinstance(other, float):
        specials = [value for value in (one, other) if isinstance(value, float)]
        return math.fsum(specials) if len(set(map(repr, specials))) == 1 else math.nan
    return one + other


def _times(value: Total, count: Total) -> Total:
    """A value so many times; none of a value that is not finite is nothing. A total that is copied counts once."""
    if isinstance(count, float):
        return count
    if isinstance(value, float):
        return value if count else 0
    return value * count


def _as_field(arithmetic: Arithmetic, totals: Sequence[Total]) -> FieldValues:
    """Totals as the kernel writes them."""
    if arithmetic is Arithmetic.NUMBER:
        pairs = list(map(_scaled, totals))
        return FieldValues(_ints(scale for _, scale in pairs), numbers=np.array([n for n, _ in pairs], np.float64))
    words = [
        (STUCK_HIGH, 0) if t >= COUNT_LIMIT and arithmetic is Arithmetic.EXACT else divmod(t, 1 << 64) for t in totals
    ]
    return FieldValues(_ints(high for high, _ in words), _ints(_signed(low) for _, low in words))


def _ints(values: Iterator[int] | Iterable[int]) -> Ints:
    return np.array(list(values), np.int64)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >= 1 << 63 else word


def _scaled(total: Total) -> tuple[float, int]:
    """A number as a double and a scale, see `sparkext.planner.kernel_plan.kernel_plan.SCALE_BITS`."""
    if isinstance(total, float):
        return total, 1 << 40
    exact = Fraction(total)
    scale = 0
    while abs(exact) >= 1 << SCALE_BITS // 2:
        exact /= 1 << SCALE_BITS
        scale += 1
    while exact and abs(exact) * (1 << SCALE_BITS // 2) < 1:
        exact *= 1 << SCALE_BITS
        scale -= 1
    return float(exact), scale
