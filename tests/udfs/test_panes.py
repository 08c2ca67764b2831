"""Windows computed by panes: which these are, and that they hold what windows with a lane each hold."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from tests.support.enumerator import Event
from tests.support.kernel_harness import kernel_rows, pool_partials, sorted_rows
from tests.support.kernel_twin import twin_results
from tests.support.pools import V, query
from tests.support.tiers import first, many_events
from tests.udfs.test_kernel import mismatch

AGGREGATES = (
    Aggregate(Function.COUNT),
    Aggregate(Function.COUNT, "A"),
    Aggregate(Function.LOG10_COUNT),
    Aggregate(Function.AVG, "A", V),
    Aggregate(Function.MIN, "A", V),
    Aggregate(Function.MAX, "A", V),
)

PATTERNS = ("A+", "A B", "C (A B)+ C", "(A | B)+ C?", "A B? A+ | B A", "A{2,3}")


def compiled(*queries: Query, panes_from: float = 0) -> KernelPlan:
    template = template_of(queries)
    return compile_plan(template, share_equal_prefixes(template), panes_from)


def stream(queries: tuple[Query, ...], times: list[int], random: Random) -> list[Event]:
    """Events of two keys, of random types and values."""
    classes = {event_class for query_ in queries for _, event_class in query_.classes}
    events: list[Event] = []
    for time in times:
        kind = random.choice("AAABBC")
        of_kind = frozenset(event_class for event_class in classes if event_class.type == kind)
        events.append(Event((), (random.choice((0, 0, 1)),), time, of_kind, {"v": random.choice((None, 3, -1, 2))}))
    return events


def test_many_open_windows_without_guards_and_steps_are_computed_by_panes() -> None:
    wide, narrow = Window(360, 1), Window(360, 90)
    plan = compiled(query("A+ B", window=wide), query("A+ B", window=narrow), query("A+ B"), panes_from=6)
    assert [plan.windows[space.number] for space in plan.panes] == [wide]
    assert compiled(query("A NOT C B", window=wide)).panes == ()


def test_one_window_both_by_panes_and_not() -> None:
    window = Window(360, 1)
    plan = compiled(query("A+ B", window=window), query("A NOT C B", window=window))
    assert plan.windows == (window, window)
    assert len(plan.panes) == 1


def test_branches_share_rows_of_the_matrix() -> None:
    """A constant, and one for each state on the longest way: C and D are never before the same event."""
    window = Window(360, 1)
    plan = compiled(query("A C B", window=window), query("A D B", window=window))
    assert [space.lanes for space in plan.panes] == [3]


@pytest.mark.parametrize(
    "window",
    first(2, [Window(10, 3), Window(64, 9), Window(301, 7), Window(2, 1), Window(310, 1)], interpreted=2),
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("panes_from", [0, float("inf")])
def test_windows_hold_what_they_hold(window: Window, sparse: bool, panes_from: float) -> None:
    """Whether by panes, or with a lane each, of which those are touched in which a trend has begun."""
    random = Random(window.within + sparse)
    time, times = -300, []
    for _ in range(70):
        time += random.choice((0, 1, 1, 40, 2 * window.within) if sparse else (0, 1, 1, 2, 6))
        times.append(time)
    queries = tuple(query(text, *AGGREGATES, window=window) for text in PATTERNS[:: 1 if window.live < 40 else 2])
    plan = compiled(*queries, panes_from=panes_from)
    assert len(plan.panes) == (panes_from == 0)
    rows = sorted_rows(kernel_rows(plan, stream(queries, times, random)))
    expected = twin_results(plan, rows)
    for cuts in (None, random, random):
        assert mismatch(plan, expected, pool_partials(plan, rows, cuts)) is None


@pytest.mark.parametrize("events", [60, 130, pytest.param(400, marks=many_events)])
def test_counts_that_need_more_words_or_do_not_fit(events: int) -> None:
    """Beyond 2^52, 2^64, and 38 digits; in the windows that are full, and not in those that begin late."""
    random = Random(events)
    window = Window(300, 40)
    queries = (query("A+", *AGGREGATES, window=window), query("(A | B)+ C", *AGGREGATES, window=window))
    plan = compiled(*queries)
    rows = sorted_rows(kernel_rows(plan, stream(queries, list(range(events)), random)))
    expected = twin_results(plan, rows)
    assert mismatch(plan, expected, pool_partials(plan, rows, random)) is None
