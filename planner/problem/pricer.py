"""The pricer: what plans cost that are made from labels, and from the parts of which a plan is searched for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.cost_model import Charge, CostModel, Departure, leaving
from sparkext.planner.problem.labels import ALONE, Labels, forms
from sparkext.planner.problem.problem import Problem


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


def total(charges: Iterable[Charge]) -> float:
    """The sum of charges; what is charged for the same thing is paid once."""
    paid: Mapping[Hashable, float] = dict(charges)
    return sum(paid.values())


class Pricer:
    """Prices the parts of plans: whoever searches for a plan asks here, and only this asks the cost model.

    The charges of labels, which most searches go by, are remembered.

    Attributes:
        problem: The problem.
        model: Its costs.
    """

    def __init__(self, problem: Problem, model: CostModel) -> None:
        self.problem = problem
        self.model = model
        self._at: list[dict[Spot, Bundle]] = [{} for _ in problem.template.queries]
        self._all: dict[tuple[object, ...], list[Bundle]] = {}

    def starts(self, starts: Iterable[tuple[int, int]]) -> float:
        """Cost of starts, each a query and a state where it starts."""
        return total(charge for query, state in starts for charge in self.model.start(self.problem, query, state))

    def values(self, query: int, number: int, enters: bool = False) -> Iterable[Charge]:
        """Charges for a query's own values over a transition; ``enters``: to a loop that it shares by bursts."""
        return (self.model.entry if enters else self.model.alone)(self.problem, query, number)

    def form(self, queries: Iterable[int], number: int, snapshot: int) -> Iterator[Charge]:
        """Charges for the form of a Q-set over a transition, as far as some of its queries need it."""
        for query in queries:
            yield from self.model.shared(self.problem, query, number, snapshot)

    def evaluation(self, query: int, state: int, snapshot: int, left: Departure) -> Iterable[Charge]:
        """Charges for turning what arrives for a query at a state in forms over the same snapshots into values."""
        return self.model.evaluation(self.problem, query, state, snapshot, left)

    def evaluations(self, query: int, state: int, labels: Labels) -> Iterator[Charge]:
        """Charges for turning all forms that arrive for a query at a state into values, where they are needed."""
        over = {label for number in self.problem.arrivals[query][state] if (label := labels[number]) is not None}
        if over:
            left = leaving(self.problem, query, state, labels)
            for snapshot in over:
                if left or is_burst(snapshot):
                    yield from self.evaluation(query, state, snapshot, left)

    def enters(self, query: int, state: int, labels: Labels) -> bool:
        """Whether what arrives for a query at a state comes to a loop that it shares by bursts."""
        return any(is_burst(labels[number]) for number in self.problem.arrivals[query][state])

    def at(self, query: int, where: Spot, labels: Labels, forms: Mapping[int, int]) -> Bundle:
        """What a query has to pay for at a state, whose labels are valid and give it these forms."""
        bundle = self._at[query].get(where)
        if bundle is None:
            bundle = self._at[query][where] = self._bundle(query, where, labels, forms)
        return bundle

    def all(self, query: int, labels: Labels) -> list[Bundle]:
        """What a query has to pay for, state by state, with labels that are valid."""
        key = (query, *map(labels.__getitem__, self.problem.transitions_of[query]))
        if key not in self._all:
            form_of = forms(self.problem, query, labels)
            assert form_of is not None, f"labels of query {query} are not valid: {labels}"
            departures = self.problem.departures[query]
            self._all[key] = [
                self.at(
                    query,
                    spot(
                        state, arriving, departures[state], labels, form_of, self.behind(query, state, labels, form_of)
                    ),
                    labels,
                    form_of,
                )
                for state, arriving in self.problem.arrivals[query].items()
            ]
        return self._all[key]

    def cost(self, labels: Sequence[Labels]) -> float:
        """Cost of the plan of valid labels, one set for each query."""
        paid: dict[Hashable, float] = {}
        for query, own_labels in enumerate(labels):
            for bundle in self.all(query, own_labels):
                paid.update(bundle.own)
                paid.update(bundle.of_forms)
        return sum(paid.values())

    def behind(self, query: int, state: int, labels: Labels, forms: Mapping[int, int]) -> object:
        """What tells a query's totals at a state from those of others that are equal when nothing is shared.

        These are the transitions on the way there that are not alone, with their labels. Only then do the
        others not have the same to pay for.
        """
        if not self.model.merges or state not in self.problem.equals[query]:
            return None
        return tuple([(n, labels[n]) for n in self.problem.upstream(query, state) if n in forms]) if forms else ()

    def _bundle(self, query: int, where: Spot, labels: Labels, forms: Mapping[int, int]) -> Bundle:
        state, behind = where[0], where[1]
        assert isinstance(state, int)
        own: dict[Hashable, float] = {}
        common: dict[Hashable, float] = {}
        if state in self.problem.starts[query]:
            own.update(self.model.start(self.problem, query, state))
        enters = self.enters(query, state, labels)
        for number in self.problem.arrivals[query][state]:
            snapshot = labels[number]
            if snapshot is ALONE:
                own.update(((key, behind), cost) for key, cost in self.values(query, number, enters))
            else:
                common.update(((forms[number], key), cost) for key, cost in self.form((query,), number, snapshot))
        own.update(self.evaluations(query, state, labels))
        return Bundle(tuple(own.items()), tuple(common.items()), sum(own.values()))
