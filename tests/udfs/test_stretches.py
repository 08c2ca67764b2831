"""Stretches of time: keys without windows are computed by several tasks, and nothing is lost or doubled."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import Query, Window
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.planner.totals.pane_rows import may_be_stretched
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import (
    PLANNERS,
    difference,
    kernel_rows,
    pool_results,
    sorted_rows,
    stretched_partials,
)
from tests.support.kernel_twin import twin_results
from tests.support.pools import query
from tests.support.tiers import EXAMPLES, many_events
from tests.support.workloads import workload
from tests.udfs.test_kernel import mismatch
from tests.udfs.test_panes import AGGREGATES, PATTERNS, stream


def compiled(*queries: Query) -> KernelPlan:
    template = template_of(queries)
    return compile_plan(template, share_equal_prefixes(template), stretched=True)


def test_which_pools_may_be_stretched() -> None:
    """Those without windows, and without conditions that look at other events than those of a trend's last state."""
    window = Window(10, 5)
    assert may_be_stretched(template_of([query("A+ B"), query("C")]))
    assert not may_be_stretched(template_of([query("A+ B"), query("C", window=window)]))
    assert not may_be_stretched(template_of([query("A NOT C B")]))
    assert not compile_plan(template_of([query("A+")]), share_equal_prefixes(template_of([query("A+")]))).is_stretched
    assert compiled(query("A+ B")).is_stretched


@pytest.mark.parametrize("events", [3, 30, pytest.param(200, marks=many_events)])
def test_stretches_hold_what_keys_hold(events: int) -> None:
    """Of two keys, cut into one to five stretches; counts go beyond 64 bits and 38 digits."""
    random = Random(events)
    queries = tuple(query(text, *AGGREGATES) for text in PATTERNS)
    plan = compiled(*queries)
    for _ in range(8):
        times = sorted(random.choices(range(-events, events), k=events))
        rows = sorted_rows(kernel_rows(plan, stream(queries, times, random)))
        assert mismatch(plan, twin_results(plan, rows), stretched_partials(plan, rows, random)) is None


def test_random_pools() -> None:
    """Against the enumerator, with all planners, and with keys that come again and again."""
    checked = 0
    for seed in range(EXAMPLES // 2):
        drawn = workload(Random(seed))
        unbounded = [
            replace(query, window=None) for query in drawn.queries if may_be_stretched(template_of([_free(query)]))
        ]
        if not unbounded:
            continue
        random, events = Random(seed), drawn.events()
        name = random.choice(list(PLANNERS))
        results = pool_results(unbounded, events, PLANNERS[name](random), random)
        for asked_query, result in zip(unbounded, results, strict=True):
            expected = enumerate_results(asked_query, events)
            assert difference(expected, result) is None, (seed, name, str(asked_query.pattern))
            checked += bool(expected)
    assert checked > EXAMPLES // 10


def _free(bounded: Query) -> Query:
    return replace(bounded, window=None)


def test_a_stretch_without_events_that_matter() -> None:
    """Nothing is handed on of it, and nothing is written for a key without trends."""
    queries = (query("A B"),)
    plan = compiled(*queries)
    (class_a,) = (event_class for _, event_class in queries[0].classes if event_class.type == "A")
    events = [Event((), (0,), time, frozenset((class_a,)), {"v": 1}) for time in range(6)]
    rows = sorted_rows(kernel_rows(plan, events))
    for seed in range(5):
        assert stretched_partials(plan, rows, Random(seed)) == {}
