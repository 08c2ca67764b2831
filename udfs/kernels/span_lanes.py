"""Spans: trends that end at a time, and have begun less than some time before.

Each time at which trends begin has a lane, as if it were a window, and a unit that is 1 in the lane of the latest time
alone. Lanes of times that are too long ago are left behind, and the others moved together when there is no room for
another. What events add to the cells that trends end in, in all lanes, is their gain, which is added to the windows
that the time is in.

Where trends begin at so many times that each event would have too many lanes to add to, the rest of a key goes by
panes, one for each such time. The trends that the next events go on with are those of a window that slides from time to
time, a product of panes that two stacks keep (`sparkext.udfs.kernels.pane_products`); what lanes hold is its first
front. No such window is ever written. What events add to the coefficients of the cells that trends end in, times what
the front holds for the time that trends may have begun at, is their gain then. Beside regions, all keys go by panes.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.totals import HUGE, NARROW, add_one
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.pane_matrices import evaluate_front, keep_column
from sparkext.udfs.kernels.pane_products import (
    begin_panes,
    clear_lanes,
)
from sparkext.udfs.kernels.space_lanes import clear_cells, clear_group
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import ALWAYS_YET, EXACT, NEVER_YET, NUMBER

_EARLIEST = np.int64(np.iinfo(np.int64).min)
_ALWAYS, _NEVER = np.int64(ALWAYS_YET), np.int64(NEVER_YET)


@inlined
def need_room(spans):
    """Whether there is no room for another pane of some span."""
    full = False
    for p in range(len(spans.table)):
        full |= spans.panes.now[p, col.PANES_SINCE] + 1 >= spans.panes.windows[p, col.PANES_ROOM]
    return full


@inlined
def note_change(spans, u):
    """Take note that an event adds to a cell of a span."""
    p, e = spans.of[u, col.OF_SPAN], spans.of[u, col.OF_EVALUATION]
    now = spans.now[p]
    now[col.HAS_BEGUN] |= spans.of[u, col.OF_START]
    if now[col.IS_BY_PANES] and not spans.changed[e]:
        spans.changed[e] = 1
        spans.changes[spans.panes.windows[p, col.PANES_CELLS] + now[col.CHANGES]] = e
        now[col.CHANGES] += 1


@inner
def move_spans(program, state, regions, spans, time, first):
    """Let the spans end at ``time``, later than all events before of the key; or begin with a new key."""
    for p in range(len(spans.table)):
        w, length = spans.table[p, col.SPAN_WINDOW], spans.table[p, col.SPAN_LENGTH]
        oldest = time - (length - 1) if time >= _EARLIEST + (length - 1) else _EARLIEST
        if first:
            if regions is not None and len(regions.ends) > 1:
                _begin_by_panes(program, state, spans, p)
            else:
                _begin_starts(program, state, regions, spans, p)
        elif spans.now[p, col.IS_BY_PANES]:
            _move_panes(program, state, spans, p, oldest)
        else:
            _move_starts(program, state, regions, spans, p, oldest)
        state.open[w, col.OPEN_LAST] = time


@inner
def _begin_starts(program, state, regions, spans, p):
    """Start with a new key: lane 0 is for what begins at its first time."""
    w = spans.table[p, col.SPAN_WINDOW]
    opened = state.open[w]
    if spans.now[p, col.IS_BY_PANES]:
        spans.now[p, col.IS_BY_PANES] = 0
        clear_cells(program, w, 0, program.windows[w, col.WINDOW_LANES], state.totals.high, state.totals.low)
    else:
        for g in range(len(program.groups)):
            clear_group(program, g, w, 0, _used(state, g, w), state.totals.high, state.totals.low)
        _clear_units(state, spans, p, opened[col.OPEN_LANE_END] - 1)
    state.reached[:, w] = _NEVER if regions is None else 0
    spans.now[p, col.HAS_BEGUN] = 0
    opened[col.OPEN_ORIGIN], opened[col.OPEN_LANE], opened[col.OPEN_LANE_END] = 0, 0, 1
    _set_units(state, spans, p, 0)


@inlined
def _move_starts(program, state, regions, spans, p, oldest):
    """Leave lanes of times before ``oldest`` behind, and have one for what begins at the next time."""
    w, panes = spans.table[p, col.SPAN_WINDOW], spans.panes
    opened = state.open[w]
    entries, lane = panes.windows[p, col.PANES_NEWEST], opened[col.OPEN_LANE_END] - 1
    begun = spans.now[p, col.HAS_BEGUN]
    if begun:
        panes.newest[entries + lane] = opened[col.OPEN_LAST]
        lane += 1
    while opened[col.OPEN_LANE] < lane and panes.newest[entries + opened[col.OPEN_LANE]] < oldest:
        opened[col.OPEN_LANE] += 1
    if begun:
        spans.now[p, col.HAS_BEGUN] = 0
        _open_lane(program, state, spans, p)
        if regions is not None and not spans.now[p, col.IS_BY_PANES]:
            # Which lanes hold something is not kept then.
            state.reached[:, w] = opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE_END] - 1


@inner
def _open_lane(program, state, spans, p):
    """Have a lane for what begins at the next time, after one in which trends have begun."""
    w = spans.table[p, col.SPAN_WINDOW]
    opened, lanes = state.open[w], program.windows[w, col.WINDOW_LANES]
    if opened[col.OPEN_LANE_END] == lanes:
        if 2 * (lanes - opened[col.OPEN_LANE]) > lanes:
            _go_by_panes(program, state, spans, p)
            return
        _move_together(program, state, spans, p)
    else:
        _clear_units(state, spans, p, opened[col.OPEN_LANE_END] - 1)
    _set_units(state, spans, p, opened[col.OPEN_LANE_END])
    opened[col.OPEN_LANE_END] += 1


@inner
def _move_together(program, state, spans, p):
    """Move the lanes in use so that the first of them is lane 0, and empty all others."""
    w = spans.table[p, col.SPAN_WINDOW]
    opened, panes, high, low = state.open[w], spans.panes, state.totals.high, state.totals.low
    by, end = opened[col.OPEN_LANE], opened[col.OPEN_LANE_END]
    _clear_units(state, spans, p, end - 1)
    for g in range(len(program.groups)):
        used = _used(state, g, w)
        kept = as_index(max(np.int64(0), used - by))
        for u in range(as_index(program.group_updates[g, w]), as_index(program.group_updates[g, w + 1])):
            at = as_index(program.updates[u, col.UPDATE_AT])
            for lane in range(at, at + kept):
                high[lane], low[lane] = high[lane + as_index(by)], low[lane + as_index(by)]
        clear_group(program, g, w, np.int64(kept), used, high, low)
    entries = panes.windows[p, col.PANES_NEWEST]
    for lane in range(by, end):
        panes.newest[entries + lane - by] = panes.newest[entries + lane]
    opened[col.OPEN_ORIGIN] += by
    opened[col.OPEN_LANE], opened[col.OPEN_LANE_END] = 0, end - by


@inlined
def _used(state, g, w):
    """How many lanes of a group may hold something, or have held it since they were emptied."""
    reached, origin = state.reached[g, w], state.open[w, col.OPEN_ORIGIN]
    return reached - origin + 1 if reached >= origin else np.int64(0)


@inlined
def _set_units(state, spans, p, lane):
    """Let trends begin in a lane."""
    for unit in range(spans.table[p, col.SPAN_UNITS], spans.table[p, col.SPAN_UNITS_END]):
        at = spans.units[unit, col.UNIT_AT] + lane
        if spans.units[unit, col.UNIT_KIND] == EXACT:
            state.totals.low[at] = 1
        else:
            state.totals.number[at] = 1.0


@inlined
def _clear_units(state, spans, p, lane):
    """Let no trends begin in a lane any more."""
    for unit in range(spans.table[p, col.SPAN_UNITS], spans.table[p, col.SPAN_UNITS_END]):
        at = spans.units[unit, col.UNIT_AT] + lane
        state.totals.high[at] = state.totals.low[at] = 0


@inner
def _go_by_panes(program, state, spans, p):
    """Let what all lanes hold be the front of a key that goes by panes from now on."""
    w, panes = spans.table[p, col.SPAN_WINDOW], spans.panes
    opened, layout, cursor, memory = state.open[w], panes.windows[p], state.cursor, panes.memory
    first, size = layout[col.PANES_CELLS], layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS]
    begin, end, entries = opened[col.OPEN_LANE], opened[col.OPEN_LANE_END], layout[col.PANES_NEWEST]
    for i in range(size):
        kind, at = panes.evaluations[first + i, col.PANED_KIND], panes.evaluations[first + i, col.PANED_AT]
        to = layout[col.PANES_FRONT] + (end - 1 - begin) * size + i
        for lane in range(at + end - 1, at + begin - 1, -1):
            memory.high[to], memory.low[to] = state.totals.high[lane], state.totals.low[lane]
            if lane + 1 < at + end:
                add_one(
                    kind,
                    to,
                    memory.high,
                    memory.low,
                    memory.number,
                    memory.high[to + size],
                    memory.low[to + size],
                    memory.number[to + size],
                )
            if kind == EXACT:
                cursor[col.CURSOR_WIDE] |= memory.high[to] != 0 or not 0 <= memory.low[to] < NARROW
            elif kind == NUMBER:
                cursor[col.CURSOR_SCALED] |= memory.low[to] != 0 or not abs(memory.number[to]) < HUGE
            to -= size
    for lane in range(begin, end):
        panes.newest[entries + lane - begin] = panes.newest[entries + lane]
    clear_cells(program, w, 0, program.windows[w, col.WINDOW_LANES], state.totals.high, state.totals.low)
    _begin_by_panes(program, state, spans, p)
    panes.now[p, col.FRONT_END] = end - begin


@inner
def _begin_by_panes(program, state, spans, p):
    """Let no events have come of a key, or the rest of a key, that goes by panes."""
    w, panes = spans.table[p, col.SPAN_WINDOW], spans.panes
    begin_panes(program, state, panes, w)
    spans.changed[panes.windows[p, col.PANES_CELLS] : panes.windows[p, col.PANES_CELLS_END]] = 0
    spans.now[p, col.IS_BY_PANES], spans.now[p, col.HAS_BEGUN], spans.now[p, col.CHANGES] = 1, 0, 0
    state.reached[:, w] = _ALWAYS
    state.open[w, col.OPEN_LANE], state.open[w, col.OPEN_LANE_END] = 0, 2 * panes.windows[p, col.PANES_ROWS]


@inner
def _move_panes(program, state, spans, p, oldest):
    """End the pane under way if trends have begun in it, and leave those before ``oldest`` behind."""
    w, panes = spans.table[p, col.SPAN_WINDOW], spans.panes
    last, now, entries = state.open[w, col.OPEN_LAST], panes.now[p], panes.windows[p, col.PANES_NEWEST]
    if spans.now[p, col.HAS_BEGUN]:
        _end_pane(state, spans, p, last)
    while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < oldest:
        now[col.FRONT_BEGIN] += 1
    is_used_up = now[col.FRONT_BEGIN] == now[col.FRONT_END] and now[col.PANES_SINCE] > 0
    if is_used_up and panes.newest[entries + panes.windows[p, col.PANES_ROOM]] < oldest:
        _end_pane(state, spans, p, last)
        _make_front(program, state, panes, w, oldest)


@inner
def _end_pane(state, spans, p, time):
    """Keep what the events up to a time have done, as far as they have changed anything of a span."""
    panes = spans.panes
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
    panes.touched[flags : flags + size] = 0
    for n in range(first, first + spans.now[p, col.CHANGES]):
        e = spans.changes[n]
        spans.changed[e] = 0
        is_touched = keep_column(state.totals, panes, e, rows, to + (e - first) * rows)
        panes.touched[flags + e - first] = is_touched
        some |= is_touched
    spans.now[p, col.HAS_BEGUN] = spans.now[p, col.CHANGES] = 0
    if some:
        panes.newest[layout[col.PANES_NEWEST] + layout[col.PANES_ROOM] + now[col.PANES_SINCE]] = time
        now[col.PANES_SINCE] += 1


@inner
def _make_front(program, state, panes, w, oldest):
    """Evaluate the front of a span, of which some panes have become too old."""
    now, entries = panes.now[panes.of[w]], panes.windows[panes.of[w], col.PANES_NEWEST]
    evaluate_front(panes, state.cursor, panes.of[w])
    clear_lanes(program, state, panes, w, 0)
    while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < oldest:
        now[col.FRONT_BEGIN] += 1
