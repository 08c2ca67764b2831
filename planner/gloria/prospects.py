"""Prospects: of which queries it is worth looking for what they might share.

Queries that share no transition with others, directly or through others, have no part in each other's plans. Where
no Q-set of any transition of such a part of the workload costs less than its queries alone, no plan does, since
turning snapshots into values comes on top, and totals that are equal are no more so once they are shared.
"""

from __future__ import annotations

from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.problem import Problem

MAX_TRANSITIONS = 10_000
"""Most transitions of a query for which is looked; the way of a form to a transition has a bit for each."""


KNOWN_FROM = 40
"""Transitions of queries from which on those are left out of the search of whom it is known that they gain nothing.
Fewer are searched in a few milliseconds, and `EXPLAIN SHARING` shows how."""


def too_large(problem: Problem) -> frozenset[int]:
    """The queries that have too many transitions to look for what they might share."""
    return frozenset(
        query for query, transitions in enumerate(problem.transitions_of) if len(transitions) > MAX_TRANSITIONS
    )


def without_prospects(problem: Problem, model: CostModel) -> frozenset[int]:
    """The queries that may as well go alone: no plan in which they share costs less."""
    many = sum(map(len, problem.transitions_of)) >= KNOWN_FROM
    hopeless = set(model.gain_nothing(problem)) if many else set[int]()
    links = [tuple(queries - hopeless) for queries in problem.plain]
    for queries in put_together(len(problem.transitions_of), links):
        if hopeless.issuperset(queries):
            continue
        transitions = {number for query in queries for number in problem.transitions_of[query]}
        if not any(model.may_pay(problem, number) for number in transitions if problem.plain[number]):
            hopeless.update(queries)
    return frozenset(hopeless)
