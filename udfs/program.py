"""The kernel plan as flat arrays, and the arrays that hold the state of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planner.guards import ALWAYS, Condition
from planner.kernel_plan import Arithmetic, Cell, Field, KernelPlan, Link, Product
from planner.query import Window
from udfs.histories import NO_HISTORY, Histories, is_in_tree, tree_links

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.uint8]

EXACT, NUMBER, EXTREME = (kind.value for kind in (Arithmetic.EXACT, Arithmetic.NUMBER, Arithmetic.EXTREME))

NO_KEY = (np.iinfo(np.int64).max, -1)
"""Order key of "no value", as (high, low): greater than the key of any value."""


NEVER_YET = np.iinfo(np.int64).min
"""Latest start of a forbidden trend when there is none."""


class Program(NamedTuple):
    """What to compute. All arrays are int64 and C-contiguous.

    An offset points at lane 0 of a cell in the arrays of `Totals`.

    Attributes:
        windows: Per window: within (0: unbounded), slide, lanes of a cell, number of its first cell and
            of the cell after its last, offset of its first cell, most that are open at once. Then the same per
            region, of which the lanes are its columns. Shape (windows + regions, 7).
        blanks: Per cell, ordered by window, the two words of an empty total. Shape (cells, 2).
        updates: One row per cell: arithmetic, window, offset, start, begin and end in ``sources``,
            offset and arithmetic of the count (-1: contributes nothing), column (-1: none), weighted,
            store (-1: none), class needed to start (-1: none), link with the condition to start
            (-1: none), begin and end in ``links``. Ordered by event class. Shape (cells, 15).
        update_ends: Begin of each class in ``updates``, and the end. Shape (classes + 1,).
        sources: Offsets of source cells.
        bank_ends: Begin of each window in ``banks``, and the end. Shape (windows + 1,).
        banks: Number of the bank, and begin and end in ``slots``. Ordered by window. Shape (banks, 3).
        slots: Arithmetic, begin and end in ``slot_sources``, place in the row's words, place in the
            row's floats (-1: none), begin and end in ``links``. Shape (slots, 7).
        slot_sources: Offsets of the cells whose totals make a slot.
        blank_row: The words of a row in which nothing was found. Shape (words,).
        links: Store (-1: none), begin and end in ``link_guards``, begin in ``link_tables``, comparison (-1:
            none), tree (-1: none), scan (-1: none), history, begin of the cell's lanes in a row of the
            history. Shape (links, 9).
        link_guards: Guards that a link's condition depends on.
        link_tables: Per combination of intact guards, the first of which is bit 0, whether the link's
            condition holds.
        stores: Offset of the first bucket, number of buckets, begin and end in ``store_states``.
            The totals of one cell, split by time so that the events of a bucket have the same guards
            intact. Shape (stores, 4).
        store_states: Guard states at whose latest starts buckets are split.
        guard_states: State, whether it starts, guard that is broken there (-1: none), begin and end
            in ``guard_sources``. Ordered by event class. Shape (guard states, 5).
        guard_ends: Begin of each class in ``guard_states``, and the end. Shape (classes + 1,).
        guard_sources: Guard states.
        guards: Number of guards. Shape (1,).
        histories: Of the events of a class, what they added to the cells that comparisons reach back
            to: window, lanes of a cell in a row, number of those cells, begin and end in
            ``history_cells``. Shape (histories, 5).
        history_ends: Begin of each class in ``histories``, and the end. Shape (classes + 1,).
        history_cells: Rows of ``updates``.
        trees: Fenwick trees over events of a key: comparison, lanes of a node. Shape (trees, 2).
        feeds: What the events of a history add to a tree: tree, begin of the cell's lanes in a row of the
            history, row of ``updates``. Shape (feeds, 3).
        feed_ends: Begin of each history in ``feeds``, and the end. Shape (histories + 1,).
        scans: Of a comparison and a history under a condition, the events that match: link with the
            condition, history, begin and end in ``code``. Shape (scans, 4).
        code: Instructions; see `udfs.scan`. Shape (instructions, 7).
    """

    windows: Ints
    blanks: Ints
    updates: Ints
    update_ends: Ints
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


class Totals(NamedTuple):
    """Two 64-bit words per cell and lane: a count (high, low), a scaled double (number, scale), or an
    order key (high, low). ``number`` is the memory of ``high``, read as doubles.
    """

    high: Ints
    low: Ints
    number: Floats


def totals_of(high: Ints, low: Ints) -> Totals:
    """Totals over two arrays of words, of which the first is read as doubles too."""
    return Totals(high, low, high.view(np.float64))


class Past(NamedTuple):
    """Events of the key under way that comparisons reach back to, and how they are found.

    Attributes:
        rows: Per history: first place, places, begin and end of the rows in use, end of those at times
            before the latest. Shape (histories, 5).
        time: Per place, the time of the event.
        first: Per place, the index of its first window.
        windows: Per place, in how many windows it is.
        source: Per place, its row in the columns of the batch.
        values: Lanes of its cells; a history begins at ``value_at``.
        value_at: Per history, begin in ``values``.
        nodes: Lanes of the nodes of trees; a lane holds the window whose index it has modulo the lanes.
        node_window: Per lane of a node, the index of that window; `NEVER_YET` when there is none.
        node_at: Per tree, begin in ``nodes``.
        ranks: Per comparison and row of the batch: tree's first node (-1: in no tree), rank in it, its
            size, first node of the tree that is asked (-1: none), how many ranks match.
            Shape (comparisons, rows, 5).
        matches: Per scan, rows of its history that match the event at hand. Shape (scans, rows).
        unseen: Whether some rows are yet to be seen. Shape (1,).
        matched: Per scan, row that ``matches`` is about (-1: none), and their number. Shape (scans, 2).
    """

    rows: Ints
    time: Ints
    first: Ints
    windows: Ints
    source: Ints
    values: Totals
    value_at: Ints
    nodes: Totals
    node_window: Ints
    node_at: Ints
    ranks: Ints
    matches: Ints
    unseen: Ints
    matched: Ints


class State(NamedTuple):
    """All that a kernel carries from one batch to the next.

    Attributes:
        totals: Of events before the latest time.
        event: Of the event at hand; scratch.
        pending: Of events at the latest time, which are not before each other.
        open: Per window: index of the window in lane 0, first and last open window, first lane that
            the latest time is in and the lane after the last, first and last window that may open for
            the key under way. Of regions, all lanes are always in use. Shape (windows + regions, 7).
        dirty: Rows of ``Program.updates`` that have something pending. Shape (cells,).
        is_dirty: Whether a row is in ``dirty``. Shape (cells,).
        cursor: Whether a key is under way, the latest time, number of dirty rows, number of rows in
            the output, ordinal of the output group, first time at which windows open or close,
            whether counts of this key may need both words, whether its numbers may need scales,
            length of a chunk of time (0: keys are not cut). Shape (9,).
        matched: Classes that the event at hand is of; scratch. Shape (classes,).
    """

    totals: Totals
    event: Totals
    pending: Totals
    open: Ints
    dirty: Ints
    is_dirty: Flags
    cursor: Ints
    matched: Ints


class Guards(NamedTuple):
    """How far what must not happen has come, of the key under way.

    Attributes:
        latest: Per guard state, the latest start of a forbidden trend that has come so far, by events
            before the latest time; `NEVER_YET` when there is none.
        latest_pending: Likewise, by events at the latest time.
        broken: Per guard, the latest start of a forbidden trend that has ended.
        bucket_times: Per store and bucket, the time of its first event. Shape (stores, buckets).
        buckets: Per store, the number of buckets in use.
        pending: Whether ``latest_pending`` holds anything. Shape (1,).
    """

    latest: Ints
    latest_pending: Ints
    broken: Ints
    bucket_times: Ints
    buckets: Ints
    pending: Ints


class Output(NamedTuple):
    """Rows that the kernel has written. Only the first ``State.cursor[3]`` are valid.

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


class FieldPlace(NamedTuple):
    """Where a field is in a row: its first word, and its float (-1: none)."""

    word: int
    float: int


def field_places(fields: Sequence[Field]) -> tuple[list[FieldPlace], int, int]:
    """Places of all fields, the number of words and the number of floats of a row."""
    places: list[FieldPlace] = []
    words = floats = 0
    for field in fields:
        if field.arithmetic is Arithmetic.NUMBER:
            places.append(FieldPlace(words, floats))
            words, floats = words + 1, floats + 1
        else:
            places.append(FieldPlace(words, -1))
            words += 2
    return places, words, floats


def set_units(totals: Totals, units: Ints) -> None:
    """Let lanes be 1, each given by its offset and arithmetic. Shape of ``units``: (units, 2)."""
    for at, kind in units:
        if kind == EXACT:
            totals.low[at] = 1
        else:
            totals.number[at] = 1.0


def assemble(plan: KernelPlan) -> Program:
    """Lay a kernel plan out in flat arrays."""
    stores = _stores(plan)
    offsets, windows, blanks = _blocks(plan, stores)
    links = _Links(plan, {store.cell: number for number, store in enumerate(stores)})

    updates: list[list[int]] = []
    update_ends = [0]
    sources: list[int] = []
    for event in range(len(plan.classes)):
        for number, cell in enumerate(plan.cells):
            if cell.event == event:
                updates.append(_update(plan.cells, number, offsets, len(sources), links))
                sources += (offsets[source] for source in cell.sources)
        update_ends.append(len(updates))

    places, words, _ = field_places(plan.fields)
    banks: list[list[int]] = []
    bank_ends = [0]
    slots: list[list[int]] = []
    slot_sources: list[int] = []
    for number in range(len(plan.windows)):
        for bank_number, bank in enumerate(plan.banks):
            if bank.window == number:
                banks.append([bank_number, len(slots), len(slots) + len(bank.slots)])
                for slot in bank.slots:
                    begin = len(slot_sources)
                    slot_sources += (offsets[cell] for cell in slot.cells)
                    kind = plan.fields[slot.field].arithmetic.value
                    slots.append([kind, begin, len(slot_sources), *places[slot.field], *links.add(slot.links)])
        bank_ends.append(len(banks))

    blank_row = np.zeros(words, np.int64)
    for field, there in zip(plan.fields, places, strict=True):
        if field.arithmetic is Arithmetic.EXTREME:
            blank_row[there.word : there.word + 2] = NO_KEY
    guard_states, guard_ends, guard_sources = _guard_states(plan)
    at_update = {offset: place for place, (_, _, offset, *_) in enumerate(updates)}
    histories = links.histories
    feeds, feed_ends = histories.feeds()
    return Program(
        windows=_table(windows, 7),
        blanks=_table(blanks, 2),
        updates=_table(updates, 15),
        update_ends=np.array(update_ends, np.int64),
        sources=np.array(sources, np.int64),
        bank_ends=np.array(bank_ends, np.int64),
        banks=_table(banks, 3),
        slots=_table(slots, 7),
        slot_sources=np.array(slot_sources, np.int64),
        blank_row=blank_row,
        links=_table(links.rows, 9),
        link_guards=np.array(links.guards, np.int64),
        link_tables=np.array(links.tables, np.int64),
        stores=_table(([offsets[store.first_block], store.buckets, *store.states_at] for store in stores), 4),
        store_states=np.array([state for store in stores for state in store.states], np.int64),
        guard_states=_table(guard_states, 5),
        guard_ends=np.array(guard_ends, np.int64),
        guard_sources=np.array(guard_sources, np.int64),
        guards=np.array([plan.guards], np.int64),
        histories=_table(histories.rows(), 5),
        history_ends=np.array(histories.ends(len(plan.classes)), np.int64),
        history_cells=np.array([at_update[offsets[cell]] for cell in histories.cells()], np.int64),
        trees=_table(histories.trees(), 2),
        feeds=_table(([*row, at_update[offsets[cell]]] for row, cell in feeds), 3),
        feed_ends=np.array(feed_ends, np.int64),
        scans=_table(histories.scans, 4),
        code=_table(histories.code, 7),
    )


@dataclass(frozen=True, slots=True)
class _Store:
    """Buckets for a cell whose events count only while some guards are intact.

    Attributes:
        cell: The cell.
        first_block: Number of the first bucket's block; blocks are numbered on from the cells.
        buckets: How many there are: one more than there are states, and one that is being made.
        states: Guard states at whose latest starts buckets are split.
        states_at: Begin and end of ``states`` in those of all stores.
    """

    cell: int
    first_block: int
    buckets: int
    states: tuple[int, ...]
    states_at: tuple[int, int]


def _stores(plan: KernelPlan) -> list[_Store]:
    links = [link for cell in plan.cells for link in cell.links if link.comparison is None]
    links += [link for bank in plan.banks for slot in bank.slots for link in slot.links]
    guards: dict[int, set[int]] = {}
    for link in links:
        guards.setdefault(link.cell, set()).update(link.condition.guards)
    stores: list[_Store] = []
    block, at = len(plan.cells), 0
    for cell, needed in sorted(guards.items()):
        states = tuple(number for number, state in enumerate(plan.guard_states) if state.guard in needed)
        stores.append(_Store(cell, block, len(states) + 2, states, (at, at + len(states))))
        block += len(states) + 2
        at += len(states)
    return stores


def _blocks(plan: KernelPlan, stores: Sequence[_Store]) -> tuple[list[int], list[list[int]], list[tuple[int, int]]]:
    """Offsets of the lanes of cells and then of buckets, rows of ``Program.windows`` and ``Program.blanks``."""
    cells = [*plan.cells, *(plan.cells[store.cell] for store in stores for _ in range(store.buckets))]
    offsets = [0] * len(cells)
    windows: list[list[int]] = []
    blanks: list[tuple[int, int]] = []
    size = 0
    rows = {panes.window: panes.rows for panes in plan.panes}
    kept_for = [_lanes(window, rows.get(number, 0)) for number, window in enumerate(plan.windows)]
    kept_for += ((0, 1, region.columns, 1) for region in plan.regions)
    for number, (within, slide, lanes, live) in enumerate(kept_for):
        mine = [place for place, cell in enumerate(cells) if cell.window == number]
        windows.append([within, slide, lanes, len(blanks), len(blanks) + len(mine), size, live])
        for place in mine:
            offsets[place] = size
            size += lanes
            blanks.append(NO_KEY if cells[place].arithmetic is Arithmetic.EXTREME else (0, 0))
    return offsets, windows, blanks


def cell_offsets(plan: KernelPlan) -> list[int]:
    """Per cell, the offset of its lane 0."""
    return _blocks(plan, _stores(plan))[0]


def _lanes(window: Window | None, rows: int) -> tuple[int, int, int, int]:
    """The first columns of ``Program.windows``, and the last; with ``rows`` of pane matrices, if it has any."""
    if window is None:
        return 0, 1, 2 * rows if rows else 1, 1
    return window.within, window.slide, 2 * rows if rows else 2 * window.live, window.live


class _Links:
    """Collects the rows of ``Program.links``."""

    def __init__(self, plan: KernelPlan, stores: dict[int, int]) -> None:
        self.rows: list[list[int]] = []
        self.guards: list[int] = []
        self.tables: list[int] = []
        self.histories = Histories(plan)
        self._plan = plan
        self._stores = stores

    def add(self, links: Sequence[Link]) -> tuple[int, int]:
        """Begin and end of the rows of ``links``."""
        begin = len(self.rows)
        for source, link in tree_links(self._plan, links):
            self.rows[self._add(-1, link.condition)] += self.histories.place_tree(source)
        for link in links:
            if not is_in_tree(self._plan, link):
                row = self._add(self._stores.get(link.cell, -1) if link.comparison is None else -1, link.condition)
                self.rows[row] += self.histories.place(link, row)
        return begin, len(self.rows)

    def store(self, cell: int) -> int:
        """The store of a cell; -1 when it has none."""
        return self._stores.get(cell, -1)

    def condition(self, condition: Condition) -> int:
        """The row of a condition by itself; -1 for `ALWAYS`."""
        if condition == ALWAYS:
            return -1
        row = self._add(-1, condition)
        self.rows[row] += NO_HISTORY
        return row

    def _add(self, store: int, condition: Condition) -> int:
        guards = condition.guards
        self.rows.append([store, len(self.guards), len(self.guards) + len(guards), len(self.tables)])
        self.guards += guards
        for bits in range(1 << len(guards)):
            intact = frozenset(guard for place, guard in enumerate(guards) if bits >> place & 1)
            self.tables.append(int(condition.holds(intact)))
        return len(self.rows) - 1


def _guard_states(plan: KernelPlan) -> tuple[list[list[int]], list[int], list[int]]:
    """Rows of ``Program.guard_states``, ``Program.guard_ends`` and ``Program.guard_sources``."""
    rows: list[list[int]] = []
    ends = [0]
    sources: list[int] = []
    for event in range(len(plan.classes)):
        for number, state in enumerate(plan.guard_states):
            if state.event == event:
                guard = state.guard if state.end else -1
                rows.append([number, int(state.start), guard, len(sources), len(sources) + len(state.sources)])
                sources += state.sources
        ends.append(len(rows))
    return rows, ends, sources


def counted(plan: KernelPlan, product: Product) -> tuple[int, int]:
    """Of a product with an extreme, the arithmetic of the factor that is a count, and whether that is the total."""
    of_total = plan.cells[product.form].arithmetic is Arithmetic.EXTREME
    count = product.base if of_total else product.form
    kind = Arithmetic.EXACT if count is None else plan.cells[count].arithmetic
    return kind.value, int(of_total)


def new_state(program: Program, chunk: int | None = None) -> State:
    """The state before the first event; ``chunk`` is the length of chunks of time."""
    cells, regions = len(program.updates), len(program.bank_ends) - 1
    opened = np.zeros((len(program.windows), 7), np.int64)
    opened[regions:, 4] = program.windows[regions:, 2]
    opened[:, 5:] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return State(
        totals=_totals(program),
        event=_totals(program),
        pending=_totals(program),
        open=opened,
        dirty=np.zeros(cells, np.int64),
        is_dirty=np.zeros(cells, np.uint8),
        cursor=np.array([0, 0, 0, 0, -1, 0, 0, 0, chunk or 0], np.int64),
        matched=np.zeros(len(program.update_ends) - 1, np.int64),
    )


def new_guards(program: Program) -> Guards:
    """Guards before the first event."""
    return Guards(
        latest=np.full(len(program.guard_states), NEVER_YET, np.int64),
        latest_pending=np.full(len(program.guard_states), NEVER_YET, np.int64),
        broken=np.full(program.guards[0], NEVER_YET, np.int64),
        bucket_times=np.zeros((len(program.stores), program.stores[:, 1].max(initial=0)), np.int64),
        buckets=np.zeros(len(program.stores), np.int64),
        pending=np.zeros(1, np.int64),
    )


def no_past(program: Program) -> Past:
    """The past before the first event."""
    none, histories = np.zeros(0, np.int64), len(program.histories)
    return Past(
        rows=np.zeros((histories, 5), np.int64),
        time=none,
        first=none,
        windows=none,
        source=none,
        values=totals_of(none, none),
        value_at=np.zeros(histories, np.int64),
        nodes=totals_of(none, none),
        node_window=none,
        node_at=np.zeros(len(program.trees), np.int64),
        ranks=np.zeros((0, 0, 5), np.int64),
        matches=np.zeros((len(program.scans), 0), np.int64),
        unseen=np.zeros(1, np.int64),
        matched=np.zeros((len(program.scans), 2), np.int64),
    )


def new_output(plan: KernelPlan, rows: int) -> Output:
    """An empty output with room for at least ``rows`` rows, and for all windows that are open at once."""
    banks = [bank.window for bank in plan.banks]
    at_once = sum((1 if w is None else w.live) * banks.count(i) for i, w in enumerate(plan.windows))
    rows = max(rows, 2 * at_once)
    _, words, floats = field_places(plan.fields)
    return Output(
        group=np.zeros(rows, np.int64),
        bank=np.zeros(rows, np.int64),
        window=np.zeros(rows, np.int64),
        words=np.zeros((rows, words), np.int64),
        floats=np.zeros((rows, floats), np.float64),
        table=np.full(1 << (2 * rows).bit_length(), -1, np.int64),
    )


def _update(cells: Sequence[Cell], number: int, offsets: list[int], begin: int, links: _Links) -> list[int]:
    cell = cells[number]
    return [
        cell.arithmetic.value,
        cell.window,
        offsets[number],
        int(cell.start),
        begin,
        begin + len(cell.sources),
        offsets[cell.count] if cell.count is not None else -1,
        cells[cell.count].arithmetic.value if cell.count is not None else -1,
        cell.column if cell.count is not None and cell.column is not None else -1,
        int(cell.weighted),
        links.store(number),
        cell.start_event if cell.start_event is not None else -1,
        links.condition(cell.start_condition),
        *links.add(cell.links),
    ]


def _totals(program: Program) -> Totals:
    lanes = np.repeat(program.windows[:, 2], program.windows[:, 4] - program.windows[:, 3])
    return totals_of(np.repeat(program.blanks[:, 0], lanes), np.repeat(program.blanks[:, 1], lanes))


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(list(rows), np.int64).reshape(-1, width)
