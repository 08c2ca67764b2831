"""GLORIA: from a problem and a cost model to the plan with which its queries share most.

The rules, in order. The first four are applied to one pool of transitions after another, the others to the
graph that they have built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planner.gloria.canonical import canonical
from planner.gloria.completion import Effort, complete
from planner.gloria.costs import CostModel, Pricer, plan_cost
from planner.gloria.edge_pruning import prune_edges
from planner.gloria.generation import generate
from planner.gloria.graph import Graph, Pool
from planner.gloria.kleene import plan_components
from planner.gloria.labels import plan_of
from planner.gloria.node_pruning import prune_nodes
from planner.gloria.path_search import search_paths
from planner.gloria.pools import pools
from planner.gloria.problem import Problem
from planner.sharing import SharingPlan

RULES: tuple[Callable[[Graph, Pool], None], ...] = (generate, plan_components, prune_edges, prune_nodes)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What an optimizer has found.

    Attributes:
        plan: The plan.
        graph: How GLORIA got there; None for other optimizers.
        cost: Of the plan.
        published: Cost of the plan that the rules of the paper find.
        bound: No plan costs less; None when that is not known.
    """

    plan: SharingPlan
    graph: Graph | None
    cost: float
    published: float | None = None
    bound: float | None = None


def build(problem: Problem, model: CostModel, rules: tuple[Callable[[Graph, Pool], None], ...] = RULES) -> Graph:
    """The GLORIA graph of a problem."""
    of_problem = pools(problem)
    graph = Graph(problem, model, of_problem, [[] for _ in of_problem])
    for pool in of_problem:
        for rule in rules:
            rule(graph, pool)
    return graph


def gloria(problem: Problem, model: CostModel, effort: Effort | None = None) -> Found:
    """The best plan that can be found; it does not depend on the order of the queries."""
    ordered = canonical(problem)
    graph = build(ordered.problem, model)
    pricer = Pricer(ordered.problem, model)
    labels = search_paths(graph, pricer)
    published = pricer.cost(labels)
    completion = complete(ordered.problem, model, pricer, labels, effort or Effort())
    plan = plan_of(ordered.problem, "gloria", completion.labels)
    cost = plan_cost(ordered.problem, model, plan)
    return Found(ordered.plan(plan), ordered.graph(graph), cost, published, completion.bound)
