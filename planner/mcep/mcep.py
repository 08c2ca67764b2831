"""MCEP: the matches of queries are built step by step, and only then aggregated; queries share partial matches.

Kolchinsky, Schuster: *Real-Time Multi-Pattern Detection over Event Streams* (SIGMOD 2019). It is there to be compared
with: a sequence has as many matches as the product of its events, of which the totals of other plans take no note.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TypeAlias

from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.costs.statistics import longest_window
from sparkext.planner.mcep.annealing import AnnealingResult, TargetPattern, anneal, total
from sparkext.planner.mcep.joined_plans import match_plan
from sparkext.planner.mcep.local_plans import LocalBest, best_order, best_tree, order_plan
from sparkext.planner.mcep.match_report import MatchSearch
from sparkext.planner.mcep.partial_matches import Expected, Kinds, PartialMatches
from sparkext.planner.mcep.words import words
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult
from sparkext.planner.sharing.not_planned import NotPlanned, Reason
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.template import template_of

LONGEST_TREE = 5
"""Most events of a pattern for which trees are looked at; the time for one grows as 3 to the power of them."""

NANOSECONDS = 120.0
"""What a partial match takes, with the costs of ``measured``: 100 to 170 for ``COUNT(*)`` on one core of a cloud
machine."""


@dataclass(frozen=True, slots=True)
class Mcep:
    """Builds the matches of all queries with finitely many words."""

    name: str = "mcep"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """A plan that builds the matches of all queries with finitely many words; the others go alone.

        Its cost is that of the queries that go alone, and an update for each partial match. It is not compared with the
        cost of sharing nothing, which is lower nearly always.
        """
        classes = _Classes(problem)
        labelled, reasons = _known(problem, classes)
        sought, lengths = _sought(problem, labelled), _lengths(problem)
        orders, trees = (_annealed(problem, sought, best, classes.expected) for best in (best_order, best_tree))
        plans = {
            name: match_plan(sought.patterns, annealed.plans, sought.of_query, lengths, classes.expected, classes.of)
            for name, annealed in (("orders", orders), ("trees", trees))
            if annealed is not None
        }
        by = min(plans, key=lambda name: plans[name].matches * (1 + 1e-9 * (name == "trees")))
        apart = tuple(NotPlanned(query, reason) for query, reason in sorted(reasons.items()))
        own = [sought.patterns[pattern] for own_patterns in sought.of_query.values() for pattern, _ in own_patterns]
        matching = MatchSearch(
            plans[by],
            apart,
            by,
            by_themselves=sum(_alone(pattern, classes.expected) for pattern in own),
            as_written=sum(
                total([pattern], [order_plan(range(len(pattern.kinds)))], classes.expected) for pattern in own
            ),
        )
        price = 1.0 if model.name == PaperCosts.name else NANOSECONDS
        cost = _cost_of(problem, model, [alone.query for alone in apart]) + price * plans[by].matches
        plan = replace(share_nothing(problem.template), optimizer=self.name)
        return PlanResult(plan, cost, matching, matches=matching.plan)


class _Classes:
    """The event classes of a problem by numbers, which do not depend on the order of its queries.

    Attributes:
        of: Class of each number.
        numbers: Number of each class.
        expected: Numbers of partial matches.
    """

    def __init__(self, problem: Problem) -> None:
        events = {state.event: number for state, number in zip(problem.template.states, problem.events, strict=True)}
        ordered = sorted(events, key=repr)
        self.of: dict[Hashable, EventClass] = dict(enumerate(ordered))
        self.numbers = {event: number for number, event in enumerate(ordered)}
        self.expected = PartialMatches({number: events[event] for number, event in enumerate(ordered)})


_Labelled: TypeAlias = "list[tuple[Kinds, tuple[str, ...]]]"
"""Words: the numbers of their classes, and the variables."""


def _known(problem: Problem, classes: _Classes) -> tuple[dict[int, _Labelled], dict[int, Reason]]:
    """By query, the words of those whose matches are built, and the reasons why those of others are not."""
    labelled: dict[int, _Labelled] = {}
    reasons: dict[int, Reason] = {}
    for query in range(len(problem.template.queries)):
        spelt = words(problem, query)
        if problem.most_matches is None:
            reasons[query] = Reason.STREAM
        elif isinstance(spelt, Reason):
            reasons[query] = spelt
        else:
            named: _Labelled = [(tuple(map(classes.numbers.__getitem__, word.classes)), word.labels) for word in spelt]
            part = _part(problem, query)
            if max(_alone(TargetPattern(kinds, part), classes.expected) for kinds, _ in named) > problem.most_matches:
                reasons[query] = Reason.TOO_MANY_MATCHES
            else:
                labelled[query] = named
    return labelled, reasons


@dataclass(frozen=True, slots=True)
class _Patterns:
    """Distinct sequences of classes, in an order that does not depend on that of the queries.

    Attributes:
        patterns: Each with the longest window that it is asked for in.
        of_query: Per query, its patterns by number, each with the variables of its events.
    """

    patterns: tuple[TargetPattern, ...]
    of_query: dict[int, list[tuple[int, tuple[str, ...]]]]


def _sought(problem: Problem, labelled: dict[int, _Labelled]) -> _Patterns:
    parts: dict[Kinds, float] = {}
    for query, own_words in labelled.items():
        for kinds, _ in own_words:
            parts[kinds] = max(parts.get(kinds, 0.0), _part(problem, query))
    order = sorted(parts, key=lambda kinds: (len(kinds), repr(kinds)))
    number = {kinds: index for index, kinds in enumerate(order)}
    return _Patterns(
        tuple(TargetPattern(kinds, parts[kinds]) for kinds in order),
        {query: [(number[kinds], labels) for kinds, labels in own_words] for query, own_words in labelled.items()},
    )


def _lengths(problem: Problem) -> list[int | None]:
    """Per query, how long its window is; None for any length."""
    return [None if query.window is None else query.window.within for query in problem.template.queries]


def _part(problem: Problem, query: int) -> float:
    """The window of a query as a part of the longest one, which events are counted in."""
    within, longest = _lengths(problem)[query], longest_window(problem.template.queries)
    return 1.0 if within is None or longest is None else within / longest


def _annealed(problem: Problem, sought: _Patterns, best: LocalBest, expected: Expected) -> AnnealingResult | None:
    """What is found by orders, or by trees, which are not looked at where there are long patterns."""
    if best is best_tree and any(len(pattern.kinds) > LONGEST_TREE for pattern in sought.patterns):
        return None
    return anneal(sought.patterns, best, expected, problem.budget)


def _alone(pattern: TargetPattern, expected: Expected) -> float:
    """Partial matches of a pattern by itself, in its best order."""
    plan = best_order(len(pattern.kinds), lambda positions: expected(pattern.node(positions), pattern.part), ())
    return total([pattern], [plan], expected)


def _cost_of(problem: Problem, model: CostModel, queries: list[int]) -> float:
    """Cost of some queries alone."""
    if not queries:
        return 0.0
    template = template_of([problem.template.queries[query] for query in queries])
    events = dict(zip(problem.template.states, problem.events, strict=True))
    alone = Problem(template, tuple(events[state] for state in template.states), problem.budget)
    return plan_cost(alone, model, share_nothing(template))
