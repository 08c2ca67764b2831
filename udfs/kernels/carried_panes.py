"""Windows by panes that go on where an earlier pass has left a key, and what a pass leaves of a key.

The front of a window by panes, which is what its windows hold at a time, and what all events since then do, which are
the lanes that it is multiplied with, are all that later events need. A pass that leaves a front ends with it, so that
nothing has happened since; one that goes on from it leaves the lanes.
"""

from __future__ import annotations

from sparkext.udfs.jit.compiled import as_index, inner
from sparkext.udfs.kernels.pane_matrices import evaluate_front
from sparkext.udfs.kernels.pane_products import end_pane
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col


@inner
def take_up(program, state, panes, w):
    """Let the windows of ``w`` go on where they were left for the key that begins. Its lanes are units."""
    p, carried = panes.of[w], panes.carried
    came, key = carried.came, carried.now[col.CARRIED_KEY]
    row = carried.of[p, key]
    if row >= 0:
        state.cursor[col.CURSOR_WIDE] |= came.flags[row, 0]
        state.cursor[col.CURSOR_SCALED] |= came.flags[row, 1]
        block, rows = program.windows[w], as_index(panes.windows[p, col.PANES_ROWS])
        of = as_index(row * carried.sizes[0] + carried.windows[p, col.CARRIED_LANES])
        at = as_index(block[col.WINDOW_AT])
        for _ in range(block[col.WINDOW_CELLS], block[col.WINDOW_CELLS_END]):
            for lane in range(rows):
                state.totals.high[at + lane] = came.lanes.high[of + lane]
                state.totals.low[at + lane] = came.lanes.low[of + lane]
            at += as_index(block[col.WINDOW_LANES])
            of += rows
    _take_front(state, panes, w, key)


@inner
def _take_front(state, panes, w, key):
    """Take as much of a front as is written. Windows that begin after its last entry are empty in it."""
    p, carried = panes.of[w], panes.carried
    layout, came, until = panes.windows[p], carried.came, carried.windows[p, col.CARRIED_UNTIL]
    size = as_index(layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS])
    memory, front, newest = panes.memory, layout[col.PANES_FRONT], layout[col.PANES_NEWEST]
    last, taken = state.open[w, col.OPEN_FIRST] - 1, 0
    for entry in range(came.entries[p, key, 0], came.entries[p, key, 1]):
        if last >= until:
            break
        if came.newest[entry] <= last:
            continue
        last = came.newest[entry]
        of, at = as_index(entry * carried.sizes[1]), as_index(front + taken * size)
        for i in range(size):
            memory.high[at + i], memory.low[at + i] = came.values.high[of + i], came.values.low[of + i]
        panes.newest[newest + taken] = last
        taken += 1
    if last < until:
        at = front + taken * size
        for i in range(size):
            kind = panes.evaluations[layout[col.PANES_CELLS] + i, col.PANED_KIND]
            clear(kind, at + i, at + i + 1, memory.high, memory.low)
        panes.newest[newest + taken] = carried.windows[p, col.CARRIED_NEWEST]
        taken += 1
    panes.now[p, col.FRONT_BEGIN], panes.now[p, col.FRONT_END], panes.now[p, col.PANES_SINCE] = 0, taken, 0


@inner
def leave_lanes(program, state, panes, w):
    """Keep what the key that ends has done since the front of ``w``."""
    p, carried = panes.of[w], panes.carried
    left, key = carried.left, carried.now[col.CARRIED_KEY]
    left.flags[key, 0] |= state.cursor[col.CURSOR_WIDE]
    left.flags[key, 1] |= state.cursor[col.CURSOR_SCALED]
    block, rows = program.windows[w], as_index(panes.windows[p, col.PANES_ROWS])
    to = as_index(key * carried.sizes[0] + carried.windows[p, col.CARRIED_LANES])
    at = as_index(block[col.WINDOW_AT])
    for _ in range(block[col.WINDOW_CELLS], block[col.WINDOW_CELLS_END]):
        for lane in range(rows):
            left.lanes.high[to + lane] = state.totals.high[at + lane]
            left.lanes.low[to + lane] = state.totals.low[at + lane]
        at += as_index(block[col.WINDOW_LANES])
        to += rows


@inner
def leave_front(program, state, panes, w):
    """Keep what the windows of ``w`` hold that the key which ends has open."""
    p, carried = panes.of[w], panes.carried
    end_pane(program, state, panes, w)
    evaluate_front(panes, state.cursor, p)
    layout, left, key = panes.windows[p], carried.left, carried.now[col.CARRIED_KEY]
    size = as_index(layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS])
    memory, entry = panes.memory, carried.now[col.CARRIED_ENTRIES]
    left.entries[p, key, 0] = entry
    for index in range(panes.now[p, col.FRONT_END]):
        left.newest[entry] = panes.newest[layout[col.PANES_NEWEST] + index]
        to, at = as_index(entry * carried.sizes[1]), as_index(layout[col.PANES_FRONT] + index * size)
        for i in range(size):
            left.values.high[to + i], left.values.low[to + i] = memory.high[at + i], memory.low[at + i]
        entry += 1
    left.entries[p, key, 1] = carried.now[col.CARRIED_ENTRIES] = entry
