"""Guards: what must not happen between two events, before the first or after the last.

Of what a guard forbids it is enough to know, per state, the latest start of what has come so far: an
event before that start has the state's progress behind it, an event after has not. So where events of a
cell count only while guards are intact, its totals are also kept in buckets by time, at most one more
than there are states, however many events there are.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled
from sparkext.udfs.arithmetic.totals import add_from
from sparkext.udfs.jit.compiled import inner
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, NEVER_YET, NUMBER

_NEVER = np.int64(NEVER_YET)


@inner
def forget_guards(guards):
    """Start with a new key, of which no guard has been broken yet."""
    guards.latest[:] = _NEVER
    guards.broken[:] = _NEVER
    guards.buckets[:] = 0


@inner
def advance_guards(program, guards, matched, class_count, time):
    """What an event adds to forbidden trends; it waits until the time goes on."""
    rows = program.guard_states
    for m in range(class_count):
        for r in range(
            program.guard_ends[matched[m], col.GUARD_ENDS], program.guard_ends[matched[m] + 1, col.GUARD_ENDS]
        ):
            latest = time if rows[r, col.GUARD_STARTS] else _NEVER
            for s in range(rows[r, col.GUARD_SOURCES], rows[r, col.GUARD_SOURCES_END]):
                latest = max(latest, guards.latest[program.guard_sources[s]])
            if latest > guards.latest_pending[rows[r, col.GUARD_NUMBER]]:
                guards.latest_pending[rows[r, col.GUARD_NUMBER]] = latest
                guards.pending[0] = 1


@inner
def settle_guards(program, guards):
    """Move what is pending of forbidden trends into what has come."""
    rows = program.guard_states
    for r in range(len(rows)):
        number, guard = rows[r, col.GUARD_NUMBER], rows[r, col.GUARD_BREAKS]
        latest = guards.latest_pending[number]
        guards.latest_pending[number] = _NEVER
        guards.latest[number] = max(guards.latest[number], latest)
        if guard >= 0:
            guards.broken[guard] = max(guards.broken[guard], latest)
    guards.pending[0] = 0


@inner
def holds(program, guards, link, time):
    """Whether the condition of a link holds for an event at ``time``: nothing forbidden has started after it."""
    begin, bits = program.links[link, col.LINK_GUARDS], 0
    for g in range(begin, program.links[link, col.LINK_GUARDS_END]):
        bits |= np.int64(guards.broken[program.link_guards[g]] <= time) << (g - begin)
    return program.link_tables[program.links[link, col.LINK_TABLE] + bits] != 0


@inner
def start_where_intact(program, state, guards, u):
    """Start a trend in the windows since whose start nothing forbidden has happened."""
    kind, window, at = (
        program.updates[u, col.UPDATE_KIND],
        program.updates[u, col.UPDATE_WINDOW],
        program.updates[u, col.UPDATE_AT],
    )
    slide, first = program.windows[window, col.WINDOW_SLIDE], state.open[window, col.OPEN_ORIGIN]
    event = state.event
    for lane in range(state.open[window, col.OPEN_LANE], state.open[window, col.OPEN_LANE_END]):
        since = (first + lane) * slide - 1 if program.windows[window, col.WINDOW_WITHIN] else _NEVER
        if not holds(program, guards, program.updates[u, col.UPDATE_START_LINK], since):
            continue
        if kind == EXACT:
            event.high[at + lane], event.low[at + lane] = add_exact(
                event.high[at + lane], event.low[at + lane], np.int64(0), np.int64(1)
            )
        elif kind == NUMBER:
            event.number[at + lane], event.low[at + lane] = add_scaled(
                event.number[at + lane], event.low[at + lane], 1.0, np.int64(0)
            )


@inner
def add_to_bucket(program, state, guards, u, more_high, more_low, more_number):
    """Add events at the latest time to the youngest bucket of their cell, or to a new one."""
    updates, totals, time = program.updates, state.totals, state.cursor[col.CURSOR_TIME]
    kind, window, at, store = (
        updates[u, col.UPDATE_KIND],
        updates[u, col.UPDATE_WINDOW],
        updates[u, col.UPDATE_AT],
        updates[u, col.UPDATE_STORE],
    )
    used = guards.buckets[store]
    if used == 0 or _is_split(program, guards, store, guards.bucket_times[store, used - 1], time):
        if used == program.stores[store, col.STORE_BUCKETS]:
            used = _merge_buckets(program, state, guards, u)
        guards.bucket_times[store, used] = time
        used += 1
        guards.buckets[store] = used
    bucket = program.stores[store, col.STORE_AT] + (used - 1) * program.windows[window, col.WINDOW_LANES]
    begin, end = bucket + state.open[window, col.OPEN_LANE], bucket + state.open[window, col.OPEN_LANE_END]
    add_from(
        kind,
        begin,
        end,
        at - bucket,
        state.cursor,
        totals.high,
        totals.low,
        totals.number,
        more_high,
        more_low,
        more_number,
    )


@inner
def _is_split(program, guards, store, earlier, later):
    """Whether some guard state tells events at two times apart."""
    for s in range(program.stores[store, col.STORE_STATES], program.stores[store, col.STORE_STATES_END]):
        if earlier < guards.latest[program.store_states[s]] <= later:
            return True
    return False


@inner
def _merge_buckets(program, state, guards, u):
    """Put buckets together that no guard state tells apart any more; returns how many are left."""
    kind, window, store = (
        program.updates[u, col.UPDATE_KIND],
        program.updates[u, col.UPDATE_WINDOW],
        program.updates[u, col.UPDATE_STORE],
    )
    totals, lanes, first = state.totals, program.windows[window, col.WINDOW_LANES], program.stores[store, col.STORE_AT]
    kept = 0
    for bucket in range(1, guards.buckets[store]):
        time = guards.bucket_times[store, bucket]
        if _is_split(program, guards, store, guards.bucket_times[store, kept], time):
            kept += 1
            guards.bucket_times[store, kept] = time
            if kept == bucket:
                continue
        begin = first + kept * lanes
        by = (bucket - kept) * lanes
        add_from(
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
        clear(kind, begin + by, begin + by + lanes, totals.high, totals.low)
    guards.buckets[store] = kept + 1
    return kept + 1


@inner
def add_buckets(program, state, guards, u):
    """Add to an event's value the buckets of cells before from which its step may be taken."""
    kind, window, at = (
        program.updates[u, col.UPDATE_KIND],
        program.updates[u, col.UPDATE_WINDOW],
        program.updates[u, col.UPDATE_AT],
    )
    begin, end = at + state.open[window, col.OPEN_LANE], at + state.open[window, col.OPEN_LANE_END]
    totals, event = state.totals, state.event
    for link in range(program.updates[u, col.UPDATE_LINKS], program.updates[u, col.UPDATE_LINKS_END]):
        store = program.links[link, col.LINK_STORE]
        for bucket in range(guards.buckets[store] if store >= 0 else 0):
            if holds(program, guards, link, guards.bucket_times[store, bucket]):
                by = program.stores[store, col.STORE_AT] + bucket * program.windows[window, col.WINDOW_LANES] - at
                add_from(
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
