"""SHARON's plans: valid, with the cost that they say, and no dearer than they should be."""

from __future__ import annotations

import gc
import tracemalloc
from random import Random

import pytest

from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Aggregate, Function, Query, Selection
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.labels import ALONE, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.not_planned import Reason
from sparkext.planner.sharing.template import template_of
from sparkext.planner.sharon.candidate_report import SharonSearch
from tests.support.gloria_texts import plan_text
from tests.support.optimizer_workloads import CHEAP_FORMS, MODELS, problem, random_problem
from tests.support.pools import DURATION, query
from tests.support.published import drawn
from tests.support.sequence_workloads import random_sequences
from tests.support.tiers import first

PART = 25
"""Workloads of one test."""


def alone(workload: Problem, costs: CostModel) -> float:
    """Cost of all queries alone, but for equal prefixes."""
    labels = [dict.fromkeys(transitions, ALONE) for transitions in workload.transitions_of]
    return plan_cost(workload, costs, plan_of(workload, "none", labels))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("part", first(1, range(40)))
def test_random_sequences(model: str, part: int) -> None:
    """What is saved is the score, what candidates have in common, and what expansion adds; none of it is negative."""
    shared = 0
    for seed in range(part * PART, (part + 1) * PART):
        random = Random(seed)
        workload, text = random_sequences(random, random.choice((5, 8, 8, 8, 20)))
        costs = CHEAP_FORMS if model == "measured" and seed % 2 else MODELS[model]
        none, sharon, gloria = (OPTIMIZERS[name].plan(workload, costs) for name in ("none", "sharon", "gloria"))
        assert not list(invalid(workload.template, sharon.plan)), text
        assert sharon.cost == pytest.approx(plan_cost(workload, costs, sharon.plan), rel=1e-9), text
        assert sharon.cost <= none.cost * (1 + 1e-9), text
        assert gloria.cost <= sharon.cost * (1 + 1e-9), text
        search = sharon.search
        assert isinstance(search, SharonSearch)
        saved = search.score + search.by_merging + search.by_expansion
        assert alone(workload, costs) - sharon.cost == pytest.approx(saved, abs=1e-6, rel=1e-9), text
        assert search.proven, text
        assert search.guarantee * (1 - 1e-9) <= search.by_gwmin <= search.score * (1 + 1e-9), text
        assert min(search.by_merging, search.by_expansion) >= -1e-6, text
        chosen = [outcome.candidate for outcome in search.considered if outcome.chosen]
        if model == "paper" and len({candidate.transitions[0] for candidate in chosen}) == len(chosen):
            assert search.by_merging == pytest.approx(0.0, abs=1e-6), text
        shared += bool(search.shared)
    assert shared > PART // 10


TABLE = {
    "SEQWorkload_40.txt": (40, 44, 15, 11, 0.670, 0.670, 0.670),
    "SEQWorkload_100.txt": (100, 136, 44, 44, 0.559, 0.553, 0.553),
    "SEQWorkload_200.txt": (200, 288, 77, 72, 0.637, 0.637, 0.637),
    "MixWorkload_120.txt": (100, 98, 46, 49, 0.656, 0.656, 0.389),
}
"""Chains, candidates, those that save something, conflicts; and in parts of what it costs to share nothing, the cost of
the best set, of the plan that drops queries of it, and of GLORIA's."""


@pytest.mark.parametrize("name", TABLE)
def test_published_workloads(name: str) -> None:
    """With the paper's costs, GWMIN's set is the best one in all of them."""
    chains, count, paying, conflicts, *costs = TABLE[name]
    workload, model = drawn(name), PaperCosts()
    none, best, gloria = (OPTIMIZERS[name].plan(workload, model) for name in ("none", "sharon", "gloria"))
    search = best.search
    assert isinstance(search, SharonSearch)
    refused = [apart for apart in search.not_planned if apart.reason is not Reason.NOTHING_IN_COMMON]
    assert len(workload.transitions_of) - len(refused) == chains
    assert len(search.considered) == count
    assert sum(outcome.benefit > 0 for outcome in search.considered) == paying
    assert (search.conflicts, search.proven) == (conflicts, True)
    assert search.by_gwmin == pytest.approx(search.score)
    relative = [cost / none.cost for cost in (best.cost + search.by_expansion, best.cost, gloria.cost)]
    assert relative == pytest.approx(costs, abs=0.0006)


@pytest.mark.long
def test_memory() -> None:
    """200 queries in 50 MB; `python -m benchmarks optimizer` says in how many seconds."""
    workload = drawn("SEQWorkload_200.txt")
    OPTIMIZERS["sharon"].plan(Problem(workload.template, workload.events), PaperCosts())
    gc.collect()
    tracemalloc.start()
    try:
        OPTIMIZERS["sharon"].plan(workload, PaperCosts())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000


EVENTS = {"A": 10, "B": 10, "C": 10, "D": 10, "N": 10}


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (query("A B+ C"), Reason.KLEENE),
        (query("(A B)+ C"), Reason.KLEENE),
        (query("A B* C"), Reason.KLEENE),
        (query("A B? C"), Reason.BRANCHES),
        (query("A (B | D) C"), Reason.BRANCHES),
        (query("A NOT N B C"), Reason.NOT),
        (query("A B C", selection=Selection.NEXT), Reason.SELECTION),
        (query("A B C", selection=Selection.CONTIGUOUS), Reason.SELECTION),
        (query("A B C", span=5), Reason.SPAN),
        (query("A B C", Aggregate(Function.MIN, ends=DURATION)), Reason.DIFFERENCE),
        (query("D C B A"), Reason.NOTHING_IN_COMMON),
        (query("A"), Reason.NOTHING_IN_COMMON),
        (query("A{2} B"), Reason.NOTHING_IN_COMMON),
        (query("A B C"), None),
        (query("A{1} (B C)"), None),
    ],
    ids=lambda value: str(value.pattern) if isinstance(value, Query) else getattr(value, "name", "planned"),
)
def test_what_is_planned(asked: Query, reason: Reason | None) -> None:
    """Beside two sequences that share, whatever the third is like."""
    template = template_of([query("A B C"), asked, query("A B C D")])
    workload = Problem(template, tuple(float(EVENTS[str(state.event)]) for state in template.states))
    planned = OPTIMIZERS["sharon"].plan(workload, PaperCosts())
    assert not list(invalid(template, planned.plan))
    assert isinstance(planned.search, SharonSearch)
    assert [(left_alone.query, left_alone.reason) for left_alone in planned.search.not_planned] == (
        [] if reason is None else [(1, reason)]
    )
    sharing = {q for t in planned.plan.transitions for s in t.qsets if s.snapshot is not None for q in s.queries}
    assert sharing == ({0, 2} if reason else {0, 1, 2})


@pytest.mark.parametrize("model", MODELS)
def test_any_workload(model: str) -> None:
    """Queries that are no sequences go alone."""
    for seed in range(60):
        workload, text = random_problem(Random(seed))
        best, none = (OPTIMIZERS[name].plan(workload, MODELS[model]) for name in ("sharon", "none"))
        assert not list(invalid(workload.template, best.plan)), text
        assert best.cost <= none.cost * (1 + 1e-9), text
        assert isinstance(best.search, SharonSearch)
        apart = {left_alone.query for left_alone in best.search.not_planned}
        sharing = {q for t in best.plan.transitions for s in t.qsets if s.snapshot is not None for q in s.queries}
        assert apart.isdisjoint(sharing), text


def test_a_pattern_inside_of_another_is_in_conflict() -> None:
    """The paper's definition of a conflict misses it."""
    events = {"A": 10, "B": 10, "C": 10, "D": 10, "E": 10}
    search = OPTIMIZERS["sharon"].plan(problem(["A B C D E", "A B C D E"], events), PaperCosts()).search
    assert isinstance(search, SharonSearch)
    at = {outcome.candidate.states: index for index, outcome in enumerate(search.considered)}
    inner, whole = at[1, 2, 3], at[0, 1, 2, 3, 4]
    assert inner in search.considered[whole].conflicts
    assert [candidate.states for candidate in search.shared] == [(0, 1, 2, 3, 4)]


def test_dropping_queries_resolves_a_conflict() -> None:
    """A B C is in conflict with A B C D of the first two, but the third saves something by it without them."""
    workload = problem(["A B C D", "A B C D", "A B C"], {"A": 1, "B": 2, "C": 10, "D": 30})
    planned = OPTIMIZERS["sharon"].plan(workload, PaperCosts())
    search = planned.search
    assert isinstance(search, SharonSearch)
    chosen = [(outcome.candidate.states, outcome.candidate.queries) for outcome in search.considered if outcome.chosen]
    assert chosen == [((0, 1, 2, 3), (0, 1))]
    assert (search.score, search.by_merging, search.by_expansion) == (571, 0, 12)
    assert [(candidate.states, candidate.queries) for candidate in search.shared] == [
        ((0, 1, 2, 3), (0, 1)),
        ((0, 1, 2), (2,)),
    ]
    assert plan_text(workload, planned.plan) == "AB:(1,2,3)^A BC:(1,2,3)^A CD:(1,2)^A"
