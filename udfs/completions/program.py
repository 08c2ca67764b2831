"""The completion plan as flat arrays, and the arrays that hold the state of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sparkext.planner.automata.guards import ALWAYS, Condition
from sparkext.planner.kernel_plan.kernel_plan import CompletionQuery, Completions, CompletionState
from sparkext.planner.patterns.query import Side
from sparkext.udfs.comparisons.histories import coded
from sparkext.udfs.state.fresh import registers_for
from sparkext.udfs.tables.program import NEVER_YET, SCAN_CHUNK, Flags, Ints, Registers

(
    STATE_LABEL,
    STATE_START,
    STATE_START_CLASS,
    STATE_START_CONDITION,
    STATE_LINKS,
    STATE_LINKS_END,
    STATE_KIND,
    STATE_TAKEN,
    STATE_ENDS,
    STATE_ENDS_END,
    STATE_OPEN,
    STATE_REACH,
    STATE_CHAIN,
) = range(13)
"""Of ``Program.states``."""

UNREAD, BEST, BUCKETS, LISTED, ANCHORED = range(5)
"""What is held at a state: nothing, the best node, the best of each bucket of moments, all nodes, or the best node for
each anchor."""

LINK_SOURCE, LINK_CONDITION, LINK_COMPARISON = range(3)
"""Of ``Program.links``."""

CONDITION_GUARDS, CONDITION_GUARDS_END, CONDITION_TABLE = range(3)
"""Of ``Program.conditions``."""

CUT_STATE, CUT_CONDITION = range(2)
"""Of ``Program.cuts``."""

GUARD_NUMBER, GUARD_STARTS, GUARD_BREAKS, GUARD_SOURCES, GUARD_SOURCES_END = range(5)
"""Of ``Program.guard_states``."""

END_QUERY, END_CONDITION = range(2)
"""Of ``Program.ends``."""

QUERY_WITHIN, QUERY_SLIDE, QUERY_SPAN, QUERY_WAIT, QUERY_WAITS = range(5)
"""Of ``Program.queries``."""

FIRST_OF_ALL, LAST_OF_ALL = 1, 2
"""Of ``Program.registers``: whether the event at a state is remembered if there is none yet, or in any case."""

(
    CURSOR_KEY_OPEN,
    CURSOR_TIME,
    CURSOR_MOMENT,
    CURSOR_NODES,
    CURSOR_NEW,
    CURSOR_ORDER,
    CURSOR_OUT,
    CURSOR_WAITING,
    CURSOR_DEADLINE,
    CURSOR_KEY,
    CURSOR_IS_CUT,
    CURSOR_WANTS,
    CURSOR_LISTED,
) = range(13)
"""Of ``State.cursor``."""

WANTS_NOTHING, WANTS_OUTPUT, WANTS_NODES, WANTS_LISTS, WANTS_WAITING = range(5)
"""Why the kernel has stopped."""

NODE_START, NODE_PREV, NODE_ORDER, NODE_ROW, NODE_STATE, NODE_MOMENT, NODE_TIME, NODE_ANCHOR, NODE_SOURCE, NODE_FROM = (
    range(10)
)
"""Of ``State.nodes``."""

ENTRY_NODE, ENTRY_MOMENT, ENTRY_LEAVES = range(3)
"""Of ``State.lists``."""

WAIT_QUERY, WAIT_NODE, WAIT_CONDITION, WAIT_DEADLINE, WAIT_WINDOW, WAIT_LAST = range(6)
"""Of ``State.waiting``."""

OUT_QUERY, OUT_NODE, OUT_ROW, OUT_WINDOW, OUT_LAST, OUT_KEY = range(6)
"""Of ``State.out``."""

FACT_OPEN = 0
"""Of ``Program.facts``."""

NO_CHAIN = -1
"""As ``STATE_CHAIN``: nobody asks for all events of a trend."""

FOREVER = np.iinfo(np.int64).max
"""A deadline that never comes."""


class Program(NamedTuple):
    """What to look for. All arrays are int64 and C-contiguous.

    Attributes:
        states: Per state: number of its variable, whether a trend may start, class needed for that (-1: none),
            condition of that (-1: none), begin and end in ``links``, what is held there, whether events leave that
            are gone on from, begin and end in ``ends``, whether trends are held per anchor, how long their trends may
            be (0: any time), and how long those of which all events are asked for. Shape (states, 13).
        class_states: States in order of their classes.
        class_ends: Where those of each class begin in ``class_states``, and the end. Shape (classes + 1,).
        links: State before, condition (-1: none), comparison (-1: none). Shape (links, 3).
        conditions: Begin and end in ``condition_guards``, begin in ``condition_tables``. Shape (conditions, 3).
        condition_guards: Numbers of guards.
        condition_tables: Per set of intact guards, as bits, whether the condition holds.
        cuts: State that events of a class empty, condition (-1: none), in order of classes. Shape (cuts, 2).
        cut_ends: Where those of each class begin, and the end. Shape (classes + 1,).
        guard_states: Number, whether it may start there, guard that it breaks (-1: none), begin and end in
            ``guard_sources``, in order of classes. Shape (guard states, 5).
        guard_ends: Where those of each class begin, and the end. Shape (classes + 1,).
        guard_sources: Guard states.
        registers: Per state and register, whether the event is remembered. Shape (states, registers).
        ends: Query, condition (-1: none). Shape (ends, 2).
        queries: Length of the window (0: unbounded), slide, span (0: none), wait (-1: none), whether it waits at all.
            Shape (queries, 5).
        code: Instructions of comparisons, as `sparkext.udfs.comparisons.scan` wants them. Shape (instructions, 7).
        code_ends: Where those of each comparison begin, and the end. Shape (comparisons + 1,).
        facts: Whether trends are held per anchor somewhere. Shape (1,).
    """

    states: Ints
    class_states: Ints
    class_ends: Ints
    links: Ints
    conditions: Ints
    condition_guards: Ints
    condition_tables: Ints
    cuts: Ints
    cut_ends: Ints
    guard_states: Ints
    guard_ends: Ints
    guard_sources: Ints
    registers: Ints
    ends: Ints
    queries: Ints
    code: Ints
    code_ends: Ints
    facts: Ints


class State(NamedTuple):
    """All that a run remembers of the key under way. Rows of events are numbered through the run.

    Attributes:
        cursor: See `CURSOR_KEY_OPEN` and so on. Shape (13,).
        nodes: See `NODE_START` and so on; the node before, and the anchor's row, are -1 if there is none.
            Shape (room, 10).
        registers: Per node and register, the row that is remembered (-1: none). Shape (room, registers).
        best: Per state, the best node (-1: none). Shape (states,).
        lists: Per state and entry, a node, the first moment of the bucket, and whether the entry leaves when the moment
            under way is over. Shape (states or 0, room, 3).
        sources: Per state and entry, the row of the batch that comparisons look at. Shape (states or 0, room).
        counts: Entries in use per state. Shape (states,).
        is_cut: Per state, whether all of it leaves when the moment is over. Shape (states,).
        latest: Per guard state, the latest moment at which a forbidden trend has started that has come there; then the
            same by the moment under way. Shape (2, guard states).
        broken: Per guard, the latest start of a forbidden trend that has ended. Shape (guards,).
        waiting: See `WAIT_QUERY` and so on. Shape (room, 6).
        chosen: Per query, the node of the event at hand that is the best of its ends; then the queries that have one.
            Shape (2, queries).
        out: See `OUT_QUERY` and so on. Shape (room, 6).
        order: Scratch to sort the nodes of a moment. Shape (room,).
        found: Scratch for what comparisons find. Shape (room,).
        scratch: Registers of comparisons.
    """

    cursor: Ints
    nodes: Ints
    registers: Ints
    best: Ints
    lists: Ints
    sources: Ints
    counts: Ints
    is_cut: Flags
    latest: Ints
    broken: Ints
    waiting: Ints
    chosen: Ints
    out: Ints
    order: Ints
    found: Ints
    scratch: Registers


def assemble(made: Completions, classes: int) -> Program:
    """Lay the completion plan of a kernel plan with so many classes out in flat arrays."""
    conditions = _Conditions()
    links: list[list[int]] = []
    ends: list[list[int]] = []
    states: list[list[int]] = []
    users = [(query, made.states_of(query)) for query in made.queries]
    for number, state in enumerate(made.states):
        begin, first_end = len(links), len(ends)
        for link in state.links:
            comparison = -1 if link.comparison is None else link.comparison
            links.append([link.cell, conditions.number(link.condition), comparison])
        for query, asking in enumerate(made.queries):
            ends += ([query, conditions.number(end.condition)] for end in asking.ends if end.state == number)
        states.append(
            [
                state.label,
                int(state.start),
                -1 if state.start_event is None else state.start_event,
                conditions.number(state.start_condition),
                begin,
                len(links),
                _kind(state),
                int(state.is_taken),
                first_end,
                len(ends),
                int(state.is_open),
                _longest([one for one, its in users if number in its]),
                _longest([one for one, its in users if number in its and made.has_lists(one)]),
            ]
        )
    of_states = sorted((state.event, number) for number, state in enumerate(made.states))
    cuts = sorted(
        (cut.event, number, conditions.number(cut.condition))
        for number, state in enumerate(made.states)
        for cut in state.cuts
        if state.is_read
    )
    guards = sorted(range(len(made.guard_states)), key=lambda number: made.guard_states[number].event)
    guard_rows: list[list[int]] = []
    guard_sources: list[int] = []
    for number in guards:
        guard = made.guard_states[number]
        begin = len(guard_sources)
        guard_sources += guard.sources
        breaks = guard.guard if guard.end else -1
        guard_rows.append([number, int(guard.start), breaks, begin, len(guard_sources)])
    registers = np.zeros((len(made.states), len(made.registers)), np.int64)
    for column, register in enumerate(made.registers):
        how = FIRST_OF_ALL if register.side is Side.FIRST else LAST_OF_ALL
        registers[sorted(register.states) or slice(None), column] = how
    queries = [
        [
            0 if one.window is None else one.window.within,
            0 if one.window is None else one.window.slide,
            one.span or 0,
            -1 if one.wait is None else one.wait,
            int(one.waits),
        ]
        for one in made.queries
    ]
    programs = [coded(comparison.program) for comparison in made.comparisons]
    code_ends = np.cumsum([0, *map(len, programs)]).astype(np.int64)
    return Program(
        states=_table(states, 13),
        class_states=np.array([number for _, number in of_states], np.int64),
        class_ends=_ends([event for event, _ in of_states], classes),
        links=_table(links, 3),
        conditions=_table(conditions.rows, 3),
        condition_guards=np.array(conditions.guards, np.int64),
        condition_tables=np.array(conditions.tables, np.int64),
        cuts=_table([list(cut[1:]) for cut in cuts], 2),
        cut_ends=_ends([cut[0] for cut in cuts], classes),
        guard_states=_table(guard_rows, 5),
        guard_ends=_ends([made.guard_states[number].event for number in guards], classes),
        guard_sources=np.array(guard_sources, np.int64),
        registers=registers,
        ends=_table(ends, 2),
        queries=_table(queries, 5),
        code=np.concatenate([np.zeros((0, 7), np.int64), *programs]),
        code_ends=code_ends,
        facts=np.array([any(s.is_open for s in made.states)], np.int64),
    )


def new_state(program: Program, nodes: int, entries: int, waiting: int, rows: int) -> State:
    """A state before the first key.

    Args:
        program: What to look for.
        nodes: Room for nodes.
        entries: Room for entries of a list.
        waiting: Room for completions that wait.
        rows: Room for completions that are found.
    """
    states, guards = len(program.states), len(program.guard_states)
    has_lists = bool((program.states[:, STATE_KIND] > BEST).any())
    most_guard = int(program.guard_states[:, GUARD_BREAKS].max(initial=-1)) + 1
    most_guard = max(most_guard, int(program.condition_guards.max(initial=-1)) + 1)
    return State(
        cursor=np.zeros(13, np.int64),
        nodes=np.zeros((nodes, 10), np.int64),
        registers=np.zeros((nodes, program.registers.shape[1]), np.int64),
        best=np.full(states, -1, np.int64),
        lists=np.zeros((states if has_lists else 0, entries, 3), np.int64),
        sources=np.zeros((states if has_lists else 0, entries), np.int64),
        counts=np.zeros(states, np.int64),
        is_cut=np.zeros(states, np.uint8),
        latest=np.full((2, guards), NEVER_YET, np.int64),
        broken=np.full(most_guard, NEVER_YET, np.int64),
        waiting=np.zeros((waiting, 6), np.int64),
        chosen=np.full((2, len(program.queries)), -1, np.int64),
        out=np.zeros((rows, 6), np.int64),
        order=np.zeros(nodes, np.int64),
        found=np.zeros(entries, np.int64),
        scratch=registers_for(program.code, SCAN_CHUNK),
    )


def with_room(state: State, nodes: int, entries: int, waiting: int) -> State:
    """The state with more room, where it has less."""

    def grown(array: Ints, size: int, axis: int = 0) -> Ints:
        if array.shape[axis] >= size:
            return array
        shape = list(array.shape)
        shape[axis] = size
        made = np.zeros(shape, np.int64)
        made[tuple(slice(0, length) for length in array.shape)] = array
        return made

    return state._replace(
        nodes=grown(state.nodes, nodes),
        registers=grown(state.registers, nodes),
        order=grown(state.order, nodes),
        lists=grown(state.lists, entries, 1),
        sources=grown(state.sources, entries, 1),
        found=grown(state.found, entries),
        waiting=grown(state.waiting, waiting),
    )


def _longest(queries: Sequence[CompletionQuery]) -> int:
    """How long trends of some queries may be; 0 for any time, `NO_CHAIN` if there are no queries."""
    reach = [one.reach for one in queries]
    return 0 if None in reach else max((one for one in reach if one is not None), default=NO_CHAIN)


def _kind(state: CompletionState) -> int:
    if not state.is_read:
        return UNREAD
    if state.is_open:
        return ANCHORED
    if state.is_scanned or state.is_taken:
        return LISTED
    return BUCKETS if state.is_guarded else BEST


class _Conditions:
    """Rows of ``Program.conditions``, each for a condition."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.guards: list[int] = []
        self.tables: list[int] = []
        self._known: dict[Condition, int] = {ALWAYS: -1}

    def number(self, condition: Condition) -> int:
        """The row of a condition; -1 for `ALWAYS`."""
        if condition not in self._known:
            self._known[condition] = len(self.rows)
            of = condition.guards
            self.rows.append([len(self.guards), len(self.guards) + len(of), len(self.tables)])
            self.guards += of
            for bits in range(1 << len(of)):
                intact = frozenset(guard for index, guard in enumerate(of) if bits >> index & 1)
                self.tables.append(int(condition.holds(intact)))
        return self._known[condition]


def _ends(events: Sequence[int], classes: int) -> Ints:
    """Where each class begins in ascending numbers of classes, and the end."""
    found: Ints = np.searchsorted(np.array(events, np.int64), np.arange(classes + 1)).astype(np.int64)
    return found


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(list(rows), np.int64).reshape(-1, width)
