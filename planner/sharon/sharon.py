"""SHARON: sequences share contiguous parts, chosen so that they save most and no two meet in a query.

Poppe, Rozet, Lei, Rundensteiner, Maier: *Sharon: Shared Online Event Sequence Aggregation* (ICDE 2018).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkext.planner.plan_completion.completed_plan import Effort
from sparkext.planner.problem.canonical import Canonical, canonical
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import Labelling, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult
from sparkext.planner.sharon.candidate_report import SharonSearch
from sparkext.planner.sharon.candidate_search import search
from sparkext.planner.sharon.candidates import Candidate


@dataclass(frozen=True, slots=True)
class Sharon:
    """Shares the best candidates; queries that are no plain sequences go alone, and the search says why."""

    name: str = "sharon"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The plan that shares the best candidates; it does not depend on the order of the queries."""
        ordered = canonical(problem)
        labels, searched = search(ordered.problem, model, Pricer(ordered.problem, model))
        plan = plan_of(ordered.problem, self.name, labels)
        cost = plan_cost(ordered.problem, model, plan)
        return PlanResult(ordered.plan(plan), cost, _as_given(ordered, searched))


def sequence_labels(problem: Problem, model: CostModel, pricer: Pricer, effort: Effort) -> list[Labelling]:
    """The labels that SHARON finds in what is left of the budget, per query."""
    return search(problem, model, pricer, effort, part=1.0)[0]


def _as_given(ordered: Canonical, searched: SharonSearch) -> SharonSearch:
    """A search, with queries, states and transitions by their numbers in the problem as it was given."""

    def renumbered(candidate: Candidate) -> Candidate:
        return Candidate(
            tuple(ordered.states[state] for state in candidate.states),
            tuple(ordered.transitions[number] for number in candidate.transitions),
            tuple(sorted(ordered.queries[query] for query in candidate.queries)),
        )

    apart = (replace(entry, query=ordered.queries[entry.query]) for entry in searched.not_planned)
    return replace(
        searched,
        not_planned=tuple(sorted(apart, key=lambda entry: entry.query)),
        considered=tuple(replace(entry, candidate=renumbered(entry.candidate)) for entry in searched.considered),
        shared=tuple(map(renumbered, searched.shared)),
    )
