"""HAMLET's plans: valid, with the cost that they say, and no dearer than they should be."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from random import Random

import pytest

from sparkext.planner.hamlet.loop_report import HamletSearch
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Selection
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.not_planned import Reason
from sparkext.planner.sharing.sharing_plan import BURST
from sparkext.planner.sharing.template import template_of
from tests.support.gloria_texts import plan_text
from tests.support.loop_workloads import random_loops
from tests.support.optimizer_workloads import CHEAP_FORMS, MODELS, problem
from tests.support.pools import query
from tests.support.published import drawn
from tests.support.tiers import first

PART = 25
"""Workloads of one test."""


@pytest.mark.parametrize("part", first(1, range(10)))
@pytest.mark.parametrize("model", MODELS)
def test_random_loops(model: str, part: int) -> None:
    """No dearer than none, and no cheaper than GLORIA."""
    shared = 0
    for seed in range(part * PART, (part + 1) * PART):
        random = Random(seed)
        workload, text = random_loops(random, random.choice((3, 5, 12)))
        costs = CHEAP_FORMS if model == "measured" and seed % 2 else MODELS[model]
        none, hamlet, gloria = (OPTIMIZERS[name].plan(workload, costs) for name in ("none", "hamlet", "gloria"))
        assert not list(invalid(workload.template, hamlet.plan)), text
        assert hamlet.cost == pytest.approx(plan_cost(workload, costs, hamlet.plan), rel=1e-9), text
        assert hamlet.cost <= none.cost * (1 + 1e-9), text
        assert gloria.cost <= hamlet.cost * (1 + 1e-9), text
        assert isinstance(hamlet.search, HamletSearch)
        sharing = {q for repeated in hamlet.search.repeated for some in repeated.shared for q in some}
        planned = {q for t in hamlet.plan.transitions for s in t.qsets if s.snapshot == BURST for q in s.queries}
        assert sharing == planned, text
        assert sharing.isdisjoint(left_alone.query for left_alone in hamlet.search.not_planned), text
        shared += bool(sharing)
    assert shared > PART // 8


def test_queries_that_come_from_many_events_stay_out() -> None:
    """Of a Q-set whose bursts they would end; with each other, two of them share."""
    events = {"A": 10.0, "B": 100.0, "C": 10.0, "D": 300.0}
    workload = problem(["A B+", "C B+", "D B+"], events)
    planned = OPTIMIZERS["hamlet"].plan(workload, MODELS["measured"])
    assert plan_text(workload, planned.plan) == "DB:(3) CB:(2) AB:(1) BB:(1,2)^burst,(3)"
    assert isinstance(planned.search, HamletSearch)
    (common_loop,) = planned.search.repeated
    assert (common_loop.queries, common_loop.groups, common_loop.shared) == ((0, 1, 2), 3, ((0, 1),))
    assert common_loop.saved == pytest.approx(OPTIMIZERS["none"].plan(workload, MODELS["measured"]).cost - planned.cost)


def test_reasons() -> None:
    """Why a query goes alone."""
    texts = {
        "A B C": Reason.NO_KLEENE,
        "(A B)+": Reason.COMPLEX_KLEENE,
        "A B+ (NOT D) C": Reason.NOT,
        "C D+": Reason.NOTHING_IN_COMMON,
        "A B+": None,
        "C B+ A": None,
        "B* A": None,
        "B{2,}": Reason.NOTHING_IN_COMMON,
    }
    pool = [query(text) for text in texts]
    pool.append(replace(query("A B+"), selection=Selection.NEXT))
    pool.append(query("A B+", span=5))
    template = template_of(pool)
    workload = problem([], {})
    workload = replace(workload, template=template, events=(10.0,) * len(template.states))
    planned = OPTIMIZERS["hamlet"].plan(workload, MODELS["paper"])
    reasons = {left_alone.query: left_alone.reason for left_alone in planned.not_planned or ()}
    assert [reasons.get(index) for index in range(len(pool))] == [
        *texts.values(),
        Reason.SELECTION,
        Reason.SPAN,
    ]


@pytest.mark.parametrize("name", ["SEQWorkload_200.txt", "MixWorkload_120.txt"])
def test_published_workloads_have_nothing_for_it(name: str) -> None:
    """None of their queries repeats a single event; memory of the search stays small."""
    workload = drawn(name)
    gc.collect()
    tracemalloc.start()
    planned = OPTIMIZERS["hamlet"].plan(workload, MODELS["paper"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert planned.cost <= OPTIMIZERS["none"].plan(workload, MODELS["paper"]).cost * (1 + 1e-12)
    assert len(planned.not_planned or ()) == len(workload.template.queries)
    assert peak < 50e6
