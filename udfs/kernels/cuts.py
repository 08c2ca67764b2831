"""Cuts: where a trend may not leave out every event, earlier events leave the totals that later ones are added to.

An event that a trend may not leave out takes the events before it out of the cells and histories that it would be left
out from. Events of its time still find them there, so they leave when that time is over, before what its events have
added is put in.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.jit.compiled import inner
from sparkext.udfs.kernels.guard_buckets import holds
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col

_SOME, _ALL = np.int64(1), np.int64(2)


@inner
def mark_cuts(program, guards, matched, class_count):
    """Mark what events leave when the time of an event is over."""
    for m in range(class_count):
        for c in range(program.guard_ends[matched[m], col.CUT_ENDS], program.guard_ends[matched[m] + 1, col.CUT_ENDS]):
            target, link = program.cuts[c, col.CUT_TARGET], program.cuts[c, col.CUT_LINK]
            if not guards.cuts[target, col.IS_FILLED] or guards.cuts[target, col.IS_MARKED] == _ALL:
                continue
            if link < 0:
                _mark(guards, target, _ALL)
                continue
            store = program.cuts[target, col.TARGET_STORE]
            for bucket in range(guards.buckets[store]):
                if holds(program, guards, link, guards.bucket_times[store, bucket]):
                    guards.bucket_times[len(program.stores) + store, bucket] = 1
                    _mark(guards, target, _SOME)


@inner
def mark_taken(program, guards, past, scan, match_count):
    """Mark the events that a scan has found, if these leave their history."""
    target = program.scans[scan, col.SCAN_TARGET]
    if target < 0:
        return
    for match in range(match_count):
        past.taken[past.matches[scan, match]] = 1
    if match_count:
        _mark(guards, target, _SOME)


@inner
def _mark(guards, target, how):
    """Note that some or all events leave a cell or history."""
    if not guards.cuts[target, col.IS_MARKED]:
        guards.cuts[guards.pending[col.MARKED], col.IN_TURN] = target
        guards.pending[col.MARKED] += 1
        guards.pending[col.IS_PENDING] = 1
    guards.cuts[target, col.IS_MARKED] = max(guards.cuts[target, col.IS_MARKED], how)


@inner
def settle_cuts(program, state, guards, past):
    """Let the events leave that are marked, before those of the latest time are added."""
    for n in range(guards.pending[col.MARKED]):
        target = guards.cuts[n, col.IN_TURN]
        how = guards.cuts[target, col.IS_MARKED]
        guards.cuts[target, col.IS_MARKED] = 0
        history = program.cuts[target, col.TARGET_HISTORY]
        if history < 0:
            _empty(program, state, guards, target, how)
        elif past is not None:
            if program.cuts[target, col.TARGET_TAKEN]:
                _leave(program, past, history)
            else:
                past.rows[history, col.PAST_BEGIN] = past.rows[history, col.PAST_SEEN]
    guards.pending[col.MARKED] = 0


@inner
def _empty(program, state, guards, target, how):
    """Empty a cell, or those of its buckets that are marked; nothing reads the total of one that has such buckets."""
    row = program.cuts[target]
    window, kind, totals = row[col.TARGET_WINDOW], row[col.TARGET_KIND], state.totals
    begin, end = state.open[window, col.OPEN_LANE], state.open[window, col.OPEN_LANE_END]
    clear(kind, row[col.TARGET_AT] + begin, row[col.TARGET_AT] + end, totals.high, totals.low)
    if how == _ALL:
        guards.cuts[target, col.IS_FILLED] = 0
    store = row[col.TARGET_STORE]
    if store < 0:
        return
    first, lanes = program.stores[store, col.STORE_AT], program.windows[window, col.WINDOW_LANES]
    marks = len(program.stores) + store
    for bucket in range(guards.buckets[store]):
        if how == _ALL or guards.bucket_times[marks, bucket]:
            at = first + bucket * lanes
            clear(kind, at + begin, at + end, totals.high, totals.low)
        guards.bucket_times[marks, bucket] = 0


@inner
def _leave(program, past, history):
    """Let the marked events leave a history, and put those that stay together."""
    width = program.histories[history, col.HISTORY_LANES] * program.histories[history, col.HISTORY_CELLS]
    values = past.value_at[history] - past.rows[history, col.PAST_FIRST] * width
    to = past.rows[history, col.PAST_SEEN]
    for entry in range(past.rows[history, col.PAST_SEEN] - 1, past.rows[history, col.PAST_BEGIN] - 1, -1):
        if past.taken[entry]:
            past.taken[entry] = 0
            continue
        to -= 1
        if to == entry:
            continue
        past.time[to], past.source[to] = past.time[entry], past.source[entry]
        past.first[to], past.windows[to] = past.first[entry], past.windows[entry]
        for lane in range(width):
            past.values.high[values + to * width + lane] = past.values.high[values + entry * width + lane]
            past.values.low[values + to * width + lane] = past.values.low[values + entry * width + lane]
    past.rows[history, col.PAST_BEGIN] = to
