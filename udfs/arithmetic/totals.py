"""Totals: what cells, buckets and nodes of trees hold, lane by lane."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled, is_before, multiply_exact, scaled
from sparkext.udfs.jit.compiled import as_index, inlined
from sparkext.udfs.tables.columns import CURSOR_SCALED, CURSOR_WIDE
from sparkext.udfs.tables.program import EXACT, NO_KEY, NUMBER

NO_HIGH, NO_LOW = np.int64(NO_KEY[0]), np.int64(NO_KEY[1])
NARROW = np.int64(1 << 52)
TINY, HUGE = 2.0**-200, 2.0**200
"""While all counts of a key are below ``NARROW`` one word holds them, and while all numbers are below
``HUGE`` they need no scale: plain additions, which the compiler turns into vector instructions. A sum
over a thousand such counts, `MAX_STATES`, still fits in a word, and a product of two such numbers in a double."""


MANY = 8
"""From so many lanes on, vector instructions are worth a loop for each of the totals that are added."""


@inlined
def sum_up(to, totals, sources, at, begin, end, first, last, start):
    """Make each lane from ``first`` to ``last`` of the cell at ``at`` the sum of ``start`` and those of sources."""
    for lane in range(first, last):
        to[at + lane] = start
    for s in range(begin, end):
        add_lanes(to, at, totals, as_index(sources[s]), first, last, 1)


@inlined
def add_lanes(to, at, totals, of, first, last, factor):
    """Add a multiple of the lanes of the cell at ``of`` to those of the cell at ``at``."""
    for lane in range(first, last):
        to[at + lane] += factor * totals[of + lane]


@inlined
def largest(totals, at, first, last):
    """The greatest size in the lanes of a cell."""
    size = abs(totals[at + first])
    for lane in range(first, last):
        size = max(size, abs(totals[at + lane]))
    return size


@inlined
def is_some(kind, high, low, number):
    """Whether a count of trends is not zero."""
    return (high | low) != 0 if kind == EXACT else number != 0.0


@inlined
def add_one(kind, at, high, low, number, more_high, more_low, more_number):
    """Add a total to the one at ``at``, or keep the lesser of the two."""
    if kind == EXACT:
        high[at], low[at] = add_exact(high[at], low[at], more_high, more_low)
    elif kind == NUMBER:
        number[at], low[at] = add_scaled(number[at], low[at], more_number, more_low)
    elif is_before(more_high, more_low, high[at], low[at]):
        high[at], low[at] = more_high, more_low


@inlined
def add(kind, begin, end, cursor, high, low, number, more_high, more_low, more_number):
    """Add one cell's lanes at ``begin``..``end`` to the same lanes of other totals."""
    add_from(kind, begin, end, 0, cursor, high, low, number, more_high, more_low, more_number)


@inlined
def add_from(kind, begin, end, by, cursor, high, low, number, more_high, more_low, more_number):
    """Add lanes to the lanes at ``begin``..``end`` of other totals, which are ``by`` lanes before them."""
    by = as_index(by)
    if kind == EXACT and not cursor[CURSOR_WIDE]:
        most = np.int64(0)
        for at in range(as_index(begin), as_index(end)):
            low[at] += more_low[at + by]
            most = max(most, low[at])
        cursor[CURSOR_WIDE] |= most >= NARROW
    elif kind == EXACT:
        for at in range(as_index(begin), as_index(end)):
            high[at], low[at] = add_exact(high[at], low[at], more_high[at + by], more_low[at + by])
    elif kind == NUMBER and not cursor[CURSOR_SCALED]:
        largest = 0.0
        for at in range(as_index(begin), as_index(end)):
            number[at] += more_number[at + by]
            largest = max(largest, abs(number[at]))
        cursor[CURSOR_SCALED] |= largest >= HUGE
    elif kind == NUMBER:
        for at in range(as_index(begin), as_index(end)):
            number[at], low[at] = add_scaled(number[at], low[at], more_number[at + by], more_low[at + by])
    else:
        for at in range(as_index(begin), as_index(end)):
            if is_before(more_high[at + by], more_low[at + by], high[at], low[at]):
                high[at], low[at] = more_high[at + by], more_low[at + by]


@inlined
def add_product(kind, begin, end, at, base, to_high, to_low, to_number, by_high, by_low, by_number, high, low, number):
    """Add a coefficient times the totals at ``base`` (-1: 1) to the lanes of a cell, which begin at ``at``."""
    for lane in range(as_index(begin), as_index(end if by_high | by_low else begin)):
        slot, of = as_index(at) + lane, as_index(base) + lane
        if kind == EXACT:
            more_high, more_low = by_high, by_low
            if base >= 0:
                more_high, more_low = multiply_exact(by_high, by_low, high[of], low[of])
            to_high[slot], to_low[slot] = add_exact(to_high[slot], to_low[slot], more_high, more_low)
        elif base < 0:
            to_number[slot], to_low[slot] = add_scaled(to_number[slot], to_low[slot], by_number, by_low)
        elif number[of] != 0.0:  # nothing times what is not finite is nothing
            more, scale = scaled(by_number * number[of], by_low + low[of])
            to_number[slot], to_low[slot] = add_scaled(to_number[slot], to_low[slot], more, scale)


@inlined
def write(kind, at, high, low, number, words, floats, row, word, number_at):
    """Add one total to a field of an output row."""
    if kind == EXACT:
        words[row, word], words[row, word + as_index(1)] = add_exact(
            words[row, word], words[row, word + as_index(1)], high[at], low[at]
        )
    elif kind == NUMBER:
        floats[row, number_at], words[row, word] = add_scaled(
            floats[row, number_at], words[row, word], number[at], low[at]
        )
    elif is_before(high[at], low[at], words[row, word], words[row, word + as_index(1)]):
        words[row, word], words[row, word + as_index(1)] = high[at], low[at]
