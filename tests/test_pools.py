"""Shared = unshared = enumerated, on random pools."""

from __future__ import annotations

import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.compile import compile_plan
from planner.pattern import negations
from planner.prefixes import share_equal_prefixes, share_nothing
from planner.query import Query
from planner.template import template
from tests.adjacent import MEANINGS
from tests.enumerator import enumerate_results
from tests.soak import mismatches, problems
from tests.workloads import Workload, workload, workloads

EXAMPLES = int(os.environ.get("SPARKEXT_POOLS", "300"))


@given(workloads(), st.integers(0, 1 << 32))
@settings(max_examples=max(1, EXAMPLES // 6), deadline=None, suppress_health_check=list(HealthCheck))
def test_kernel_equals_enumerator(drawn: Workload, seed: int) -> None:
    assert problems(drawn, seed) == []


@pytest.mark.parametrize("part", range(4))
def test_kernel_equals_enumerator_on_seeded_pools(part: int) -> None:
    seeds = range(part * EXAMPLES // 4, (part + 1) * EXAMPLES // 4)
    assert [problem for seed in seeds for problem in mismatches(seed)] == []


def negations_of(query: Query) -> int:
    return len(negations(query.pattern))


def steps_of(query: Query) -> int:
    return len(query.steps)


def test_pools_are_not_trivial() -> None:
    """About half of the queries of random pools have results, and many pools have something to share."""
    drawn = [workload(Random(seed)) for seed in range(100)]
    queries = [query for w in drawn for query in w.queries]
    with_results = [bool(enumerate_results(query, w.events(), MEANINGS)) for w in drawn for query in w.queries]
    assert sum(with_results) > 0.4 * len(with_results)
    for kind in (negations_of, steps_of):
        some = [found for found, query in zip(with_results, queries, strict=True) if kind(query)]
        assert sum(some) > 15, kind
    templates = [template(w.queries) for w in drawn]
    saved = [
        len(compile_plan(t, share_equal_prefixes(t)).cells) < len(compile_plan(t, share_nothing(t)).cells)
        for t in templates
    ]
    assert sum(saved) > 20
