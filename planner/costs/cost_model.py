"""Costs: what a cost model must say, and the charges that a plan's cost is the sum of."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sparkext.planner.completion.labels import ALONE, Labels, forms, labels_of
from sparkext.planner.gloria.bursts import is_burst
from sparkext.planner.gloria.problem import Problem
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan

Charge: TypeAlias = tuple[Hashable, float]
"""Something that costs, and how much. Who has the same to pay for pays once."""


@dataclass(frozen=True, slots=True)
class Departure:
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
    """Prices of the parts of a plan. All are local: to a query at a state, or to a Q-set at a transition.

    For what is shared by bursts, the snapshots are given as a label, see `sparkext.planner.gloria.bursts`.
    """

    name: str
    fewest: int
    """Fewest queries of a Q-set with snapshots."""
    merges: bool
    """Whether queries that go alone with equal totals pay for them once. Else, queries pay the same where their
    states and transitions are the same, each by itself, but for forms."""

    def start(self, problem: Problem, query: int, state: int) -> Iterable[Charge]:
        """Of a query that starts at a state."""

    def alone(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Of a query's own values over a transition."""

    def shared(self, problem: Problem, query: int, transition: int, snapshot: int) -> Iterable[Charge]:
        """Of a form over a transition, as far as the query needs it; the Q-set pays for the union."""

    def evaluation(
        self, problem: Problem, query: int, state: int, snapshot: int, leaving: Departure
    ) -> Iterable[Charge]:
        """Of turning what arrives for a query in forms over snapshots of one state into values."""

    def entry(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Of a query's own values over a transition to a loop that it shares by bursts."""

    def may_pay(self, problem: Problem, transition: int) -> bool:
        """Whether there may be Q-sets of a transition that cost less than their queries alone, evaluations aside."""


def leaving(problem: Problem, query: int, state: int, labels: Labels) -> Departure:
    """What becomes of a query's totals at a state."""
    departures = problem.departures[query][state]
    return Departure(
        fresh=any(labels[number] == state for number in departures),
        alone=tuple(number for number in departures if labels[number] is ALONE),
        ends=state in problem.ends[query],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """What a query has to pay for at one state: there, and over the transitions to it.

    Attributes:
        own: Charges that are not for forms.
        of_forms: Charges for forms.
        own_cost: Of the former.
    """

    own: tuple[Charge, ...]
    of_forms: tuple[Charge, ...]
    own_cost: float


Spot: TypeAlias = tuple[object, ...]
"""All that the charges at a state of a query depend on: the state, then what `spot` finds there."""


def spot(
    state: int,
    arriving: Sequence[int],
    leaving: Sequence[int],
    labels: Labels,
    forms: Mapping[int, int],
    behind: object,
) -> Spot:
    """What the charges at a state depend on.

    Args:
        state: The state.
        arriving: Transitions to it over which a query may share.
        leaving: Transitions from it over which a query may share.
        labels: Of the query.
        forms: Of the query.
        behind: What tells the query's totals there from those of queries with equal ones.
    """
    return (state, behind, *map(forms.get, arriving), *map(labels.__getitem__, leaving))


class Pricer:
    """Prices the labels of queries, and remembers what it has priced."""

    def __init__(self, problem: Problem, model: CostModel) -> None:
        self._problem = problem
        self._model = model
        self._at: list[dict[Spot, Bundle]] = [{} for _ in problem.template.queries]
        self._all: dict[tuple[object, ...], list[Bundle]] = {}

    def at(self, query: int, where: Spot, labels: Labels, forms: Mapping[int, int]) -> Bundle:
        """What a query has to pay for at a state, whose labels are valid and give it these forms."""
        known = self._at[query].get(where)
        if known is None:
            known = self._at[query][where] = self._bundle(query, where, labels, forms)
        return known

    def all(self, query: int, labels: Labels) -> list[Bundle]:
        """What a query has to pay for, state by state, with labels that are valid."""
        key = (query, *map(labels.__getitem__, self._problem.mine[query]))
        if key not in self._all:
            known = forms(self._problem, query, labels)
            assert known is not None, f"labels of query {query} are not valid: {labels}"
            departures = self._problem.departures[query]
            self._all[key] = [
                self.at(
                    query,
                    spot(state, arriving, departures[state], labels, known, self.behind(query, state, labels, known)),
                    labels,
                    known,
                )
                for state, arriving in self._problem.arrivals[query].items()
            ]
        return self._all[key]

    def cost(self, labels: Sequence[Labels]) -> float:
        """Cost of the plan of valid labels, one set for each query."""
        paid: dict[Hashable, float] = {}
        for query, mine in enumerate(labels):
            for bundle in self.all(query, mine):
                paid.update(bundle.own)
                paid.update(bundle.of_forms)
        return sum(paid.values())

    def behind(self, query: int, state: int, labels: Labels, forms: Mapping[int, int]) -> object:
        """What tells a query's totals at a state from those of others that are equal when nothing is shared.

        These are the transitions on the way there that are not alone, with their labels. Only then do the
        others not have the same to pay for.
        """
        if not self._model.merges or state not in self._problem.equals[query]:
            return None
        return tuple([(n, labels[n]) for n in self._problem.upstream(query, state) if n in forms]) if forms else ()

    def _bundle(self, query: int, where: Spot, labels: Labels, forms: Mapping[int, int]) -> Bundle:
        problem, model = self._problem, self._model
        state, behind = where[0], where[1]
        assert isinstance(state, int)
        own: dict[Hashable, float] = {}
        common: dict[Hashable, float] = {}
        if state in problem.starts[query]:
            own.update(model.start(problem, query, state))
        over: set[int] = set()
        arriving = problem.arrivals[query][state]
        alone = model.entry if any(is_burst(labels[number]) for number in arriving) else model.alone
        for number in arriving:
            snapshot = labels[number]
            if snapshot is ALONE:
                own.update(((key, behind), cost) for key, cost in alone(problem, query, number))
                continue
            over.add(snapshot)
            common.update(((forms[number], key), cost) for key, cost in model.shared(problem, query, number, snapshot))
        left = leaving(problem, query, state, labels)
        for snapshot in over:
            if left or is_burst(snapshot):
                own.update(model.evaluation(problem, query, state, snapshot, left))
        return Bundle(tuple(own.items()), tuple(common.items()), sum(own.values()))


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
        {n for loop in loops if is_burst(mine[loop.inside[0]]) for n in loop.entering}
        for loops, mine in zip(problem.loops, labels, strict=True)
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
