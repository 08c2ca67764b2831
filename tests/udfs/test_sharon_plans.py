"""SHARON's plans give the rows of the enumerator: of sequences, and beside patterns that it does not plan."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from sparkext.planner.patterns.query import Query, Window
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import Template
from tests.support.enumerator import enumerate_results
from tests.support.kernel_harness import difference, pool_results
from tests.support.prev_conditions import MEANINGS
from tests.support.random_events import random_events
from tests.support.sequence_workloads import random_sequences
from tests.support.sharing_plans import sharon_plan
from tests.support.tiers import first
from tests.support.workloads import workload

POOLS = 25
"""Pools of one test."""


@pytest.mark.parametrize("part", first(2, range(10)))
def test_random_pools(part: int) -> None:
    for seed in range(part * POOLS, (part + 1) * POOLS):
        random = Random(seed)
        drawn = workload(random)
        events = drawn.events()
        results = pool_results(drawn.queries, events, partial(sharon_plan, random), random)
        for asked, result in zip(drawn.queries, results, strict=True):
            assert difference(enumerate_results(asked, events, MEANINGS), result) is None, seed


@pytest.mark.parametrize("part", first(2, range(10)))
def test_random_sequences(part: int) -> None:
    """Many of which share: in windows, with equal times, events of several keys, and values that are missing."""
    shared = 0
    for seed in range(part * POOLS, (part + 1) * POOLS):
        random = Random(seed)
        drawn, text = random_sequences(random, random.choice((3, 8)))
        queries = [replace(query, window=_shorter(query)) for query in drawn.template.queries]
        events = random_events(random, queries)

        def plan(template: Template) -> SharingPlan:
            nonlocal shared
            drawn_plan = sharon_plan(random, template)  # noqa: B023 - it is called at once
            shared += any(qset.snapshot is not None for t in drawn_plan.transitions for qset in t.qsets)
            return drawn_plan

        for asked, result in zip(queries, pool_results(queries, events, plan, random), strict=True):
            assert difference(enumerate_results(asked, events, MEANINGS), result) is None, (seed, text)
    assert shared > POOLS // 4


def _shorter(query: Query) -> Window | None:
    """The window of a query, of a sixth of the length, so that a stream has several."""
    window = query.window
    return None if window is None else replace(window, within=10, slide=max(1, window.slide // 6))
