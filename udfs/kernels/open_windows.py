"""Windows that open and close as the time goes on, and the rows that are written when they close."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.totals import write
from sparkext.udfs.jit.compiled import as_index, inner
from sparkext.udfs.kernels.forms import clear, clear_cells, number_of_windows
from sparkext.udfs.kernels.guard_buckets import holds
from sparkext.udfs.kernels.pane_products import begin_panes, turn_panes
from sparkext.udfs.kernels.rows import new_row
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, NUMBER


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
            turn_panes(program, state, panes, output, window, last + 1, last, combine)
        else:
            _close(program, state, guards, output, window, last + 1, combine)


@inner
def _close(program, state, guards, output, w, until, combine):
    """Write out and clear the open windows of ``w`` below ``until``."""
    windows, banks = program.windows, program.banks
    slots, slot_sources = program.slots, program.slot_sources
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    words, floats, opened = output.words, output.floats, state.open[w]
    lanes = windows[w, col.WINDOW_LANES]
    for index in range(opened[col.OPEN_FIRST], min(opened[col.OPEN_LAST], until - 1) + 1):
        lane = as_index(index - opened[col.OPEN_ORIGIN])
        for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
            begin, end = as_index(banks[bank, col.BANK_SLOTS]), as_index(banks[bank, col.BANK_SLOTS_END])
            if not _has_trend(program, state.totals, guards, begin, end, lane, lanes):
                continue
            row = new_row(program.blank_row, state.cursor, output, banks[bank, col.BANK_NUMBER], index, combine)
            for slot in range(begin, end):
                kind, word, number_at = (
                    slots[slot, col.SLOT_KIND],
                    as_index(slots[slot, col.SLOT_WORD]),
                    as_index(slots[slot, col.SLOT_FLOAT]),
                )
                for source in range(
                    as_index(slots[slot, col.SLOT_SOURCES]), as_index(slots[slot, col.SLOT_SOURCES_END])
                ):
                    at = as_index(slot_sources[source]) + lane
                    write(kind, at, high, low, number, words, floats, row, word, number_at)
                if guards is not None:
                    for link in range(slots[slot, col.SLOT_LINKS], slots[slot, col.SLOT_LINKS_END]):
                        store = program.links[link, col.LINK_STORE]
                        for bucket in range(guards.buckets[store]):
                            if not holds(program, guards, link, guards.bucket_times[store, bucket]):
                                continue
                            at = as_index(program.stores[store, col.STORE_AT] + bucket * lanes) + lane
                            write(kind, at, high, low, number, words, floats, row, word, number_at)
        closed = index - opened[col.OPEN_ORIGIN]
        clear_cells(program, w, closed, closed + 1, high, low)
    opened[col.OPEN_FIRST] = max(opened[col.OPEN_FIRST], until)


@inner
def _has_trend(program, totals, guards, begin, end, lane, lanes):
    """Whether some count among slots ``begin``..``end`` is not zero in a lane."""
    slots = program.slots
    found = False
    for slot in range(begin, end):
        kind = slots[slot, col.SLOT_KIND]
        for source in range(as_index(slots[slot, col.SLOT_SOURCES]), as_index(slots[slot, col.SLOT_SOURCES_END])):
            at = as_index(program.slot_sources[source]) + lane
            found |= kind == EXACT and (totals.high[at] | totals.low[at]) != 0
            found |= kind == NUMBER and totals.number[at] != 0.0
        if guards is not None:
            for link in range(slots[slot, col.SLOT_LINKS], slots[slot, col.SLOT_LINKS_END]):
                store = program.links[link, col.LINK_STORE]
                for bucket in range(guards.buckets[store]):
                    at = as_index(program.stores[store, col.STORE_AT] + bucket * lanes) + lane
                    if holds(program, guards, link, guards.bucket_times[store, bucket]):
                        found |= kind == EXACT and (totals.high[at] | totals.low[at]) != 0
                        found |= kind == NUMBER and totals.number[at] != 0.0
        if found:
            return True
    return False
