"""Rule 5, path search: one node for each pool.

With edges pruned, the nodes behind one node of the last pool make a plan. Where the template branches, edges
are pruned in the other direction too, for what a node costs from there to the end, and the plans that lead
through the best node of each pool are put together and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from sparkext.planner.gloria.graph import Graph, Node
from sparkext.planner.problem.labels import ALONE, Labelling, forms

MAX_PATHS = 3
"""Most pools through whose best node a plan is put together."""


def search_paths(graph: Graph) -> list[Labelling]:
    """The labels of the best plan that the graph has a path for.

    Raises:
        BudgetSpentError: There was no time to find it.
    """
    following: dict[int, list[int]] = {}
    for pool in graph.pools:
        for before in pool.preceding:
            following.setdefault(before, []).append(pool.number)
    for pool in reversed(graph.pools):
        graph.problem.budget.check()
        for node in graph.kept(pool.number):
            node.d_e = graph.weight(node, None)
            node.dead_ends = 0
            for number in following.get(pool.number, ()):
                ways = [
                    edges[node] + after.d_e
                    for after in graph.kept(number)
                    if node in (edges := after.edges.get(pool.number, {}))
                ]
                node.d_e += min(ways, default=0.0)
                node.dead_ends += not ways
    last = [pool for pool in graph.pools if pool.number not in following]
    through = last if len(last) == 1 else sorted(graph.pools, key=lambda pool: -len(pool.queries))[:MAX_PATHS]
    paths = dict.fromkeys(
        tuple(_path(graph, min(graph.kept(pool.number), key=promise), promise))
        for pool, promise in product(through, (_weight, _weight_with_a_way_on))
    )
    candidates = [_labels(graph, path) for path in paths]
    return min(candidates, key=graph.pricer.cost) if candidates else [{} for _ in graph.problem.template.queries]


def _weight(node: Node) -> tuple[int, float]:
    """Of the paths through a node."""
    return 0, node.d_s + node.d_e


def _weight_with_a_way_on(node: Node) -> tuple[int, float]:
    """Of the paths through a node; one from which there is no way on says nothing of what comes after."""
    return node.dead_ends, node.d_s + node.d_e


def _path(graph: Graph, through: Node, promise: Callable[[Node], tuple[int, float]]) -> list[Node]:
    """One node per pool, among them ``through``."""
    chosen: dict[int, Node] = {}

    def behind(node: Node) -> None:
        chosen[node.pool] = node
        path = [iter(node.edges.items())]
        while path:
            for number, edges in path[-1]:
                if number not in chosen:
                    chosen[number] = best = min(edges, key=lambda before: before.d_s + edges[before])
                    path.append(iter(best.edges.items()))
                    break
            else:
                path.pop()

    behind(through)
    for pool in graph.pools:
        if pool.number in chosen:
            continue
        nodes = graph.kept(pool.number)
        fitting = [n for n in nodes if all(chosen[number] in edges for number, edges in n.edges.items())]
        behind(min(fitting or nodes, key=promise))
    return [chosen[pool.number] for pool in graph.pools]


def _labels(graph: Graph, path: Sequence[Node]) -> list[Labelling]:
    """Labels of the queries along a path; a query that the nodes do not fit together for shares nothing."""
    problem = graph.problem
    labels: list[Labelling] = [{} for _ in problem.template.queries]
    for node in path:
        for number in graph.pools[node.pool].transitions:
            for query in problem.transitions[number].queries:
                labels[query][number] = node.label(query)
    while True:
        users: dict[object, list[int]] = {}
        for query, own in enumerate(labels):
            form_of = forms(problem, query, own)
            if form_of is None:
                labels[query] = dict.fromkeys(own, ALONE)
            for form in (form_of or {}).values():
                users.setdefault(form, []).append(query)
        few = {query for queries in users.values() if len(queries) < graph.model.fewest for query in queries}
        if not few:
            return labels
        for query in few:
            labels[query] = dict.fromkeys(labels[query], ALONE)
