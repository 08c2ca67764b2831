"""What the parts of a sharing plan cost: each Q-set on each transition, and each state."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from planner.gloria.costs import CostModel, leaving
from planner.gloria.problem import Problem
from planner.sharing import QSet, SharingPlan


@dataclass(frozen=True, slots=True)
class PartCosts:
    """The parts, whose sum is the cost of the plan.

    Attributes:
        qsets: By source, target and Q-set, what goes over the transition for it.
        states: Per state of the template, the starts there and turning forms into values.
    """

    qsets: dict[tuple[int, int, QSet], float]
    states: tuple[float, ...]


def part_costs(problem: Problem, model: CostModel, plan: SharingPlan) -> PartCosts:
    """The parts of what `planner.gloria.costs.plan_cost` adds up; who has the same to pay for pays once."""
    qsets: dict[tuple[int, int, QSet], float] = {}
    labels: list[dict[int, int | None]] = [{} for _ in problem.template.queries]
    for number, planned in enumerate(plan.transitions):
        for qset in planned.qsets:
            paid: dict[Hashable, float] = {}
            for query in qset.queries:
                labels[query][number] = qset.snapshot
                paid.update(
                    model.alone(problem, query, number)
                    if qset.snapshot is None
                    else model.shared(problem, query, number, qset.snapshot)
                )
            qsets[planned.source, planned.target, qset] = sum(paid.values())
    at: list[dict[Hashable, float]] = [{} for _ in problem.template.states]
    for state, queries in enumerate(problem.template.starts):
        for query in queries:
            at[state].update(model.start(problem, query, state))
    for query, arrivals in enumerate(problem.arrivals):
        for state, arriving in arrivals.items():
            over = {snapshot for number in arriving if (snapshot := labels[query][number]) is not None}
            if over and (left := leaving(problem, query, state, labels[query])):
                for snapshot in over:
                    at[state].update(model.evaluation(problem, query, state, snapshot, left))
    return PartCosts(qsets, tuple(sum(paid.values()) for paid in at))
