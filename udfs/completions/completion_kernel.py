"""The kernel of completions: one pass over events in order, which keeps the best begun trend of each state.

A trend with the latest first event is the one that most spans and windows hold, so one number per state decides: that
of its best node. Events of one moment are in no trend together; what they add waits until the moment is over. Nodes of
a moment get their order when it is over: by their variables, then by the order of the nodes before them.

Where the step from a state has a condition, its nodes are held apart as far as conditions tell them apart: in buckets
between the latest starts of what is forbidden (`sparkext.udfs.kernels.guard_buckets`), one by one where events are
compared, and one for each anchor where conditions name an earlier variable.

The kernel is one file, since numba looks at the file of what it keeps and at no other.
"""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.udfs.comparisons.scan import find_matches
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.entry_totals import (
    add_entry,
    add_event,
    begin_totals,
    end_totals,
    give,
    give_waiting,
    hold,
    join_totals,
    move_totals,
    move_waiting,
    open_lane,
    wait_with_totals,
)
from sparkext.udfs.jit.compiled import inlined, inner, kernel
from sparkext.udfs.jit.handed_on import by_reference
from sparkext.udfs.tables.program import NEVER_YET

_NEVER = np.int64(NEVER_YET)
_FOREVER = np.int64(col.FOREVER)
_ALONE, _AND_ONE_BEFORE, _AND_ALL_BEFORE = 1, 2, 3
"""What is kept with a node: itself, and nodes before it."""


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
    return _compact(by_reference(program), by_reference(state))


@inner
def _finish(program, state):
    cursor = state.cursor
    if cursor[col.CURSOR_KEY_OPEN] == 0:
        return True
    _settle(program, state)
    if not _resolve(program, state, _FOREVER):
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
                if not _resolve(program, state, time - 1):
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
                    _forbid(program, state, event)
                    _cut(program, state, event)
                bits >>= 1
                event += 1
        for t in range(touched):
            query = chosen[1, t]
            _complete(program, state, query, chosen[0, query], row + base, time)
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
        starts = _holds(program, state, state_row[col.STATE_START_CONDITION], _NEVER)
    if adds:
        begin_totals(program, state, s, row_of)
    if starts:
        _node(program, state, s, -1, row, base, time)
    if state_row[col.STATE_OPEN]:
        state.cursor[col.CURSOR_TABLE] += 1
        for link in range(state_row[col.STATE_LINKS], state_row[col.STATE_LINKS_END]):
            _gather(program, state, batch, row, base, s, link, time)
    else:
        best = _best_before(program, state, batch, row, s, starts, adds)
        if best >= 0 and not starts:
            _node(program, state, s, best, row, base, time)
    for node in range(first, state.cursor[col.CURSOR_NODES]):
        if adds:
            begins = starts and node == first
            add_event(program, state, batch, row, s, node - state.cursor[col.CURSOR_NEW], begins)
        touched = _end(program, state, s, node, touched)
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
                best = _better(nodes, best, state.best[source])
                if adds:
                    add_entry(program, state, s, link, 0, new)
        elif program.links[link, col.LINK_COMPARISON] < 0:
            condition = program.links[link, col.LINK_CONDITION]
            for entry in range(0 if starts and not adds else state.counts[source]):
                if condition < 0 or _holds(program, state, condition, state.lists[source, entry, col.ENTRY_MOMENT]):
                    best = _better(nodes, best, state.lists[source, entry, col.ENTRY_NODE])
                    if adds:
                        add_entry(program, state, s, link, entry, new)
        else:
            # Also where a trend starts: events may leave that it has found.
            match_count = _compare(program, state, batch, row, source, link)
            for f in range(match_count):
                entry = state.matches[f]
                best = _better(nodes, best, state.lists[source, entry, col.ENTRY_NODE])
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
        if condition < 0 or _holds(program, state, condition, state.lists[source, entry, col.ENTRY_MOMENT]):
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
        at, held_node = _place(state, anchor), np.int64(-1)
        if state.anchors[col.ANCHOR_TABLE, at] == state.cursor[col.CURSOR_TABLE]:
            held_node = state.anchors[col.ANCHOR_AT, at]
        if held_node < 0:
            node = _node(program, state, s, before, row, base, time)
            nodes[node, col.NODE_ANCHOR] = anchor
            nodes[node, col.NODE_FROM] = nodes[before, col.NODE_FROM] if is_open else nodes[before, col.NODE_SOURCE]
            held_node = node
            _put(state, at, anchor, node)
            if adds:
                begin_totals(program, state, s, node - state.cursor[col.CURSOR_NEW])
        elif _better(nodes, nodes[held_node, col.NODE_PREV], before) == before:
            _fill(program, state, s, held_node, before, row + base)
        if adds:
            add_entry(program, state, s, link, entry, held_node - state.cursor[col.CURSOR_NEW])


@inlined
def _place(state, key):
    """Where a key is in the table of anchors under way, or may be put."""
    anchors = state.anchors
    mask = np.int64(anchors.shape[1] - 1)
    at = (key * 40503) & mask
    while anchors[col.ANCHOR_TABLE, at] == state.cursor[col.CURSOR_TABLE] and anchors[col.ANCHOR_KEY, at] != key:
        at = (at + 1) & mask
    return at


@inlined
def _put(state, at, key, where):
    """Put a key into the table of anchors."""
    state.anchors[col.ANCHOR_KEY, at] = key
    state.anchors[col.ANCHOR_AT, at] = where
    state.anchors[col.ANCHOR_TABLE, at] = state.cursor[col.CURSOR_TABLE]


@inlined
def _better(nodes, first, second):
    """The better of two nodes of different moments or whose order is known; -1 is worse than any."""
    if first < 0 or second < 0:
        return max(first, second)
    if nodes[second, col.NODE_START] != nodes[first, col.NODE_START]:
        return second if nodes[second, col.NODE_START] > nodes[first, col.NODE_START] else first
    return second if nodes[second, col.NODE_ORDER] > nodes[first, col.NODE_ORDER] else first


@inlined
def _node(program, state, s, before, row, base, time):
    """Write a node; returns its number."""
    nodes, cursor = state.nodes, state.cursor
    node = cursor[col.CURSOR_NODES]
    cursor[col.CURSOR_NODES] = node + 1
    nodes[node, col.NODE_STATE] = s
    nodes[node, col.NODE_MOMENT] = cursor[col.CURSOR_MOMENT]
    nodes[node, col.NODE_TIME] = time
    nodes[node, col.NODE_ANCHOR] = -1
    nodes[node, col.NODE_SOURCE] = row
    nodes[node, col.NODE_FROM] = row
    nodes[node, col.NODE_ROW] = row + base
    nodes[node, col.NODE_START] = time
    _fill(program, state, s, node, before, row + base)
    return node


@inner
def _fill(program, state, s, node, before, number):
    """Let a node come after another, or begin a trend."""
    nodes, registers = state.nodes, state.registers
    nodes[node, col.NODE_PREV] = before
    if before >= 0:
        nodes[node, col.NODE_START] = nodes[before, col.NODE_START]
    for r in range(registers.shape[1]):
        held_row = np.int64(-1)
        if before >= 0:
            held_row = registers[before, r]
        how = program.registers[s, r]
        if how != 0 and (how != col.FIRST_OF_ALL or held_row < 0):
            held_row = number
        registers[node, r] = held_row


@inner
def _end(program, state, s, node, touched):
    """Note that trends of some queries end at a node; returns how many queries the event completes something of."""
    nodes, chosen = state.nodes, state.chosen
    for end in range(program.states[s, col.STATE_ENDS], program.states[s, col.STATE_ENDS_END]):
        query = program.ends[end, col.END_QUERY]
        row = node - state.cursor[col.CURSOR_NEW]
        if program.queries[query, col.QUERY_WAITS]:
            _wait(program, state, query, node, end)
            continue
        held_node = chosen[0, query]
        if _has_values(program, query):
            end_totals(program, state, query, program.ends[end, col.END_VALUES], s, row, held_node < 0)
        if held_node < 0:
            chosen[1, touched] = query
            touched += 1
            chosen[0, query] = node
        elif _ends_better(program, nodes, held_node, node):
            chosen[0, query] = node
    return touched


@inlined
def _has_values(program, query):
    """Whether rows of a query have values that are added up."""
    return program.queries[query, col.QUERY_VALUES] < program.queries[query, col.QUERY_VALUES_END]


@inner
def _ends_better(program, nodes, first, second):
    """Whether the second of two nodes of one event has the better trend."""
    if nodes[second, col.NODE_START] != nodes[first, col.NODE_START]:
        return nodes[second, col.NODE_START] > nodes[first, col.NODE_START]
    first_order, second_order = _order_before(nodes, first), _order_before(nodes, second)
    if first_order != second_order:
        return second_order > first_order
    return (
        program.states[nodes[second, col.NODE_STATE], col.STATE_LABEL]
        > program.states[nodes[first, col.NODE_STATE], col.STATE_LABEL]
    )


@inlined
def _order_before(nodes, node):
    """The order of the node before; a trend that begins here is better than any that has begun at the same time."""
    before = nodes[node, col.NODE_PREV]
    return nodes[before, col.NODE_ORDER] if before >= 0 else _FOREVER


@inlined
def _oldest_window(time, within, slide):
    """The number of the first window that a time is in."""
    newest = time // slide
    return newest - (within - 1 - (time - newest * slide)) // slide


@inner
def _is_in_span(program, query, start, time):
    """Whether a trend that begins and ends then is as short as a query wants it."""
    span = program.queries[query, col.QUERY_SPAN]
    return span == 0 or np.uint64(time) - np.uint64(start) < np.uint64(span)


@inner
def _complete(program, state, query, node, number, time):
    """Write a completion that need not wait."""
    start = state.nodes[node, col.NODE_START]
    if not _is_in_span(program, query, start, time):
        return
    first = last = np.int64(0)
    within, slide = program.queries[query, col.QUERY_WITHIN], program.queries[query, col.QUERY_SLIDE]
    if within:
        first = _oldest_window(time, within, slide)
        last = (time if program.queries[query, col.QUERY_SPAN] else start) // slide
    if first <= last:
        values = np.int64(-1)
        if _has_values(program, query):
            values = give(program, state, query, first, last, time)
        _write(state, query, node, number, first, last, values)


@inner
def _write(state, query, node, number, first, last, values):
    out, at = state.out, state.cursor[col.CURSOR_OUT]
    out[at, col.OUT_QUERY] = query
    out[at, col.OUT_NODE] = node
    out[at, col.OUT_ROW] = number
    out[at, col.OUT_WINDOW] = first
    out[at, col.OUT_LAST] = last
    out[at, col.OUT_KEY] = state.cursor[col.CURSOR_KEY]
    out[at, col.OUT_VALUES] = values
    state.cursor[col.CURSOR_OUT] = at + 1


@inner
def _wait(program, state, query, node, end):
    """Let a completion wait for what must not happen after it."""
    time, start = state.nodes[node, col.NODE_TIME], state.nodes[node, col.NODE_START]
    if not _is_in_span(program, query, start, time):
        return
    first = last = np.int64(0)
    within, slide = program.queries[query, col.QUERY_WITHIN], program.queries[query, col.QUERY_SLIDE]
    if within:
        first = _oldest_window(time, within, slide)
        last = (time if program.queries[query, col.QUERY_SPAN] else start) // slide
    if first > last:
        return
    at, waiting = state.cursor[col.CURSOR_WAITING], state.waiting
    waiting[at, col.WAIT_QUERY] = query
    waiting[at, col.WAIT_NODE] = node
    waiting[at, col.WAIT_CONDITION] = program.ends[end, col.END_CONDITION]
    waiting[at, col.WAIT_WINDOW] = first
    waiting[at, col.WAIT_LAST] = last
    waiting[at, col.WAIT_DEADLINE] = _deadline(program, query, time, first)
    state.cursor[col.CURSOR_DEADLINE] = min(state.cursor[col.CURSOR_DEADLINE], waiting[at, col.WAIT_DEADLINE])
    if _has_values(program, query):
        s, row = state.nodes[node, col.NODE_STATE], node - state.cursor[col.CURSOR_NEW]
        wait_with_totals(program, state, query, program.ends[end, col.END_VALUES], s, row, at)
    state.cursor[col.CURSOR_WAITING] = at + 1


@inner
def _deadline(program, query, time, window):
    """The last time of which events decide whether a completion is one in a window."""
    rest = _FOREVER
    wait, within = program.queries[query, col.QUERY_WAIT], program.queries[query, col.QUERY_WITHIN]
    if wait >= 0:
        rest = wait - 1
    if within and not program.queries[query, col.QUERY_SPAN]:
        rest = min(rest, within - 1 - (time - window * program.queries[query, col.QUERY_SLIDE]))
    if rest == _FOREVER or (time > 0 and rest > _FOREVER - time):
        return _FOREVER
    return time + rest


@inner
def _resolve(program, state, time):
    """Decide on what waits for no event after ``time``; returns whether that is done, or the output is full."""
    waiting, nodes, cursor = state.waiting, state.nodes, state.cursor
    room, count = len(state.out), cursor[col.CURSOR_WAITING]
    begin = end = 0
    for at in range(count):
        query, number = waiting[at, col.WAIT_QUERY], nodes[waiting[at, col.WAIT_NODE], col.NODE_ROW]
        if at == end:
            begin = at
            while end < count and nodes[waiting[end, col.WAIT_NODE], col.NODE_ROW] == number:
                end += 1
        is_first = True
        for w in range(begin, at):
            is_first &= waiting[w, col.WAIT_QUERY] != query
        while is_first:
            window, due = _FOREVER, False
            for w in range(at, end):
                if waiting[w, col.WAIT_QUERY] == query and _is_due(waiting, w, time):
                    window, due = min(window, waiting[w, col.WAIT_WINDOW]), True
            if not due:
                break
            has_values, values = _has_values(program, query), np.int64(-1)
            if cursor[col.CURSOR_OUT] == room or (has_values and cursor[col.CURSOR_VALUES] == len(state.values.high)):
                return False
            best = np.int64(-1)
            for w in range(at, end):
                is_its = waiting[w, col.WAIT_QUERY] == query and waiting[w, col.WAIT_WINDOW] == window
                if not is_its or not _is_due(waiting, w, time):
                    continue
                node, condition = waiting[w, col.WAIT_NODE], waiting[w, col.WAIT_CONDITION]
                if condition < 0 or _holds(program, state, condition, nodes[node, col.NODE_MOMENT]):
                    if has_values:
                        at_time = nodes[node, col.NODE_TIME]
                        values = give_waiting(program, state, query, w, window, at_time, best < 0)
                    if best < 0 or _ends_better(program, nodes, best, node):
                        best = node
                waiting[w, col.WAIT_WINDOW] = window + 1
                waiting[w, col.WAIT_DEADLINE] = _deadline(program, query, nodes[node, col.NODE_TIME], window + 1)
            if best >= 0:
                _write(state, query, best, number, window, window, values)
                cursor[col.CURSOR_VALUES] += has_values
    kept = 0
    deadline = _FOREVER
    for w in range(count):
        if waiting[w, col.WAIT_WINDOW] <= waiting[w, col.WAIT_LAST]:
            deadline = min(deadline, waiting[w, col.WAIT_DEADLINE])
            if kept != w:
                for column in range(waiting.shape[1]):
                    waiting[kept, column] = waiting[w, column]
                move_waiting(program, state, waiting[w, col.WAIT_QUERY], w, kept)
            kept += 1
    cursor[col.CURSOR_WAITING] = kept
    cursor[col.CURSOR_DEADLINE] = deadline
    return True


@inlined
def _is_due(waiting, w, time):
    """Whether it is known by now whether what waits is a completion in its next window."""
    return waiting[w, col.WAIT_WINDOW] <= waiting[w, col.WAIT_LAST] and waiting[w, col.WAIT_DEADLINE] <= time


@inner
def _holds(program, state, condition, since):
    """Whether a condition holds for an event at a moment: nothing forbidden has started after it and is complete."""
    begin, bits = program.conditions[condition, col.CONDITION_GUARDS], 0
    for g in range(begin, program.conditions[condition, col.CONDITION_GUARDS_END]):
        bits |= np.int64(state.broken[program.condition_guards[g]] <= since) << (g - begin)
    return program.condition_tables[program.conditions[condition, col.CONDITION_TABLE] + bits] != 0


@inner
def _forbid(program, state, event):
    """What an event of a class adds to forbidden trends; it waits until the moment is over."""
    rows = program.guard_states
    for r in range(program.guard_ends[event], program.guard_ends[event + 1]):
        latest = state.cursor[col.CURSOR_MOMENT] if rows[r, col.GUARD_STARTS] else _NEVER
        for g in range(rows[r, col.GUARD_SOURCES], rows[r, col.GUARD_SOURCES_END]):
            latest = max(latest, state.latest[0, program.guard_sources[g]])
        number = rows[r, col.GUARD_NUMBER]
        state.latest[1, number] = max(state.latest[1, number], latest)


@inner
def _cut(program, state, event):
    """Mark what leaves when the moment of an event of a class is over."""
    for c in range(program.cut_ends[event], program.cut_ends[event + 1]):
        s, condition = program.cuts[c, col.CUT_STATE], program.cuts[c, col.CUT_CONDITION]
        state.cursor[col.CURSOR_IS_CUT] = 1
        if condition < 0:
            state.is_cut[s] = 1
            continue
        for entry in range(state.counts[s]):
            if _holds(program, state, condition, state.lists[s, entry, col.ENTRY_MOMENT]):
                state.lists[s, entry, col.ENTRY_LEAVES] = 1


@inner
def _settle(program, state):
    """End the moment under way."""
    cursor, nodes = state.cursor, state.nodes
    rows = program.guard_states
    for r in range(len(rows)):
        number = rows[r, col.GUARD_NUMBER]
        latest = state.latest[1, number]
        if latest > _NEVER:
            state.latest[1, number] = _NEVER
            state.latest[0, number] = max(state.latest[0, number], latest)
            if rows[r, col.GUARD_BREAKS] >= 0:
                state.broken[rows[r, col.GUARD_BREAKS]] = max(state.broken[rows[r, col.GUARD_BREAKS]], latest)
    if cursor[col.CURSOR_IS_CUT]:
        _leave(program, state)
    first, end = cursor[col.CURSOR_NEW], cursor[col.CURSOR_NODES]
    if first == end:
        return
    if end - first > 1:
        _sort(program, state, first, end)
    else:
        state.order[0] = first
    for n in range(end - first):
        node = state.order[n]
        # Of nodes that nothing tells apart none is better.
        if n == 0 or _comes_before(program, nodes, state.order[n - 1], node):
            cursor[col.CURSOR_ORDER] += 1
        nodes[node, col.NODE_ORDER] = cursor[col.CURSOR_ORDER]
    cursor[col.CURSOR_TABLE] += 1
    for node in range(first, end):
        _insert(program, state, node)
    cursor[col.CURSOR_NEW] = end


@inner
def _leave(program, state):
    """Let go of what is marked."""
    for s in range(len(program.states)):
        kind = program.states[s, col.STATE_KIND]
        if kind > col.BEST:
            kept = 0
            for entry in range(0 if state.is_cut[s] else state.counts[s]):
                if not state.lists[s, entry, col.ENTRY_LEAVES]:
                    _move(program, state, s, entry, kept)
                    kept += 1
            state.cursor[col.CURSOR_LISTED] -= state.counts[s] - kept
            state.counts[s] = kept
        elif state.is_cut[s]:
            state.best[s] = -1
        state.is_cut[s] = 0
    state.cursor[col.CURSOR_IS_CUT] = 0


@inlined
def _move(program, state, s, entry, to):
    state.lists[s, to, col.ENTRY_NODE] = state.lists[s, entry, col.ENTRY_NODE]
    state.lists[s, to, col.ENTRY_MOMENT] = state.lists[s, entry, col.ENTRY_MOMENT]
    state.lists[s, to, col.ENTRY_LEAVES] = state.lists[s, entry, col.ENTRY_LEAVES]
    state.sources[s, to] = state.sources[s, entry]
    if to != entry:
        move_totals(program, state, s, entry, to)


@inner
def _sort(program, state, first, end):
    """Put the nodes of a moment in order: by their variables, then by the nodes before them."""
    order, count = state.order, end - first
    for n in range(count):
        order[n] = first + n
    gap = count // 2
    while gap > 0:
        for n in range(gap, count):
            node = order[n]
            at = n
            while at >= gap and _comes_before(program, state.nodes, node, order[at - gap]):
                order[at] = order[at - gap]
                at -= gap
            order[at] = node
        gap //= 2


@inner
def _comes_before(program, nodes, first, second):
    first_label = program.states[nodes[first, col.NODE_STATE], col.STATE_LABEL]
    second_label = program.states[nodes[second, col.NODE_STATE], col.STATE_LABEL]
    if first_label != second_label:
        return first_label < second_label
    if nodes[first, col.NODE_START] != nodes[second, col.NODE_START]:
        return nodes[first, col.NODE_START] < nodes[second, col.NODE_START]
    return _order_before(nodes, first) < _order_before(nodes, second)


@inner
def _insert(program, state, node):
    """Hold a node at its state from now on."""
    nodes = state.nodes
    s = nodes[node, col.NODE_STATE]
    kind = program.states[s, col.STATE_KIND]
    if kind == col.UNREAD:
        return
    row = node - state.cursor[col.CURSOR_NEW]
    if kind == col.BEST:
        hold(program, state, s, 0, row, state.best[s] < 0)
        state.best[s] = _better(nodes, state.best[s], node)
        return
    count, moment = state.counts[s], nodes[node, col.NODE_MOMENT]
    if kind == col.BUCKETS and count:
        last = state.lists[s, count - 1, col.ENTRY_MOMENT]
        if not _is_split(program, state, last, moment):
            state.lists[s, count - 1, col.ENTRY_NODE] = _better(nodes, state.lists[s, count - 1, col.ENTRY_NODE], node)
            hold(program, state, s, count - 1, row, False)
            return
        if count > len(program.guard_states) + 1:
            count = _merge(program, state, s)
    if kind == col.ANCHORED:
        many = np.int64(len(program.states))
        if state.tabled[s] != state.cursor[col.CURSOR_TABLE]:
            state.tabled[s] = state.cursor[col.CURSOR_TABLE]
            for entry in range(count):
                key = nodes[state.lists[s, entry, col.ENTRY_NODE], col.NODE_ANCHOR] * many + s
                _put(state, _place(state, key), key, entry)
        key = nodes[node, col.NODE_ANCHOR] * many + s
        at = _place(state, key)
        if state.anchors[col.ANCHOR_TABLE, at] == state.cursor[col.CURSOR_TABLE]:
            entry = state.anchors[col.ANCHOR_AT, at]
            state.lists[s, entry, col.ENTRY_NODE] = _better(nodes, state.lists[s, entry, col.ENTRY_NODE], node)
            hold(program, state, s, entry, row, False)
            return
        _put(state, at, key, count)
    hold(program, state, s, count, row, True)
    state.lists[s, count, col.ENTRY_NODE] = node
    state.lists[s, count, col.ENTRY_MOMENT] = moment
    state.lists[s, count, col.ENTRY_LEAVES] = 0
    state.sources[s, count] = nodes[node, col.NODE_FROM] if kind == col.ANCHORED else nodes[node, col.NODE_SOURCE]
    state.cursor[col.CURSOR_LISTED] += count + 1 - state.counts[s]
    state.counts[s] = count + 1


@inner
def _is_split(program, state, earlier, later):
    """Whether some guard state tells events at two moments apart."""
    for r in range(len(program.guard_states)):
        if earlier < state.latest[0, r] <= later:
            return True
    return False


@inner
def _merge(program, state, s):
    """Put buckets together that no guard state tells apart any more; returns how many are left."""
    kept = 0
    lists = state.lists
    for entry in range(1, state.counts[s]):
        if _is_split(program, state, lists[s, kept, col.ENTRY_MOMENT], lists[s, entry, col.ENTRY_MOMENT]):
            kept += 1
            if kept != entry:
                _move(program, state, s, entry, kept)
        else:
            lists[s, kept, col.ENTRY_NODE] = _better(
                state.nodes, lists[s, kept, col.ENTRY_NODE], lists[s, entry, col.ENTRY_NODE]
            )
            join_totals(program, state, s, entry, kept)
    state.cursor[col.CURSOR_LISTED] -= state.counts[s] - (kept + 1)
    state.counts[s] = kept + 1
    return kept + 1


@inner
def _compact(program, state):
    nodes, cursor, mark = state.nodes, state.cursor, state.order
    count, first_new = cursor[col.CURSOR_NODES], cursor[col.CURSOR_NEW]
    _forget(program, state)
    for node in range(count):
        mark[node] = 0 if node < first_new else _needed(program, state, node)
    for s in range(len(program.states)):
        if state.best[s] >= 0:
            mark[state.best[s]] = _needed(program, state, state.best[s])
        for entry in range(state.counts[s]):
            node = state.lists[s, entry, col.ENTRY_NODE]
            mark[node] = _needed(program, state, node)
    for w in range(cursor[col.CURSOR_WAITING]):
        node = state.waiting[w, col.WAIT_NODE]
        has_chain = program.states[nodes[node, col.NODE_STATE], col.STATE_CHAIN] != col.NO_CHAIN
        mark[node] = _AND_ALL_BEFORE if has_chain else _AND_ONE_BEFORE
    # The order of the node before may be asked of nodes of the moment under way and of those that wait.
    for n in range(count):
        node = count - 1 - n
        before = nodes[node, col.NODE_PREV]
        if before >= 0 and mark[node] == _AND_ALL_BEFORE:
            mark[before] = _AND_ALL_BEFORE
        elif before >= 0 and mark[node] == _AND_ONE_BEFORE:
            mark[before] = max(mark[before], _ALONE)
    kept = 0
    for node in range(count):
        if node == first_new:
            cursor[col.CURSOR_NEW] = kept
        if mark[node]:
            before = nodes[node, col.NODE_PREV]
            is_told = mark[node] > _ALONE
            for column in range(nodes.shape[1]):
                nodes[kept, column] = nodes[node, column]
            for r in range(state.registers.shape[1]):
                state.registers[kept, r] = state.registers[node, r]
            if before >= 0:
                nodes[kept, col.NODE_PREV] = mark[before] if is_told else -2
            mark[node] = kept
            kept += 1
        else:
            mark[node] = -1
    if first_new == count:
        cursor[col.CURSOR_NEW] = kept
    for s in range(len(program.states)):
        if state.best[s] >= 0:
            state.best[s] = mark[state.best[s]]
        for entry in range(state.counts[s]):
            state.lists[s, entry, col.ENTRY_NODE] = mark[state.lists[s, entry, col.ENTRY_NODE]]
    for w in range(cursor[col.CURSOR_WAITING]):
        state.waiting[w, col.WAIT_NODE] = mark[state.waiting[w, col.WAIT_NODE]]
    cursor[col.CURSOR_NODES] = kept
    return kept


@inner
def _needed(program, state, node):
    """What is needed of a node that is needed: all before it, if trends that are so long are shown whole."""
    chain = program.states[state.nodes[node, col.NODE_STATE], col.STATE_CHAIN]
    is_old = chain > 0 and np.uint64(state.cursor[col.CURSOR_TIME]) - np.uint64(
        state.nodes[node, col.NODE_START]
    ) >= np.uint64(chain)
    return _AND_ONE_BEFORE if chain == col.NO_CHAIN or is_old else _AND_ALL_BEFORE


@inner
def _forget(program, state):
    """Let go of nodes whose trends have begun too long ago for any query."""
    nodes, now = state.nodes, state.cursor[col.CURSOR_TIME]
    for s in range(len(program.states)):
        horizon = program.states[s, col.STATE_REACH]
        if horizon <= 0:
            continue
        best = state.best[s]
        if best >= 0 and np.uint64(now) - np.uint64(nodes[best, col.NODE_START]) >= np.uint64(horizon):
            state.best[s] = -1
        kept = 0
        for entry in range(state.counts[s]):
            start = nodes[state.lists[s, entry, col.ENTRY_NODE], col.NODE_START]
            if np.uint64(now) - np.uint64(start) < np.uint64(horizon):
                _move(program, state, s, entry, kept)
                kept += 1
        state.cursor[col.CURSOR_LISTED] -= state.counts[s] - kept
        state.counts[s] = kept
