"""Scans: a condition evaluated for one event and many events before it, instruction by instruction.

Each instruction has a register with a value for each of the events before; an instruction runs over all
of them before the next one does. NULL is a value that is not known; three-valued logic is Spark's.
"""

from __future__ import annotations

from sparkext.udfs.comparisons.evaluation import (
    AND,
    AT_MOST_KEY,
    CHOOSE_KEY,
    CHOOSE_WHOLE,
    COLUMN,
    EQUAL_WHOLE,
    FIRST,
    HERE_DIGITS,
    HERE_NUMBER,
    IS_KNOWN,
    IS_NULL_KEY,
    LAST_LOAD,
    NOT,
    OPCODE,
    OR,
    PREV_DIGITS,
    PREV_KEY,
    PREV_NUMBER,
    PREV_WHOLE,
    SECOND,
    THIRD,
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
from sparkext.udfs.tables.program import SCAN_CHUNK


@kernel
def find_matches(code, batch, row, sources, begin, end, matches, registers):
    """Those of the entries ``begin``..``end`` for which the condition is true of the event in ``row`` and theirs.

    Args:
        code: Instructions, as rows of ``Program.code``.
        batch: `sparkext.udfs.arrow.batches.Batch`.
        row: Of the event at hand.
        sources: Per entry, the row of the event before.
        begin: First entry.
        end: The entry after the last.
        matches: The entries are written here.
        registers: `sparkext.udfs.tables.program.Registers`, one for each instruction at least; scratch.

    Returns:
        How many there are.
    """
    size = len(code)
    words, numbers, lows, known = registers.words, registers.numbers, registers.lows, registers.known
    count = 0
    for start in range(begin, end, SCAN_CHUNK):
        rows = sources[start : min(end, start + SCAN_CHUNK)]
        for r in range(size):
            if code[r, OPCODE] <= LAST_LOAD:
                _load(code[r], batch, row, rows, words[r], numbers[r], lows[r], known[r])
            else:
                _apply(code, r, len(rows), words, numbers, lows, known)
        for i in range(len(rows)):
            if known[size - 1, i] and words[size - 1, i]:
                matches[count] = start + i
                count += 1
    return count


@inner
def _load(instruction, batch, row, rows, words, numbers, lows, known):
    """Fill a register with a column or a constant."""
    kind, column = instruction[OPCODE], instruction[COLUMN]
    if column < 0:
        words[: len(rows)] = instruction[VALUE]
        known[: len(rows)] = instruction[IS_KNOWN]
    elif kind < PREV_WHOLE:
        known[: len(rows)] = batch.valid[column, row]
        if kind == HERE_NUMBER:
            numbers[: len(rows)] = batch.numbers[column, row]
        elif kind == HERE_DIGITS:
            words[: len(rows)] = batch.key_low[column, row]
        else:
            words[: len(rows)] = batch.key_high[column, row]
            lows[: len(rows)] = batch.key_low[column, row]
    else:
        _gather(known, batch.valid[column], rows)
        if kind == PREV_NUMBER:
            _gather(numbers, batch.numbers[column], rows)
        elif kind == PREV_DIGITS:
            _gather(words, batch.key_low[column], rows)
        else:
            _gather(words, batch.key_high[column], rows)
            if kind == PREV_KEY:
                _gather(lows, batch.key_low[column], rows)


@inlined
def _gather(register, column, rows):
    for i in range(len(rows)):
        register[i] = column[rows[i]]


@inner
def _apply(code, r, count, words, numbers, lows, known):
    """Compute a register from others."""
    kind, a = code[r, OPCODE], code[r, FIRST]
    b, c = max(code[r, SECOND], 0), max(code[r, THIRD], 0)
    if kind <= AT_MOST_KEY:
        left_operand, right_operand = (
            (words[a], numbers[a], lows[a], known[a]),
            (words[b], numbers[b], lows[b], known[b]),
        )
        _compare(kind, count, words[r], known[r], left_operand, right_operand)
    elif kind <= NOT:
        for i in range(count):
            left, right = known[a, i] and words[a, i], known[b, i] and words[b, i]
            if kind == AND:
                false = (known[a, i] and not words[a, i]) or (known[b, i] and not words[b, i])
                known[r, i] = false or (known[a, i] and known[b, i])
                words[r, i] = left and right
            elif kind == OR:
                known[r, i] = left or right or (known[a, i] and known[b, i])
                words[r, i] = left or right
            else:
                known[r, i] = known[a, i]
                words[r, i] = not words[a, i]
    elif kind <= IS_NULL_KEY:
        for i in range(count):
            known[r, i] = 1
            words[r, i] = not known[a, i]
    elif kind >= CHOOSE_WHOLE and kind <= CHOOSE_KEY:
        for i in range(count):
            chosen = b if known[a, i] and words[a, i] else c
            known[r, i] = known[chosen, i]
            words[r, i] = words[chosen, i]
            lows[r, i] = lows[chosen, i]
    elif is_whole_arithmetic(kind):
        for i in range(count):
            words[r, i], known[r, i] = calculated_whole(kind, words[a, i], known[a, i], words[b, i], known[b, i])
    else:
        for i in range(count):
            numbers[r, i], known[r, i] = calculated_number(
                kind, numbers[a, i], words[a, i], known[a, i], numbers[b, i], known[b, i]
            )


@inner
def _compare(kind, count, result, result_known, left, right):
    """Comparisons."""
    a, a_number, a_low, a_known = left
    b, b_number, b_low, b_known = right
    family = (kind - EQUAL_WHOLE) % 3
    base = kind - family
    for i in range(count):
        if family == 0:
            sign = three_way_whole(a[i], b[i])
        elif family == 1:
            sign = three_way_number(a_number[i], b_number[i])
        else:
            sign = three_way_key(a[i], a_low[i], b[i], b_low[i])
        result[i], result_known[i] = compared(base, sign, a_known[i], b_known[i])
