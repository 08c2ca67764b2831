"""Every pattern within the limits is planned in seconds, and any budget gives a plan that is right."""

from __future__ import annotations

import time
from random import Random

import pytest

from sparkext.planner.automata.automaton import MAX_STATES, AutomatonTooLargeError
from sparkext.planner.automata.guards import TooManyGuardsError
from sparkext.planner.budget import Budget
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.errors import PlanningError
from sparkext.planner.optimizers import OPTIMIZERS, OptimizerResult, cost_model, optimize
from sparkext.planner.patterns.pattern import Pattern, Repeat, variables
from sparkext.planner.patterns.query import Query, Window
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import Template, template_of
from tests.support.enumerator import enumerate_results
from tests.support.kernel_harness import difference, pool_results
from tests.support.pools import COUNT, query
from tests.support.prev_conditions import MEANINGS
from tests.support.tiers import every, first
from tests.support.workloads import random_pattern, typed_class, workload

BOUND = 10.0
"""Seconds of processor time, of which the slowest of these takes two; `docs/limits.md` claims four for more."""

SECONDS = 0.4
"""Of the budget: less than the default, so that the test takes less."""

MANY_LANES = Window(60, 1)
"""With so many windows open, forms may pay for a query by itself."""

NASTY = {
    "as often as may be": "A{999}",
    "as often as may be or less": "A{,998} B",
    "what was last can be told late only": "(A|B)* A (A|B){7}",
    "in any order": "PERMUTE(A, B, C, D, E, F, G)",
    "many alternatives": " | ".join(f"A{i}" for i in range(900)),
    "many alternatives, round and round": f"({' | '.join(f'A{i}' for i in range(100))})+",
    "a long sequence": " ".join(f"A{i}" for i in range(900)),
    "everything optional": " ".join(f"A{i}?" for i in range(100)) + " B",
    "repetitions of repetitions": "(A{30}){30} B",
    "loops one after another": "(A+ B+){400}",
    "loops that may be left out": "(A* B*){200} C",
    "negations": "C+ NOT (C C) C C C C C NOT C C C C C NOT C",
    "a negation between all events": " NOT N ".join("ABCDEFGH"[i % 8] for i in range(900)),
    "a large negation": "A NOT (B{900}) C",
    "deep parentheses": "(" * 99 + "A" + "+ B)" * 99,
    "a long way round": "(A{900} B)+",
}


def planned(queries: list[Query], budget: Budget) -> OptimizerResult:
    """All that is done before a task begins; the sharing plan must be a valid one.

    Trends that begin with X, Y or Z begin rarely, so that forms may pay.
    """
    template = template_of(queries)
    events = tuple(1.0 if state.event.type in ("X", "Y", "Z") else 100.0 for state in template.states)
    optimized = optimize(Problem(template, events, budget), cost_model("measured"), "gloria")
    compile_plan(template, optimized.plan_result.plan, fallback=True)
    return optimized


@pytest.mark.parametrize("window", [None, MANY_LANES], ids=["unbounded", "many lanes"])
@pytest.mark.parametrize("shape", every(4, NASTY))
def test_nasty_patterns_are_planned_in_time(shape: str, window: Window | None) -> None:
    begin = time.thread_time()
    planned([query(NASTY[shape], window=window)], Budget(SECONDS))
    assert time.thread_time() - begin < BOUND


@pytest.mark.parametrize("shape", every(4, NASTY))
def test_two_of_a_kind_are_planned_in_time(shape: str) -> None:
    """That have all but their first event in common, so that there is much to share and to choose from."""
    begin = time.thread_time()
    optimized = planned([query(f"{first} ({NASTY[shape]})") for first in ("X", "Y")], Budget(SECONDS))
    assert not list(invalid(optimized.problem.template, optimized.plan_result.plan))
    assert time.thread_time() - begin < BOUND


DENSE = f"({' | '.join(f'A{number}' for number in range(400))})+"
"""Nearly every event can come after every other, so that there are 160,000 transitions."""


@pytest.mark.parametrize(
    "text", ["(A{100}){100} B", "A{1000} B", "PERMUTE(A,B,C,D,E,F,G,H)", "(A|B)* A (A|B){12}", DENSE]
)
def test_what_is_too_large_is_refused_at_once(text: str) -> None:
    begin = time.thread_time()
    with pytest.raises(AutomatonTooLargeError):
        planned([query(text)], Budget())
    assert time.thread_time() - begin < BOUND


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_one_query_alone_is_not_searched(optimizer: str) -> None:
    """With few lanes, nothing pays for it; `exhaustive` looks by itself, as it takes nothing for granted."""
    template = template_of([query("A (B C)+ D")])
    problem = Problem(template, (10.0, 20.0, 30.0, 40.0))
    optimized = optimize(problem, cost_model("measured"), optimizer).plan_result
    assert optimized.search is None or optimized.not_planned
    assert all(qset.snapshot is None for t in optimized.plan.transitions for qset in t.qsets)
    assert optimized.bound == (optimized.cost if optimizer in ("gloria", "exhaustive") else None)


def large_pattern(random: Random) -> Pattern:
    """A random pattern of 200 states and more, as far as there are that many."""
    while True:
        pattern = random_pattern(random, ("A", "B", "C"), 4, negate=True)
        pattern = Repeat(pattern, *random.choice(((40, 40), (20, 60), (100, None), (0, 90))))
        try:
            states = len(template_of([_typed(pattern)]).states)
        except (AutomatonTooLargeError, TooManyGuardsError):
            continue
        if 200 <= states <= MAX_STATES:
            return pattern


def _typed(pattern: Pattern) -> Query:
    classes = tuple((name, typed_class(name)) for name in variables(pattern))
    return Query(f"q {pattern}", pattern, classes, (COUNT,), None)


@pytest.mark.parametrize("seed", first(3, range(8)))
def test_random_large_patterns_are_planned_in_time(seed: int) -> None:
    asked = _typed(large_pattern(Random(seed)))
    begin = time.thread_time()
    optimized = planned([asked, query(f"X ({asked.pattern})") if seed % 2 else asked], Budget(SECONDS))
    assert not list(invalid(optimized.problem.template, optimized.plan_result.plan))
    assert time.thread_time() - begin < BOUND


@pytest.mark.parametrize("part", first(1, range(5)))
@pytest.mark.parametrize("seconds", [0.0, 0.002])
def test_any_budget_gives_the_rows_of_the_enumerator(seconds: float, part: int) -> None:
    for seed in range(5 * part, 5 * part + 5):
        random = Random(seed)
        drawn = workload(random)
        events = drawn.events()

        def plan(template: Template) -> SharingPlan:
            problem = Problem(template, (30.0,) * len(template.states), Budget(seconds))
            name = random.choice(("gloria", "published", "greedy", "sharon", "hamlet"))  # noqa: B023
            optimized = optimize(problem, cost_model("paper"), name)
            assert not list(invalid(template, optimized.plan_result.plan))
            return optimized.plan_result.plan

        results = pool_results(drawn.queries, events, plan, random)
        for asked, result in zip(drawn.queries, results, strict=True):
            assert difference(enumerate_results(asked, events, MEANINGS), result) is None, seed


def test_a_plan_says_that_it_was_cut_short() -> None:
    pool = [query("X (A B C)+ D"), query("Y (A B C)+ E")]
    short, long = planned(pool, Budget(0.0)), planned(pool, Budget())
    assert short.is_cut_short
    assert not long.is_cut_short
    assert short.plan_result.bound is None
    assert long.plan_result.bound == pytest.approx(long.plan_result.cost)
    assert long.plan_result.cost <= short.plan_result.cost


def test_more_budget_is_no_worse() -> None:
    pool = [query(f"{first} (A|B)* A (A|B){{4}}") for first in "XYZ"]
    costs = [planned(pool, Budget(seconds)).plan_result.cost for seconds in (0.0, 0.5, 3.0)]
    assert costs == sorted(costs, reverse=True)


def test_a_cancelled_search_ends() -> None:
    begin = time.monotonic()
    with pytest.raises(PlanningError) as caught:
        planned(
            [query(f"{first} (A|B)* A (A|B){{7}}") for first in "XY"],
            Budget(cancelled=lambda: time.monotonic() > begin + 0.3),
        )
    assert caught.value.condition == "TREND_CANCELLED"
    assert time.monotonic() - begin < BOUND
