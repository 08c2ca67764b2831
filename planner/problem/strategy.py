"""Strategies: what finds a sharing plan for a problem, what it has found, and what it says of how it got there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.match_plan import MatchPlan
from sparkext.planner.sharing.not_planned import NotPlanned
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import Template


class WorkloadTooLargeError(Exception):
    """There are too many plans for a strategy that looks at all of them."""


class Strategy(Protocol):
    """Finds which queries of a problem share what."""

    @property
    def name(self) -> str:
        """The name by which users ask for it."""

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The best plan that it knows of, which does not depend on the order of the queries.

        Raises:
            WorkloadTooLargeError: It looks at all plans, and there are too many.
        """


@dataclass(frozen=True, slots=True)
class Audience:
    """For whom a search is reported: the queries of a pool that are spoken of, and their names.

    Attributes:
        queries: To be shown, by number.
        names: Per query of the pool, what it is registered as.
        plan: That is in use.
    """

    queries: tuple[int, ...]
    names: tuple[tuple[str, ...], ...]
    plan: SharingPlan

    def concerns(self, queries: Iterable[int]) -> bool:
        """Whether some of the queries are to be shown."""
        return not set(self.queries).isdisjoint(queries)


@dataclass(frozen=True, slots=True)
class Report:
    """How a strategy found its plan.

    Attributes:
        lines: For people.
        document: For programs: a part of a JSON document.
    """

    lines: tuple[str, ...] = ()
    document: dict[str, Any] = field(default_factory=dict)


class Search(Protocol):
    """How a strategy found its plan, as far as it keeps that: plain values that never change."""

    @property
    def not_planned(self) -> tuple[NotPlanned, ...] | None:
        """Queries that it leaves alone; None if it plans all."""

    def report(self, template: Template, model: str, audience: Audience) -> Report:
        """What there is to say of it.

        Args:
            template: Of the problem, as it was given to the strategy.
            model: Name of its costs.
            audience: For whom.
        """


@dataclass(frozen=True, slots=True, eq=False)
class PlanResult:
    """What a strategy has found.

    Attributes:
        plan: The plan.
        cost: Of the plan.
        search: How the strategy got there; None if it did not search, as there was nothing to look for, or no time.
        published: Cost of the plan that the rules of the strategy's paper find, if it goes on from there.
        bound: No plan costs less; None when that is not known.
        matches: How the matches of queries are built, where the strategy builds matches.
        chooses_bursts: Whether each burst of a loop that is shared by bursts is shared or not by its length.
    """

    plan: SharingPlan
    cost: float
    search: Search | None = None
    published: float | None = None
    bound: float | None = None
    matches: MatchPlan | None = None
    chooses_bursts: bool = False

    @property
    def not_planned(self) -> tuple[NotPlanned, ...] | None:
        """Queries that the strategy leaves alone; None if it plans all."""
        return None if self.search is None else self.search.not_planned

    def report(self, template: Template, model: str, audience: Audience) -> Report:
        """How the plan was found; empty if there is nothing to say."""
        return Report() if self.search is None else self.search.report(template, model, audience)
