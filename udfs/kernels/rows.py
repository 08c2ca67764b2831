"""Rows of results."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.tables.columns import CURSOR_GROUP, CURSOR_ROWS, CURSOR_WRITTEN, WINDOW_LIVE

_FACTORS = (np.uint64(7046029254386353131), np.uint64(1442695040888963407))
"""Of the hash of a row: odd, and without a pattern in their bits."""


@inner
def rows_at_once(windows, bank_ends):
    """The most rows that one event can cause to be written."""
    total = 0
    for window in range(len(bank_ends) - 1):
        total += windows[window, WINDOW_LIVE] * (bank_ends[window + 1] - bank_ends[window])
    return total


@inlined
def row_of(blank_row, cursor, output, bank, index, combine):
    """The output row of a group, bank and window: the one there is when combining, else a new one."""
    # The keys of a group have much the same windows, one after another.
    likely = as_index(cursor[CURSOR_WRITTEN] + 1)
    if not (
        combine
        and likely < as_index(cursor[CURSOR_ROWS])
        and output.window[likely] == index
        and output.group[likely] == cursor[CURSOR_GROUP]
        and output.bank[likely] == bank
    ):
        likely = as_index(_found_or_new(blank_row, cursor, output, bank, index, combine))
    cursor[CURSOR_WRITTEN] = likely
    return likely


@inner
def _found_or_new(blank_row, cursor, output, bank, index, combine):
    """Likewise, where it is not the one after the row that was written last."""
    group = cursor[CURSOR_GROUP]
    row = cursor[CURSOR_ROWS]
    if combine:
        # Eight windows in a row are side by side in the table.
        mask = as_index(len(output.table) - 1)
        eight, nth = as_index(np.int64(index) >> 3), as_index(np.int64(index) & 7)
        slot = (eight * _FACTORS[0] + as_index(group * 64 + bank) * _FACTORS[1]) << as_index(3)
        slot = (slot | nth) & mask
        while output.table[slot] >= 0:
            written = output.table[slot]
            if output.window[written] == index and output.group[written] == group and output.bank[written] == bank:
                return written
            slot = (slot + as_index(1)) & mask
        output.table[slot] = row
    output.group[row] = group
    output.bank[row] = bank
    output.window[row] = index
    for word in range(len(blank_row)):
        output.words[row, word] = blank_row[word]
    for number in range(output.floats.shape[1]):
        output.floats[row, number] = 0.0
    cursor[CURSOR_ROWS] = row + 1
    return row
