"""Rule 2, Kleene sub-patterns: a component is planned as a whole.

All its transitions have the same Q-sets with the same snapshots: of a state of the component, or, beyond the
paper, those with which a Q-set comes from before it. Or none is shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from planner.gloria.generation import arrivals, combinations, connect
from planner.gloria.graph import Graph, Node, Pool
from planner.sharing import QSet


def plan_components(graph: Graph, pool: Pool) -> None:
    """Nodes and edges of a pool that is a Kleene sub-pattern."""
    if not pool.kleene:
        return
    problem = graph.problem
    states = sorted({problem.transitions[number].source for number in pool.transitions})
    entering = arrivals(graph, pool)

    @cache
    def inside(query: int, snapshot: int) -> bool:
        return _fits(graph, pool, query, snapshot, entering[query])

    @cache
    def fits(query: int, snapshot: int, coming: frozenset[tuple[int, int | None]]) -> bool:
        """Whether all that a query does in the pool may be over snapshots of one state."""
        return all(snapshot in way for way in coming) and inside(query, snapshot)

    for before in combinations(graph, pool):
        coming = {
            query: frozenset(
                (state, before[place][0].label(query)) for state, places in mine.items() for place in places
            )
            for query, mine in entering.items()
        }
        outer = sorted({label for mine in coming.values() for _, label in mine if label is not None})
        connect(graph, pool, "not shared", [QSet((query,), None) for query in pool.queries], before)
        for snapshot in (*states, *(label for label in outer if label not in states)):
            together = [query for query in pool.queries if fits(query, snapshot, coming[query])]
            rule = "Kleene" if snapshot in states else "reuse"
            _share(graph, pool, rule, together, snapshot, before)


def _share(
    graph: Graph, pool: Pool, rule: str, together: Sequence[int], snapshot: int, before: Sequence[Sequence[Node]]
) -> None:
    if len(together) < graph.model.fewest or not together:
        return
    others = [QSet((query,), None) for query in pool.queries if query not in together]
    connect(graph, pool, rule, [QSet(tuple(together), snapshot), *others], before)


def _fits(graph: Graph, pool: Pool, query: int, snapshot: int, entering: Mapping[int, object]) -> bool:
    """Whether all that a query does in the pool may be over snapshots of one state, if all that enters is."""
    problem = graph.problem
    mine = [number for number in pool.transitions if query in problem.transitions[number].queries]
    inner = {problem.transitions[number].target for number in mine}
    for number in mine:
        source = problem.transitions[number].source
        if query not in problem.plain[number]:
            return False
        if source == snapshot:
            continue
        if source not in problem.passing[query] or (source not in inner and source not in entering):
            return False
    return True
