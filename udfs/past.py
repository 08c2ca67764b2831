"""The past of a run: room for what comparisons reach back to, made anew for each batch.

Before a batch, events of the key under way that may still be reached are carried over, trees are sized
for the values that occur in the batch and among them, and filled again with what was in them.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from planner.kernel_plan import CLASSES_PER_WORD, Access, KernelPlan
from udfs.batches import Batch, no_batch
from udfs.lookback import refill_trees
from udfs.program import NEVER_YET, Flags, Ints, Past, Program, State, no_past, totals_of
from udfs.ranks import ranks

_Value = TypeVar("_Value", bound=np.generic)

PAST_BYTES = 128 << 20
"""Room for the past of a batch up to which batches are put together."""


class PastRoom:
    """Makes the past of each batch out of that of the batch before."""

    def __init__(self, plan: KernelPlan, program: Program) -> None:
        self._plan = plan
        self._program = program
        self._last = no_batch(plan)
        self._classes = _ordinals(program.history_ends, len(program.histories))
        self._reached = [self._tree_classes(number) for number in range(len(plan.comparisons))]
        self.past = no_past(program)

    def carried(self) -> int:
        """How many events the next batch may reach back to."""
        return int((self.past.rows[:, 3] - self.past.rows[:, 2]).max(initial=0))

    def worth_waiting(self, rows: int) -> bool:
        """Whether a batch of so many rows had better be put together with the next one.

        Making the past takes time in proportion to the events carried over, so batches should be as many.
        """
        lanes = int((self._program.histories[:, 1] * self._program.histories[:, 2]).sum())
        return rows < self.carried() and rows * lanes * 64 < PAST_BYTES

    def kept(self) -> tuple[Past, Batch]:
        """What is remembered from batch to batch."""
        return self.past, self._last

    def restore(self, kept: tuple[Past, Batch]) -> None:
        """Go on with what another has kept."""
        self.past, self._last = kept

    def extend(self, batch: Batch, state: State) -> Batch:
        """The batch with the events that it may reach back to after its own; ``past`` is made for it."""
        live = self._live(batch, state)
        old = self.past
        carried = np.zeros(self._last.valid.shape[1], np.bool_)
        for places in live:
            carried[old.source[places]] = True
        batch = self._extended(batch, np.flatnonzero(carried))
        # Where the rows carried over are now.
        moved = len(batch.time) - 1 + np.cumsum(carried)
        past = self._room(batch, live)
        for history, places in enumerate(live):
            self._copy(history, places, moved[old.source[places]], old, past)
        refill_trees(self._program, past)
        self._last, self.past = batch, past
        return batch

    def _live(self, batch: Batch, state: State) -> list[Ints]:
        """Per history, the places of events that are in a window still open."""
        past, live = self.past, []
        for history, (window, *_) in enumerate(self._program.histories):
            begin, end = past.rows[history, 2:4]
            if batch.new_key[0] or not state.cursor[0]:
                begin = end
            places = np.arange(begin, end)
            oldest = state.open[window, 0] + state.open[window, 3]
            live.append(places[past.first[places] + past.windows[places] > oldest])
        return live

    def _extended(self, batch: Batch, sources: Ints) -> Batch:
        if not len(sources):
            return batch
        last = self._last

        def with_last(own: NDArray[_Value], before: NDArray[_Value]) -> NDArray[_Value]:
            return np.concatenate((own, before.take(sources, axis=1)), axis=1) if len(own) else own

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
        sizes = np.array([count + len(places) for count, places in zip(events, live, strict=True)], np.int64)
        begins = np.concatenate(([0], np.cumsum(sizes)))
        values = sizes * histories[:, 1] * histories[:, 2]
        value_at = np.concatenate(([0], np.cumsum(values)))
        seen = [int((p < e).sum()) for p, e in zip(live, self.past.rows[:, 4], strict=True)]
        rows = np.array(
            [
                [begin, size, begin, begin + len(places), begin + visible]
                for begin, size, places, visible in zip(begins, sizes, live, seen, strict=False)
            ],
            np.int64,
        ).reshape(-1, 5)
        all_ranks, nodes = self._ranks(batch)
        lanes = np.array([nodes[comparison] * lanes for comparison, lanes in program.trees], np.int64)
        node_at = np.concatenate(([0], np.cumsum(lanes)))
        places = int(begins[-1])
        return Past(
            rows=rows,
            time=np.zeros(places, np.int64),
            first=np.zeros(places, np.int64),
            windows=np.zeros(places, np.int64),
            source=np.zeros(places, np.int64),
            values=totals_of(*np.zeros((2, int(value_at[-1])), np.int64)),
            value_at=value_at[:-1],
            nodes=totals_of(*np.zeros((2, int(node_at[-1])), np.int64)),
            node_window=np.full(int(node_at[-1]), NEVER_YET, np.int64),
            node_at=node_at[:-1],
            ranks=all_ranks,
            matches=np.zeros((len(program.scans), int(sizes.max(initial=0))), np.int64),
            unseen=self.past.unseen,
            matched=np.full((len(program.scans), 2), -1, np.int64),
        )

    def _ranks(self, batch: Batch) -> tuple[Ints, list[int]]:
        """``Past.ranks``, and per comparison the number of nodes of a tree's cell."""
        carried = batch.valid.shape[1] - len(batch.time)
        keys = np.concatenate((np.cumsum(batch.new_key, dtype=np.int64), np.zeros(carried, np.int64)))
        tables: list[Ints] = []
        nodes: list[int] = []
        for number, comparison in enumerate(self._plan.comparisons):
            if comparison.access is Access.SCAN:
                tables.append(np.full((len(keys), 5), -1, np.int64))
                nodes.append(0)
                continue
            before = np.ones(len(keys), np.bool_)
            before[: len(batch.time)] = np.any([_is_of(batch, event) for event in self._reached[number]], axis=0)
            table, count = ranks(comparison, batch, keys, before)
            tables.append(table)
            nodes.append(count)
        return np.stack(tables), nodes

    def _tree_classes(self, comparison: int) -> set[int]:
        """Classes of the events that are in trees of a comparison."""
        program = self._program
        history = _ordinals(program.feed_ends, len(program.feeds))
        return {
            int(self._classes[h])
            for h, (tree, _, _) in zip(history, program.feeds, strict=True)
            if program.trees[tree, 0] == comparison
        }

    def _copy(self, history: int, places: Ints, sources: Ints, old: Past, new: Past) -> None:
        begin = int(new.rows[history, 0])
        there = slice(begin, begin + len(places))
        new.time[there], new.first[there], new.windows[there] = old.time[places], old.first[places], old.windows[places]
        new.source[there] = sources
        width = int(self._program.histories[history, 1] * self._program.histories[history, 2])
        value_begin = int(new.value_at[history])
        if len(places) and places[-1] - places[0] + 1 == len(places):
            first, size = int(old.value_at[history] + (places[0] - old.rows[history, 0]) * width), width * len(places)
            for word in (0, 1):
                new.values[word][value_begin : value_begin + size] = old.values[word][first : first + size]
            return
        first = old.value_at[history] + (places - old.rows[history, 0]) * width
        lanes = (first[:, None] + np.arange(width)).ravel()
        for word in (0, 1):
            new.values[word][value_begin : value_begin + len(lanes)] = old.values[word][lanes]


def _is_of(batch: Batch, event: int) -> Flags:
    """Whether events are of a class."""
    flags: Flags = (batch.classes[:, event // CLASSES_PER_WORD] >> event % CLASSES_PER_WORD & 1).astype(np.bool_)
    return flags


def _ordinals(ends: Ints, count: int) -> Ints:
    """Per row of a table that is ordered by something, its number; ``ends`` are where each begins, and the end."""
    return np.searchsorted(ends, np.arange(count), side="right") - 1
