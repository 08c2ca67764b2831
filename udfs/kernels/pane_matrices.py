"""Matrices of panes: what the events of each do to totals, and the product of all, which windows are evaluated by."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import LIMIT_HIGH, add_exact, add_scaled, is_before
from sparkext.udfs.arithmetic.totals import HUGE, NARROW, NO_HIGH, NO_LOW, add_product, is_some
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER


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
    for slot in range(to, to + rows):
        to_high[slot], to_low[slot] = high[slot + by], low[slot + by]
        high[slot + by], low[slot + by] = blank_high, blank_low
        if slot - to != unit:
            left |= (to_high[slot] ^ blank_high) | (to_low[slot] ^ blank_low)
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
        kind, unit = evaluations[first + i, col.PANED_KIND], evaluations[first + i, col.PANED_UNIT]
        at = product + i * rows
        clear(kind, at, at + rows, high, low)
        if unit >= 0 and kind == EXACT:
            low[at + unit] = 1
        elif unit >= 0:
            number[at + unit] = 1.0
    for pane in range(now[col.PANES_SINCE] - 1, -1, -1):
        _mark(panes, p, pane)
        for i in range(size):
            if panes.marks[first + i]:
                panes.marks[first + i] = 0
                _multiply(panes, cursor, p, pane, i)
            high[front + pane * size + i] = high[product + i * rows]
            low[front + pane * size + i] = low[product + i * rows]
        panes.newest[entries + pane] = panes.newest[entries + room + pane]
    now[col.FRONT_BEGIN], now[col.FRONT_END], now[col.PANES_SINCE] = 0, now[col.PANES_SINCE], 0


@inlined
def _mark(panes, p, pane):
    """Mark the evaluations whose products a pane changes."""
    first, last = panes.windows[p, col.PANES_CELLS], panes.windows[p, col.PANES_CELLS_END]
    flags = panes.windows[p, col.PANES_TOUCHED] + pane * (last - first)
    for e in range(first, last):
        if panes.touched[flags + e - first]:
            for r in range(panes.reader_ends[e], panes.reader_ends[e + 1]):
                panes.marks[first + panes.readers[r]] = 1


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
    product, sums = as_index(layout[col.PANES_PRODUCT]), as_index(layout[col.PANES_SCRATCH])
    some = False
    while True:
        largest = 0.0
        for t in range(begin, end):
            of = products[t, col.PRODUCT_BASE]
            if of < 0 or panes.touched[flags + of] == 0:
                continue
            by, base = product + as_index(products[t, col.PRODUCT_PLACE]), as_index(matrix + of * rows)
            if kind != EXTREME and (high[by] | low[by]) == 0:
                continue
            if not some:
                some = True
                clear(kind, sums, sums + rows, high, low)
            if kind == EXACT and not cursor[col.CURSOR_WIDE]:
                # The sum of all products as doubles tells whether one word holds each.
                most, factor = 0.0, low[by]
                for row in range(as_index(rows)):
                    low[sums + row] += factor * low[base + row]
                    most += np.float64(low[base + row])
                largest += most * np.float64(factor)
            elif kind == NUMBER and not cursor[col.CURSOR_SCALED]:
                for row in range(as_index(rows)):
                    number[sums + row] += number[by] * number[base + row]
            elif kind != EXTREME:
                by_high, by_low, by_number = high[by], low[by], number[by]
                add_product(kind, 0, rows, sums, base, high, low, number, by_high, by_low, by_number, high, low, number)
            elif products[t, col.PRODUCT_OF_TOTAL]:
                for row in range(as_index(rows)):
                    if is_before(high[by], low[by], high[sums + row], low[sums + row]) and is_some(
                        products[t, col.PRODUCT_COUNT], high[base + row], low[base + row], number[base + row]
                    ):
                        high[sums + row], low[sums + row] = high[by], low[by]
            elif is_some(products[t, col.PRODUCT_COUNT], high[by], low[by], number[by]):
                for row in range(as_index(rows)):
                    if is_before(high[base + row], low[base + row], high[sums + row], low[sums + row]):
                        high[sums + row], low[sums + row] = high[base + row], low[base + row]
        if kind != EXACT or cursor[col.CURSOR_WIDE] or largest < NARROW:
            break
        cursor[col.CURSOR_WIDE] = 1  # once more, in two words
        some = False
    for row in range(as_index(rows if some else 0)):
        slot, of = product + as_index(i * rows) + row, sums + row
        if kind == EXACT and not cursor[col.CURSOR_WIDE]:
            low[slot] += low[of]
            cursor[col.CURSOR_WIDE] |= low[slot] >= NARROW
        elif kind == EXACT:
            high[slot], low[slot] = add_exact(high[slot], low[slot], high[of], low[of])
        elif kind == NUMBER and not cursor[col.CURSOR_SCALED] and abs(number[slot] + number[of]) < HUGE:
            number[slot] += number[of]
        elif kind == NUMBER:
            number[slot], low[slot] = add_scaled(number[slot], low[slot], number[of], low[of])
            cursor[col.CURSOR_SCALED] |= low[slot] != 0 or not abs(number[slot]) < HUGE
        elif is_before(high[of], low[of], high[slot], low[slot]):
            high[slot], low[slot] = high[of], low[of]
