"""Spans: trends that end at a time, and have begun less than some time before.

What all events of one time do is a pane. The trends that the next events go on with are those of a window that slides
from time to time, a product of panes that two stacks keep (`sparkext.udfs.kernels.pane_products`). No such window is
ever written. What events add to the coefficients of the cells that trends end in, times what the front holds for the
time that trends may have begun at, is their gain, and is added to the windows that the time is in.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled, is_before, multiply_exact, scaled
from sparkext.udfs.arithmetic.totals import HUGE, NO_HIGH, NO_LOW, add_one, is_some
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.pane_products import (
    begin_panes,
    clear_lanes,
    evaluate_front,
    keep_column,
)
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER

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
            _end_pane(state, spans, p, opened[col.OPEN_LAST])
            oldest = time - (length - 1) if time >= _EARLIEST + (length - 1) else _EARLIEST
            entries = panes.windows[p, col.PANES_NEWEST]
            while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < oldest:
                now[col.FRONT_BEGIN] += 1
            is_used_up = now[col.FRONT_BEGIN] == now[col.FRONT_END] and now[col.PANES_SINCE] > 0
            if is_used_up and panes.newest[entries + panes.windows[p, col.PANES_ROOM]] < oldest:
                _make_front(program, state, panes, w, oldest)
        opened[col.OPEN_LAST] = time


@inner
def _end_pane(state, spans, p, time):
    """Keep what the events of a time have done, as far as they have changed anything of a span."""
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


@inlined
def gain(state, spans, g, kind, high, low, number):
    """Add to what is reported of trends the gain from what events at the latest time have added to a cell.

    Args:
        state: `sparkext.udfs.tables.program.State`; changed.
        spans: `sparkext.udfs.state.span_tables.Spans`.
        g: Row of the cell in its ``gains``.
        kind: Arithmetic of the cell.
        high: What they have added to all cells of their classes.
        low: Likewise.
        number: The memory of ``high``, read as doubles.
    """
    more_high, more_low, more_number = _gained(spans, state.cursor, g, kind, high, low, number)
    to_high, to_low, to_number = state.totals.high, state.totals.low, state.totals.number
    for target in range(spans.gains[g, col.GAIN_TARGETS], spans.gains[g, col.GAIN_TARGETS_END]):
        at, opened = spans.targets[target, col.REACHED_CELL], state.open[spans.targets[target, col.REACHED_WINDOW]]
        for lane in range(as_index(at + opened[col.OPEN_LANE]), as_index(at + opened[col.OPEN_LANE_END])):
            add_one(kind, lane, to_high, to_low, to_number, more_high, more_low, more_number)


@inlined
def _gained(spans, cursor, g, kind, high, low, number):
    """The gain: coefficients of what events have added, times totals of the front. Both words, or number and scale."""
    gains, products, memory = spans.gains, spans.panes.products, spans.panes.memory
    p = gains[g, col.GAIN_SPAN]
    layout, now = spans.panes.windows[p], spans.panes.now[p]
    front = layout[col.PANES_FRONT] + now[col.FRONT_BEGIN] * (layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS])
    is_known = now[col.FRONT_BEGIN] < now[col.FRONT_END]
    sum_high, sum_low, sum_number = np.int64(0), np.int64(0), 0.0
    if kind == EXTREME:
        sum_high, sum_low = NO_HIGH, NO_LOW
    for t in range(gains[g, col.GAIN_BEGIN], gains[g, col.GAIN_END]):
        constant = products[t, col.PRODUCT_BASE] < 0
        if not (constant or is_known):
            continue
        by, of = (
            as_index(products[t, col.PRODUCT_FORM]),
            as_index(front + max(np.int64(0), products[t, col.PRODUCT_BASE])),
        )
        if kind == EXACT:
            more_high, more_low = high[by], low[by]
            if not constant:
                more_high, more_low = multiply_exact(more_high, more_low, memory.high[of], memory.low[of])
            sum_high, sum_low = add_exact(sum_high, sum_low, more_high, more_low)
        elif kind == NUMBER and not cursor[col.CURSOR_SCALED]:
            sum_number += number[by] if constant else number[by] * memory.number[of]
        elif kind == NUMBER:
            more, scale = number[by], low[by]
            if not constant and more != 0.0 and memory.number[of] != 0.0:
                more, scale = scaled(more * memory.number[of], scale + memory.low[of])
            if constant or memory.number[of] != 0.0:  # nothing times what is not finite is nothing
                sum_number, sum_low = add_scaled(sum_number, sum_low, more, scale)
        elif constant or products[t, col.PRODUCT_OF_TOTAL]:
            if is_before(high[by], low[by], sum_high, sum_low) and (
                constant or is_some(products[t, col.PRODUCT_COUNT], memory.high[of], memory.low[of], memory.number[of])
            ):
                sum_high, sum_low = high[by], low[by]
        elif is_some(products[t, col.PRODUCT_COUNT], high[by], low[by], number[by]) and is_before(
            memory.high[of], memory.low[of], sum_high, sum_low
        ):
            sum_high, sum_low = memory.high[of], memory.low[of]
    if kind == NUMBER and abs(sum_number) >= HUGE:
        sum_number, sum_low = scaled(sum_number, sum_low)
    return sum_high, sum_low, sum_number


@inner
def settle_gains(program, state, spans):
    """Add the gains of all events at the latest time, before what is pending is moved into the totals."""
    pending = state.pending
    for d in range(state.cursor[col.CURSOR_DIRTY]):
        g = spans.of[state.dirty[d], col.OF_GAIN]
        if g >= 0:
            kind = program.updates[state.dirty[d], 0]
            gain(state, spans, g, kind, pending.high, pending.low, pending.number)
