"""Cells with anchors: what an event adds to totals that are kept per earlier event.

They are in the rows of the earlier events, the anchors, in the history of these: what is held, and what is pending
until the time of the events that added it is over.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import add_scaled, is_before, scaled
from sparkext.udfs.arithmetic.totals import HUGE, NARROW, NO_HIGH, NO_LOW, TINY, add_from, is_some
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.difference_parts import add_from_with_part, with_part
from sparkext.udfs.kernels.lookback import match
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER


@inner
def add_per_anchor(program, state, guards, past, differences, batch, row, matched, class_count):
    """Note what an event adds to the cells with anchors of its classes."""
    for m in range(class_count):
        begin, end = (
            program.guard_ends[matched[m], col.ANCHORED_ENDS],
            program.guard_ends[matched[m] + 1, col.ANCHORED_ENDS],
        )
        for cell in range(begin, end):
            _add_to_cell(program, state, guards, past, differences, batch, row, cell)


@inner
def _add_to_cell(program, state, guards, past, differences, batch, row, cell):
    anchored = program.anchored[cell]
    history, column = anchored[col.ANCHORED_HISTORY], anchored[col.ANCHORED_COLUMN]
    opened = state.open[anchored[col.ANCHORED_WINDOW]]
    begin = past.rows[history, col.PAST_BEGIN]
    while (
        begin < past.rows[history, col.PAST_SEEN]
        and past.first[begin] + past.windows[begin] <= opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE]
    ):
        begin += 1
    past.rows[history, col.PAST_BEGIN] = begin
    if begin == past.rows[history, col.PAST_SEEN]:
        return
    past.unseen[0] = past.unseen[1 + cell] = 1
    for link in range(anchored[col.ANCHORED_LINKS], anchored[col.ANCHORED_LINKS_END]):
        _add_link(program, state, guards, past, differences, batch, row, cell, link, False)
    if anchored[col.ANCHORED_COUNT_KIND] >= 0 and (column < 0 or batch.valid[column, row]):
        for link in range(anchored[col.ANCHORED_COUNT_LINKS], anchored[col.ANCHORED_COUNT_LINKS_END]):
            _add_link(program, state, guards, past, differences, batch, row, cell, link, True)


@inner
def _add_link(program, state, guards, past, differences, batch, row, cell, link, contributes):
    """Add what comes over a link from the rows of anchors, or what the event contributes to the trends that do."""
    anchored = program.anchored[cell]
    history, kind = anchored[col.ANCHORED_HISTORY], anchored[col.ANCHORED_KIND]
    scan, width = (
        program.links[link, col.LINK_SCAN],
        program.histories[history, col.HISTORY_LANES] * program.histories[history, col.HISTORY_CELLS],
    )
    opened = state.open[anchored[col.ANCHORED_WINDOW]]
    oldest, newest = (
        opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE],
        opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE_END] - 1,
    )
    first_anchor = past.rows[history, col.PAST_BEGIN]
    count = past.rows[history, col.PAST_SEEN] - first_anchor
    if scan >= 0:
        count = match(program, state, guards, past, batch, row, scan)
    values = past.value_at[history] - past.rows[history, col.PAST_FIRST] * width
    by = program.links[link, col.LINK_LANES] - anchored[col.ANCHORED_PENDING]
    high, low, number = past.values.high, past.values.low, past.values.number
    of_extreme, weighted = contributes and kind == EXTREME, contributes and anchored[col.ANCHORED_WEIGHTED] != 0
    column = anchored[col.ANCHORED_COLUMN]
    value, value_scale = 1.0, 0
    if weighted:
        value, value_scale = scaled(batch.numbers[column, row], 0)
        state.cursor[col.CURSOR_SCALED] |= value_scale != 0 or not (value == 0.0 or TINY <= abs(value) < HUGE)
    key_high, key_low = NO_HIGH, NO_LOW
    if of_extreme:
        key_high, key_low = batch.key_high[column, row], batch.key_low[column, row]
        if differences is not None:
            if differences.anchored[cell, col.ADDED_COLUMN] >= 0:
                key_high, key_low = with_part(differences.anchored[cell], batch, row, key_high, key_low)
    if scan < 0 and program.windows[anchored[col.ANCHORED_WINDOW], 0] == 0 and not (of_extreme or weighted):
        begin = values + first_anchor * width + anchored[col.ANCHORED_PENDING]
        if _add_column(kind, begin, begin + count * width, width, by, state.cursor, low, number):
            return
    for n in range(count):
        anchor = past.matches[scan, n] if scan >= 0 else first_anchor + n
        first = past.first[anchor]
        at = values + anchor * width + anchored[col.ANCHORED_PENDING] - first
        begin, end = at + max(oldest, first), at + min(newest, first + past.windows[anchor] - 1) + 1
        if of_extreme:
            _add_key(anchored[col.ANCHORED_COUNT_KIND], begin, end, by, key_high, key_low, high, low, number)
        elif weighted:
            _add_weighted(begin, end, by, value, value_scale, state.cursor, low, number)
        else:
            if differences is not None:
                if differences.anchored[cell, col.ADDED_COLUMN] >= 0:
                    add_from_with_part(differences.anchored[cell], batch, row, begin, end, by, high, low)
                    continue
            add_from(kind, begin, end, by, state.cursor, high, low, number, high, low, number)


@inlined
def _add_column(kind, begin, end, width, by, cursor, low, number):
    """Add a lane of each of some rows to another of the same row, unless that takes more than plain additions.

    Returns:
        Whether it was done.
    """
    if kind == EXACT and not cursor[col.CURSOR_WIDE]:
        most = np.int64(0)
        for row in range(begin, end, width):
            low[as_index(row)] += low[as_index(row + by)]
            most = max(most, low[as_index(row)])
        cursor[col.CURSOR_WIDE] |= most >= NARROW
        return True
    if kind == NUMBER and not cursor[col.CURSOR_SCALED]:
        largest = 0.0
        for row in range(begin, end, width):
            number[as_index(row)] += number[as_index(row + by)]
            largest = max(largest, abs(number[as_index(row)]))
        cursor[col.CURSOR_SCALED] |= largest >= HUGE
        return True
    return False


@inlined
def _add_key(count_kind, begin, end, by, key_high, key_low, high, low, number):
    """Let the event be among those of which the least is kept, wherever there is a trend."""
    for at in range(begin, end):
        slot = at + by
        if is_some(count_kind, high[slot], low[slot], number[slot]) and is_before(key_high, key_low, high[at], low[at]):
            high[at], low[at] = key_high, key_low


@inlined
def _add_weighted(begin, end, by, value, value_scale, cursor, low, number):
    """Add the event's value for each trend."""
    for at in range(begin, end):
        slot = at + by
        if number[slot] != 0.0:
            more, more_scale = scaled(value * number[slot], value_scale + low[slot])
            number[at], low[at] = add_scaled(number[at], low[at], more, more_scale)
            cursor[col.CURSOR_SCALED] |= low[at] != 0 or not abs(number[at]) < HUGE


@inner
def settle_anchored(program, state, past):
    """Move what is pending into what is held; rows that are yet to be seen have nothing pending."""
    high, low, number = past.values.high, past.values.low, past.values.number
    for cell in range(len(program.anchored)):
        if not past.unseen[1 + cell]:
            continue
        past.unseen[1 + cell] = 0
        anchored = program.anchored[cell]
        history, kind = anchored[col.ANCHORED_HISTORY], anchored[col.ANCHORED_KIND]
        width = program.histories[history, col.HISTORY_LANES] * program.histories[history, col.HISTORY_CELLS]
        values = past.value_at[history] - past.rows[history, col.PAST_FIRST] * width
        by = anchored[col.ANCHORED_PENDING] - anchored[col.ANCHORED_HELD]
        if program.windows[anchored[col.ANCHORED_WINDOW], 0] == 0:
            begin = values + past.rows[history, col.PAST_BEGIN] * width + anchored[col.ANCHORED_HELD]
            end = values + past.rows[history, col.PAST_SEEN] * width + anchored[col.ANCHORED_HELD]
            if _add_column(kind, begin, end, width, by, state.cursor, low, number):
                for row in range(begin + by, end + by, width):
                    high[as_index(row)] = low[as_index(row)] = 0
                continue
        for anchor in range(past.rows[history, col.PAST_BEGIN], past.rows[history, col.PAST_SEEN]):
            begin = values + anchor * width + anchored[col.ANCHORED_HELD]
            end = begin + past.windows[anchor]
            add_from(kind, begin, end, by, state.cursor, high, low, number, high, low, number)
            clear(kind, begin + by, end + by, high, low)
