"""GLORIA: from a problem and a cost model to the plan with which its queries share most.

The rules, in order. The first four are applied to one pool of transitions after another, the others to the
graph that they have built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sparkext.planner.budget import BudgetSpentError
from sparkext.planner.gloria.edge_pruning import prune_edges
from sparkext.planner.gloria.generation import generate, share_nothing
from sparkext.planner.gloria.graph import GRAPH_PART, Graph, Rule
from sparkext.planner.gloria.graph_pools import pools
from sparkext.planner.gloria.kleene import plan_components
from sparkext.planner.gloria.lightest import LIGHTEST
from sparkext.planner.gloria.node_pruning import prune_nodes
from sparkext.planner.gloria.numbering import as_given
from sparkext.planner.gloria.path_search import search_paths
from sparkext.planner.gloria.prospects import too_large, without_prospects
from sparkext.planner.plan_completion.completed_plan import Effort, complete
from sparkext.planner.problem.canonical import canonical
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import ALONE, Labelling, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult

RULES: tuple[Rule, ...] = (generate, plan_components, prune_edges, prune_nodes)


def build(pricer: Pricer, rules: tuple[Rule, ...] = RULES, part: float = GRAPH_PART) -> Graph:
    """The GLORIA graph of a problem; where this part of the budget is spent, nothing is shared any more.

    Raises:
        BudgetSpentError: All of the budget was spent before there was a graph.
    """
    problem = pricer.problem
    of_problem = pools(problem)
    graph = Graph(pricer, of_problem, [[] for _ in of_problem], part=part)
    for pool in of_problem:
        problem.budget.check()
        for rule in (share_nothing, prune_edges) if problem.budget.is_spent(part) else rules:
            rule(graph, pool)
    return graph


Beginning: TypeAlias = Callable[[Problem, CostModel, Pricer, Effort], list[Labelling]]
"""Gives labels of a valid plan, per query, that completion may begin with."""


@dataclass(frozen=True, slots=True)
class Gloria:
    """The strategy that follows the rules of the paper and then completes their plan.

    Attributes:
        beginnings: Further labels to begin with, where the plan is not known to be the best of all; it costs no more
            than any of them.
        effort: How hard to look.
        name: By which users ask for it.
    """

    beginnings: tuple[Beginning, ...] = ()
    effort: Effort = field(default_factory=Effort)
    name: str = "gloria"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The best plan that can be found in the budget; it does not depend on the order of the queries."""
        searched = GraphSearch(problem, model)
        if searched.graph is None:
            return searched.result(self.name, searched.labels, proved=not searched.has_prospects)
        cost = searched.pricer.cost(searched.labels)
        try:
            completion = complete(searched.problem, model, searched.pricer, searched.labels, self.effort)
        except BudgetSpentError:
            return searched.result(self.name, searched.labels, cost)
        labels, bound = completion.labels, completion.bound
        proved = bound is not None and bound >= searched.pricer.cost(labels) * (1 - 1e-9)
        if not proved:
            for beginning in self.beginnings:
                if not problem.budget.is_spent():
                    begin = beginning(searched.problem, model, searched.pricer, self.effort)
                    labels = _no_dearer(searched, model, labels, begin, self.effort)
        return searched.result(self.name, labels, cost, bound)


@dataclass(frozen=True, slots=True)
class Published:
    """The strategy that follows the rules of the paper, without completion."""

    name: str = "published"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The plan that the rules of the paper find."""
        searched = GraphSearch(problem, model)
        return searched.result(self.name, searched.labels)


@dataclass(frozen=True, slots=True)
class Greedy:
    """The strategy that keeps the lightest node of each pool, without completion."""

    name: str = "greedy"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The plan of the lightest nodes; it does not depend on the order of the queries."""
        searched = GraphSearch(problem, model, LIGHTEST)
        return searched.result(self.name, searched.labels)


def lightest_labels(problem: Problem, model: CostModel, pricer: Pricer, effort: Effort) -> list[Labelling]:
    """The labels that the greedy rules find, per query; nothing is shared if there is no time for them."""
    del model, effort  # the pricer knows the one, and one node of each pool is kept
    with suppress(BudgetSpentError):
        return search_paths(build(pricer, LIGHTEST, part=1.0))
    return [dict.fromkeys(transitions, ALONE) for transitions in problem.transitions_of]


def _no_dearer(
    searched: GraphSearch, model: CostModel, labels: list[Labelling], begin: list[Labelling], effort: Effort
) -> list[Labelling]:
    """Labels that cost no more than the given ones, or those of another beginning and what completion makes of them."""
    problem, pricer = searched.problem, searched.pricer
    if pricer.cost(begin) >= pricer.cost(labels) * (1 - 1e-12):
        return labels
    with suppress(BudgetSpentError):
        return min(begin, complete(problem, model, pricer, begin, effort).labels, key=pricer.cost)
    return begin


class GraphSearch:
    """A problem, of which the graph has been built and searched, if there is something to look for.

    Attributes:
        ordered: The problem in canonical order.
        problem: That, without the queries of which there is nothing to look for.
        has_prospects: Whether there may be plans that cost less than that in which nothing is shared.
        graph: Its graph; None when there is nothing to look for, or no time.
        pricer: Of its labels.
        labels: Of the best path; nothing is shared if there is no graph.
    """

    def __init__(self, problem: Problem, model: CostModel, rules: tuple[Rule, ...] = RULES) -> None:
        """Build the graph by these rules, and search it."""
        self._model = model
        self.ordered = canonical(problem)
        given = self.ordered.problem
        large = too_large(given)
        without_large = replace(given, left_alone=large) if large else given
        alone = large | without_prospects(without_large, model)
        self.has_prospects = bool(large) or len(alone) < len(given.transitions_of)
        is_known = alone == large or not self.has_prospects
        self.problem = without_large if is_known else replace(given, left_alone=alone)
        self.pricer = Pricer(self.problem, model)
        self.graph: Graph | None = None
        if len(alone) < len(given.transitions_of):
            with suppress(BudgetSpentError):
                graph = build(self.pricer, rules)
                self.labels = search_paths(graph)
                self.graph = graph
        if self.graph is None:
            self.labels = [dict.fromkeys(transitions, ALONE) for transitions in given.transitions_of]

    def result(
        self,
        optimizer: str,
        labels: Sequence[Labelling],
        published: float | None = None,
        bound: float | None = None,
        proved: bool = False,
    ) -> PlanResult:
        """The plan that labels give.

        Args:
            optimizer: That has found the labels.
            labels: Per query.
            published: Cost of the plan that the rules of the paper find.
            bound: No plan costs less.
            proved: Whether no plan costs less than this one.
        """
        plan = plan_of(self.problem, optimizer, labels)
        cost = plan_cost(self.problem, self._model, plan)
        search = None if self.graph is None else as_given(self.ordered, self.graph)
        return PlanResult(self.ordered.plan(plan), cost, search, published, cost if proved else bound)
