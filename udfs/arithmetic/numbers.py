"""Arithmetic of totals, one value at a time: 128-bit counts, scaled doubles, order keys.

128-bit values are two int64 words, of which the low one holds unsigned bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import lower_builtin, type_callable

from sparkext.planner.kernel_plan.kernel_plan import SCALE_BITS, STUCK_HIGH
from sparkext.udfs.jit.compiled import arithmetic, kernel

LIMIT_HIGH = np.int64(STUCK_HIGH)
"""High word at which a count sticks: such a count is above 10^38. The sum of two high words up to it
fits in 64 bits without a sign."""

_BIG = 2.0**256
_SMALL = 2.0**-256
_UP = 2.0**SCALE_BITS
_DOWN = 2.0**-SCALE_BITS
NOT_FINITE = np.int64(1 << 40)
"""Scale of NaN and infinities, so that they outweigh every finite number."""


def _high_word(left: Any, right: Any) -> Any:
    """High word of the product of two uint64, which is one instruction of the machine and has no name in numba."""
    return np.uint64(int(left) * int(right) >> 64)


@type_callable(_high_word)
def _type_of_high_word(_context: Any) -> Callable[[types.Type, types.Type], types.Type]:
    """What compiled code gets from `_high_word`."""
    return lambda left, right: types.uint64 if left == right == types.uint64 else None


@lower_builtin(_high_word, types.uint64, types.uint64)
def _lower_high_word(_context: Any, builder: Any, _signature: Any, words: tuple[Any, Any]) -> Any:
    """What compiled code does in place of `_high_word`."""
    word = words[0].type
    wide = type(word)(2 * word.width)
    product = builder.mul(*(builder.zext(value, wide) for value in words))
    return builder.trunc(builder.lshr(product, wide(word.width)), word)


@arithmetic
def add_exact(high, low, more_high, more_low):
    """Sum of two counts, as (high, low). Sticks once its high word reaches ``LIMIT_HIGH``."""
    total = np.uint64(low) + np.uint64(more_low)
    carried = np.uint64(high) + np.uint64(more_high) + np.uint64(total < np.uint64(low))
    return np.int64(min(carried, np.uint64(LIMIT_HIGH))), np.int64(total)


@arithmetic
def multiply_exact(high, low, other_high, other_low):
    """Product of two counts, as (high, low). Sticks like a sum; nothing times a count that stuck is nothing."""
    if (high | low) == 0 or (other_high | other_low) == 0:
        return np.int64(0), np.int64(0)
    left, right = np.uint64(low), np.uint64(other_low)
    carried = _high_word(left, right)
    if (high | other_high) != 0:
        crossed = np.float64(high) * np.float64(right) + np.float64(other_high) * np.float64(left)
        if (high != 0 and other_high != 0) or crossed + np.float64(carried) >= 2.0**63:
            return LIMIT_HIGH, np.int64(0)
        carried += np.uint64(high) * right + np.uint64(other_high) * left
    return np.int64(min(carried, np.uint64(LIMIT_HIGH))), np.int64(left * right)


@kernel
def scaled(number, scale):
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


@kernel
def add_scaled(number, scale, more, more_scale):
    """Sum of two scaled doubles, as (number, scale)."""
    if scale == more_scale:
        total = number + more
        if _SMALL <= abs(total) < _BIG:
            return total, scale
        return scaled(total, scale)
    if more == 0.0:
        return number, scale
    if number == 0.0:
        return more, more_scale
    if scale < more_scale:
        number, more = more, number
        scale, more_scale = more_scale, scale
    if scale - more_scale == 1:
        return scaled(number + more * _DOWN, scale)
    return number, scale


@arithmetic
def is_before(high, low, other_high, other_low):
    """Whether one order key is less than another."""
    return high < other_high or (high == other_high and np.uint64(low) < np.uint64(other_low))
