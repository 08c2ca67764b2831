"""Windows as products of their panes.

Two stacks make a sliding product: while windows close, what they held when they were last evaluated, which is the
front, is multiplied with what all events since have done. When a window closes that began after that, the front is
evaluated anew, from the last pane back to the first that some open window begins with. So a pane is multiplied
once, and a window once, however many windows are open. Where several windows hold the same events, they are one.
"""

from __future__ import annotations

from sparkext.udfs.arithmetic.totals import is_some
from sparkext.udfs.jit.compiled import inlined, inner
from sparkext.udfs.kernels.pane_matrices import evaluate_front, keep_column
from sparkext.udfs.kernels.space_lanes import clear_cells, set_units
from sparkext.udfs.kernels.written_windows import write_windows
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXTREME


@inner
def begin_panes(program, state, panes, w):
    """Start with a new key, in the windows of ``w``."""
    panes.now[panes.of[w], :] = 0
    clear_lanes(program, state, panes, w, 0)
    clear_lanes(program, state, panes, w, panes.windows[panes.of[w], 0])


@inner
def turn_panes(program, state, panes, output, w, until, newest, combine):
    """Write out the windows of ``w`` below ``until``, and end the pane under way if one up to ``newest`` opens."""
    p = panes.of[w]
    opened, now = state.open[w], panes.now[p]
    room, entries = panes.windows[p, col.PANES_ROOM], panes.windows[p, col.PANES_NEWEST]
    index, last = opened[col.OPEN_FIRST], min(opened[col.OPEN_LAST], until - 1)
    while True:
        while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < index:
            now[col.FRONT_BEGIN] += 1
        if index <= last and now[col.FRONT_BEGIN] < now[col.FRONT_END]:
            end = min(last, panes.newest[entries + now[col.FRONT_BEGIN]]) + 1
            write_windows(program, state, panes, output, w, index, end, combine)
            index = end
            continue
        # Either a window closes that is not in the front, or another opens: the pane under way ends, unless the other
        # is equal to the one before it, or a later pass will compute it from the events.
        if index > last and (
            newest <= opened[col.OPEN_LAST]
            or panes.carried.windows[p, col.CARRIED_MODE] == col.GOES_ON
            or not has_start(state.totals, panes, p)
        ):
            break
        end_pane(program, state, panes, w)
        if index > last or now[col.PANES_SINCE] == 0 or panes.newest[entries + room + now[col.PANES_SINCE] - 1] < index:
            break
        evaluate_front(panes, state.cursor, p)
        clear_lanes(program, state, panes, w, 0)
    opened[col.OPEN_FIRST] = max(opened[col.OPEN_FIRST], until)


@inlined
def has_start(totals, panes, p):
    """Whether a trend has begun in the pane under way: if none has, a window that begins after it holds as much."""
    some, at = False, panes.windows[p, col.PANES_ROWS]
    for e in range(panes.windows[p, col.PANES_CELLS], panes.windows[p, col.PANES_CELLS_END]):
        kind, lane = panes.evaluations[e, col.PANED_KIND], panes.evaluations[e, col.PANED_AT] + at
        if panes.evaluations[e, col.PANED_UNIT] != 0:
            some |= kind != EXTREME and is_some(kind, totals.high[lane], totals.low[lane], totals.number[lane])
    return some


@inlined
def clear_lanes(program, state, panes, w, half):
    """Let the lanes from ``half`` on, of all cells of a window, be the unit matrix again."""
    p = panes.of[w]
    clear_cells(program, w, half, half + panes.windows[p, col.PANES_ROWS], state.totals.high, state.totals.low)
    begin, end = panes.windows[p, col.PANES_UNITS], panes.windows[p, col.PANES_UNITS_END]
    middle = (begin + end) // 2
    first, last = (middle, end) if half else (begin, middle)
    set_units(panes.units, first, last, state.totals.low, state.totals.number)


@inner
def end_pane(program, state, panes, w):
    """Keep the matrix of the pane under way, if there were events in it, and let the next one begin."""
    p = panes.of[w]
    layout, now = panes.windows[p], panes.now[p]
    rows, first, size = (
        layout[col.PANES_ROWS],
        layout[col.PANES_CELLS],
        layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS],
    )
    to, flags = (
        layout[col.PANES_MATRICES] + now[col.PANES_SINCE] * size * rows,
        layout[col.PANES_TOUCHED] + now[col.PANES_SINCE] * size,
    )
    some = False
    for e in range(first, first + size):
        is_touched = keep_column(state.totals, panes, e, rows, to)
        panes.touched[flags] = is_touched
        some |= is_touched
        flags += 1
        to += rows
    if some:
        panes.newest[layout[col.PANES_NEWEST] + layout[col.PANES_ROOM] + now[col.PANES_SINCE]] = state.open[
            w, col.OPEN_LAST
        ]
        now[col.PANES_SINCE] += 1
        if layout[col.PANES_OTHERS]:
            clear_lanes(program, state, panes, w, rows)
