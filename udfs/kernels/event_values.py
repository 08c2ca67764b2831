"""What one event adds: of which classes it is, and the value of a cell by each arithmetic, lane by lane."""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled, is_before, scaled
from sparkext.udfs.arithmetic.totals import (
    HUGE,
    MANY,
    NARROW,
    NO_HIGH,
    NO_LOW,
    add_lanes,
    is_some,
    largest,
    sum_up,
)
from sparkext.udfs.jit.compiled import as_index, inlined
from sparkext.udfs.tables import columns as col

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT_INDEXES = np.array(
    [p for _, p in sorted(((((1 << p) * 0x03F79D71B4CB0A89) % (1 << 64)) >> 58, p) for p in range(64))], np.int64
)


@inlined
def classes_of(classes, row, matched):
    """Put the classes that an event is of into ``matched``; returns how many there are."""
    class_count = 0
    for word in range(classes.shape[1]):
        bits = classes[row, word]
        while bits:
            bit = np.uint64(bits & -bits) * _DE_BRUIJN >> np.uint64(58)
            matched[class_count] = word * CLASSES_PER_WORD + _BIT_INDEXES[bit]
            class_count += 1
            bits &= bits - 1
    return class_count


@inlined
def add_up_counts(state, sources, begin, end, at, first, last, start, counts, count):
    """Let the event's count at ``at`` be what it starts, the totals of ``sources`` and what it contributes."""
    high, low, cursor = state.totals.high, state.totals.low, state.cursor
    event_high, event_low = state.event.high, state.event.low
    if not cursor[col.CURSOR_WIDE] and last - first >= MANY:
        event_high[at + first : at + last] = 0
        sum_up(event_low, low, sources, at, begin, end, first, last, start)
        if counts:
            add_lanes(event_low, at, event_low, count, first, last, 1)
        cursor[col.CURSOR_WIDE] |= largest(event_low, at, first, last) >= NARROW
    elif not cursor[col.CURSOR_WIDE]:
        most = np.int64(0)
        for lane in range(first, last):
            sum_low = start
            for s in range(begin, end):
                sum_low += low[as_index(sources[s]) + lane]
            if counts:
                sum_low += event_low[count + lane]
            event_high[at + lane] = 0
            event_low[at + lane] = sum_low
            most = max(most, sum_low)
        cursor[col.CURSOR_WIDE] |= most >= NARROW
    else:
        for lane in range(first, last):
            sum_high, sum_low = np.int64(0), start
            for s in range(begin, end):
                slot = as_index(sources[s]) + lane
                sum_high, sum_low = add_exact(sum_high, sum_low, high[slot], low[slot])
            if counts:
                slot = count + lane
                sum_high, sum_low = add_exact(sum_high, sum_low, event_high[slot], event_low[slot])
            event_high[at + lane] = sum_high
            event_low[at + lane] = sum_low


@inlined
def add_up_numbers(state, sources, begin, end, at, first, last, start, counts, count, value):
    """Likewise for numbers, where it contributes ``value`` for each trend."""
    number, low, cursor = state.totals.number, state.totals.low, state.cursor
    event_number, event_low = state.event.number, state.event.low
    start_number = np.float64(start)
    if not cursor[col.CURSOR_SCALED] and last - first >= MANY:
        event_low[at + first : at + last] = 0
        sum_up(event_number, number, sources, at, begin, end, first, last, start_number)
        if counts:
            add_lanes(event_number, at, event_number, count, first, last, value)
        cursor[col.CURSOR_SCALED] |= largest(event_number, at, first, last) >= HUGE
    elif not cursor[col.CURSOR_SCALED]:
        most = 0.0
        for lane in range(first, last):
            total = start_number
            for s in range(begin, end):
                total += number[as_index(sources[s]) + lane]
            if counts:
                total += value * event_number[count + lane]
            event_number[at + lane] = total
            event_low[at + lane] = 0
            most = max(most, abs(total))
        cursor[col.CURSOR_SCALED] |= most >= HUGE
    else:
        value, value_scale = scaled(value, np.int64(0))
        for lane in range(first, last):
            total, scale = start_number, np.int64(0)
            for s in range(begin, end):
                slot = as_index(sources[s]) + lane
                total, scale = add_scaled(total, scale, number[slot], low[slot])
            slot = count + lane
            if counts and event_number[slot] != 0.0:
                more, more_scale = scaled(value * event_number[slot], value_scale + event_low[slot])
                total, scale = add_scaled(total, scale, more, more_scale)
            event_number[at + lane] = total
            event_low[at + lane] = scale


@inlined
def take_least(state, sources, begin, end, at, first, last, counts, count, count_kind, own_key):
    """Let the extreme at ``at`` be the least of those of ``sources`` and its ``own_key``, where it counts trends."""
    high, low, event = state.totals.high, state.totals.low, state.event
    for lane in range(first, last):
        least_high, least_low = NO_HIGH, NO_LOW
        for s in range(begin, end):
            slot = as_index(sources[s]) + lane
            if is_before(high[slot], low[slot], least_high, least_low):
                least_high, least_low = high[slot], low[slot]
        slot = count + lane
        if (
            counts
            and is_before(own_key[0], own_key[1], least_high, least_low)
            and is_some(count_kind, event.high[slot], event.low[slot], event.number[slot])
        ):
            least_high, least_low = own_key
        event.high[at + lane] = least_high
        event.low[at + lane] = least_low
