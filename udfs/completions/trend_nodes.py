"""Nodes of completions: an event that takes part, after the node before it, and which of two is better.

Nodes of a moment get their order when it is over: by their variables, then by the order of the nodes before them.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.jit.compiled import inlined, inner

_FOREVER = np.int64(col.FOREVER)


@inlined
def write_node(program, state, s, before, row, base, time):
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
    fill_node(program, state, s, node, before, row + base)
    return node


@inner
def fill_node(program, state, s, node, before, number):
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


@inlined
def better(nodes, first, second):
    """The better of two nodes of different moments or whose order is known; -1 is worse than any."""
    if first < 0 or second < 0:
        return max(first, second)
    if nodes[second, col.NODE_START] != nodes[first, col.NODE_START]:
        return second if nodes[second, col.NODE_START] > nodes[first, col.NODE_START] else first
    return second if nodes[second, col.NODE_ORDER] > nodes[first, col.NODE_ORDER] else first


@inner
def ends_better(program, nodes, first, second):
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


@inner
def order_nodes(program, state, first, end):
    """Give the nodes of a moment their order among all nodes of the key."""
    nodes, cursor = state.nodes, state.cursor
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


@inlined
def place_of(state, key):
    """Where a key is in the table of anchors under way, or may be put."""
    anchors = state.anchors
    mask = np.int64(anchors.shape[1] - 1)
    at = (key * 40503) & mask
    while anchors[col.ANCHOR_TABLE, at] == state.cursor[col.CURSOR_TABLE] and anchors[col.ANCHOR_KEY, at] != key:
        at = (at + 1) & mask
    return at


@inlined
def put_at(state, at, key, where):
    """Put a key into the table of anchors."""
    state.anchors[col.ANCHOR_KEY, at] = key
    state.anchors[col.ANCHOR_AT, at] = where
    state.anchors[col.ANCHOR_TABLE, at] = state.cursor[col.CURSOR_TABLE]
