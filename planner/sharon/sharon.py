"""SHARON: sequences share contiguous parts, chosen so that they save most and no two meet in a query.

Poppe, Rozet, Lei, Rundensteiner, Maier: *Sharon: Shared Online Event Sequence Aggregation* (ICDE 2018).
"""

from __future__ import annotations

from dataclasses import replace

from sparkext.planner.completion.labels import plan_of
from sparkext.planner.costs.cost_model import CostModel, Pricer, plan_cost
from sparkext.planner.gloria.canonical import Canonical, canonical
from sparkext.planner.gloria.gloria import PlanResult
from sparkext.planner.gloria.problem import Problem
from sparkext.planner.sharon.candidates import Candidate
from sparkext.planner.sharon.search import SharonSearch, search


def sharon(problem: Problem, model: CostModel) -> PlanResult:
    """The plan that shares the best candidates; it does not depend on the order of the queries.

    Queries that are no plain sequences go alone, and the search says why.
    """
    ordered = canonical(problem)
    labels, searched = search(ordered.problem, model, Pricer(ordered.problem, model))
    plan = plan_of(ordered.problem, "sharon", labels)
    cost = plan_cost(ordered.problem, model, plan)
    return PlanResult(ordered.plan(plan), None, cost, sharon=_as_given(ordered, searched))


def _as_given(ordered: Canonical, searched: SharonSearch) -> SharonSearch:
    """A search, with queries, states and transitions by their numbers in the problem as it was given."""

    def renumbered(candidate: Candidate) -> Candidate:
        return Candidate(
            tuple(ordered.states[state] for state in candidate.states),
            tuple(ordered.transitions[number] for number in candidate.transitions),
            tuple(sorted(ordered.queries[query] for query in candidate.queries)),
        )

    apart = (replace(one, query=ordered.queries[one.query]) for one in searched.not_planned)
    return replace(
        searched,
        not_planned=tuple(sorted(apart, key=lambda one: one.query)),
        considered=tuple(replace(one, candidate=renumbered(one.candidate)) for one in searched.considered),
        shared=tuple(map(renumbered, searched.shared)),
    )
