"""Rule 3, edge pruning: of the edges from one preceding pool to a node, only the cheapest way in is kept."""

from __future__ import annotations

from sparkext.planner.gloria.graph import Graph, Pool


def prune_edges(graph: Graph, pool: Pool) -> None:
    """Prune the edges into the nodes of a pool, and say what each node costs up to there."""
    starts = graph.starts(pool)
    for node in graph.nodes[pool.number]:
        node.d_s = starts + (graph.inside(node) if pool.kleene else 0.0)
        for edges in node.edges.values():
            best = min(edges, key=lambda before: before.d_s + edges[before])
            node.d_s += best.d_s + edges[best]
            for before in [before for before in edges if before is not best]:
                del edges[before]
                graph.pruned_edges += 1
