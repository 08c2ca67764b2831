"""Totals that an event is added to as soon as it is known what it adds.

That is so where no total is read for the event after it has been added to: it is the only one of its time, of one
class, and the cells of that class come before those that they go on from (``Program.in_order``). One loop over a few
lanes then does what else takes two, and what the event adds by itself is kept only of cells that count for others.

Nearly all cells go on from one other, which is read apart: a loop over sources in each lane would take longer than all
the rest.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.totals import HUGE, NARROW
from sparkext.udfs.jit.compiled import as_index, inlined
from sparkext.udfs.tables import columns as col


@inlined
def add_counts(state, sources, begin, end, at, first, last, start, counts, count, is_counted):
    """Add what `sparkext.udfs.kernels.event_values.add_up_counts` would give to the total, in one word."""
    low, event_high, event_low = state.totals.low, state.event.high, state.event.low
    has_source = np.int64(begin < end)
    source = as_index(sources[begin]) if begin < end else at
    bits = np.int64(0)
    for lane in range(first, last):
        more = start + has_source * low[source + lane]
        for s in range(begin + as_index(1), end):
            more += low[as_index(sources[s]) + lane]
        if counts:
            more += event_low[count + lane]
        if is_counted:
            event_high[at + lane] = 0
            event_low[at + lane] = more
        low[at + lane] += more
        bits |= low[at + lane]
    state.cursor[col.CURSOR_WIDE] |= bits >= NARROW


@inlined
def add_numbers(state, sources, begin, end, at, first, last, start, counts, count, value, is_counted):
    """Likewise for numbers without scales, where the event contributes ``value`` for each trend."""
    number, event_low, event_number = state.totals.number, state.event.low, state.event.number
    has_source, start_number = np.float64(begin < end), np.float64(start)
    source = as_index(sources[begin]) if begin < end else at
    is_huge = False
    for lane in range(first, last):
        more = start_number + has_source * number[source + lane]
        for s in range(begin + as_index(1), end):
            more += number[as_index(sources[s]) + lane]
        if counts:
            more += value * event_number[count + lane]
        if is_counted:
            event_number[at + lane] = more
            event_low[at + lane] = 0
        number[at + lane] += more
        is_huge |= abs(number[at + lane]) >= HUGE
    state.cursor[col.CURSOR_SCALED] |= is_huge
