"""Spans: trends that end at a time, and have begun less than some time before.

What all events do up to a time at which trends begin is a pane. The trends that the next events go on with are those of
a window that slides from time to time, a product of panes that two stacks keep (`sparkext.udfs.kernels.pane_products`).
No such window is ever written. What events add to the coefficients of the cells that trends end in, times what the
front holds for the time that trends may have begun at, is their gain, and is added to the windows that the time is in.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.jit.compiled import inlined, inner
from sparkext.udfs.kernels.pane_matrices import evaluate_front, keep_column
from sparkext.udfs.kernels.pane_products import (
    begin_panes,
    clear_lanes,
    has_start,
)
from sparkext.udfs.tables import columns as col

_EARLIEST = np.int64(np.iinfo(np.int64).min)


@inlined
def need_room(spans):
    """Whether there is no room for another pane of some span."""
    full = False
    for p in range(len(spans.table)):
        full |= spans.panes.now[p, col.PANES_SINCE] + 1 >= spans.panes.windows[p, col.PANES_ROOM]
    return full


@inner
def move_spans(program, state, spans, time, first):
    """Let the spans end at ``time``, later than all events before of the key; or begin with a new key."""
    panes = spans.panes
    for p in range(len(spans.table)):
        w, length = spans.table[p, 0], spans.table[p, 1]
        opened, now = state.open[w], panes.now[p]
        if first:
            begin_panes(program, state, panes, w)
            spans.changed[panes.windows[p, col.PANES_CELLS] : panes.windows[p, col.PANES_CELLS_END]] = 0
        else:
            if has_start(state.totals, panes, p):
                _end_pane(state, spans, p, opened[col.OPEN_LAST])
            oldest = time - (length - 1) if time >= _EARLIEST + (length - 1) else _EARLIEST
            entries = panes.windows[p, col.PANES_NEWEST]
            while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < oldest:
                now[col.FRONT_BEGIN] += 1
            is_used_up = now[col.FRONT_BEGIN] == now[col.FRONT_END] and now[col.PANES_SINCE] > 0
            if is_used_up and panes.newest[entries + panes.windows[p, col.PANES_ROOM]] < oldest:
                _end_pane(state, spans, p, opened[col.OPEN_LAST])
                _make_front(program, state, panes, w, oldest)
        opened[col.OPEN_LAST] = time


@inner
def _end_pane(state, spans, p, time):
    """Keep what the events up to a time have done, as far as they have changed anything of a span."""
    panes, changed = spans.panes, spans.changed
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
    for i in range(size):
        is_touched = False
        if changed[first + i]:
            changed[first + i] = 0
            is_touched = keep_column(state.totals, panes, first + i, rows, to + i * rows)
        panes.touched[flags + i] = is_touched
        some |= is_touched
    if some:
        panes.newest[layout[col.PANES_NEWEST] + layout[col.PANES_ROOM] + now[col.PANES_SINCE]] = time
        now[col.PANES_SINCE] += 1


@inner
def _make_front(program, state, panes, w, oldest):
    """Evaluate the front of a span, of which some panes have become too old."""
    now, entries = panes.now[panes.of[w]], panes.windows[panes.of[w], 10]
    evaluate_front(panes, state.cursor, panes.of[w])
    clear_lanes(program, state, panes, w, 0)
    while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < oldest:
        now[col.FRONT_BEGIN] += 1
