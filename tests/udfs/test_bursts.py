"""Loops that are shared by bursts give the rows of the enumerator, wherever queries come to them from."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random
from typing import cast

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.planner.patterns.prev_condition import Apply, Operation, OwnAttribute, PrevAttribute, ValueKind
from sparkext.planner.patterns.query import Query, Step, Window
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.loops import loops
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, Steps, TransitionPlan
from sparkext.planner.sharing.template import Template, template_of
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm
from tests.support.by_hand import both, event
from tests.support.enumerator import Adjacent, enumerate_results
from tests.support.kernel_harness import (
    Partials,
    combined,
    difference,
    kernel_rows,
    pool_results,
    query_results,
    sorted_rows,
    source_batch,
)
from tests.support.kernel_twin import twin_results
from tests.support.loop_workloads import random_loops
from tests.support.pools import V, all_of, query
from tests.support.prev_conditions import MEANINGS
from tests.support.random_events import random_events
from tests.support.sharing_plans import draw_plan
from tests.support.tiers import first

POOLS = {
    "two ways in": ["A B+", "C B+"],
    "one starts there": ["A B+ D", "B+ D", "C D B+"],
    "both starts there and comes there": ["A? B+ D", "C? B+"],
    "a loop of two states": ["A (B D)+ C", "C (B D)+", "(B D)+"],
    "a loop that is entered at both states": ["A (B D?)+", "C (B D?)+ A", "(A | C) (B D?)+"],
    "one loop after another": ["A B+ D+", "C B+ D+", "B+ D+ A"],
    "loops in either order": ["A B+ D+", "C D+ B+"],
    "one query": ["A B+ C"],
}

WINDOWS: tuple[tuple[Window | None, ...], ...] = (
    (None,),
    (Window(10, 10), Window(10, 2)),
    (None, Window(9, 3), Window(5, 7)),
)


def all_bursts(template: Template) -> SharingPlan:
    """Every loop is shared by bursts, by all that have it; else all go alone."""
    at = [
        {number: loop.inside for loop in loops_of_query for number in loop.inside}
        for loops_of_query in loops(template, Steps(template))
    ]
    plans = []
    for number, transition in enumerate(template.transitions):
        together: dict[tuple[int, ...], list[int]] = {}
        alone = [q for q in transition.queries if number not in at[q]]
        for q in transition.queries:
            if number in at[q]:
                together.setdefault(at[q][number], []).append(q)
        qsets = [QSet(tuple(queries), BURST) for queries in together.values()]
        qsets += (QSet((q,), None) for q in alone)
        plans.append(TransitionPlan(transition.source, transition.target, tuple(qsets)))
    plan = SharingPlan("by hand", tuple(plans))
    assert not list(invalid(template, plan))
    return plan


def pool(name: str, windows: tuple[Window | None, ...]) -> list[Query]:
    texts = POOLS[name]
    return [query(t, *all_of("B"), window=windows[index % len(windows)]) for index, t in enumerate(texts)]


@pytest.mark.parametrize("windows", WINDOWS, ids=str)
@pytest.mark.parametrize("name", list(POOLS))
def test_all_loops_by_bursts(name: str, windows: tuple[Window | None, ...]) -> None:
    """On the twin: without kernels, which are held against it in `tests.udfs.test_kernel`, and below."""
    queries = pool(name, windows)
    template = template_of(queries)
    plan = compile_plan(template, all_bursts(template))
    assert plan.regions
    for seed in range(4):
        events = random_events(Random(seed), queries, 25)
        by_twin = cast("Partials", twin_results(plan, sorted_rows(kernel_rows(plan, events))))
        for asked, result in zip(queries, plan.results, strict=True):
            expected = enumerate_results(asked, events, MEANINGS)
            assert difference(expected, query_results(asked, result, by_twin)) is None, seed


@pytest.mark.parametrize("windows", first(1, WINDOWS), ids=str)
@pytest.mark.parametrize("name", list(POOLS))
def test_all_loops_by_bursts_in_the_kernel(name: str, windows: tuple[Window | None, ...]) -> None:
    queries = pool(name, windows)
    for seed in range(8):
        random = Random(seed)
        events = random_events(random, queries, 40)
        for asked, result in zip(queries, pool_results(queries, events, all_bursts, random), strict=True):
            assert difference(enumerate_results(asked, events, MEANINGS), result) is None, seed


@pytest.mark.parametrize(
    ("least", "cuts", "expected"),
    [
        (2, (), (5, 2, 7)),
        (3, (), (5, 2, 7)),
        (4, (), (5, 1, 4)),
        (5, (), (5, 0, 0)),
        (None, (), (5, 0, 0)),
        (0, (), (0, 0, 0)),
        (3, (3,), (5, 2, 6)),
        (4, (3,), (5, 0, 0)),
        (2, (3, 4, 5, 6, 11), (5, 1, 2)),
    ],
)
def test_long_bursts_are_shared(least: int | None, cuts: tuple[int, ...], expected: tuple[int, int, int]) -> None:
    """Bursts of 4, 1, 3, 1 and 1 events: ended by C, by A, with a window, and with a key.

    Where a batch is over before there are enough events, the next one says whether the rest of the burst is shared.
    """
    asked = [query(text, *all_of("B"), window=Window(20, 20)) for text in ("A B+", "C B+", "B+ D")]
    template = template_of(asked)
    plan = compile_plan(template, all_bursts(template))
    (region,) = plan.regions
    plan = replace(plan, regions=(replace(region, shares_from=least),))
    events = [event(kind, time, v=time) for time, kind in (*enumerate("ADBBDBBCBA"), *enumerate("BBBB", 17))]
    events.append(event("B", 30, group=2, v=3))
    rows = sorted_rows(kernel_rows(plan, events))
    layout, source = Layout(len(rows[0].group), len(rows[0].other)), source_batch(plan, rows)
    parts = [source.slice(begin, end - begin) for begin, end in pairwise([0, *cuts, source.num_rows])]
    run = PoolRun(plan, layout, form=KernelForm(0))
    by_key = combined(plan, layout, [row for batch in run.results(iter(parts)) for row in batch.to_pylist()])
    for query_asked, result in zip(asked, plan.results, strict=True):
        assert (
            difference(enumerate_results(query_asked, events, MEANINGS), query_results(query_asked, result, by_key))
            is None
        )
    assert run.counters.bursts.tolist() == [list(expected)]


@pytest.mark.parametrize("part", first(2, range(12)))
def test_random_loops(part: int) -> None:
    """In random Q-sets, beside other snapshots: batches cut anywhere, events of one time, several windows and keys."""
    shared = 0
    for seed in range(part * 30, (part + 1) * 30):
        random = Random(seed)
        drawn, text = random_loops(random)
        queries = [
            query if query.window is None else replace(query, window=Window(10, query.window.slide // 6))
            for query in drawn.template.queries
        ]
        events = random_events(random, queries, 40)
        plan = draw_plan(random, template_of(queries))
        shared += any(qset.snapshot == BURST for t in plan.transitions for qset in t.qsets)
        for asked, result in zip(queries, pool_results(queries, events, partial(_same, plan), random), strict=True):
            assert difference(enumerate_results(asked, events, MEANINGS), result) is None, (seed, text)
    assert shared > 10


def _same(plan: SharingPlan, template: Template) -> SharingPlan:
    assert not list(invalid(template, plan))
    return plan


def test_an_edge_that_one_query_lacks() -> None:
    """The second example of the HAMLET paper: two A, one C, four B, two A, three C, one B.

    The second of the four B does not come before the third in `C B+`. So the third has a snapshot z of its own, and the
    fourth counts 4x + z, where x is what has come to the four.
    """
    same = Apply(Operation.EQUAL, (PrevAttribute(V, ValueKind.WHOLE), OwnAttribute(V, ValueKind.WHOLE)), ValueKind.FLAG)
    step = Step("v <> PREV(v)", Apply(Operation.NOT, (same,), ValueKind.FLAG), None)
    asked = [query("A B+"), replace(query("C B+"), steps=(("B", step),))]
    meanings: dict[str, Adjacent] = {step.text: lambda here, prev: prev is not None and here["v"] != prev["v"]}
    events = [event(kind, index, v=index) for index, kind in enumerate("AACBBBBAACCCB")]
    events[5] = event("B", 5, v=4)
    totals = [
        [sum(values[0] for values in results.values()) for results in both(asked, events[:until], meanings)]
        for until in (3, 4, 5, 6, 7, 12, 13)
    ]
    assert totals[4] == totals[5]
    counted = [[after[q] - before[q] for before, after in pairwise(totals) if after != before] for q in (0, 1)]
    assert counted == [[2, 4, 8, 16, 34], [1, 2, 2, 6, 15]]
    assert [4 * x + z for x, _, z, _, _ in counted] == [16, 6]
