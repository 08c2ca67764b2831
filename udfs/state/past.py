"""The past of a run: room for what comparisons reach back to, made anew for each batch.

Before a batch, events of the key under way that may still be reached are carried over, trees are sized
for the values that occur in the batch and among them, and filled again with what was in them.
"""

from __future__ import annotations

import ctypes
import os
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD, Access, KernelPlan
from sparkext.udfs.comparisons.histories import terms_of
from sparkext.udfs.comparisons.ranks import ASKED, ASKED_END, RankedEvents, Ranker
from sparkext.udfs.state.fresh import no_past, registers_for, totals_of
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.batch import Batch, no_batch
from sparkext.udfs.tables.program import (
    EXTREME,
    NEVER_YET,
    NO_KEY,
    SCAN_CHUNK,
    Flags,
    Ints,
    Narrow,
    Past,
    Program,
    State,
)

_Value = TypeVar("_Value", bound=np.generic)

PAST_BYTES = 128 << 20
"""Room for the past of a batch, from which on batches are not put together, and are cut."""

_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
"""Gives the system what malloc keeps of freed memory, where the C library can. Each past is larger than the one before
it and does not fit into its room, which for long keys is a tenth of all that a worker has."""

_LONG = 1 << 16
"""Events carried over from which on that is done: it takes as long as some thousand events."""

_NODES = {Access.HASH: 1, Access.FENWICK: 1, Access.SEGMENT: 2, Access.RANGE: 3}
"""Nodes of a tree for each event, about."""


class PastRoom:
    """Makes the past of each batch out of that of the batch before."""

    def __init__(self, plan: KernelPlan, program: Program) -> None:
        self._plan = plan
        self._program = program
        self._last = no_batch(plan)
        self._classes = _ordinals(program.history_ends, len(program.histories))
        terms = terms_of(plan)
        self._compared = _compared_columns(plan)
        self._rankers = [Ranker(plan, term) for _, term in terms]
        self._reached = [self._tree_classes(number) for number in range(len(terms))]
        self._asking = [_asking_classes(plan, comparison) for comparison, _ in terms]
        self._registers = registers_for(program.code, SCAN_CHUNK)
        self._bytes = self._bytes_per_row()
        self.past = no_past(program, len(terms))

    def carried(self) -> int:
        """How many events the next batch may reach back to."""
        return int((self.past.rows[:, col.PAST_END] - self.past.rows[:, col.PAST_BEGIN]).max(initial=0))

    def at_once(self) -> int:
        """Most rows that there is room for at once.

        At least as many as are carried over, so that the work of carrying them over is not more than that of rows.
        """
        return max(PAST_BYTES // self._bytes, self.carried(), 1)

    def worth_waiting(self, rows: int) -> bool:
        """Whether a batch of so many rows had better be put together with the next one.

        Making the past takes time in proportion to the events carried over, so batches should be as many.
        """
        return rows < self.carried() and rows * self._bytes < PAST_BYTES

    def _bytes_per_row(self) -> int:
        """About as many bytes as the past of an event takes."""
        histories, trees = self._program.histories, self._program.trees
        values = int((histories[:, col.HISTORY_LANES] * histories[:, col.HISTORY_CELLS]).sum())
        accesses = [ranker.access for ranker in self._rankers]
        nodes = sum(_NODES[accesses[int(tree[col.TREE_TERM])]] * int(tree[col.TREE_LANES]) for tree in trees)
        return 64 + 16 * values + 24 * nodes + 64 * len(accesses)

    def extend(self, batch: Batch, state: State) -> Batch:
        """The batch with the events that it may reach back to after its own; ``past`` is made for it.

        The kernel has to refill its trees.

        Args:
            batch: The batch.
            state: Of the events before.
        """
        live = self._live(batch, state)
        old = self.past = self._values_alone()
        carried = np.zeros(self._last.valid.shape[1], np.bool_)
        for entries in live:
            carried[old.source[entries]] = True
        sources = np.flatnonzero(carried)
        batch = self._last = self._extended(batch, sources)
        # Where the rows carried over are now.
        moved = len(batch.time) - 1 + np.cumsum(carried)
        past = self._room(batch, live)
        if _trim is not None and len(sources) >= _LONG:
            _trim(0)
        for history, entries in enumerate(live):
            self._copy(history, entries, moved[old.source[entries]], old, past)
        self.past = past
        return batch

    def _values_alone(self) -> Past:
        """The past without what is made anew, which there need not be twice."""
        empty = no_past(self._program, len(self._rankers))
        made_anew = ("nodes", "node_window", "ranks", "intervals", "order", "sorted", "slots", "asked_nodes", "matches")
        return self.past._replace(**{name: getattr(empty, name) for name in made_anew})

    def _live(self, batch: Batch, state: State) -> list[Ints]:
        """Per history, the entries of events that are in a window still open."""
        past, live = self.past, []
        for history, (window, *_) in enumerate(self._program.histories):
            begin, end = past.rows[history, col.PAST_BEGIN : col.PAST_END + 1]
            if batch.new_key[0] or not state.cursor[col.CURSOR_KEY]:
                begin = end
            entries = np.arange(begin, end)
            oldest = state.open[window, col.OPEN_ORIGIN] + state.open[window, col.OPEN_LANE]
            live.append(entries[past.first[entries] + past.windows[entries] > oldest])
        return live

    def _extended(self, batch: Batch, sources: Ints) -> Batch:
        if not len(sources):
            return batch
        last = self._last

        def with_last(current: NDArray[_Value], before: NDArray[_Value]) -> NDArray[_Value]:
            if not len(current):
                return current
            rows = current.shape[1]
            extended = np.zeros((len(current), rows + len(sources)), current.dtype)
            extended[:, :rows] = current
            for column in self._compared:
                extended[column, rows:] = before[column, sources]
            return extended

        return batch._replace(
            valid=with_last(batch.valid, last.valid),
            numbers=with_last(batch.numbers, last.numbers),
            key_high=with_last(batch.key_high, last.key_high),
            key_low=with_last(batch.key_low, last.key_low),
        )

    def _room(self, batch: Batch, live: list[Ints]) -> Past:
        """An empty past that the events of the batch and those carried over fit into."""
        program, histories = self._program, self._program.histories
        events = [int(np.count_nonzero(_is_of(batch, event))) for event in self._classes]
        sizes = np.array([count + len(entries) for count, entries in zip(events, live, strict=True)], np.int64)
        begins = np.concatenate(([0], np.cumsum(sizes)))
        values = sizes * histories[:, col.HISTORY_LANES] * histories[:, col.HISTORY_CELLS]
        value_at = np.concatenate(([0], np.cumsum(values)))
        seen = [int((p < e).sum()) for p, e in zip(live, self.past.rows[:, col.PAST_SEEN], strict=True)]
        rows = np.array(
            [
                [begin, size, begin, begin + len(entries), begin + visible]
                for begin, size, entries, visible in zip(begins, sizes, live, seen, strict=False)
            ],
            np.int64,
        ).reshape(-1, 5)
        ranked = self._ranked(batch)
        nodes = np.array([ranked[term].nodes for term in program.trees[:, col.TREE_TERM]], np.int64)
        lanes = nodes * program.trees[:, col.TREE_LANES]
        node_at = np.concatenate(([0], np.cumsum(lanes)))
        intervals = program.trees[:, col.TREE_INTERVALS] != 0
        without = intervals & (program.windows[program.trees[:, col.TREE_WINDOW], 0] == 0)
        window_at = np.concatenate(([0], np.cumsum(np.where(without, 0, lanes))))
        high, low = np.zeros((2, int(node_at[-1])), np.int64)
        for tree in np.flatnonzero(intervals & (program.trees[:, col.TREE_KIND] == EXTREME)):
            nodes_of_tree = slice(int(node_at[tree]), int(node_at[tree + 1]))
            high[nodes_of_tree], low[nodes_of_tree] = NO_KEY
        length = int(begins[-1])
        asked_at = np.concatenate(([0], np.cumsum([len(ranked_events.intervals) for ranked_events in ranked])))
        layout_at = np.concatenate(([0], np.cumsum([ranked_events.layout.order.size for ranked_events in ranked])))
        for ranked_events, at in zip(ranked, asked_at, strict=False):
            if ranked_events.leaves:
                ranked_events.table[:, ASKED : ASKED_END + 1] += int(at)
        layouts = [ranked_events.layout for ranked_events in ranked]
        return Past(
            rows=rows,
            time=np.zeros(length, np.int64),
            first=np.zeros(length, np.int64),
            windows=np.zeros(length, np.int64),
            source=np.zeros(length, np.int64),
            taken=np.zeros(length, np.uint8),
            values=totals_of(*np.zeros((2, int(value_at[-1])), np.int64)),
            value_at=value_at[:-1],
            nodes=totals_of(high, low),
            node_window=np.full(int(window_at[-1]), NEVER_YET, np.int64),
            node_at=node_at[:-1],
            window_at=window_at[:-1],
            ranks=_stacked([ranked_events.table for ranked_events in ranked], batch.valid.shape[1]),
            intervals=_joined([ranked_events.intervals for ranked_events in ranked]).reshape(-1, 2),
            shapes=np.array(
                [
                    (ranked_events.leaves, ranked_events.layout.levels, at)
                    for ranked_events, at in zip(ranked, layout_at, strict=False)
                ],
                np.int64,
            ).reshape(-1, 3),
            order=_joined([layout.order for layout in layouts]),
            sorted=_joined([layout.sorted for layout in layouts]),
            slots=_joined([layout.slots for layout in layouts]),
            asking=np.full((len(ranked), 2), -1, np.int64),
            asked_nodes=np.zeros(
                (len(ranked), max((ranked_events.most_asked for ranked_events in ranked), default=0)), np.int64
            ),
            matches=np.zeros((len(program.scans), int(sizes.max(initial=0))), np.int64),
            unseen=self.past.unseen,
            matched=np.full((len(program.scans), 2), -1, np.int64),
            registers=self._registers,
        )

    def _ranked(self, batch: Batch) -> list[RankedEvents]:
        """Per term, where events stand and what they ask for."""
        rows = len(batch.time)
        carried = batch.valid.shape[1] - rows
        keys = np.concatenate((np.cumsum(batch.new_key, dtype=np.int64), np.zeros(carried, np.int64)))
        ranked: list[RankedEvents] = []
        for ranker, reached, asking in zip(self._rankers, self._reached, self._asking, strict=True):
            stands, asks = np.ones(len(keys), np.bool_), np.zeros(len(keys), np.bool_)
            stands[:rows] = np.any([_is_of(batch, event) for event in reached], axis=0)
            asks[:rows] = np.any([_is_of(batch, event) for event in asking], axis=0)
            ranked.append(ranker.ranks(batch, keys, asks, stands))
        return ranked

    def _tree_classes(self, term: int) -> set[int]:
        """Classes of the events that are in trees of a term, or whose ranks are compared."""
        program = self._program
        history = _ordinals(program.feed_ends, len(program.feeds))
        ranked = (
            scan[col.SCAN_HISTORY] for scan in program.scans if scan[col.SCAN_TERM] <= term < scan[col.SCAN_TERM_END]
        )
        return {int(self._classes[h]) for h in ranked} | {
            int(self._classes[h])
            for h, (tree, _, _) in zip(history, program.feeds, strict=True)
            if program.trees[tree, col.TREE_TERM] == term
        }

    def _copy(self, history: int, entries: Ints, sources: Ints, old: Past, new: Past) -> None:
        begin = int(new.rows[history, col.PAST_FIRST])
        entries_after = slice(begin, begin + len(entries))
        new.time[entries_after], new.first[entries_after], new.windows[entries_after] = (
            old.time[entries],
            old.first[entries],
            old.windows[entries],
        )
        new.source[entries_after], new.taken[entries_after] = sources, old.taken[entries]
        width = int(
            self._program.histories[history, col.HISTORY_LANES] * self._program.histories[history, col.HISTORY_CELLS]
        )
        value_begin = int(new.value_at[history])
        if len(entries) and entries[-1] - entries[0] + 1 == len(entries):
            first, size = (
                int(old.value_at[history] + (entries[0] - old.rows[history, col.PAST_FIRST]) * width),
                width * len(entries),
            )
            for word in (0, 1):
                new.values[word][value_begin : value_begin + size] = old.values[word][first : first + size]
            return
        first = old.value_at[history] + (entries - old.rows[history, col.PAST_FIRST]) * width
        lanes = (first[:, None] + np.arange(width)).ravel()
        for word in (0, 1):
            new.values[word][value_begin : value_begin + len(lanes)] = old.values[word][lanes]


def _compared_columns(plan: KernelPlan) -> list[int]:
    """Columns that comparisons read; of an event that is reached back to, nothing else is read."""
    columns: set[int] = set()
    for comparison in plan.comparisons:
        programs = [comparison.program]
        for term in comparison.terms:
            programs += [term.asks, term.stands, *(interval.program for interval in term.intervals)]
            columns.update(prev for _, prev in term.equal)
            columns |= set() if term.order is None else {term.order.prev}
        columns.update(instruction.column for program in programs for instruction in program if instruction.column >= 0)
    return sorted(columns)


def _asking_classes(plan: KernelPlan, comparison: int) -> set[int]:
    """Classes of the events that look for others before them by a comparison."""
    return {cell.event for cell in plan.cells if any(link.comparison == comparison for link in cell.links)}


def _stacked(tables: list[Narrow], rows: int) -> Narrow:
    """Tables as one; it is never without rows, so that its rows are always where they are."""
    if len(tables) == 1:
        return tables[0][np.newaxis]
    return np.stack(tables) if tables else np.zeros((0, rows, 5), np.int32)


def _joined(parts: list[Narrow]) -> Narrow:
    """What is in arrays, one after the other; a single one is not copied."""
    some = [part.ravel() for part in parts if part.size]
    if len(some) == 1:
        return some[0]
    return np.concatenate(some) if some else np.zeros(0, np.int32)


def _is_of(batch: Batch, event: int) -> Flags:
    """Whether events are of a class."""
    flags: Flags = (batch.classes[:, event // CLASSES_PER_WORD] >> event % CLASSES_PER_WORD & 1).astype(np.bool_)
    return flags


def _ordinals(ends: Ints, count: int) -> Ints:
    """Per row of a table that is ordered by something, its number; ``ends`` are where each begins, and the end."""
    return np.searchsorted(ends, np.arange(count), side="right") - 1
