"""Instructions on single values: what each gives, NULL and NaN included, as in Spark.

A value is a 64-bit word and whether it is known, that is, not NULL. A double is a word read as one; a 128-bit order
key has a second word. Scans run these over many events at a time (`scan`), searches over one (`intervals`).
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import is_before
from sparkext.udfs.comparisons.codes import CODES
from sparkext.udfs.jit.compiled import inlined

OPCODE, FIRST, SECOND, THIRD, COLUMN, VALUE, IS_KNOWN = range(7)
"""Columns of ``Program.code``: what to do, registers of operands, column of the events, constant, whether it is one."""

LAST_LOAD = CODES["constant_number"]
HERE_WHOLE, HERE_NUMBER, HERE_KEY, HERE_DIGITS = (CODES[f"here_{k}"] for k in ("whole", "number", "key", "digits"))
PREV_WHOLE, PREV_NUMBER, PREV_KEY, PREV_DIGITS = (CODES[f"prev_{k}"] for k in ("whole", "number", "key", "digits"))
EQUAL_WHOLE, EQUAL_NUMBER, EQUAL_KEY = (CODES[f"equal_{kind}"] for kind in ("whole", "number", "key"))
SAME_WHOLE, SAME_NUMBER, SAME_KEY = (CODES[f"same_{kind}"] for kind in ("whole", "number", "key"))
LESS_WHOLE, LESS_NUMBER, LESS_KEY = (CODES[f"less_{kind}"] for kind in ("whole", "number", "key"))
AT_MOST_WHOLE, AT_MOST_NUMBER, AT_MOST_KEY = (CODES[f"at_most_{kind}"] for kind in ("whole", "number", "key"))
AND, OR, NOT = (CODES[f"{name}_whole"] for name in ("and", "or", "not"))
IS_NULL_WHOLE, IS_NULL_KEY = CODES["is_null_whole"], CODES["is_null_key"]
ADD_WHOLE, SUBTRACT_WHOLE, MULTIPLY_WHOLE, DIVIDE_WHOLE, REMAINDER_WHOLE = (
    CODES[f"{name}_whole"] for name in ("add", "subtract", "multiply", "divide", "remainder")
)
ADD_NUMBER, SUBTRACT_NUMBER, MULTIPLY_NUMBER, DIVIDE_NUMBER, REMAINDER_NUMBER = (
    CODES[f"{name}_number"] for name in ("add", "subtract", "multiply", "divide", "remainder")
)
NEGATE_WHOLE, NEGATE_NUMBER, ABS_WHOLE, ABS_NUMBER = (
    CODES[f"{name}_{kind}"] for name in ("negate", "abs") for kind in ("whole", "number")
)
CHOOSE_WHOLE, CHOOSE_KEY, TO_NUMBER, TO_SINGLE = (
    CODES[name] for name in ("choose_whole", "choose_key", "to_number_whole", "to_single_number")
)
EQUALITIES = (EQUAL_WHOLE, SAME_WHOLE)
LEAST_WORD = np.int64(np.iinfo(np.int64).min)


@inlined
def three_way_whole(left, right):
    """-1, 0 or 1 as one word is less than another, equal or greater."""
    return np.int64(left > right) - np.int64(left < right)


@inlined
def three_way_number(left, right):
    """Likewise of doubles; NaN equals itself and is greater than all else."""
    equal = left == right or (left != left and right != right)
    less = not equal and (left < right or right != right)
    return np.int64(not equal) - 2 * np.int64(less)


@inlined
def three_way_key(high, low, other_high, other_low):
    """Likewise of order keys."""
    return np.int64(is_before(other_high, other_low, high, low)) - np.int64(is_before(high, low, other_high, other_low))


@inlined
def compared(base, sign, first_known, second_known):
    """What a comparison gives, as (value, whether it is known).

    Args:
        base: ``EQUAL_WHOLE``, ``SAME_WHOLE``, ``LESS_WHOLE`` or ``AT_MOST_WHOLE``.
        sign: Of the operands, -1, 0 or 1.
        first_known: Whether the first is not NULL.
        second_known: Whether the second is not NULL.
    """
    holds = (sign == 0 and base != LESS_WHOLE) or (sign < 0 and base not in EQUALITIES)
    both_known = first_known and second_known
    if base == SAME_WHOLE:
        return np.int64(holds if both_known else (not first_known and not second_known)), np.uint8(1)
    return np.int64(holds), np.uint8(both_known)


@inlined
def calculated_whole(kind, x, x_known, y, y_known):
    """Arithmetic of whole numbers; what does not fit into 64 bits, or divides by zero, is not known."""
    ok = x_known and y_known
    # Signed overflow is undefined: the compiler would take the checks for it out. Unsigned numbers wrap.
    if kind == ADD_WHOLE:
        z = np.int64(np.uint64(x) + np.uint64(y))
        ok = ok and ((x ^ z) & (y ^ z)) >= 0
    elif kind == SUBTRACT_WHOLE:
        z = np.int64(np.uint64(x) - np.uint64(y))
        ok = ok and ((x ^ y) & (x ^ z)) >= 0
    elif kind == MULTIPLY_WHOLE:
        z = np.int64(np.uint64(x) * np.uint64(y))
        ok = ok and (x == 0 or (not (x == -1 and y == LEAST_WORD) and z // x == y and z % x == 0))
    elif kind in (DIVIDE_WHOLE, REMAINDER_WHOLE):
        least = y == -1 and x == LEAST_WORD  # dividing these is a trap
        ok = ok and y != 0 and not (least and kind == DIVIDE_WHOLE)
        z = x // y if ok and not least else np.int64(0)
        if z < 0 and z * y != x:
            z += 1  # towards zero
        if kind == REMAINDER_WHOLE:
            z = np.int64(0) if least else x - z * y
    else:
        ok = x_known and x != LEAST_WORD
        z = -x if kind == NEGATE_WHOLE or x < 0 else x
    return z, np.uint8(ok)


@inlined
def calculated_number(kind, x, whole, x_known, y, y_known):
    """Arithmetic of doubles; what divides by zero is not known. ``whole``: the first operand as a word."""
    ok = x_known and (y_known or not ADD_NUMBER <= kind <= REMAINDER_NUMBER)
    z = 0.0
    if kind == ADD_NUMBER:
        z = x + y
    elif kind == SUBTRACT_NUMBER:
        z = x - y
    elif kind == MULTIPLY_NUMBER:
        z = x * y
    elif kind in (DIVIDE_NUMBER, REMAINDER_NUMBER):
        ok = ok and y != 0.0
        if ok:
            z = x / y if kind == DIVIDE_NUMBER else np.fmod(x, y)
    elif kind == NEGATE_NUMBER:
        z = -x
    elif kind == ABS_NUMBER:
        z = abs(x)
    elif kind == TO_NUMBER:
        z = np.float64(whole)
    else:
        z = np.float64(np.float32(x))
    return z, np.uint8(ok)


@inlined
def is_whole_arithmetic(kind):
    """Whether an instruction calculates with whole numbers; that it calculates is known."""
    return ADD_WHOLE <= kind <= REMAINDER_WHOLE or kind in (NEGATE_WHOLE, ABS_WHOLE)
