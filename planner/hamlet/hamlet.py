"""HAMLET: queries that repeat the same events share them by bursts, and nothing else but equal prefixes.

Poppe, Lei, Ma, Rozet, Rundensteiner: *To Share, or not to Share Online Event Trend Aggregation Over Bursty Event
Streams* (SIGMOD 2021).
"""

from __future__ import annotations

from dataclasses import replace

from sparkext.planner.completion.labels import plan_of
from sparkext.planner.costs.cost_model import CostModel, Pricer, plan_cost
from sparkext.planner.gloria.canonical import Canonical, canonical
from sparkext.planner.gloria.gloria import PlanResult
from sparkext.planner.gloria.problem import Problem
from sparkext.planner.hamlet.search import HamletSearch, search


def hamlet(problem: Problem, model: CostModel) -> PlanResult:
    """The plan that shares loops of single states; it does not depend on the order of the queries.

    It costs no more than if all queries go alone. Those that have no such loop, or one that no other has, do so, and
    the search says why.
    """
    ordered = canonical(problem)
    labels, searched = search(ordered.problem, Pricer(ordered.problem, model))
    plan = plan_of(ordered.problem, "hamlet", labels)
    cost = plan_cost(ordered.problem, model, plan)
    return PlanResult(ordered.plan(plan), None, cost, hamlet=_as_given(ordered, searched))


def _as_given(ordered: Canonical, searched: HamletSearch) -> HamletSearch:
    """A search, with queries and states by their numbers in the problem as it was given."""

    def numbered(queries: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(ordered.queries[query] for query in queries))

    apart = (replace(one, query=ordered.queries[one.query]) for one in searched.not_planned)
    return HamletSearch(
        tuple(sorted(apart, key=lambda one: one.query)),
        tuple(
            replace(
                one,
                state=ordered.states[one.state],
                queries=numbered(one.queries),
                shared=tuple(sorted(map(numbered, one.shared))),
            )
            for one in searched.repeated
        ),
    )
