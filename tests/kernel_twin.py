"""A twin of the kernel that interprets a kernel plan cell by cell, slowly and obviously.

Each window of each key is computed by itself, with Python ints and Fractions. Nothing is shared with
`udfs`: no lanes, no pending totals, no order keys, no scales.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from planner.kernel_plan import Arithmetic, Encoding, KernelPlan, Slot
from planner.query import Window
from tests.enumerator import Key, sort_key

Total: TypeAlias = Any
"""EXACT: an int. NUMBER: a Fraction, or a double that is not finite. EXTREME: a value or None."""


@dataclass(frozen=True, slots=True)
class KernelRow:
    """An event as the kernel sees it.

    Attributes:
        group: Keys that results are grouped by.
        other: Further keys.
        time: Time of the event.
        classes: Numbers of the classes that it is of.
        values: Per column of the plan, its attribute; None for NULL.
    """

    group: Key
    other: Key
    time: int
    classes: frozenset[int]
    values: tuple[Any, ...]


TwinResults: TypeAlias = dict[tuple[Key, int, int], dict[int, Total]]
"""Per group key, bank and index of the window: the totals of the bank's fields."""


def twin_results(plan: KernelPlan, rows: Iterable[KernelRow]) -> TwinResults:
    """What the kernel should find, added up per group; only where there is a trend."""
    inside: dict[tuple[Key, Key, int, int], list[KernelRow]] = {}
    for row in rows:
        for number, window in enumerate(plan.windows):
            for index in indices(row.time, window):
                inside.setdefault((row.group, row.other, number, index), []).append(row)
    twin = _Twin(plan)
    found: TwinResults = {}
    for (group, _, number, index), mine in inside.items():
        totals = twin.totals(number, mine)
        for bank_number, bank in enumerate(plan.banks):
            if bank.window != number:
                continue
            fields = {slot.field: twin.slot(slot, totals) for slot in bank.slots}
            if not any(fields[f] for f in fields if plan.fields[f].arithmetic is not Arithmetic.EXTREME):
                continue
            held = found.setdefault((group, bank_number, index), {})
            for field, total in fields.items():
                both = [held[field], total] if field in held else [total]
                held[field] = _sum(plan.fields[field].arithmetic, plan.fields[field].encoding, both)
    return found


def indices(time: int, window: Window | None) -> list[int]:
    """Indices k of the windows [k·slide, k·slide + within) that a time is in."""
    if window is None:
        return [0]
    return [
        index
        for index in range((time - window.within) // window.slide, time // window.slide + 1)
        if index * window.slide <= time < index * window.slide + window.within
    ]


class _Twin:
    def __init__(self, plan: KernelPlan) -> None:
        self._plan = plan
        self._encodings = [self._encoding(number) for number in range(len(plan.cells))]

    def totals(self, window: int, rows: list[KernelRow]) -> list[Total]:
        """Totals of all cells of one window after ``rows``, which are all in it."""
        cells = self._plan.cells
        totals: list[Total] = [_nothing(cell.arithmetic) for cell in cells]
        for time in sorted({row.time for row in rows}):
            added: dict[int, list[Total]] = {}
            for row in rows:
                if row.time == time:
                    now: dict[int, Total] = {}
                    for number, cell in enumerate(cells):
                        if cell.window == window and cell.event in row.classes:
                            now[number] = self._event(number, row, totals, now)
                            added.setdefault(number, []).append(now[number])
            # Events of one time are not before each other: totals change when all are done.
            for number, more in added.items():
                totals[number] = self._add(number, [totals[number], *more])
        return totals

    def slot(self, slot: Slot, totals: list[Total]) -> Total:
        """The value of a slot."""
        field = self._plan.fields[slot.field]
        return _sum(field.arithmetic, field.encoding, [totals[cell] for cell in slot.cells])

    def _event(self, number: int, row: KernelRow, totals: list[Total], now: dict[int, Total]) -> Total:
        """What one event adds to a cell: what it starts, the sources' totals, and its own contribution."""
        cell = self._plan.cells[number]
        parts = [totals[source] for source in cell.sources]
        if cell.arithmetic is not Arithmetic.EXTREME:
            parts.append(int(cell.start))
        value = None if cell.column is None else row.values[cell.column]
        if cell.count is not None and (cell.column is None or value is not None):
            trends = now[cell.count]
            if cell.arithmetic is Arithmetic.EXTREME:
                parts.append(value if trends else None)
            elif cell.weighted:
                parts.append(_times(value, trends))
            else:
                parts.append(trends)
        return self._add(number, parts)

    def _add(self, number: int, totals: list[Total]) -> Total:
        return _sum(self._plan.cells[number].arithmetic, self._encodings[number], totals)

    def _encoding(self, number: int) -> Encoding | None:
        """Whether the least or the greatest is wanted of a cell: one that its values come from knows."""
        todo, seen = [number], {number}
        while todo:
            cell = self._plan.cells[todo.pop()]
            if cell.column is not None:
                return self._plan.columns[cell.column].encoding
            todo += (source for source in cell.sources if source not in seen)
            seen.update(cell.sources)
        return None


def _times(value: Any, trends: Total) -> Total:
    if isinstance(value, float) and not math.isfinite(value):
        return value if trends else 0
    return Fraction(value) * trends


def _nothing(arithmetic: Arithmetic) -> Total:
    return None if arithmetic is Arithmetic.EXTREME else 0


def _sum(arithmetic: Arithmetic, encoding: Encoding | None, totals: Sequence[Total]) -> Total:
    """Totals added up: the sum, or the least or greatest."""
    if arithmetic is Arithmetic.EXTREME:
        some = [total for total in totals if total is not None]
        return (max if encoding is Encoding.GREATEST else min)(some, key=sort_key, default=None)
    special = [total for total in totals if isinstance(total, float)]
    return sum(special) if special else sum(totals)
