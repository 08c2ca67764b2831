"""Evaluation of linear forms, and rebasing of regions.

A form is over the totals that its base held when the region was last rebased. So a region is rebased before
its base is changed by events, and before windows open or close. Events of one time are not before each other:
what they add to forms while their base is changed by others of that time is evaluated over the base as it was.
"""

from __future__ import annotations

import numpy as np

from udfs.compiled import inlined, inner
from udfs.numbers import add_exact, add_scaled, is_before, multiply_exact, scaled
from udfs.program import EXACT, NUMBER
from udfs.totals import HUGE, NARROW, NO_HIGH, NO_LOW, add, add_from, is_some

_DIRTY, _WAITING, _MOVED, _LATER, _CHANGES = 0, 1, 2, 3, 4
_TOTALS, _PENDING, _VIEWS = 0, 1, 2


@inlined
def is_due(regions, matched, found):  # type: ignore[no-untyped-def]
    """Whether an event changes a base or reads what is evaluated."""
    due = False
    for m in range(found):
        due |= regions.due[matched[m]] != 0
    return due


@inner
def make_ready(program, state, regions, matched, found):  # type: ignore[no-untyped-def]
    """Rebase regions whose base an event is about to change, and make the views that it reads."""
    now = regions.now
    for m in range(found):
        for place in range(regions.move_ends[matched[m]], regions.move_ends[matched[m] + 1]):
            region = regions.moves[place]
            if now[region, _DIRTY]:
                _rebase(program, state, regions, region)
            now[region, _MOVED] = 1
            regions.unsettled[0] = 1
    for m in range(found):
        begin, end = regions.view_ends[matched[m]], regions.view_ends[matched[m] + 1]
        _evaluate(state, regions, regions.views, begin, end, _VIEWS)


@inlined
def feed(regions, matched, found, alone):  # type: ignore[no-untyped-def]
    """Note that an event adds to forms; returns whether it may add to totals at once."""
    now = regions.now
    for m in range(found):
        for place in range(regions.feed_ends[matched[m]], regions.feed_ends[matched[m] + 1]):
            alone &= now[regions.feeds[place], _MOVED] == 0
    for m in range(found):
        for place in range(regions.feed_ends[matched[m]], regions.feed_ends[matched[m] + 1]):
            region = regions.feeds[place]
            if alone:
                now[region, _DIRTY] = 1
                now[region, _CHANGES] += 1
            else:
                now[region, _WAITING] = 1
                regions.unsettled[0] = 1
    return alone


@inner
def settle_forms(program, state, regions):  # type: ignore[no-untyped-def]
    """Evaluate what is pending in forms whose base is about to change; called before that is moved into totals."""
    now = regions.now
    for region in range(len(now)):
        if now[region, _WAITING] and now[region, _MOVED]:
            _evaluate_pending(program, state, regions, region)
        now[region, _CHANGES] += now[region, _WAITING] | now[region, _MOVED]
        now[region, _DIRTY] |= now[region, _WAITING]
        now[region, _WAITING] = 0
        now[region, _MOVED] = 0
    for region in range(len(now)):
        if now[region, _LATER]:
            _add_pending(state, regions, region)
            now[region, _LATER] = 0
    regions.unsettled[0] = 0


@inner
def rebase_all(program, state, regions):  # type: ignore[no-untyped-def]
    """Rebase all regions, between two times."""
    for region in range(len(regions.now)):
        if regions.now[region, _DIRTY]:
            _rebase(program, state, regions, region)


@inner
def reset_forms(program, totals, regions, region):  # type: ignore[no-untyped-def]
    """Let the forms of a region start over."""
    _clear(program, region, totals)
    for unit in range(regions.unit_ends[region], regions.unit_ends[region + 1]):
        if regions.units[unit, 1] == EXACT:
            totals.low[regions.units[unit, 0]] = 1
        else:
            totals.number[regions.units[unit, 0]] = 1.0


@inner
def _clear(program, region, totals):  # type: ignore[no-untyped-def]
    """Empty all forms of a region."""
    window = program.windows[len(program.bank_ends) - 1 + region]
    at = window[5]
    for cell in range(window[3], window[4]):
        for lane in range(at, at + window[2]):
            totals.high[lane] = program.blanks[cell, 0]
            totals.low[lane] = program.blanks[cell, 1]
        at += window[2]


@inner
def _rebase(program, state, regions, region):  # type: ignore[no-untyped-def]
    """Evaluate all totals of a region, and let its forms start over."""
    if regions.now[region, _WAITING]:
        _evaluate_pending(program, state, regions, region)
    _evaluate(state, regions, regions.all, regions.ends[region], regions.ends[region + 1], _TOTALS)
    reset_forms(program, state.totals, regions, region)
    regions.now[region, _DIRTY] = 0


@inner
def _evaluate_pending(program, state, regions, region):  # type: ignore[no-untyped-def]
    """Turn what is pending in the forms of a region into pending totals."""
    _evaluate(state, regions, regions.all, regions.ends[region], regions.ends[region + 1], _PENDING)
    _clear(program, region, state.pending)
    regions.now[region, _WAITING] = 0
    regions.now[region, _LATER] = 1


@inner
def _add_pending(state, regions, region):  # type: ignore[no-untyped-def]
    """Move the pending totals of a region into its totals."""
    totals, pending = state.totals, state.pending
    for e in range(regions.ends[region], regions.ends[region + 1]):
        kind, window, at = regions.evaluations[e, 0], regions.evaluations[e, 1], regions.evaluations[e, 2]
        begin, end = at + state.open[window, 3], at + state.open[window, 4]
        add(
            kind,
            begin,
            end,
            state.cursor,
            totals.high,
            totals.low,
            totals.number,
            pending.high,
            pending.low,
            pending.number,
        )
        _empty(kind, begin, end, pending.high, pending.low)


@inlined
def _empty(kind, begin, end, high, low):  # type: ignore[no-untyped-def]
    """Empty some lanes of a cell."""
    for at in range(begin, end):
        high[at] = 0 if kind in (EXACT, NUMBER) else NO_HIGH
        low[at] = 0 if kind in (EXACT, NUMBER) else NO_LOW


@inner
def _evaluate(state, regions, numbers, first, last, mode):  # type: ignore[no-untyped-def]
    """Evaluate forms in all open windows.

    Args:
        state: Its event totals are scratch.
        regions: `udfs.regions.Regions`.
        numbers: Evaluations, of which those from ``first`` to ``last`` are made.
        first, last: A range.
        mode: ``_TOTALS``: forms into the totals they are of; ``_VIEWS``: into views, where these are not
            up to date; ``_PENDING``: what is pending in forms into pending totals.
    """
    totals, event, pending = state.totals, state.event, state.pending
    for place in range(first, last):
        e = numbers[place]
        row = regions.evaluations[e]
        kind, window, at, view, adds = row[0], row[1], row[2], row[3], row[6]
        if mode == _VIEWS:
            changes = regions.now[row[7], _CHANGES]
            if regions.seen[e] == changes:
                continue
            regions.seen[e] = changes
        begin, end = state.open[window, 3], state.open[window, 4]
        form = pending if mode == _PENDING else totals
        if kind == EXACT:
            _sum_counts(totals, event, form, regions.products, row[4], row[5], at, begin, end, state.cursor)
        elif kind == NUMBER:
            _sum_numbers(totals, event, form, regions.products, row[4], row[5], at, begin, end, state.cursor)
        else:
            _least(totals, event, form, regions.products, row[4], row[5], at, begin, end)
        begin, end = at + begin, at + end
        if mode == _PENDING:
            _add_to(kind, begin, end, 0, state.cursor, pending, event)
        elif mode == _VIEWS:
            _empty(kind, begin + view - at, end + view - at, totals.high, totals.low)
            _add_to(kind, begin + view - at, end + view - at, at - view, state.cursor, totals, event)
            if adds:
                _add_to(kind, begin + view - at, end + view - at, at - view, state.cursor, totals, totals)
    # A total may be in the base of others: all are evaluated before any changes.
    for place in range(first, last if mode == _TOTALS else first):
        row = regions.evaluations[numbers[place]]
        begin, end = row[2] + state.open[row[1], 3], row[2] + state.open[row[1], 4]
        if not row[6]:
            _empty(row[0], begin, end, totals.high, totals.low)
        _add_to(row[0], begin, end, 0, state.cursor, totals, event)


@inlined
def _add_to(kind, begin, end, by, cursor, totals, more):  # type: ignore[no-untyped-def]
    """Add lanes of some totals to the lanes at ``begin``..``end`` of others, which are ``by`` places before."""
    add_from(kind, begin, end, by, cursor, totals.high, totals.low, totals.number, more.high, more.low, more.number)


@inlined
def _sum_counts(totals, event, form, products, first, last, at, begin, end, cursor):  # type: ignore[no-untyped-def]
    """Evaluate a count."""
    if not cursor[6]:
        # The sums as doubles, which wait where the high words will be, tell whether one word holds them.
        largest = 0.0
        for lane in range(at + begin, at + end):
            event.number[lane] = 0.0
            event.low[lane] = 0
        for p in range(first, last):
            coefficient, base = form.low[products[p, 0]], products[p, 1]
            if coefficient == 0:
                continue
            for lane in range(begin, end):
                total = totals.low[base + lane] if base >= 0 else np.int64(1)
                event.number[at + lane] += np.float64(coefficient) * np.float64(total)
                event.low[at + lane] += coefficient * total
        for lane in range(at + begin, at + end):
            largest = max(largest, event.number[lane])
            event.high[lane] = 0
        cursor[6] |= largest >= NARROW
    if cursor[6]:
        for lane in range(at + begin, at + end):
            event.high[lane] = 0
            event.low[lane] = 0
        for p in range(first, last):
            high, low, base = form.high[products[p, 0]], form.low[products[p, 0]], products[p, 1]
            if (high | low) == 0:
                continue
            for lane in range(begin, end):
                there = at + lane
                more_high, more_low = high, low
                if base >= 0:
                    more_high, more_low = multiply_exact(high, low, totals.high[base + lane], totals.low[base + lane])
                event.high[there], event.low[there] = add_exact(
                    event.high[there], event.low[there], more_high, more_low
                )


@inlined
def _sum_numbers(totals, event, form, products, first, last, at, begin, end, cursor):  # type: ignore[no-untyped-def]
    """Evaluate a number."""
    for lane in range(at + begin, at + end):
        event.number[lane] = 0.0
        event.low[lane] = 0
    if not cursor[7]:
        largest = 0.0
        for p in range(first, last):
            coefficient, base = form.number[products[p, 0]], products[p, 1]
            if coefficient == 0.0:
                continue
            for lane in range(begin, end):
                event.number[at + lane] += coefficient * (totals.number[base + lane] if base >= 0 else 1.0)
                largest = max(largest, abs(event.number[at + lane]))
        cursor[7] |= largest >= HUGE
        last = first
    for p in range(first, last):
        coefficient, scale, base = form.number[products[p, 0]], form.low[products[p, 0]], products[p, 1]
        if coefficient == 0.0:
            continue
        for lane in range(begin, end):
            more, more_scale = coefficient, scale
            if base >= 0:
                # Nothing times a number that is not finite is nothing.
                if totals.number[base + lane] == 0.0:
                    continue
                more, more_scale = scaled(coefficient * totals.number[base + lane], scale + totals.low[base + lane])
            event.number[at + lane], event.low[at + lane] = add_scaled(
                event.number[at + lane], event.low[at + lane], more, more_scale
            )


@inlined
def _least(totals, event, form, products, first, last, at, begin, end):  # type: ignore[no-untyped-def]
    """Evaluate an extreme."""
    for lane in range(at + begin, at + end):
        event.high[lane] = NO_HIGH
        event.low[lane] = NO_LOW
    for p in range(first, last):
        there, base, count = products[p, 0], products[p, 1], products[p, 2]
        high, low = form.high[there], form.low[there]
        if products[p, 3]:
            for lane in range(begin, end):
                of = base + lane
                if is_before(high, low, event.high[at + lane], event.low[at + lane]) and (
                    base < 0 or is_some(count, totals.high[of], totals.low[of], totals.number[of])
                ):
                    event.high[at + lane], event.low[at + lane] = high, low
        elif is_some(count, high, low, form.number[there]):
            for lane in range(begin, end):
                more_high, more_low = totals.high[base + lane], totals.low[base + lane]
                if is_before(more_high, more_low, event.high[at + lane], event.low[at + lane]):
                    event.high[at + lane], event.low[at + lane] = more_high, more_low
