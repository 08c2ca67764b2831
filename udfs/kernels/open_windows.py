"""Windows that open and close as the time goes on, and the rows that are written when they close."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.jit.compiled import as_index, inner
from sparkext.udfs.kernels.carried_panes import leave_front, leave_lanes, take_up
from sparkext.udfs.kernels.pane_products import begin_panes, turn_panes
from sparkext.udfs.kernels.space_lanes import clear, clear_cells, clear_group, number_of_windows
from sparkext.udfs.kernels.written_windows import write_window
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import ALWAYS_YET


@inner
def restrict(program, state, chunk):
    """Let only those windows of the next key open that start in a chunk of time."""
    for w in range(number_of_windows(program)):
        windows = state.cursor[col.CURSOR_CHUNK] // program.windows[w, col.WINDOW_SLIDE]
        state.open[w, col.OPEN_EARLIEST], state.open[w, col.OPEN_LATEST] = (
            chunk * windows,
            chunk * windows + windows - 1,
        )


@inner
def enter(program, state, guards, panes, output, time, combine, first):
    """Close the windows that end at or before ``time`` and open those that it is in."""
    steady = np.iinfo(np.int64).max
    if first:
        panes.carried.now[col.CARRIED_KEY] += 1
    for w in range(number_of_windows(program)):
        within, slide, lanes = (
            program.windows[w, col.WINDOW_WITHIN],
            program.windows[w, col.WINDOW_SLIDE],
            program.windows[w, col.WINDOW_LANES],
        )
        opened = state.open[w]
        newest = np.int64(0)
        oldest = np.int64(0)
        if within:
            newest = time // slide
            oldest = newest - (within - 1 - (time - newest * slide)) // slide
            steady = min(steady, (newest + 1) * slide)
            oldest, newest = max(oldest, opened[col.OPEN_EARLIEST]), min(newest, opened[col.OPEN_LATEST])
            if newest < oldest:
                newest = oldest - 1
            if oldest <= newest:
                steady = min(steady, oldest * slide + within)
        if panes.of[w] >= 0:
            if first:
                opened[col.OPEN_FIRST], opened[col.OPEN_LAST] = oldest, oldest - 1
                opened[col.OPEN_LANE_END] = lanes
                begin_panes(program, state, panes, w)
                if panes.carried.windows[panes.of[w], col.CARRIED_MODE] == col.GOES_ON:
                    opened[col.OPEN_LANE_END] = lanes // 2  # no later front is made of these events
                    take_up(program, state, panes, w)
            else:
                turn_panes(program, state, panes, output, w, oldest, newest, combine)
            opened[col.OPEN_LAST] = max(opened[col.OPEN_LAST], newest)
            continue
        if first:
            opened[col.OPEN_ORIGIN] = oldest
            opened[col.OPEN_FIRST] = oldest
            opened[col.OPEN_LAST] = oldest - 1
        elif opened[col.OPEN_FIRST] < oldest:
            _close(program, state, guards, output, w, oldest, combine)
        if opened[col.OPEN_LAST] < oldest:
            opened[col.OPEN_ORIGIN] = oldest  # nothing is open; the distance from there may be more than an int64 holds
        elif newest - opened[col.OPEN_ORIGIN] >= lanes:
            _shift(program, w, opened, state.totals.high, state.totals.low, oldest)
        opened[col.OPEN_LAST] = max(opened[col.OPEN_LAST], newest)
        opened[col.OPEN_LANE] = oldest - opened[col.OPEN_ORIGIN]
        opened[col.OPEN_LANE_END] = newest - opened[col.OPEN_ORIGIN] + 1
    state.cursor[col.CURSOR_TURN] = steady


@inner
def _shift(program, w, opened, high, low, oldest):
    """Move the open windows so that ``oldest`` is in lane 0."""
    window = program.windows[w]
    lanes, by = as_index(window[col.WINDOW_LANES]), as_index(oldest - opened[col.OPEN_ORIGIN])
    used = as_index(max(np.int64(0), opened[col.OPEN_LAST] - oldest + 1))
    at = as_index(window[col.WINDOW_AT])
    for cell in range(as_index(window[col.WINDOW_CELLS]), as_index(window[col.WINDOW_CELLS_END])):
        for lane in range(at, at + used):
            high[lane] = high[lane + by]
            low[lane] = low[lane + by]
        clear(program.kinds[cell], at + used, at + lanes, high, low)
        at += lanes
    opened[col.OPEN_ORIGIN] = oldest


@inner
def close_all(program, state, guards, panes, output, combine):
    """Write out and clear all open windows."""
    for window in range(number_of_windows(program)):
        last = state.open[window, col.OPEN_LAST]
        if panes.of[window] >= 0:
            carried = panes.carried.windows[panes.of[window]]
            if carried[col.CARRIED_MODE] == col.ALONE:
                turn_panes(program, state, panes, output, window, last + 1, last, combine)
            elif carried[col.CARRIED_MODE] == col.GOES_ON:
                until = carried[col.CARRIED_UNTIL] + 1
                turn_panes(program, state, panes, output, window, until, last, combine)
                leave_lanes(program, state, panes, window)
            else:
                leave_front(program, state, panes, window)
        else:
            _close(program, state, guards, output, window, last + 1, combine)


@inner
def _close(program, state, guards, output, w, until, combine):
    """Write out and clear the open windows of ``w`` below ``until``."""
    opened, high, low = state.open[w], state.totals.high, state.totals.low
    first, last, origin = opened[col.OPEN_FIRST], min(opened[col.OPEN_LAST], until - 1), opened[col.OPEN_ORIGIN]
    for index in range(first, max(first, min(last, opened[col.OPEN_ENDED]) + 1)):
        write_window(program, state, guards, output, w, index, as_index(index - origin), combine)
    if first <= last:
        if opened[col.OPEN_ENDED] == ALWAYS_YET:
            clear_cells(program, w, first - origin, last + 1 - origin, high, low)
        else:
            for g in range(len(program.groups)):
                if first <= state.reached[g, w]:
                    clear_group(program, g, w, first - origin, min(last, state.reached[g, w]) + 1 - origin, high, low)
    opened[col.OPEN_FIRST] = max(opened[col.OPEN_FIRST], until)
