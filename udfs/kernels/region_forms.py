"""Forms of regions: they are evaluated into totals, into views or into what is pending, and start over."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.numbers import is_before
from sparkext.udfs.arithmetic.totals import HUGE, NARROW, add, add_product, is_some
from sparkext.udfs.jit.compiled import as_index, inner
from sparkext.udfs.kernels.space_lanes import clear, clear_cells, number_of_windows, set_units
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NUMBER

# Numba would compile for each of them by itself if they were Python's.
TOTALS, PENDING, VIEWS = np.int64(0), np.int64(1), np.int64(2)


@inner
def reset_forms(program, totals, regions, region):
    """Let the forms of a region start over."""
    _clear(program, region, totals)
    set_units(regions.units, regions.unit_ends[region], regions.unit_ends[region + 1], totals.low, totals.number)


@inner
def _clear(program, region, totals):
    """Empty all forms of a region."""
    space = number_of_windows(program) + region
    clear_cells(program, space, 0, program.windows[space, col.WINDOW_LANES], totals.high, totals.low)


@inner
def rebase(program, state, regions, region):
    """Evaluate all totals of a region, and let its forms start over."""
    if regions.now[region, col.REGION_WAITING]:
        evaluate_pending(program, state, regions, region)
    evaluate_forms(state, regions, regions.all, regions.ends[region], regions.ends[region + 1], TOTALS)
    reset_forms(program, state.totals, regions, region)
    regions.now[region, col.REGION_DIRTY] = 0


@inner
def evaluate_pending(program, state, regions, region):
    """Turn what is pending in the forms of a region into pending totals."""
    evaluate_forms(state, regions, regions.all, regions.ends[region], regions.ends[region + 1], PENDING)
    _clear(program, region, state.pending)
    regions.now[region, col.REGION_WAITING] = 0
    regions.now[region, col.REGION_LATER] = 1


@inner
def add_pending(state, regions, region):
    """Move the pending totals of a region into its totals."""
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    later_high, later_low, later_number = state.pending.high, state.pending.low, state.pending.number
    for e in range(regions.ends[region], regions.ends[region + 1]):
        kind, window, at = (
            regions.evaluations[e, col.EVALUATED_KIND],
            regions.evaluations[e, col.EVALUATED_WINDOW],
            regions.evaluations[e, col.EVALUATED_AT],
        )
        begin, end = at + state.open[window, col.OPEN_LANE], at + state.open[window, col.OPEN_LANE_END]
        add(kind, begin, end, state.cursor, high, low, number, later_high, later_low, later_number)
        clear(kind, begin, end, later_high, later_low)


@inner
def evaluate_forms(state, regions, numbers, first, last, mode):
    """Evaluate forms in all open windows.

    Args:
        state: Its event totals are scratch.
        regions: `sparkext.udfs.state.region_tables.Regions`.
        numbers: Evaluations, of which those from ``first`` to ``last`` are made.
        first, last: A range.
        mode: ``TOTALS``: forms into the totals they are of; ``VIEWS``: into views, where these are not
            up to date; ``PENDING``: what is pending in forms into pending totals.
    """
    evaluations, products, opened, cursor = regions.evaluations, regions.products, state.open, state.cursor
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    event_high, event_low, event_number = state.event.high, state.event.low, state.event.number
    later_high, later_low, later_number = state.pending.high, state.pending.low, state.pending.number
    of_high, of_low, of_number = high, low, number
    if mode == PENDING:
        of_high, of_low, of_number = later_high, later_low, later_number
    for n in range(as_index(first), as_index(last)):
        e = as_index(numbers[n])
        kind, window, at = (
            evaluations[e, col.EVALUATED_KIND],
            as_index(evaluations[e, col.EVALUATED_WINDOW]),
            as_index(evaluations[e, col.EVALUATED_AT]),
        )
        if mode == VIEWS:
            changes = regions.now[evaluations[e, col.EVALUATED_REGION], col.REGION_CHANGES]
            if regions.seen[e] == changes:
                continue
            regions.seen[e] = changes
        lane_begin, lane_end = as_index(opened[window, col.OPEN_LANE]), as_index(opened[window, col.OPEN_LANE_END])
        begin, end = at + lane_begin, at + lane_end
        if mode == VIEWS and not regions.now[evaluations[e, col.EVALUATED_REGION], col.REGION_DIRTY]:
            by = as_index(evaluations[e, col.EVALUATED_VIEW]) - at
            for slot in range(begin, end):
                high[slot + by], low[slot + by] = high[slot], low[slot]
            continue
        while True:
            clear(kind, begin, end, event_high, event_low)
            for p in range(
                as_index(evaluations[e, col.EVALUATED_PRODUCTS]), as_index(evaluations[e, col.EVALUATED_PRODUCTS_END])
            ):
                form, base, constant = (
                    as_index(products[p, col.PRODUCT_FORM]),
                    as_index(products[p, col.PRODUCT_BASE]),
                    products[p, col.PRODUCT_BASE] < 0,
                )
                if kind == EXACT and not cursor[col.CURSOR_WIDE]:
                    # The sums as doubles, which wait where the high words will be, tell whether one word holds them.
                    count = of_low[form]
                    if constant:
                        for slot in range(begin, end):
                            event_number[slot] += np.float64(count)
                            event_low[slot] += count
                    elif count != 0:
                        for lane in range(lane_begin, lane_end):
                            event_number[at + lane] += np.float64(count) * np.float64(low[base + lane])
                            event_low[at + lane] += count * low[base + lane]
                elif kind == NUMBER and not cursor[col.CURSOR_SCALED]:
                    factor = of_number[form]
                    if constant:
                        for slot in range(begin, end):
                            event_number[slot] += factor
                    elif factor != 0.0:
                        for lane in range(lane_begin, lane_end):
                            event_number[at + lane] += factor * number[base + lane]
                elif kind != EXTREME:
                    add_product(
                        kind,
                        lane_begin,
                        lane_end,
                        at,
                        products[p, col.PRODUCT_BASE],
                        event_high,
                        event_low,
                        event_number,
                        of_high[form],
                        of_low[form],
                        of_number[form],
                        high,
                        low,
                        number,
                    )
                elif products[p, col.PRODUCT_OF_TOTAL]:
                    for lane in range(lane_begin, lane_end):
                        to, of = at + lane, base + lane
                        if is_before(of_high[form], of_low[form], event_high[to], event_low[to]) and (
                            constant or is_some(products[p, col.PRODUCT_COUNT], high[of], low[of], number[of])
                        ):
                            event_high[to], event_low[to] = of_high[form], of_low[form]
                elif is_some(products[p, col.PRODUCT_COUNT], of_high[form], of_low[form], of_number[form]):
                    for lane in range(lane_begin, lane_end):
                        to, of = at + lane, base + lane
                        if is_before(high[of], low[of], event_high[to], event_low[to]):
                            event_high[to], event_low[to] = high[of], low[of]
            wide = cursor[col.CURSOR_WIDE] if kind == EXACT else cursor[col.CURSOR_SCALED]
            if kind == EXTREME or wide:
                break
            largest = 0.0
            for slot in range(begin, end):
                largest = max(largest, abs(event_number[slot]))
            if kind == NUMBER:
                cursor[col.CURSOR_SCALED] |= largest >= HUGE
                break
            event_high[begin:end] = 0
            if largest < NARROW:
                break
            cursor[col.CURSOR_WIDE] = 1
        if mode == PENDING:
            add(kind, begin, end, cursor, later_high, later_low, later_number, event_high, event_low, event_number)
        elif mode == VIEWS:
            by = as_index(evaluations[e, col.EVALUATED_VIEW]) - at
            for slot in range(begin, end):
                high[slot + by], low[slot + by] = event_high[slot], event_low[slot]
    # A total may be in the base of others: all are evaluated before any changes.
    for n in range(as_index(first), as_index(last if mode == TOTALS else first)):
        at, window = evaluations[numbers[n], 2], evaluations[numbers[n], 1]
        for slot in range(
            as_index(at + opened[window, col.OPEN_LANE]), as_index(at + opened[window, col.OPEN_LANE_END])
        ):
            high[slot], low[slot] = event_high[slot], event_low[slot]
