"""The kernel of completions: one pass over events in order, which keeps the best begun trend of each state.

A trend with the latest first event is the one that most spans and windows hold, so one number per state decides: that
of its best node. Events of one moment are in no trend together; what they add waits until the moment is over. Nodes of
a moment get their order when it is over: by their variables, then by the order of the nodes before them.

Where the step from a state has a condition, its nodes are held apart as far as conditions tell them apart: in buckets
between the latest starts of what is forbidden (`sparkext.udfs.kernels.guard_buckets`), one by one where events are
compared, and one for each anchor where conditions name an earlier variable.
"""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.udfs.comparisons.scan import find_matches
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.ended_trends import complete, end_at, resolve
from sparkext.udfs.completions.entry_totals import add_entry, add_event, begin_totals, open_lane
from sparkext.udfs.completions.forbidden_trends import forbid, holds, settle_forbidden
from sparkext.udfs.completions.held_nodes import hold_node, leave, mark_cut
from sparkext.udfs.completions.needed_nodes import drop_unneeded
from sparkext.udfs.completions.trend_nodes import better, fill_node, order_nodes, place_of, put_at, write_node
from sparkext.udfs.jit.compiled import inlined, inner, kernel
from sparkext.udfs.jit.handed_on import by_reference
from sparkext.udfs.tables.program import NEVER_YET

_NEVER = np.int64(NEVER_YET)
_FOREVER = np.int64(col.FOREVER)


@kernel
def advance(program, state, batch, moments, keys, row, base):
    """Process the events of a batch from ``row`` on.

    Args:
        program: `sparkext.udfs.completions.completion_program.Program`.
        state: `sparkext.udfs.completions.completion_program.State`; changed.
        batch: `sparkext.udfs.arrow.batches.Batch`.
        moments: 1 where an event is at another moment than the one before. Shape (rows,).
        keys: Number of the key of each row. Shape (rows,).
        row: Where to start.
        base: Number of the first row of the batch.

    Returns:
        The row to go on with when ``CURSOR_WANTS`` has been seen to; the number of rows when all were processed.
    """
    return _advance(by_reference(program), by_reference(state), by_reference(batch), moments, keys, row, base)


@kernel
def finish(program, state):
    """End the key under way; returns whether that is done, or the output is full."""
    return _finish(by_reference(program), by_reference(state))


@kernel
def compact(program, state):
    """Drop the nodes that nothing leads to; returns how many are left. No output may refer to any."""
    return drop_unneeded(by_reference(program), by_reference(state))


@inner
def _finish(program, state):
    cursor = state.cursor
    if cursor[col.CURSOR_KEY_OPEN] == 0:
        return True
    _settle(program, state)
    if not resolve(program, state, _FOREVER):
        return False
    cursor[col.CURSOR_KEY_OPEN] = 0
    cursor[col.CURSOR_NEW] = cursor[col.CURSOR_NODES]  # which completions that are yet to be taken may name
    cursor[col.CURSOR_WAITING] = cursor[col.CURSOR_MOMENT] = cursor[col.CURSOR_LISTED] = 0
    cursor[col.CURSOR_DEADLINE] = _FOREVER
    cursor[col.CURSOR_LANES] = 1
    cursor[col.CURSOR_LANE] = min(cursor[col.CURSOR_LANE], np.int64(1))
    state.best[:] = -1
    state.counts[:] = 0
    state.latest[:] = _NEVER
    state.broken[:] = _NEVER
    return True


@inner
def _advance(program, state, batch, moments, keys, row, base):
    cursor, states, chosen = state.cursor, program.states, state.chosen
    queries = len(program.queries)
    nodes_room, out_room, wait_room = len(state.nodes), len(state.out), len(state.waiting)
    lists_room = state.lists.shape[1] if len(state.lists) else 0
    most_new, most_ends, totals = len(states), len(program.ends), len(program.totals)
    times, classes, new_key = batch.time, batch.classes, batch.new_key
    cursor[col.CURSOR_WANTS] = col.WANTS_NOTHING
    while row < len(times):
        time = times[row]
        if new_key[row] and cursor[col.CURSOR_KEY_OPEN] and cursor[col.CURSOR_KEY] != keys[row]:
            if not _finish(program, state):
                cursor[col.CURSOR_WANTS] = col.WANTS_OUTPUT
                return row
        if not cursor[col.CURSOR_KEY_OPEN]:
            cursor[col.CURSOR_KEY_OPEN] = 1
            cursor[col.CURSOR_KEY] = keys[row]
            cursor[col.CURSOR_DEADLINE] = _FOREVER
        elif moments[row]:
            _settle(program, state)
            if cursor[col.CURSOR_DEADLINE] < time:
                if not resolve(program, state, time - 1):
                    cursor[col.CURSOR_WANTS] = col.WANTS_OUTPUT
                    return row
        if cursor[col.CURSOR_OUT] + queries > out_room:
            cursor[col.CURSOR_WANTS] = col.WANTS_OUTPUT
            return row
        most = most_new
        if program.facts[col.FACT_OPEN]:
            most += cursor[col.CURSOR_LISTED]
        if cursor[col.CURSOR_NODES] + most > nodes_room:
            cursor[col.CURSOR_WANTS] = col.WANTS_NODES
            return row
        # Nodes of the moment under way go to the lists when it is over.
        coming = cursor[col.CURSOR_NODES] - cursor[col.CURSOR_NEW] + most
        if program.facts[col.FACT_OPEN] and 2 * (cursor[col.CURSOR_LISTED] + coming) > state.anchors.shape[1]:
            cursor[col.CURSOR_WANTS] = col.WANTS_ANCHORS
            return row
        if lists_room and cursor[col.CURSOR_LISTED] + coming > lists_room and _longest(state) + coming > lists_room:
            cursor[col.CURSOR_WANTS] = col.WANTS_LISTS
            return row
        if cursor[col.CURSOR_WAITING] + most_ends * (1 + most - most_new) > wait_room:
            cursor[col.CURSOR_WANTS] = col.WANTS_WAITING
            return row
        if totals:
            if cursor[col.CURSOR_NODES] - cursor[col.CURSOR_NEW] + most > len(state.fresh.high):
                cursor[col.CURSOR_WANTS] = col.WANTS_FRESH
                return row
            if cursor[col.CURSOR_VALUES] + program.facts[col.FACT_VALUES] > len(state.values.high):
                cursor[col.CURSOR_WANTS] = col.WANTS_OUTPUT
                return row
            if _may_start(program, classes, row) and not open_lane(program, state, time):
                cursor[col.CURSOR_WANTS] = col.WANTS_LANES
                return row
        if moments[row]:
            cursor[col.CURSOR_MOMENT] += 1
        cursor[col.CURSOR_TIME] = time
        touched = 0
        for word in range(classes.shape[1]):
            bits = classes[row, word]
            event = word * CLASSES_PER_WORD
            while bits:
                if bits & 1:
                    for s in range(program.class_ends[event], program.class_ends[event + 1]):
                        touched = _arrive(program, state, batch, row, base, program.class_states[s], time, touched)
                    forbid(program, state, event)
                    mark_cut(program, state, event)
                bits >>= 1
                event += 1
        for t in range(touched):
            query = chosen[1, t]
            complete(program, state, query, chosen[0, query], row + base, time)
            chosen[0, query] = -1
        row += 1
    return row


@inner
def _may_start(program, classes, row):
    """Whether a trend may start with an event."""
    for s in range(len(program.states)):
        event = program.states[s, col.STATE_EVENT]
        if program.states[s, col.STATE_START] and event >= 0:
            if (classes[row, event // CLASSES_PER_WORD] >> event % CLASSES_PER_WORD) & 1:
                return True
    return False


@inlined
def _longest(state):
    most = np.int64(0)
    for s in range(len(state.counts)):
        most = max(most, state.counts[s])
    return most


@inner
def _arrive(program, state, batch, row, base, s, time, touched):
    """Write the nodes of an event at a state; returns how many queries it completes something of so far."""
    state_row = program.states[s]
    first = state.cursor[col.CURSOR_NODES]
    row_of = first - state.cursor[col.CURSOR_NEW]
    adds = state_row[col.STATE_TOTALS] < state_row[col.STATE_TOTALS_END]
    starts = state_row[col.STATE_START] != 0
    if starts and state_row[col.STATE_START_CLASS] >= 0:
        needed = state_row[col.STATE_START_CLASS]
        starts = ((batch.classes[row, needed // CLASSES_PER_WORD] >> needed % CLASSES_PER_WORD) & 1) != 0
    if starts and state_row[col.STATE_START_CONDITION] >= 0:
        starts = holds(program, state, state_row[col.STATE_START_CONDITION], _NEVER)
    if adds:
        begin_totals(program, state, s, row_of)
    if starts:
        write_node(program, state, s, -1, row, base, time)
    if state_row[col.STATE_OPEN]:
        state.cursor[col.CURSOR_TABLE] += 1
        for link in range(state_row[col.STATE_LINKS], state_row[col.STATE_LINKS_END]):
            _gather(program, state, batch, row, base, s, link, time)
    else:
        best = _best_before(program, state, batch, row, s, starts, adds)
        if best >= 0 and not starts:
            write_node(program, state, s, best, row, base, time)
    for node in range(first, state.cursor[col.CURSOR_NODES]):
        if adds:
            begins = starts and node == first
            add_event(program, state, batch, row, s, node - state.cursor[col.CURSOR_NEW], begins)
        touched = end_at(program, state, s, node, touched)
    return touched


@inner
def _best_before(program, state, batch, row, s, starts, adds):
    """The best node that an event at a state comes after (-1: none); what comes with all of them is added up."""
    state_row, nodes = program.states[s], state.nodes
    new = state.cursor[col.CURSOR_NODES] - state.cursor[col.CURSOR_NEW] - np.int64(starts)
    best = np.int64(-1)
    for link in range(state_row[col.STATE_LINKS], state_row[col.STATE_LINKS_END]):
        source = program.links[link, col.LINK_SOURCE]
        if program.states[source, col.STATE_KIND] == col.BEST:
            if state.best[source] >= 0:
                best = better(nodes, best, state.best[source])
                if adds:
                    add_entry(program, state, s, link, 0, new)
        elif program.links[link, col.LINK_COMPARISON] < 0:
            condition = program.links[link, col.LINK_CONDITION]
            for entry in range(0 if starts and not adds else state.counts[source]):
                if condition < 0 or holds(program, state, condition, state.lists[source, entry, col.ENTRY_MOMENT]):
                    best = better(nodes, best, state.lists[source, entry, col.ENTRY_NODE])
                    if adds:
                        add_entry(program, state, s, link, entry, new)
        else:
            # Also where a trend starts: events may leave that it has found.
            match_count = _compare(program, state, batch, row, source, link)
            for f in range(match_count):
                entry = state.matches[f]
                best = better(nodes, best, state.lists[source, entry, col.ENTRY_NODE])
                if adds:
                    add_entry(program, state, s, link, entry, new)
    return best


@inner
def _compare(program, state, batch, row, source, link):
    """Find the entries of a state before that an event may come after; returns how many there are."""
    comparison, condition = program.links[link, col.LINK_COMPARISON], program.links[link, col.LINK_CONDITION]
    code = program.code[program.code_ends[comparison] : program.code_ends[comparison + 1]]
    match_count = find_matches(
        code, batch, row, state.sources[source], 0, state.counts[source], state.matches, state.scratch
    )
    takes = program.states[source, col.STATE_TAKEN] != 0
    kept = 0
    for f in range(match_count):
        entry = state.matches[f]
        if condition < 0 or holds(program, state, condition, state.lists[source, entry, col.ENTRY_MOMENT]):
            state.matches[kept] = entry
            kept += 1
            if takes:
                state.lists[source, entry, col.ENTRY_LEAVES] = 1
                state.cursor[col.CURSOR_IS_CUT] = 1
    return kept


@inner
def _gather(program, state, batch, row, base, s, link, time):
    """Write the nodes of an event at a state where trends are held per anchor, as far as a link leads there."""
    nodes = state.nodes
    source = program.links[link, col.LINK_SOURCE]
    many = state.counts[source]
    compares = program.links[link, col.LINK_COMPARISON] >= 0
    if compares:
        many = _compare(program, state, batch, row, source, link)
    is_open = program.states[source, col.STATE_KIND] == col.ANCHORED
    adds = program.states[s, col.STATE_TOTALS] < program.states[s, col.STATE_TOTALS_END]
    for f in range(many):
        entry = state.matches[f] if compares else f
        before = state.lists[source, entry, col.ENTRY_NODE]
        anchor = nodes[before, col.NODE_ANCHOR] if is_open else nodes[before, col.NODE_ROW]
        at, held_node = place_of(state, anchor), np.int64(-1)
        if state.anchors[col.ANCHOR_TABLE, at] == state.cursor[col.CURSOR_TABLE]:
            held_node = state.anchors[col.ANCHOR_AT, at]
        if held_node < 0:
            node = write_node(program, state, s, before, row, base, time)
            nodes[node, col.NODE_ANCHOR] = anchor
            nodes[node, col.NODE_FROM] = nodes[before, col.NODE_FROM] if is_open else nodes[before, col.NODE_SOURCE]
            held_node = node
            put_at(state, at, anchor, node)
            if adds:
                begin_totals(program, state, s, node - state.cursor[col.CURSOR_NEW])
        elif better(nodes, nodes[held_node, col.NODE_PREV], before) == before:
            fill_node(program, state, s, held_node, before, row + base)
        if adds:
            add_entry(program, state, s, link, entry, held_node - state.cursor[col.CURSOR_NEW])


@inner
def _settle(program, state):
    """End the moment under way."""
    cursor = state.cursor
    settle_forbidden(program, state)
    if cursor[col.CURSOR_IS_CUT]:
        leave(program, state)
    first, end = cursor[col.CURSOR_NEW], cursor[col.CURSOR_NODES]
    if first == end:
        return
    order_nodes(program, state, first, end)
    cursor[col.CURSOR_TABLE] += 1
    for node in range(first, end):
        hold_node(program, state, node)
    cursor[col.CURSOR_NEW] = end
