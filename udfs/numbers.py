"""Arithmetic of totals, one value at a time: 128-bit counts, scaled doubles, order keys."""

from __future__ import annotations

import numpy as np
from numba import njit

LIMIT_HIGH = np.uint64((10**38 >> 64) + 1)
"""High word at which a 128-bit count sticks: such a count is above 10^38, and the sum of two high
words below it does not wrap."""

_STEP = 512
_BIG = 2.0**256
_SMALL = 2.0**-256
_UP = 2.0**_STEP
_DOWN = 2.0**-_STEP
NOT_FINITE = np.int64(1 << 40)
"""Scale of NaN and infinities, so that they outweigh every finite number."""


@njit(cache=True, inline="always")
def add_exact(high, low, more_high, more_low):  # type: ignore[no-untyped-def]
    """Sum of two 128-bit counts, as (high, low). Sticks once its high word reaches ``LIMIT_HIGH``."""
    total = low + more_low
    high = high + more_high
    if total < low:
        high += np.uint64(1)
    return min(high, LIMIT_HIGH), total


@njit(cache=True)
def scaled(number, scale):  # type: ignore[no-untyped-def]
    """``number · 2^(512·scale)`` with its number brought between 2^-256 and 2^256."""
    size = abs(number)
    if size == 0.0:
        return 0.0, np.int64(0)
    if not size < np.inf:
        return number, NOT_FINITE
    while size >= _BIG:
        number *= _DOWN
        size *= _DOWN
        scale += 1
    while size < _SMALL:
        number *= _UP
        size *= _UP
        scale -= 1
    return number, np.int64(scale)


@njit(cache=True, inline="always")
def add_scaled(number, scale, more, more_scale):  # type: ignore[no-untyped-def]
    """Sum of two scaled doubles, as (number, scale)."""
    if more == 0.0:
        return number, scale
    if number == 0.0:
        return more, more_scale
    if scale == more_scale:
        total = number + more
        if _SMALL <= abs(total) < _BIG:
            return total, scale
        return scaled(total, scale)
    if scale < more_scale:
        number, more = more, number
        scale, more_scale = more_scale, scale
    if scale - more_scale == 1:
        return scaled(number + more * _DOWN, scale)
    return number, scale


@njit(cache=True, inline="always")
def is_before(high, low, other_high, other_low):  # type: ignore[no-untyped-def]
    """Whether one order key is less than another."""
    return high < other_high or (high == other_high and low < other_low)
