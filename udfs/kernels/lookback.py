"""Looking back: what an event adds when its step depends on the event before.

What events added is recorded; then it is found again by rank in Fenwick trees, by intervals of ranks in segment and
range trees, or event by event.
"""

from __future__ import annotations

from sparkext.udfs.arithmetic.numbers import add_exact, add_scaled, is_before
from sparkext.udfs.arithmetic.totals import HUGE, NARROW, add_from, add_one, is_some
from sparkext.udfs.comparisons.interval_trees import add_intervals, put_in_intervals
from sparkext.udfs.comparisons.ranks import ASKED, ASKED_NODE, ASKED_OTHERS, ASKED_RANKS, LEAF, NODE, RANK, SIZE
from sparkext.udfs.comparisons.scan import find_matches
from sparkext.udfs.jit.compiled import inlined, inner
from sparkext.udfs.kernels.cuts import mark_taken
from sparkext.udfs.kernels.guard_buckets import holds
from sparkext.udfs.kernels.space_lanes import clear
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import EXACT, EXTREME, NEVER_YET, NUMBER


@inner
def forget_past(past):
    """Start with a new key, of which there are no events to look back to."""
    for history in range(len(past.rows)):
        past.rows[history, col.PAST_BEGIN] = past.rows[history, col.PAST_SEEN] = past.rows[history, col.PAST_END]


@inner
def look_back(program, state, guards, past, batch, row, u):
    """Add to an event's value what the events before hold that go with it."""
    for link in range(program.updates[u, col.UPDATE_LINKS], program.updates[u, col.UPDATE_LINKS_END]):
        tree = program.links[link, col.LINK_TREE]
        if tree >= 0 and program.trees[tree, col.TREE_INTERVALS]:
            add_intervals(program, state, past, row, u, tree)
        elif tree >= 0:
            _add_tree(program, state, past, row, u, tree)
        elif program.links[link, col.LINK_SCAN] >= 0:
            _add_matches(program, state, guards, past, batch, row, u, link)


@inner
def _add_tree(program, state, past, row, u, tree):
    """Add the events before of the first so many ranks of a Fenwick tree."""
    kind, window, at = (
        program.updates[u, col.UPDATE_KIND],
        program.updates[u, col.UPDATE_WINDOW],
        program.updates[u, col.UPDATE_AT],
    )
    opened = state.open[window]
    high, low, number = state.event.high, state.event.low, state.event.number
    node_high, node_low, node_number = past.nodes.high, past.nodes.low, past.nodes.number
    node_window = past.node_window
    term, lanes = program.trees[tree, col.TREE_TERM], program.trees[tree, col.TREE_LANES]
    # The number of a window is where its lane is, from another begin on.
    tags = past.window_at[tree] - past.node_at[tree]
    base = past.node_at[tree] + (past.ranks[term, row, ASKED_NODE] - 1) * lanes
    last = past.ranks[term, row, ASKED_RANKS]
    if program.windows[window, col.WINDOW_WITHIN] == 0 and kind != EXTREME:
        _add_nodes(kind, at, base, last, state.cursor, high, low, number, node_high, node_low, node_number)
        return
    for lane in range(opened[col.OPEN_LANE], opened[col.OPEN_LANE_END]):
        index = opened[col.OPEN_ORIGIN] + lane
        first, node = base + index % lanes, last
        if kind == EXACT:
            sum_high, sum_low = high[at + lane], low[at + lane]
            while node > 0:
                slot = first + node * lanes
                if node_window[tags + slot] == index:
                    sum_high, sum_low = add_exact(sum_high, sum_low, node_high[slot], node_low[slot])
                node &= node - 1
            high[at + lane], low[at + lane] = sum_high, sum_low
            state.cursor[col.CURSOR_WIDE] |= sum_high != 0 or sum_low < 0 or sum_low >= NARROW
        elif kind == NUMBER:
            total, scale = number[at + lane], low[at + lane]
            while node > 0:
                slot = first + node * lanes
                if node_window[tags + slot] == index:
                    total, scale = add_scaled(total, scale, node_number[slot], node_low[slot])
                node &= node - 1
            number[at + lane], low[at + lane] = total, scale
            state.cursor[col.CURSOR_SCALED] |= scale != 0 or not abs(total) < HUGE
        else:
            while node > 0:
                slot = first + node * lanes
                if node_window[tags + slot] == index and is_before(
                    node_high[slot], node_low[slot], high[at + lane], low[at + lane]
                ):
                    high[at + lane], low[at + lane] = node_high[slot], node_low[slot]
                node &= node - 1


@inlined
def _add_nodes(kind, at, base, node, cursor, high, low, number, node_high, node_low, node_number):
    """Add nodes of the only window there is; those that nothing was added to hold nothing."""
    if kind == EXACT:
        sum_high, sum_low = high[at], low[at]
        if cursor[col.CURSOR_WIDE]:
            while node > 0:
                sum_high, sum_low = add_exact(sum_high, sum_low, node_high[base + node], node_low[base + node])
                node &= node - 1
        else:
            while node > 0:
                sum_low += node_low[base + node]
                node &= node - 1
        high[at], low[at] = sum_high, sum_low
        cursor[col.CURSOR_WIDE] |= sum_high != 0 or sum_low < 0 or sum_low >= NARROW
    else:
        total, scale = number[at], low[at]
        while node > 0:
            total, scale = add_scaled(total, scale, node_number[base + node], node_low[base + node])
            node &= node - 1
        number[at], low[at] = total, scale
        cursor[col.CURSOR_SCALED] |= scale != 0 or not abs(total) < HUGE


@inner
def _add_matches(program, state, guards, past, batch, row, u, link):
    """Add the events before that the comparison of a link lets through, one by one."""
    kind, window, at = (
        program.updates[u, col.UPDATE_KIND],
        program.updates[u, col.UPDATE_WINDOW],
        program.updates[u, col.UPDATE_AT],
    )
    opened, event = state.open[window], state.event
    scan, history = program.links[link, col.LINK_SCAN], program.links[link, col.LINK_HISTORY]
    match_count = match(program, state, guards, past, batch, row, scan)
    width = program.histories[history, col.HISTORY_LANES] * program.histories[history, col.HISTORY_CELLS]
    oldest, newest = (
        opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE],
        opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE_END] - 1,
    )
    for n in range(match_count):
        entry = past.matches[scan, n]
        first = past.first[entry]
        begin, end = max(oldest, first), min(newest, first + past.windows[entry] - 1) + 1
        row_at = past.value_at[history] + (entry - past.rows[history, col.PAST_FIRST]) * width
        lane_at = row_at + program.links[link, col.LINK_LANES] - first
        to = at - opened[col.OPEN_ORIGIN]
        add_from(
            kind,
            to + begin,
            to + end,
            lane_at - to,
            state.cursor,
            event.high,
            event.low,
            event.number,
            past.values.high,
            past.values.low,
            past.values.number,
        )


@inner
def match(program, state, guards, past, batch, row, scan):
    """Find the events before that match the event at hand, unless that has been done; returns how many there are."""
    if past.matched[scan, 0] != row:
        past.matched[scan, 0] = row
        past.matched[scan, 1] = _find(program, state, guards, past, batch, row, scan)
    return past.matched[scan, 1]


@inner
def _find(program, state, guards, past, batch, row, scan):
    """Find the events before that match the event at hand; returns how many there are."""
    link, history = program.scans[scan, col.SCAN_LINK], program.scans[scan, col.SCAN_HISTORY]
    opened = state.open[program.histories[history, col.HISTORY_WINDOW]]
    begin, end = past.rows[history, col.PAST_BEGIN], past.rows[history, col.PAST_SEEN]
    while begin < end and past.first[begin] + past.windows[begin] <= opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE]:
        begin += 1
    past.rows[history, col.PAST_BEGIN] = begin
    if program.scans[scan, col.SCAN_TERM] < program.scans[scan, col.SCAN_TERM_END]:
        return _find_ranked(program, past, row, scan, begin, end)
    code = program.code[program.scans[scan, col.SCAN_BEGIN] : program.scans[scan, col.SCAN_END]]
    match_count = find_matches(code, batch, row, past.source, begin, end, past.matches[scan], past.registers)
    if guards is not None:
        kept = 0
        for match in range(match_count):
            entry = past.matches[scan, match]
            if holds(program, guards, link, past.time[entry]):
                past.matches[scan, kept] = entry
                kept += 1
        match_count = kept
        mark_taken(program, guards, past, scan, match_count)
    return match_count


@inner
def _find_ranked(program, past, row, scan, begin, end):
    """Find the events of some entries whose ranks match, by one of the terms; these are disjoint."""
    match_count, matches, source = 0, past.matches[scan], past.source
    for term in range(program.scans[scan, col.SCAN_TERM], program.scans[scan, col.SCAN_TERM_END]):
        ranks = past.ranks[term]
        if past.shapes[term, col.LEAVES]:
            for n in range(ranks[row, ASKED], ranks[row, ASKED_OTHERS]):
                first, last = past.intervals[n, 0], past.intervals[n, 1]
                for at in range(begin, end):
                    if first <= ranks[source[at], LEAF] < last:
                        matches[match_count] = at
                        match_count += 1
        elif ranks[row, ASKED_NODE] >= 0:
            node, below = ranks[row, ASKED_NODE], ranks[row, ASKED_RANKS]
            for at in range(begin, end):
                if ranks[source[at], NODE] == node and ranks[source[at], RANK] < below:
                    matches[match_count] = at
                    match_count += 1
    return match_count


@inner
def record(program, state, past, matched, class_count, row, time):
    """Note what an event added to cells that comparisons reach back to, unless it is nothing."""
    updates, event = program.updates, state.event
    for m in range(class_count):
        for h in range(program.history_ends[matched[m]], program.history_ends[matched[m] + 1]):
            lanes, cells = program.histories[h, col.HISTORY_LANES], program.histories[h, col.HISTORY_CELLS]
            begin, opened = (
                program.histories[h, col.HISTORY_BEGIN],
                state.open[program.histories[h, col.HISTORY_WINDOW]],
            )
            windows = opened[col.OPEN_LANE_END] - opened[col.OPEN_LANE]
            entry = past.rows[h, col.PAST_END]
            at = past.value_at[h] + (entry - past.rows[h, col.PAST_FIRST]) * cells * lanes
            some = False
            for c in range(cells):
                u = program.history_cells[begin + c]
                if u < 0:
                    clear(-1 - u, at + c * lanes, at + c * lanes + windows, past.values.high, past.values.low)
                    continue
                for lane in range(windows):
                    event_slot, value_slot = (
                        updates[u, col.UPDATE_AT] + opened[col.OPEN_LANE] + lane,
                        at + c * lanes + lane,
                    )
                    past.values.high[value_slot] = event.high[event_slot]
                    past.values.low[value_slot] = event.low[event_slot]
                    some |= updates[u, col.UPDATE_KIND] != EXTREME and is_some(
                        updates[u, col.UPDATE_KIND],
                        event.high[event_slot],
                        event.low[event_slot],
                        event.number[event_slot],
                    )
            if some:
                past.time[entry], past.source[entry] = time, row
                past.first[entry], past.windows[entry] = opened[col.OPEN_ORIGIN] + opened[col.OPEN_LANE], windows
                past.rows[h, col.PAST_END] = entry + 1
                past.unseen[0] = 1


@inner
def refill_trees(program, past):
    """Insert what is known into trees that were made again.

    Where a node holds one total, events are added to the node of their rank alone, and nodes to those they are
    under at last: as many steps as there are events and nodes, where one event at a time takes a logarithm more.
    """
    for h in range(len(program.histories)):
        for feed in range(program.feed_ends[h], program.feed_ends[h + 1]):
            for entry in range(past.rows[h, col.PAST_BEGIN], past.rows[h, col.PAST_SEEN]):
                _insert(program, past, h, feed, entry, True)
    for h in range(len(program.histories)):
        for feed in range(program.feed_ends[h], program.feed_ends[h + 1]):
            if _one_total(program, h, feed):
                for entry in range(past.rows[h, col.PAST_BEGIN], past.rows[h, col.PAST_SEEN]):
                    _add_up(program, past, feed, past.source[entry])


@inner
def insert_into_trees(program, past):
    """Make recorded events seen that are at the latest time."""
    for h in range(len(program.histories)):
        for feed in range(program.feed_ends[h], program.feed_ends[h + 1]):
            for entry in range(past.rows[h, col.PAST_SEEN], past.rows[h, col.PAST_END]):
                _insert(program, past, h, feed, entry, False)
        past.rows[h, col.PAST_SEEN] = past.rows[h, col.PAST_END]
    past.unseen[0] = 0


@inlined
def _one_total(program, h, feed):
    """Whether a node of the Fenwick tree of a feed holds one total, that of the only window there is."""
    tree = program.trees[program.feeds[feed, col.FEED_TREE]]
    only = program.windows[program.histories[h, col.HISTORY_WINDOW], 0] == 0
    return only and tree[col.TREE_KIND] != EXTREME and not tree[col.TREE_INTERVALS]


@inner
def _add_up(program, past, feed, source):
    """Add each node of the tree that an event is in to the next above it, unless that has been done."""
    tree = program.feeds[feed, col.FEED_TREE]
    term, kind = program.trees[tree, col.TREE_TERM], program.trees[tree, col.TREE_KIND]
    base, size = past.ranks[term, source, NODE], past.ranks[term, source, SIZE]
    if base < 0:
        return
    first = past.node_at[tree] + base - 1
    # A node of one total has no other use for the number of a window.
    if past.node_window[past.window_at[tree] + base] != NEVER_YET:
        return
    past.node_window[past.window_at[tree] + base] = 0
    high, low, number = past.nodes.high, past.nodes.low, past.nodes.number
    for node in range(1, size + 1):
        slot, above = first + node, node + (node & -node)
        if above <= size:
            slot_above = first + above
            if kind == EXACT:
                high[slot_above], low[slot_above] = add_exact(high[slot_above], low[slot_above], high[slot], low[slot])
            else:
                number[slot_above], low[slot_above] = add_scaled(
                    number[slot_above], low[slot_above], number[slot], low[slot]
                )


@inner
def _insert(program, past, h, feed, entry, alone):
    """Add a recorded event to the nodes of a tree that its rank is under.

    ``alone``: only to the node of its rank, where nodes of a Fenwick tree hold one total.
    """
    tree = program.feeds[feed, col.FEED_TREE]
    term, lanes, kind = (
        program.trees[tree, col.TREE_TERM],
        program.trees[tree, col.TREE_LANES],
        program.trees[tree, col.TREE_KIND],
    )
    high, low, number = past.nodes.high, past.nodes.low, past.nodes.number
    node_window, source = past.node_window, past.source[entry]
    width = lanes * program.histories[h, col.HISTORY_CELLS]
    values = past.value_at[h] + (entry - past.rows[h, col.PAST_FIRST]) * width + program.feeds[feed, col.FEED_LANES]
    if program.trees[tree, col.TREE_INTERVALS]:
        put_in_intervals(program, past, tree, entry, values)
        return
    base, size = past.ranks[term, source, NODE], past.ranks[term, source, SIZE]
    if base < 0:
        return
    tags = past.window_at[tree] - past.node_at[tree]
    if _one_total(program, h, feed):
        first = past.node_at[tree] + base - 1
        more_high, more_low, more_number = past.values.high[values], past.values.low[values], past.values.number[values]
        node = past.ranks[term, source, RANK] + 1
        while node <= size:
            slot = first + node
            if kind == EXACT:
                high[slot], low[slot] = add_exact(high[slot], low[slot], more_high, more_low)
            elif alone and number[slot] == 0.0:
                # Foreseen by the processor, which goes on to the next event while it waits for this node.
                number[slot], low[slot] = more_number, more_low
            else:
                number[slot], low[slot] = add_scaled(number[slot], low[slot], more_number, more_low)
            node = size + 1 if alone else node + (node & -node)
        return
    for lane in range(past.windows[entry]):
        index = past.first[entry] + lane
        first = past.node_at[tree] + (base - 1) * lanes + index % lanes
        more_high, more_low = past.values.high[values + lane], past.values.low[values + lane]
        more_number = past.values.number[values + lane]
        node = past.ranks[term, source, RANK] + 1
        while node <= size:
            slot = first + node * lanes
            if node_window[tags + slot] < index:
                node_window[tags + slot] = index
                high[slot], low[slot] = more_high, more_low
            elif node_window[tags + slot] > index:
                pass  # trees made again are fed history by history, so not by time: the window has ended
            else:
                add_one(kind, slot, high, low, number, more_high, more_low, more_number)
            node += node & -node
