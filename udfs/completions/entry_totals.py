"""What completions add up: totals of the trends that come to each entry, apart by when these have begun.

A trend that has begun in one stretch of time counts in the same windows and spans as all others of that stretch, so
what is added up is held in a lane for each. What a completion counts is a sum over its youngest lanes.
"""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.udfs.arithmetic.numbers import is_before, scaled
from sparkext.udfs.arithmetic.totals import NO_HIGH, NO_LOW, add_one, is_some
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.jit.compiled import inlined, inner
from sparkext.udfs.kernels.difference_parts import with_part
from sparkext.udfs.tables.columns import ADDED_COLUMN
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER


@inlined
def _blank(kind, to, i, j, begin, end):
    """Empty the lanes from ``begin`` to ``end`` of a row of amounts."""
    high, low, number = to.high[i, j], to.low[i, j], to.number[i, j]
    for lane in range(begin, end):
        high[lane], low[lane] = (NO_HIGH, NO_LOW) if kind == EXTREME else (np.int64(0), np.int64(0))
        number[lane] = 0.0


@inlined
def _add(kind, to, i, j, of, k, m, begin, end):
    """Add the lanes of a row of amounts to those of another."""
    high, low, number = to.high[i, j], to.low[i, j], to.number[i, j]
    more_high, more_low, more_number = of.high[k, m], of.low[k, m], of.number[k, m]
    for lane in range(begin, end):
        add_one(kind, lane, high, low, number, more_high[lane], more_low[lane], more_number[lane])


@inlined
def _copy(to, i, j, of, k, m, begin, end):
    """Make the lanes of a row of amounts what those of another are."""
    for lane in range(begin, end):
        to.high[i, j, lane], to.low[i, j, lane] = of.high[k, m, lane], of.low[k, m, lane]
        to.number[i, j, lane] = of.number[k, m, lane]


# What comes to the node of an event.


@inner
def begin_totals(program, state, s, row):
    """Clear the totals of a node of the moment under way, at a state; ``row`` is its number in the moment."""
    first, end = program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END]
    for t in range(first, end):
        kind = program.totals[t, col.TOTAL_KIND]
        _blank(kind, state.fresh, row, t - first, state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES])


@inner
def add_entry(program, state, s, link, entry, row):
    """Add what an entry of the state before holds to a node of the moment under way."""
    first, cursor = program.states[s, col.STATE_TOTALS], state.cursor
    for a in range(program.links[link, col.LINK_ADDS], program.links[link, col.LINK_ADDS_END]):
        to, of = program.adds[a, 0], program.adds[a, 1]
        kind = program.totals[to, col.TOTAL_KIND]
        _add(
            kind, state.fresh, row, to - first, state.held, of, entry, cursor[col.CURSOR_LANE], cursor[col.CURSOR_LANES]
        )


@inner
def add_event(program, state, batch, event, s, row, starts):
    """Add what an event adds by itself to a node of its own: the trend that it starts, and what it contributes.

    Args:
        program: What to look for.
        state: Of the run; changed.
        batch: Of the event.
        event: Its row.
        s: State of the node.
        row: Number of the node in the moment under way.
        starts: Whether a trend starts there.
    """
    first, end, fresh = program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END], state.fresh
    lane = state.cursor[col.CURSOR_LANES] - 1  # that of now, if a trend may start
    for t in range(first, end):
        kind = program.totals[t, col.TOTAL_KIND]
        begin, lanes = state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES]
        if not _is_of(batch, event, program.totals[t, col.TOTAL_EVENT]):
            _blank(kind, fresh, row, t - first, begin, lanes)
            continue
        start = program.totals[t, col.TOTAL_START]
        if starts and start != col.NO_START and (start == col.ANY_START or _is_of(batch, event, start)):
            high, low, number = fresh.high[row, t - first], fresh.low[row, t - first], fresh.number[row, t - first]
            count_of_one = np.int64(kind == EXACT)
            add_one(kind, lane, high, low, number, np.int64(0), count_of_one, 1.0)
        count, column = program.totals[t, col.TOTAL_COUNT], program.totals[t, col.TOTAL_COLUMN]
        if count >= 0 and (column < 0 or batch.valid[column, event]):
            _contribute(program, state, batch, event, t, row, first, column)
        if program.added[t, ADDED_COLUMN] >= 0:
            high, low = fresh.high[row, t - first], fresh.low[row, t - first]
            for at in range(begin, lanes):
                high[at], low[at] = with_part(program.added[t], batch, event, high[at], low[at])


@inlined
def _contribute(program, state, batch, event, t, row, first, column):
    """Add what an event contributes, once for each trend that comes to it."""
    fresh, kind, count = state.fresh, program.totals[t, col.TOTAL_KIND], program.totals[t, col.TOTAL_COUNT]
    count_kind = program.totals[count, col.TOTAL_KIND]
    high, low, number = fresh.high[row, t - first], fresh.low[row, t - first], fresh.number[row, t - first]
    counts_high, counts_low = fresh.high[row, count - first], fresh.low[row, count - first]
    counts = fresh.number[row, count - first]
    value, value_scale = 1.0, np.int64(0)
    if kind == NUMBER and program.totals[t, col.TOTAL_WEIGHTED]:
        value, value_scale = scaled(batch.numbers[column, event], np.int64(0))
    for lane in range(state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES]):
        if not is_some(count_kind, counts_high[lane], counts_low[lane], counts[lane]):
            continue
        if kind == EXACT:
            add_one(kind, lane, high, low, number, counts_high[lane], counts_low[lane], 0.0)
        elif kind == NUMBER:
            more, scale = scaled(value * counts[lane], value_scale + counts_low[lane])
            add_one(kind, lane, high, low, number, np.int64(0), scale, more)
        elif is_before(batch.key_high[column, event], batch.key_low[column, event], high[lane], low[lane]):
            high[lane], low[lane] = batch.key_high[column, event], batch.key_low[column, event]


@inlined
def _is_of(batch, row, event):
    """Whether an event is of a class."""
    return ((batch.classes[row, event // CLASSES_PER_WORD] >> event % CLASSES_PER_WORD) & 1) != 0


# What entries hold.


@inner
def hold(program, state, s, entry, row, is_new):
    """Let an entry of a state hold what has come to a node of the moment under way, beside what it holds already."""
    first, begin, end = (
        program.states[s, col.STATE_TOTALS],
        state.cursor[col.CURSOR_LANE],
        state.cursor[col.CURSOR_LANES],
    )
    for t in range(first, program.states[s, col.STATE_TOTALS_END]):
        if is_new:
            _copy(state.held, t, entry, state.fresh, row, t - first, begin, end)
        else:
            _add(program.totals[t, col.TOTAL_KIND], state.held, t, entry, state.fresh, row, t - first, begin, end)


@inner
def move_totals(program, state, s, entry, to):
    """Let an entry of a state hold what another holds."""
    begin, end = state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES]
    for t in range(program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END]):
        _copy(state.held, t, to, state.held, t, entry, begin, end)


@inner
def join_totals(program, state, s, entry, to):
    """Let an entry of a state hold also what another holds."""
    begin, end = state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES]
    for t in range(program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END]):
        _add(program.totals[t, col.TOTAL_KIND], state.held, t, to, state.held, t, entry, begin, end)


# What completions count.


@inner
def end_totals(program, state, query, end, s, row, is_first):
    """Add what has come to a node, at which trends of a query end, to what the event at hand completes."""
    first = program.states[s, col.STATE_TOTALS]
    begin, lanes = state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES]
    value = program.queries[query, col.QUERY_VALUES]
    for v in range(program.queries[query, col.QUERY_VALUES_END] - value):
        kind, t = program.values[value + v], program.end_totals[end + v]
        if is_first:
            _blank(kind, state.ended, 0, value + v, begin, lanes)
        if t >= 0:
            _add(kind, state.ended, 0, value + v, state.fresh, row, t - first, begin, lanes)


@inner
def wait_with_totals(program, state, query, end, s, row, at):
    """Let what has come to a node wait with its completion."""
    first = program.states[s, col.STATE_TOTALS]
    begin, lanes = state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES]
    value = program.queries[query, col.QUERY_VALUES]
    for v in range(program.queries[query, col.QUERY_VALUES_END] - value):
        t = program.end_totals[end + v]
        if t >= 0:
            _copy(state.waited, at, v, state.fresh, row, t - first, begin, lanes)
        else:
            _blank(program.values[value + v], state.waited, at, v, begin, lanes)


@inner
def move_waiting(program, state, query, at, to):
    """Move what waits with a completion to another row."""
    for v in range(program.queries[query, col.QUERY_VALUES_END] - program.queries[query, col.QUERY_VALUES]):
        _copy(state.waited, to, v, state.waited, at, v, state.cursor[col.CURSOR_LANE], state.cursor[col.CURSOR_LANES])


@inner
def give(program, state, query, first, last, time):
    """Write the values of a completion for its windows; returns where they are, see `OUT_VALUES`."""
    at, value = state.cursor[col.CURSOR_VALUES], program.queries[query, col.QUERY_VALUES]
    many = last - first + 1 if program.queries[query, col.QUERY_BY_LANES] else np.int64(1)
    values = state.values
    for v in range(program.queries[query, col.QUERY_VALUES_END] - value):
        kind = program.values[value + v]
        of_high, of_low = state.ended.high[0, value + v], state.ended.low[0, value + v]
        of_number = state.ended.number[0, value + v]
        lane = state.cursor[col.CURSOR_LANES] - 1
        for n in range(many):
            row = at + many - 1 - n
            _blank(kind, values, row, v, 0, 1)
            if n:
                _copy(values, row, v, values, row + 1, v, 0, 1)
            high, low, number = values.high[row, v], values.low[row, v], values.number[row, v]
            least = _least_lane(program, state, query, last - n, time)
            while lane >= least:
                add_one(kind, 0, high, low, number, of_high[lane], of_low[lane], of_number[lane])
                lane -= 1
    state.cursor[col.CURSOR_VALUES] = at + many
    return at - first if program.queries[query, col.QUERY_BY_LANES] else at


@inner
def give_waiting(program, state, query, waiting, window, time, is_first):
    """Add what waits with a completion to its values in a window; returns where they are, see `OUT_VALUES`."""
    at, value = state.cursor[col.CURSOR_VALUES], program.queries[query, col.QUERY_VALUES]
    least = _least_lane(program, state, query, window, time)
    for v in range(program.queries[query, col.QUERY_VALUES_END] - value):
        kind = program.values[value + v]
        if is_first:
            _blank(kind, state.values, at, v, 0, 1)
        high, low, number = state.values.high[at, v], state.values.low[at, v], state.values.number[at, v]
        of_high, of_low = state.waited.high[waiting, v], state.waited.low[waiting, v]
        of_number = state.waited.number[waiting, v]
        for lane in range(least, state.cursor[col.CURSOR_LANES]):
            add_one(kind, 0, high, low, number, of_high[lane], of_low[lane], of_number[lane])
    return at - window if program.queries[query, col.QUERY_BY_LANES] else at


@inlined
def _least_lane(program, state, query, window, time):
    """The first lane of trends that count in a window, or in the span that ends then."""
    grain, span = program.facts[col.FACT_GRAIN], program.queries[query, col.QUERY_SPAN]
    lane = state.cursor[col.CURSOR_LANE]
    if grain == 0 or (span == 0 and not program.queries[query, col.QUERY_BY_LANES]):
        return lane
    least = time - span + 1
    if span == 0:
        least = window * program.queries[query, col.QUERY_SLIDE] // grain
    elif least > time:  # below what a number can be
        return lane
    lane, end = max(lane, np.int64(1)), state.cursor[col.CURSOR_LANES]
    while lane < end:
        middle = (lane + end) // 2
        if state.lanes[middle] < least:
            lane = middle + 1
        else:
            end = middle
    return lane


# Lanes.


@inner
def open_lane(program, state, time):
    """See to it that the last lane is for trends that begin at a time, which is the latest; whether there is room."""
    grain, cursor, lanes = program.facts[col.FACT_GRAIN], state.cursor, state.lanes
    if grain == 0 or (cursor[col.CURSOR_LANES] > 1 and lanes[cursor[col.CURSOR_LANES] - 1] == time // grain):
        return True
    old = max(cursor[col.CURSOR_LANE], np.int64(1))
    while old < cursor[col.CURSOR_LANES] and _is_past(program, time, lanes[old] * grain + (grain - 1)):
        old += 1
    if not program.facts[col.FACT_UNBOUNDED]:
        cursor[col.CURSOR_LANE] = old
    if cursor[col.CURSOR_LANES] == len(lanes):
        if 2 * (old - 1) < len(lanes):
            return False
        _shift(program, state, old)
    lane = cursor[col.CURSOR_LANES]
    lanes[lane] = time // grain
    cursor[col.CURSOR_LANES] = lane + 1
    for s in range(len(program.states)):
        for t in range(program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END]):
            for entry in range(_entries(program, state, s)):
                _blank(program.totals[t, col.TOTAL_KIND], state.held, t, entry, lane, lane + 1)
    for node in range(cursor[col.CURSOR_NEW], cursor[col.CURSOR_NODES]):
        first, end = _totals_of(program, state, node)
        for t in range(first, end):
            _blank(
                program.totals[t, col.TOTAL_KIND], state.fresh, node - cursor[col.CURSOR_NEW], t - first, lane, lane + 1
            )
    for w in range(cursor[col.CURSOR_WAITING]):
        value, end = _values_of(program, state, w)
        for v in range(end - value):
            _blank(program.values[value + v], state.waited, w, v, lane, lane + 1)
    return True


@inlined
def _is_past(program, time, start):
    """Whether trends that began then are too old for all spans and windows."""
    return start <= time and np.uint64(time) - np.uint64(start) >= np.uint64(program.facts[col.FACT_HORIZON])


@inlined
def _entries(program, state, s):
    """How many entries a state has."""
    kind = program.states[s, col.STATE_KIND]
    return np.int64(kind == col.BEST) if kind <= col.BEST else state.counts[s]


@inlined
def _totals_of(program, state, node):
    """The totals of a node's state: where they begin, and their end."""
    s = state.nodes[node, col.NODE_STATE]
    return program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END]


@inlined
def _values_of(program, state, waiting):
    """The values of what waits: where they begin, and their end."""
    query = state.waiting[waiting, col.WAIT_QUERY]
    return program.queries[query, col.QUERY_VALUES], program.queries[query, col.QUERY_VALUES_END]


@inner
def _shift(program, state, old):
    """Make room: lanes from ``old`` on follow the first, which gets what the others held if some query counts it."""
    cursor = state.cursor
    for s in range(len(program.states)):
        for t in range(program.states[s, col.STATE_TOTALS], program.states[s, col.STATE_TOTALS_END]):
            for entry in range(_entries(program, state, s)):
                _shift_row(program, program.totals[t, col.TOTAL_KIND], state.held, t, entry, old, cursor)
    for node in range(cursor[col.CURSOR_NEW], cursor[col.CURSOR_NODES]):
        first, end = _totals_of(program, state, node)
        for t in range(first, end):
            row = node - cursor[col.CURSOR_NEW]
            _shift_row(program, program.totals[t, col.TOTAL_KIND], state.fresh, row, t - first, old, cursor)
    for w in range(cursor[col.CURSOR_WAITING]):
        value, end = _values_of(program, state, w)
        for v in range(end - value):
            _shift_row(program, program.values[value + v], state.waited, w, v, old, cursor)
    for lane in range(old, cursor[col.CURSOR_LANES]):
        state.lanes[lane - old + 1] = state.lanes[lane]
    cursor[col.CURSOR_LANES] -= old - 1
    if cursor[col.CURSOR_LANE]:
        cursor[col.CURSOR_LANE] = 1


@inlined
def _shift_row(program, kind, to, i, j, old, cursor):
    high, low, number = to.high[i, j], to.low[i, j], to.number[i, j]
    if program.facts[col.FACT_UNBOUNDED]:
        for lane in range(1, old):
            add_one(kind, 0, high, low, number, high[lane], low[lane], number[lane])
    for lane in range(old, cursor[col.CURSOR_LANES]):
        at = lane - old + 1
        high[at], low[at], number[at] = high[lane], low[lane], number[lane]
