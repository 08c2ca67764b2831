"""The enumerator and the kernel on cases worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sparkext.planner.patterns.pattern import Alternation, Repeat, Sequence, Variable
from sparkext.planner.patterns.query import Aggregate, Function, Step, Window
from tests.support.by_hand import both, count, event, stream
from tests.support.enumerator import accepts, enumerate_results
from tests.support.pools import COUNT, V, W, query
from tests.support.prev_conditions import ADJACENT_BY_SQL, MEANINGS, on_earlier
from tests.support.workloads import typed_class


@pytest.mark.parametrize(
    ("text", "events", "trends"),
    [
        ("A B", "a1 b2 a3 b4", 3),
        ("A+ B", "a1 b2 a3 b4", 4),
        ("(A B)+", "a1 b2 a3 b4", 4),
        ("A+ | A B", "a1 b2 a3 b4", 6),
        ("A B | B A", "a1 b2 a3 b4", 4),
        ("A", "a1 b2 a3 b4", 2),
        ("C", "a1 b2 a3 b4", 0),
        ("C (A B)+ D", "c0 a1 b2 a3 b4 d5", 4),
        ("C (A B)+", "c0 a1 b2 a3 b4 d5", 4),
        ("A B+", "a0 a1 c2 b3 b4 b5 b6", 30),
        ("C B+", "a0 a1 c2 b3 b4 b5 b6", 15),
        ("A+ A+", "a1 a2 a3", 4),
        ("A+", "a1 a2 a3", 7),
        ("A*", "a1 a2 a3", 7),
        ("(A*)*", "a1 a2 a3", 7),
        ("A?", "a1 a2 a3", 3),
        ("A | A", "a1 a2 a3", 3),
        ("A A A", "a1 a2 a3", 1),
        ("A A A A", "a1 a2 a3", 0),
        ("A A", "a1 a1 a2", 2),
        ("A+", "a1 a1 a1", 3),
        ("A B", "a1 b1", 0),
        ("A* B*", "a1 b2", 3),
        ("(A | B)+", "a1 b2 a3", 7),
        ("A B? C", "a1 b2 c3", 2),
        ("(A? B?)+", "a1 b2", 3),
    ],
)
def test_number_of_trends(text: str, events: str, trends: int) -> None:
    assert count(text, events) == trends


def test_queries_of_one_pool() -> None:
    queries = [query("C (A B)+ D"), query("C (A B)+")]
    assert [list(r.values()) for r in both(queries, stream("c0 a1 b2 a3 b4 d5"))] == [[[4]], [[4]]]


def test_counts_grow_exponentially() -> None:
    (results,) = both([query("A+")], stream(" ".join(f"a{time}" for time in range(12))))
    assert results[(1,), 0] == [2**12 - 1]


def test_an_event_that_matches_two_variables_gives_two_labelled_words() -> None:
    one_event = [event("AB", 1)]
    twos = [event("AB", 1), event("AB", 2)]
    assert both([query("A | B")], one_event)[0][(1,), 0] == [2]
    assert both([query("A B")], twos)[0][(1,), 0] == [1]
    assert both([query("(A | B)+")], twos)[0][(1,), 0] == [8]
    same = {"B": typed_class("A")}
    assert both([query("A | B", classes=same)], stream("a1"))[0][(1,), 0] == [2]


def test_trends_stay_in_one_partition_and_group() -> None:
    events = [event("A", 1, part=1), event("B", 2, part=2), event("B", 3, part=1), event("A", 1, part=2)]
    assert both([query("A B")], events)[0] == {((1,), 0): [2]}
    events = [event("A", 1, group="x"), event("B", 2, group="y"), event("B", 3, group="x"), event("B", 4, group=None)]
    assert both([query("A B")], events)[0] == {(("x",), 0): [1]}


def test_null_keys_agree_with_each_other() -> None:
    events = [event("A", 1, part=None, group=None), event("B", 2, part=None, group=None), event("B", 3)]
    assert both([query("A B")], events)[0] == {((None,), 0): [1]}


def test_rows_without_time_are_ignored() -> None:
    assert both([query("A+")], [event("A", None), event("A", 1)])[0] == {((1,), 0): [1]}


def test_windows_hold_the_trends_that_fit_into_them() -> None:
    events = stream("a0 a4 a5 a9 a10")
    assert both([query("A+", window=Window(10, 5))], events)[0] == {
        ((1,), -1): [3],
        ((1,), 0): [15],
        ((1,), 1): [7],
        ((1,), 2): [1],
    }


def test_windows_before_time_zero_and_with_gaps() -> None:
    assert both([query("A+", window=Window(3, 3))], stream("a-4 a-3 a-1 a0"))[0] == {
        ((1,), -2): [1],
        ((1,), -1): [3],
        ((1,), 0): [1],
    }
    assert both([query("A+", window=Window(2, 5))], stream("a-5 a-4 a-3 a0 a2 a4 a5"))[0] == {
        ((1,), -1): [3],
        ((1,), 0): [1],
        ((1,), 1): [1],
    }


def test_aggregates_range_over_all_trends() -> None:
    """Trends of A+ B: a1 b3, a2 b3, a1 a2 b3."""
    events = [event("A", 1, v=10), event("A", 2, v=None), event("B", 3, v=1)]
    aggregates = [
        COUNT,
        Aggregate(Function.COUNT, "A"),
        Aggregate(Function.COUNT, "A", V),
        Aggregate(Function.SUM, "A", V),
        Aggregate(Function.AVG, "A", V),
        Aggregate(Function.MIN, "A", V),
        Aggregate(Function.MAX, "B", V),
        Aggregate(Function.SUM, "B", V),
    ]
    (results,) = both([query("A+ B", *aggregates)], events)
    assert results[(1,), 0] == [3, 4, 2, 20.0, 10.0, 10, 1, 3.0]


def test_aggregates_of_nothing_are_null_or_zero() -> None:
    events = [event("A", 1), event("B", 2)]
    aggregates = [
        Aggregate(Function.COUNT, "A", V),
        Aggregate(Function.SUM, "A", V),
        Aggregate(Function.AVG, "A", V),
        Aggregate(Function.MIN, "A", V),
        Aggregate(Function.MAX, "B", V),
    ]
    (results,) = both([query("A | B", *aggregates)], events)
    assert results[(1,), 0] == [0, None, None, None, None]


def test_extremes_are_of_events_that_are_in_a_trend() -> None:
    events = [event("A", 1, v=5), event("B", 2), event("A", 3, v=1)]
    (results,) = both([query("A B", Aggregate(Function.MIN, "A", V))], events)
    assert results[(1,), 0] == [5]


def test_nan_is_greatest_and_spoils_sums() -> None:
    events = [event("A", 1, w=math.nan), event("A", 2, w=2.0)]
    functions = (Function.MIN, Function.MAX, Function.SUM, Function.AVG)
    (results,) = both([query("A", *(Aggregate(function, "A", W) for function in functions))], events)
    least, *sums = results[(1,), 0]
    assert least == 2.0
    assert all(math.isnan(total) for total in sums)


def test_sums_beyond_a_double_are_infinite_and_their_mean_is_not() -> None:
    events = [event("A", time, w=1e308) for time in range(12)]
    (results,) = both([query("A+", Aggregate(Function.SUM, "A", W), Aggregate(Function.AVG, "A", W))], events)
    assert results[(1,), 0] == [math.inf, 1e308]


@pytest.mark.parametrize(
    ("least", "most", "accepted"),
    [(2, 2, {2}), (1, 3, {1, 2, 3}), (0, 2, {1, 2}), (3, None, {3, 4, 5}), (0, 0, set())],
)
def test_bounds_of_repetitions(least: int, most: int | None, accepted: set[int]) -> None:
    bounded = Repeat(Variable("A"), least, most)
    assert {length for length in range(6) if accepts(bounded, "A" * length)} == accepted
    optional = Repeat(Repeat(Variable("A"), 0, 1), least, most)
    assert {length for length in range(6) if accepts(optional, "A" * length)} == set(
        range(1, 6 if most is None else most + 1)
    )


def test_the_empty_word_is_no_trend() -> None:
    assert not accepts(Repeat(Variable("A"), 0, None), "")
    assert not accepts(Alternation((Repeat(Variable("A"), 0, 1), Sequence((Variable("A"), Variable("B"))))), "")


EARLIER = [event("A", 1, v=5), event("B", 2), event("A", 3, v=1), event("B", 4), event("C", 5, v=3), event("C", 6, v=7)]


@pytest.mark.parametrize(
    ("text", "trends", "without"), [("A B C", 4, 6), ("A B+ C", 5, 8), ("A+ B C", 6, 8), ("A B? C", 7, 10)]
)
def test_the_latest_event_of_a_variable(text: str, trends: int, without: int) -> None:
    more = Step("v > A.v", ADJACENT_BY_SQL["v < PREV(v)"].condition, None, "A")
    meanings = {more.text: lambda here, earlier: earlier is not None and here["v"] > earlier["v"]}
    asked = [replace(query(text), steps=(("C", more),)), query(text)]
    per_query = [enumerate_results(query, EARLIER, meanings) for query in asked]
    assert [values[0] for results in per_query for values in results.values()] == [trends, without]


def test_without_an_event_of_the_variable() -> None:
    """Before the first A, what is asked of it is NULL."""
    case = ADJACENT_BY_SQL["PREV(v) IS NULL OR v < PREV(v)"]
    step = Step(on_earlier(case, "A"), case.condition, typed_class("C"), "A")
    asked = replace(query("(A | B) B? C"), steps=(("C", step),))
    expected_results = enumerate_results(asked, EARLIER, MEANINGS)
    # B C four times, B B C twice; of A1 with C5, A1 B C5 and A3 with none.
    assert [values[0] for values in expected_results.values()] == [4 + 2 + 3]
