"""Scans: a condition evaluated for one event and many events before it, instruction by instruction.

Each instruction has a register with a value for each of the events before; an instruction runs over all
of them before the next one does. NULL is a value that is not known; three-valued logic is Spark's.
"""

from __future__ import annotations

import numpy as np

from udfs.codes import CODES
from udfs.compiled import allocating, inlined, inner
from udfs.numbers import is_before

CHUNK = 1024
"""Events before that are looked at together."""

_LAST_LOAD = CODES["constant_number"]
_HERE_WHOLE, _HERE_NUMBER, _HERE_KEY, _HERE_DIGITS = (CODES[f"here_{k}"] for k in ("whole", "number", "key", "digits"))
_PREV_WHOLE, _PREV_NUMBER, _PREV_KEY, _PREV_DIGITS = (CODES[f"prev_{k}"] for k in ("whole", "number", "key", "digits"))
_EQUAL_WHOLE, _EQUAL_NUMBER, _EQUAL_KEY = (CODES[f"equal_{kind}"] for kind in ("whole", "number", "key"))
_SAME_WHOLE, _SAME_NUMBER, _SAME_KEY = (CODES[f"same_{kind}"] for kind in ("whole", "number", "key"))
_LESS_WHOLE, _LESS_NUMBER, _LESS_KEY = (CODES[f"less_{kind}"] for kind in ("whole", "number", "key"))
_AT_MOST_WHOLE, _AT_MOST_NUMBER, _AT_MOST_KEY = (CODES[f"at_most_{kind}"] for kind in ("whole", "number", "key"))
_AND, _OR, _NOT = (CODES[f"{name}_whole"] for name in ("and", "or", "not"))
_IS_NULL_WHOLE, _IS_NULL_KEY = CODES["is_null_whole"], CODES["is_null_key"]
_ADD_WHOLE, _SUBTRACT_WHOLE, _MULTIPLY_WHOLE, _DIVIDE_WHOLE, _REMAINDER_WHOLE = (
    CODES[f"{name}_whole"] for name in ("add", "subtract", "multiply", "divide", "remainder")
)
_ADD_NUMBER, _SUBTRACT_NUMBER, _MULTIPLY_NUMBER, _DIVIDE_NUMBER, _REMAINDER_NUMBER = (
    CODES[f"{name}_number"] for name in ("add", "subtract", "multiply", "divide", "remainder")
)
_NEGATE_WHOLE, _NEGATE_NUMBER, _ABS_WHOLE, _ABS_NUMBER = (
    CODES[f"{name}_{kind}"] for name in ("negate", "abs") for kind in ("whole", "number")
)
_CHOOSE_WHOLE, _CHOOSE_KEY, _TO_NUMBER, _TO_SINGLE = (
    CODES[name] for name in ("choose_whole", "choose_key", "to_number_whole", "to_single_number")
)
_EQUALITIES = (_EQUAL_WHOLE, _SAME_WHOLE)
_LEAST = np.int64(np.iinfo(np.int64).min)


@allocating
def find_matches(code, batch, row, sources, begin, end, found):  # type: ignore[no-untyped-def]
    """Places ``begin``..``end`` at which the condition is true of the event in ``row`` and the one there.

    Args:
        code: Instructions, as rows of ``Program.code``.
        batch: `udfs.batches.Batch`.
        row: Of the event at hand.
        sources: Per place, the row of the event before.
        begin: First place.
        end: The place after the last.
        found: The places are written here.

    Returns:
        How many there are.
    """
    size = len(code)
    words = np.empty((size, CHUNK), np.int64)
    lows = np.empty((size, CHUNK), np.int64)
    known = np.empty((size, CHUNK), np.uint8)
    numbers = words.view(np.float64)
    count = 0
    for start in range(begin, end, CHUNK):
        rows = sources[start : min(end, start + CHUNK)]
        for r in range(size):
            if code[r, 0] <= _LAST_LOAD:
                _load(code[r], batch, row, rows, words[r], numbers[r], lows[r], known[r])
            else:
                _apply(code, r, len(rows), words, numbers, lows, known)
        for place in range(len(rows)):
            if known[size - 1, place] and words[size - 1, place]:
                found[count] = start + place
                count += 1
    return count


@inner
def _load(instruction, batch, row, rows, words, numbers, lows, known):  # type: ignore[no-untyped-def]
    """Fill a register with a column or a constant."""
    kind, column = instruction[0], instruction[4]
    if column < 0:
        words[: len(rows)] = instruction[5]
        known[: len(rows)] = instruction[6]
    elif kind < _PREV_WHOLE:
        known[: len(rows)] = batch.valid[column, row]
        if kind == _HERE_NUMBER:
            numbers[: len(rows)] = batch.numbers[column, row]
        elif kind == _HERE_DIGITS:
            words[: len(rows)] = batch.key_low[column, row]
        else:
            words[: len(rows)] = batch.key_high[column, row]
            lows[: len(rows)] = batch.key_low[column, row]
    else:
        _gather(known, batch.valid[column], rows)
        if kind == _PREV_NUMBER:
            _gather(numbers, batch.numbers[column], rows)
        elif kind == _PREV_DIGITS:
            _gather(words, batch.key_low[column], rows)
        else:
            _gather(words, batch.key_high[column], rows)
            if kind == _PREV_KEY:
                _gather(lows, batch.key_low[column], rows)


@inlined
def _gather(register, column, rows):  # type: ignore[no-untyped-def]
    for place in range(len(rows)):
        register[place] = column[rows[place]]


@inner
def _apply(code, r, count, words, numbers, lows, known):  # type: ignore[no-untyped-def]
    """Compute a register from others."""
    kind, a, b, c = code[r, 0], code[r, 1], max(code[r, 2], 0), max(code[r, 3], 0)
    if kind <= _AT_MOST_KEY:
        here, there = (words[a], numbers[a], lows[a], known[a]), (words[b], numbers[b], lows[b], known[b])
        _compare(kind, count, words[r], known[r], here, there)
    elif kind <= _NOT:
        for i in range(count):
            one, other = known[a, i] and words[a, i], known[b, i] and words[b, i]
            if kind == _AND:
                false = (known[a, i] and not words[a, i]) or (known[b, i] and not words[b, i])
                known[r, i] = false or (known[a, i] and known[b, i])
                words[r, i] = one and other
            elif kind == _OR:
                known[r, i] = one or other or (known[a, i] and known[b, i])
                words[r, i] = one or other
            else:
                known[r, i] = known[a, i]
                words[r, i] = not words[a, i]
    elif kind <= _IS_NULL_KEY:
        for i in range(count):
            known[r, i] = 1
            words[r, i] = not known[a, i]
    elif kind >= _CHOOSE_WHOLE and kind <= _CHOOSE_KEY:
        for i in range(count):
            chosen = b if known[a, i] and words[a, i] else c
            known[r, i] = known[chosen, i]
            words[r, i] = words[chosen, i]
            lows[r, i] = lows[chosen, i]
    elif kind in (_ADD_WHOLE, _SUBTRACT_WHOLE, _MULTIPLY_WHOLE, _DIVIDE_WHOLE, _REMAINDER_WHOLE) or kind in (
        _NEGATE_WHOLE,
        _ABS_WHOLE,
    ):
        _calculate_whole(kind, count, words[r], known[r], words[a], known[a], words[b], known[b])
    else:
        _calculate_number(kind, count, numbers[r], known[r], numbers[a], words[a], known[a], numbers[b], known[b])


@inner
def _compare(kind, count, result, result_known, one, other):  # type: ignore[no-untyped-def]
    """Comparisons; NaN equals itself and is greater than all else, as in Spark."""
    a, a_number, a_low, a_known = one
    b, b_number, b_low, b_known = other
    family = (kind - _EQUAL_WHOLE) % 3
    base = kind - family
    for i in range(count):
        result_known[i] = a_known[i] and b_known[i]
    if family == 0:
        for i in range(count):
            result[i] = (a[i] == b[i] and base != _LESS_WHOLE) or (a[i] < b[i] and base not in _EQUALITIES)
    elif family == 1:
        for i in range(count):
            x, y = a_number[i], b_number[i]
            equal = x == y or (x != x and y != y)
            less = not equal and (x < y or y != y)
            result[i] = (equal and base != _LESS_WHOLE) or (less and base not in _EQUALITIES)
    else:
        for i in range(count):
            equal = a[i] == b[i] and a_low[i] == b_low[i]
            less = is_before(a[i], a_low[i], b[i], b_low[i])
            result[i] = (equal and base != _LESS_WHOLE) or (less and base not in _EQUALITIES)
    if base == _SAME_WHOLE:
        for i in range(count):
            result[i] = result[i] if result_known[i] else a_known[i] == b_known[i]
            result_known[i] = 1


@inner
def _calculate_whole(kind, count, result, result_known, a, a_known, b, b_known):  # type: ignore[no-untyped-def]
    """Arithmetic of whole numbers; what does not fit into 64 bits, or divides by zero, is not known."""
    for i in range(count):
        ok = a_known[i] and b_known[i]
        x, y = a[i], b[i]
        # Signed overflow is undefined: the compiler would take the checks for it out. Unsigned numbers wrap.
        if kind == _ADD_WHOLE:
            z = np.int64(np.uint64(x) + np.uint64(y))
            ok = ok and ((x ^ z) & (y ^ z)) >= 0
        elif kind == _SUBTRACT_WHOLE:
            z = np.int64(np.uint64(x) - np.uint64(y))
            ok = ok and ((x ^ y) & (x ^ z)) >= 0
        elif kind == _MULTIPLY_WHOLE:
            z = np.int64(np.uint64(x) * np.uint64(y))
            ok = ok and (x == 0 or (not (x == -1 and y == _LEAST) and z // x == y and z % x == 0))
        elif kind in (_DIVIDE_WHOLE, _REMAINDER_WHOLE):
            least = y == -1 and x == _LEAST  # dividing these is a trap
            ok = ok and y != 0 and not (least and kind == _DIVIDE_WHOLE)
            z = x // y if ok and not least else np.int64(0)
            if z < 0 and z * y != x:
                z += 1  # towards zero
            if kind == _REMAINDER_WHOLE:
                z = np.int64(0) if least else x - z * y
        else:
            ok = a_known[i] and x != _LEAST
            z = -x if kind == _NEGATE_WHOLE or x < 0 else x
        result[i] = z
        result_known[i] = ok


@inner
def _calculate_number(kind, count, result, result_known, a, a_whole, a_known, b, b_known):  # type: ignore[no-untyped-def]
    """Arithmetic of doubles; what divides by zero is not known."""
    for i in range(count):
        ok = a_known[i] and (b_known[i] or not _ADD_NUMBER <= kind <= _REMAINDER_NUMBER)
        x, y = a[i], b[i]
        if kind == _ADD_NUMBER:
            result[i] = x + y
        elif kind == _SUBTRACT_NUMBER:
            result[i] = x - y
        elif kind == _MULTIPLY_NUMBER:
            result[i] = x * y
        elif kind in (_DIVIDE_NUMBER, _REMAINDER_NUMBER):
            ok = ok and y != 0.0
            if ok:
                result[i] = x / y if kind == _DIVIDE_NUMBER else np.fmod(x, y)
        elif kind == _NEGATE_NUMBER:
            result[i] = -x
        elif kind == _ABS_NUMBER:
            result[i] = abs(x)
        elif kind == _TO_NUMBER:
            result[i] = np.float64(a_whole[i])
        else:
            result[i] = np.float64(np.float32(x))
        result_known[i] = ok
