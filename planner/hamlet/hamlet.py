"""HAMLET: queries that repeat the same events share them by bursts, and nothing else but equal prefixes.

Poppe, Lei, Ma, Rozet, Rundensteiner: *To Share, or not to Share Online Event Trend Aggregation Over Bursty Event
Streams* (SIGMOD 2021).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkext.planner.hamlet.loop_report import HamletSearch
from sparkext.planner.hamlet.loop_search import search
from sparkext.planner.plan_completion.completed_plan import Effort
from sparkext.planner.problem.canonical import Canonical, canonical
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import Labelling, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult


@dataclass(frozen=True, slots=True)
class Hamlet:
    """Shares loops of single states by bursts, each burst or not by its length.

    Queries that have no such loop, or one that no other has, go alone, and the search says why.
    """

    name: str = "hamlet"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The plan that shares loops of single states; it does not depend on the order of the queries.

        It costs no more than if all queries go alone.
        """
        ordered = canonical(problem)
        labels, searched = search(ordered.problem, Pricer(ordered.problem, model))
        plan = plan_of(ordered.problem, self.name, labels)
        cost = plan_cost(ordered.problem, model, plan)
        return PlanResult(ordered.plan(plan), cost, _as_given(ordered, searched), chooses_bursts=True)


def loop_labels(problem: Problem, model: CostModel, pricer: Pricer, effort: Effort) -> list[Labelling]:
    """The labels that HAMLET finds in what is left of the budget, per query."""
    del model, effort  # it tries few labels, whatever they cost
    return search(problem, pricer)[0]


def _as_given(ordered: Canonical, searched: HamletSearch) -> HamletSearch:
    """A search, with queries and states by their numbers in the problem as it was given."""

    def numbered(queries: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(ordered.queries[query] for query in queries))

    apart = (replace(entry, query=ordered.queries[entry.query]) for entry in searched.not_planned)
    return HamletSearch(
        tuple(sorted(apart, key=lambda entry: entry.query)),
        tuple(
            replace(
                entry,
                state=ordered.states[entry.state],
                queries=numbered(entry.queries),
                shared=tuple(sorted(map(numbered, entry.shared))),
            )
            for entry in searched.repeated
        ),
    )
