"""Totals: what cells, buckets and nodes of trees hold, lane by lane."""

from __future__ import annotations

import numpy as np

from udfs.compiled import inlined
from udfs.numbers import add_exact, add_scaled, is_before
from udfs.program import EXACT, NO_KEY, NUMBER

NO_HIGH, NO_LOW = np.int64(NO_KEY[0]), np.int64(NO_KEY[1])
NARROW = np.int64(1 << 52)
TINY, HUGE = 2.0**-200, 2.0**200
"""While all counts of a key are below ``NARROW`` one word holds them, and while all numbers are below
``HUGE`` they need no scale: plain additions, which the compiler turns into vector instructions. A sum
over a thousand such counts, `MAX_STATES`, still fits in a word, and a product of two such numbers in a double."""


@inlined
def is_some(kind, high, low, number):  # type: ignore[no-untyped-def]
    """Whether a count of trends is not zero."""
    return (high | low) != 0 if kind == EXACT else number != 0.0


@inlined
def add(kind, begin, end, cursor, high, low, number, more_high, more_low, more_number):  # type: ignore[no-untyped-def]
    """Add one cell's lanes at ``begin``..``end`` to the same lanes of other totals."""
    add_from(kind, begin, end, 0, cursor, high, low, number, more_high, more_low, more_number)


@inlined
def add_from(kind, begin, end, by, cursor, high, low, number, more_high, more_low, more_number):  # type: ignore[no-untyped-def]
    """Add lanes to the lanes at ``begin``..``end`` of other totals, which are ``by`` places before them."""
    if kind == EXACT and not cursor[6]:
        most = np.int64(0)
        for at in range(begin, end):
            low[at] += more_low[at + by]
            most = max(most, low[at])
        cursor[6] |= most >= NARROW
    elif kind == EXACT:
        for at in range(begin, end):
            high[at], low[at] = add_exact(high[at], low[at], more_high[at + by], more_low[at + by])
    elif kind == NUMBER and not cursor[7]:
        largest = 0.0
        for at in range(begin, end):
            number[at] += more_number[at + by]
            largest = max(largest, abs(number[at]))
        cursor[7] |= largest >= HUGE
    elif kind == NUMBER:
        for at in range(begin, end):
            number[at], low[at] = add_scaled(number[at], low[at], more_number[at + by], more_low[at + by])
    else:
        for at in range(begin, end):
            if is_before(more_high[at + by], more_low[at + by], high[at], low[at]):
                high[at], low[at] = more_high[at + by], more_low[at + by]


@inlined
def write(kind, at, totals, words, floats, word, place):  # type: ignore[no-untyped-def]
    """Add one total to a field of an output row."""
    high, low, number = totals.high[at], totals.low[at], totals.number[at]
    if kind == EXACT:
        words[word], words[word + 1] = add_exact(words[word], words[word + 1], high, low)
    elif kind == NUMBER:
        floats[place], words[word] = add_scaled(floats[place], words[word], number, low)
    elif is_before(high, low, words[word], words[word + 1]):
        words[word], words[word + 1] = high, low
