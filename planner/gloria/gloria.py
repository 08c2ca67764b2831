"""GLORIA: from a problem and a cost model to the plan with which its queries share most.

The rules, in order. The first four are applied to one pool of transitions after another, the others to the
graph that they have built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from planner.gloria.options import Labelling
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
    searched = _Searched(problem, model)
    ordered, pricer, labels = searched.ordered, searched.pricer, searched.labels
    completion = complete(ordered.problem, model, pricer, labels, effort or Effort())
    return searched.found("gloria", completion.labels, pricer.cost(labels), completion.bound)


def published(problem: Problem, model: CostModel) -> Found:
    """The plan that the rules of the paper find, without completion."""
    searched = _Searched(problem, model)
    return searched.found("published", searched.labels)


class _Searched:
    """A problem, of which the graph has been built and searched.

    Attributes:
        ordered: The problem in canonical order.
        graph: Its graph.
        pricer: Of its labels.
        labels: Of the best path.
    """

    def __init__(self, problem: Problem, model: CostModel) -> None:
        self.ordered = canonical(problem)
        self.graph = build(self.ordered.problem, model)
        self.pricer = Pricer(self.ordered.problem, model)
        self.labels = search_paths(self.graph, self.pricer)

    def found(
        self,
        optimizer: str,
        labels: Sequence[Labelling],
        published: float | None = None,
        bound: float | None = None,
    ) -> Found:
        """The plan that labels give."""
        plan = plan_of(self.ordered.problem, optimizer, labels)
        cost = plan_cost(self.ordered.problem, self.graph.model, plan)
        return Found(self.ordered.plan(plan), self.ordered.graph(self.graph), cost, published, bound)
