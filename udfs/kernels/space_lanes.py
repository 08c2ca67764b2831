"""What all spaces have in common: lanes that are cleared, and units that hold 1 then."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.totals import NO_HIGH, NO_LOW
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME


@inlined
def number_of_windows(program):
    """How many spaces are windows; those of regions are numbered on from these."""
    return len(program.bank_ends) - 1


@inlined
def clear(kind, begin, end, high, low):
    """Empty the lanes at ``begin``..``end``."""
    empty_high, empty_low = (NO_HIGH, NO_LOW) if kind == EXTREME else (np.int64(0), np.int64(0))
    for at in range(as_index(begin), as_index(end)):
        high[at], low[at] = empty_high, empty_low


@inner
def clear_cells(program, space, first, last, high, low):
    """Empty the lanes from ``first`` to ``last`` of all cells of a window, region or span."""
    block = program.windows[space]
    at = block[col.WINDOW_AT]
    for cell in range(block[col.WINDOW_CELLS], block[col.WINDOW_CELLS_END]):
        clear(program.kinds[cell], at + first, at + last, high, low)
        at += block[col.WINDOW_LANES]


@inlined
def clear_group(program, g, space, first, last, high, low):
    """Empty the lanes from ``first`` to ``last`` of those cells of a group that are of a window, region or span."""
    for u in range(as_index(program.group_updates[g, space]), as_index(program.group_updates[g, space + 1])):
        at = program.updates[u, col.UPDATE_AT]
        clear(program.updates[u, col.UPDATE_KIND], at + first, at + last, high, low)


@inlined
def set_units(units, begin, end, low, number):
    """Let the units from ``begin`` to ``end`` hold 1."""
    for unit in range(begin, end):
        at = units[unit, col.UNIT_AT]
        if units[unit, col.UNIT_KIND] == EXACT:
            low[at] = 1
        else:
            number[at] = 1.0
