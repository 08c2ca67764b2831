"""A machine that finds completions: the arrays that the kernel works with, from event to event."""

from __future__ import annotations

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.completion_program import Amounts, Program, State, assemble, new_state, with_room
from sparkext.udfs.completions.giving_up import let_go, most_held_by, without
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Flags, Ints

NODES = 1 << 16
"""Room for nodes to begin with."""

AMOUNTS = 4
"""Totals that may be held at once, in nodes: both are given up at about the same memory."""


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
        self._plan, self._asked = plan, plan.completions
        self._program = assemble(self._asked, plan)
        nodes = max(min(nodes, self._asked.most), len(self._program.states))
        self._state = new_state(self._program, nodes, 64, 64, max(rows, 1 + len(self._program.queries)))
        self._form = form
        self._compares = len(self._program.code) > 0
        self._numbers = np.zeros(0, np.int64)
        self._extended: Batch | None = None
        self._values = self._state.values.rows(slice(0), slice(None), 0)
        self._base = 0

    @property
    def arrays(self) -> tuple[Program, State]:
        """What the kernel works with now."""
        return self._program, self._state

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
        cursor = self._state.cursor
        count, values = int(cursor[col.CURSOR_OUT]), int(cursor[col.CURSOR_VALUES])
        cursor[col.CURSOR_OUT] = cursor[col.CURSOR_VALUES] = 0
        self._values = self._state.values.rows(np.arange(values), slice(None), 0)
        return self._state.out[:count].copy()

    def values(self, query: int, at: Ints, windows: Ints) -> list[Amounts]:
        """What has been added up for completions that were taken last, a total for each value of their query.

        Args:
            query: Its number.
            at: What they have as ``OUT_VALUES``. Shape (rows,).
            windows: That is asked about. Shape (rows,).
        """
        first, end, by_lanes = self._program.queries[
            query, [col.QUERY_VALUES, col.QUERY_VALUES_END, col.QUERY_BY_LANES]
        ].tolist()
        rows = at + windows if by_lanes else at
        return [self._values.rows(rows, value) for value in range(end - first)]

    def make_room(self) -> list[tuple[int, int]]:
        """See to what the kernel wants; no completion that has been taken may be looked up after that.

        Returns:
            Queries that are given up, since too much would be held, each with the window of the latest event.
        """
        wants = self._state.cursor[col.CURSOR_WANTS]
        kept, given_up = self._compact(), []
        while kept > self._asked.most:
            given_up.append(self._give_up(most_held_by(self._asked, self._state)))
            kept = self._compact()
        state = self._state
        nodes, entries, waiting = len(state.nodes), state.lists.shape[1], len(state.waiting)
        fresh, lanes, anchors = len(state.fresh.high), len(state.lanes), state.anchors.shape[1]
        coming = len(self._program.states) + int(state.cursor[col.CURSOR_LISTED])
        while wants == col.WANTS_NODES and kept + max(kept, coming) > nodes:
            nodes *= 2
        if wants == col.WANTS_LISTS:
            entries *= 2
        if wants == col.WANTS_WAITING:
            waiting *= 2
        if wants == col.WANTS_FRESH:
            fresh *= 2
        if wants == col.WANTS_LANES:
            lanes *= 2
        if wants == col.WANTS_ANCHORS:
            anchors *= 2
        adding = [number for number, query in enumerate(self._asked.queries) if query.values and query.ends]
        is_too_much = self._amounts(entries, waiting, fresh, lanes) > AMOUNTS * self._asked.most
        if adding and is_too_much and wants not in (col.WANTS_NODES, col.WANTS_ANCHORS):
            given_up.append(self._give_up(most_held_by(self._asked, state, adding)))
        else:
            self._state = with_room(state, nodes, entries, waiting, fresh, lanes, anchors)
        return given_up

    def _give_up(self, query: int) -> tuple[int, int]:
        """Give up a query; its number, and the window of the latest event."""
        window = self._asked.queries[query].window
        self._asked = without(self._asked, query)
        # What is added up for others stays where it is.
        self._program = assemble(self._asked, self._plan)._replace(facts=self._program.facts)
        let_go(self._asked, self._state)
        return query, int(self._state.cursor[col.CURSOR_TIME]) // window.slide if window else 0

    def _amounts(self, entries: int, waiting: int, fresh: int, lanes: int) -> int:
        """How many totals there is room for, with so much room for each."""
        held, of_fresh, waited = (of.high.shape for of in (self._state.held, self._state.fresh, self._state.waited))
        has_lists = len(self._state.lists) > 0
        rows = held[0] * (entries if has_lists else 1) + fresh * of_fresh[1] + (waiting if waited[0] else 0) * waited[1]
        return int(rows * lanes)

    def rows_in_use(self, drop: bool = False) -> Ints:
        """Numbers of the rows that nodes name, ascending.

        Args:
            drop: Whether nodes are to be dropped first that nothing leads to, so that no completion that has been
                taken may be looked up after that.
        """
        if drop:
            self._compact()
        count = int(self._state.cursor[col.CURSOR_NODES])
        nodes, registers = self._state.nodes[:count], self._state.registers[:count]
        named = np.concatenate([nodes[:, col.NODE_ROW], nodes[:, col.NODE_ANCHOR], registers.ravel()])
        rows: Ints = np.unique(named[named >= 0])
        return rows

    def nodes(self, numbers: Ints, column: int) -> Ints:
        """A column of some nodes."""
        values: Ints = self._state.nodes[numbers, column]
        return values

    def registers(self, numbers: Ints, register: int) -> Ints:
        """Rows that a register holds at some nodes."""
        rows: Ints = self._state.registers[numbers, register]
        return rows

    def _compact(self) -> int:
        return int(self._form.of("compact")(self._program, self._state))

    def _point(self, rows: Ints, first: int) -> None:
        """Let comparisons look at rows that stand from ``first`` on in the batch."""
        state = self._state
        nodes = state.nodes[: int(state.cursor[col.CURSOR_NODES])]
        nodes[:, col.NODE_SOURCE] = first + np.searchsorted(rows, nodes[:, col.NODE_ROW])
        has_anchor = nodes[:, col.NODE_ANCHOR] >= 0
        nodes[:, col.NODE_FROM] = nodes[:, col.NODE_SOURCE]
        nodes[has_anchor, col.NODE_FROM] = first + np.searchsorted(rows, nodes[has_anchor, col.NODE_ANCHOR])
        for number, kind in enumerate(self._program.states[:, col.STATE_KIND]):
            if kind > col.BEST:
                count = int(state.counts[number])
                column = col.NODE_FROM if kind == col.ANCHORED else col.NODE_SOURCE
                state.sources[number, :count] = nodes[state.lists[number, :count, col.ENTRY_NODE], column]
