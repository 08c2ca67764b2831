"""What was seen of the graph of a problem in canonical order, by the numbers of the problem as it was given."""

from __future__ import annotations

from sparkext.planner.gloria.graph import Graph, Node, Pool
from sparkext.planner.gloria.graph_report import SearchedGraph, SearchedNode, SearchedPool
from sparkext.planner.problem.canonical import Canonical


def as_given(ordered: Canonical, graph: Graph) -> SearchedGraph:
    """What there is to say of the graph of the problem, as of the given problem; the graph itself is left behind."""
    pools = tuple(_pool(ordered, graph, pool) for pool in graph.pools)
    return SearchedGraph(pools, graph.generated, graph.edges, graph.pruned_edges)


def _pool(ordered: Canonical, graph: Graph, pool: Pool) -> SearchedPool:
    return SearchedPool(
        transitions=tuple(sorted(ordered.transitions[number] for number in pool.transitions)),
        queries=ordered.numbered(pool.queries),
        kleene=pool.kleene,
        nodes=tuple(_node(ordered, graph, node) for node in graph.nodes[pool.number]),
    )


def _node(ordered: Canonical, graph: Graph, node: Node) -> SearchedNode:
    return SearchedNode(
        name=node.name,
        shared=ordered.qsets(node.shared),
        rule=node.rule,
        cost=node.d_s,
        to_end=graph.weight(node, None),
        before=tuple(before.name for edges in node.edges.values() for before in edges),
        weights=tuple(weight for edges in node.edges.values() for weight in edges.values()),
        pruned_by=None if node.pruned_by is None else node.pruned_by.name,
    )
