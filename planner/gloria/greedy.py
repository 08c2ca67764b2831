"""Greedy: of each pool only the node with the lightest way in.

A Q-set goes on with the snapshots it has, or is not shared any more; there is no way back from a node that
turns out to be dear later.
"""

from __future__ import annotations

from planner.gloria.canonical import canonical
from planner.gloria.costs import CostModel, Pricer, plan_cost
from planner.gloria.edge_pruning import prune_edges
from planner.gloria.generation import connect, generate
from planner.gloria.gloria import Found, build
from planner.gloria.graph import Graph, Node, Pool
from planner.gloria.kleene import plan_components
from planner.gloria.labels import plan_of
from planner.gloria.path_search import search_paths
from planner.gloria.problem import Problem


def greedy(problem: Problem, model: CostModel) -> Found:
    """The plan of the lightest nodes; it does not depend on the order of the queries."""
    ordered = canonical(problem)
    graph = build(ordered.problem, model, (generate, plan_components, _stop_sharing, prune_edges, _keep_lightest))
    plan = plan_of(ordered.problem, "greedy", search_paths(graph, Pricer(ordered.problem, model)))
    return Found(ordered.plan(plan), ordered.graph(graph), plan_cost(ordered.problem, model, plan))


def _stop_sharing(graph: Graph, pool: Pool) -> None:
    """A node in which nothing is shared, behind all others."""
    connect(graph, pool, "not shared", (), [graph.kept(number) for number in pool.preceding])


def _keep_lightest(graph: Graph, pool: Pool) -> None:
    """Prune all nodes but that with the lightest way in and through it."""

    def weight(node: Node) -> float:
        inside = 0.0 if pool.kleene else graph.propagation(pool.transitions[0], node, ~0)
        return node.d_s + inside

    best = min((node for node in graph.nodes[pool.number] if node.rule != "local"), key=weight)
    for node in graph.nodes[pool.number]:
        if node is not best:
            node.pruned_by = best
