"""A kernel plan laid out in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sparkext.planner.automata.guards import ALWAYS, Condition
from sparkext.planner.kernel_plan.kernel_plan import (
    CLASSES_PER_WORD,
    NO_EVENT,
    Arithmetic,
    Cell,
    Closing,
    KernelPlan,
    Link,
    class_words,
)
from sparkext.udfs.comparisons.histories import NO_HISTORY, Histories, is_in_tree, tree_links
from sparkext.udfs.state.parts import Group, Update, groups, number_of_parts
from sparkext.udfs.tables import columns
from sparkext.udfs.tables.field_indexes import field_indexes
from sparkext.udfs.tables.program import NO_KEY, Ints, Program

STARTS, MOST_STARTS = 20, 126
"""Lanes of a cell in a span, for times at which trends begin: so many for each class of events, and at most. An event
adds to all lanes of the cells of its class, and to panes of all cells (``python -m benchmarks.span``)."""

_KEPT = 4

_assembled: list[tuple[KernelPlan, Program]] = []


def assembled(plan: KernelPlan) -> Program:
    """What `assemble` gives, which is made once for a plan that many passes of a process have."""
    for known, program in _assembled:
        if known is plan:
            return program
    program = assemble(plan)
    _assembled[:] = [(plan, program), *_assembled[: _KEPT - 1]]
    return program


def assemble(plan: KernelPlan) -> Program:
    """A kernel plan as flat arrays."""
    stores = _stores(plan)
    offsets, windows, kinds = _blocks(plan, stores)
    links = _Links(plan, {store.cell: number for number, store in enumerate(stores)})
    cuts = _Cuts(plan, stores, offsets, links)

    updates: list[list[int]] = []
    sources: list[int] = []
    in_groups = groups(plan)
    ends = {cell for bank in plan.banks for slot in bank.slots for cell in slot.cells}
    ends |= {cell for span in plan.spans for gain in span.gains for cell in gain.sources}
    counted = {cell.count for cell in plan.cells}
    for update in (update for group in in_groups for update in group.updates):
        target, is_counted = cuts.target(update.number), int(update.number in counted)
        updates.append([*_update(plan.cells, update, offsets, len(sources), links), target, is_counted])
        sources += (offsets[source] for source in update.cell.sources)
    group_ends = np.searchsorted([group.part for group in in_groups], np.arange(number_of_parts(plan) + 1))

    indexes, words, _ = field_indexes(plan.fields)
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
                    slots.append([kind, begin, len(slot_sources), *indexes[slot.field], *links.add(slot.links)])
        bank_ends.append(len(banks))

    blank_row = np.zeros(words, np.int64)
    for field, indexes_of_field in zip(plan.fields, indexes, strict=True):
        if field.arithmetic is Arithmetic.EXTREME:
            blank_row[indexes_of_field.word : indexes_of_field.word + 2] = NO_KEY
    guard_states, guard_ends, guard_sources = _guard_states(plan)
    at_update = {offset: row for row, (_, _, offset, *_) in enumerate(updates)}
    histories = links.histories
    feeds, feed_ends = histories.feeds()
    cut_rows, cut_ends = cuts.rows(len(plan.classes))
    anchored, anchored_ends = _anchored(plan, links)
    ends_of_classes = np.stack([np.array(ends, np.int64) for ends in (guard_ends, cut_ends, anchored_ends)], axis=1)
    return Program(
        windows=_table(windows, columns.WINDOW_COLUMNS),
        kinds=np.array(kinds, np.int64),
        updates=_table(updates, columns.UPDATE_COLUMNS),
        groups=_table(_groups(in_groups, ends), columns.GROUP_COLUMNS),
        group_updates=_group_updates(in_groups, len(windows)),
        group_ends=group_ends.astype(np.int64),
        group_sources=np.array([source for group in in_groups for source in group.sources], np.int64),
        in_order=_in_order(in_groups, number_of_parts(plan)),
        turning=_turning(plan, ends),
        sources=np.array(sources, np.int64),
        bank_ends=np.array(bank_ends, np.int64),
        banks=_table(banks, columns.BANK_COLUMNS),
        slots=_table(slots, columns.SLOT_COLUMNS),
        slot_sources=np.array(slot_sources, np.int64),
        blank_row=blank_row,
        links=_table(links.rows, columns.LINK_COLUMNS),
        link_guards=np.array(links.guards, np.int64),
        link_tables=np.array(links.tables, np.int64),
        stores=_table(
            ([offsets[store.first_block], store.buckets, *store.states_at] for store in stores), columns.STORE_COLUMNS
        ),
        store_states=np.array([state for store in stores for state in store.states], np.int64),
        guard_states=_table(guard_states, columns.GUARD_COLUMNS),
        guard_ends=ends_of_classes,
        guard_sources=np.array(guard_sources, np.int64),
        guards=np.array([plan.guards], np.int64),
        histories=_table(histories.rows(), columns.HISTORY_COLUMNS),
        history_ends=np.array(histories.ends(len(plan.classes)), np.int64),
        history_cells=np.array(
            [
                at_update[offsets[cell]] if plan.cells[cell].anchor is None else -1 - plan.cells[cell].arithmetic.value
                for cell in histories.cells()
            ],
            np.int64,
        ),
        trees=_table(histories.trees(), columns.TREE_COLUMNS),
        feeds=_table(([*row, at_update[offsets[cell]]] for row, cell in feeds), columns.FEED_COLUMNS),
        feed_ends=np.array(feed_ends, np.int64),
        scans=_table(
            ([*scan, cuts.taken(scan[columns.SCAN_HISTORY])] for scan in histories.scans), columns.SCAN_COLUMNS
        ),
        code=_table(histories.code, 7),
        cuts=_table(cut_rows, columns.TARGET_COLUMNS),
        anchored=_table(anchored, columns.ANCHORED_COLUMNS),
    )


def _groups(in_groups: Sequence[Group], ends: set[int]) -> Iterator[list[int]]:
    """Rows of ``Program.groups``; trends end in the cells ``ends``."""
    row = source = 0
    for group in in_groups:
        is_end = any(update.number in ends for update in group.updates)
        rows, sources = row + len(group.updates), source + len(group.sources)
        yield [row, rows, int(group.starts), int(is_end), source, sources]
        row, source = rows, sources


def _group_updates(in_groups: Sequence[Group], spaces: int) -> Ints:
    """``Program.group_updates``, of so many spaces."""
    row, found = 0, np.zeros((len(in_groups), spaces + 1), np.int64)
    for at, group in enumerate(in_groups):
        found[at] = row + np.searchsorted([update.cell.window for update in group.updates], np.arange(spaces + 1))
        row += len(group.updates)
    return found


def _in_order(in_groups: Sequence[Group], parts: int) -> Ints:
    """``Program.in_order``, of so many classes and parts."""
    in_order = np.ones(parts, np.int64)
    before: list[set[int]] = [set() for _ in range(parts)]
    for part, update in ((group.part, update) for group in in_groups for update in group.updates):
        if not before[part].isdisjoint(update.cell.sources):
            in_order[part] = 0
        before[part].add(update.number)
    return in_order


def _turning(plan: KernelPlan, ends: set[int]) -> Ints:
    """Bits of the classes of events that begin trends, or end them in some of the cells ``ends``."""
    bits = np.zeros(class_words(len(plan.classes)), np.int64)
    for number, cell in enumerate(plan.cells):
        # By panes, what starts comes from the constant 1.
        starts = cell.start or any(plan.cells[source].event == NO_EVENT for source in cell.sources)
        if cell.event != NO_EVENT and (starts or number in ends):
            bits[cell.event // CLASSES_PER_WORD] |= 1 << cell.event % CLASSES_PER_WORD
    return bits


def anchored_cells(plan: KernelPlan) -> list[int]:
    """Numbers of the cells of which ``Program.anchored`` has a row, in their order."""
    anchored = (number for number, cell in enumerate(plan.cells) if cell.anchor is not None)
    return sorted(anchored, key=lambda number: plan.cells[number].event)


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
    plain = (cell for cell in plan.cells if cell.anchor is None)
    links = [link for cell in plain for link in cell.links if link.comparison is None]
    links += [link for bank in plan.banks for slot in bank.slots for link in slot.links]
    guards: dict[int, set[int]] = {}
    for link in links:
        guards.setdefault(link.cell, set()).update(link.condition.guards)
    stores: list[_Store] = []
    # Where cells are cut in parts, what is left of each part is known by its buckets.
    for cell in guards:
        guards[cell].update(guard for cut in plan.cells[cell].cuts for guard in cut.condition.guards)
    block, at = len(plan.cells), 0
    for cell, needed in sorted(guards.items()):
        states = tuple(number for number, state in enumerate(plan.guard_states) if state.guard in needed)
        stores.append(_Store(cell, block, len(states) + 2, states, (at, at + len(states))))
        block += len(states) + 2
        at += len(states)
    return stores


def _blocks(plan: KernelPlan, stores: Sequence[_Store]) -> tuple[list[int], list[list[int]], list[int]]:
    """Offsets of the lanes of cells and then of buckets, rows of ``Program.windows``, and ``Program.kinds``."""
    cells = [*plan.cells, *(plan.cells[store.cell] for store in stores for _ in range(store.buckets))]
    offsets = [0] * len(cells)
    windows: list[list[int]] = []
    kinds: list[int] = []
    size = 0
    times = [(0, 1, 1) if window is None else (window.within, window.slide, window.live) for window in plan.windows]
    times += ((0, 1, 1) for _ in plan.regions)
    times += ((span.length, 1, 1) for span in plan.spans)
    for space, (within, slide, live) in zip(plan.spaces, times, strict=True):
        lanes = 2 * space.lanes if space.closes_at in (Closing.PANE, Closing.TIME) else space.lanes
        of_space = [index for index, cell in enumerate(cells) if cell.window == space.number]
        if space.closes_at is Closing.TIME and not plan.regions:
            classes = {cells[index].event for index in of_space} - {NO_EVENT}
            lanes = max(lanes, min(STARTS * len(classes), MOST_STARTS))
        windows.append([within, slide, lanes, len(kinds), len(kinds) + len(of_space), size, live])
        for index in of_space:
            offsets[index] = size
            size += lanes
            kinds.append(cells[index].arithmetic.value)
    return offsets, windows, kinds


def cell_offsets(plan: KernelPlan) -> list[int]:
    """Per cell, the offset of its lane 0."""
    return _blocks(plan, _stores(plan))[0]


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
            self.rows[self._add(-1, link.condition)] += self.histories.tree_row_end(source)
        for link in links:
            if not is_in_tree(self._plan, link):
                row = self._add(self._stores.get(link.cell, -1) if link.comparison is None else -1, link.condition)
                self.rows[row] += self.histories.row_end(link, row)
        return begin, len(self.rows)

    def add_anchored(self, links: Sequence[Link]) -> tuple[int, int]:
        """Begin and end of the rows of ``links`` of a cell with anchors."""
        begin = len(self.rows)
        for link in links:
            row = self._add(-1, link.condition)
            self.rows[row] += self.histories.anchored_row_end(link, row)
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
            intact = frozenset(guard for index, guard in enumerate(guards) if bits >> index & 1)
            self.tables.append(int(condition.holds(intact)))
        return len(self.rows) - 1


class _Cuts:
    """Collects the rows of ``Program.cuts``; targets are cells in order, then histories."""

    def __init__(self, plan: KernelPlan, stores: Sequence[_Store], offsets: Sequence[int], links: _Links) -> None:
        self.targets: list[list[int]] = []
        self._cuts: list[tuple[int, int, int]] = []
        self._target_of: dict[int, int] = {}
        self._taken: dict[int, int] = {}
        store_of = {store.cell: number for number, store in enumerate(stores)}
        for number, cell in enumerate(plan.cells):
            if cell.cuts:
                self._target_of[number] = len(self.targets)
                for cut in cell.cuts:
                    # No link reads a cell without buckets, so it is as well not cut in parts.
                    if not cut.condition.guards or number in store_of:
                        self._cuts.append((cut.event, len(self.targets), links.condition(cut.condition)))
                kind = cell.arithmetic.value
                self.targets.append([cell.window, offsets[number], kind, store_of.get(number, -1), -1, 0])
        for history, taken, cuts in links.histories.leaving():
            if taken is not None:
                self._taken[history] = len(self.targets)
            self._cuts += ((cut.event, len(self.targets), -1) for cut in cuts)
            self.targets.append([-1, -1, -1, -1, history, int(taken is not None)])

    def target(self, cell: int) -> int:
        """The row of a cell; -1 when it has none."""
        return self._target_of.get(cell, -1)

    def taken(self, history: int) -> int:
        """The row of a history that events leave which a scan has found; -1 when they do not."""
        return self._taken.get(history, -1)

    def rows(self, classes: int) -> tuple[list[list[int]], list[int]]:
        """Rows of ``Program.cuts``, and where each class begins and ends there."""
        ordered = sorted(self._cuts)
        first = len(self.targets)
        ends = [first + sum(event < number for event, _, _ in ordered) for number in range(classes + 1)]
        return [*self.targets, *([target, link, 0, 0, 0, 0] for _, target, link in ordered)], ends


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


def _anchored(plan: KernelPlan, links: _Links) -> tuple[list[list[int]], list[int]]:
    """Rows of ``Program.anchored``, and where each class begins and ends there."""
    numbers = anchored_cells(plan)
    linked = {number: links.add_anchored(plan.cells[number].links) for number in sorted(numbers)}
    rows: list[list[int]] = []
    for number in numbers:
        cell = plan.cells[number]
        count = (-1, 0, 0)
        if cell.count is not None:
            count = (plan.cells[cell.count].arithmetic.value, *linked[cell.count])
        rows.append(
            [
                cell.arithmetic.value,
                cell.window,
                *links.histories.anchored(number),
                *linked[number],
                *count,
                -1 if cell.count is None or cell.column is None else cell.column,
                int(cell.weighted),
            ]
        )
    return rows, [sum(plan.cells[number].event < event for number in numbers) for event in range(len(plan.classes) + 1)]


def _update(cells: Sequence[Cell], update: Update, offsets: list[int], begin: int, links: _Links) -> list[int]:
    cell, number = update.cell, update.number
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


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(list(rows), np.int64).reshape(-1, width)
