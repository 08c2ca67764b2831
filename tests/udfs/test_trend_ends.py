"""Aggregates of the ends of trends below Spark: random pools, large counts, and times that are far from 1970."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, End, Function, Mark, Query, Side, Window
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.planner.totals.pane_rows import may_be_stretched
from tests.support.enumerator import Event, Value, enumerate_results, minus
from tests.support.kernel_harness import PLANNERS, difference, pool_results
from tests.support.pools import DURATION, TIME, query
from tests.support.prev_conditions import MEANINGS
from tests.support.tiers import first, many_events
from tests.support.workloads import workload

MINUTE = 60_000_000


@pytest.mark.parametrize("seed", [1695, 1741, *first(80, range(600))])
def test_random_pools(seed: int) -> None:
    """With all that there is in the language, planned in all ways, by panes and by windows."""
    random = Random(seed)
    drawn = workload(random)
    if not any(asked.marks for asked in drawn.queries):
        return
    events = drawn.events()
    planner = PLANNERS[random.choice(list(PLANNERS))](random)
    actual = pool_results(drawn.queries, events, planner, random, random.choice((0.0, 6.0)))
    for asked, results in zip(drawn.queries, actual, strict=True):
        problem = difference(enumerate_results(asked, events, MEANINGS), results)
        assert problem is None, f"{drawn.sql(asked, 'rows')}: {problem}"


def late_events(random: Random, count: int) -> list[Event]:
    """Events of A a minute or so apart, in two years more than 50 years after 1970."""
    asked = query("A+")
    ((_, event_class),) = asked.classes
    times: list[int] = []
    for year in (52, 54):
        now = year * 365 * 24 * 60 * MINUTE + random.randrange(MINUTE)
        for _ in range(count):
            now += random.randrange(MINUTE // 2, 2 * MINUTE)
            times.append(now)
    return [Event((1,), ("g",), time, frozenset({event_class}), {"at": time}) for time in times]


def mean_duration(times: list[int]) -> Fraction:
    """Of all trends of A+: between the i-th and the j-th event there are 2^(j - i - 1) ways."""
    total = sum((times[j] - times[i]) << (j - i - 1) for i in range(len(times)) for j in range(i + 1, len(times)))
    return Fraction(total, (1 << len(times)) - 1)


@pytest.mark.parametrize("panes_from", [0.0, 6.0])
@pytest.mark.parametrize("seed", range(3))
def test_durations_keep_nine_digits(seed: int, panes_from: float) -> None:
    """In windows of 20 minutes, whatever comes before, in which batches and chunks it comes, and by panes."""
    random = Random(seed)
    events = late_events(random, 60)
    window = Window(20 * MINUTE, 2 * MINUTE)
    asked = replace(query("A+", Aggregate(Function.AVG, ends=DURATION)), window=window)
    (results,) = pool_results([asked], events, random=random, panes_from=panes_from)
    for (_, index), (value,) in results.items():
        begin = index * window.slide
        times = [e.time for e in events if e.time is not None and begin <= e.time < begin + window.within]
        assert value == pytest.approx(float(mean_duration(times)), rel=1e-9, abs=1e-3)
    assert len(results) > 80


def test_durations_of_more_trends_than_a_double_counts() -> None:
    """2^2000 of them: their sum is infinite, and their mean is the time between the first and last events, nearly."""
    ((_, event_class),) = query("A+").classes
    events = [Event((1,), ("g",), t, frozenset({event_class}), {"at": 10**15 + t}) for t in range(2000)]
    aggregates = [Aggregate(function, ends=DURATION) for function in (Function.SUM, Function.AVG, Function.LOG10_COUNT)]
    (results,) = pool_results([query("A+", *aggregates)], events)
    ((total, mean, digits),) = results.values()
    assert total == float("inf")
    assert mean == pytest.approx(float(mean_duration(list(range(2000)))), rel=1e-9)
    assert digits == pytest.approx(602.06, abs=0.01)


@many_events
@pytest.mark.parametrize("kind", first(1, ["double", "int", "bigint", "decimal(12,3)", "timestamp"]))
def test_extremes_of_differences_of_very_many_trends(kind: str) -> None:
    """Of A+ over hundreds of events, any two are the ends of some of the 2^300 trends, too many to count.

    In windows that overlap, whatever comes in which batch, with the difference either way round.
    """
    random = Random(kind)
    ((_, event_class),) = query("A+").classes
    values = [_of_kind(random, kind) for _ in range(400)]
    classes = frozenset((event_class, event_class.with_values(["w"])))
    events = [Event((1,), ("g",), time, classes, {"w": value}) for time, value in enumerate(values)]
    attribute = Attribute("w", kind)
    last, first = (End(Mark(side, None), attribute) for side in (Side.LAST, Side.FIRST))
    both = ((last, first), (first, last))
    aggregates = [Aggregate(function, ends=ends) for function in (Function.MIN, Function.MAX) for ends in both]
    asked = replace(query("A+", *aggregates), window=Window(330, 70))
    (results,) = pool_results([asked], events, random=random)
    assert len(results) == 10
    for (_, index), values_of in results.items():
        inside = values[max(0, index * 70) : max(0, index * 70 + 330)]
        pairs = [minus(b, a) for at, a in enumerate(inside) for b in inside[at:]]
        assert values_of == [min(pairs), -max(pairs), max(pairs), -min(pairs)]


def _of_kind(random: Random, kind: str) -> Value:
    """A value that is exact in each type, near an end of its range."""
    match kind:
        case "double":
            return random.randint(-(2**50), 2**50) / 8
        case "timestamp":
            return datetime(9000, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=random.randint(0, 10**15))
        case "int":
            return random.randint(-(2**31), 2**31 - 1)
        case "bigint":
            return random.randint(-(2**63), 2**63 - 1)
        case _:
            return Decimal(random.randint(-(10**12) + 1, 10**12 - 1)).scaleb(-3)


def test_stretches_are_for_others() -> None:
    """Times of several tasks would be held against different values."""
    asked: Query = query("A+", Aggregate(Function.AVG, ends=DURATION))
    assert not may_be_stretched(template_of([asked]))
    alone = Aggregate(Function.SUM, attribute=TIME, ends=DURATION[:1])
    assert may_be_stretched(template_of([query("A+", alone)]))


def test_queries_that_differ_in_what_they_ask_share_what_is_equal() -> None:
    """The last A and those before it hold the same trends."""
    event = Attribute("v", "int")
    last = Aggregate(Function.SUM, attribute=event, ends=(End(Mark(Side.LAST, "A"), event),))
    count = Aggregate(Function.APPROX_COUNT)
    for pool, starts in (
        ([query("A+ B", last)], 1),
        ([query("A+ B", last), replace(query("A+ B", count), name="q")], 1),
        ([query("A+ B", last, count), replace(query("A+ B", last), name="q")], 1),
    ):
        source = template_of(pool)
        plan = compile_plan(source, share_equal_prefixes(source))
        assert sum(cell.start for cell in plan.cells) == starts
