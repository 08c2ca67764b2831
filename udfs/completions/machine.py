"""A machine that finds completions: the arrays that the kernel works with, from event to event."""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.udfs.completions.form import Form
from sparkext.udfs.completions.giving_up import let_go, most_held_by, without
from sparkext.udfs.completions.program import (
    ANCHORED,
    BEST,
    CURSOR_LISTED,
    CURSOR_NODES,
    CURSOR_OUT,
    CURSOR_TIME,
    CURSOR_WANTS,
    ENTRY_NODE,
    NODE_ANCHOR,
    NODE_FROM,
    NODE_ROW,
    NODE_SOURCE,
    STATE_KIND,
    WANTS_LISTS,
    WANTS_NODES,
    WANTS_WAITING,
    assemble,
    new_state,
    with_room,
)
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Flags, Ints

NODES = 1 << 16
"""Room for nodes to begin with."""


class CompletionMachine:
    """Finds the completions of all queries of a plan that ask for them.

    Args:
        plan: The plan.
        rows: Room for completions.
        form: Says whether compiled or interpreted kernels run.
        nodes: Room for nodes to begin with.
    """

    def __init__(self, plan: KernelPlan, rows: int, form: Form, nodes: int = NODES) -> None:
        assert plan.completions is not None
        self._classes, self._asked = len(plan.classes), plan.completions
        self._program = assemble(self._asked, self._classes)
        nodes = max(min(nodes, self._asked.most), len(self._program.states))
        self._state = new_state(self._program, nodes, 64, 64, max(rows, 1 + len(self._program.queries)))
        self._form = form
        self._compares = len(self._program.code) > 0
        self._numbers = np.zeros(0, np.int64)
        self._extended: Batch | None = None
        self._base = 0

    def begin(self, batch: Batch, base: int) -> Batch:
        """A batch with the events of earlier ones that comparisons may look at; its first row is numbered ``base``."""
        self._base = base
        if not self._compares:
            return batch
        before, numbers = self._extended, self._numbers
        self._compact()
        rows = self.rows_in_use()
        if before is not None and len(rows):
            order = np.argsort(numbers)
            indexes = order[np.searchsorted(numbers[order], rows)]
            batch = batch._replace(
                valid=np.concatenate([batch.valid, before.valid[:, indexes]], axis=1),
                numbers=np.concatenate([batch.numbers, before.numbers[:, indexes]], axis=1),
                key_high=np.concatenate([batch.key_high, before.key_high[:, indexes]], axis=1)
                if len(batch.key_high)
                else batch.key_high,
                key_low=np.concatenate([batch.key_low, before.key_low[:, indexes]], axis=1)
                if len(batch.key_low)
                else batch.key_low,
            )
            self._point(rows, len(batch.time))
        self._extended = batch
        self._numbers = np.concatenate([np.arange(base, base + len(batch.time)), rows])
        return batch

    def advance(self, batch: Batch, moments: Flags, keys: Ints, row: int) -> int:
        """Process the events of a batch from ``row`` on; returns where to go on when there is room again."""
        run = self._form.of("advance", len(batch.time) - row)
        return int(run(self._program, self._state, batch, moments, keys, row, self._base))

    def finish(self) -> bool:
        """End the key under way; returns whether that is done, or completions are to be taken first."""
        return bool(self._form.of("finish")(self._program, self._state))

    def taken(self) -> Ints:
        """Completions that have been found, which are not held any longer; columns as `OUT_QUERY` and so on."""
        count = int(self._state.cursor[CURSOR_OUT])
        self._state.cursor[CURSOR_OUT] = 0
        return self._state.out[:count].copy()

    def make_room(self) -> list[tuple[int, int]]:
        """See to what the kernel wants; no completion that has been taken may be looked up after that.

        Returns:
            Queries that are given up, since there would be too many nodes, each with the window of the latest event.
        """
        wants = self._state.cursor[CURSOR_WANTS]
        kept, given_up = self._compact(), []
        while kept > self._asked.most:
            query = most_held_by(self._asked, self._state)
            window = self._asked.queries[query].window
            given_up.append((query, int(self._state.cursor[CURSOR_TIME]) // window.slide if window else 0))
            self._asked = without(self._asked, query)
            self._program = assemble(self._asked, self._classes)
            let_go(self._asked, self._state)
            kept = self._compact()
        state = self._state
        nodes, entries, waiting = len(state.nodes), state.lists.shape[1], len(state.waiting)
        coming = len(self._program.states) + int(state.cursor[CURSOR_LISTED])
        while wants == WANTS_NODES and kept + max(kept, coming) > nodes:
            nodes *= 2
        if wants == WANTS_LISTS:
            entries *= 2
        if wants == WANTS_WAITING:
            waiting *= 2
        self._state = with_room(state, nodes, entries, waiting)
        return given_up

    def rows_in_use(self, drop: bool = False) -> Ints:
        """Numbers of the rows that nodes name, ascending.

        Args:
            drop: Whether nodes are to be dropped first that nothing leads to, so that no completion that has been
                taken may be looked up after that.
        """
        if drop:
            self._compact()
        count = int(self._state.cursor[CURSOR_NODES])
        nodes, registers = self._state.nodes[:count], self._state.registers[:count]
        named = np.concatenate([nodes[:, NODE_ROW], nodes[:, NODE_ANCHOR], registers.ravel()])
        found: Ints = np.unique(named[named >= 0])
        return found

    def nodes(self, numbers: Ints, column: int) -> Ints:
        """A column of some nodes."""
        found: Ints = self._state.nodes[numbers, column]
        return found

    def registers(self, numbers: Ints, register: int) -> Ints:
        """Rows that a register holds at some nodes."""
        found: Ints = self._state.registers[numbers, register]
        return found

    def _compact(self) -> int:
        return int(self._form.of("compact")(self._program, self._state))

    def _point(self, rows: Ints, first: int) -> None:
        """Let comparisons look at rows that stand from ``first`` on in the batch."""
        state = self._state
        nodes = state.nodes[: int(state.cursor[CURSOR_NODES])]
        nodes[:, NODE_SOURCE] = first + np.searchsorted(rows, nodes[:, NODE_ROW])
        has_anchor = nodes[:, NODE_ANCHOR] >= 0
        nodes[:, NODE_FROM] = nodes[:, NODE_SOURCE]
        nodes[has_anchor, NODE_FROM] = first + np.searchsorted(rows, nodes[has_anchor, NODE_ANCHOR])
        for number, kind in enumerate(self._program.states[:, STATE_KIND]):
            if kind > BEST:
                count = int(state.counts[number])
                column = NODE_FROM if kind == ANCHORED else NODE_SOURCE
                state.sources[number, :count] = nodes[state.lists[number, :count, ENTRY_NODE], column]
