"""Greedy rules: of each pool only the node with the lightest way in.

A Q-set goes on with the snapshots it has, or is not shared any more; there is no way back from a node that
turns out to be dear later.
"""

from __future__ import annotations

from sparkext.planner.gloria.edge_pruning import prune_edges
from sparkext.planner.gloria.generation import generate, share_nothing
from sparkext.planner.gloria.graph import Graph, Node, Pool, Rule
from sparkext.planner.gloria.kleene import plan_components


def keep_lightest(graph: Graph, pool: Pool) -> None:
    """Prune all nodes but that with the lightest way in and through it."""

    def weight(node: Node) -> float:
        inside = 0.0 if pool.kleene else graph.propagation(pool.transitions[0], node, ~0)
        return node.d_s + inside

    best = min((node for node in graph.nodes[pool.number] if node.rule != "local"), key=weight)
    for node in graph.nodes[pool.number]:
        if node is not best:
            node.pruned_by = best


LIGHTEST: tuple[Rule, ...] = (generate, plan_components, share_nothing, prune_edges, keep_lightest)
"""In the order in which they are applied to a pool."""
