"""Totals per earlier event: conditions on the latest event of a variable, by hand, by the twin and at size."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from sparkext.planner.patterns.prev_condition import Apply, Operand, Operation, OwnAttribute, PrevAttribute, ValueKind
from sparkext.planner.patterns.query import Aggregate, Function, Query, Step, Window
from tests.support.by_hand import both, event
from tests.support.enumerator import Adjacent, Event
from tests.support.kernel_harness import pool_results
from tests.support.pools import COUNT, V, W, query
from tests.support.tiers import many_events

EVENTS = [event("A", 1, v=5), event("B", 2), event("A", 3, v=1), event("B", 4), event("C", 5, v=3), event("C", 6, v=7)]

_HERE, _EARLIER = OwnAttribute(V, ValueKind.WHOLE), PrevAttribute(V, ValueKind.WHOLE)
ABOVE: Operand = Apply(Operation.LESS, (_EARLIER, _HERE), ValueKind.FLAG)
EQUAL: Operand = Apply(Operation.EQUAL, (_EARLIER, _HERE), ValueKind.FLAG)
MEANINGS: dict[str, Adjacent] = {
    "above": lambda here, earlier: earlier is not None and here["v"] > earlier["v"],
    "equal": lambda here, earlier: earlier is not None and here["v"] == earlier["v"],
}


def asking(text: str, *aggregates: Aggregate, window: Window | None = None, **asked: str) -> Query:
    """A query in which variables ask for the latest event of others: ``C="above A"``."""
    parts = {name: words.split() for name, words in asked.items()}
    conditions = {"above": ABOVE, "equal": EQUAL}
    steps = tuple((name, Step(how, conditions[how], None, of)) for name, (how, of) in parts.items())
    return replace(query(text, *aggregates, window=window), name=f"{text} {asked}", steps=steps)


@pytest.mark.parametrize(
    ("text", "trends", "without"), [("A B C", 4, 6), ("A B+ C", 5, 8), ("A+ B C", 6, 8), ("A B? C", 7, 10)]
)
def test_counts(text: str, trends: int, without: int) -> None:
    counts = both([asking(text, C="above A"), query(text)], EVENTS, MEANINGS)
    assert [values[0] for results in counts for values in results.values()] == [trends, without]


def test_other_queries_of_the_pool_name_others() -> None:
    """Equal states before, and the same condition; what is named is another event."""
    events = [event("A", 1, v=1), event("B", 2, v=9), event("B", 3, v=2), event("C", 4, v=5)]
    asked = [asking("A B C", C="above A"), asking("A B C", C="above B"), asking("A B C"), asking("A B+ C", C="equal A")]
    counts = both(asked, events, MEANINGS)
    assert [[values[0] for values in results.values()] for results in counts] == [[2], [1], [2], []]


def test_events_of_one_time_are_not_between() -> None:
    events = [event("A", 1, v=1), event("B", 2), event("B", 2), event("C", 2, v=5), event("C", 3, v=5)]
    (results,) = both([asking("A B+ C", C="above A")], events, MEANINGS)
    assert list(results.values()) == [[2]]


def test_windows() -> None:
    (results,) = both([asking("A B C", C="above A", window=Window(4, 1))], EVENTS, MEANINGS)
    # A3 B4 C5 in [2, 6) and [3, 7), A3 B4 C6 in [3, 7).
    assert {index: values[0] for (_, index), values in results.items()} == {2: 1, 3: 2}


def test_measures_of_all_kinds() -> None:
    events = [replace(event, values={**event.values, "w": (event.time or 0) * 1.5}) for event in EVENTS]
    aggregates = [
        COUNT,
        Aggregate(Function.COUNT, "B"),
        Aggregate(Function.SUM, "B", W),
        Aggregate(Function.AVG, "A", V),
        Aggregate(Function.MIN, "B", W),
        Aggregate(Function.MAX, "A", V),
        Aggregate(Function.APPROX_COUNT),
        Aggregate(Function.LOG10_COUNT, "C"),
    ]
    (results,) = both([asking("A B+ C", *aggregates, C="above A")], events, MEANINGS)
    (values,) = results.values()
    # A1 with one of B2, B4, B2 B4, then C6; A3 B4 with C5 and C6.
    assert values[:7] == [5, 6, 3 + 6 + 9 + 6 + 6, 3.4, 3.0, 5, 5.0]


def long_stream(events: int, seed: int) -> list[Event]:
    """Events of three types in turn, with values from a few."""
    random = Random(seed)
    return [event("ABC"[time % 3], time, v=random.randint(0, 9)) for time in range(events)]


@pytest.mark.parametrize("how", ["above", "equal"])
def test_counts_that_need_more_than_a_word(how: str) -> None:
    """Hundreds of events in one window, held against sums over pairs of A and C."""
    events = long_stream(360, 1)
    (results,) = pool_results([asking("A B+ C", C=f"{how} A")], events, random=Random(3))
    expected = 0
    for c in events[2::3]:
        for a in events[: c.time : 3]:
            if MEANINGS[how](c.values, a.values):
                expected += 2 ** ((c.time or 0) // 3 - (a.time or 0) // 3 + 1) - 1
    assert expected > 1 << 100
    assert results[(1,), 0] == [expected]


@many_events
def test_sums_that_need_scales() -> None:
    """Counts beyond a double's range still have an average."""
    events = long_stream(4500, 2)
    aggregates = (Aggregate(Function.LOG10_COUNT), Aggregate(Function.AVG, "C", V))
    (results,) = pool_results([asking("A B+ C", *aggregates, C="above A")], events, random=Random(3))
    count = total = 0
    for c in events[2::3]:
        weighted = sum(
            2 ** ((c.time or 0) // 3 - (a.time or 0) // 3 + 1) - 1
            for a in events[: c.time : 3]
            if MEANINGS["above"](c.values, a.values)
        )
        count, total = count + weighted, total + weighted * (c.values["v"] or 0)
    (values,) = results.values()
    digits = len(str(count)) - 1
    assert digits > 400
    assert values[0] == pytest.approx(digits, abs=1.1)
    assert values[1] == pytest.approx(total * 10**6 // count / 10**6, rel=1e-5)
