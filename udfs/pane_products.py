"""Windows as products of their panes.

Two stacks make a sliding product: while windows close, what they held when they were last evaluated, which is the
front, is multiplied with what all events since have done. When a window closes that began after that, the front is
evaluated anew, from the last pane back to the first that some open window begins with. So a pane is multiplied
once, and a window once, however many windows are open. Where several windows hold the same events, they are one.
"""

from __future__ import annotations

import numpy as np

from udfs.compiled import inlined, inner, place
from udfs.numbers import LIMIT_HIGH, add_exact, add_scaled, is_before, multiply_exact, scaled
from udfs.program import EXACT, EXTREME, NUMBER
from udfs.rows import new_row
from udfs.totals import HUGE, NARROW, NO_HIGH, NO_LOW, add_product, is_some, write

_BEGIN, _END, _PANES = 0, 1, 2


@inner
def begin_panes(program, state, panes, w):  # type: ignore[no-untyped-def]
    """Start with a new key, in the windows of ``w``."""
    panes.now[panes.of[w], :] = 0
    _clear_lanes(program, state, panes, w, 0)
    _clear_lanes(program, state, panes, w, panes.windows[panes.of[w], 0])


@inner
def turn_panes(program, state, panes, output, w, until, newest, combine):  # type: ignore[no-untyped-def]
    """Write out the windows of ``w`` below ``until``, and end the pane under way if one up to ``newest`` opens."""
    p = panes.of[w]
    opened, now = state.open[w], panes.now[p]
    places, entries = panes.windows[p, 1], panes.windows[p, 10]
    index, last = opened[1], min(opened[2], until - 1)
    while True:
        while now[_BEGIN] < now[_END] and panes.newest[entries + now[_BEGIN]] < index:
            now[_BEGIN] += 1
        if index <= last and now[_BEGIN] < now[_END]:
            end = min(last, panes.newest[entries + now[_BEGIN]]) + 1
            _write_windows(program, state, panes, output, w, index, end, combine)
            index = end
            continue
        # Either a window closes that is not in the front, or another opens: the pane under way ends.
        if index > last and newest <= opened[2]:
            break
        _end_pane(program, state, panes, w)
        if index > last or now[_PANES] == 0 or panes.newest[entries + places + now[_PANES] - 1] < index:
            break
        _evaluate_front(panes, state.cursor, p)
        _clear_lanes(program, state, panes, w, 0)
    opened[1] = max(opened[1], until)


@inlined
def _clear_lanes(program, state, panes, w, half):  # type: ignore[no-untyped-def]
    """Let the lanes from ``half`` on, of all cells of a window, be the unit matrix again."""
    window, p = program.windows[w], panes.of[w]
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    rows, at = panes.windows[p, 0], window[5] + half
    for cell in range(window[3], window[4]):
        for there in range(at, at + rows):
            high[there], low[there] = program.blanks[cell, 0], program.blanks[cell, 1]
        at += window[2]
    begin, end = panes.windows[p, 4], panes.windows[p, 5]
    middle = (begin + end) // 2
    for unit in range(middle if half else begin, end if half else middle):
        if panes.units[unit, 1] == EXACT:
            low[panes.units[unit, 0]] = 1
        else:
            number[panes.units[unit, 0]] = 1.0


@inlined
def _end_pane(program, state, panes, w):  # type: ignore[no-untyped-def]
    """Keep the matrix of the pane under way, if there were events in it, and let the next one begin."""
    p = panes.of[w]
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    to_high, to_low, to_number = panes.memory.high, panes.memory.low, panes.memory.number
    evaluations, layout, now = panes.evaluations, panes.windows[p], panes.now[p]
    rows, first, size = layout[0], layout[2], layout[3] - layout[2]
    to, flags = layout[7] + now[_PANES] * size * rows, layout[11] + now[_PANES] * size
    some = False
    for e in range(first, first + size):
        kind, unit, by = evaluations[e, 0], evaluations[e, 4], evaluations[e, 1] + rows - to
        blank_high, blank_low = (NO_HIGH, NO_LOW) if kind == EXTREME else (np.int64(0), np.int64(0))
        left = np.int64(0)
        for there in range(to, to + rows):
            to_high[there], to_low[there] = high[there + by], low[there + by]
            high[there + by], low[there + by] = blank_high, blank_low
            if there - to != unit:
                left |= (to_high[there] ^ blank_high) | (to_low[there] ^ blank_low)
        if unit >= 0:
            at = to + unit
            if kind == NUMBER:
                number[at + by] = 1.0
                to_number[at], to_low[at] = add_scaled(to_number[at], to_low[at], -1.0, np.int64(0))
            else:
                low[at + by] = 1
                if to_high[at] < LIMIT_HIGH:
                    to_high[at] -= to_low[at] == 0
                    to_low[at] -= 1
            left |= to_high[at] | to_low[at]
        panes.touched[flags] = left != 0
        some |= left != 0
        flags += 1
        to += rows
    if some:
        panes.newest[layout[10] + layout[1] + now[_PANES]] = state.open[w, 2]
        now[_PANES] += 1
        if layout[12]:
            _clear_lanes(program, state, panes, w, rows)


@inlined
def _evaluate_front(panes, cursor, p):  # type: ignore[no-untyped-def]
    """Make a front of all panes: what the windows that begin with each of them hold now."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    evaluations, layout, now = panes.evaluations, panes.windows[p], panes.now[p]
    rows, places, first, size = layout[0], layout[1], layout[2], layout[3] - layout[2]
    front, product, entries = layout[6], layout[8], layout[10]
    for i in range(size):
        kind, unit, at = evaluations[first + i, 0], evaluations[first + i, 4], product + i * rows
        for there in range(at, at + rows):
            high[there] = NO_HIGH if kind == EXTREME else 0
            low[there] = NO_LOW if kind == EXTREME else 0
        if unit >= 0 and kind == EXACT:
            low[at + unit] = 1
        elif unit >= 0:
            number[at + unit] = 1.0
    for pane in range(now[_PANES] - 1, -1, -1):
        for i in range(size):
            _multiply(panes, cursor, p, pane, i)
            high[front + pane * size + i] = high[product + i * rows]
            low[front + pane * size + i] = low[product + i * rows]
        panes.newest[entries + pane] = panes.newest[entries + places + pane]
    now[_BEGIN], now[_END], now[_PANES] = 0, now[_PANES], 0


@inlined
def _multiply(panes, cursor, p, pane, i):  # type: ignore[no-untyped-def]
    """Put the matrix of a pane before the product, as far as the column of one evaluation is concerned."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    products, layout = panes.products, panes.windows[p]
    rows, size, e = layout[0], layout[3] - layout[2], layout[2] + i
    kind, begin, end = panes.evaluations[e, 0], panes.evaluations[e, 2], panes.evaluations[e, 3]
    matrix, flags = layout[7] + pane * size * rows, layout[11] + pane * size
    product, sums = layout[8], layout[9]
    some = False
    while True:
        largest = 0.0
        for t in range(begin, end):
            of = products[t, 2]
            if of < 0 or panes.touched[flags + of] == 0:
                continue
            by, base = product + products[t, 0] * rows + products[t, 1], matrix + of * rows
            if kind != EXTREME and (high[by] | low[by]) == 0:
                continue
            if not some:
                some = True
                for there in range(sums, sums + rows):
                    high[there] = NO_HIGH if kind == EXTREME else 0
                    low[there] = NO_LOW if kind == EXTREME else 0
            if kind == EXACT and not cursor[6]:
                # The sum of all products as doubles tells whether one word holds each.
                most = 0.0
                for row in range(rows):
                    low[sums + row] += low[by] * low[base + row]
                    most += np.float64(low[base + row])
                largest += most * np.float64(low[by])
            elif kind == NUMBER and not cursor[7]:
                for row in range(rows):
                    number[sums + row] += number[by] * number[base + row]
            elif kind != EXTREME:
                by_high, by_low, by_number = high[by], low[by], number[by]
                add_product(kind, 0, rows, sums, base, high, low, number, by_high, by_low, by_number, high, low, number)
            elif products[t, 4]:
                for row in range(rows):
                    if is_before(high[by], low[by], high[sums + row], low[sums + row]) and is_some(
                        products[t, 3], high[base + row], low[base + row], number[base + row]
                    ):
                        high[sums + row], low[sums + row] = high[by], low[by]
            elif is_some(products[t, 3], high[by], low[by], number[by]):
                for row in range(rows):
                    if is_before(high[base + row], low[base + row], high[sums + row], low[sums + row]):
                        high[sums + row], low[sums + row] = high[base + row], low[base + row]
        if kind != EXACT or cursor[6] or largest < NARROW:
            break
        cursor[6] = 1  # once more, in two words
        some = False
    for row in range(rows if some else 0):
        there, of = product + i * rows + row, sums + row
        if kind == EXACT:
            high[there], low[there] = add_exact(high[there], low[there], high[of], low[of])
            cursor[6] |= high[there] != 0 or low[there] < 0 or low[there] >= NARROW
        elif kind == NUMBER:
            number[there], low[there] = add_scaled(number[there], low[there], number[of], low[of])
            cursor[7] |= low[there] != 0 or not abs(number[there]) < HUGE
        elif is_before(high[of], low[of], high[there], low[there]):
            high[there], low[there] = high[of], low[of]


@inlined
def _write_windows(program, state, panes, output, w, index, end, combine):  # type: ignore[no-untyped-def]
    """Write out the windows from ``index`` to ``end``, which are all of the first entry of the front."""
    slots, banks, p = program.slots, program.banks, panes.of[w]
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    sums = panes.windows[p, 9] + panes.windows[p, 0]
    for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
        some, first = False, banks[bank, 1]
        for slot in range(first, banks[bank, 2]):
            kind, at = slots[slot, 0], sums + slot - first
            high[at] = NO_HIGH if kind == EXTREME else 0
            low[at] = NO_LOW if kind == EXTREME else 0
            for source in range(slots[slot, 1], slots[slot, 2]):
                _add_total(state.totals, panes, p, panes.slot_evaluations[source], kind, at)
            some |= kind != EXTREME and is_some(kind, high[at], low[at], number[at])
        for closed in range(index, end if some else index):
            row = new_row(program.blank_row, state.cursor, output, banks[bank, 0], closed, combine)
            for slot in range(first, banks[bank, 2]):
                kind, word, number_at = slots[slot, 0], place(slots[slot, 3]), place(slots[slot, 4])
                write(kind, sums + slot - first, high, low, number, output.words, output.floats, row, word, number_at)


@inlined
def _add_total(totals, panes, p, i, kind, at):  # type: ignore[no-untyped-def]
    """Add what a cell holds in the windows of the first entry of the front to the total at ``at``."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    evaluations, products, layout = panes.evaluations, panes.products, panes.windows[p]
    first, size = layout[2], layout[3] - layout[2]
    front = layout[6] + panes.now[p, _BEGIN] * size
    for t in range(evaluations[first + i, 2], evaluations[first + i, 3]):
        by, of = evaluations[first + products[t, 0], 1] + products[t, 1], front + products[t, 2]
        constant = products[t, 2] < 0
        by_high, by_low, by_number = totals.high[by], totals.low[by], totals.number[by]
        if kind == EXACT:
            if not constant:
                by_high, by_low = multiply_exact(by_high, by_low, high[of], low[of])
            high[at], low[at] = add_exact(high[at], low[at], by_high, by_low)
        elif kind == NUMBER:
            if not constant and by_number != 0.0 and number[of] != 0.0:
                by_number, by_low = scaled(by_number * number[of], by_low + low[of])
            if constant or number[of] != 0.0:
                number[at], low[at] = add_scaled(number[at], low[at], by_number, by_low)
        elif constant or products[t, 4]:
            if is_before(by_high, by_low, high[at], low[at]) and (
                constant or is_some(products[t, 3], high[of], low[of], number[of])
            ):
                high[at], low[at] = by_high, by_low
        elif is_some(products[t, 3], by_high, by_low, by_number) and is_before(high[of], low[of], high[at], low[at]):
            high[at], low[at] = high[of], low[of]
