"""Windows that open and close as the time goes on, and the rows that are written when they close."""

from __future__ import annotations

import numpy as np

from udfs.compiled import inlined, inner, place
from udfs.guards import holds
from udfs.pane_products import begin_panes, turn_panes
from udfs.program import EXACT, NUMBER
from udfs.rows import new_row
from udfs.totals import write


@inner
def restrict(program, state, chunk):  # type: ignore[no-untyped-def]
    """Let only those windows of the next key open that start in a chunk of time."""
    for w in range(len(program.bank_ends) - 1):
        windows = state.cursor[8] // program.windows[w, 1]
        state.open[w, 5], state.open[w, 6] = chunk * windows, chunk * windows + windows - 1


@inlined
def enter(program, state, guards, panes, output, time, combine, first):  # type: ignore[no-untyped-def]
    """Close the windows that end at or before ``time`` and open those that it is in."""
    steady = np.iinfo(np.int64).max
    for w in range(len(program.bank_ends) - 1):
        within, slide, lanes = program.windows[w, 0], program.windows[w, 1], program.windows[w, 2]
        opened = state.open[w]
        newest = np.int64(0)
        oldest = np.int64(0)
        if within:
            newest = time // slide
            oldest = newest - (within - 1 - (time - newest * slide)) // slide
            steady = min(steady, (newest + 1) * slide)
            oldest, newest = max(oldest, opened[5]), min(newest, opened[6])
            if newest < oldest:
                newest = oldest - 1
            if oldest <= newest:
                steady = min(steady, oldest * slide + within)
        if panes.of[w] >= 0:
            if first:
                opened[1], opened[2] = oldest, oldest - 1
                opened[4] = lanes
                begin_panes(program, state, panes, w)
            else:
                turn_panes(program, state, panes, output, w, oldest, newest, combine)
            opened[2] = max(opened[2], newest)
            continue
        if first:
            opened[0] = oldest
            opened[1] = oldest
            opened[2] = oldest - 1
        elif opened[1] < oldest:
            _close(program, state, guards, output, w, oldest, combine)
        if opened[2] < oldest:
            opened[0] = oldest  # nothing is open; the distance from there may be more than an int64 holds
        elif newest - opened[0] >= lanes:
            _shift(program.windows[w], program.blanks, opened, state.totals.high, state.totals.low, oldest)
        opened[2] = max(opened[2], newest)
        opened[3] = oldest - opened[0]
        opened[4] = newest - opened[0] + 1
    state.cursor[5] = steady


@inner
def _shift(window, blanks, opened, high, low, oldest):  # type: ignore[no-untyped-def]
    """Move the open windows so that ``oldest`` is in lane 0."""
    lanes, by = place(window[2]), place(oldest - opened[0])
    used = place(max(np.int64(0), opened[2] - oldest + 1))
    at = place(window[5])
    for cell in range(place(window[3]), place(window[4])):
        for lane in range(at, at + used):
            high[lane] = high[lane + by]
            low[lane] = low[lane + by]
        for lane in range(at + used, at + lanes):
            high[lane] = blanks[cell, 0]
            low[lane] = blanks[cell, 1]
        at += lanes
    opened[0] = oldest


@inner
def close_all(program, state, guards, panes, output, combine):  # type: ignore[no-untyped-def]
    """Write out and clear all open windows."""
    for window in range(len(program.bank_ends) - 1):
        last = state.open[window, 2]
        if panes.of[window] >= 0:
            turn_panes(program, state, panes, output, window, last + 1, last, combine)
        else:
            _close(program, state, guards, output, window, last + 1, combine)


@inner
def _close(program, state, guards, output, w, until, combine):  # type: ignore[no-untyped-def]
    """Write out and clear the open windows of ``w`` below ``until``."""
    windows, blanks, banks = program.windows, program.blanks, program.banks
    slots, slot_sources = program.slots, program.slot_sources
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    words, floats, opened = output.words, output.floats, state.open[w]
    lanes = windows[w, 2]
    for index in range(opened[1], min(opened[2], until - 1) + 1):
        lane = place(index - opened[0])
        for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
            begin, end = place(banks[bank, 1]), place(banks[bank, 2])
            if not _has_trend(program, state.totals, guards, begin, end, lane, lanes):
                continue
            row = new_row(program.blank_row, state.cursor, output, banks[bank, 0], index, combine)
            for slot in range(begin, end):
                kind, word, number_at = slots[slot, 0], place(slots[slot, 3]), place(slots[slot, 4])
                for source in range(place(slots[slot, 1]), place(slots[slot, 2])):
                    at = place(slot_sources[source]) + lane
                    write(kind, at, high, low, number, words, floats, row, word, number_at)
                if guards is not None:
                    for link in range(slots[slot, 5], slots[slot, 6]):
                        store = program.links[link, 0]
                        for bucket in range(guards.buckets[store]):
                            if not holds(program, guards, link, guards.bucket_times[store, bucket]):
                                continue
                            at = place(program.stores[store, 0] + bucket * lanes) + lane
                            write(kind, at, high, low, number, words, floats, row, word, number_at)
        at = place(windows[w, 5]) + lane
        for cell in range(place(windows[w, 3]), place(windows[w, 4])):
            high[at] = blanks[cell, 0]
            low[at] = blanks[cell, 1]
            at += place(lanes)
    opened[1] = max(opened[1], until)


@inner
def _has_trend(program, totals, guards, begin, end, lane, lanes):  # type: ignore[no-untyped-def]
    """Whether some count among slots ``begin``..``end`` is not zero in a lane."""
    slots = program.slots
    found = False
    for slot in range(begin, end):
        kind = slots[slot, 0]
        for source in range(place(slots[slot, 1]), place(slots[slot, 2])):
            at = place(program.slot_sources[source]) + lane
            found |= kind == EXACT and (totals.high[at] | totals.low[at]) != 0
            found |= kind == NUMBER and totals.number[at] != 0.0
        if guards is not None:
            for link in range(slots[slot, 5], slots[slot, 6]):
                store = program.links[link, 0]
                for bucket in range(guards.buckets[store]):
                    at = place(program.stores[store, 0] + bucket * lanes) + lane
                    if holds(program, guards, link, guards.bucket_times[store, bucket]):
                        found |= kind == EXACT and (totals.high[at] | totals.low[at]) != 0
                        found |= kind == NUMBER and totals.number[at] != 0.0
        if found:
            return True
    return False
