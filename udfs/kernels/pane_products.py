"""Windows as products of their panes.

Two stacks make a sliding product: while windows close, what they held when they were last evaluated, which is the
front, is multiplied with what all events since have done. When a window closes that began after that, the front is
evaluated anew, from the last pane back to the first that some open window begins with. So a pane is multiplied
once, and a window once, however many windows are open. Where several windows hold the same events, they are one.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import LIMIT_HIGH, add_exact, add_scaled, is_before, multiply_exact, scaled
from sparkext.udfs.arithmetic.totals import HUGE, NARROW, NO_HIGH, NO_LOW, add_product, is_some, write
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.forms import clear, clear_cells, set_units
from sparkext.udfs.kernels.rows import new_row
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER


@inner
def begin_panes(program, state, panes, w):
    """Start with a new key, in the windows of ``w``."""
    panes.now[panes.of[w], :] = 0
    clear_lanes(program, state, panes, w, 0)
    clear_lanes(program, state, panes, w, panes.windows[panes.of[w], 0])


@inner
def turn_panes(program, state, panes, output, w, until, newest, combine):
    """Write out the windows of ``w`` below ``until``, and end the pane under way if one up to ``newest`` opens."""
    p = panes.of[w]
    opened, now = state.open[w], panes.now[p]
    room, entries = panes.windows[p, col.PANES_ROOM], panes.windows[p, col.PANES_NEWEST]
    index, last = opened[col.OPEN_FIRST], min(opened[col.OPEN_LAST], until - 1)
    while True:
        while now[col.FRONT_BEGIN] < now[col.FRONT_END] and panes.newest[entries + now[col.FRONT_BEGIN]] < index:
            now[col.FRONT_BEGIN] += 1
        if index <= last and now[col.FRONT_BEGIN] < now[col.FRONT_END]:
            end = min(last, panes.newest[entries + now[col.FRONT_BEGIN]]) + 1
            _write_windows(program, state, panes, output, w, index, end, combine)
            index = end
            continue
        # Either a window closes that is not in the front, or another opens: the pane under way ends.
        if index > last and newest <= opened[col.OPEN_LAST]:
            break
        end_pane(program, state, panes, w)
        if index > last or now[col.PANES_SINCE] == 0 or panes.newest[entries + room + now[col.PANES_SINCE] - 1] < index:
            break
        evaluate_front(panes, state.cursor, p)
        clear_lanes(program, state, panes, w, 0)
    opened[col.OPEN_FIRST] = max(opened[col.OPEN_FIRST], until)


@inlined
def clear_lanes(program, state, panes, w, half):
    """Let the lanes from ``half`` on, of all cells of a window, be the unit matrix again."""
    p = panes.of[w]
    clear_cells(program, w, half, half + panes.windows[p, col.PANES_ROWS], state.totals.high, state.totals.low)
    begin, end = panes.windows[p, col.PANES_UNITS], panes.windows[p, col.PANES_UNITS_END]
    middle = (begin + end) // 2
    first, last = (middle, end) if half else (begin, middle)
    set_units(panes.units, first, last, state.totals.low, state.totals.number)


@inner
def end_pane(program, state, panes, w):
    """Keep the matrix of the pane under way, if there were events in it, and let the next one begin."""
    p = panes.of[w]
    layout, now = panes.windows[p], panes.now[p]
    rows, first, size = (
        layout[col.PANES_ROWS],
        layout[col.PANES_CELLS],
        layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS],
    )
    to, flags = (
        layout[col.PANES_MATRICES] + now[col.PANES_SINCE] * size * rows,
        layout[col.PANES_TOUCHED] + now[col.PANES_SINCE] * size,
    )
    some = False
    for e in range(first, first + size):
        is_touched = keep_column(state.totals, panes, e, rows, to)
        panes.touched[flags] = is_touched
        some |= is_touched
        flags += 1
        to += rows
    if some:
        panes.newest[layout[col.PANES_NEWEST] + layout[col.PANES_ROOM] + now[col.PANES_SINCE]] = state.open[
            w, col.OPEN_LAST
        ]
        now[col.PANES_SINCE] += 1
        if layout[col.PANES_OTHERS]:
            clear_lanes(program, state, panes, w, rows)


@inner
def keep_column(totals, panes, e, rows, to):
    """Keep at ``to`` what a pane adds to the total of an evaluation; returns whether it changes it."""
    high, low, number = totals.high, totals.low, totals.number
    to_high, to_low, to_number = panes.memory.high, panes.memory.low, panes.memory.number
    kind, unit, by = (
        panes.evaluations[e, col.PANED_KIND],
        panes.evaluations[e, col.PANED_UNIT],
        panes.evaluations[e, col.PANED_AT] + rows - to,
    )
    blank_high, blank_low = (NO_HIGH, NO_LOW) if kind == EXTREME else (np.int64(0), np.int64(0))
    left = np.int64(0)
    for there in range(to, to + rows):
        to_high[there], to_low[there] = high[there + by], low[there + by]
        high[there + by], low[there + by] = blank_high, blank_low
        if there - to != unit:
            left |= (to_high[there] ^ blank_high) | (to_low[there] ^ blank_low)
    if unit >= 0:
        at = to + unit
        if kind == NUMBER and to_low[at] == 0 and abs(to_number[at]) < HUGE:
            number[at + by] = 1.0
            to_number[at] -= 1.0
        elif kind == NUMBER:
            number[at + by] = 1.0
            to_number[at], to_low[at] = add_scaled(to_number[at], to_low[at], -1.0, np.int64(0))
        else:
            low[at + by] = 1
            if to_high[at] < LIMIT_HIGH:
                to_high[at] -= to_low[at] == 0
                to_low[at] -= 1
        left |= to_high[at] | to_low[at]
    return left != 0


@inner
def evaluate_front(panes, cursor, p):
    """Make a front of all panes: what the windows that begin with each of them hold now."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    evaluations, layout, now = panes.evaluations, panes.windows[p], panes.now[p]
    rows, room, first, size = (
        layout[col.PANES_ROWS],
        layout[col.PANES_ROOM],
        layout[col.PANES_CELLS],
        layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS],
    )
    front, product, entries = layout[col.PANES_FRONT], layout[col.PANES_PRODUCT], layout[col.PANES_NEWEST]
    for i in range(size):
        kind, unit, at = evaluations[first + i, 0], evaluations[first + i, 4], product + i * rows
        clear(kind, at, at + rows, high, low)
        if unit >= 0 and kind == EXACT:
            low[at + unit] = 1
        elif unit >= 0:
            number[at + unit] = 1.0
    for pane in range(now[col.PANES_SINCE] - 1, -1, -1):
        for i in range(size):
            _multiply(panes, cursor, p, pane, i)
            high[front + pane * size + i] = high[product + i * rows]
            low[front + pane * size + i] = low[product + i * rows]
        panes.newest[entries + pane] = panes.newest[entries + room + pane]
    now[col.FRONT_BEGIN], now[col.FRONT_END], now[col.PANES_SINCE] = 0, now[col.PANES_SINCE], 0


@inner
def _multiply(panes, cursor, p, pane, i):
    """Put the matrix of a pane before the product, as far as the column of one evaluation is concerned."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    products, layout = panes.products, panes.windows[p]
    rows, size, e = (
        layout[col.PANES_ROWS],
        layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS],
        layout[col.PANES_CELLS] + i,
    )
    kind, begin, end = (
        panes.evaluations[e, col.PANED_KIND],
        panes.evaluations[e, col.PANED_PRODUCTS],
        panes.evaluations[e, col.PANED_PRODUCTS_END],
    )
    matrix, flags = layout[col.PANES_MATRICES] + pane * size * rows, layout[col.PANES_TOUCHED] + pane * size
    product, sums = layout[col.PANES_PRODUCT], layout[col.PANES_SCRATCH]
    some = False
    while True:
        largest = 0.0
        for t in range(begin, end):
            of = products[t, col.PRODUCT_BASE]
            if of < 0 or panes.touched[flags + of] == 0:
                continue
            by, base = product + products[t, col.PRODUCT_PLACE], matrix + of * rows
            if kind != EXTREME and (high[by] | low[by]) == 0:
                continue
            if not some:
                some = True
                clear(kind, sums, sums + rows, high, low)
            if kind == EXACT and not cursor[col.CURSOR_WIDE]:
                # The sum of all products as doubles tells whether one word holds each.
                most = 0.0
                for row in range(rows):
                    low[sums + row] += low[by] * low[base + row]
                    most += np.float64(low[base + row])
                largest += most * np.float64(low[by])
            elif kind == NUMBER and not cursor[col.CURSOR_SCALED]:
                for row in range(rows):
                    number[sums + row] += number[by] * number[base + row]
            elif kind != EXTREME:
                by_high, by_low, by_number = high[by], low[by], number[by]
                add_product(kind, 0, rows, sums, base, high, low, number, by_high, by_low, by_number, high, low, number)
            elif products[t, col.PRODUCT_OF_TOTAL]:
                for row in range(rows):
                    if is_before(high[by], low[by], high[sums + row], low[sums + row]) and is_some(
                        products[t, col.PRODUCT_COUNT], high[base + row], low[base + row], number[base + row]
                    ):
                        high[sums + row], low[sums + row] = high[by], low[by]
            elif is_some(products[t, col.PRODUCT_COUNT], high[by], low[by], number[by]):
                for row in range(rows):
                    if is_before(high[base + row], low[base + row], high[sums + row], low[sums + row]):
                        high[sums + row], low[sums + row] = high[base + row], low[base + row]
        if kind != EXACT or cursor[col.CURSOR_WIDE] or largest < NARROW:
            break
        cursor[col.CURSOR_WIDE] = 1  # once more, in two words
        some = False
    for row in range(rows if some else 0):
        there, of = product + i * rows + row, sums + row
        if kind == EXACT and not cursor[col.CURSOR_WIDE]:
            low[there] += low[of]
            cursor[col.CURSOR_WIDE] |= low[there] >= NARROW
        elif kind == EXACT:
            high[there], low[there] = add_exact(high[there], low[there], high[of], low[of])
        elif kind == NUMBER and not cursor[col.CURSOR_SCALED] and abs(number[there] + number[of]) < HUGE:
            number[there] += number[of]
        elif kind == NUMBER:
            number[there], low[there] = add_scaled(number[there], low[there], number[of], low[of])
            cursor[col.CURSOR_SCALED] |= low[there] != 0 or not abs(number[there]) < HUGE
        elif is_before(high[of], low[of], high[there], low[there]):
            high[there], low[there] = high[of], low[of]


@inner
def _write_windows(program, state, panes, output, w, index, end, combine):
    """Write out the windows from ``index`` to ``end``, which are all of the first entry of the front."""
    slots, banks, p = program.slots, program.banks, panes.of[w]
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    sums = panes.windows[p, col.PANES_SCRATCH] + panes.windows[p, col.PANES_ROWS]
    for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
        some, first = False, banks[bank, col.BANK_SLOTS]
        for slot in range(first, banks[bank, col.BANK_SLOTS_END]):
            kind, at = slots[slot, col.SLOT_KIND], sums + slot - first
            clear(kind, at, at + 1, high, low)
            for source in range(slots[slot, col.SLOT_SOURCES], slots[slot, col.SLOT_SOURCES_END]):
                _add_total(state.totals, panes, p, panes.slot_evaluations[source], kind, at)
            some |= kind != EXTREME and is_some(kind, high[at], low[at], number[at])
        for closed in range(index, end if some else index):
            row = new_row(program.blank_row, state.cursor, output, banks[bank, col.BANK_NUMBER], closed, combine)
            for slot in range(first, banks[bank, col.BANK_SLOTS_END]):
                kind, word, number_at = (
                    slots[slot, col.SLOT_KIND],
                    as_index(slots[slot, col.SLOT_WORD]),
                    as_index(slots[slot, col.SLOT_FLOAT]),
                )
                write(kind, sums + slot - first, high, low, number, output.words, output.floats, row, word, number_at)


@inner
def _add_total(totals, panes, p, i, kind, at):
    """Add what a cell holds in the windows of the first entry of the front to the total at ``at``."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    evaluations, products, layout = panes.evaluations, panes.products, panes.windows[p]
    first, size = layout[col.PANES_CELLS], layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS]
    front = layout[col.PANES_FRONT] + panes.now[p, col.FRONT_BEGIN] * size
    for t in range(evaluations[first + i, 2], evaluations[first + i, 3]):
        by, of = products[t, col.PRODUCT_FORM], front + products[t, col.PRODUCT_BASE]
        constant = products[t, col.PRODUCT_BASE] < 0
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
        elif constant or products[t, col.PRODUCT_OF_TOTAL]:
            if is_before(by_high, by_low, high[at], low[at]) and (
                constant or is_some(products[t, col.PRODUCT_COUNT], high[of], low[of], number[of])
            ):
                high[at], low[at] = by_high, by_low
        elif is_some(products[t, col.PRODUCT_COUNT], by_high, by_low, by_number) and is_before(
            high[of], low[of], high[at], low[at]
        ):
            high[at], low[at] = high[of], low[of]
