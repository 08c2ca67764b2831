"""Trends of which the last event is less than some time after the first."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import Query, Window
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.state.span_tables import FEW
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import (
    difference,
    kernel_rows,
    pool_partials,
    pool_results,
    query_results,
    sorted_rows,
)
from tests.support.kernel_twin import twin_results
from tests.support.pools import query
from tests.support.sharing_plans import draw_plan
from tests.support.tiers import first, many_events
from tests.udfs.test_kernel import mismatch
from tests.udfs.test_panes import AGGREGATES, PATTERNS, stream

MOST = (1 << 63) - 1


def compiled(*queries: Query) -> KernelPlan:
    template = template_of(queries)
    return compile_plan(template, share_equal_prefixes(template), fallback=True)


def events_of(queries: Sequence[Query], *events: tuple[str, int]) -> list[Event]:
    classes = {event_class for query in queries for _, event_class in query.classes}
    return [Event((), (), time, frozenset(c for c in classes if c.type == kind), {"v": time}) for kind, time in events]


HAND = (("A", 2), ("B", 3), ("A", 4), ("B", 6))


@pytest.mark.parametrize(
    ("span", "window", "trends"),
    [
        (1, None, {}),
        (2, None, {0: 1}),
        (3, None, {0: 2}),
        (4, None, {0: 2}),
        (5, None, {0: 3}),
        (MOST, None, {0: 3}),
        (5, Window(4, 4), {0: 1, 1: 2}),
        (2, Window(4, 4), {0: 1}),
        (5, Window(4, 2), {0: 1, 1: 1, 2: 2, 3: 2}),
        (5, Window(1, 3), {1: 1, 2: 2}),
        (None, Window(4, 4), {0: 1, 1: 1}),
    ],
)
def test_by_hand(span: int | None, window: Window | None, trends: dict[int, int]) -> None:
    """Trends are a2b3, a2b6 and a4b6."""
    asked = query("A B", window=window, span=span)
    events = events_of([asked], *HAND)
    expected: dict[int, list[object]] = {index: [count] for index, count in trends.items()}
    assert {index: values for (_, index), values in enumerate_results(asked, events).items()} == expected
    (results,) = pool_results([asked], events)
    assert {index: values for (_, index), values in results.items()} == expected


def test_equal_spans_are_computed_together_wherever_they_are_reported() -> None:
    hour = Window(60, 60)
    queries = [query("A B+", span=7), query("A B+", span=7, window=hour), query("A B+ C", span=7)]
    plan = compiled(*queries, query("A B+", span=8), query("A B+", window=hour))
    assert plan.windows == (None, hour)
    assert [span.length for span in plan.spans] == [7, 8]
    added = [cell for cell in plan.cells if cell.window == plan.spans[0].space.number and cell.event >= 0]
    assert len(added) == 3, "of A, B and C"
    assert plan.panes == ()
    assert plan.regions == ()


@pytest.mark.parametrize("seed", first(3, range(40), interpreted=2))
@pytest.mark.parametrize("sparse", [False, True])
def test_spans_hold_what_they_hold(seed: int, sparse: bool) -> None:
    """Against the twin; most streams are longer than there is room for at first."""
    random = Random(seed)
    spans = random.sample((1, 2, 5, 20, 70, 200), 2)
    windows = (None, Window(20, 20), Window(30, 7), Window(3, 10), Window(50, 2))
    queries = tuple(
        query(text, *AGGREGATES, window=random.choice(windows), span=random.choice((*spans, spans[0], None)))
        for text in random.sample(PATTERNS, 4)
    )
    time, times = random.choice((0, -300, 10**12)), []
    for _ in range(140):
        time += random.choice((0, 1, 1, 40, 2 * max(spans)) if sparse else (0, 1, 1, 1, 2))
        times.append(time)
    plan = compiled(*queries)
    rows = sorted_rows(kernel_rows(plan, stream(queries, times, random)))
    expected = twin_results(plan, rows)
    for cuts in (None, random):
        assert mismatch(plan, expected, pool_partials(plan, rows, cuts)) is None


@pytest.mark.parametrize("seed", first(3, range(40), interpreted=4))
@pytest.mark.parametrize("beside", [(), (query("A NOT C B", window=Window(40, 20)),)])
def test_keys_with_few_times_and_with_many(seed: int, beside: tuple[Query, ...]) -> None:
    """Keys in any order: with as many times in a span as have a lane each, with more, and with next to none."""
    random = Random(seed)
    windows = (None, Window(2000, 700), Window(15, 40))
    queries = tuple(
        query(text, *AGGREGATES, window=random.choice(windows), span=random.choice((100, 400)))
        for text in random.sample(PATTERNS, 3)
    )
    queries += beside
    classes = {event_class for asked in queries for _, event_class in asked.classes}
    events: list[Event] = []
    for key in range(6):
        apart, time = random.choice((1, 1, 5, 15, 150)), random.randint(-200, 200)
        for _ in range(random.choice((1, 20, 250))):
            time += random.randint(0, 2 * apart)
            kind = random.choice("ABCCD")
            of_kind = frozenset(event_class for event_class in classes if event_class.type == kind)
            events.append(Event((key % 3,), (key,), time, of_kind, {"v": random.choice((None, 3, -1, 2))}))
    plan = compiled(*queries)
    rows = sorted_rows(kernel_rows(plan, events))
    expected = twin_results(plan, rows)
    for cuts in (None, random):
        assert mismatch(plan, expected, pool_partials(plan, rows, cuts)) is None


@pytest.mark.parametrize("events", [60, 130, pytest.param(400, marks=many_events)])
def test_counts_that_need_more_words_or_do_not_fit(events: int) -> None:
    """Beyond 2^52, 2^64, and 38 digits."""
    random = Random(events)
    queries = (query("A+", *AGGREGATES, span=290), query("(A | B)+ C", *AGGREGATES, window=Window(300, 40), span=150))
    plan = compiled(*queries)
    rows = sorted_rows(kernel_rows(plan, stream(queries, list(range(events)), random)))
    expected = twin_results(plan, rows)
    assert mismatch(plan, expected, pool_partials(plan, rows, random)) is None


@pytest.mark.parametrize("events", [2 * FEW, pytest.param(20 * FEW, marks=many_events)])
def test_room_for_as_many_times_as_are_in_a_span(events: int) -> None:
    asked = query("A B+ C", span=events)
    kinds = [("A", "B", "C")[time % 3] for time in range(3 * events)]
    plan = compiled(asked)
    rows = sorted_rows(kernel_rows(plan, events_of([asked], *zip(kinds, range(3 * events), strict=True))))
    results = query_results(asked, plan.results[0], pool_partials(plan, rows))
    # Of trends, each is an A, then some of the Bs up to a C.
    expected = 0
    for end in range(2, 3 * events, 3):
        for begin in range(max(end % 3 - 2, end - events + 1), end):
            if begin >= 0 and kinds[begin] == "A":
                expected += 2 ** ((end - begin + 1) // 3) - 1
    assert difference({((), 0): [min(expected, 10**38)]}, results) is None or expected >= 10**38


def test_ends_of_the_range_of_times() -> None:
    asked = query("A B", span=3)
    events = events_of([asked], ("A", -MOST - 1), ("B", -MOST), ("B", -MOST + 2), ("A", MOST - 1), ("B", MOST))
    (results,) = pool_results([asked], events)
    assert list(results.values()) == [[2]]


@pytest.mark.long
def test_beside_queries_of_all_other_kinds() -> None:
    """A query with guards, one by panes, and one whose forms are shared."""
    random = Random(5)
    queries = (
        query("A+ B", *AGGREGATES, span=9),
        query("A NOT C B", *AGGREGATES[:2], window=Window(40, 40)),
        query("A B+", *AGGREGATES, window=Window(300, 1)),
    )
    events = stream(queries, [random.randint(0, 60) for _ in range(60)], random)
    for asked_query, result in zip(queries, pool_results(queries, events, random=random), strict=True):
        if asked_query.span is not None:
            alone = pool_results([asked_query], events)[0]
            assert difference(alone, result) is None


@pytest.mark.parametrize("seed", range(4))
def test_beside_linear_forms(seed: int) -> None:
    """Queries without a span share forms over snapshots, in a pool with one that has a span."""
    random = Random(seed)
    queries = (
        query("A B+", *AGGREGATES[:4], window=Window(30, 30)),
        query("C B+", *AGGREGATES[:1]),
        query("(A | C) B+ A", *AGGREGATES[:4]),
        query("A B+ C", *AGGREGATES, span=7),
        query("A B+", *AGGREGATES, window=Window(12, 5), span=11),
    )
    template = template_of(queries)
    drawn = (compile_plan(template, draw_plan(random, template), fallback=True) for _ in range(100))
    plan = next(plan for plan in drawn if plan.regions)
    times = sorted(random.randint(-40, 60) for _ in range(90))
    rows = sorted_rows(kernel_rows(plan, stream(queries, times, random)))
    expected = twin_results(plan, rows)
    for cuts in (None, random):
        assert mismatch(plan, expected, pool_partials(plan, rows, cuts)) is None
