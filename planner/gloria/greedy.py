"""Greedy: of each pool only the node with the lightest way in.

A Q-set goes on with the snapshots it has, or is not shared any more; there is no way back from a node that
turns out to be dear later.
"""

from __future__ import annotations

from sparkext.planner.costs.cost_model import CostModel
from sparkext.planner.gloria.edge_pruning import prune_edges
from sparkext.planner.gloria.generation import generate, share_nothing
from sparkext.planner.gloria.gloria import Found, Searched
from sparkext.planner.gloria.graph import Graph, Node, Pool
from sparkext.planner.gloria.kleene import plan_components
from sparkext.planner.gloria.problem import Problem


def greedy(problem: Problem, model: CostModel) -> Found:
    """The plan of the lightest nodes; it does not depend on the order of the queries."""
    searched = Searched(problem, model, (generate, plan_components, share_nothing, prune_edges, _keep_lightest))
    return searched.found("greedy", searched.labels)


def _keep_lightest(graph: Graph, pool: Pool) -> None:
    """Prune all nodes but that with the lightest way in and through it."""

    def weight(node: Node) -> float:
        inside = 0.0 if pool.kleene else graph.propagation(pool.transitions[0], node, ~0)
        return node.d_s + inside

    best = min((node for node in graph.nodes[pool.number] if node.rule != "local"), key=weight)
    for node in graph.nodes[pool.number]:
        if node is not best:
            node.pruned_by = best
