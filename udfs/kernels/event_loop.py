"""The event loop: one pass over events sorted by key and time, for all queries of a pool.

An event adds to every cell of its classes what it starts, the totals of the source cells, and what it
contributes itself (GRETA's propagation, summed up per state instead of per event). Totals exclude
events of the same time, since these are never in one trend; they wait in ``State.pending``. A cell has
one lane per window; windows that end before an event are written out and their lanes cleared.

What a plan does not need is passed as None and compiled without: linear forms, spans, or all of guards, looking back
and differences. Of these the full kernel has what the plan does not need as empty tables, and asks once a batch. The event loop
takes the arrays that it works with out of their tuples before its first event, and calls nothing for an event but what
LLVM puts into it (``benchmarks/NOTES.md``).
"""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.udfs.arithmetic.totals import HUGE, MANY, NO_HIGH, NO_LOW, TINY, add
from sparkext.udfs.jit.compiled import as_index, inlined, inner
from sparkext.udfs.kernels.anchored_totals import add_per_anchor, settle_anchored
from sparkext.udfs.kernels.at_once import add_counts, add_numbers
from sparkext.udfs.kernels.burst_choice import choose, end_bursts, look_again
from sparkext.udfs.kernels.cuts import mark_cuts, settle_cuts
from sparkext.udfs.kernels.difference_parts import add_part
from sparkext.udfs.kernels.event_values import add_up_counts, add_up_numbers, classes_of, take_least
from sparkext.udfs.kernels.gains import gain, settle_gains
from sparkext.udfs.kernels.guard_buckets import (
    add_buckets,
    add_to_bucket,
    advance_guards,
    forget_guards,
    settle_guards,
    start_where_intact,
)
from sparkext.udfs.kernels.lookback import forget_past, insert_into_trees, look_back, record
from sparkext.udfs.kernels.open_windows import close_all, enter, restrict
from sparkext.udfs.kernels.reached import forget_reached, reach
from sparkext.udfs.kernels.rebase import feed, forget_views, is_due, make_ready, rebase_all, settle_forms
from sparkext.udfs.kernels.rows import rows_at_once
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.kernels.span_lanes import move_spans, need_room, note_change
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, NUMBER


@inner
def advance(program, state, guards, past, regions, spans, differences, panes, output, batch, row, combine):
    """Process the events of ``batch`` from ``row`` on.

    Args:
        program: `sparkext.udfs.tables.program.Program`.
        state: `sparkext.udfs.tables.program.State`; changed.
        guards: `sparkext.udfs.tables.program.Guards`; changed. None in the lean kernels, as are the past and differences.
        past: `sparkext.udfs.tables.program.Past`; changed.
        regions: `sparkext.udfs.state.region_tables.Regions`; changed. None in the lean kernel of plans without linear forms.
        spans: `sparkext.udfs.state.span_tables.Spans`; changed. None in the lean kernels of plans without.
        differences: `sparkext.udfs.state.difference_tables.Differences`.
        panes: `sparkext.udfs.state.pane_tables.Panes`; changed.
        output: `sparkext.udfs.tables.program.Output`; rows are added.
        batch: `sparkext.udfs.arrow.batches.Batch`.
        row: Where to start.
        combine: Whether rows of the same group, bank and window are added up.

    Returns:
        The row to go on with after the output was flushed, or spans were given more room; the number of rows when all
        were processed.
    """
    updates, groups, group_ends, sources = program.updates, program.groups, program.group_ends, program.sources
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    event_high, event_low, event_number = state.event.high, state.event.low, state.event.number
    later_high, later_low, later_number = state.pending.high, state.pending.low, state.pending.number
    opened, dirty, is_dirty, cursor = state.open, state.dirty, state.is_dirty, state.cursor
    group_sources, adding, reached, reaching = program.group_sources, state.adding, state.reached, state.reaching
    in_order = program.in_order
    times, new_key, classes = batch.time, batch.new_key, batch.classes
    valid, numbers, key_high, key_low = batch.valid, batch.numbers, batch.key_high, batch.key_low
    rows = len(times)
    room = len(output.group) - rows_at_once(program.windows, program.bank_ends)
    matched = state.matched
    # What the full kernel has although the plan does without costs a comparison.
    forms = chooses = forbids = reaches_back = is_spanned = adds_parts = False
    if regions is not None:
        forms = len(regions.ends) > 1
        chooses = len(regions.choices) > 0
        look_again(regions)
    if guards is not None:
        forbids = len(program.guard_states) + len(guards.cuts) > 0
    if past is not None:
        reaches_back = len(program.histories) > 0
    if spans is not None:
        is_spanned = len(spans.table) > 0
    if differences is not None:
        for u in range(len(differences.of)):
            adds_parts |= differences.of[u, col.ADDED_COLUMN] >= 0

    while row < rows:
        if cursor[col.CURSOR_ROWS] > room:
            return row
        if spans is not None:
            if is_spanned:
                if need_room(spans):
                    return row
        time = times[row]
        if new_key[row] != 0 or time != cursor[col.CURSOR_TIME]:
            _move_on(program, state, guards, past, regions, spans, panes, output, batch, row, is_spanned, combine)

        class_count = classes_of(classes, row, matched)
        parts = class_count
        if regions is not None:
            if forms:
                if chooses:
                    parts = choose(
                        regions, batch, row, cursor[col.CURSOR_TURN], matched, class_count, forbids or reaches_back
                    )
                if is_due(regions, matched, parts):
                    make_ready(program, state, regions, matched, parts)

        alone = cursor[col.CURSOR_DIRTY] == 0 and row + 1 < rows and (new_key[row + 1] != 0 or times[row + 1] != time)
        # Whether no total that the event adds to is read for it afterwards.
        at_once = False
        if regions is None:
            if guards is None:
                if spans is None:
                    at_once = alone and parts == 1 and in_order[matched[0]] != 0

        # What the event adds to each cell of its classes, from totals of earlier events only.
        added = 0
        for m in range(parts):
            for g in range(as_index(group_ends[matched[m]]), as_index(group_ends[matched[m] + 1])):
                if regions is None:
                    if not reach(groups, group_sources, opened, reached, reaching, g):
                        continue
                if not at_once:
                    adding[as_index(added)] = g
                    added += 1
                for u in range(as_index(groups[g, col.GROUP_BEGIN]), as_index(groups[g, col.GROUP_END])):
                    kind, window, at = (
                        updates[u, col.UPDATE_KIND],
                        as_index(updates[u, col.UPDATE_WINDOW]),
                        as_index(updates[u, col.UPDATE_AT]),
                    )
                    begin, end = as_index(updates[u, col.UPDATE_SOURCES]), as_index(updates[u, col.UPDATE_SOURCES_END])
                    count, column = as_index(updates[u, col.UPDATE_COUNT]), updates[u, col.UPDATE_COLUMN]
                    counts = updates[u, col.UPDATE_COUNT] >= 0 and (column < 0 or valid[column, row] != 0)
                    lane_begin, lane_end = (
                        as_index(opened[window, col.OPEN_LANE]),
                        as_index(opened[window, col.OPEN_LANE_END]),
                    )
                    if regions is None:
                        lane_end = as_index(reaching[g, window])
                        if lane_end <= lane_begin:
                            continue
                    start = updates[u, col.UPDATE_START]
                    if updates[u, col.UPDATE_START_CLASS] >= 0:
                        start &= (
                            classes[row, updates[u, col.UPDATE_START_CLASS] // CLASSES_PER_WORD]
                            >> updates[u, col.UPDATE_START_CLASS] % CLASSES_PER_WORD
                        )
                    guarded_start = start and updates[u, col.UPDATE_START_LINK] >= 0
                    if guarded_start:
                        start = np.int64(0)
                    few = at_once and lane_end - lane_begin < MANY
                    is_counted = updates[u, col.UPDATE_IS_COUNTED] != 0
                    if kind == EXACT:
                        if few and not cursor[col.CURSOR_WIDE]:
                            add_counts(
                                state, sources, begin, end, at, lane_begin, lane_end, start, counts, count, is_counted
                            )
                            continue
                        add_up_counts(state, sources, begin, end, at, lane_begin, lane_end, start, counts, count)
                    elif kind == NUMBER:
                        value = numbers[column, row] if counts and updates[u, col.UPDATE_WEIGHTED] else 1.0
                        cursor[col.CURSOR_SCALED] |= not (value == 0.0 or TINY <= abs(value) < HUGE)
                        if few and not cursor[col.CURSOR_SCALED]:
                            add_numbers(
                                state,
                                sources,
                                begin,
                                end,
                                at,
                                lane_begin,
                                lane_end,
                                start,
                                counts,
                                count,
                                value,
                                is_counted,
                            )
                            continue
                        add_up_numbers(
                            state, sources, begin, end, at, lane_begin, lane_end, start, counts, count, value
                        )
                    else:
                        own_key = (key_high[column, row], key_low[column, row]) if counts else (NO_HIGH, NO_LOW)
                        count_kind = updates[u, col.UPDATE_COUNT_KIND]
                        take_least(
                            state, sources, begin, end, at, lane_begin, lane_end, counts, count, count_kind, own_key
                        )
                    if at_once:
                        begin, end = at + lane_begin, at + lane_end
                        add(kind, begin, end, cursor, high, low, number, event_high, event_low, event_number)
                        continue
                    if guards is not None:
                        if forbids:
                            if guarded_start:
                                start_where_intact(program, state, guards, u)
                            if updates[u, col.UPDATE_LINKS] < updates[u, col.UPDATE_LINKS_END]:
                                add_buckets(program, state, guards, u)
                    if past is not None:
                        if reaches_back:
                            if updates[u, col.UPDATE_LINKS] < updates[u, col.UPDATE_LINKS_END]:
                                look_back(program, state, guards, past, batch, row, u)
                    if differences is not None:
                        if adds_parts:
                            if differences.of[u, col.ADDED_COLUMN] >= 0:
                                begin, end = at + lane_begin, at + lane_end
                                add_part(differences.of[u], batch, row, begin, end, event_high, event_low)

        if past is not None:
            if reaches_back:
                if len(program.anchored):
                    add_per_anchor(program, state, guards, past, differences, batch, row, matched, class_count)
                record(program, state, past, matched, class_count, row, time)
        if guards is not None:
            if forbids:
                advance_guards(program, guards, matched, class_count, time)
                if len(guards.cuts):
                    mark_cuts(program, guards, matched, class_count)
        if regions is not None:
            if forms:
                alone = feed(regions, matched, parts, alone)
        if guards is not None:
            if forbids:
                if alone and guards.pending[0]:
                    settle_guards(program, guards)
                    if guards.pending[col.MARKED]:
                        settle_cuts(program, state, guards, past)
        if past is not None:
            if reaches_back:
                if alone and past.unseen[0]:
                    settle_anchored(program, state, past)
                    insert_into_trees(program, past)
        for n in range(as_index(added)):
            of = as_index(adding[n])
            for u in range(as_index(groups[of, col.GROUP_BEGIN]), as_index(groups[of, col.GROUP_END])):
                kind, window, at = (
                    updates[u, col.UPDATE_KIND],
                    as_index(updates[u, col.UPDATE_WINDOW]),
                    updates[u, col.UPDATE_AT],
                )
                begin, end = at + opened[window, col.OPEN_LANE], at + opened[window, col.OPEN_LANE_END]
                if regions is None:
                    end = at + reaching[of, window]
                    if end <= begin:
                        continue
                if spans is not None:
                    if is_spanned:
                        if spans.of[u, col.OF_SPAN] >= 0:
                            note_change(spans, u)
                if alone:
                    add(kind, begin, end, cursor, high, low, number, event_high, event_low, event_number)
                    if spans is not None:
                        if is_spanned:
                            if spans.of[u, col.OF_GAIN] >= 0:
                                g = spans.of[u, col.OF_GAIN]
                                gain(state, spans, g, kind, begin, end, event_high, event_low, event_number)
                    if guards is not None:
                        if forbids:
                            if updates[u, col.UPDATE_STORE] >= 0:
                                add_to_bucket(program, state, guards, u, event_high, event_low, event_number)
                            if updates[u, col.UPDATE_TARGET] >= 0:
                                guards.cuts[updates[u, col.UPDATE_TARGET], col.IS_FILLED] = 1
                else:
                    if not is_dirty[u]:
                        is_dirty[u] = 1
                        dirty[cursor[col.CURSOR_DIRTY]] = u
                        cursor[col.CURSOR_DIRTY] += 1
                    add(
                        kind,
                        begin,
                        end,
                        cursor,
                        later_high,
                        later_low,
                        later_number,
                        event_high,
                        event_low,
                        event_number,
                    )
        row += 1
    return row


@inlined
def _move_on(program, state, guards, past, regions, spans, panes, output, batch, row, is_spanned, combine):
    """Let an event be later than those before it, or the first of another key."""
    cursor, time, first = state.cursor, batch.time[row], batch.new_key[row] != 0
    waiting = cursor[col.CURSOR_DIRTY] != 0
    if guards is not None:
        waiting |= guards.pending[0] != 0
    if past is not None:
        waiting |= past.unseen[0] != 0
    if regions is not None:
        waiting |= regions.unsettled[0] != 0
    if waiting:
        _settle(program, state, guards, past, regions, spans)
    turns = first or time >= cursor[col.CURSOR_TURN]
    if regions is None:
        turns = first or (turns and _needs_windows(program, batch, row))
    if turns:
        if regions is not None:
            rebase_all(program, state, regions)
        if first and cursor[col.CURSOR_KEY]:
            close_all(program, state, guards, panes, output, combine)
        if first:
            cursor[col.CURSOR_WIDE] = cursor[col.CURSOR_SCALED] = 0
            if regions is None:
                forget_reached(program, state, panes, spans)
            if guards is not None:
                forget_guards(guards)
            if past is not None:
                forget_past(past)
        if first and cursor[col.CURSOR_CHUNK]:
            restrict(program, state, batch.chunk[row])
        cursor[col.CURSOR_GROUP] += np.int64(batch.new_group[row])
        enter(program, state, guards, panes, output, time, combine, first)
        if regions is not None:
            forget_views(regions)
            end_bursts(regions)
        cursor[col.CURSOR_KEY] = 1
    if spans is not None:
        if is_spanned:
            move_spans(program, state, regions, spans, time, first)
    cursor[col.CURSOR_TIME] = time


@inlined
def _needs_windows(program, batch, row):
    """Whether it matters which windows are open: whether an event begins or ends a trend.

    Others change neither what is written of windows that have ended nor what is in windows that begin, so these close and
    open when it does. Where events share a time, which wait together, they do so before the first of them.
    """
    needs = row + 1 == len(batch.time) or (batch.time[row + 1] == batch.time[row] and batch.new_key[row + 1] == 0)
    for word in range(len(program.turning)):
        needs |= (batch.classes[row, word] & program.turning[word]) != 0
    return needs


@inner
def end_key(program, state, guards, past, regions, spans, panes, output, combine):
    """Write out and clear all windows of the key under way."""
    pause(program, state, guards, past, regions, spans)
    close_all(program, state, guards, panes, output, combine)
    state.cursor[col.CURSOR_KEY] = 0


@inner
def pause(program, state, guards, past, regions, spans):
    """Bring all totals up to the latest time, which no further event has."""
    _settle(program, state, guards, past, regions, spans)
    if regions is not None:
        rebase_all(program, state, regions)


@inner
def _settle(program, state, guards, past, regions, spans):
    """Move what is pending into the totals."""
    updates = program.updates
    high, low, number = state.totals.high, state.totals.low, state.totals.number
    later_high, later_low, later_number = state.pending.high, state.pending.low, state.pending.number
    if guards is not None:
        if guards.pending[0]:
            settle_guards(program, guards)
            if guards.pending[col.MARKED]:
                settle_cuts(program, state, guards, past)
    if past is not None:
        if past.unseen[0]:
            settle_anchored(program, state, past)
            insert_into_trees(program, past)
    if regions is not None:
        if regions.unsettled[0]:
            settle_forms(program, state, regions)
    if spans is not None:
        settle_gains(program, state, spans)
    for d in range(state.cursor[col.CURSOR_DIRTY]):
        u = state.dirty[d]
        state.is_dirty[u] = 0
        window, at = updates[u, col.UPDATE_WINDOW], updates[u, col.UPDATE_AT]
        begin, end = at + state.open[window, col.OPEN_LANE], at + state.open[window, col.OPEN_LANE_END]
        add(
            updates[u, col.UPDATE_KIND],
            begin,
            end,
            state.cursor,
            high,
            low,
            number,
            later_high,
            later_low,
            later_number,
        )
        if guards is not None:
            if updates[u, col.UPDATE_STORE] >= 0:
                add_to_bucket(program, state, guards, u, later_high, later_low, later_number)
            if updates[u, col.UPDATE_TARGET] >= 0:
                guards.cuts[updates[u, col.UPDATE_TARGET], col.IS_FILLED] = 1
        clear(updates[u, col.UPDATE_KIND], begin, end, later_high, later_low)
    state.cursor[col.CURSOR_DIRTY] = 0
