"""Shared = unshared = enumerated, on random pools."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.patterns.pattern import negations
from sparkext.planner.patterns.query import Query, Selection
from sparkext.planner.sharing.prefixes import share_equal_prefixes, share_nothing
from sparkext.planner.sharing.template import template_of
from tests.support.enumerator import enumerate_results
from tests.support.prev_conditions import MEANINGS
from tests.support.soak import mismatches, problems
from tests.support.tiers import EXAMPLES, first
from tests.support.workloads import Workload, workload, workloads


@given(workloads(), st.integers(0, 1 << 32))
@settings(max_examples=max(1, EXAMPLES // 6), deadline=None, suppress_health_check=list(HealthCheck))
def test_kernel_equals_enumerator(drawn: Workload, seed: int) -> None:
    assert problems(drawn, seed) == []


@pytest.mark.parametrize("part", first(3, range(12)))
def test_kernel_equals_enumerator_on_seeded_pools(part: int) -> None:
    seeds = range(part * EXAMPLES // 12, (part + 1) * EXAMPLES // 12)
    assert [problem for seed in seeds for problem in mismatches(seed)] == []


def negations_of(query: Query) -> int:
    return len(negations(query.pattern))


def steps_of(query: Query) -> int:
    return len(query.steps)


def is_next(query: Query) -> bool:
    return query.selection is Selection.NEXT


def is_contiguous(query: Query) -> bool:
    return query.selection is Selection.CONTIGUOUS


@pytest.mark.long
def test_pools_are_not_trivial() -> None:
    """About half of the queries of random pools have results, and many pools have something to share."""
    drawn = [workload(Random(seed)) for seed in range(150)]
    queries = [query for w in drawn for query in w.queries]
    with_results = [bool(enumerate_results(query, w.events(), MEANINGS)) for w in drawn for query in w.queries]
    assert sum(with_results) > 0.4 * len(with_results)
    for kind in (negations_of, steps_of, is_next, is_contiguous):
        some = [result for result, query in zip(with_results, queries, strict=True) if kind(query)]
        assert sum(some) > 15, kind
    templates = [template_of(w.queries) for w in drawn]
    saved = [
        len(compile_plan(t, share_equal_prefixes(t)).cells) < len(compile_plan(t, share_nothing(t)).cells)
        for t in templates
    ]
    assert sum(saved) > 20
