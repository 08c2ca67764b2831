"""Which windows a group of cells holds trends in.

A trend is in the windows that it has begun in, and what begins at an event is in the windows that are open then: so of
all open windows, the first ones, up to the newest at the latest begin of a trend that has come so far. Lanes after that
hold nothing and are not touched. Cells are put in groups that trends come to at the same events.

This is so in plans where only events add to totals; with regions, guards and the like, all lanes are in use. Of a span,
times at which trends begin are what windows are here, while these are few (`sparkext.udfs.kernels.span_lanes`).
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.jit.compiled import as_index, inlined
from sparkext.udfs.kernels.space_lanes import number_of_windows
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import ALWAYS_YET, NEVER_YET

_ALWAYS, _NEVER = np.int64(ALWAYS_YET), np.int64(NEVER_YET)


@inlined
def reach(groups, group_sources, opened, reached, reaching, g):
    """Put the lanes of a group to which the event at hand adds into ``reaching``; returns whether there are any.

    The group holds something there from now on. Groups of one class are asked those first that go on from others.
    """
    starts, ends, some = groups[g, col.GROUP_STARTS], groups[g, col.GROUP_ENDS], False
    first, last = as_index(groups[g, col.GROUP_SOURCES]), as_index(groups[g, col.GROUP_SOURCES_END])
    for w in range(as_index(reached.shape[1])):
        begin, origin = opened[w, col.OPEN_LANE], opened[w, col.OPEN_ORIGIN]
        latest = origin + opened[w, col.OPEN_LANE_END] - 1
        if not starts:
            before = _NEVER
            for s in range(first, last):
                before = max(before, reached[as_index(group_sources[s]), w])
            latest = min(latest, before)
        if latest < origin + begin:
            reaching[g, w] = begin
            continue
        reaching[g, w] = latest - origin + 1
        reached[g, w] = max(reached[g, w], latest)
        if ends:
            opened[w, col.OPEN_ENDED] = max(opened[w, col.OPEN_ENDED], latest)
        some = True
    return some


@inlined
def forget_reached(program, state, panes, spans):
    """Let no group hold anything, at the begin of a key. Of windows by panes, all lanes are in use.

    What is reported of spans is in no group: which of its lanes hold something is not kept.
    """
    for w in range(number_of_windows(program)):
        if panes.of[w] < 0:
            state.reached[:, w] = _NEVER
            state.open[w, col.OPEN_ENDED] = _NEVER
    if spans is not None:
        for target in range(len(spans.targets)):
            state.open[spans.targets[target, col.REACHED_WINDOW], col.OPEN_ENDED] = _ALWAYS
