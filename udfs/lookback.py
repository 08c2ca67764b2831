"""Looking back: what an event adds when its step depends on the event before.

What events added is recorded; then it is found again by rank in Fenwick trees, or event by event.
"""

from __future__ import annotations

from udfs.compiled import inlined, inner, kernel
from udfs.guards import holds
from udfs.numbers import add_exact, add_scaled, is_before
from udfs.program import EXACT, EXTREME, NEVER_YET, NUMBER
from udfs.scan import find_matches
from udfs.totals import HUGE, NARROW, add_from, is_some


@inner
def forget_past(past):  # type: ignore[no-untyped-def]
    """Start with a new key, of which there are no events to look back to."""
    for history in range(len(past.rows)):
        past.rows[history, 2] = past.rows[history, 4] = past.rows[history, 3]


@inlined
def look_back(program, state, guards, past, batch, row, u):  # type: ignore[no-untyped-def]
    """Add to an event's value what the events before hold that go with it."""
    for link in range(program.updates[u, 13], program.updates[u, 14]):
        if program.links[link, 5] >= 0:
            _add_tree(program, state, past, row, u, link)
        elif program.links[link, 6] >= 0:
            _add_matches(program, state, guards, past, batch, row, u, link)


@inlined
def _add_tree(program, state, past, row, u, link):  # type: ignore[no-untyped-def]
    """Add the events before that the comparison of a link lets through, by their ranks."""
    kind, window, at = program.updates[u, 0], program.updates[u, 1], program.updates[u, 2]
    opened = state.open[window]
    high, low, number = state.event.high, state.event.low, state.event.number
    node_high, node_low, node_number = past.nodes.high, past.nodes.low, past.nodes.number
    node_window = past.node_window
    tree, comparison = program.links[link, 5], program.links[link, 4]
    lanes = program.trees[tree, 1]
    base = past.node_at[tree] + (past.ranks[comparison, row, 3] - 1) * lanes
    last = past.ranks[comparison, row, 4]
    if program.windows[window, 0] == 0 and kind != EXTREME:
        _add_nodes(kind, at, base, last, state.cursor, high, low, number, node_high, node_low, node_number)
        return
    for lane in range(opened[3], opened[4]):
        index = opened[0] + lane
        first, node = base + index % lanes, last
        if kind == EXACT:
            sum_high, sum_low = high[at + lane], low[at + lane]
            while node > 0:
                there = first + node * lanes
                if node_window[there] == index:
                    sum_high, sum_low = add_exact(sum_high, sum_low, node_high[there], node_low[there])
                node &= node - 1
            high[at + lane], low[at + lane] = sum_high, sum_low
            state.cursor[6] |= sum_high != 0 or sum_low < 0 or sum_low >= NARROW
        elif kind == NUMBER:
            total, scale = number[at + lane], low[at + lane]
            while node > 0:
                there = first + node * lanes
                if node_window[there] == index:
                    total, scale = add_scaled(total, scale, node_number[there], node_low[there])
                node &= node - 1
            number[at + lane], low[at + lane] = total, scale
            state.cursor[7] |= scale != 0 or not abs(total) < HUGE
        else:
            while node > 0:
                there = first + node * lanes
                if node_window[there] == index and is_before(
                    node_high[there], node_low[there], high[at + lane], low[at + lane]
                ):
                    high[at + lane], low[at + lane] = node_high[there], node_low[there]
                node &= node - 1


@inlined
def _add_nodes(kind, at, base, node, cursor, high, low, number, node_high, node_low, node_number):  # type: ignore[no-untyped-def]
    """Add nodes of the only window there is; those that nothing was added to hold nothing."""
    if kind == EXACT:
        sum_high, sum_low = high[at], low[at]
        if cursor[6]:
            while node > 0:
                sum_high, sum_low = add_exact(sum_high, sum_low, node_high[base + node], node_low[base + node])
                node &= node - 1
        else:
            while node > 0:
                sum_low += node_low[base + node]
                node &= node - 1
        high[at], low[at] = sum_high, sum_low
        cursor[6] |= sum_high != 0 or sum_low < 0 or sum_low >= NARROW
    else:
        total, scale = number[at], low[at]
        while node > 0:
            total, scale = add_scaled(total, scale, node_number[base + node], node_low[base + node])
            node &= node - 1
        number[at], low[at] = total, scale
        cursor[7] |= scale != 0 or not abs(total) < HUGE


@inner
def _add_matches(program, state, guards, past, batch, row, u, link):  # type: ignore[no-untyped-def]
    """Add the events before that the comparison of a link lets through, one by one."""
    kind, window, at = program.updates[u, 0], program.updates[u, 1], program.updates[u, 2]
    opened, event = state.open[window], state.event
    scan, history = program.links[link, 6], program.links[link, 7]
    if past.matched[scan, 0] != row:
        past.matched[scan, 0] = row
        past.matched[scan, 1] = _find(program, state, guards, past, batch, row, scan)
    width = program.histories[history, 1] * program.histories[history, 2]
    oldest, newest = opened[0] + opened[3], opened[0] + opened[4] - 1
    for match in range(past.matched[scan, 1]):
        place = past.matches[scan, match]
        first = past.first[place]
        begin, end = max(oldest, first), min(newest, first + past.windows[place] - 1) + 1
        there = past.value_at[history] + (place - past.rows[history, 0]) * width + program.links[link, 8] - first
        to = at - opened[0]
        add_from(
            kind,
            to + begin,
            to + end,
            there - to,
            state.cursor,
            event.high,
            event.low,
            event.number,
            past.values.high,
            past.values.low,
            past.values.number,
        )


@inner
def _find(program, state, guards, past, batch, row, scan):  # type: ignore[no-untyped-def]
    """Find the events before that match the event at hand; returns how many there are."""
    link, history = program.scans[scan, 0], program.scans[scan, 1]
    opened = state.open[program.histories[history, 0]]
    begin, end = past.rows[history, 2], past.rows[history, 4]
    while begin < end and past.first[begin] + past.windows[begin] <= opened[0] + opened[3]:
        begin += 1
    past.rows[history, 2] = begin
    code = program.code[program.scans[scan, 2] : program.scans[scan, 3]]
    found = find_matches(code, batch, row, past.source, begin, end, past.matches[scan])
    if guards is not None:
        kept = 0
        for match in range(found):
            place = past.matches[scan, match]
            if holds(program, guards, link, past.time[place]):
                past.matches[scan, kept] = place
                kept += 1
        found = kept
    return found


@inlined
def record(program, state, past, matched, found, row, time):  # type: ignore[no-untyped-def]
    """Note what an event added to cells that comparisons reach back to, unless it is nothing."""
    updates, event = program.updates, state.event
    for m in range(found):
        for h in range(program.history_ends[matched[m]], program.history_ends[matched[m] + 1]):
            window, lanes, cells = program.histories[h, 0], program.histories[h, 1], program.histories[h, 2]
            begin, opened = program.histories[h, 3], state.open[window]
            windows = opened[4] - opened[3]
            place = past.rows[h, 3]
            at = past.value_at[h] + (place - past.rows[h, 0]) * cells * lanes
            some = False
            for c in range(cells):
                u = program.history_cells[begin + c]
                for lane in range(windows):
                    here, there = updates[u, 2] + opened[3] + lane, at + c * lanes + lane
                    past.values.high[there] = event.high[here]
                    past.values.low[there] = event.low[here]
                    some |= updates[u, 0] != EXTREME and is_some(
                        updates[u, 0], event.high[here], event.low[here], event.number[here]
                    )
            if some:
                past.time[place], past.source[place] = time, row
                past.first[place], past.windows[place] = opened[0] + opened[3], windows
                past.rows[h, 3] = place + 1
                past.unseen[0] = 1


@kernel
def refill_trees(program, past):  # type: ignore[no-untyped-def]
    """Insert what is known into trees that were made again.

    Where a node holds one total, events are added to the node of their rank alone, and nodes to those they are
    under at last: as many steps as there are events and nodes, where one event at a time takes a logarithm more.
    """
    for h in range(len(program.histories)):
        for feed in range(program.feed_ends[h], program.feed_ends[h + 1]):
            for place in range(past.rows[h, 2], past.rows[h, 4]):
                _insert(program, past, h, feed, place, True)
    for h in range(len(program.histories)):
        for feed in range(program.feed_ends[h], program.feed_ends[h + 1]):
            if _one_total(program, h, feed):
                for place in range(past.rows[h, 2], past.rows[h, 4]):
                    _add_up(program, past, feed, past.source[place])


@inlined
def insert_into_trees(program, past):  # type: ignore[no-untyped-def]
    """Make recorded events seen that are at the latest time."""
    for h in range(len(program.histories)):
        for feed in range(program.feed_ends[h], program.feed_ends[h + 1]):
            for place in range(past.rows[h, 4], past.rows[h, 3]):
                _insert(program, past, h, feed, place, False)
        past.rows[h, 4] = past.rows[h, 3]
    past.unseen[0] = 0


@inlined
def _one_total(program, h, feed):  # type: ignore[no-untyped-def]
    """Whether a node of the tree of a feed holds one total, that of the only window there is."""
    return program.windows[program.histories[h, 0], 0] == 0 and program.updates[program.feeds[feed, 2], 0] != EXTREME


@inlined
def _add_up(program, past, feed, source):  # type: ignore[no-untyped-def]
    """Add each node of the tree that an event is in to the next above it, unless that has been done."""
    tree, kind = program.feeds[feed, 0], program.updates[program.feeds[feed, 2], 0]
    comparison = program.trees[tree, 0]
    base, size = past.ranks[comparison, source, 0], past.ranks[comparison, source, 2]
    if base < 0:
        return
    first = past.node_at[tree] + base - 1
    # A node of one total has no other use for the number of a window.
    if past.node_window[first + 1] != NEVER_YET:
        return
    past.node_window[first + 1] = 0
    high, low, number = past.nodes.high, past.nodes.low, past.nodes.number
    for node in range(1, size + 1):
        here, above = first + node, node + (node & -node)
        if above <= size:
            there = first + above
            if kind == EXACT:
                high[there], low[there] = add_exact(high[there], low[there], high[here], low[here])
            else:
                number[there], low[there] = add_scaled(number[there], low[there], number[here], low[here])


@inlined
def _insert(program, past, h, feed, place, alone):  # type: ignore[no-untyped-def]
    """Add a recorded event to the nodes of a tree that its rank is under.

    ``alone``: only to the node of its rank, where nodes hold one total.
    """
    tree, kind = program.feeds[feed, 0], program.updates[program.feeds[feed, 2], 0]
    lanes, comparison = program.trees[tree, 1], program.trees[tree, 0]
    high, low, number = past.nodes.high, past.nodes.low, past.nodes.number
    node_window, source = past.node_window, past.source[place]
    values = past.value_at[h] + (place - past.rows[h, 0]) * lanes * program.histories[h, 2] + program.feeds[feed, 1]
    base, size = past.ranks[comparison, source, 0], past.ranks[comparison, source, 2]
    if base < 0:
        return
    if _one_total(program, h, feed):
        first = past.node_at[tree] + base - 1
        more_high, more_low, more_number = past.values.high[values], past.values.low[values], past.values.number[values]
        node = past.ranks[comparison, source, 1] + 1
        while node <= size:
            there = first + node
            if kind == EXACT:
                high[there], low[there] = add_exact(high[there], low[there], more_high, more_low)
            elif alone and number[there] == 0.0:
                # Foreseen by the processor, which goes on to the next event while it waits for this node.
                number[there], low[there] = more_number, more_low
            else:
                number[there], low[there] = add_scaled(number[there], low[there], more_number, more_low)
            node = size + 1 if alone else node + (node & -node)
        return
    for lane in range(past.windows[place]):
        index = past.first[place] + lane
        first = past.node_at[tree] + (base - 1) * lanes + index % lanes
        more_high, more_low = past.values.high[values + lane], past.values.low[values + lane]
        more_number = past.values.number[values + lane]
        node = past.ranks[comparison, source, 1] + 1
        while node <= size:
            there = first + node * lanes
            if node_window[there] < index:
                node_window[there] = index
                high[there], low[there] = more_high, more_low
            elif node_window[there] > index:
                pass  # trees made again are fed history by history, so not by time: the window has ended
            elif kind == EXACT:
                high[there], low[there] = add_exact(high[there], low[there], more_high, more_low)
            elif kind == NUMBER:
                number[there], low[there] = add_scaled(number[there], low[there], more_number, more_low)
            elif is_before(more_high, more_low, high[there], low[there]):
                high[there], low[there] = more_high, more_low
            node += node & -node
