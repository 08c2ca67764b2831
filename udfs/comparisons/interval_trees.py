"""Segment and range trees: what the events before hold whose leaves are in some intervals.

Each node holds what the events below it hold, per lane. Nodes are added up and never taken away from each other: sums
of doubles would lose what is small beside what is large, counts that stuck could not come back, and extremes have no
inverse. A segment tree of n leaves has node n + p for leaf p, and node k above 2k and 2k + 1. `range_tree` says
what a range tree is; the node of a leaf on its level 0 has the number of the leaf.

Which nodes an event asks for is found once for all that is kept of the same events.
"""

from __future__ import annotations

import numpy as np

from sparkext.udfs.arithmetic.totals import HUGE, NARROW, add_one
from sparkext.udfs.comparisons.range_tree import FANOUT, GROUP, nodes_of_level
from sparkext.udfs.comparisons.ranks import ASKED, ASKED_END, ASKED_OTHERS, LEAF, LEVELS
from sparkext.udfs.jit.compiled import inlined, inner
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, NUMBER


@inner
def add_intervals(program, state, past, row, u, tree):
    """Add to an event's value what a tree holds in the intervals that it asks for."""
    asked = program.trees[tree]
    term, kind, window = asked[col.TREE_TERM], asked[col.TREE_KIND], asked[col.TREE_WINDOW]
    if past.asking[term, 0] != row:
        past.asking[term, 0] = row
        past.asking[term, 1] = find_nodes(
            past.ranks[term, row], past.intervals, past.shapes[term], past.order, past.sorted, past.asked_nodes[term]
        )
    count = past.asking[term, 1]
    lanes, opened = program.trees[tree, col.TREE_LANES], state.open[window]
    only = program.windows[window, col.WINDOW_WITHIN] == 0
    base, tags = past.node_at[tree], past.window_at[tree]
    begin, end = (
        program.updates[u, col.UPDATE_AT] + opened[col.OPEN_LANE],
        program.updates[u, col.UPDATE_AT] + opened[col.OPEN_LANE_END],
    )
    high, low, number = state.event.high, state.event.low, state.event.number
    node_high, node_low, node_number = past.nodes.high, past.nodes.low, past.nodes.number
    if only and kind == EXACT and not state.cursor[col.CURSOR_WIDE]:
        # While all counts of a key are narrow, so are those of nodes, and a sum of some in one word.
        for n in range(count):
            low[begin] += node_low[base + past.asked_nodes[term, n]]
    elif only:
        for n in range(count):
            slot = base + past.asked_nodes[term, n]
            add_one(kind, begin, high, low, number, node_high[slot], node_low[slot], node_number[slot])
    else:
        for n in range(count):
            first = past.asked_nodes[term, n] * lanes
            for lane in range(begin, end):
                index = opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE] + lane - begin
                if past.node_window[tags + first + index % lanes] == index:
                    slot = base + first + index % lanes
                    add_one(kind, lane, high, low, number, node_high[slot], node_low[slot], node_number[slot])
    if kind == EXACT:
        for slot in range(begin, end):
            state.cursor[col.CURSOR_WIDE] |= high[slot] != 0 or low[slot] < 0 or low[slot] >= NARROW
    elif kind == NUMBER:
        for slot in range(begin, end):
            state.cursor[col.CURSOR_SCALED] |= low[slot] != 0 or not abs(number[slot]) < HUGE


@inner
def find_nodes(asked, intervals, shape, order, by_order, nodes):
    """Find the nodes that cover what an event asks for.

    Args:
        asked: Its row of ``Past.ranks``.
        intervals: `sparkext.udfs.tables.program.Past`.
        shape: The row of ``Past.shapes``.
        order, by_order: `sparkext.udfs.tables.program.Past`.
        nodes: The nodes are written here, counted from the first of the tree.

    Returns:
        How many there are.
    """
    count = np.int64(0)
    for n in range(asked[ASKED], asked[ASKED_OTHERS]):
        begin, end = intervals[n, 0], intervals[n, 1]
        if shape[col.TREE_LEVELS] == 0:
            count = _cover(nodes, count, 0, shape[col.LEAVES], begin, end)
            continue
        for m in range(asked[ASKED_OTHERS], asked[ASKED_END]):
            count = _cover_blocks(nodes, count, shape, order, by_order, begin, end, intervals[m, 0], intervals[m, 1])
    return count


@inlined
def _cover(nodes, count, first, leaves, begin, end):
    """Find the nodes of a segment tree, which begins at the node ``first``, over its leaves ``begin``..``end``."""
    begin, end = begin + leaves, end + leaves
    while begin < end:
        if begin & 1:
            nodes[count] = first + begin
            count += 1
            begin += 1
        if end & 1:
            end -= 1
            nodes[count] = first + end
            count += 1
        begin, end = begin >> 1, end >> 1
    return count


@inner
def _cover_blocks(nodes, count, shape, order, by_order, begin, end, lower, upper):
    """Find the nodes of a range tree over leaves ``begin``..``end`` and ranks ``lower``..``upper``."""
    size, wider, last = 1, FANOUT, shape[col.TREE_LEVELS] - 1
    for level in range(shape[col.TREE_LEVELS]):
        while begin < end:
            # Blocks of a wider one that is not all inside, first those at the begin and then those at the end.
            if begin % wider != 0 or level == last:
                block = begin
                begin += size
            elif end % wider != 0:
                end -= size
                block = end
            else:
                break
            at = shape[col.LAYOUT_AT] + level * shape[col.LEAVES] + block
            if level == 0:
                if order[at] >= lower and order[at] < upper:
                    nodes[count] = block
                    count += 1
            else:
                some, more = _ranks_below(order, at, size, lower), _ranks_below(order, at, size, upper)
                first, last = (some + GROUP - 1) // GROUP, more // GROUP
                if first < last:
                    node = shape[col.LEAVES] + (level - 1) * nodes_of_level(shape[col.LEAVES]) + 2 * block // GROUP
                    count = _cover(nodes, count, node, size // GROUP, first, last)
                for slot in range(some, first * GROUP if first < last else more):
                    nodes[count] = by_order[at + slot]
                    count += 1
                for slot in range(last * GROUP if first < last else more, more):
                    nodes[count] = by_order[at + slot]
                    count += 1
        size, wider = wider, wider * FANOUT
    return count


@inlined
def _ranks_below(order, begin, size, rank):
    """How many of the ranks of a block are less than another."""
    low, high = np.int64(0), np.int64(size)
    if order[begin] >= rank:
        return low
    if order[begin + size - 1] < rank:
        return high
    while low < high:
        middle = (low + high) // 2
        if order[begin + middle] < rank:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def put_in_intervals(program, past, tree, entry, values):
    """Add a recorded event, whose lanes begin at ``values``, to the nodes of a tree that it is below."""
    term, lanes = program.trees[tree, col.TREE_TERM], program.trees[tree, col.TREE_LANES]
    only = program.windows[program.trees[tree, col.TREE_WINDOW], 0] == 0
    windows, first = (0, 0) if only else (past.windows[entry], past.first[entry])
    _put(
        program.trees[tree, col.TREE_KIND],
        past.ranks[term, past.source[entry]],
        past.shapes[term],
        past.slots,
        lanes,
        first,
        windows,
        past.node_at[tree],
        past.window_at[tree],
        values,
        past.nodes,
        past.node_window,
        past.values,
    )


@inner
def _put(kind, stands, shape, slots, lanes, first, windows, base, tags, values, nodes, node_window, of):
    """Add a recorded event to nodes; ``windows`` is 0 where there is one window only."""
    at, leaves = stands[LEAF], shape[col.LEAVES]
    if at < 0:
        return
    if shape[col.TREE_LEVELS] == 0:
        node = at + leaves
        for _ in range(stands[LEVELS]):
            _put_node(kind, node, lanes, first, windows, base, tags, values, nodes, node_window, of)
            node >>= 1
        return
    _put_node(kind, at, lanes, first, windows, base, tags, values, nodes, node_window, of)
    size = np.int64(1)
    for level in range(1, stands[LEVELS]):
        size *= FANOUT
        begin = at // size * size
        if begin + size > leaves:
            return
        node = (slots[shape[col.LAYOUT_AT] + level * leaves + at] + size) // GROUP
        block = leaves + (level - 1) * nodes_of_level(leaves) + 2 * begin // GROUP
        while node > 0:
            _put_node(kind, block + node, lanes, first, windows, base, tags, values, nodes, node_window, of)
            node >>= 1


@inlined
def _put_node(kind, node, lanes, first, windows, base, tags, values, nodes, node_window, of):
    """Add a recorded event to one node."""
    high, low, number = nodes.high, nodes.low, nodes.number
    slot = base + node * lanes
    if windows == 0:
        add_one(kind, slot, high, low, number, of.high[values], of.low[values], of.number[values])
        return
    for lane in range(windows):
        index, value = first + lane, values + lane
        lane_slot, window = slot + index % lanes, tags + node * lanes + index % lanes
        if node_window[window] < index:
            node_window[window] = index
            high[lane_slot], low[lane_slot] = of.high[value], of.low[value]
        elif node_window[window] == index:
            add_one(kind, lane_slot, high, low, number, of.high[value], of.low[value], of.number[value])
