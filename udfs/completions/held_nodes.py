"""The nodes that states hold: the best, or those that conditions tell apart, and those that leave."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.entry_totals import hold, join_totals, move_totals
from sparkext.udfs.completions.forbidden_trends import holds
from sparkext.udfs.completions.trend_nodes import better, place_of, put_at
from sparkext.udfs.jit.compiled import inlined, inner


@inner
def hold_node(program, state, node):
    """Hold a node at its state from now on."""
    nodes = state.nodes
    s = nodes[node, col.NODE_STATE]
    kind = program.states[s, col.STATE_KIND]
    if kind == col.UNREAD:
        return
    row = node - state.cursor[col.CURSOR_NEW]
    if kind == col.BEST:
        hold(program, state, s, 0, row, state.best[s] < 0)
        state.best[s] = better(nodes, state.best[s], node)
        return
    count, moment = state.counts[s], nodes[node, col.NODE_MOMENT]
    if kind == col.BUCKETS and count:
        last = state.lists[s, count - 1, col.ENTRY_MOMENT]
        if not _is_split(program, state, last, moment):
            state.lists[s, count - 1, col.ENTRY_NODE] = better(nodes, state.lists[s, count - 1, col.ENTRY_NODE], node)
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
                put_at(state, place_of(state, key), key, entry)
        key = nodes[node, col.NODE_ANCHOR] * many + s
        at = place_of(state, key)
        if state.anchors[col.ANCHOR_TABLE, at] == state.cursor[col.CURSOR_TABLE]:
            entry = state.anchors[col.ANCHOR_AT, at]
            state.lists[s, entry, col.ENTRY_NODE] = better(nodes, state.lists[s, entry, col.ENTRY_NODE], node)
            hold(program, state, s, entry, row, False)
            return
        put_at(state, at, key, count)
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
                move_entry(program, state, s, entry, kept)
        else:
            lists[s, kept, col.ENTRY_NODE] = better(
                state.nodes, lists[s, kept, col.ENTRY_NODE], lists[s, entry, col.ENTRY_NODE]
            )
            join_totals(program, state, s, entry, kept)
    state.cursor[col.CURSOR_LISTED] -= state.counts[s] - (kept + 1)
    state.counts[s] = kept + 1
    return kept + 1


@inner
def mark_cut(program, state, event):
    """Mark what leaves when the moment of an event of a class is over."""
    for c in range(program.cut_ends[event], program.cut_ends[event + 1]):
        s, condition = program.cuts[c, col.CUT_STATE], program.cuts[c, col.CUT_CONDITION]
        state.cursor[col.CURSOR_IS_CUT] = 1
        if condition < 0:
            state.is_cut[s] = 1
            continue
        for entry in range(state.counts[s]):
            if holds(program, state, condition, state.lists[s, entry, col.ENTRY_MOMENT]):
                state.lists[s, entry, col.ENTRY_LEAVES] = 1


@inner
def leave(program, state):
    """Let go of what is marked."""
    for s in range(len(program.states)):
        kind = program.states[s, col.STATE_KIND]
        if kind > col.BEST:
            kept = 0
            for entry in range(0 if state.is_cut[s] else state.counts[s]):
                if not state.lists[s, entry, col.ENTRY_LEAVES]:
                    move_entry(program, state, s, entry, kept)
                    kept += 1
            state.cursor[col.CURSOR_LISTED] -= state.counts[s] - kept
            state.counts[s] = kept
        elif state.is_cut[s]:
            state.best[s] = -1
        state.is_cut[s] = 0
    state.cursor[col.CURSOR_IS_CUT] = 0


@inlined
def move_entry(program, state, s, entry, to):
    state.lists[s, to, col.ENTRY_NODE] = state.lists[s, entry, col.ENTRY_NODE]
    state.lists[s, to, col.ENTRY_MOMENT] = state.lists[s, entry, col.ENTRY_MOMENT]
    state.lists[s, to, col.ENTRY_LEAVES] = state.lists[s, entry, col.ENTRY_LEAVES]
    state.sources[s, to] = state.sources[s, entry]
    if to != entry:
        move_totals(program, state, s, entry, to)
