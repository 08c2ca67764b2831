"""The event loop: one pass over events sorted by key and time, for all queries of a pool.

An event adds to every cell of its classes what it starts, the totals of the source cells, and what it
contributes itself (GRETA's propagation, summed up per state instead of per event). Totals exclude
events of the same time, since these are never in one trend; they wait in ``State.pending``. A cell has
one lane per window; windows that end before an event are written out and their lanes cleared.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from planner.kernel_plan import CLASSES_PER_WORD
from udfs.numbers import add_exact, add_scaled, is_before, scaled
from udfs.program import EXACT, NO_KEY_HIGH, NO_KEY_LOW, NUMBER

_NO_HIGH = np.int64(NO_KEY_HIGH)
_NO_LOW = np.uint64(NO_KEY_LOW)


@njit(cache=True)
def advance(program, state, output, batch, row, combine):  # type: ignore[no-untyped-def]
    """Process the events of ``batch`` from ``row`` on.

    Args:
        program: `Program`.
        state: `State`; changed.
        output: `Output`; rows are added.
        batch: `udfs.batches.Batch`.
        row: Where to start.
        combine: Whether rows of the same group, bank and window are added up.

    Returns:
        The row to go on with after the output was flushed; the number of rows when all were processed.
    """
    cursor = state.cursor
    rows = len(batch.time)
    room = len(output.group) - _rows_at_once(program)
    while row < rows:
        if cursor[3] > room:
            return row
        time = batch.time[row]
        if batch.new_key[row]:
            if cursor[0]:
                end_key(program, state, output, combine)
            cursor[0] = 1
            cursor[4] += np.int64(batch.new_group[row])
            _enter(program, state, output, time, combine, True)
        elif time != cursor[1]:
            if cursor[2]:
                _settle(program, state)
            _enter(program, state, output, time, combine, False)
        cursor[1] = time
        alone = cursor[2] == 0 and row + 1 < rows and (batch.new_key[row + 1] or batch.time[row + 1] != time)
        _match(program, state, batch, row)
        _add(program, state, batch, row, alone)
        row += 1
    return row


@njit(cache=True)
def end_key(program, state, output, combine):  # type: ignore[no-untyped-def]
    """Write out and clear all windows of the key under way."""
    if state.cursor[2]:
        _settle(program, state)
    for window in range(len(program.windows)):
        _close(program, state, output, window, state.open[window, 2] + 1, combine)
    state.cursor[0] = 0


@njit(cache=True)
def _rows_at_once(program):  # type: ignore[no-untyped-def]
    """The most rows that one event can cause to be written."""
    total = 0
    for window in range(len(program.windows)):
        live = (program.windows[window, 2] + 1) // 2
        total += live * (program.bank_ends[window + 1] - program.bank_ends[window])
    return total


@njit(cache=True)
def _enter(program, state, output, time, combine, first):  # type: ignore[no-untyped-def]
    """Close the windows that end at or before ``time`` and open those that it is in."""
    for w in range(len(program.windows)):
        within, slide, lanes = program.windows[w, 0], program.windows[w, 1], program.windows[w, 2]
        opened = state.open[w]
        if within == 0:
            newest = np.int64(0)
            oldest = np.int64(0)
        else:
            newest = time // slide
            oldest = newest - (within - 1 - (time - newest * slide)) // slide
        if first:
            opened[0] = oldest
            opened[1] = oldest
            opened[2] = oldest - 1
        elif opened[1] < oldest:
            _close(program, state, output, w, oldest, combine)
        if newest - opened[0] >= lanes:
            _shift(program, state, w, oldest)
        opened[2] = max(opened[2], newest)
        opened[3] = oldest - opened[0]
        opened[4] = newest - opened[0] + 1


@njit(cache=True)
def _shift(program, state, w, oldest):  # type: ignore[no-untyped-def]
    """Move the open windows of ``w`` so that ``oldest`` is in lane 0."""
    lanes = program.windows[w, 2]
    opened = state.open[w]
    by = oldest - opened[0]
    used = max(np.int64(0), opened[2] - oldest + 1)
    totals = state.totals
    for cell in range(program.windows[w, 4]):
        at = program.windows[w, 3] + cell * lanes
        for lane in range(used):
            totals.exact_high[at + lane] = totals.exact_high[at + by + lane]
            totals.exact_low[at + lane] = totals.exact_low[at + by + lane]
        for lane in range(used, lanes):
            totals.exact_high[at + lane] = 0
            totals.exact_low[at + lane] = 0
    for cell in range(program.windows[w, 6]):
        at = program.windows[w, 5] + cell * lanes
        for lane in range(used):
            totals.number[at + lane] = totals.number[at + by + lane]
            totals.scale[at + lane] = totals.scale[at + by + lane]
        for lane in range(used, lanes):
            totals.number[at + lane] = 0.0
            totals.scale[at + lane] = 0
    for cell in range(program.windows[w, 8]):
        at = program.windows[w, 7] + cell * lanes
        for lane in range(used):
            totals.key_high[at + lane] = totals.key_high[at + by + lane]
            totals.key_low[at + lane] = totals.key_low[at + by + lane]
        for lane in range(used, lanes):
            totals.key_high[at + lane] = _NO_HIGH
            totals.key_low[at + lane] = _NO_LOW
    opened[0] = oldest


@njit(cache=True)
def _close(program, state, output, w, until, combine):  # type: ignore[no-untyped-def]
    """Write out and clear the open windows of ``w`` below ``until``."""
    opened = state.open[w]
    lanes = program.windows[w, 2]
    totals = state.totals
    last = min(opened[2], until - 1)
    for index in range(opened[1], last + 1):
        lane = index - opened[0]
        for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
            _write(program, state, output, bank, index, lane, combine)
        for cell in range(program.windows[w, 4]):
            at = program.windows[w, 3] + cell * lanes + lane
            totals.exact_high[at] = 0
            totals.exact_low[at] = 0
        for cell in range(program.windows[w, 6]):
            at = program.windows[w, 5] + cell * lanes + lane
            totals.number[at] = 0.0
            totals.scale[at] = 0
        for cell in range(program.windows[w, 8]):
            at = program.windows[w, 7] + cell * lanes + lane
            totals.key_high[at] = _NO_HIGH
            totals.key_low[at] = _NO_LOW
    opened[1] = max(opened[1], until)


@njit(cache=True)
def _write(program, state, output, bank, index, lane, combine):  # type: ignore[no-untyped-def]
    """Write the totals of one window and bank as a row, unless there is no trend."""
    totals = state.totals
    begin, end = program.banks[bank, 1], program.banks[bank, 2]
    found = False
    for slot in range(begin, end):
        kind = program.slots[slot, 0]
        for source in range(program.slots[slot, 1], program.slots[slot, 2]):
            at = program.slot_sources[source] + lane
            if kind == EXACT:
                found = found or (totals.exact_high[at] | totals.exact_low[at]) != 0
            elif kind == NUMBER:
                found = found or totals.number[at] != 0.0
        if found:
            break
    if not found:
        return
    row = _row(program, state, output, program.banks[bank, 0], index, combine)
    words = output.words[row]
    for slot in range(begin, end):
        kind, word, place = program.slots[slot, 0], program.slots[slot, 3], program.slots[slot, 4]
        for source in range(program.slots[slot, 1], program.slots[slot, 2]):
            at = program.slot_sources[source] + lane
            if kind == EXACT:
                high, low = add_exact(
                    np.uint64(words[word]), np.uint64(words[word + 1]), totals.exact_high[at], totals.exact_low[at]
                )
                words[word] = np.int64(high)
                words[word + 1] = np.int64(low)
            elif kind == NUMBER:
                number, scale = add_scaled(output.floats[row, place], words[word], totals.number[at], totals.scale[at])
                output.floats[row, place] = number
                words[word] = scale
            elif is_before(totals.key_high[at], totals.key_low[at], words[word], np.uint64(words[word + 1])):
                words[word] = totals.key_high[at]
                words[word + 1] = np.int64(totals.key_low[at])


@njit(cache=True)
def _row(program, state, output, bank, index, combine):  # type: ignore[no-untyped-def]
    """The output row of a group, bank and window: the one there is when combining, else a new one."""
    cursor = state.cursor
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
    output.words[row, :] = program.blank
    output.floats[row, :] = 0.0
    cursor[3] = row + 1
    return row


@njit(cache=True)
def _match(program, state, batch, row):  # type: ignore[no-untyped-def]
    """Compute what the event adds to each cell of its classes, into ``state.event``."""
    for word in range(batch.classes.shape[1]):
        bits = batch.classes[row, word]
        base = word * CLASSES_PER_WORD
        while bits:
            event = base + _lowest_bit(bits)
            bits &= bits - 1
            for update in range(program.update_ends[event], program.update_ends[event + 1]):
                kind = program.updates[update, 0]
                if kind == EXACT:
                    _match_exact(program, state, batch, row, update)
                elif kind == NUMBER:
                    _match_number(program, state, batch, row, update)
                else:
                    _match_extreme(program, state, batch, row, update)


@njit(cache=True, inline="always")
def _lowest_bit(bits):  # type: ignore[no-untyped-def]
    place = 0
    while not (bits >> place) & 1:
        place += 1
    return place


@njit(cache=True)
def _match_exact(program, state, batch, row, update):  # type: ignore[no-untyped-def]
    fields = program.updates[update]
    window, at, start, count, column = fields[1], fields[2], fields[3], fields[6], fields[8]
    totals, event = state.totals, state.event
    counts = count >= 0 and (column < 0 or batch.valid[column, row] != 0)
    for lane in range(state.open[window, 3], state.open[window, 4]):
        high, low = np.uint64(0), np.uint64(start)
        for source in range(fields[4], fields[5]):
            there = program.sources[source] + lane
            high, low = add_exact(high, low, totals.exact_high[there], totals.exact_low[there])
        if counts:
            high, low = add_exact(high, low, event.exact_high[count + lane], event.exact_low[count + lane])
        event.exact_high[at + lane] = high
        event.exact_low[at + lane] = low


@njit(cache=True)
def _match_number(program, state, batch, row, update):  # type: ignore[no-untyped-def]
    fields = program.updates[update]
    window, at, start, count, column = fields[1], fields[2], fields[3], fields[6], fields[8]
    totals, event = state.totals, state.event
    counts = count >= 0 and batch.valid[column, row] != 0
    value, value_scale = 1.0, np.int64(0)
    if counts and fields[9]:
        value, value_scale = scaled(batch.numbers[column, row], np.int64(0))
    for lane in range(state.open[window, 3], state.open[window, 4]):
        number, scale = np.float64(start), np.int64(0)
        for source in range(fields[4], fields[5]):
            there = program.sources[source] + lane
            number, scale = add_scaled(number, scale, totals.number[there], totals.scale[there])
        if counts and event.number[count + lane] != 0.0:
            more, more_scale = scaled(value * event.number[count + lane], value_scale + event.scale[count + lane])
            number, scale = add_scaled(number, scale, more, more_scale)
        event.number[at + lane] = number
        event.scale[at + lane] = scale


@njit(cache=True)
def _match_extreme(program, state, batch, row, update):  # type: ignore[no-untyped-def]
    fields = program.updates[update]
    window, at, count, column = fields[1], fields[2], fields[6], fields[8]
    totals, event = state.totals, state.event
    counts = count >= 0 and batch.valid[column, row] != 0
    for lane in range(state.open[window, 3], state.open[window, 4]):
        high, low = _NO_HIGH, _NO_LOW
        for source in range(fields[4], fields[5]):
            there = program.sources[source] + lane
            if is_before(totals.key_high[there], totals.key_low[there], high, low):
                high, low = totals.key_high[there], totals.key_low[there]
        if counts:
            if fields[7] == EXACT:
                there = count + lane
                trends = (event.exact_high[there] | event.exact_low[there]) != 0
            else:
                trends = event.number[count + lane] != 0.0
            if trends and is_before(batch.key_high[column, row], batch.key_low[column, row], high, low):
                high, low = batch.key_high[column, row], batch.key_low[column, row]
        event.key_high[at + lane] = high
        event.key_low[at + lane] = low


@njit(cache=True)
def _add(program, state, batch, row, alone):  # type: ignore[no-untyped-def]
    """Add what `_match` computed: to the totals when no other event has this time, else to pending."""
    for word in range(batch.classes.shape[1]):
        bits = batch.classes[row, word]
        base = word * CLASSES_PER_WORD
        while bits:
            event = base + _lowest_bit(bits)
            bits &= bits - 1
            for update in range(program.update_ends[event], program.update_ends[event + 1]):
                if alone:
                    _accumulate(program, state, update, state.event, state.totals)
                else:
                    if not state.is_dirty[update]:
                        state.is_dirty[update] = 1
                        state.dirty[state.cursor[2]] = update
                        state.cursor[2] += 1
                    _accumulate(program, state, update, state.event, state.pending)


@njit(cache=True)
def _settle(program, state):  # type: ignore[no-untyped-def]
    """Move what is pending into the totals."""
    pending = state.pending
    for place in range(state.cursor[2]):
        update = state.dirty[place]
        state.is_dirty[update] = 0
        _accumulate(program, state, update, pending, state.totals)
        kind, window, at = program.updates[update, 0], program.updates[update, 1], program.updates[update, 2]
        for there in range(at + state.open[window, 3], at + state.open[window, 4]):
            if kind == EXACT:
                pending.exact_high[there] = 0
                pending.exact_low[there] = 0
            elif kind == NUMBER:
                pending.number[there] = 0.0
                pending.scale[there] = 0
            else:
                pending.key_high[there] = _NO_HIGH
                pending.key_low[there] = _NO_LOW
    state.cursor[2] = 0


@njit(cache=True, inline="always")
def _accumulate(program, state, update, more, into):  # type: ignore[no-untyped-def]
    """Add the cell of ``update`` in ``more`` to the same cell in ``into``, over the latest time's lanes."""
    kind, window, at = program.updates[update, 0], program.updates[update, 1], program.updates[update, 2]
    begin, end = at + state.open[window, 3], at + state.open[window, 4]
    if kind == EXACT:
        for there in range(begin, end):
            into.exact_high[there], into.exact_low[there] = add_exact(
                into.exact_high[there], into.exact_low[there], more.exact_high[there], more.exact_low[there]
            )
    elif kind == NUMBER:
        for there in range(begin, end):
            into.number[there], into.scale[there] = add_scaled(
                into.number[there], into.scale[there], more.number[there], more.scale[there]
            )
    else:
        for there in range(begin, end):
            if is_before(more.key_high[there], more.key_low[there], into.key_high[there], into.key_low[there]):
                into.key_high[there] = more.key_high[there]
                into.key_low[there] = more.key_low[there]
