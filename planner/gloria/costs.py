"""Costs: what a cost model must say, and the charges that a plan's cost is the sum of."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from planner.gloria.labels import ALONE, Labels
from planner.gloria.problem import Problem
from planner.sharing import SharingPlan

Charge: TypeAlias = tuple[Hashable, float]
"""Something that costs, and how much. Who has the same to pay for pays once."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """What becomes of a query's totals at a state.

    Attributes:
        fresh: Whether snapshots are taken there for some transition.
        alone: Transitions over which the query goes on alone.
        ends: Whether the query ends there.
    """

    fresh: bool
    alone: tuple[int, ...]
    ends: bool

    def __bool__(self) -> bool:
        return self.fresh or bool(self.alone) or self.ends


class CostModel(Protocol):
    """Prices of the parts of a plan. All are local: to a query at a state, or to a Q-set at a transition."""

    name: str
    fewest: int
    """Fewest queries of a Q-set with snapshots."""

    def start(self, problem: Problem, query: int, state: int) -> Iterable[Charge]:
        """Of a query that starts at a state."""

    def alone(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Of a query's own values over a transition."""

    def shared(self, problem: Problem, query: int, transition: int, snapshot: int) -> Iterable[Charge]:
        """Of a form over a transition, as far as the query needs it; the Q-set pays for the union."""

    def evaluation(self, problem: Problem, query: int, state: int, snapshot: int, leaving: Leaving) -> Iterable[Charge]:
        """Of turning what arrives for a query in forms over snapshots of one state into values."""


def leaving(problem: Problem, query: int, state: int, labels: Labels) -> Leaving:
    """What becomes of a query's totals at a state."""
    departures = problem.departures[query][state]
    return Leaving(
        fresh=any(labels[number] == state for number in departures),
        alone=tuple(number for number in departures if labels[number] is ALONE),
        ends=state in problem.ends[query],
    )


class Pricer:
    """Prices the labels of queries, and remembers what it has priced."""

    def __init__(self, problem: Problem, model: CostModel) -> None:
        self._problem = problem
        self._model = model
        self._at: dict[object, tuple[Charge, ...]] = {}

    def charges(
        self, query: int, labels: Labels, forms: Mapping[int, int], states: Iterable[int] | None = None
    ) -> dict[Hashable, float]:
        """What a query has to pay for, whose labels are valid and give it these forms: at some states, or at all."""
        paid: dict[Hashable, float] = {}
        problem, memo = self._problem, self._at
        arrivals, departures = problem.arrivals[query], problem.departures[query]
        for state in arrivals if states is None else states:
            arriving, leaving = arrivals[state], departures[state]
            seen = (
                query,
                state,
                *[labels[number] for number in arriving],
                *[forms.get(number) for number in arriving],
                *[labels[number] for number in leaving],
            )
            known = memo.get(seen)
            if known is None:
                known = memo[seen] = tuple(self._charges(query, state, labels, forms))
            paid.update(known)
        return paid

    def _charges(self, query: int, state: int, labels: Labels, forms: Mapping[int, int]) -> Iterator[Charge]:
        problem, model = self._problem, self._model
        if state in problem.starts[query]:
            yield from model.start(problem, query, state)
        over: set[int] = set()
        for number in problem.arrivals[query][state]:
            snapshot = labels[number]
            if snapshot is ALONE:
                yield from model.alone(problem, query, number)
                continue
            over.add(snapshot)
            for key, cost in model.shared(problem, query, number, snapshot):
                yield (forms[number], key), cost
        if over and (left := leaving(problem, query, state, labels)):
            for snapshot in over:
                yield from model.evaluation(problem, query, state, snapshot, left)


def plan_cost(problem: Problem, model: CostModel, plan: SharingPlan) -> float:
    """Cost of a plan, from the plan alone: starts, then Q-set by Q-set, then state by state."""
    paid: dict[Hashable, float] = {}
    for state, queries in enumerate(problem.template.starts):
        for query in queries:
            paid.update(model.start(problem, query, state))
    labels: list[dict[int, int | None]] = [{} for _ in problem.template.queries]
    for number, planned in enumerate(plan.transitions):
        for qset in planned.qsets:
            for query in qset.queries:
                labels[query][number] = qset.snapshot
                charged = (
                    model.alone(problem, query, number)
                    if qset.snapshot is None
                    else model.shared(problem, query, number, qset.snapshot)
                )
                paid.update(((number, qset.queries, key), cost) for key, cost in charged)
    for query, arrivals in enumerate(problem.arrivals):
        for state, arriving in arrivals.items():
            over = {snapshot for number in arriving if (snapshot := labels[query][number]) is not None}
            if over and (left := leaving(problem, query, state, labels[query])):
                for snapshot in over:
                    paid.update(model.evaluation(problem, query, state, snapshot, left))
    return sum(paid.values())
