"""The kernel plan as flat arrays, and the arrays that hold the state of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planner.kernel_plan import Arithmetic, Cell, Field, KernelPlan

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.uint8]

EXACT, NUMBER, EXTREME = (kind.value for kind in (Arithmetic.EXACT, Arithmetic.NUMBER, Arithmetic.EXTREME))

NO_KEY = (np.iinfo(np.int64).max, -1)
"""Order key of "no value", as (high, low): greater than the key of any value."""


class Program(NamedTuple):
    """What to compute. All arrays are int64 and C-contiguous.

    An offset points at lane 0 of a cell in the arrays of `Totals`.

    Attributes:
        windows: Per window: within (0: unbounded), slide, lanes of a cell, number of its first cell and
            of the cell after its last, offset of its first cell. Shape (windows, 6).
        blanks: Per cell, ordered by window, the two words of an empty total. Shape (cells, 2).
        updates: One row per cell: arithmetic, window, offset, start, begin and end in ``sources``,
            offset and arithmetic of the count (-1: contributes nothing), column (-1: none), weighted.
            Ordered by event class. Shape (cells, 10).
        update_ends: Begin of each class in ``updates``, and the end. Shape (classes + 1,).
        sources: Offsets of source cells.
        bank_ends: Begin of each window in ``banks``, and the end. Shape (windows + 1,).
        banks: Number of the bank, and begin and end in ``slots``. Ordered by window. Shape (banks, 3).
        slots: Arithmetic, begin and end in ``slot_sources``, place in the row's words, place in the
            row's floats (-1: none). Shape (slots, 5).
        slot_sources: Offsets of the cells whose totals make a slot.
        blank_row: The words of a row in which nothing was found. Shape (words,).
    """

    windows: Ints
    blanks: Ints
    updates: Ints
    update_ends: Ints
    sources: Ints
    bank_ends: Ints
    banks: Ints
    slots: Ints
    slot_sources: Ints
    blank_row: Ints


class Totals(NamedTuple):
    """Two 64-bit words per cell and lane: a count (high, low), a scaled double (number, scale), or an
    order key (high, low). ``number`` is the memory of ``high``, read as doubles.
    """

    high: Ints
    low: Ints
    number: Floats


class State(NamedTuple):
    """All that a kernel carries from one batch to the next.

    Attributes:
        totals: Of events before the latest time.
        event: Of the event at hand; scratch.
        pending: Of events at the latest time, which are not before each other.
        open: Per window: index of the window in lane 0, first and last open window, first lane that
            the latest time is in and the lane after the last. Shape (windows, 5).
        dirty: Rows of ``Program.updates`` that have something pending. Shape (cells,).
        is_dirty: Whether a row is in ``dirty``. Shape (cells,).
        cursor: Whether a key is under way, the latest time, number of dirty rows, number of rows in
            the output, ordinal of the output group, first time at which windows open or close,
            whether counts of this key may need both words, whether its numbers may need scales.
            Shape (8,).
    """

    totals: Totals
    event: Totals
    pending: Totals
    open: Ints
    dirty: Ints
    is_dirty: Flags
    cursor: Ints


class Output(NamedTuple):
    """Rows that the kernel has written. Only the first ``State.cursor[3]`` are valid.

    Attributes:
        group: Ordinal of the output group, counted since the last flush. Shape (rows,).
        bank: Shape (rows,).
        window: Index k of the window. Shape (rows,).
        words: Counts as (high, low), scales, order keys as (high, low). Shape (rows, words).
        floats: Scaled doubles. Shape (rows, floats).
        table: Open-addressing hash table of row numbers, -1 where free; used when rows of one group
            are combined. Its size is a power of two.
    """

    group: Ints
    bank: Ints
    window: Ints
    words: Ints
    floats: Floats
    table: Ints


class FieldPlace(NamedTuple):
    """Where a field is in a row: its first word, and its float (-1: none)."""

    word: int
    float: int


def field_places(fields: Sequence[Field]) -> tuple[list[FieldPlace], int, int]:
    """Places of all fields, the number of words and the number of floats of a row."""
    places: list[FieldPlace] = []
    words = floats = 0
    for field in fields:
        if field.arithmetic is Arithmetic.NUMBER:
            places.append(FieldPlace(words, floats))
            words, floats = words + 1, floats + 1
        else:
            places.append(FieldPlace(words, -1))
            words += 2
    return places, words, floats


def assemble(plan: KernelPlan) -> Program:
    """Lay a kernel plan out in flat arrays."""
    offsets = [0] * len(plan.cells)
    windows: list[list[int]] = []
    blanks: list[tuple[int, int]] = []
    size = 0
    for number, window in enumerate(plan.windows):
        lanes = 1 if window is None else 2 * window.live
        mine = [place for place, cell in enumerate(plan.cells) if cell.window == number]
        within, slide = (0, 1) if window is None else (window.within, window.slide)
        windows.append([within, slide, lanes, len(blanks), len(blanks) + len(mine), size])
        for place in mine:
            offsets[place] = size
            size += lanes
            blanks.append(NO_KEY if plan.cells[place].arithmetic is Arithmetic.EXTREME else (0, 0))

    updates: list[list[int]] = []
    update_ends = [0]
    sources: list[int] = []
    for event in range(len(plan.classes)):
        for number, cell in enumerate(plan.cells):
            if cell.event == event:
                updates.append(_update(plan.cells, cell, offsets, number, len(sources)))
                sources += (offsets[source] for source in cell.sources)
        update_ends.append(len(updates))

    places, words, _ = field_places(plan.fields)
    banks: list[list[int]] = []
    bank_ends = [0]
    slots: list[list[int]] = []
    slot_sources: list[int] = []
    for number in range(len(plan.windows)):
        for bank_number, bank in enumerate(plan.banks):
            if bank.window == number:
                banks.append([bank_number, len(slots), len(slots) + len(bank.slots)])
                for slot in bank.slots:
                    begin = len(slot_sources)
                    slot_sources += (offsets[cell] for cell in slot.cells)
                    kind = plan.fields[slot.field].arithmetic.value
                    slots.append([kind, begin, len(slot_sources), *places[slot.field]])
        bank_ends.append(len(banks))

    blank_row = np.zeros(words, np.int64)
    for field, there in zip(plan.fields, places, strict=True):
        if field.arithmetic is Arithmetic.EXTREME:
            blank_row[there.word : there.word + 2] = NO_KEY
    return Program(
        windows=_table(windows, 6),
        blanks=_table(blanks, 2),
        updates=_table(updates, 10),
        update_ends=np.array(update_ends, np.int64),
        sources=np.array(sources, np.int64),
        bank_ends=np.array(bank_ends, np.int64),
        banks=_table(banks, 3),
        slots=_table(slots, 5),
        slot_sources=np.array(slot_sources, np.int64),
        blank_row=blank_row,
    )


def new_state(program: Program) -> State:
    """The state before the first event."""
    cells = len(program.updates)
    return State(
        totals=_totals(program),
        event=_totals(program),
        pending=_totals(program),
        open=np.zeros((len(program.windows), 5), np.int64),
        dirty=np.zeros(cells, np.int64),
        is_dirty=np.zeros(cells, np.uint8),
        cursor=np.array([0, 0, 0, 0, -1, 0, 0, 0], np.int64),
    )


def new_output(plan: KernelPlan, rows: int) -> Output:
    """An empty output with room for at least ``rows`` rows, and for all windows that are open at once."""
    banks = [bank.window for bank in plan.banks]
    at_once = sum((1 if w is None else w.live) * banks.count(i) for i, w in enumerate(plan.windows))
    rows = max(rows, 2 * at_once)
    _, words, floats = field_places(plan.fields)
    return Output(
        group=np.zeros(rows, np.int64),
        bank=np.zeros(rows, np.int64),
        window=np.zeros(rows, np.int64),
        words=np.zeros((rows, words), np.int64),
        floats=np.zeros((rows, floats), np.float64),
        table=np.full(1 << (2 * rows).bit_length(), -1, np.int64),
    )


def _update(cells: Sequence[Cell], cell: Cell, offsets: list[int], number: int, begin: int) -> list[int]:
    return [
        cell.arithmetic.value,
        cell.window,
        offsets[number],
        int(cell.start),
        begin,
        begin + len(cell.sources),
        offsets[cell.count] if cell.count is not None else -1,
        cells[cell.count].arithmetic.value if cell.count is not None else -1,
        cell.column if cell.count is not None and cell.column is not None else -1,
        int(cell.weighted),
    ]


def _totals(program: Program) -> Totals:
    lanes = np.repeat(program.windows[:, 2], program.windows[:, 4] - program.windows[:, 3])
    high, low = np.repeat(program.blanks[:, 0], lanes), np.repeat(program.blanks[:, 1], lanes)
    return Totals(high, low, high.view(np.float64))


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(list(rows), np.int64).reshape(-1, width)
