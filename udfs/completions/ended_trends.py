"""Trends that end: completions are written at once, or wait for what must not happen after them."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.entry_totals import end_totals, give, give_waiting, move_waiting, wait_with_totals
from sparkext.udfs.completions.forbidden_trends import holds
from sparkext.udfs.completions.trend_nodes import ends_better
from sparkext.udfs.jit.compiled import inlined, inner

_FOREVER = np.int64(col.FOREVER)


@inner
def end_at(program, state, s, node, touched):
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
        elif ends_better(program, nodes, held_node, node):
            chosen[0, query] = node
    return touched


@inlined
def _has_values(program, query):
    """Whether rows of a query have values that are added up."""
    return program.queries[query, col.QUERY_VALUES] < program.queries[query, col.QUERY_VALUES_END]


@inner
def complete(program, state, query, node, number, time):
    """Write a completion that need not wait."""
    first, last = _windows(program, query, state.nodes[node, col.NODE_START], time)
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
    time = state.nodes[node, col.NODE_TIME]
    first, last = _windows(program, query, state.nodes[node, col.NODE_START], time)
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
def resolve(program, state, time):
    """Decide on what waits for no event after ``time``; returns whether that is done, or the output is full."""
    waiting, nodes, count = state.waiting, state.nodes, state.cursor[col.CURSOR_WAITING]
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
        if is_first and not _resolve_event(program, state, query, at, end, time):
            return False
    _wait_on(program, state)
    return True


@inner
def _resolve_event(program, state, query, first, end, time):
    """Decide on one event for one query, which waits in some rows from ``first`` on; returns as `resolve` does."""
    waiting, nodes, cursor = state.waiting, state.nodes, state.cursor
    has_values = _has_values(program, query)
    while True:
        window, is_some_due = _FOREVER, False
        for w in range(first, end):
            if waiting[w, col.WAIT_QUERY] == query and _is_due(waiting, w, time):
                window, is_some_due = min(window, waiting[w, col.WAIT_WINDOW]), True
        if not is_some_due:
            return True
        if cursor[col.CURSOR_OUT] == len(state.out):
            return False
        if has_values and cursor[col.CURSOR_VALUES] == len(state.values.high):
            return False
        best = values = np.int64(-1)
        for w in range(first, end):
            is_its = waiting[w, col.WAIT_QUERY] == query and waiting[w, col.WAIT_WINDOW] == window
            if not is_its or not _is_due(waiting, w, time):
                continue
            node, condition = waiting[w, col.WAIT_NODE], waiting[w, col.WAIT_CONDITION]
            if condition < 0 or holds(program, state, condition, nodes[node, col.NODE_MOMENT]):
                if has_values:
                    values = give_waiting(program, state, query, w, window, nodes[node, col.NODE_TIME], best < 0)
                if best < 0 or ends_better(program, nodes, best, node):
                    best = node
            waiting[w, col.WAIT_WINDOW] = window + 1
            waiting[w, col.WAIT_DEADLINE] = _deadline(program, query, nodes[node, col.NODE_TIME], window + 1)
        if best >= 0:
            _write(state, query, best, nodes[waiting[first, col.WAIT_NODE], col.NODE_ROW], window, window, values)
            cursor[col.CURSOR_VALUES] += has_values


@inner
def _wait_on(program, state):
    """Leave what waits for no further window, and note when the next is decided."""
    waiting, kept, deadline = state.waiting, 0, _FOREVER
    for w in range(state.cursor[col.CURSOR_WAITING]):
        if waiting[w, col.WAIT_WINDOW] <= waiting[w, col.WAIT_LAST]:
            deadline = min(deadline, waiting[w, col.WAIT_DEADLINE])
            if kept != w:
                for column in range(waiting.shape[1]):
                    waiting[kept, column] = waiting[w, column]
                move_waiting(program, state, waiting[w, col.WAIT_QUERY], w, kept)
            kept += 1
    state.cursor[col.CURSOR_WAITING] = kept
    state.cursor[col.CURSOR_DEADLINE] = deadline


@inlined
def _is_due(waiting, w, time):
    """Whether it is known by now whether what waits is a completion in its next window."""
    return waiting[w, col.WAIT_WINDOW] <= waiting[w, col.WAIT_LAST] and waiting[w, col.WAIT_DEADLINE] <= time


@inner
def _windows(program, query, start, time):
    """The first and the last window of a query that have a trend from ``start`` to ``time``; the last is before the
    first if none has."""
    span = program.queries[query, col.QUERY_SPAN]
    if span and np.uint64(time) - np.uint64(start) >= np.uint64(span):
        return np.int64(0), np.int64(-1)
    within, slide = program.queries[query, col.QUERY_WITHIN], program.queries[query, col.QUERY_SLIDE]
    if not within:
        return np.int64(0), np.int64(0)
    newest = time // slide
    oldest = newest - (within - 1 - (time - newest * slide)) // slide
    return oldest, newest if span else start // slide
