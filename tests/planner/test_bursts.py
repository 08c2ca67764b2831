"""Loops that are shared by bursts: what they cost, and which plans there are."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, inf
from random import Random

import pytest

from sparkext.planner.compiler.burst_lengths import break_even, mean_burst, with_choices
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.measured import Constants
from sparkext.planner.exhaustive.exhaustive import exhaustive
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Window
from sparkext.planner.problem.burst_labels import MOST_GROUPS, MOST_LABELS
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import WorkloadTooLargeError
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, TransitionPlan
from tests.support.gloria_texts import plan_text
from tests.support.loop_workloads import random_loops
from tests.support.optimizer_workloads import CHEAP_FORMS, MODELS, in_runs, problem
from tests.support.tiers import first

BREAK_EVEN = [
    (2, 1, 7.69),
    (2, 4, 3.16),
    (2, 360, 0.83),
    (5, 1, 3.82),
    (5, 4, 2.34),
    (5, 360, 0.83),
    (10, 1, 3.27),
    (10, 4, 2.16),
    (10, 360, 0.82),
]
"""Queries, lanes of each of their totals, and from how many events on they had better share a burst."""


@pytest.mark.parametrize(("model", "alone", "shared"), [("paper", 22_020, 12_420), ("measured", 7_212, 4_972)])
def test_costs_of_two_ways_in(model: str, alone: float, shared: float) -> None:
    """A loop is all that the queries have in common, and each comes to it in its own way."""
    workload = problem(["A B+", "C B+"], {"A": 10, "B": 100, "C": 10})
    costs = MODELS[model]
    assert OPTIMIZERS["none"].plan(workload, costs).cost == pytest.approx(alone)
    for optimizer in ("gloria", "exhaustive"):
        planned = OPTIMIZERS[optimizer].plan(workload, costs)
        assert plan_text(workload, planned.plan) == "CB:(2) AB:(1) BB:(1,2)^burst"
        assert planned.cost == planned.bound == pytest.approx(shared)
    truth = exhaustive(workload, costs)
    assert truth is not None
    assert plan_cost(workload, costs, truth) == pytest.approx(shared)


def test_larger_q_sets_have_shorter_bursts() -> None:
    """Two queries leave out a third, at whose many events before the loop all their forms would be evaluated."""
    workload = problem(["A B+", "C B+", "D B+"], {"A": 10, "B": 100, "C": 10, "D": 5000})
    planned = OPTIMIZERS["gloria"].plan(workload, MODELS["measured"])
    assert plan_text(workload, planned.plan) == "DB:(3) CB:(2) AB:(1) BB:(1,2)^burst,(3)"
    assert planned.bound == pytest.approx(planned.cost)


def test_what_is_no_plan() -> None:
    workload = problem(["A (B D)+", "C (B D)+", "C B+"], dict.fromkeys("ABCD", 10.0))
    states = [str(state) for state in workload.template.states]

    def wrong(**chosen: tuple[QSet, ...]) -> str:
        plans = []
        for t in workload.transitions:
            alone = tuple(QSet((query,), None) for query in t.queries)
            plans.append(TransitionPlan(t.source, t.target, chosen.get(states[t.source] + states[t.target], alone)))
        return "\n".join(invalid(workload.template, SharingPlan("by hand", tuple(plans))))

    both = (QSet((0, 1), BURST),)
    assert not wrong(BD=both, DB=both)
    assert "not all of the loop is shared" in wrong(BD=both)
    assert "does not come to the loop alone" in wrong(BD=both, DB=both, AB=(QSet((0,), states.index("A")),))
    assert "not in one loop of plain steps" in wrong(AB=(QSet((0,), BURST),))
    guarded = problem(["A B+ (NOT C) D", "C B+ D", "B+ D"], dict.fromkeys("ABCD", 10.0))
    assert [len(loops_of_query) for loops_of_query in guarded.loops] == [0, 1, 1]


@pytest.mark.parametrize("part", first(1, range(5)))
@pytest.mark.parametrize("model", MODELS)
def test_gloria_is_exhaustive(model: str, part: int) -> None:
    """With random loops, to which queries come in different ways."""
    planned = shared = 0
    for seed in range(part * 20, (part + 1) * 20):
        workload, text = random_loops(Random(seed), 3)
        workload = in_runs(Random(seed), workload) if seed % 3 == 0 else workload
        costs = CHEAP_FORMS if model == "measured" and seed % 2 else MODELS[model]
        best = OPTIMIZERS["gloria"].plan(workload, costs)
        assert not list(invalid(workload.template, best.plan)), text
        try:
            truth = exhaustive(workload, costs, 500, best.cost)
        except WorkloadTooLargeError:
            continue
        planned += 1
        shared += any(qset.snapshot == BURST for t in best.plan.transitions for qset in t.qsets)
        assert truth is not None, text
        assert best.cost == pytest.approx(plan_cost(workload, costs, truth), rel=1e-9), text
        assert best.bound == pytest.approx(best.cost, rel=1e-9), text
    assert planned > 3
    assert shared > 0


@pytest.mark.parametrize(("queries", "lanes", "least"), BREAK_EVEN)
def test_from_how_many_events_on_sharing_pays(queries: int, lanes: int, least: float) -> None:
    """By the formula, for queries that come to B in ways of their own, with its totals for one window after another."""
    window = None if lanes == 1 else Window(60 * lanes, 60)
    texts = [f"T{position} B+" for position in range(queries)]
    workload = problem(texts, dict.fromkeys((*(text[:-3] for text in texts), "B"), 10.0), [window] * queries)
    template = workload.template
    plans = []
    for t in template.transitions:
        alone = tuple(QSet((query,), None) for query in t.queries)
        plans.append(TransitionPlan(t.source, t.target, (QSet(t.queries, BURST),) if t.source == t.target else alone))
    sharing = SharingPlan("by hand", tuple(plans))
    plan = compile_plan(template, sharing, panes_from=inf)
    assert break_even(plan, 0, Constants()) == pytest.approx(least, abs=0.005)
    (region,) = with_choices(plan, Constants(choose=0), 20).regions
    assert region.has_choice == (least > 1)
    assert region.shares_from == ceil(break_even(plan, 0, Constants()) - 1e-9)
    (region,) = with_choices(plan, Constants(form=1e9), 20).regions
    assert region.shares_from is None
    (region,) = with_choices(plan, Constants(evaluate=0, multiply=0), 20).regions
    assert not region.has_choice
    # To choose is worth it where many bursts are short: one B follows on every T, as far as is known.
    mean = mean_burst(workload, sharing)
    assert mean == pytest.approx(1 + 1 / queries)
    assert with_choices(plan, Constants(), mean).regions[0].has_choice == (least > 1)
    assert not with_choices(plan, Constants(), 1000.0).regions[0].has_choice
    in_runs = replace(workload, runs=tuple(event / 5 for event in workload.events))
    assert mean_burst(in_runs, sharing) == pytest.approx(5)
    assert mean_burst(workload, SharingPlan("alone", ())) == inf


def test_labels_of_many_queries() -> None:
    """Each comes to the loop from a state of its own: not every set of these states has a label."""
    types = [f"T{position}" for position in range(40)]
    workload: Problem = problem([f"{name} B+" for name in types], {**dict.fromkeys(types, 2.0), "B": 100.0})
    labels = [workload.bursts.labels(loop) for loops_of_query in workload.loops for loop in loops_of_query]
    assert not workload.bursts.are_all
    assert len(types) > MOST_GROUPS
    assert 1 <= min(map(len, labels)) <= max(map(len, labels)) <= MOST_LABELS
    planned = OPTIMIZERS["gloria"].plan(workload, MODELS["measured"])
    assert planned.cost < OPTIMIZERS["none"].plan(workload, MODELS["measured"]).cost / 2
    assert planned.bound is None
