"""A twin of the kernel that interprets a kernel plan cell by cell, slowly and obviously.

Each window of each key is computed by itself, with Python ints and Fractions, and what each event added to
each cell is kept, so that guards and comparisons are asked of every pair of events. Forms are evaluated at
every time, so that they are units whenever the next events come; of panes, only the constant 1 is looked at.
Nothing is shared with `udfs`: no lanes, no pending totals, no order keys, no scales, no buckets, no trees, no
form that outlasts a time, no pane. What a span gains at a time is what its events add in the window that ends there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from sparkext.planner.kernel_plan.kernel_plan import (
    Arithmetic,
    Cell,
    Column,
    Comparison,
    Encoding,
    Evaluation,
    KernelPlan,
    Link,
    Product,
    Slot,
    Term,
)
from sparkext.planner.patterns.query import Window
from tests.support.enumerator import Key, sort_key
from tests.support.instruction_twin import evaluate, is_true

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
    of_key: dict[tuple[Key, Key], list[KernelRow]] = {}
    for row in rows:
        of_key.setdefault((row.group, row.other), []).append(row)
        for number, window in enumerate(plan.windows):
            for index in indices(row.time, window):
                inside.setdefault((row.group, row.other, number, index), []).append(row)
    twin = _Twin(plan)
    results: TwinResults = {}
    windows: dict[tuple[int, ...], _Window] = {}
    gained = {key: twin.gained(rows_of_key) for key, rows_of_key in of_key.items()}
    for (group, other_key, number, index), totals in inside.items():
        # Windows that hold the same events have the same totals.
        same = (number, *map(id, totals))
        if same not in windows:
            windows[same] = twin.window(number, totals)
            twin.add_gains(number, {row.time for row in totals}, gained[group, other_key], windows[same])
        for bank_number, bank in enumerate(plan.banks):
            if bank.window != number:
                continue
            fields = {slot.field: twin.slot(slot, windows[same]) for slot in bank.slots}
            if not any(fields[f] for f in fields if plan.fields[f].arithmetic is not Arithmetic.EXTREME):
                continue
            held = results.setdefault((group, bank_number, index), {})
            for field, total in fields.items():
                both = [held[field], total] if field in held else [total]
                held[field] = _sum(plan.fields[field].arithmetic, plan.fields[field].encoding, both)
    return results


def indices(time: int, window: Window | None) -> list[int]:
    """Indices k of the windows [k·slide, k·slide + within) that a time is in."""
    if window is None:
        return [0]
    return [
        index
        for index in range((time - window.within) // window.slide, time // window.slide + 1)
        if index * window.slide <= time < index * window.slide + window.within
    ]


@dataclass(frozen=True, slots=True)
class _Window:
    """What has happened in one window so far.

    Attributes:
        totals: Per cell, of all events.
        added: Per cell, the events and what each added; of a cell with anchors, these and what was added for each.
        spans: Per state of a guard, the first and last times of what has got there.
        broken: Per guard, the first and last times of forbidden trends.
        forms: By form and column, what events of the latest time have added.
    """

    totals: list[Total]
    added: list[list[tuple[KernelRow, Total]]]
    spans: list[set[tuple[int, int]]]
    broken: list[set[tuple[int, int]]]
    forms: dict[tuple[int, int], Total]

    def intact(self, after: int | None, before: int | None) -> frozenset[int]:
        """Guards of which no forbidden trend lies strictly between two times; None is beyond all."""
        return frozenset(
            guard
            for guard, spans in enumerate(self.broken)
            if not any((after is None or after < first) and (before is None or last < before) for first, last in spans)
        )


def compares(comparison: Comparison, columns: Sequence[Column], here: Sequence[Any], prev: Sequence[Any]) -> bool:
    """Whether a comparison is true of the attributes of an event and of the one before it.

    Raises:
        AssertionError: Two of its terms are.
    """
    if comparison.is_scan:
        return is_true(evaluate(comparison.program, columns, here, prev))
    holding = sum(_holds(term, columns, here, prev) for term in comparison.terms)
    assert holding <= 1, "terms are disjoint"
    return holding == 1


def _holds(term: Term, columns: Sequence[Column], here: Sequence[Any], prev: Sequence[Any]) -> bool:
    for here_column, prev_column in term.equal:
        left, right = here[here_column], prev[prev_column]
        if left is None or right is None or sort_key(left) != sort_key(right):
            return False
    programs = [term.asks, term.stands, *(interval.program for interval in term.intervals)]
    if not all(is_true(evaluate(program, columns, here, prev)) for program in programs if program):
        return False
    if term.order is None:
        return True
    order = term.order
    left, right = here[order.here], prev[order.prev]
    if right is None:
        return order.or_null
    if left is None:
        return False
    if sort_key(left) == sort_key(right):
        return order.or_equal
    return (sort_key(right) < sort_key(left)) == order.before_is_less


class _Twin:
    def __init__(self, plan: KernelPlan) -> None:
        self._plan = plan
        self._encodings = [self._encoding(number) for number in range(len(plan.cells))]
        self._units = {unit for region in plan.regions for unit in region.space.units}
        panes = [*plan.panes, *(span.space for span in plan.spans)]
        self._ones = {cell for space in panes for cell, row in space.units if row == 0}
        self._in_regions = plan.numbering.of_regions
        self._viewed = {e.view: e.cell for region in plan.regions for e in region.space.forms if e.view is not None}

    def window(self, window: int, rows: list[KernelRow]) -> _Window:
        """One window after ``rows``, which are all in it."""
        cells = self._plan.cells
        past = _Window(
            totals=[1 if n in self._ones else _nothing(cell.arithmetic) for n, cell in enumerate(cells)],
            added=[[] for _ in cells],
            spans=[set() for _ in self._plan.guard_states],
            broken=[set() for _ in range(self._plan.guards)],
            forms={},
        )
        for time in sorted({row.time for row in rows}):
            fresh: list[tuple[int, KernelRow, Total]] = []
            now_rows = [row for row in rows if row.time == time]
            for row in now_rows:
                now: dict[int, Total] = {}
                forms: dict[tuple[int, int], Total] = {}
                for number, cell in enumerate(cells):
                    if cell.window in self._in_regions and cell.event in row.classes:
                        self._add_form(number, row, forms)
                    elif cell.window == window and cell.event in row.classes and cell.anchor is not None:
                        now[number] = self._per_anchor(number, row, past, now)
                        fresh += ((number, anchor, total) for anchor, total in now[number].values())
                    elif cell.window == window and cell.event in row.classes:
                        now[number] = self._event(number, row, past, now)
                        fresh.append((number, row, now[number]))
                for position, total in forms.items():
                    kept = past.forms.get(position, _nothing(cells[position[0]].arithmetic))
                    past.forms[position] = self._add(position[0], [kept, total])
            # Events of one time are not before each other: what has happened changes when all are done.
            for region in self._plan.regions:
                of_window = [e for e in region.space.forms if cells[e.cell].window == window]
                fresh += ((e.cell, now_rows[0], self._evaluated(e, past)) for e in of_window)
            past.forms.clear()
            if self._plan.is_cut:
                self._let_leave(now_rows, past)
            for number, row, total in fresh:
                past.added[number].append((row, total))
                past.totals[number] = self._add(number, [past.totals[number], total])
            self._advance_guards(time, now_rows, past)
        return past

    def gained(self, rows: list[KernelRow]) -> dict[tuple[int, int], Total]:
        """Per time and cell of what is reported of a span, what is gained then; ``rows`` are all of a key."""
        gains: dict[tuple[int, int], Total] = {}
        for span in self._plan.spans:
            for time in {row.time for row in rows}:
                inside = [row for row in rows if time - span.length < row.time <= time]
                past = self.window(span.space.number, inside)
                for gain in span.gains:
                    parts = [total for cell in gain.sources for row, total in past.added[cell] if row.time == time]
                    gains[time, gain.cell] = self._add(gain.sources[0], parts)
        return gains

    def add_gains(self, window: int, times: set[int], gained: dict[tuple[int, int], Total], past: _Window) -> None:
        """Let the cells of a window that are reported of spans hold what is gained at its times."""
        for span in self._plan.spans:
            for gain in span.gains:
                if self._plan.cells[gain.cell].window == window:
                    parts = [gained[time, gain.cell] for time in times]
                    past.totals[gain.cell] = self._add(gain.sources[0], parts)

    def _let_leave(self, rows: list[KernelRow], past: _Window) -> None:
        """Take out of cells what events of the latest time do not leave there."""
        leaving: dict[int, set[int]] = {}
        for number, cell in enumerate(self._plan.cells):
            cuts = [(cut, row) for cut in cell.cuts for row in rows if cut.event in row.classes]
            leaving[number] = {
                id(before)
                for before, _ in past.added[number]
                if any(cut.condition.holds(past.intact(before.time, row.time)) for cut, row in cuts)
            }
        taken: dict[int, set[int]] = {}
        for cell in self._plan.cells:
            for link in cell.links:
                group = self._plan.cells[link.cell].taken
                if group is not None:
                    taken.setdefault(group, set()).update(
                        id(before)
                        for row in rows
                        if cell.event in row.classes
                        for before, _ in past.added[link.cell]
                        if self._leads(link, before, row, past)
                    )
        for number, cell in enumerate(self._plan.cells):
            gone = leaving[number] | (set() if cell.taken is None else taken.get(cell.taken, set()))
            if gone:
                past.added[number][:] = [(row, total) for row, total in past.added[number] if id(row) not in gone]
                past.totals[number] = self._add(number, [total for _, total in past.added[number]])

    def slot(self, slot: Slot, past: _Window) -> Total:
        """The value of a slot."""
        field = self._plan.fields[slot.field]
        totals = [past.totals[cell] for cell in slot.cells]
        for link in slot.links:
            totals += [
                total for row, total in past.added[link.cell] if link.condition.holds(past.intact(row.time, None))
            ]
        return _sum(field.arithmetic, field.encoding, totals)

    def _event(self, number: int, row: KernelRow, past: _Window, now: dict[int, Total]) -> Total:
        """What one event adds to a cell: what it starts, what came before, and its own contribution."""
        cell = self._plan.cells[number]
        parts = [past.totals[self._viewed.get(source, source)] for source in cell.sources]
        for link in cell.links:
            parts += [total for before, total in past.added[link.cell] if self._leads(link, before, row, past)]
        if cell.arithmetic is not Arithmetic.EXTREME:
            parts.append(int(self._starts(cell, row, past)))
        if cell.count is not None:
            parts.append(self._contributed(cell, row, now[cell.count]))
        return self._with_addend(cell, row, self._add(number, parts))

    def _with_addend(self, cell: Cell, row: KernelRow, total: Total) -> Total:
        """An extreme with what an event adds to it."""
        if cell.addend is None or total is None:
            return total
        return total + self._part(cell.addend, row)

    def _part(self, column: int, row: KernelRow) -> Total:
        """What an event has of a column: of a part of a difference, its value or the negative of that."""
        value, held_as = row.values[column], self._plan.columns[column]
        if value is None:
            return None
        part = -value if held_as.is_taken else value
        is_other = held_as.is_beside and (part == -math.inf) != (held_as.encoding is Encoding.GREATEST_DIFFERENCE)
        return None if is_other else part

    def _per_anchor(
        self, number: int, row: KernelRow, past: _Window, now: dict[int, Total]
    ) -> dict[int, tuple[KernelRow, Total]]:
        """What one event adds to a cell with anchors, by identity of these."""
        cell = self._plan.cells[number]
        parts = [
            (anchor, total)
            for link in cell.links
            for anchor, total in past.added[link.cell]
            if self._leads(link, anchor, row, past)
        ]
        if cell.count is not None:
            parts += ((anchor, self._contributed(cell, row, trends)) for anchor, trends in now[cell.count].values())
        by_anchor: dict[int, tuple[KernelRow, Total]] = {}
        for anchor, total in parts:
            held = by_anchor[id(anchor)][1] if id(anchor) in by_anchor else _nothing(cell.arithmetic)
            by_anchor[id(anchor)] = anchor, self._add(number, [held, self._with_addend(cell, row, total)])
        return by_anchor

    def _contributed(self, cell: Cell, row: KernelRow, trends: Total) -> Total:
        """What an event contributes by itself to some trends."""
        value = None if cell.column is None else self._part(cell.column, row)
        if cell.column is not None and value is None:
            return _nothing(cell.arithmetic)
        if cell.arithmetic is Arithmetic.EXTREME:
            return value if trends else None
        return _times(value, trends) if cell.weighted else trends

    def _add_form(self, number: int, row: KernelRow, now: dict[tuple[int, int], Total]) -> None:
        """Note what one event adds to a form: at times before it was evaluated, so all are units."""
        cell = self._plan.cells[number]
        for column in range(self._plan.spaces[cell.window].lanes):
            parts: list[Total] = [1 for source in cell.sources if (source, column) in self._units]
            if cell.count is not None:
                parts.append(self._contributed(cell, row, now[cell.count, column]))
            now[number, column] = self._add(number, parts)

    def _evaluated(self, evaluation: Evaluation, past: _Window) -> Total:
        """What events of the latest time have added to a total that is a linear form."""
        return self._add(evaluation.cell, [self._product(product, past) for product in evaluation.products])

    def _product(self, product: Product, past: _Window) -> Total:
        """A coefficient times a total; of an extreme and a count, the extreme if the count is not zero."""
        cells = self._plan.cells
        coefficient = past.forms.get((product.form, product.column), _nothing(cells[product.form].arithmetic))
        total = 1 if product.base is None else past.totals[product.base]
        if cells[product.form].arithmetic is Arithmetic.EXTREME:
            return coefficient if total else None
        if product.base is not None and cells[product.base].arithmetic is Arithmetic.EXTREME:
            return total if coefficient else None
        return _times(coefficient, total) if coefficient and total else 0

    def _starts(self, cell: Cell, row: KernelRow, past: _Window) -> bool:
        of_class = cell.start_event is None or cell.start_event in row.classes
        return cell.start and of_class and cell.start_condition.holds(past.intact(None, row.time))

    def _leads(self, link: Link, before: KernelRow, row: KernelRow, past: _Window) -> bool:
        """Whether a step may be taken from an event before to the one at hand."""
        if not link.condition.holds(past.intact(before.time, row.time)):
            return False
        if link.comparison is None:
            return True
        return compares(self._plan.comparisons[link.comparison], self._plan.columns, row.values, before.values)

    def _advance_guards(self, time: int, rows: list[KernelRow], past: _Window) -> None:
        """Add the events of the latest time to forbidden trends."""
        fresh: list[tuple[int, set[tuple[int, int]]]] = []
        for number, state in enumerate(self._plan.guard_states):
            if any(state.event in row.classes for row in rows):
                before = {span for source in state.sources for span in past.spans[source]}
                spans = {(first, time) for first, _ in before} | ({(time, time)} if state.start else set())
                fresh.append((number, spans))
        for number, spans in fresh:
            past.spans[number] |= spans
            if self._plan.guard_states[number].end:
                past.broken[self._plan.guard_states[number].guard] |= spans

    def _add(self, number: int, totals: list[Total]) -> Total:
        return _sum(self._plan.cells[number].arithmetic, self._encodings[number], totals)

    def _encoding(self, number: int) -> Encoding | None:
        """Whether the least or the greatest is wanted of a cell: one that its values come from knows."""
        todo, seen = [number], {number}
        encoded = {
            position: e for region in self._plan.regions for e in region.space.forms for position in (e.cell, e.view)
        }
        while todo:
            position = todo.pop()
            cell = self._plan.cells[position]
            if cell.column is not None:
                encoding = self._plan.columns[cell.column].encoding
                return Encoding.GREATEST if encoding is Encoding.GREATEST_DIFFERENCE else encoding
            sources = {*cell.sources, *(link.cell for link in cell.links)}
            if position in encoded:
                factors = {factor for product in encoded[position].products for factor in (product.form, product.base)}
                sources |= {f for f in factors if f is not None and self._plan.cells[f].arithmetic is cell.arithmetic}
            todo += sources - seen
            seen |= sources
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
