"""Greedy: the plan of the lightest nodes, without completion."""

from __future__ import annotations

from sparkext.planner.costs.cost_model import CostModel
from sparkext.planner.gloria.gloria import GraphSearch, PlanResult
from sparkext.planner.gloria.lightest import LIGHTEST
from sparkext.planner.gloria.problem import Problem


def greedy(problem: Problem, model: CostModel) -> PlanResult:
    """The plan of the lightest nodes; it does not depend on the order of the queries."""
    searched = GraphSearch(problem, model, LIGHTEST)
    return searched.found("greedy", searched.labels)
