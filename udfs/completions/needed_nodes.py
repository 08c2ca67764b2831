"""Which nodes are still needed, and the room that all others leave."""

from __future__ import annotations

import numpy as np

from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.held_nodes import move_entry
from sparkext.udfs.jit.compiled import inner

_ALONE, _AND_ONE_BEFORE, _AND_ALL_BEFORE = 1, 2, 3
"""What is kept with a node: itself, and nodes before it."""


@inner
def drop_unneeded(program, state):
    """Drop the nodes that nothing leads to; returns how many are left."""
    _forget(program, state)
    _mark_needed(program, state)
    kept = _move_up(state)
    mark = state.order
    for s in range(len(program.states)):
        if state.best[s] >= 0:
            state.best[s] = mark[state.best[s]]
        for entry in range(state.counts[s]):
            state.lists[s, entry, col.ENTRY_NODE] = mark[state.lists[s, entry, col.ENTRY_NODE]]
    for w in range(state.cursor[col.CURSOR_WAITING]):
        state.waiting[w, col.WAIT_NODE] = mark[state.waiting[w, col.WAIT_NODE]]
    return kept


@inner
def _mark_needed(program, state):
    """Note in ``State.order`` of each node what is kept with it (0: it is not needed)."""
    nodes, cursor, mark = state.nodes, state.cursor, state.order
    count = cursor[col.CURSOR_NODES]
    for node in range(count):
        mark[node] = 0 if node < cursor[col.CURSOR_NEW] else _needed(program, state, node)
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


@inner
def _move_up(state):
    """Move the nodes that are needed to the front, and note in ``State.order`` where each is; returns how many."""
    nodes, cursor, mark = state.nodes, state.cursor, state.order
    count, first_new, kept = cursor[col.CURSOR_NODES], cursor[col.CURSOR_NEW], 0
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
                move_entry(program, state, s, entry, kept)
                kept += 1
        state.cursor[col.CURSOR_LISTED] -= state.counts[s] - kept
        state.counts[s] = kept
