"""Local plans of patterns for MCEP, all of them, and random patterns."""

from __future__ import annotations

from itertools import permutations
from random import Random

from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.mcep.annealing import TargetPattern
from sparkext.planner.mcep.local_plans import LocalPlan, order_plan
from sparkext.planner.mcep.mcep import Mcep
from sparkext.planner.mcep.partial_matches import PartialMatches
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.match_plan import MatchPlan
from sparkext.planner.sharing.template import Template


def all_orders(pattern: TargetPattern) -> list[LocalPlan]:
    """The plans that take the events of a pattern in any order."""
    return [order_plan(order) for order in permutations(range(len(pattern.kinds)))]


def random_patterns(random: Random) -> tuple[list[TargetPattern], PartialMatches]:
    """Two or three distinct patterns of two or three events, and numbers of partial matches."""
    kinds = "ABCDE"[: random.randint(3, 5)]
    drawn = dict.fromkeys(tuple(random.sample(kinds, random.randint(2, 3))) for _ in range(random.randint(2, 3)))
    pairs = [frozenset((first, second)) for first in kinds for second in kinds if first < second]
    expected = PartialMatches(
        {kind: float(random.choice((1, 2, 5, 10, 30, 100))) for kind in kinds},
        {pair: random.choice((0.01, 0.1, 0.5, 1.0, 1.0)) for pair in pairs},
        random.random() < 0.5,
    )
    return [TargetPattern(pattern, random.choice((1.0, 1.0, 0.5))) for pattern in drawn], expected


def random_match_plan(random: Random, template: Template) -> MatchPlan:
    """A match plan of all queries of a template that can have one, for random numbers of events."""
    drawn = {state.event: float(random.choice((1, 3, 10, 30))) for state in template.states}
    planned = Mcep().plan(Problem(template, tuple(drawn[state.event] for state in template.states)), PaperCosts())
    assert planned.matches is not None
    return planned.matches
