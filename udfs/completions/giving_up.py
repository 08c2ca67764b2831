"""Giving up a query: the one for which the most nodes are held goes, and with it what no other query needs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import NO_EVENT, CompletionQuery, Completions
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.completion_program import State
from sparkext.udfs.tables.program import Ints


def most_held_by(asked: Completions, state: State, among: Collection[int] | None = None) -> int:
    """The query, not given up yet and of these if there are any, for which the most nodes are held."""
    left = {n: query for n, query in enumerate(asked.queries) if query.ends and (among is None or n in among)}
    held = {n: _held(asked, query, n, state) for n, query in left.items()}
    return max(held, key=held.__getitem__)


def without(asked: Completions, query: int) -> Completions:
    """The completion plan without trends of a query, whose number stays."""
    queries = list(asked.queries)
    queries[query] = replace(queries[query], ends=(), shown=())
    used = frozenset[int]().union(*map(asked.states_of, queries))
    states = tuple(
        state if number in used else replace(state, event=NO_EVENT, is_read=False)
        for number, state in enumerate(asked.states)
    )
    return replace(asked, states=states, queries=tuple(queries))


def let_go(asked: Completions, state: State) -> None:
    """Empty the states that nothing is asked of any more, and forget what waits for a query that is given up."""
    for number, asked_state in enumerate(asked.states):
        if asked_state.event == NO_EVENT:
            state.cursor[col.CURSOR_LISTED] -= state.counts[number]
            state.best[number], state.counts[number] = -1, 0
    waiting = state.waiting[: state.cursor[col.CURSOR_WAITING]]
    goes = [number for number, query in enumerate(asked.queries) if not query.ends]
    stays = ~np.isin(waiting[:, col.WAIT_QUERY], goes)
    left = np.count_nonzero(stays)
    for array in (waiting, *(amounts for amounts in state.waited if len(amounts))):
        array[:left] = array[: len(waiting)][stays]
    state.cursor[col.CURSOR_WAITING] = left


def _held(asked: Completions, query: CompletionQuery, number: int, state: State) -> int:
    """How many nodes a query needs to be held."""
    nodes = state.nodes[: state.cursor[col.CURSOR_NODES]]
    states = asked.states_of(query)
    roots: list[Ints] = [state.best[[s for s in states if state.best[s] >= 0]]]
    if len(state.lists):
        roots += (state.lists[s, : state.counts[s], col.ENTRY_NODE] for s in states)
    reachable = np.unique(np.concatenate(roots))
    if query.reach is not None:
        since = state.cursor[col.CURSOR_TIME].view(np.uint64) - nodes[reachable, col.NODE_START].view(np.uint64)
        reachable = reachable[since < np.uint64(query.reach)]
    waiting = state.waiting[: state.cursor[col.CURSOR_WAITING]]
    reachable = np.append(reachable, waiting[waiting[:, col.WAIT_QUERY] == number, col.WAIT_NODE])
    held = np.zeros(len(nodes), np.bool_)
    held[reachable] = True
    if asked.has_lists(query):
        is_held, before = bytearray(held.tobytes()), nodes[:, col.NODE_PREV].tolist()
        for node in range(len(nodes) - 1, -1, -1):
            if is_held[node] and before[node] >= 0:
                is_held[before[node]] = 1
        return sum(is_held)
    return int(np.count_nonzero(held))
