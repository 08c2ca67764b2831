"""The completion plan as flat arrays, and the arrays that hold the state of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparkext.planner.automata.guards import ALWAYS, Condition
from sparkext.planner.kernel_plan.kernel_plan import (
    NO_EVENT,
    CompletionQuery,
    Completions,
    CompletionState,
    KernelPlan,
    StateTotal,
)
from sparkext.planner.patterns.query import Side
from sparkext.udfs.comparisons.histories import coded
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.state.difference_tables import part_row
from sparkext.udfs.state.fresh import registers_for
from sparkext.udfs.tables.program import NEVER_YET, SCAN_CHUNK, Flags, Floats, Ints, Registers

_Kind = TypeVar("_Kind", np.int64, np.float64)


class Program(NamedTuple):
    """A completion plan as flat arrays. All of them are int64 and C-contiguous.

    Attributes:
        states: Per state: number of its variable, whether a trend may start, class needed for that (-1: none),
            condition of that (-1: none), begin and end in ``links``, what is held there, whether events leave that
            are gone on from, begin and end in ``ends``, whether trends are held per anchor, how long their trends may
            be (0: any time), how long those of which all events are asked for, begin and end in ``totals``, and the
            class of its events (-1: none). Shape (states, 16).
        class_states: States in order of their classes.
        class_ends: Where those of each class begin in ``class_states``, and the end. Shape (classes + 1,).
        links: State before, condition (-1: none), comparison (-1: none), begin and end in ``adds``. Shape (links, 5).
        adds: Total of the state, and that of the state before which comes to it. Shape (adds, 2).
        totals: How it is held, class of events that pass it on, see `NO_START`, the total that counts what the event
            contributes to (-1: it contributes nothing), column (-1: none), whether its value counts. In order of
            states. Shape (totals, 6).
        added: What events add to the extremes that come to each total, see `ADDED_COLUMN`. Shape (totals, 3).
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
        ends: Query, condition (-1: none), begin in ``end_totals``. Shape (ends, 3).
        end_totals: Totals that are added to the values of the query (-1: nothing).
        values: How each value is held.
        queries: Length of the window (0: unbounded), slide, span (0: none), wait (-1: none), whether it waits at all,
            begin and end in ``values``, whether values differ from window to window. Shape (queries, 8).
        code: Instructions of comparisons, as `sparkext.udfs.comparisons.scan` wants them. Shape (instructions, 7).
        code_ends: Where those of each comparison begin, and the end. Shape (comparisons + 1,).
        facts: Whether trends are held per anchor somewhere; most rows of values that an event gives; to which
            multiples of time starts are told apart (0: not at all), for how long, and whether older ones count, too.
            Shape (5,).
    """

    states: Ints
    class_states: Ints
    class_ends: Ints
    links: Ints
    adds: Ints
    totals: Ints
    added: Ints
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
    end_totals: Ints
    values: Ints
    queries: Ints
    code: Ints
    code_ends: Ints
    facts: Ints


class Amounts(NamedTuple):
    """Totals, of which numbers have a scale in place of the low word. All arrays have the same shape."""

    high: Ints
    low: Ints
    number: Floats

    def rows(self, *at: Any) -> Amounts:
        """The amounts at an index for each axis."""
        return Amounts(self.high[at], self.low[at], self.number[at])


class State(NamedTuple):
    """All that a run remembers of the key under way. Rows of events are numbered through the run.

    Attributes:
        cursor: See `CURSOR_KEY_OPEN` and so on. Shape (17,).
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
        out: See `OUT_QUERY` and so on. Shape (room, 7).
        lanes: Per lane, when its trends have started, in units of the grain. What is added up is held apart by lanes;
            the first is for all that are told apart no longer. Shape (lanes,).
        held: What is added up per total, entry and lane. Shape (totals, entries, lanes) each.
        fresh: The same per node of the moment under way, total of its state and lane. Shape (room, totals, lanes) each.
        ended: Per value and lane, of the event at hand. Shape (1, values, lanes) each.
        waited: Per completion that waits, value of its query and lane. Shape (room, values, lanes) each.
        values: Rows of values of completions that are found. Shape (room, values, 1) each.
        anchors: A hash table of what there is for each anchor, made anew whenever it is needed: a key, where its node
            or entry is, and the number of the table that it belongs to. Shape (3, a power of two).
        tabled: Per state, the number of the table that its entries have been put into. Shape (states,).
        order: Scratch to sort the nodes of a moment. Shape (room,).
        matches: Scratch for what comparisons find. Shape (room,).
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
    lanes: Ints
    held: Amounts
    fresh: Amounts
    ended: Amounts
    waited: Amounts
    values: Amounts
    anchors: Ints
    tabled: Ints
    order: Ints
    matches: Ints
    scratch: Registers


def assemble(asked: Completions, plan: KernelPlan) -> Program:
    """A completion plan as flat arrays.

    Args:
        asked: The completion plan.
        plan: The kernel plan that it is of.
    """
    classes, columns = len(plan.classes), plan.columns
    kinds = [plan.fields[field].arithmetic for query in asked.queries for field in query.values]
    conditions = _Conditions()
    links: list[list[int]] = []
    adds: list[list[int]] = []
    totals: list[list[int]] = []
    end_totals: list[int] = []
    first = [0, *np.cumsum([len(state.totals) for state in asked.states]).tolist()]
    ends: list[list[int]] = []
    states: list[list[int]] = []
    users = [(query, asked.states_of(query)) for query in asked.queries]
    for number, state in enumerate(asked.states):
        begin, first_end = len(links), len(ends)
        for place, link in enumerate(state.links):
            comparison = -1 if link.comparison is None else link.comparison
            first_add = len(adds)
            for total, total_of in enumerate(state.totals):
                adds += ([first[number] + total, first[link.cell] + of] for at, of in total_of.sources if at == place)
            links.append([link.cell, conditions.number(link.condition), comparison, first_add, len(adds)])
        for query, asking in enumerate(asked.queries):
            for end in asking.ends:
                if end.state == number:
                    ends.append([query, conditions.number(end.condition), len(end_totals)])
                    end_totals += (-1 if total is None else first[number] + total for total in end.totals)
        totals += (_total(total_of, first[number]) for total_of in state.totals)
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
                _longest([user for user, state_numbers in users if number in state_numbers]),
                _longest([user for user, state_numbers in users if number in state_numbers and asked.has_lists(user)]),
                first[number],
                first[number + 1],
                -1 if state.event == NO_EVENT else state.event,
            ]
        )
    of_states = sorted((state.event, number) for number, state in enumerate(asked.states))
    cuts = sorted(
        (cut.event, number, conditions.number(cut.condition))
        for number, state in enumerate(asked.states)
        for cut in state.cuts
        if state.is_read
    )
    guards = sorted(range(len(asked.guard_states)), key=lambda number: asked.guard_states[number].event)
    guard_rows: list[list[int]] = []
    guard_sources: list[int] = []
    for number in guards:
        guard = asked.guard_states[number]
        begin = len(guard_sources)
        guard_sources += guard.sources
        breaks = guard.guard if guard.end else -1
        guard_rows.append([number, int(guard.start), breaks, begin, len(guard_sources)])
    registers = np.zeros((len(asked.states), len(asked.registers)), np.int64)
    for column, register in enumerate(asked.registers):
        how = col.FIRST_OF_ALL if register.side is Side.FIRST else col.LAST_OF_ALL
        registers[sorted(register.states) or slice(None), column] = how
    first_value = [0, *np.cumsum([len(query.values) for query in asked.queries]).tolist()]
    queries = [
        [
            0 if query.window is None else query.window.within,
            0 if query.window is None else query.window.slide,
            query.span or 0,
            -1 if query.wait is None else query.wait,
            int(query.waits),
            first_value[number],
            first_value[number + 1],
            int(query.window is not None and query.span is None),
        ]
        for number, query in enumerate(asked.queries)
    ]
    programs = [coded(comparison.program) for comparison in asked.comparisons]
    code_ends = np.cumsum([0, *map(len, programs)]).astype(np.int64)
    return Program(
        states=_table(states, 16),
        class_states=np.array([number for _, number in of_states], np.int64),
        class_ends=ends_of_classes([event for event, _ in of_states], classes),
        links=_table(links, 5),
        adds=_table(adds, 2),
        totals=_table(totals, 6),
        added=_table([list(part_row(columns, total.addend)) for state in asked.states for total in state.totals], 3),
        conditions=_table(conditions.rows, 3),
        condition_guards=np.array(conditions.guards, np.int64),
        condition_tables=np.array(conditions.tables, np.int64),
        cuts=_table([list(cut[1:]) for cut in cuts], 2),
        cut_ends=ends_of_classes([cut[0] for cut in cuts], classes),
        guard_states=_table(guard_rows, 5),
        guard_ends=ends_of_classes([asked.guard_states[number].event for number in guards], classes),
        guard_sources=np.array(guard_sources, np.int64),
        registers=registers,
        ends=_table(ends, 3),
        end_totals=np.array(end_totals, np.int64),
        values=np.array([kind.value for kind in kinds], np.int64),
        queries=_table(queries, 8),
        code=np.concatenate([np.zeros((0, 7), np.int64), *programs]),
        code_ends=code_ends,
        facts=np.array([any(s.is_open for s in asked.states), *_lanes(asked)], np.int64),
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
    states, guards, totals = len(program.states), len(program.guard_states), len(program.totals)
    of_state = int((program.states[:, col.STATE_TOTALS_END] - program.states[:, col.STATE_TOTALS]).max(initial=0))
    of_query = int((program.queries[:, col.QUERY_VALUES_END] - program.queries[:, col.QUERY_VALUES]).max(initial=0))
    waits = bool(program.queries[:, col.QUERY_WAITS].any())
    lanes = 8 if program.facts[col.FACT_GRAIN] else 1
    cursor = np.zeros(17, np.int64)
    cursor[col.CURSOR_LANES] = 1
    # The first lane is for what is told apart no longer.
    cursor[col.CURSOR_LANE] = int(lanes > 1 and not program.facts[col.FACT_UNBOUNDED])
    has_lists = bool((program.states[:, col.STATE_KIND] > col.BEST).any())
    most_guard = int(program.guard_states[:, col.GUARD_BREAKS].max(initial=-1)) + 1
    most_guard = max(most_guard, int(program.condition_guards.max(initial=-1)) + 1)
    return State(
        cursor=cursor,
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
        out=np.zeros((rows, 7), np.int64),
        lanes=np.full(lanes, NEVER_YET, np.int64),
        held=_amounts(totals, entries if has_lists else 1, lanes),
        fresh=_amounts(2 * states if totals else 0, of_state, lanes),
        ended=_amounts(1, len(program.values), lanes),
        waited=_amounts(waiting if waits and of_query else 0, of_query, lanes),
        values=_amounts(max(rows, int(program.facts[col.FACT_VALUES])) if of_query else 0, of_query, 1),
        anchors=np.zeros((3, 256 if program.facts[col.FACT_OPEN] else 1), np.int64),
        tabled=np.zeros(states, np.int64),
        order=np.zeros(nodes, np.int64),
        matches=np.zeros(entries, np.int64),
        scratch=registers_for(program.code, SCAN_CHUNK),
    )


def _amounts(*shape: int) -> Amounts:
    return Amounts(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape))


def with_room(state: State, nodes: int, entries: int, waiting: int, fresh: int, lanes: int, anchors: int) -> State:
    """The state with more room, where it has less; a table of anchors that is larger is empty."""

    def amounts(of: Amounts, *sizes: int) -> Amounts:
        shape = tuple(max(length, wanted) for length, wanted in zip(of.high.shape, sizes, strict=True))
        return Amounts(_grown(of.high, shape), _grown(of.low, shape), _grown(of.number, shape))

    def grown(array: Ints, size: int, axis: int = 0) -> Ints:
        shape = list(array.shape)
        shape[axis] = max(shape[axis], size)
        return _grown(array, tuple(shape))

    totals, in_lists, _ = state.held.high.shape
    return state._replace(
        nodes=grown(state.nodes, nodes),
        registers=grown(state.registers, nodes),
        anchors=state.anchors if anchors == state.anchors.shape[1] else np.zeros((3, anchors), np.int64),
        order=grown(state.order, nodes),
        lists=grown(state.lists, entries, 1),
        sources=grown(state.sources, entries, 1),
        matches=grown(state.matches, entries),
        waiting=grown(state.waiting, waiting),
        lanes=grown(state.lanes, lanes),
        held=amounts(state.held, totals, entries if len(state.lists) else in_lists, lanes),
        fresh=amounts(state.fresh, fresh if totals else 0, 0, lanes),
        ended=amounts(state.ended, 1, 0, lanes),
        waited=amounts(state.waited, waiting if len(state.waited.high) else 0, 0, lanes),
    )


def _grown(array: NDArray[_Kind], shape: tuple[int, ...]) -> NDArray[_Kind]:
    """The array with more room, where it has less."""
    if array.shape == shape:
        return array
    grown = np.zeros(shape, array.dtype)
    grown[tuple(slice(0, length) for length in array.shape)] = array
    return grown


def _total(total: StateTotal, first: int) -> list[int]:
    start = col.NO_START if not total.starts else col.ANY_START if total.start_event is None else total.start_event
    count = -1 if total.count is None else first + total.count
    column = -1 if total.column is None else total.column
    return [total.arithmetic.value, total.event, start, count, column, int(total.weighted)]


def _lanes(asked: Completions) -> tuple[int, int, int, int]:
    """Most rows of values that an event gives, and how trends are told apart by their starts; see ``Program.facts``."""
    counting = [query for query in asked.queries if query.values]
    most = sum(query.window.live if query.window and query.span is None else 1 for query in counting)
    bounded = [query for query in counting if query.reach is not None]
    if not bounded:
        return most, 0, 0, 1
    grain = gcd(*(1 if query.span is not None or query.window is None else query.window.slide for query in bounded))
    # What waits is looked at again when its time has come.
    horizon = max((query.reach or 0) + (query.wait or 0) for query in bounded)
    return most, grain, horizon, int(len(bounded) < len(counting))


def _longest(queries: Sequence[CompletionQuery]) -> int:
    """How long trends of some queries may be; 0 for any time, `NO_CHAIN` if there are no queries."""
    reach = [query.reach for query in queries]
    return 0 if None in reach else max((length for length in reach if length is not None), default=col.NO_CHAIN)


def _kind(state: CompletionState) -> int:
    if not state.is_read:
        return col.UNREAD
    if state.is_open:
        return col.ANCHORED
    if state.is_scanned or state.is_taken:
        return col.LISTED
    return col.BUCKETS if state.is_guarded else col.BEST


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


def ends_of_classes(events: Sequence[int] | Ints, classes: int) -> Ints:
    """Where each class begins in ascending numbers of classes, and the end. Shape (classes + 1,)."""
    ends: Ints = np.searchsorted(np.array(events, np.int64), np.arange(classes + 1)).astype(np.int64)
    return ends


def _table(rows: Iterable[Sequence[int]], width: int) -> Ints:
    return np.array(list(rows), np.int64).reshape(-1, width)
