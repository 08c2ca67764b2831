"""Differences of two ends of a trend: what the later end adds to the least that the earlier one has left."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import is_before
from sparkext.udfs.arithmetic.totals import NO_HIGH, NO_LOW
from sparkext.udfs.jit.compiled import arithmetic, as_index, inlined
from sparkext.udfs.tables.columns import ADDED_COLUMN, ADDED_IS_GREATEST, ADDED_KIND, DOUBLE

_SIZE = np.int64(np.iinfo(np.int64).max)
_NAN_KEY = np.int64(0x7FF8 << 48)


@inlined
def add_part(added, batch, row, begin, end, high, low):
    """Add what an event has to the order keys at ``begin``..``end``, wherever there is one.

    Args:
        added: Row of a table of `sparkext.udfs.state.difference_tables.Differences`.
        batch: `sparkext.udfs.arrow.batches.Batch`.
        row: Of the event.
        begin: Index of the first key.
        end: The index after the last.
        high: High words of keys; changed.
        low: Low words; changed.
    """
    for at in range(as_index(begin), as_index(end)):
        high[at], low[at] = with_part(added, batch, row, high[at], low[at])


@inlined
def add_from_with_part(added, batch, row, begin, end, by, high, low):
    """Keep the least of the keys at ``begin``..``end`` and those ``by`` lanes after, to which the event adds."""
    by = as_index(by)
    for at in range(as_index(begin), as_index(end)):
        more_high, more_low = with_part(added, batch, row, high[at + by], low[at + by])
        if is_before(more_high, more_low, high[at], low[at]):
            high[at], low[at] = more_high, more_low


@inlined
def with_part(added, batch, row, high, low):
    """The key of a difference with what an event adds to it; that of no value as it is."""
    column, is_greatest = as_index(added[ADDED_COLUMN]), added[ADDED_IS_GREATEST] != 0
    if high == NO_HIGH and low == NO_LOW:
        return high, low
    if added[ADDED_KIND] == DOUBLE:
        number = _as_number(~high if is_greatest else high) + batch.numbers[column, row]
        key = _as_key(number)
        return (~key if is_greatest else key), low
    # A reversed key is the complement of a value, which is less by one than the negative value.
    total = np.uint64(low) + np.uint64(batch.key_low[column, row]) + np.uint64(is_greatest)
    carry = total < np.uint64(low) or (is_greatest and total == np.uint64(low))
    return high + batch.key_high[column, row] + np.int64(carry), np.int64(total)


@arithmetic
def _as_number(key):
    """The double that has an order key."""
    return np.int64(key ^ ((key >> 63) & _SIZE)).view(np.float64)


@arithmetic
def _as_key(number):
    """The order key of a double; see `sparkext.udfs.arrow.order_keys`."""
    if number != number:
        return _NAN_KEY
    bits = np.float64(number + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & _SIZE)
