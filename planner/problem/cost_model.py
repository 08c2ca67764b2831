"""The cost model: what it must say of the parts of a plan, whose charges are the cost of the plan."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sparkext.planner.problem.labels import ALONE, Labels
from sparkext.planner.problem.problem import Problem

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

    For what is shared by bursts, the snapshots are given as a label, see `sparkext.planner.problem.burst_labels`.
    """

    name: str
    fewest: int
    """Fewest queries of a Q-set with snapshots."""
    merges: bool
    """Whether queries that go alone with equal totals pay for them once. Else, queries pay the same where their
    states and transitions are the same, each by itself, but for forms."""

    def start(self, problem: Problem, query: int, state: int) -> Iterable[Charge]:
        """Price of a start of a query at a state."""

    def alone(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Price of a query's own values over a transition."""

    def shared(self, problem: Problem, query: int, transition: int, snapshot: int) -> Iterable[Charge]:
        """Price of a form over a transition, as far as the query needs it; the Q-set pays for the union."""

    def evaluation(
        self, problem: Problem, query: int, state: int, snapshot: int, leaving: Departure
    ) -> Iterable[Charge]:
        """Price of turning what arrives for a query in forms over snapshots of one state into values."""

    def entry(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """Price of a query's own values over a transition to a loop that it shares by bursts."""

    def may_pay(self, problem: Problem, transition: int) -> bool:
        """Whether there may be Q-sets of a transition that cost less than their queries alone, evaluations aside."""

    def gain_nothing(self, problem: Problem) -> frozenset[int]:
        """Queries of which it is known that some best plan has all of them alone, whatever others share."""


def leaving(problem: Problem, query: int, state: int, labels: Labels) -> Departure:
    """What becomes of a query's totals at a state."""
    departures = problem.departures[query][state]
    return Departure(
        fresh=any(labels[number] == state for number in departures),
        alone=tuple(number for number in departures if labels[number] is ALONE),
        ends=state in problem.ends[query],
    )
