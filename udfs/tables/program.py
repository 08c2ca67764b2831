"""The kernel plan as flat arrays, and the arrays that hold the state of a run."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import Arithmetic

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.uint8]
Narrow: TypeAlias = NDArray[np.int32]

EXACT, NUMBER, EXTREME = (kind.value for kind in (Arithmetic.EXACT, Arithmetic.NUMBER, Arithmetic.EXTREME))

NO_KEY = (np.iinfo(np.int64).max, -1)
"""Order key of "no value", as (high, low): greater than the key of any value."""


SCAN_CHUNK = 1024
"""Events before that a scan looks at together."""

ALWAYS_YET = np.iinfo(np.int64).max
"""Last window with a trend where that is not kept."""

NEVER_YET = np.iinfo(np.int64).min
"""Latest start of a forbidden trend, or last window with a trend, when there is none."""


class Program(NamedTuple):
    """A kernel plan as flat arrays. All of them are int64 and C-contiguous.

    An offset points at lane 0 of a cell in the arrays of `Totals`.

    Attributes:
        windows: Per window: within (0: unbounded), slide, lanes of a cell, number of its first cell and
            of the cell after its last, offset of its first cell, most that are open at once. Then the same per
            region, of which the lanes are its columns, and per span. Shape (windows + regions + spans, 7).
        kinds: Per cell and bucket, ordered by window, its arithmetic. Shape (cells and buckets,).
        updates: One row per cell: arithmetic, window, offset, start, begin and end in ``sources``,
            offset and arithmetic of the count (-1: contributes nothing), column (-1: none), weighted,
            store (-1: none), class needed to start (-1: none), link with the condition to start
            (-1: none), begin and end in ``links``, row of ``cuts`` (-1: none), whether it is the count of another.
            Ordered by event class and part, see `sparkext.udfs.state.parts`, then group, and then window, region or
            span. Shape (cells, 17).
        groups: Cells that hold trends at the same times: begin and end in ``updates``, whether trends begin there
            and whether they end there, begin and end in ``group_sources``. Shape (groups, 6).
        group_updates: Per group, the begin of each window, region and span in ``updates``, and the end.
            Shape (groups, windows + regions + spans + 1).
        group_ends: Begin of each class and part in ``groups``, and the end. Shape (classes + parts + 1,).
        group_sources: Groups whose trends go on in another.
        in_order: Whether each cell of a class or part comes before those that it goes on from, other than itself, so
            that totals may be added to one after another. Shape (classes + parts,).
        turning: Bits of the classes of events that begin a trend or end one, so that it matters to them which windows
            are open. Shape (words,).
        sources: Offsets of source cells.
        bank_ends: Begin of each window in ``banks``, and the end. Shape (windows + 1,).
        banks: Number of the bank, and begin and end in ``slots``. Ordered by window. Shape (banks, 3).
        slots: Arithmetic, begin and end in ``slot_sources``, index in the row's words, index in the
            row's floats (-1: none), begin and end in ``links``. Shape (slots, 7).
        slot_sources: Offsets of the cells whose totals make a slot.
        blank_row: The words of a row in which nothing was found. Shape (words,).
        links: Store (-1: none), begin and end in ``link_guards``, begin in ``link_tables``, term (-1: none), tree
            (-1: none), scan (-1: none), history, begin of the cell's lanes in a row of the history. A link with a
            comparison has a row for each of its terms. Shape (links, 9); see `LINK_TREE` and so on.
        link_guards: Guards that a link's condition depends on.
        link_tables: Per combination of intact guards, the first of which is bit 0, whether the link's
            condition holds.
        stores: Offset of the first bucket, number of buckets, begin and end in ``store_states``.
            The totals of one cell, split by time so that the events of a bucket have the same guards
            intact. Shape (stores, 4).
        store_states: Guard states at whose latest starts buckets are split.
        guard_states: State, whether it starts, guard that is broken there (-1: none), begin and end
            in ``guard_sources``. Ordered by event class. Shape (guard states, 5).
        guard_ends: Begin of each class in ``guard_states``, in ``cuts`` and in ``anchored``, and the ends.
            Shape (classes + 1, 3); see `GUARD_ENDS` and so on.
        guard_sources: Guard states.
        guards: Number of guards. Shape (1,).
        histories: Of the events of a class, what they added to the cells that comparisons reach back
            to: window, lanes of a cell in a row, number of those cells, begin and end in
            ``history_cells``. Shape (histories, 5). A cell with anchors is two of them: held, and pending.
        history_ends: Begin of each class in ``histories``, and the end. Shape (classes + 1,).
        history_cells: Rows of ``updates``; of a cell with anchors, which has none, -1 - its arithmetic.
        trees: Trees over events of a key: term, lanes of a node, whether intervals are asked of it, arithmetic,
            window. Shape (trees, 5); see `TREE_TERM` and so on.
        feeds: What the events of a history add to a tree: tree, begin of the cell's lanes in a row of the
            history, row of ``updates``. Shape (feeds, 3); see `FEED_TREE` and so on.
        feed_ends: Begin of each history in ``feeds``, and the end. Shape (histories + 1,).
        scans: Of a comparison and a history under a condition, the events that match: link with the
            condition, history, begin and end in ``code``, first term and the one after the last if ranks are compared
            instead, row of ``cuts`` if events leave the history that have matched (-1: they stay). Shape (scans, 7).
        code: Instructions; see `scan`. Shape (instructions, 7).
        cuts: First the targets, which are cells and histories that events leave: window, offset of the cell (-1: a
            history), arithmetic, store of the cell (-1: none), history (-1: a cell), whether only those events
            leave the history that a scan has found; see `TARGET_WINDOW` and so on. Then, ordered by class, what its
            events take earlier events out of: target, link with the condition for them to leave (-1: all leave);
            see `CUT_TARGET`. All in one table, since each array in a call takes time. Shape (targets + cuts, 6).
        anchored: Cells with anchors: arithmetic, window, history of the anchors, begins of the lanes in a row of it of
            what is held and what is pending, begin and end in ``links``; of the count, if an event contributes,
            arithmetic (-1: contributes nothing), begin and end in ``links``; column (-1: none), weighted. Ordered by
            class. Shape (cells with anchors, 12); see `ANCHORED_KIND` and so on.
    """

    windows: Ints
    kinds: Ints
    updates: Ints
    groups: Ints
    group_updates: Ints
    group_ends: Ints
    group_sources: Ints
    in_order: Ints
    turning: Ints
    sources: Ints
    bank_ends: Ints
    banks: Ints
    slots: Ints
    slot_sources: Ints
    blank_row: Ints
    links: Ints
    link_guards: Ints
    link_tables: Ints
    stores: Ints
    store_states: Ints
    guard_states: Ints
    guard_ends: Ints
    guard_sources: Ints
    guards: Ints
    histories: Ints
    history_ends: Ints
    history_cells: Ints
    trees: Ints
    feeds: Ints
    feed_ends: Ints
    scans: Ints
    code: Ints
    cuts: Ints
    anchored: Ints


class Totals(NamedTuple):
    """Two 64-bit words per cell and lane: a count (high, low), a scaled double (number, scale), or an
    order key (high, low). ``number`` is the memory of ``high``, read as doubles.
    """

    high: Ints
    low: Ints
    number: Floats


class Registers(NamedTuple):
    """Room for the registers of a scan, which is used again for each event. All have the shape (registers, events).

    Attributes:
        words: Values.
        numbers: The memory of ``words``, read as doubles.
        lows: Second words of order keys.
        known: 0 where a value is NULL.
    """

    words: Ints
    numbers: Floats
    lows: Ints
    known: Flags


class Past(NamedTuple):
    """Events of the key under way that comparisons reach back to, and how they are found.

    Attributes:
        rows: Per history: first entry, room for entries, begin and end of the entries in use, end of those at times
            before the latest. Shape (histories, 5); see `PAST_FIRST` and so on.
        time: Per entry, the time of the event.
        first: Per entry, the index of its first window.
        windows: Per entry, in how many windows it is.
        source: Per entry, its row in the columns of the batch.
        taken: Per entry, whether the event leaves when the latest time is over.
        values: Lanes of its cells; a history begins at ``value_at``.
        value_at: Per history, begin in ``values``.
        nodes: Lanes of the nodes of trees; a lane holds the window whose index it has modulo the lanes.
        node_window: Per lane of a node, the index of that window; `NEVER_YET` when there is none.
        node_at: Per tree, begin in ``nodes``.
        window_at: Per tree, begin in ``node_window``; trees with intervals and one window have nothing there.
        ranks: Per term and row of the batch, where it stands and what it asks for; `ranks` has the columns.
            Shape (terms, rows, 5).
        intervals: Begins and ends of leaves that are asked for. Shape (intervals, 2).
        shapes: Per term: leaves of its tree, levels of blocks (0: a segment tree), begin in ``order``, ``sorted``
            and ``slots``. Shape (terms, 3); see `LEAVES` and so on.
        order: Of range trees; see `sparkext.udfs.comparisons.range_tree.RangeLayout`, a level after the other.
        sorted, slots: Likewise.
        asking: Per term, the row that ``asked_nodes`` is about (-1: none), and how many these are. Shape (terms, 2).
        asked_nodes: Per term, the nodes of its trees that the event at hand asks for. Shape (terms, nodes).
        matches: Per scan, rows of its history that match the event at hand. Shape (scans, rows).
        unseen: Whether some rows are yet to be seen, or something is pending of a cell with anchors; then, per such
            cell, whether something is. Shape (1 + cells with anchors,).
        matched: Per scan, row that ``matches`` is about (-1: none), and their number. Shape (scans, 2).
        registers: Of scans; scratch.
    """

    rows: Ints
    time: Ints
    first: Ints
    windows: Ints
    source: Ints
    taken: Flags
    values: Totals
    value_at: Ints
    nodes: Totals
    node_window: Ints
    node_at: Ints
    window_at: Ints
    ranks: Narrow
    intervals: Narrow
    shapes: Ints
    order: Narrow
    sorted: Narrow
    slots: Narrow
    asking: Ints
    asked_nodes: Ints
    matches: Ints
    unseen: Ints
    matched: Ints
    registers: Registers


class State(NamedTuple):
    """All that a kernel carries from one batch to the next.

    Attributes:
        totals: Of events before the latest time.
        event: Of the event at hand; scratch.
        pending: Of events at the latest time, which are not before each other.
        open: Per window: index of the window in lane 0, first and last open window, first lane that
            the latest time is in and the lane after the last, last window in which some trend may have
            ended, first and last window that may open for the key under way. Of regions, all lanes are always in
            use. A span has the latest time as its last open window, and a lane for each time at which trends have begun
            as if that were a window, or as many as its panes take. Shape (windows + regions + spans, 8).
        dirty: Rows of ``Program.updates`` that have something pending. Shape (cells,).
        is_dirty: Whether a row is in ``dirty``. Shape (cells,).
        cursor: Whether a key is under way, the latest time, number of dirty rows, number of rows in
            the output, ordinal of the output group, first time at which windows open or close,
            whether counts of this key may need both words, whether its numbers may need scales,
            length of a chunk of time (0: keys are not cut), the row of the output that was written last. Shape (10,).
        matched: Classes that the event at hand is of, and then parts; scratch. Shape (classes + parts,).
        reached: Per group and window, region and span, the last window in which the group may hold something;
            `NEVER_YET` when there is none. Shape (groups, windows + regions + spans).
        reaching: Per group and window, the lane after the last to which the event at hand adds; scratch. Likewise.
        adding: Groups to which the event at hand adds; scratch. Shape (groups,).
    """

    totals: Totals
    event: Totals
    pending: Totals
    open: Ints
    dirty: Ints
    is_dirty: Flags
    cursor: Ints
    matched: Ints
    reached: Ints
    reaching: Ints
    adding: Ints


class Guards(NamedTuple):
    """How far what must not happen has come, of the key under way, and what events leave when the time goes on.

    Attributes:
        latest: Per guard state, the latest start of a forbidden trend that has come so far, by events
            before the latest time; `NEVER_YET` when there is none.
        latest_pending: Likewise, by events at the latest time.
        broken: Per guard, the latest start of a forbidden trend that has ended.
        bucket_times: Per store and bucket, the time of its first event. Then, per store and bucket again, whether its
            events leave when the latest time is over. Shape (2 · stores, buckets).
        buckets: Per store, the number of buckets in use.
        pending: Whether ``latest_pending`` holds anything or some target is marked, and how many are. Shape (2,).
        cuts: Per target of ``Program.cuts``: whether there may be anything to leave it; 1 if it is marked, since some
            events leave when the latest time is over, 2 if all do, 0 else. Then in turn, those that are marked.
            Shape (targets, 3); see `IS_FILLED` and so on.
    """

    latest: Ints
    latest_pending: Ints
    broken: Ints
    bucket_times: Ints
    buckets: Ints
    pending: Ints
    cuts: Ints


class Output(NamedTuple):
    """Rows that the kernel has written. Only the first ``State.cursor[CURSOR_ROWS]`` are valid.

    Attributes:
        group: Ordinal of the output group, counted since the last flush. Shape (rows,).
        bank: Shape (rows,).
        window: Index k of the window. Shape (rows,).
        words: Counts as (high, low), scales, order keys as (high, low). Shape (rows, words).
        floats: Scaled doubles. Shape (rows, floats).
        table: Open-addressing hash table of row numbers, -1 where free; used when rows of one group
            are combined. Its size is a power of two.
    """

    group: Ints
    bank: Ints
    window: Ints
    words: Ints
    floats: Floats
    table: Ints
