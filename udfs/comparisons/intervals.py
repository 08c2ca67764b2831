"""Intervals: which of the events before go with an event, where a condition is true of intervals of their order.

The events before are sorted by the one attribute of them that the condition names. From the first of them on, the
search finds how far everything that is computed stays in its class: NULL, an infinity or NaN, less or greater than
what it is compared with. As long as operands stay in theirs, what is computed of them is in order, so a binary search
finds where it leaves its own class, with the instructions of the condition itself. Then the next piece begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparkext.udfs.comparisons.codes import CODES
from sparkext.udfs.comparisons.evaluation import (
    ADD_NUMBER,
    ADD_WHOLE,
    AND,
    AT_MOST_KEY,
    CHOOSE_KEY,
    CHOOSE_WHOLE,
    COLUMN,
    EQUAL_WHOLE,
    FIRST,
    HERE_DIGITS,
    HERE_NUMBER,
    HERE_WHOLE,
    IS_KNOWN,
    IS_NULL_KEY,
    LAST_LOAD,
    NOT,
    OPCODE,
    OR,
    PREV_DIGITS,
    PREV_NUMBER,
    PREV_WHOLE,
    SECOND,
    SUBTRACT_NUMBER,
    SUBTRACT_WHOLE,
    THIRD,
    TO_NUMBER,
    TO_SINGLE,
    VALUE,
    calculated_number,
    calculated_whole,
    compared,
    is_whole_arithmetic,
    three_way_key,
    three_way_number,
    three_way_whole,
)
from sparkext.udfs.jit.compiled import inlined, inner, kernel
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Flags, Floats, Ints

_KNOWN, _FINITE, _SIGN = range(3)
"""How much a class tells: whether a value is NULL; if not, which infinity or NaN it is; if none, its sign."""

_NULL, _MINUS_INFINITE, _INFINITE, _NAN = -9, -8, 8, 9

_SEARCHED, _IS_NUMBER, _NEEDED, _NEEDED_END = range(4)
"""Columns of ``Search.steps``: detail of an instruction's class if it is searched for (else -1), whether its value is a
double, begin and end in ``Search.needed``."""


_HINTS = 64
"""Pieces of which it is known where they ended for the event before."""


class Search(NamedTuple):
    """What is known of a program before it is run.

    Attributes:
        code: Its instructions, as in ``Program.code``.
        steps: Per instruction, see `_SEARCHED` and so on. Shape (instructions, 4).
        fixed: Instructions that do not depend on the event before.
        varied: Those that do.
        needed: Instructions that depend on the event before and that another depends on, and that itself at last.
    """

    code: Ints
    steps: Ints
    fixed: Ints
    varied: Ints
    needed: Ints


class Axis(NamedTuple):
    """Values of an attribute of the events before, in order, each once. All have the shape (values,).

    Attributes:
        words: As a register holds them.
        lows: Second words of order keys.
        known: 0 for NULL, which comes first.
    """

    words: Ints
    lows: Ints
    known: Flags


class Scratch(NamedTuple):
    """Registers for one event, and the classes of their values. All have the shape (instructions,)."""

    words: Ints
    numbers: Floats
    lows: Ints
    known: Flags
    classes: Ints


def search_for(code: Ints) -> Search:
    """What is known of the program ``code``."""
    count = len(code)
    operands = [[int(o) for o in row[FIRST : THIRD + 1] if o >= 0] for row in code]
    varies: list[bool] = []
    is_number: list[bool] = []
    for row, operand_rows in zip(code, operands, strict=True):
        opcode = int(row[OPCODE])
        varies.append(PREV_WHOLE <= opcode <= PREV_DIGITS or any(varies[o] for o in operand_rows))
        name = _NAMES[opcode]
        is_number.append(opcode == TO_NUMBER or (name.endswith("number") and not EQUAL_WHOLE <= opcode <= IS_NULL_KEY))
    detail = [_KNOWN] * count
    detail[-1] = _SIGN
    for index in reversed(range(count)):
        for number, operand in enumerate(operands[index]):
            wanted = _detail(int(code[index, OPCODE]), number, detail[index])
            if EQUAL_WHOLE <= code[index, OPCODE] <= AT_MOST_KEY and all(varies[o] for o in operands[index]):
                wanted = _SIGN  # flags: of others, at most one is of the event before
            detail[operand] = max(detail[operand], wanted)
    steps: list[list[int]] = []
    needed: list[int] = []
    for index, row in enumerate(code):
        opcode, begin = int(row[OPCODE]), len(needed)
        follows = AND <= opcode <= IS_NULL_KEY or CHOOSE_WHOLE <= opcode <= CHOOSE_KEY
        below = {index}
        for register in reversed(range(index + 1)):
            if register in below:
                below.update(operands[register])
        needed += [register for register in sorted(below) if varies[register]]
        searched = varies[index] and not follows
        steps.append([detail[index] if searched else -1, int(is_number[index]), begin, len(needed)])
    indexes = np.arange(count)
    return Search(
        code=code,
        steps=np.array(steps, np.int64).reshape(-1, 4),
        fixed=indexes[~np.array(varies, np.bool_)],
        varied=indexes[np.array(varies, np.bool_)],
        needed=np.array(needed, np.int64),
    )


_NAMES = {number: name for name, number in CODES.items()}


def _detail(opcode: int, number: int, detail: int) -> int:
    """What must be known of an operand's class, the one of that number, for an instruction to be in order.

    ``detail`` is what must be known of the instruction's.
    """
    if AND <= opcode <= NOT:
        return _SIGN
    if CHOOSE_WHOLE <= opcode <= CHOOSE_KEY:
        return _SIGN if number == 0 else detail
    # Overflow of a sum with something fixed is at one end of the order alone; that of a product is at both.
    if opcode <= IS_NULL_KEY or opcode in (ADD_WHOLE, SUBTRACT_WHOLE, TO_NUMBER):
        return _KNOWN
    return _FINITE if opcode in (ADD_NUMBER, SUBTRACT_NUMBER, TO_SINGLE) else _SIGN


def intervals(
    search: Search, axis: Axis, batch: Batch, asks: NDArray[np.bool_], begins: Ints, ends: Ints
) -> tuple[Ints, Ints]:
    """Of the values of an axis, the intervals that go with each event.

    Events are looked at in the order of some value of theirs, so that what they ask for changes little from one to
    the next.

    Args:
        search: For the condition.
        axis: The values.
        batch: The events.
        asks: Whether an event asks at all. Shape (rows,).
        begins: Per event, the first value that may go with it. Shape (rows,).
        ends: Per event, the value after the last. Shape (rows,).

    Returns:
        Begins and ends of the intervals, in order, shape (intervals, 2), and per event the number of those of all
        events before, and of all at last, shape (rows + 1,).
    """
    rows = np.flatnonzero(asks)
    rows = rows[np.lexsort((_here(search.code, batch)[rows], begins[rows]))]
    until = np.zeros(len(rows) + 1, np.int64)
    pairs = np.empty((2 * len(rows) + 64, 2), np.int64)
    scratch, hints = _scratch(len(search.code)), np.zeros((_HINTS, len(search.code)), np.int64)
    at = 0
    while at < len(rows):
        at = _find(search, axis, batch, rows, begins, ends, at, until, pairs, scratch, hints)
        if at < len(rows):
            pairs = np.concatenate((pairs, np.empty_like(pairs)))
    # Back into the order of the events.
    counts = np.zeros(len(asks) + 1, np.int64)
    counts[rows + 1] = np.diff(until)
    by_row = np.cumsum(counts)
    moved = np.empty((int(until[-1]), 2), np.int64)
    moved[np.arange(len(moved)) + np.repeat(by_row[rows] - until[:-1], np.diff(until))] = pairs[: len(moved)]
    return moved, by_row


def _here(code: Ints, batch: Batch) -> Ints | Floats:
    """A value of the event that a program reads; anything when it reads none."""
    for opcode, column in code[:, [OPCODE, COLUMN]]:
        if opcode == HERE_NUMBER:
            numbers: Floats = batch.numbers[column]
            return numbers
        if HERE_WHOLE <= opcode <= HERE_DIGITS:
            words: Ints = (batch.key_low if opcode == HERE_DIGITS else batch.key_high)[column]
            return words
    return np.zeros(batch.valid.shape[1], np.int64)


def holds_alone(code: Ints, batch: Batch, rows: int) -> NDArray[np.bool_]:
    """Whether a condition on one event, whichever of the two it names, is true of each of so many."""
    holds = np.zeros(rows, np.uint8)
    _evaluate_each(code, batch, holds, _scratch(len(code)))
    return holds.view(np.bool_)


def _scratch(size: int) -> Scratch:
    words = np.zeros(size, np.int64)
    ints = np.zeros((2, size), np.int64)
    return Scratch(words, words.view(np.float64), ints[0], np.zeros(size, np.uint8), ints[1])


@kernel
def _evaluate_each(code, batch, holds, scratch):
    """Whether a condition is true of each row."""
    last = len(code) - 1
    for row in range(len(holds)):
        for r in range(len(code)):
            if code[r, OPCODE] <= LAST_LOAD:
                _load(code, r, batch, row, scratch)
            else:
                _apply(code, r, scratch)
        holds[row] = scratch.known[last] and scratch.words[last] != 0


@kernel
def _find(search, axis, batch, rows, begins, ends, n, until, pairs, scratch, hints):
    """Find intervals of ``rows`` from the ``n``-th on; returns the one for which there was no more room."""
    code, steps = search.code, search.steps
    last = len(code) - 1
    while n < len(rows):
        row, count = rows[n], until[n]
        for r in search.fixed:
            if code[r, OPCODE] <= LAST_LOAD:
                _load(code, r, batch, row, scratch)
            else:
                _apply(code, r, scratch)
        at, end, piece = begins[row], ends[row], 0
        while at < end:
            for r in search.varied:
                _evaluate(code, r, axis, at, scratch)
                if steps[r, _SEARCHED] >= 0:
                    scratch.classes[r] = _class(code, steps, r, scratch)
            holds = scratch.known[last] and scratch.words[last] != 0
            stop = end
            for r in search.varied:
                if steps[r, _SEARCHED] >= 0:
                    stop = _leaves(search, axis, r, at, stop, scratch, hints[piece])
            if holds:
                if count > until[n] and pairs[count - 1, 1] == at:
                    pairs[count - 1, 1] = stop
                else:
                    if count == len(pairs):
                        return n
                    pairs[count, 0], pairs[count, 1] = at, stop
                    count += 1
            at = stop
            piece = min(piece + 1, _HINTS - 1)
        n += 1
        until[n] = count
    return n


@inner
def _leaves(search, axis, r, at, end, scratch, hints):
    """The first value of the axis after ``at`` for which an instruction is in another class; ``end`` if none is.

    It is looked for from where it was for the event before on, by steps that grow.
    """
    class_at_first = scratch.classes[r]
    low, high = at, end
    at, step = min(max(hints[r], low + 1), high - 1), np.int64(1)
    is_first, onwards, grows = True, False, True
    while high - low > 1:
        for n in range(search.steps[r, _NEEDED], search.steps[r, _NEEDED_END]):
            _evaluate(search.code, search.needed[n], axis, at, scratch)
        is_same = _class(search.code, search.steps, r, scratch) == class_at_first
        if is_same:
            low = at
        else:
            high = at
        if is_first:
            is_first, onwards = False, is_same
        # Steps grow in one direction until one leads to the other side; then what is between is halved.
        grows = grows and is_same == onwards
        at = low + step if is_same else high - step
        if grows:
            step *= 2
        if not grows or at <= low or at >= high:
            at = (low + high) // 2
    hints[r] = high
    return high


@inlined
def _class(code, steps, r, scratch):
    """The class of an instruction's value."""
    opcode, detail = code[r, OPCODE], steps[r, _SEARCHED]
    if opcode >= EQUAL_WHOLE and opcode <= AT_MOST_KEY:
        return scratch.lows[r]
    if not scratch.known[r]:
        return np.int64(_NULL)
    if detail == _KNOWN:
        return np.int64(0)
    if steps[r, _IS_NUMBER]:
        number = scratch.numbers[r]
        if number != number:
            return np.int64(_NAN)
        if number == np.inf:
            return np.int64(_INFINITE)
        if number == -np.inf:
            return np.int64(_MINUS_INFINITE)
        return np.int64(0) if detail == _FINITE else np.int64(number > 0.0) - np.int64(number < 0.0)
    word = scratch.words[r]
    return np.int64(0) if detail == _FINITE else np.int64(word > 0) - np.int64(word < 0)


@inlined
def _evaluate(code, r, axis, at, scratch):
    """Evaluate an instruction that depends on the event before, for a value of the axis."""
    if code[r, OPCODE] <= LAST_LOAD:
        scratch.words[r], scratch.lows[r], scratch.known[r] = axis.words[at], axis.lows[at], axis.known[at]
    else:
        _apply(code, r, scratch)


@inlined
def _load(code, r, batch, row, scratch):
    """Fill a register with a column or a constant."""
    opcode, column = code[r, OPCODE], code[r, COLUMN]
    if column < 0:
        scratch.words[r], scratch.known[r] = code[r, VALUE], code[r, IS_KNOWN]
        return
    scratch.known[r] = batch.valid[column, row]
    if opcode in (HERE_NUMBER, PREV_NUMBER):
        scratch.numbers[r] = batch.numbers[column, row]
    elif opcode in (HERE_DIGITS, PREV_DIGITS):
        scratch.words[r] = batch.key_low[column, row]
    else:
        scratch.words[r], scratch.lows[r] = batch.key_high[column, row], batch.key_low[column, row]


@inlined
def _apply(code, r, scratch):
    """Compute a register from others. What a comparison compares is noted in ``lows``, as -1, 0 or 1, or NULL."""
    words, numbers, lows, known = scratch.words, scratch.numbers, scratch.lows, scratch.known
    opcode, a = code[r, OPCODE], code[r, FIRST]
    b, c = max(code[r, SECOND], 0), max(code[r, THIRD], 0)
    if opcode <= AT_MOST_KEY:
        family = (opcode - EQUAL_WHOLE) % 3
        if family == 0:
            sign = three_way_whole(words[a], words[b])
        elif family == 1:
            sign = three_way_number(numbers[a], numbers[b])
        else:
            sign = three_way_key(words[a], lows[a], words[b], lows[b])
        words[r], known[r] = compared(opcode - family, sign, known[a], known[b])
        lows[r] = sign if known[a] and known[b] else np.int64(_NULL)
    elif opcode in (AND, OR):
        left, right = known[a] and words[a] != 0, known[b] and words[b] != 0
        both_known = known[a] and known[b]
        if opcode == AND:
            words[r] = left and right
            known[r] = both_known or (known[a] and not left) or (known[b] and not right)
        else:
            words[r] = left or right
            known[r] = both_known or left or right
    elif opcode == NOT:
        words[r], known[r] = words[a] == 0, known[a]
    elif opcode <= IS_NULL_KEY:
        words[r], known[r] = known[a] == 0, 1
    elif opcode >= CHOOSE_WHOLE and opcode <= CHOOSE_KEY:
        chosen = b if known[a] and words[a] != 0 else c
        words[r], lows[r], known[r] = words[chosen], lows[chosen], known[chosen]
    elif is_whole_arithmetic(opcode):
        words[r], known[r] = calculated_whole(opcode, words[a], known[a], words[b], known[b])
    else:
        numbers[r], known[r] = calculated_number(opcode, numbers[a], words[a], known[a], numbers[b], known[b])


@kernel
def intersect(first, first_until, second, second_until, common, until):
    """Per event, what two lists of intervals have in common.

    Args:
        first: Intervals, shape (intervals, 2).
        first_until: Number of those of all events before, shape (rows + 1,).
        second: Likewise.
        second_until: Likewise.
        common: The intervals are written here; there are fewer than in both lists together.
        until: Their numbers.
    """
    count = 0
    for row in range(len(until) - 1):
        i, j = first_until[row], second_until[row]
        while i < first_until[row + 1] and j < second_until[row + 1]:
            begin, end = max(first[i, 0], second[j, 0]), min(first[i, 1], second[j, 1])
            if begin < end:
                common[count, 0], common[count, 1] = begin, end
                count += 1
            if first[i, 1] < second[j, 1]:
                i += 1
            else:
                j += 1
        until[row + 1] = count
