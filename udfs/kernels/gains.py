"""Gains: what the events of a time add to what is reported of the trends of a span."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled, is_before, multiply_exact, scaled
from sparkext.udfs.arithmetic.totals import HUGE, NO_HIGH, NO_LOW, add_one, is_some
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER


@inlined
def gain(state, spans, g, kind, begin, end, high, low, number):
    """Add to what is reported of trends the gain from what events at the latest time have added to a cell.

    Args:
        state: `sparkext.udfs.tables.program.State`; changed.
        spans: `sparkext.udfs.state.span_tables.Spans`.
        g: Row of the cell in its ``gains``.
        kind: Arithmetic of the cell.
        begin: First lane of the cell that they have added to.
        end: Lane after the last.
        high: What they have added to all cells of their classes.
        low: Likewise.
        number: The memory of ``high``, read as doubles.
    """
    if spans.now[spans.gains[g, col.GAIN_SPAN], col.IS_BY_PANES]:
        more_high, more_low, more_number = _gained(spans, state.cursor, g, kind, high, low, number)
    else:
        more_high, more_low, more_number = _sum_of_lanes(state.cursor, kind, begin, end, high, low, number)
    to_high, to_low, to_number = state.totals.high, state.totals.low, state.totals.number
    for target in range(spans.gains[g, col.GAIN_TARGETS], spans.gains[g, col.GAIN_TARGETS_END]):
        at, opened = spans.targets[target, col.REACHED_CELL], state.open[spans.targets[target, col.REACHED_WINDOW]]
        for lane in range(as_index(at + opened[col.OPEN_LANE]), as_index(at + opened[col.OPEN_LANE_END])):
            add_one(kind, lane, to_high, to_low, to_number, more_high, more_low, more_number)


@inlined
def _sum_of_lanes(cursor, kind, begin, end, high, low, number):
    """The gain, where each lane is a time at which trends have begun. Both words, or number and scale."""
    sum_high, sum_low, sum_number = np.int64(0), np.int64(0), 0.0
    if kind == EXTREME:
        sum_high, sum_low = NO_HIGH, NO_LOW
    if kind == EXACT and not cursor[col.CURSOR_WIDE]:
        for lane in range(as_index(begin), as_index(end)):
            sum_low += low[lane]
        return sum_high, sum_low, sum_number
    for lane in range(as_index(begin), as_index(end)):
        if kind == EXACT:
            sum_high, sum_low = add_exact(sum_high, sum_low, high[lane], low[lane])
        elif kind == EXTREME:
            if is_before(high[lane], low[lane], sum_high, sum_low):
                sum_high, sum_low = high[lane], low[lane]
        elif cursor[col.CURSOR_SCALED]:
            sum_number, sum_low = add_scaled(sum_number, sum_low, number[lane], low[lane])
        else:
            sum_number += number[lane]
    if kind == NUMBER and abs(sum_number) >= HUGE:
        sum_number, sum_low = scaled(sum_number, sum_low)
    return sum_high, sum_low, sum_number


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
            update = program.updates[state.dirty[d]]
            opened, at = state.open[update[col.UPDATE_WINDOW]], update[col.UPDATE_AT]
            begin, end = at + opened[col.OPEN_LANE], at + opened[col.OPEN_LANE_END]
            gain(state, spans, g, update[col.UPDATE_KIND], begin, end, pending.high, pending.low, pending.number)
