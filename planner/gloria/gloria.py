"""GLORIA: from a problem and a cost model to the plan with which its queries share most.

The rules, in order. The first four are applied to one pool of transitions after another, the others to the
graph that they have built.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sparkext.planner.budget import BudgetSpentError
from sparkext.planner.completion.completion import Effort, complete
from sparkext.planner.completion.labels import ALONE, plan_of
from sparkext.planner.completion.options import Labelling
from sparkext.planner.costs.cost_model import CostModel, Pricer, plan_cost
from sparkext.planner.gloria.canonical import canonical
from sparkext.planner.gloria.edge_pruning import prune_edges
from sparkext.planner.gloria.generation import generate, share_nothing
from sparkext.planner.gloria.graph import GRAPH_PART, Graph, Rule
from sparkext.planner.gloria.kleene import plan_components
from sparkext.planner.gloria.lightest import LIGHTEST
from sparkext.planner.gloria.node_pruning import prune_nodes
from sparkext.planner.gloria.path_search import search_paths
from sparkext.planner.gloria.pools import pools
from sparkext.planner.gloria.problem import Problem
from sparkext.planner.gloria.prospects import too_large, without_prospects
from sparkext.planner.hamlet.search import HamletSearch
from sparkext.planner.hamlet.search import search as search_loops
from sparkext.planner.mcep.match_plan import MatchSearch
from sparkext.planner.sharing.not_planned import NotPlanned
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharon.search import SharonSearch, search

RULES: tuple[Rule, ...] = (generate, plan_components, prune_edges, prune_nodes)


@dataclass(frozen=True, slots=True, eq=False)
class PlanResult:
    """What an optimizer has found.

    Attributes:
        plan: The plan.
        graph: How GLORIA got there; None for other optimizers, and where there was nothing to look for, or no time.
        cost: Of the plan.
        published: Cost of the plan that the rules of the paper find.
        bound: No plan costs less; None when that is not known.
        sharon: How SHARON got there; None for other optimizers.
        hamlet: How HAMLET got there; None for other optimizers.
        mcep: How MCEP builds the matches of queries; None for other optimizers.
    """

    plan: SharingPlan
    graph: Graph | None
    cost: float
    published: float | None = None
    bound: float | None = None
    sharon: SharonSearch | None = None
    hamlet: HamletSearch | None = None
    mcep: MatchSearch | None = None

    @property
    def not_planned(self) -> tuple[NotPlanned, ...] | None:
        """Queries that the optimizer leaves alone; None if it plans all."""
        searched = self.sharon or self.hamlet or self.mcep
        return None if searched is None else searched.not_planned


def build(problem: Problem, model: CostModel, rules: tuple[Rule, ...] = RULES, part: float = GRAPH_PART) -> Graph:
    """The GLORIA graph of a problem; where this part of the budget is spent, nothing is shared any more.

    Raises:
        BudgetSpentError: All of the budget was spent before there was a graph.
    """
    of_problem = pools(problem)
    graph = Graph(problem, model, of_problem, [[] for _ in of_problem], part=part)
    for pool in of_problem:
        problem.budget.check()
        for rule in (share_nothing, prune_edges) if problem.budget.is_spent(part) else rules:
            rule(graph, pool)
    return graph


def gloria(problem: Problem, model: CostModel, effort: Effort | None = None) -> PlanResult:
    """The best plan that can be found in the budget; it does not depend on the order of the queries.

    Where it is not known to be the best of all, it costs no more than those of SHARON, HAMLET and the greedy rules.
    """
    searched = GraphSearch(problem, model)
    if searched.graph is None:
        return searched.found("gloria", searched.labels, proved=not searched.has_prospects)
    effort = effort or Effort()
    cost = searched.pricer.cost(searched.labels)
    try:
        completion = complete(searched.problem, model, searched.pricer, searched.labels, effort)
    except BudgetSpentError:
        return searched.found("gloria", searched.labels, cost)
    labels, bound = completion.labels, completion.bound
    proved = bound is not None and bound >= searched.pricer.cost(labels) * (1 - 1e-9)
    if not proved:
        for begin in (_of_sequences, _of_lightest, _of_loops):
            if not problem.budget.is_spent():
                labels = _no_dearer(searched, model, labels, begin(searched, model, effort), effort)
    return searched.found("gloria", labels, cost, bound)


def _of_sequences(searched: GraphSearch, model: CostModel, effort: Effort) -> list[Labelling]:
    """What SHARON finds."""
    return search(searched.problem, model, searched.pricer, effort, part=1.0)[0]


def _of_lightest(searched: GraphSearch, model: CostModel, effort: Effort) -> list[Labelling]:
    """What the greedy rules find; nothing is shared if there is no time for them."""
    del effort
    with suppress(BudgetSpentError):
        return search_paths(build(searched.problem, model, LIGHTEST, part=1.0), searched.pricer)
    return [dict.fromkeys(mine, ALONE) for mine in searched.problem.mine]


def _of_loops(searched: GraphSearch, model: CostModel, effort: Effort) -> list[Labelling]:
    """What HAMLET finds."""
    del model, effort
    return search_loops(searched.problem, searched.pricer)[0]


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


def published(problem: Problem, model: CostModel) -> PlanResult:
    """The plan that the rules of the paper find, without completion."""
    searched = GraphSearch(problem, model)
    return searched.found("published", searched.labels)


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
        self.problem = without_large if alone == large else replace(given, left_alone=alone)
        self.pricer = Pricer(self.problem, model)
        self.graph: Graph | None = None
        self.has_prospects = bool(large) or len(alone) < len(given.mine)
        if len(alone) < len(given.mine):
            with suppress(BudgetSpentError):
                graph = build(self.problem, model, rules)
                self.labels = search_paths(graph, self.pricer)
                self.graph = graph
        if self.graph is None:
            self.labels = [dict.fromkeys(mine, ALONE) for mine in given.mine]

    def found(
        self,
        optimizer: str,
        labels: Sequence[Labelling],
        published: float | None = None,
        bound: float | None = None,
        proved: bool = False,
    ) -> PlanResult:
        """The plan that labels give.

        Args:
            optimizer: That has found them.
            labels: Per query.
            published: Cost of the plan that the rules of the paper find.
            bound: No plan costs less.
            proved: Whether no plan costs less than this one.
        """
        plan = plan_of(self.problem, optimizer, labels)
        cost = plan_cost(self.problem, self._model, plan)
        graph = None if self.graph is None else self.ordered.graph(self.graph)
        return PlanResult(self.ordered.plan(plan), graph, cost, published, cost if proved else bound)
