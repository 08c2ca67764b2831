"""The cost of a plan from the plan alone, charge by charge: the check on all that prices plans while it searches."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.cost_model import CostModel, leaving
from sparkext.planner.problem.labels import labels_of
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan


@dataclass(frozen=True, slots=True)
class PartCosts:
    """The parts of a plan, whose sum is its cost.

    Attributes:
        qsets: By source, target and Q-set, what goes over the transition for it.
        states: Per state of the template, the starts there and turning forms into values.
    """

    qsets: dict[tuple[int, int, QSet], float]
    states: tuple[float, ...]


def plan_cost(problem: Problem, model: CostModel, plan: SharingPlan) -> float:
    """Cost of a plan, from the plan alone: starts, then Q-set by Q-set, then state by state."""
    paid = {key: cost for _, key, cost in _charges(problem, model, plan)}
    return sum(paid.values())


def part_costs(problem: Problem, model: CostModel, plan: SharingPlan) -> PartCosts:
    """The parts of what `plan_cost` adds up; who has the same to pay for pays once."""
    at: list[dict[Hashable, float]] = [{} for _ in problem.template.states]
    over: dict[tuple[int, int, QSet], dict[Hashable, float]] = {
        (planned.source, planned.target, qset): {} for planned in plan.transitions for qset in planned.qsets
    }
    for part, key, cost in _charges(problem, model, plan):
        (at[part] if isinstance(part, int) else over[part])[key] = cost
    return PartCosts(
        {part: sum(paid.values()) for part, paid in over.items()}, tuple(sum(paid.values()) for paid in at)
    )


def _charges(
    problem: Problem, model: CostModel, plan: SharingPlan
) -> Iterator[tuple[int | tuple[int, int, QSet], Hashable, float]]:
    """All charges of a plan, each with the state, or the transition and Q-set, that it is for."""
    for state, queries in enumerate(problem.template.starts):
        for query in queries:
            yield from ((state, *charge) for charge in model.start(problem, query, state))
    labels = labels_of(problem, plan)
    entering = [
        {n for loop in loops if is_burst(own_labels[loop.inside[0]]) for n in loop.entering}
        for loops, own_labels in zip(problem.loops, labels, strict=True)
    ]
    for number, planned in enumerate(plan.transitions):
        for qset in planned.qsets:
            part = (planned.source, planned.target, qset)
            for query in qset.queries:
                snapshot = labels[query][number]
                alone = model.entry if number in entering[query] else model.alone
                charged = (
                    alone(problem, query, number)
                    if snapshot is None
                    else model.shared(problem, query, number, snapshot)
                )
                yield from ((part, (number, qset.queries, key), cost) for key, cost in charged)
    for query, arrivals in enumerate(problem.arrivals):
        for state, arriving in arrivals.items():
            over = {snapshot for number in arriving if (snapshot := labels[query][number]) is not None}
            left = leaving(problem, query, state, labels[query])
            for snapshot in over:
                if left or is_burst(snapshot):
                    yield from ((state, *charge) for charge in model.evaluation(problem, query, state, snapshot, left))
