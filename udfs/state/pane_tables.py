"""Panes of a kernel plan as flat arrays, and the arrays that hold what has happened in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Space
from sparkext.udfs.state.assemble import cell_offsets
from sparkext.udfs.state.carried_tables import Carried, nothing_carried
from sparkext.udfs.state.fresh import totals_of
from sparkext.udfs.state.products import product_row, product_table
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import Flags, Ints, Program, Totals


class Matrix(NamedTuple):
    """A matrix of a pane, as it is in ``Panes.memory``, and what of ``Panes.touched`` is about it."""

    high: Ints
    low: Ints
    touched: Flags


class Panes(NamedTuple):
    """Matrices of panes, and what is known of the windows that they are for.

    The lanes of a cell, two per row of a matrix, hold first what all events since the windows of `front` were
    evaluated do to totals, then what those of the pane under way do. A pane's matrix has a column per evaluated
    cell, and is kept less the unit matrix. Only panes with events in them are kept, each with the newest window
    that holds it. An entry of ``front`` is what windows held at that time; it is for the windows after those of
    the entry before it, up to its own.

    Attributes:
        of: Per window, region and span, its row in ``windows``; -1 when it has none.
        windows: Per window by panes: rows of a matrix, room for entries, begin and end in ``evaluations``, begin
            and end in ``units``, begin of its front, its panes, the product of panes and its scratch in
            ``memory``, of its entries in ``newest``, of its panes' in ``touched``, whether it has cells that are
            not in ``evaluations``. Shape (windows by panes, 13).
        evaluations: Arithmetic, offset of the cell's lane 0, begin and end in ``products``, row in which it is 1 in
            the unit matrix (-1: none). Ordered by window. Shape (evaluations, 5).
        products: See `sparkext.udfs.state.products`. A total is an evaluation, counted from the first of the window,
            and a place one in a matrix of all evaluations.
        readers: Evaluations that have others as totals in their products, by these; counted likewise.
        reader_ends: Begin of each evaluation in ``readers``, and the end. Shape (evaluations + 1,).
        units: Offset of a lane that is 1 when a pane begins, and its arithmetic. Shape (units, 2).
        slot_evaluations: Per item of ``Program.slot_sources``, its evaluation, counted likewise.
        memory: Totals of the front, then of matrices, cell by cell.
        newest: Per entry of a front, then per pane, the index of the newest window that holds it.
        touched: Per pane and evaluation, whether the pane changes it.
        marks: Per evaluation, whether its product is to change; scratch.
        now: Per window by panes: begin and end of the entries of the front in use, number of panes since.
            Shape (windows by panes, 3).
        carried: What is carried of keys from one pass to the next.
    """

    of: Ints
    windows: Ints
    evaluations: Ints
    products: Ints
    readers: Ints
    reader_ends: Ints
    units: Ints
    slot_evaluations: Ints
    memory: Totals
    newest: Ints
    touched: Flags
    marks: Flags
    now: Ints
    carried: Carried


def new_panes(plan: KernelPlan, program: Program, stretches: int = 1) -> Panes:
    """Panes before the first event. Their units are set when a key begins.

    Args:
        plan: The plan.
        program: The same as arrays.
        stretches: Most stretches of a key of which the matrices are multiplied.
    """
    rooms = [max(int(program.windows[space.number, col.WINDOW_LIVE]), stretches) + 2 for space in plan.panes]
    return panes_of(plan, program, plan.panes, rooms)


def panes_of(plan: KernelPlan, program: Program, spaces: Sequence[Space], rooms: Sequence[int]) -> Panes:
    """Panes before the first event, of some windows or spans.

    Args:
        plan: The plan.
        program: The same as arrays.
        spaces: Those of the plan.
        rooms: For each of them, room for how many panes there is.
    """
    offsets = cell_offsets(plan)
    of = np.full(len(program.windows), -1, np.int64)
    windows: list[list[int]] = []
    evaluations: list[list[int]] = []
    products: list[list[int]] = []
    readers: list[set[int]] = []
    units: list[list[int]] = []
    evaluation_of: dict[int, int] = {}
    memory = newest = touched = 0
    for number, (space, room) in enumerate(zip(spaces, rooms, strict=True)):
        of[space.number] = number
        row_of = dict(space.units)
        held = dict.fromkeys([*(e.cell for e in space.forms), *(cell for cell, row in space.units if row == 0)])
        index_of = {offsets[cell]: n for n, cell in enumerate(held)}
        evaluation_of |= index_of
        first, first_unit = len(evaluations), len(units)
        products_of = {e.cell: e.products for e in space.forms}
        readers += (set() for _ in held)
        for cell in held:
            begin = len(products)
            for product in products_of.get(cell, ()):
                base = -1 if product.base is None else index_of[offsets[product.base]]
                place = index_of[offsets[product.form]] * space.lanes + product.column
                products.append(product_row(plan, product, offsets, base, place))
                if base >= 0:
                    readers[first + base].add(index_of[offsets[cell]])
            row = [plan.cells[cell].arithmetic.value, offsets[cell], begin, len(products), row_of.get(cell, -1)]
            evaluations.append(row)
        for half in (0, space.lanes):
            units += ([offsets[cell] + half + row, plan.cells[cell].arithmetic.value] for cell, row in space.units)
        size = len(held)
        begin, end = (
            program.bank_ends[space.number : space.number + 2] if space.number in plan.numbering.of_windows else (0, 0)
        )
        slots = sum(
            int(program.banks[bank, col.BANK_SLOTS_END] - program.banks[bank, col.BANK_SLOTS])
            for bank in range(begin, end)
        )
        sizes = (room * size, room * size * space.lanes, size * space.lanes, space.lanes + slots)
        begins = np.cumsum([memory, *sizes])
        has_more_cells = (
            int(program.windows[space.number, col.WINDOW_CELLS_END] - program.windows[space.number, col.WINDOW_CELLS])
            > size
        )
        ends = (first, len(evaluations), first_unit, len(units))
        windows.append([space.lanes, room, *ends, *begins[:4].tolist(), newest, touched, int(has_more_cells)])
        memory, newest, touched = int(begins[-1]), newest + 2 * room, touched + room * size
    return Panes(
        of=of,
        windows=np.array(windows, np.int64).reshape(-1, 13),
        evaluations=np.array(evaluations, np.int64).reshape(-1, 5),
        products=product_table(products),
        readers=np.array([reader for of_one in readers for reader in sorted(of_one)], np.int64),
        reader_ends=np.cumsum([0, *map(len, readers)]),
        units=np.array(units, np.int64).reshape(-1, 2),
        slot_evaluations=np.array([evaluation_of.get(int(source), -1) for source in program.slot_sources], np.int64),
        memory=totals_of(np.zeros(memory, np.int64), np.zeros(memory, np.int64)),
        newest=np.zeros(newest, np.int64),
        touched=np.zeros(touched, np.uint8),
        marks=np.zeros(len(evaluations), np.uint8),
        now=np.zeros((len(spaces), 3), np.int64),
        carried=nothing_carried(len(spaces)),
    )


def stretch_matrix(panes: Panes) -> Matrix | None:
    """Of a stretched plan, the matrix of the stretch that was written last; None when nothing was done in it."""
    if panes.now[0, col.FRONT_END] == 0:
        return None
    (words, flags), memory = _room(panes, 0), panes.memory
    return Matrix(memory.high[words].copy(), memory.low[words].copy(), panes.touched[flags].copy())


def put_stretches(panes: Panes, matrices: Sequence[Matrix]) -> None:
    """Let so many stretches of an unbounded window have gone by, of which it is to be written yet."""
    newest = panes.windows[0, col.PANES_NEWEST] + panes.windows[0, col.PANES_ROOM]
    for pane, matrix in enumerate(matrices):
        words, flags = _room(panes, pane)
        panes.memory.high[words], panes.memory.low[words], panes.touched[flags] = matrix
        panes.newest[newest + pane] = 0
    panes.now[0] = 0, 0, len(matrices)


def _room(panes: Panes, pane: int) -> tuple[slice, slice]:
    """Where the words and flags of a matrix of the only window are."""
    layout = panes.windows[0].tolist()
    rows, size = layout[col.PANES_ROWS], layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS]
    words, flags = layout[col.PANES_MATRICES] + pane * size * rows, layout[col.PANES_TOUCHED] + pane * size
    return slice(words, words + size * rows), slice(flags, flags + size)
