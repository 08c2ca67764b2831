"""Rule 2, Kleene sub-patterns: a component is planned as a whole.

All its transitions have the same Q-sets with the same snapshots: of a state of the component, or, beyond the
paper, those with which a Q-set comes from before it. Or none is shared.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparkext.planner.gloria.generation import arrivals, combinations, connect
from sparkext.planner.gloria.graph import Graph, Pool
from sparkext.planner.problem.labels import ALONE


def plan_components(graph: Graph, pool: Pool) -> None:
    """Nodes and edges of a pool that is a Kleene sub-pattern."""
    if not pool.kleene:
        return
    states = sorted({graph.problem.transitions[number].source for number in pool.transitions})
    coming = arrivals(graph, pool)
    anything, only = _inside(graph, pool, coming)
    entering: dict[tuple[int, int], int] = {}
    for query, preceding in coming.items():
        for way in ((state, index) for state, indexes in preceding.items() for index in indexes):
            entering[way] = entering.get(way, 0) | 1 << query
    for before in combinations(graph, pool):
        ways = [(state, queries, before[index][0].masks) for (state, index), queries in entering.items()]
        outer = {label for _, queries, masks in ways for label, having in masks.items() if having & queries} - {ALONE}
        connect(graph, pool, "not shared", (), before)
        for snapshot in (*states, *sorted(label for label in outer if label is not None and label not in states)):
            if graph.problem.budget.is_spent(graph.part):
                return
            together = anything | only.get(snapshot, 0)
            for state, queries, masks in ways:
                if state != snapshot:
                    together &= ~(queries & ~masks.get(snapshot, 0))
            if together and together.bit_count() >= graph.model.fewest:
                connect(graph, pool, "Kleene" if snapshot in states else "reuse", [(together, snapshot)], before)


def _inside(graph: Graph, pool: Pool, coming: Mapping[int, Mapping[int, object]]) -> tuple[int, dict[int, int]]:
    """Queries all of whose part of the pool may be over the same snapshots, if all that enters is, as bits.

    Args:
        graph: With the problem.
        pool: A Kleene sub-pattern.
        coming: Per query, the states where it enters.

    Returns:
        Those for which these may be snapshots of any state, and others by the only state they may be of.
    """
    problem = graph.problem
    transitions = set(pool.transitions)
    anything, only = 0, dict[int, int]()
    for query in pool.queries:
        inner = [number for number in problem.transitions_of[query] if number in transitions]
        if any(query not in problem.plain[number] for number in inner):
            continue
        reached = {problem.transitions[number].target for number in inner}.union(coming[query])
        sources = {problem.transitions[number].source for number in inner}
        begin = [source for source in sources if source not in problem.passing[query] or source not in reached]
        if not begin:
            anything |= 1 << query
        elif len(begin) == 1:
            only[begin[0]] = only.get(begin[0], 0) | 1 << query
    return anything, only
