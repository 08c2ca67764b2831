"""The graph of a problem in canonical order, by the numbers of the problem as it was given."""

from __future__ import annotations

from dataclasses import replace

from sparkext.planner.gloria.graph import Graph, Pool
from sparkext.planner.problem.canonical import Canonical
from sparkext.planner.problem.pricer import Pricer


def as_given(ordered: Canonical, graph: Graph) -> Graph:
    """The graph of the problem, as that of the given problem; the nodes are the same objects.

    What was priced on the way is left behind.
    """
    if ordered.problem is not ordered.given:
        for node in graph.all_nodes():
            node.divide(ordered.numbered(node.queries), ordered.qsets(node.shared))
    return Graph(
        pricer=Pricer(ordered.given, graph.model),
        pools=tuple(_pool(ordered, pool) for pool in graph.pools),
        nodes=graph.nodes,
        generated=graph.generated,
        edges=graph.edges,
        pruned_edges=graph.pruned_edges,
    )


def _pool(ordered: Canonical, pool: Pool) -> Pool:
    return replace(
        pool,
        transitions=tuple(sorted(ordered.transitions[number] for number in pool.transitions)),
        queries=ordered.numbered(pool.queries),
    )
