"""The event loop: one pass over events sorted by key and time, for all queries of a pool.

An event adds to every cell of its classes what it starts, the totals of the source cells, and what it
contributes itself (GRETA's propagation, summed up per state instead of per event). Totals exclude
events of the same time, since these are never in one trend; they wait in ``State.pending``. A cell has
one lane per window; windows that end before an event are written out and their lanes cleared.

Where events of a source count only while guards are intact, its totals are also kept in buckets by time.
Of what a guard forbids it is enough to know, per state, the latest start of what has come so far: an
event before that start has the state's progress behind it, an event after has not. So the buckets of a
cell are at most one more than there are states, however many events there are.

The event loop is one function that calls nothing for an event but what numba inlines with few arguments: a
call costs numba's reference counting some nanoseconds for every array in its arguments, and taken apart
into one inlined function per arithmetic the loop takes half as long again (``docs/performance.md``).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from planner.kernel_plan import CLASSES_PER_WORD
from udfs.numbers import add_exact, add_scaled, is_before, scaled
from udfs.program import EXACT, EXTREME, NEVER_YET, NO_KEY, NUMBER
from udfs.scan import find_matches

_NEVER_YET = np.int64(NEVER_YET)

_NO_HIGH, _NO_LOW = np.int64(NO_KEY[0]), np.int64(NO_KEY[1])
_NARROW = np.int64(1 << 52)
_TINY, _HUGE = 2.0**-200, 2.0**200
"""While all counts of a key are below ``_NARROW`` one word holds them, and while all numbers are below
``_HUGE`` they need no scale: plain additions, which the compiler turns into vector instructions. A sum
over a thousand such counts, `MAX_STATES`, still fits in a word, and a product of two such numbers in a double."""
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT_PLACES = np.array(
    [p for _, p in sorted(((((1 << p) * 0x03F79D71B4CB0A89) % (1 << 64)) >> 58, p) for p in range(64))], np.int64
)


@njit(cache=True)
def advance(program, state, output, batch, row, combine):  # type: ignore[no-untyped-def]
    """Process the events of ``batch`` from ``row`` on.

    Args:
        program: `udfs.program.Program`.
        state: `udfs.program.State`; changed.
        output: `udfs.program.Output`; rows are added.
        batch: `udfs.batches.Batch`.
        row: Where to start.
        combine: Whether rows of the same group, bank and window are added up.

    Returns:
        The row to go on with after the output was flushed; the number of rows when all were processed.
    """
    updates, update_ends, sources = program.updates, program.update_ends, program.sources
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    event_high, event_low, event_number = state.event.high, state.event.low, state.event.number
    later_high, later_low, later_number = state.pending.high, state.pending.low, state.pending.number
    opened, dirty, is_dirty, cursor = state.open, state.dirty, state.is_dirty, state.cursor
    times, new_key, new_group, classes = batch.time, batch.new_key, batch.new_group, batch.classes
    valid, numbers, key_high, key_low = batch.valid, batch.numbers, batch.key_high, batch.key_low
    rows = len(times)
    room = len(output.group) - _rows_at_once(program.windows, program.bank_ends)
    matched = np.empty(classes.shape[1] * CLASSES_PER_WORD, np.int64)
    guarded = len(program.guard_states) > 0
    reached_back_to = len(program.histories) > 0

    while row < rows:
        if cursor[3] > room:
            return row
        time = times[row]
        first = new_key[row] != 0
        if first or time != cursor[1]:
            if cursor[2] or cursor[8] or cursor[9]:
                _settle(program, state)
            if first or time >= cursor[5]:
                if first and cursor[0]:
                    _close_all(program, state, output, combine)
                if first:
                    cursor[6] = cursor[7] = 0
                    _forget(state)
                cursor[4] += np.int64(new_group[row])
                _enter(program, state, output, time, combine, first)
                cursor[0] = 1
            cursor[1] = time

        found = 0
        for word in range(classes.shape[1]):
            bits = classes[row, word]
            while bits:
                place = np.uint64(bits & -bits) * _DE_BRUIJN >> np.uint64(58)
                matched[found] = word * CLASSES_PER_WORD + _BIT_PLACES[place]
                found += 1
                bits &= bits - 1

        # What the event adds to each cell of its classes, from totals of earlier events only.
        for m in range(found):
            for u in range(update_ends[matched[m]], update_ends[matched[m] + 1]):
                kind, window, at = updates[u, 0], updates[u, 1], updates[u, 2]
                begin, end = updates[u, 4], updates[u, 5]
                count, column = updates[u, 6], updates[u, 8]
                counts = count >= 0 and (column < 0 or valid[column, row] != 0)
                lane_begin, lane_end = opened[window, 3], opened[window, 4]
                start = updates[u, 3]
                if updates[u, 11] >= 0:
                    start &= classes[row, updates[u, 11] // CLASSES_PER_WORD] >> updates[u, 11] % CLASSES_PER_WORD
                guarded_start = start and updates[u, 12] >= 0
                if guarded_start:
                    start = np.int64(0)
                if kind == EXACT and not cursor[6]:
                    most = np.int64(0)
                    for lane in range(lane_begin, lane_end):
                        sum_low = start
                        for s in range(begin, end):
                            sum_low += low[sources[s] + lane]
                        if counts:
                            sum_low += event_low[count + lane]
                        event_high[at + lane] = 0
                        event_low[at + lane] = sum_low
                        most = max(most, sum_low)
                    cursor[6] |= most >= _NARROW
                elif kind == EXACT:
                    for lane in range(lane_begin, lane_end):
                        sum_high, sum_low = np.int64(0), start
                        for s in range(begin, end):
                            there = sources[s] + lane
                            sum_high, sum_low = add_exact(sum_high, sum_low, high[there], low[there])
                        if counts:
                            there = count + lane
                            sum_high, sum_low = add_exact(sum_high, sum_low, event_high[there], event_low[there])
                        event_high[at + lane] = sum_high
                        event_low[at + lane] = sum_low
                elif kind == NUMBER:
                    start_number = np.float64(start)
                    value, value_scale = 1.0, np.int64(0)
                    if counts and updates[u, 9]:
                        value = numbers[column, row]
                        cursor[7] |= not (value == 0.0 or _TINY <= abs(value) < _HUGE)
                    if not cursor[7]:
                        largest = 0.0
                        for lane in range(lane_begin, lane_end):
                            total = start_number
                            for s in range(begin, end):
                                total += number[sources[s] + lane]
                            if counts:
                                total += value * event_number[count + lane]
                            event_number[at + lane] = total
                            event_low[at + lane] = 0
                            largest = max(largest, abs(total))
                        cursor[7] |= largest >= _HUGE
                    else:
                        if counts and updates[u, 9]:
                            value, value_scale = scaled(value, np.int64(0))
                        for lane in range(lane_begin, lane_end):
                            total, scale = start_number, np.int64(0)
                            for s in range(begin, end):
                                there = sources[s] + lane
                                total, scale = add_scaled(total, scale, number[there], low[there])
                            there = count + lane
                            if counts and event_number[there] != 0.0:
                                more, more_scale = scaled(value * event_number[there], value_scale + event_low[there])
                                total, scale = add_scaled(total, scale, more, more_scale)
                            event_number[at + lane] = total
                            event_low[at + lane] = scale
                else:
                    for lane in range(lane_begin, lane_end):
                        least_high, least_low = _NO_HIGH, _NO_LOW
                        for s in range(begin, end):
                            there = sources[s] + lane
                            if is_before(high[there], low[there], least_high, least_low):
                                least_high, least_low = high[there], low[there]
                        there = count + lane
                        if (
                            counts
                            and is_before(key_high[column, row], key_low[column, row], least_high, least_low)
                            and _is_some(updates[u, 7], event_high[there], event_low[there], event_number[there])
                        ):
                            least_high, least_low = key_high[column, row], key_low[column, row]
                        event_high[at + lane] = least_high
                        event_low[at + lane] = least_low
                if guarded_start:
                    _start_where_intact(program, state, u, opened[window, 0])
                if updates[u, 13] < updates[u, 14]:
                    _add_links(program, state, batch, row, u)

        if reached_back_to:
            _record(program, state, matched, found, row, time)
        if guarded:
            _advance_guards(program, state, matched, found, time)
        alone = cursor[2] == 0 and row + 1 < rows and (new_key[row + 1] != 0 or times[row + 1] != time)
        if alone and cursor[8]:
            _settle_guards(program, state)
        if alone and cursor[9]:
            insert_into_trees(program, state, False)
        for m in range(found):
            for u in range(update_ends[matched[m]], update_ends[matched[m] + 1]):
                kind, window, at = updates[u, 0], updates[u, 1], updates[u, 2]
                begin, end = at + opened[window, 3], at + opened[window, 4]
                if alone:
                    _add(kind, begin, end, cursor, high, low, number, event_high, event_low, event_number)
                    if updates[u, 10] >= 0:
                        _add_to_bucket(program, state, u, event_high, event_low, event_number)
                else:
                    if not is_dirty[u]:
                        is_dirty[u] = 1
                        dirty[cursor[2]] = u
                        cursor[2] += 1
                    _add(
                        kind,
                        begin,
                        end,
                        cursor,
                        later_high,
                        later_low,
                        later_number,
                        event_high,
                        event_low,
                        event_number,
                    )
        row += 1
    return row


@njit(cache=True)
def end_key(program, state, output, combine):  # type: ignore[no-untyped-def]
    """Write out and clear all windows of the key under way."""
    if state.cursor[2] or state.cursor[8] or state.cursor[9]:
        _settle(program, state)
    _close_all(program, state, output, combine)
    state.cursor[0] = 0


@njit(cache=True, inline="always")
def _is_some(kind, high, low, number):  # type: ignore[no-untyped-def]
    """Whether a count of trends is not zero."""
    return (high | low) != 0 if kind == EXACT else number != 0.0


@njit(cache=True, inline="always")
def _add(kind, begin, end, cursor, high, low, number, more_high, more_low, more_number):  # type: ignore[no-untyped-def]
    """Add one cell's lanes at ``begin``..``end`` to the same lanes of other totals."""
    _add_from(kind, begin, end, 0, cursor, high, low, number, more_high, more_low, more_number)


@njit(cache=True, inline="always")
def _add_from(kind, begin, end, by, cursor, high, low, number, more_high, more_low, more_number):  # type: ignore[no-untyped-def]
    """Add lanes to the lanes at ``begin``..``end`` of other totals, which are ``by`` places before them."""
    if kind == EXACT and not cursor[6]:
        most = np.int64(0)
        for at in range(begin, end):
            low[at] += more_low[at + by]
            most = max(most, low[at])
        cursor[6] |= most >= _NARROW
    elif kind == EXACT:
        for at in range(begin, end):
            high[at], low[at] = add_exact(high[at], low[at], more_high[at + by], more_low[at + by])
    elif kind == NUMBER and not cursor[7]:
        largest = 0.0
        for at in range(begin, end):
            number[at] += more_number[at + by]
            largest = max(largest, abs(number[at]))
        cursor[7] |= largest >= _HUGE
    elif kind == NUMBER:
        for at in range(begin, end):
            number[at], low[at] = add_scaled(number[at], low[at], more_number[at + by], more_low[at + by])
    else:
        for at in range(begin, end):
            if is_before(more_high[at + by], more_low[at + by], high[at], low[at]):
                high[at], low[at] = more_high[at + by], more_low[at + by]


@njit(cache=True)
def _forget(state):  # type: ignore[no-untyped-def]
    """Start with a new key, of which no guard has been broken yet and no event can be reached back to."""
    state.past.rows[:, 2] = state.past.rows[:, 3]
    state.past.rows[:, 4] = state.past.rows[:, 3]
    state.latest[:] = _NEVER_YET
    state.broken[:] = _NEVER_YET
    state.buckets[:] = 0


@njit(cache=True)
def _advance_guards(program, state, matched, found, time):  # type: ignore[no-untyped-def]
    """What an event adds to forbidden trends; it waits until the time goes on."""
    rows = program.guard_states
    for m in range(found):
        for r in range(program.guard_ends[matched[m]], program.guard_ends[matched[m] + 1]):
            latest = time if rows[r, 1] else _NEVER_YET
            for s in range(rows[r, 3], rows[r, 4]):
                latest = max(latest, state.latest[program.guard_sources[s]])
            if latest > state.latest_pending[rows[r, 0]]:
                state.latest_pending[rows[r, 0]] = latest
                state.cursor[8] = 1


@njit(cache=True)
def _settle_guards(program, state):  # type: ignore[no-untyped-def]
    """Move what is pending of forbidden trends into what has come."""
    rows = program.guard_states
    for r in range(len(rows)):
        place, guard = rows[r, 0], rows[r, 2]
        latest = state.latest_pending[place]
        state.latest_pending[place] = _NEVER_YET
        state.latest[place] = max(state.latest[place], latest)
        if guard >= 0:
            state.broken[guard] = max(state.broken[guard], latest)
    state.cursor[8] = 0


@njit(cache=True)
def _holds(program, state, link, time):  # type: ignore[no-untyped-def]
    """Whether the condition of a link holds for an event at ``time``: nothing forbidden has started after it."""
    begin, bits = program.links[link, 1], 0
    for g in range(begin, program.links[link, 2]):
        bits |= np.int64(state.broken[program.link_guards[g]] <= time) << (g - begin)
    return program.link_tables[program.links[link, 3] + bits] != 0


@njit(cache=True)
def _start_where_intact(program, state, u, first):  # type: ignore[no-untyped-def]
    """Start a trend in the windows since whose start nothing forbidden has happened.

    ``first`` is the index of the window in lane 0.
    """
    kind, window, at = program.updates[u, 0], program.updates[u, 1], program.updates[u, 2]
    slide = program.windows[window, 1]
    event = state.event
    for lane in range(state.open[window, 3], state.open[window, 4]):
        since = (first + lane) * slide - 1 if program.windows[window, 0] else _NEVER_YET
        if not _holds(program, state, program.updates[u, 12], since):
            continue
        if kind == EXACT:
            event.high[at + lane], event.low[at + lane] = add_exact(
                event.high[at + lane], event.low[at + lane], np.int64(0), np.int64(1)
            )
        elif kind == NUMBER:
            event.number[at + lane], event.low[at + lane] = add_scaled(
                event.number[at + lane], event.low[at + lane], 1.0, np.int64(0)
            )


@njit(cache=True)
def _add_links(program, state, batch, row, u):  # type: ignore[no-untyped-def]
    """Add to an event's value what the events before hold from which its step may be taken."""
    for link in range(program.updates[u, 13], program.updates[u, 14]):
        if program.links[link, 4] < 0:
            _add_buckets(program, state, u, link)
        elif program.links[link, 5] >= 0:
            _add_tree(program, state, row, u, link)
        else:
            _add_matches(program, state, batch, row, u, link)


@njit(cache=True)
def _add_buckets(program, state, u, link):  # type: ignore[no-untyped-def]
    """Add the buckets of a cell that are left while the guards of a link are intact."""
    kind, window, at = program.updates[u, 0], program.updates[u, 1], program.updates[u, 2]
    begin, end = at + state.open[window, 3], at + state.open[window, 4]
    totals, event, store = state.totals, state.event, program.links[link, 0]
    for bucket in range(state.buckets[store]):
        if _holds(program, state, link, state.bucket_times[store, bucket]):
            by = program.stores[store, 0] + bucket * program.windows[window, 2] - at
            _add_from(
                kind,
                begin,
                end,
                by,
                state.cursor,
                event.high,
                event.low,
                event.number,
                totals.high,
                totals.low,
                totals.number,
            )


@njit(cache=True)
def _add_tree(program, state, row, u, link):  # type: ignore[no-untyped-def]
    """Add the events before that the comparison of a link lets through, by their ranks."""
    kind, window, at = program.updates[u, 0], program.updates[u, 1], program.updates[u, 2]
    opened, past, event = state.open[window], state.past, state.event
    tree, lanes = program.links[link, 5], program.histories[program.links[link, 7], 1]
    rank = past.ranks[program.links[link, 4], row]
    node = rank[4]
    while node > 0:
        first = past.node_at[tree] + (rank[3] + node - 1) * lanes
        for lane in range(opened[3], opened[4]):
            there = first + (opened[0] + lane) % lanes
            if past.node_window[there] == opened[0] + lane:
                _add_from(
                    kind,
                    at + lane,
                    at + lane + 1,
                    there - at - lane,
                    state.cursor,
                    event.high,
                    event.low,
                    event.number,
                    past.nodes.high,
                    past.nodes.low,
                    past.nodes.number,
                )
        node -= node & -node


@njit(cache=True)
def _add_matches(program, state, batch, row, u, link):  # type: ignore[no-untyped-def]
    """Add the events before that the comparison of a link lets through, one by one."""
    kind, window, at = program.updates[u, 0], program.updates[u, 1], program.updates[u, 2]
    opened, past, event = state.open[window], state.past, state.event
    scan, history = program.links[link, 6], program.links[link, 7]
    if past.matched[scan, 0] != row:
        past.matched[scan, 0] = row
        past.matched[scan, 1] = _find(program, state, batch, row, scan)
    width = program.histories[history, 1] * program.histories[history, 2]
    oldest, newest = opened[0] + opened[3], opened[0] + opened[4] - 1
    for match in range(past.matched[scan, 1]):
        place = past.matches[scan, match]
        first = past.first[place]
        begin, end = max(oldest, first), min(newest, first + past.windows[place] - 1) + 1
        there = past.value_at[history] + (place - past.rows[history, 0]) * width + program.links[link, 8] - first
        to = at - opened[0]
        _add_from(
            kind,
            to + begin,
            to + end,
            there - to,
            state.cursor,
            event.high,
            event.low,
            event.number,
            past.values.high,
            past.values.low,
            past.values.number,
        )


@njit(cache=True)
def _find(program, state, batch, row, scan):  # type: ignore[no-untyped-def]
    """Find the events before that match the event at hand; returns how many there are."""
    past, link, history = state.past, program.scans[scan, 0], program.scans[scan, 1]
    opened = state.open[program.histories[history, 0]]
    begin, end = past.rows[history, 2], past.rows[history, 4]
    while begin < end and past.first[begin] + past.windows[begin] <= opened[0] + opened[3]:
        begin += 1
    past.rows[history, 2] = begin
    code = program.code[program.scans[scan, 2] : program.scans[scan, 3]]
    found = find_matches(code, batch, row, past.source, begin, end, past.matches[scan])
    if program.links[link, 1] == program.links[link, 2]:
        return found
    kept = 0
    for match in range(found):
        place = past.matches[scan, match]
        if _holds(program, state, link, past.time[place]):
            past.matches[scan, kept] = place
            kept += 1
    return kept


@njit(cache=True)
def _record(program, state, matched, found, row, time):  # type: ignore[no-untyped-def]
    """Note what an event added to cells that comparisons reach back to, unless it is nothing."""
    past, updates, event = state.past, program.updates, state.event
    for m in range(found):
        for h in range(program.history_ends[matched[m]], program.history_ends[matched[m] + 1]):
            window, lanes, cells = program.histories[h, 0], program.histories[h, 1], program.histories[h, 2]
            begin, opened = program.histories[h, 3], state.open[window]
            windows = opened[4] - opened[3]
            place = past.rows[h, 3]
            at = past.value_at[h] + (place - past.rows[h, 0]) * cells * lanes
            some = False
            for c in range(cells):
                u = program.history_cells[begin + c]
                for lane in range(windows):
                    here, there = updates[u, 2] + opened[3] + lane, at + c * lanes + lane
                    past.values.high[there] = event.high[here]
                    past.values.low[there] = event.low[here]
                    some |= updates[u, 0] != EXTREME and _is_some(
                        updates[u, 0], event.high[here], event.low[here], event.number[here]
                    )
            if some:
                past.time[place], past.source[place] = time, row
                past.first[place], past.windows[place] = opened[0] + opened[3], windows
                past.rows[h, 3] = place + 1
                state.cursor[9] = 1


@njit(cache=True)
def insert_into_trees(program, state, again):  # type: ignore[no-untyped-def]
    """Make recorded events seen: those at the latest time, or, after the trees were made ``again``, all before it."""
    past = state.past
    for h in range(len(program.histories)):
        begin, end = past.rows[h, 4], past.rows[h, 3]
        if again:
            begin, end = past.rows[h, 2], begin
        for tree in range(program.tree_ends[h], program.tree_ends[h + 1]):
            for place in range(begin, end):
                _insert(program, state, tree, place)
        past.rows[h, 4] = end
    if not again:
        state.cursor[9] = 0


@njit(cache=True)
def _insert(program, state, tree, place):  # type: ignore[no-untyped-def]
    """Add a recorded event to the nodes of a tree that its rank is under."""
    past, h, u = state.past, program.trees[tree, 1], program.trees[tree, 3]
    kind, lanes = program.updates[u, 0], program.histories[h, 1]
    width = lanes * program.histories[h, 2]
    values = past.value_at[h] + (place - past.rows[h, 0]) * width + program.trees[tree, 2]
    rank = past.ranks[program.trees[tree, 0], past.source[place]]
    blank_high, blank_low = (_NO_HIGH, _NO_LOW) if kind == EXTREME else (np.int64(0), np.int64(0))
    if rank[0] < 0:
        return
    node = rank[1] + 1
    while node <= rank[2]:
        first = past.node_at[tree] + (rank[0] + node - 1) * lanes
        for lane in range(past.windows[place]):
            window = past.first[place] + lane
            there = first + window % lanes
            if past.node_window[there] != window:
                past.node_window[there] = window
                past.nodes.high[there], past.nodes.low[there] = blank_high, blank_low
            _add_from(
                kind,
                there,
                there + 1,
                values + lane - there,
                state.cursor,
                past.nodes.high,
                past.nodes.low,
                past.nodes.number,
                past.values.high,
                past.values.low,
                past.values.number,
            )
        node += node & -node


@njit(cache=True)
def _add_to_bucket(program, state, u, more_high, more_low, more_number):  # type: ignore[no-untyped-def]
    """Add events at the latest time to the youngest bucket of their cell, or to a new one."""
    updates, totals, time = program.updates, state.totals, state.cursor[1]
    kind, window, at, store = updates[u, 0], updates[u, 1], updates[u, 2], updates[u, 10]
    used = state.buckets[store]
    if used == 0 or _is_split(program, state, store, state.bucket_times[store, used - 1], time):
        if used == program.stores[store, 1]:
            used = _merge_buckets(program, state, u)
        state.bucket_times[store, used] = time
        used += 1
        state.buckets[store] = used
    there = program.stores[store, 0] + (used - 1) * program.windows[window, 2]
    begin, end = there + state.open[window, 3], there + state.open[window, 4]
    _add_from(
        kind,
        begin,
        end,
        at - there,
        state.cursor,
        totals.high,
        totals.low,
        totals.number,
        more_high,
        more_low,
        more_number,
    )


@njit(cache=True)
def _is_split(program, state, store, earlier, later):  # type: ignore[no-untyped-def]
    """Whether some guard state tells events at two times apart."""
    for s in range(program.stores[store, 2], program.stores[store, 3]):
        if earlier < state.latest[program.store_states[s]] <= later:
            return True
    return False


@njit(cache=True)
def _merge_buckets(program, state, u):  # type: ignore[no-untyped-def]
    """Put buckets together that no guard state tells apart any more; returns how many are left."""
    kind, window, store = program.updates[u, 0], program.updates[u, 1], program.updates[u, 10]
    totals, lanes, first = state.totals, program.windows[window, 2], program.stores[store, 0]
    cell = program.windows[window, 3] + (first - program.windows[window, 5]) // lanes
    kept = 0
    for bucket in range(1, state.buckets[store]):
        time = state.bucket_times[store, bucket]
        if _is_split(program, state, store, state.bucket_times[store, kept], time):
            kept += 1
            state.bucket_times[store, kept] = time
            if kept == bucket:
                continue
        begin = first + kept * lanes
        by = (bucket - kept) * lanes
        _add_from(
            kind,
            begin,
            begin + lanes,
            by,
            state.cursor,
            totals.high,
            totals.low,
            totals.number,
            totals.high,
            totals.low,
            totals.number,
        )
        for at in range(begin + by, begin + by + lanes):
            totals.high[at] = program.blanks[cell, 0]
            totals.low[at] = program.blanks[cell, 1]
    state.buckets[store] = kept + 1
    return kept + 1


@njit(cache=True)
def _settle(program, state):  # type: ignore[no-untyped-def]
    """Move what is pending into the totals."""
    updates, windows, blanks = program.updates, program.windows, program.blanks
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    later_high, later_low, later_number = state.pending.high, state.pending.low, state.pending.number
    if state.cursor[8]:
        _settle_guards(program, state)
    if state.cursor[9]:
        insert_into_trees(program, state, False)
    for place in range(state.cursor[2]):
        u = state.dirty[place]
        state.is_dirty[u] = 0
        window, at = updates[u, 1], updates[u, 2]
        begin, end = at + state.open[window, 3], at + state.open[window, 4]
        _add(updates[u, 0], begin, end, state.cursor, high, low, number, later_high, later_low, later_number)
        if updates[u, 10] >= 0:
            _add_to_bucket(program, state, u, later_high, later_low, later_number)
        cell = windows[window, 3] + (at - windows[window, 5]) // windows[window, 2]
        for there in range(begin, end):
            later_high[there] = blanks[cell, 0]
            later_low[there] = blanks[cell, 1]
    state.cursor[2] = 0


@njit(cache=True)
def _rows_at_once(windows, bank_ends):  # type: ignore[no-untyped-def]
    """The most rows that one event can cause to be written."""
    total = 0
    for window in range(len(windows)):
        total += (windows[window, 2] + 1) // 2 * (bank_ends[window + 1] - bank_ends[window])
    return total


@njit(cache=True)
def _enter(program, state, output, time, combine, first):  # type: ignore[no-untyped-def]
    """Close the windows that end at or before ``time`` and open those that it is in."""
    steady = np.iinfo(np.int64).max
    for w in range(len(program.windows)):
        within, slide, lanes = program.windows[w, 0], program.windows[w, 1], program.windows[w, 2]
        opened = state.open[w]
        newest = np.int64(0)
        oldest = np.int64(0)
        if within:
            newest = time // slide
            oldest = newest - (within - 1 - (time - newest * slide)) // slide
            steady = min(steady, (newest + 1) * slide)
            if oldest <= newest:
                steady = min(steady, oldest * slide + within)
        if first:
            opened[0] = oldest
            opened[1] = oldest
            opened[2] = oldest - 1
        elif opened[1] < oldest:
            _close(program, state, output, w, oldest, combine)
        if opened[2] < oldest:
            opened[0] = oldest  # nothing is open; the distance from there may be more than an int64 holds
        elif newest - opened[0] >= lanes:
            _shift(program.windows[w], program.blanks, opened, state.totals.high, state.totals.low, oldest)
        opened[2] = max(opened[2], newest)
        opened[3] = oldest - opened[0]
        opened[4] = newest - opened[0] + 1
    state.cursor[5] = steady


@njit(cache=True)
def _shift(window, blanks, opened, high, low, oldest):  # type: ignore[no-untyped-def]
    """Move the open windows so that ``oldest`` is in lane 0."""
    lanes = window[2]
    by = oldest - opened[0]
    used = max(np.int64(0), opened[2] - oldest + 1)
    at = window[5]
    for cell in range(window[3], window[4]):
        for lane in range(at, at + used):
            high[lane] = high[lane + by]
            low[lane] = low[lane + by]
        for lane in range(at + used, at + lanes):
            high[lane] = blanks[cell, 0]
            low[lane] = blanks[cell, 1]
        at += lanes
    opened[0] = oldest


@njit(cache=True)
def _close_all(program, state, output, combine):  # type: ignore[no-untyped-def]
    """Write out and clear all open windows."""
    for window in range(len(program.windows)):
        _close(program, state, output, window, state.open[window, 2] + 1, combine)


@njit(cache=True)
def _close(program, state, output, w, until, combine):  # type: ignore[no-untyped-def]
    """Write out and clear the open windows of ``w`` below ``until``."""
    windows, blanks, banks = program.windows, program.blanks, program.banks
    slots, slot_sources = program.slots, program.slot_sources
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    words, floats, opened = output.words, output.floats, state.open[w]
    lanes = windows[w, 2]
    for index in range(opened[1], min(opened[2], until - 1) + 1):
        lane = index - opened[0]
        for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
            begin, end = banks[bank, 1], banks[bank, 2]
            found = False
            for slot in range(begin, end):
                kind = slots[slot, 0]
                for source in range(slots[slot, 1], slots[slot, 2]):
                    at = slot_sources[source] + lane
                    found |= kind == EXACT and (high[at] | low[at]) != 0
                    found |= kind == NUMBER and number[at] != 0.0
                for link in range(slots[slot, 5], slots[slot, 6]):
                    store = program.links[link, 0]
                    for bucket in range(state.buckets[store]):
                        at = program.stores[store, 0] + bucket * lanes + lane
                        if _holds(program, state, link, state.bucket_times[store, bucket]):
                            found |= kind == EXACT and (high[at] | low[at]) != 0
                            found |= kind == NUMBER and number[at] != 0.0
                if found:
                    break
            if not found:
                continue
            row = _row(program.blank_row, state.cursor, output, banks[bank, 0], index, combine)
            for slot in range(begin, end):
                kind, word, place = slots[slot, 0], slots[slot, 3], slots[slot, 4]
                for source in range(slots[slot, 1], slots[slot, 2]):
                    _write(kind, slot_sources[source] + lane, state.totals, words[row], floats[row], word, place)
                for link in range(slots[slot, 5], slots[slot, 6]):
                    store = program.links[link, 0]
                    for bucket in range(state.buckets[store]):
                        if _holds(program, state, link, state.bucket_times[store, bucket]):
                            at = program.stores[store, 0] + bucket * lanes + lane
                            _write(kind, at, state.totals, words[row], floats[row], word, place)
        at = windows[w, 5] + lane
        for cell in range(windows[w, 3], windows[w, 4]):
            high[at] = blanks[cell, 0]
            low[at] = blanks[cell, 1]
            at += lanes
    opened[1] = max(opened[1], until)


@njit(cache=True, inline="always")
def _write(kind, at, totals, words, floats, word, place):  # type: ignore[no-untyped-def]
    """Add one total to a field of an output row."""
    high, low, number = totals.high[at], totals.low[at], totals.number[at]
    if kind == EXACT:
        words[word], words[word + 1] = add_exact(words[word], words[word + 1], high, low)
    elif kind == NUMBER:
        floats[place], words[word] = add_scaled(floats[place], words[word], number, low)
    elif is_before(high, low, words[word], words[word + 1]):
        words[word], words[word + 1] = high, low


@njit(cache=True)
def _row(blank_row, cursor, output, bank, index, combine):  # type: ignore[no-untyped-def]
    """The output row of a group, bank and window: the one there is when combining, else a new one."""
    group = cursor[4]
    row = cursor[3]
    if combine:
        mask = len(output.table) - 1
        slot = (index * 7046029254386353131 + (group * 64 + bank) * 1442695040888963407) & mask
        while output.table[slot] >= 0:
            other = output.table[slot]
            if output.window[other] == index and output.group[other] == group and output.bank[other] == bank:
                return other
            slot = (slot + 1) & mask
        output.table[slot] = row
    output.group[row] = group
    output.bank[row] = bank
    output.window[row] = index
    output.words[row, :] = blank_row
    output.floats[row, :] = 0.0
    cursor[3] = row + 1
    return row
