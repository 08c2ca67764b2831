"""Cases worked out by hand: streams written as text, and results that enumerator and kernel agree on."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from sparkext.planner.patterns.query import Query, Window
from tests.support.enumerator import Adjacent, Event, Results, enumerate_results
from tests.support.kernel_harness import PLANNERS, difference, pool_results
from tests.support.pools import query
from tests.support.prev_conditions import MEANINGS
from tests.support.workloads import typed_class


def event(kind: str, time: int | None, part: object = 1, group: object = 1, **values: Any) -> Event:
    """An event whose ``kind`` is one letter per type that it is of."""
    classes = frozenset(map(typed_class, kind))
    return Event((part,), (group,), time, classes, {"v": None, "w": None} | values)


def stream(text: str) -> list[Event]:
    """``"a1 b2"`` as events: type and time."""
    return [event(item[0].upper(), int(item[1:])) for item in text.split()]


def both(queries: list[Query], events: list[Event], adjacent: Mapping[str, Adjacent] = MEANINGS) -> list[Results]:
    """Results by enumeration, after the kernel was held against them: at once, and in random batches."""
    expected = [enumerate_results(query, events, adjacent) for query in queries]
    for name in ("shared", "unshared"):
        for cuts in (None, Random(1), Random(2)):
            results = pool_results(queries, events, PLANNERS[name](Random(0)), cuts)
            for wanted, actual in zip(expected, results, strict=True):
                assert difference(wanted, actual) is None, name
    return expected


def count(text: str, events: str) -> int:
    """``COUNT(*)`` of one query over events of one key."""
    return counts(text, events, None).get(0, 0)


def counts(text: str, events: str, window: Window | None) -> dict[int, int]:
    """``COUNT(*)`` of one query over events of one key, per window."""
    (results,) = both([query(text, window=window)], stream(events))
    return {index: values[0] for (_, index), values in results.items()}
