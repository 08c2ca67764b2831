"""Matches that are built and then aggregated: as the enumerator, whatever the plan and however batches are cut."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import Layout, too_many
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.template import template_of
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import difference, kernel_rows, pool_results, run, sorted_rows, source_batch
from tests.support.match_plans import random_match_plan
from tests.support.pools import COUNT, V, query
from tests.support.prev_conditions import MEANINGS
from tests.support.tiers import first
from tests.support.workloads import typed_class, workload

POOLS = 25
"""Pools of one test."""


@pytest.mark.parametrize("part", first(1, range(20)))
def test_random_pools(part: int) -> None:
    """Matches are built of some queries; the others are computed beside them."""
    built = 0
    for seed in range(part * POOLS, (part + 1) * POOLS):
        random = Random(seed)
        drawn = workload(random)
        events = drawn.events()
        matches = random_match_plan(random, template_of(drawn.queries))
        built += len(matches.queries)
        results = pool_results(drawn.queries, events, share_nothing, random, matches=matches)
        for asked, result in zip(drawn.queries, results, strict=True):
            assert difference(enumerate_results(asked, events, MEANINGS), result) is None, seed
    assert built


PATTERNS = ("A B C", "A B D", "A C", "B A C D", "A{2} B", "A B? C", "(A | B) (B | A)", "A & B", "D A B", "A B+", "C")
CONDITION = typed_class("A")


@pytest.mark.parametrize("part", first(2, range(10)))
def test_random_sequences(part: int) -> None:
    """Many of which share: in windows, with equal times, events of several keys, and values that are missing."""
    for seed in range(part * POOLS, (part + 1) * POOLS):
        random = Random(seed)
        queries = [_query(random, n) for n in range(random.randint(1, 5))]
        events = _events(random, queries)
        matches = random_match_plan(random, template_of(queries))
        results = pool_results(queries, events, share_nothing, random, matches=matches)
        for asked, result in zip(queries, results, strict=True):
            assert difference(enumerate_results(asked, events), result) is None, (seed, asked)


def _query(random: Random, number: int) -> Query:
    """One whose variables may be of the same class as others."""
    text = random.choice(PATTERNS)
    variable = random.choice([letter for letter in text if letter in "ABCD"])
    aggregates = [
        COUNT,
        Aggregate(Function.COUNT, variable),
        Aggregate(Function.COUNT, variable, V),
        *(Aggregate(function, variable, V) for function in (Function.SUM, Function.AVG, Function.MIN, Function.MAX)),
        Aggregate(Function.APPROX_COUNT),
    ]
    window = random.choice((None, Window(10, 10), Window(10, 3), Window(4, 6)))
    classes = {"B": CONDITION} if "B" in text and random.random() < 0.2 else None
    chosen = random.sample(aggregates, random.randint(1, 4))
    return replace(query(text, *chosen, window=window, classes=classes), name=f"q{number}")


def _events(random: Random, queries: list[Query]) -> list[Event]:
    classes = {event_class for asked in queries for _, event_class in asked.classes}
    time, events = random.choice((0, -20)), []
    for _ in range(random.randint(5, 30)):
        time += random.choice((0, 1, 1, 2))
        kind = random.choice("ABCD")
        of_kind = frozenset(event_class for event_class in classes if event_class.type == kind)
        keys = (random.choice((0, 1)),), (random.choice((0, 0, 1)),)
        events.append(Event(*keys, time, of_kind, {"v": random.choice((None, -2, 0, 1, 5))}))
    return events


def flagged(most: int, windows: tuple[Window | None, Window | None]) -> tuple[list[int], list[int | None]]:
    """Which of two queries have too many partial matches, and what they count; over three A, two B and a C."""
    queries = [query("A B C", window=windows[0]), query("A C", window=windows[1])]
    template = template_of(queries)
    matches = random_match_plan(Random(0), template)
    plan = compile_plan(template, share_nothing(template), matches=matches, most_matches=most)
    events = [Event((), (), time, frozenset((typed_class(kind),)), {}) for time, kind in enumerate("AAABBC")]
    rows = run(plan, Layout(0, 0), source_batch(plan, sorted_rows(kernel_rows(plan, events))))
    banks = [result.bank for result in plan.results]
    counts: list[int | None] = [None, None]
    for row in rows:
        if row["bank"] in banks:
            position = banks.index(row["bank"])
            counts[position] = (counts[position] or 0) + row[f"exact_{plan.results[position].presence}"]
    return [position for position, bank in enumerate(banks) if too_many(bank) in [row["bank"] for row in rows]], counts


def test_too_many_matches() -> None:
    """A query that has more partial matches than it may in a window says so; the others have their results."""
    assert flagged(6, (None, None)) == ([], [6, 3])
    assert flagged(5, (None, None)) == ([0], [None, 3])
    assert flagged(2, (None, None)) == ([0, 1], [None, None])
    assert flagged(5, (Window(6, 6), None)) == ([0], [None, 3])
    assert flagged(2, (Window(2, 2), Window(3, 3))) == ([], [None, None])
