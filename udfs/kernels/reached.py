"""Which windows a group of cells holds trends in.

A trend is in the windows that it has begun in, and what begins at an event is in the windows that are open then: so of
all open windows, the first ones, up to the newest at the latest begin of a trend that has come so far. Lanes after that
hold nothing and are not touched. Cells are put in groups that trends come to at the same events.

This is so in plans where only events add to totals; with regions, guards and the like, all lanes are in use.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.jit.compiled import as_index, inlined
from sparkext.udfs.kernels.space_lanes import number_of_windows
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import NEVER_YET

_NEVER = np.int64(NEVER_YET)


@inlined
def reach(program, state, g):
    """Put the lanes of a group to which the event at hand adds into ``reaching``; returns whether there are any."""
    groups, reached = program.groups, state.reached
    some = False
    for w in range(as_index(number_of_windows(program))):
        begin, end = state.open[w, col.OPEN_LANE], state.open[w, col.OPEN_LANE_END]
        origin = state.open[w, col.OPEN_ORIGIN]
        latest = origin + end - 1 if groups[g, col.GROUP_STARTS] else _NEVER
        for s in range(as_index(groups[g, col.GROUP_SOURCES]), as_index(groups[g, col.GROUP_SOURCES_END])):
            latest = max(latest, reached[w, as_index(program.group_sources[s])])
        if latest < origin + begin:
            end = begin
        elif latest < origin + end:
            end = latest - origin + 1
        state.reaching[w, g] = end
        some |= begin < end
    return some


@inlined
def note_reached(program, state, g):
    """Let a group hold what the event at hand has added to it."""
    for w in range(as_index(number_of_windows(program))):
        if state.open[w, col.OPEN_LANE] < state.reaching[w, g]:
            latest = state.open[w, col.OPEN_ORIGIN] + state.reaching[w, g] - 1
            state.reached[w, g] = max(state.reached[w, g], latest)
            if program.groups[g, col.GROUP_ENDS]:
                state.open[w, col.OPEN_ENDED] = max(state.open[w, col.OPEN_ENDED], latest)


@inlined
def forget_reached(program, state, panes):
    """Let no group hold anything, at the begin of a key. Of windows by panes, all lanes are in use."""
    for w in range(number_of_windows(program)):
        if panes.of[w] < 0:
            for g in range(len(program.groups)):
                state.reached[w, g] = _NEVER
            state.open[w, col.OPEN_ENDED] = _NEVER
