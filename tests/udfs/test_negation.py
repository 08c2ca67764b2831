"""NOT, ``&`` and bounds on streams worked out by hand, by enumeration and by the kernel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkext.planner.patterns.query import Aggregate, Function, Step, Window
from tests.support.by_hand import both, count, counts, event, stream
from tests.support.pools import COUNT, V, query
from tests.support.prev_conditions import ADJACENT_BY_SQL
from tests.support.workloads import typed_class


@pytest.mark.parametrize(
    ("text", "trends"),
    [
        ("A & B", 4),
        ("A NOT A B", 2),
        ("A B NOT A", 2),
        ("NOT B A", 1),
        ("A NOT B B", 2),
        ("A NOT B A", 0),
        ("A NOT (B A) B", 2),
        ("A NOT (A B) B", 3),
        ("(A NOT A B)+", 3),
        ("A+ NOT A B", 3),
    ],
)
def test_two_pairs(text: str, trends: int) -> None:
    assert count(text, "a1 b2 a3 b4") == trends


@pytest.mark.parametrize(
    ("text", "events", "trends"),
    [
        # Each step from A to B is guarded, those from B to A are not.
        ("(A NOT N B)+", "a1 n2 b3 a4 b5", 1),
        ("(A NOT N B)+", "a1 b2 n3 a4 b5", 3),
        ("(A NOT N B)+", "a1 b2 a3 n4 b5", 1),
        # Each step from A to A is guarded, and the end.
        ("(A NOT N)+", "a1 n2 a3", 1),
        ("(A NOT N)+", "a1 a2 n3", 0),
        ("(A NOT N)+", "n1 a2 a3", 3),
        ("(A NOT N){2}", "a1 a2 n3", 0),
        ("(A NOT N){2}", "a1 n2 a3", 0),
        ("(A NOT N){2}", "n1 a2 a3 a4", 3),
        # The start is guarded, and each step from A to A.
        ("(NOT N A)+", "n1 a2 a3", 0),
        ("(NOT N A)+", "a1 n2 a3", 1),
        ("(NOT N A)+", "a1 a2 n3", 3),
        # What can be taken both with and without a guard is allowed if any way allows it.
        ("A (C? | NOT N C*) B", "a1 c2 c3 b4", 4),
        ("A (C? | NOT N C*) B", "a1 n2 c3 c4 b5", 3),
        ("A (C? | NOT N C*) B", "a1 c2 n3 c4 b5", 4),
        ("A NOT N B | A B", "a1 n2 b3", 1),
        ("A NOT N B C | A B NOT M C", "a1 b2 c3", 1),
        ("A NOT N B C | A B NOT M C", "a1 n2 b3 c4", 1),
        ("A NOT N B C | A B NOT M C", "a1 b2 m3 c4", 1),
        ("A NOT N B C | A B NOT M C", "a1 n2 b3 m4 c5", 0),
        ("A NOT N B C | A B NOT M C", "a1 n2 b3 c4 m5 b6 c7", 2),
        ("A NOT N B | A NOT M B", "a1 n2 b3 m4 b5", 1),
        # A forbidden trend of several events lies within the step as a whole.
        ("A NOT (C D+) B", "a1 c2 d3 b4", 0),
        ("A NOT (C D+) B", "a1 d2 c3 b4", 1),
        ("A NOT (C D+) B", "c1 a2 d3 b4", 1),
        ("A NOT (C D+) B", "a1 c2 b3 d4 b5", 1),
        ("A NOT (C D+) B", "a1 c2 a3 d4 b5", 1),
        ("A NOT (C & D) B", "a1 d2 c3 b4", 0),
        ("A NOT (C & D) B", "a1 c2 b3", 1),
        ("A NOT (C & D) B", "a1 c2 d2 b3", 1),
        ("A NOT (C | D E) B", "a1 d2 b3 e4 b5", 1),
        ("A NOT C{2} B", "a1 c2 b3 c4 b5", 1),
        ("A NOT N* B", "a1 b2 n3 b4", 1),
        # More events than there are buckets: a1 is told apart from a4, a6 and a8 when these are put together.
        ("A NOT (C D) B", "a1 c2 d3 a4 c5 a6 c7 a8 c9 a10 b11", 4),
        ("A NOT (C D) B", "a1 c2 d3 a4 c5 a6 c7 a8 c9 a10 d11 b12", 1),
        # At the time of either end a forbidden event breaks nothing.
        ("A NOT N B", "a1 n1 b3", 1),
        ("A NOT N B", "a1 n3 b3", 1),
        ("A NOT N B", "a1 n2 b3", 0),
        ("A NOT (C D) B", "a1 c1 d2 b3", 1),
        ("A NOT (C D) B", "a1 c2 d3 b3", 1),
        ("A NOT (C D) B", "a1 c2 d2 b4", 1),
        ("A NOT (C D) B", "a1 c2 d3 b4", 0),
        ("NOT N A", "n1 a1", 1),
        ("A NOT N", "n1 a1", 1),
        # Several guards of one step.
        ("A NOT N NOT M B", "a1 n2 b3", 0),
        ("A NOT N NOT M B", "a1 m2 b3", 0),
        ("A NOT N NOT M B", "a1 b2 n3 m4 b5", 1),
        ("A NOT N B? NOT M C", "a1 b2 c3", 2),
        ("A NOT N B? NOT M C", "a1 n2 b3 c4", 0),
        ("A NOT N B? NOT M C", "a1 b2 n3 c4", 1),
        ("A NOT N B? NOT M C", "a1 m2 b3 c4", 1),
        ("NOT N A NOT M B NOT K", "n1 a2 b3", 0),
        ("NOT N A NOT M B NOT K", "a2 m3 b4 k5", 0),
        ("NOT N A NOT M B NOT K", "m1 k2 a3 n4 k5 b6 m7 n8", 1),
        # Elsewhere.
        ("NOT N A | B", "n1 a2 b3", 1),
        ("(A & B) NOT N C", "a1 n2 b3 c4", 1),
        ("(A & B) NOT N C", "a1 b2 n3 c4", 0),
        ("A NOT N", "a1 n2 a3 n4 a5 a6", 2),
        ("A+ NOT N", "a1 n2 a3", 2),
        ("A NOT (N | B) B", "a1 b2 b3 n4 a5 b6", 2),
    ],
)
def test_negations(text: str, events: str, trends: int) -> None:
    assert count(text, events) == trends


@pytest.mark.parametrize(
    ("text", "events", "trends"),
    [
        ("A & B & C", "a1 b2 c3", 1),
        ("A & A", "a1 a2 a3", 3),
        ("A+ & B", "a1 b2 a3", 3),
        ("A B & C", "a1 c2 b3", 1),
        ("A B & C", "c1 c2 a3 b4 c5", 3),
        ("AND(A, B)+", "a1 b2 b3 a4", 5),
        ("A & B?", "a1 b1 a2", 3),
        ("A{2}", "a1 a2 a3", 3),
        ("A{,2}", "a1 a2 a3", 6),
        ("A{2,}", "a1 a2 a3", 4),
        ("A{2,3}", "a1 a2 a3 a4", 10),
        ("(A B){2}", "a1 b2 a3 b4", 1),
        ("(A B?){2}", "a1 b2 a3", 2),
        ("A{4}", "a1 a2 a3", 0),
    ],
)
def test_shuffles_and_bounds(text: str, events: str, trends: int) -> None:
    assert count(text, events) == trends


@pytest.mark.parametrize(
    ("text", "events", "window", "trends"),
    [
        # To the end of the window.
        ("A NOT N", "a1 n5 a11", Window(10, 10), {1: 1}),
        ("A NOT N", "a1 n12", Window(10, 10), {0: 1}),
        ("A NOT N", "a3 n9", Window(10, 10), {}),
        ("A NOT N", "a6 n12", Window(10, 5), {0: 1}),
        ("A NOT N", "a3 n7", Window(10, 5), {-1: 1}),
        ("A NOT N", "n3 a6 n12 a13", Window(10, 5), {0: 1, 1: 1, 2: 1}),
        # From the start of the window, inclusive.
        ("NOT N A", "n3 a7", Window(10, 5), {1: 1}),
        ("NOT N A", "n4 a7", Window(10, 5), {1: 1}),
        ("NOT N A", "n5 a7", Window(10, 5), {}),
        ("NOT N A", "n7 a7", Window(10, 5), {0: 1, 1: 1}),
        ("NOT N A", "n-1 a0 n1 a3", Window(4, 2), {0: 1, 1: 1}),
        ("NOT (N M) A", "n4 m6 a7", Window(10, 5), {1: 1}),
        ("NOT (N M) A", "n5 m6 a7", Window(10, 5), {}),
        ("(NOT N A)+", "a1 n2 a3 a4", Window(4, 2), {-1: 1, 0: 1, 2: 1}),
        # Within a window that has gaps to the next.
        ("A NOT N B", "a0 n3 b4 a5 b6", Window(5, 10), {}),
        ("A NOT N B", "a0 b4 n5 a10 b11", Window(5, 10), {0: 1, 1: 1}),
        ("A NOT N B", "a1 n4 b6", Window(8, 3), {}),
        ("A NOT N A", "a1 n2 a3 a4 a5", Window(4, 1), {1: 1, 2: 3, 3: 3, 4: 1}),
    ],
)
def test_negations_in_windows(text: str, events: str, window: Window, trends: dict[int, int]) -> None:
    assert counts(text, events, window) == trends


def test_forbidden_events_of_other_keys_break_nothing() -> None:
    events = [event("A", 1), event("N", 2, part=2), event("N", 2, group=2), event("B", 3)]
    assert both([query("A NOT N B")], events)[0] == {((1,), 0): [1]}
    assert both([query("A NOT N B")], [*events, event("N", 2)])[0] == {}


def test_keys_one_after_another_know_nothing_of_each_other() -> None:
    events = [event(kind, time, part=part) for part in range(3) for kind, time in (("A", 1), ("B", 3))]
    assert both([query("A NOT N B"), query("NOT N A")], [*events, event("N", 2, part=1)]) == [
        {((1,), 0): [2]},
        {((1,), 0): [3]},
    ]
    assert both([query("NOT N A"), query("A NOT N")], [*events, event("N", 0, part=1), event("N", 9, part=2)]) == [
        {((1,), 0): [2]},
        {((1,), 0): [2]},
    ]


def test_an_event_may_be_in_a_trend_and_forbidden_at_once() -> None:
    events = [event("A", 1), event("BN", 2), event("B", 3)]
    assert both([query("A NOT N B")], events)[0] == {((1,), 0): [1]}
    events = [event("AN", 1), event("AN", 2), event("AN", 3)]
    assert both([query("A NOT N A")], events)[0] == {((1,), 0): [2]}
    assert both([query("(A NOT N)+")], events)[0] == {((1,), 0): [3]}


def test_what_is_negated_has_conditions_of_its_own() -> None:
    large = {"N": typed_class("N", "v > 2")}
    events = [event("A", 1), event("N", 2), event("B", 3)]
    assert both([query("A NOT N B", classes=large), query("A NOT N B")], events) == [{((1,), 0): [1]}, {}]


def test_aggregates_range_over_the_trends_that_are_left() -> None:
    events = [event("A", 1, v=5), event("N", 2), event("A", 3, v=7), event("A", 4, v=None), event("B", 5, v=1)]
    aggregates = [
        COUNT,
        Aggregate(Function.COUNT, "A"),
        Aggregate(Function.COUNT, "A", V),
        Aggregate(Function.SUM, "A", V),
        Aggregate(Function.AVG, "A", V),
        Aggregate(Function.MIN, "A", V),
        Aggregate(Function.MAX, "A", V),
        Aggregate(Function.APPROX_COUNT),
        Aggregate(Function.SUM, "B", V),
    ]
    # a3 b5, a4 b5; then also a1 a3 b5, a1 a4 b5, a3 a4 b5, a1 a3 a4 b5.
    single, several = both([query("A NOT N B", *aggregates), query("A+ NOT N B", *aggregates)], events)
    assert single[(1,), 0] == [2, 2, 1, 7.0, 7.0, 7, 7, 2.0, 2.0]
    assert several[(1,), 0] == [6, 11, 7, 43.0, 43.0 / 7, 5, 7, 6.0, 6.0]


def test_aggregates_of_trends_that_must_not_be_followed() -> None:
    events = [event("A", 1, v=1), event("N", 2), event("A", 3, v=2)]
    aggregates = [COUNT, Aggregate(Function.SUM, "A", V), Aggregate(Function.MIN, "A", V)]
    # a3 and a1 a3 end after n2.
    assert both([query("A+ NOT N", *aggregates)], events)[0] == {((1,), 0): [2, 5.0, 1]}


def test_queries_of_one_pool_with_guards_of_their_own() -> None:
    queries = [query("A NOT N B"), query("A NOT M B"), query("A B"), query("A NOT N B C")]
    results = both(queries, stream("a1 n2 b3 m4 b5 c6"))
    assert [list(result.values()) for result in results] == [[], [[1]], [[2]], []]


def test_long_streams_have_few_buckets_and_true_counts() -> None:
    """Every A is followed by its own B unless an N comes in between; of 200 pairs every third is broken."""
    text = " ".join(f"a{10 * k} n{10 * k + (5 if k % 3 == 0 else 0)} b{10 * k + 7}" for k in range(200))
    assert counts("A NOT (N | A) B", text, Window(50, 50)) == {
        window: sum(k % 3 != 0 for k in range(5 * window, 5 * window + 5)) for window in range(40)
    }


def test_a_step_under_a_guard_and_a_condition_on_the_event_before() -> None:
    """Of a1, a3 and a4, only a3 has no N before b5 and a greater value."""
    case = ADJACENT_BY_SQL["v < PREV(v)"]
    step = Step(case.sql, case.condition, None)
    falling = replace(query("A NOT N B", COUNT, Aggregate(Function.SUM, "A", V)), steps=(("B", step),))
    values: dict[str, dict[int, int | None]] = {"A": {1: 5, 3: 7, 4: 1}, "N": {2: None}, "B": {5: 4}}
    events = [event(kind, time, v=v) for kind, held in values.items() for time, v in held.items()]
    assert both([falling], events)[0] == {((1,), 0): [1, 7.0]}
    without = [event for event in events if event.time != 2]
    assert both([falling], without)[0] == {((1,), 0): [2, 12.0]}
