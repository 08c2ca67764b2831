"""Rows of windows that close, by what their cells hold or what their panes make of the front."""

from __future__ import annotations

from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled, is_before, multiply_exact, scaled
from sparkext.udfs.arithmetic.totals import is_some, write
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.guard_buckets import holds
from sparkext.udfs.kernels.rows import row_of
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER


@inlined
def write_window(program, state, guards, output, w, index, lane, combine):
    """Write out a window of ``w`` that has a lane: a row for each bank with a trend."""
    banks, slots, slot_sources = program.banks, program.slots, program.slot_sources
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    words, floats, lanes = output.words, output.floats, program.windows[w, col.WINDOW_LANES]
    for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
        begin, end = as_index(banks[bank, col.BANK_SLOTS]), as_index(banks[bank, col.BANK_SLOTS_END])
        if not _has_trend(program, state.totals, guards, begin, end, lane, lanes):
            continue
        row = row_of(program.blank_row, state.cursor, output, banks[bank, col.BANK_NUMBER], index, combine)
        for slot in range(begin, end):
            kind, word, number_at = (
                slots[slot, col.SLOT_KIND],
                as_index(slots[slot, col.SLOT_WORD]),
                as_index(slots[slot, col.SLOT_FLOAT]),
            )
            for source in range(as_index(slots[slot, col.SLOT_SOURCES]), as_index(slots[slot, col.SLOT_SOURCES_END])):
                at = as_index(slot_sources[source]) + lane
                write(kind, at, high, low, number, words, floats, row, word, number_at)
            if guards is not None:
                for link in range(slots[slot, col.SLOT_LINKS], slots[slot, col.SLOT_LINKS_END]):
                    store = program.links[link, col.LINK_STORE]
                    for bucket in range(guards.buckets[store]):
                        if not holds(program, guards, link, guards.bucket_times[store, bucket]):
                            continue
                        at = as_index(program.stores[store, col.STORE_AT] + bucket * lanes) + lane
                        write(kind, at, high, low, number, words, floats, row, word, number_at)


@inner
def _has_trend(program, totals, guards, begin, end, lane, lanes):
    """Whether some count among slots ``begin``..``end`` is not zero in a lane."""
    slots = program.slots
    has_trend = False
    for slot in range(begin, end):
        kind = slots[slot, col.SLOT_KIND]
        for source in range(as_index(slots[slot, col.SLOT_SOURCES]), as_index(slots[slot, col.SLOT_SOURCES_END])):
            at = as_index(program.slot_sources[source]) + lane
            has_trend |= kind == EXACT and (totals.high[at] | totals.low[at]) != 0
            has_trend |= kind == NUMBER and totals.number[at] != 0.0
        if guards is not None:
            for link in range(slots[slot, col.SLOT_LINKS], slots[slot, col.SLOT_LINKS_END]):
                store = program.links[link, col.LINK_STORE]
                for bucket in range(guards.buckets[store]):
                    at = as_index(program.stores[store, col.STORE_AT] + bucket * lanes) + lane
                    if holds(program, guards, link, guards.bucket_times[store, bucket]):
                        has_trend |= kind == EXACT and (totals.high[at] | totals.low[at]) != 0
                        has_trend |= kind == NUMBER and totals.number[at] != 0.0
        if has_trend:
            return True
    return False


@inner
def write_windows(program, state, panes, output, w, index, end, combine):
    """Write out the windows from ``index`` to ``end``, which are all of the first entry of the front."""
    slots, banks, p = program.slots, program.banks, panes.of[w]
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    sums = panes.windows[p, col.PANES_SCRATCH] + panes.windows[p, col.PANES_ROWS]
    for bank in range(program.bank_ends[w], program.bank_ends[w + 1]):
        some, first = False, banks[bank, col.BANK_SLOTS]
        for slot in range(first, banks[bank, col.BANK_SLOTS_END]):
            kind, at = slots[slot, col.SLOT_KIND], sums + slot - first
            clear(kind, at, at + 1, high, low)
            for source in range(slots[slot, col.SLOT_SOURCES], slots[slot, col.SLOT_SOURCES_END]):
                _add_total(state.totals, panes, p, panes.slot_evaluations[source], kind, at)
            some |= kind != EXTREME and is_some(kind, high[at], low[at], number[at])
        for closed in range(index, end if some else index):
            row = row_of(program.blank_row, state.cursor, output, banks[bank, col.BANK_NUMBER], closed, combine)
            for slot in range(first, banks[bank, col.BANK_SLOTS_END]):
                kind, word, number_at = (
                    slots[slot, col.SLOT_KIND],
                    as_index(slots[slot, col.SLOT_WORD]),
                    as_index(slots[slot, col.SLOT_FLOAT]),
                )
                write(kind, sums + slot - first, high, low, number, output.words, output.floats, row, word, number_at)


@inner
def _add_total(totals, panes, p, i, kind, at):
    """Add what a cell holds in the windows of the first entry of the front to the total at ``at``."""
    high, low, number = panes.memory.high, panes.memory.low, panes.memory.number
    evaluations, products, layout = panes.evaluations, panes.products, panes.windows[p]
    first, size = layout[col.PANES_CELLS], layout[col.PANES_CELLS_END] - layout[col.PANES_CELLS]
    front = layout[col.PANES_FRONT] + panes.now[p, col.FRONT_BEGIN] * size
    for t in range(evaluations[first + i, 2], evaluations[first + i, 3]):
        by, of = products[t, col.PRODUCT_FORM], front + products[t, col.PRODUCT_BASE]
        constant = products[t, col.PRODUCT_BASE] < 0
        by_high, by_low, by_number = totals.high[by], totals.low[by], totals.number[by]
        if kind != EXTREME and (by_high | by_low) == 0:
            continue
        if kind == EXACT:
            if not constant:
                by_high, by_low = multiply_exact(by_high, by_low, high[of], low[of])
            high[at], low[at] = add_exact(high[at], low[at], by_high, by_low)
        elif kind == NUMBER:
            if not constant and by_number != 0.0 and number[of] != 0.0:
                by_number, by_low = scaled(by_number * number[of], by_low + low[of])
            if constant or number[of] != 0.0:
                number[at], low[at] = add_scaled(number[at], low[at], by_number, by_low)
        elif constant or products[t, col.PRODUCT_OF_TOTAL]:
            if is_before(by_high, by_low, high[at], low[at]) and (
                constant or is_some(products[t, col.PRODUCT_COUNT], high[of], low[of], number[of])
            ):
                high[at], low[at] = by_high, by_low
        elif is_some(products[t, col.PRODUCT_COUNT], by_high, by_low, by_number) and is_before(
            high[of], low[of], high[at], low[at]
        ):
            high[at], low[at] = high[of], low[of]
