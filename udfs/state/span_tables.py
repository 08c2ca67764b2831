"""Spans of a kernel plan as flat arrays, and the arrays that hold the panes of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import NO_EVENT, KernelPlan, Span
from sparkext.udfs.state.assemble import cell_offsets
from sparkext.udfs.state.pane_tables import Panes, panes_of
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import Flags, Ints, Program

FEW = 62
"""Room for so many panes before the first event."""


class Spans(NamedTuple):
    """Trends whose last event is less than some time after their first, and how far their totals are.

    Attributes:
        panes: Of the spans in order, one per time at which trends begin. There is room for more when they are full.
        table: Per span, its row in ``Program.windows``, its length, begin and end in ``units``. Shape (spans, 4); see
            `SPAN_WINDOW` and so on.
        units: What trends begin with: offset of a cell that is 1 at the latest time, and its arithmetic. Shape
            (units, 2); see `UNIT_AT` and so on.
        of: Per row of ``Program.updates``, its span (-1: it is of none), its row in ``gains`` (-1: no trend of a span
            ends there), the evaluation of its cell, and whether trends begin there. Shape (updates, 4); see `OF_SPAN`
            and so on.
        gains: Span, begin and end in the products of ``panes``, of which the gains are the sums, begin and end in
            ``targets``. Shape (gains, 5); see `GAIN_SPAN` and so on.
        targets: What gains are added to: offset of a cell, and its window. Shape (targets, 2).
        changed: Per evaluation of a span by panes, whether events of the pane under way have added to its cell.
        changes: Those to which they have, from the first evaluation of the span on.
        now: Per span, whether it goes by panes for the key under way, whether trends have begun at the latest time or,
            by panes, in the pane under way, and how many ``changes`` there are. Shape (spans, 3); see `IS_BY_PANES` and
            so on.
    """

    panes: Panes
    table: Ints
    units: Ints
    of: Ints
    gains: Ints
    targets: Ints
    changed: Flags
    changes: Ints
    now: Ints


def new_spans(plan: KernelPlan, program: Program) -> Spans:
    """Spans before the first event."""
    offsets = cell_offsets(plan)
    lanes = program.windows[list(plan.numbering.of_spans), col.WINDOW_LANES]
    panes = _panes(plan, program, np.maximum(FEW, lanes).tolist())
    row_of = {int(offset): row for row, offset in enumerate(program.updates[:, col.UPDATE_AT])}
    of = np.full((len(program.updates), 4), -1, np.int64)
    gains: list[list[int]] = []
    targets: list[list[int]] = []
    table: list[list[int]] = []
    units: list[list[int]] = []
    for number, span in enumerate(plan.spans):
        first, last = panes.windows[number, [col.PANES_CELLS, col.PANES_CELLS_END]].tolist()
        index_of = {int(offset): index for index, offset in enumerate(panes.evaluations[first:last, 1])}
        for offset, index in index_of.items():
            if offset in row_of:
                of[row_of[offset], [col.OF_SPAN, col.OF_EVALUATION]] = number, first + index
        begins = {offsets[cell]: cell for cell, row in span.space.units if row == 0}
        for row in np.flatnonzero(of[:, col.OF_SPAN] == number):
            sources = slice(*program.updates[row, [col.UPDATE_SOURCES, col.UPDATE_SOURCES_END]])
            of[row, col.OF_START] = not begins.keys().isdisjoint(program.sources[sources].tolist())
        table.append([span.space.number, span.length, len(units), len(units) + len(begins)])
        units += ([offset, plan.cells[cell].arithmetic.value] for offset, cell in begins.items())
        wanted: dict[int, list[int]] = {}
        for gain in span.gains:
            for source in gain.sources:
                wanted.setdefault(source, []).append(gain.cell)
        for cell, ends in wanted.items():
            of[row_of[offsets[cell]], col.OF_GAIN] = len(gains)
            begin = int(panes.evaluations[first + index_of[offsets[cell]], col.PANED_PRODUCTS])
            end = begin + _gaining(plan, span, cell)
            gains.append([number, begin, end, len(targets), len(targets) + len(ends)])
            targets += ([offsets[end], plan.cells[end].window] for end in ends)
    return Spans(
        panes=panes,
        table=np.array(table, np.int64).reshape(-1, 4),
        units=np.array(units, np.int64).reshape(-1, 2),
        of=of,
        gains=np.array(gains, np.int64).reshape(-1, 5),
        targets=np.array(targets, np.int64).reshape(-1, 2),
        changed=np.zeros(len(panes.evaluations), np.uint8),
        changes=np.zeros(len(panes.evaluations), np.int64),
        now=np.tile(np.array([[1, 0, 0]], np.int64), (len(plan.spans), 1)),
    )


def _gaining(plan: KernelPlan, span: Span, cell: int) -> int:
    """How many products of a cell are part of its gain: what was there before the event is not, and comes last."""
    (evaluation,) = (form for form in span.space.forms if form.cell == cell)
    return sum(plan.cells[product.form].event != NO_EVENT for product in evaluation.products)


def is_full(spans: Spans) -> bool:
    """Whether there is no room for another pane of some span."""
    return any(_rooms(spans.panes)[1])


def with_room(spans: Spans, plan: KernelPlan, program: Program) -> Spans:
    """The same with twice the room for panes of spans that are full."""
    old = spans.panes
    panes = _panes(plan, program, [2 * n if is_used else n for n, is_used in zip(*_rooms(old), strict=True)])
    for before, after in zip(old.windows.tolist(), panes.windows.tolist(), strict=True):
        room, size = before[col.PANES_ROOM], before[col.PANES_CELLS_END] - before[col.PANES_CELLS]
        for column, length in (
            (col.PANES_FRONT, room * size),
            (col.PANES_MATRICES, room * size * before[col.PANES_ROWS]),
        ):
            old_lanes, new_lanes = (slice(row[column], row[column] + length) for row in (before, after))
            panes.memory.high[new_lanes], panes.memory.low[new_lanes] = (
                old.memory.high[old_lanes],
                old.memory.low[old_lanes],
            )
        of, to = before[col.PANES_NEWEST], after[col.PANES_NEWEST]
        panes.newest[to : to + room] = old.newest[of : of + room]
        of, to = of + room, to + after[col.PANES_ROOM]
        panes.newest[to : to + room] = old.newest[of : of + room]
        of, to, length = before[col.PANES_TOUCHED], after[col.PANES_TOUCHED], room * size
        panes.touched[to : to + length] = old.touched[of : of + length]
    panes.now[:] = old.now
    return spans._replace(panes=panes)


def _panes(plan: KernelPlan, program: Program, rooms: Sequence[int]) -> Panes:
    return panes_of(plan, program, [span.space for span in plan.spans], rooms)


def _rooms(panes: Panes) -> tuple[list[int], list[bool]]:
    """For how many panes of each span there is room, and whether it is used up."""
    room = panes.windows[:, col.PANES_ROOM]
    return room.tolist(), (panes.now[:, col.PANES_SINCE] + 1 >= room).tolist()
