"""The truth of completions: all trends are listed, and put together by the events that they end in.

Nothing of how completions are computed is imported here; trends come from `tests.support.enumerator`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.query import Aggregate, Distinct, Mark, Query, Shown
from tests.support.enumerator import (
    Adjacent,
    Ends,
    Event,
    Key,
    Matcher,
    Trend,
    Value,
    _aggregate,
    _counted,
    _end,
    _of_ends,
    windows_of,
)

Counts: TypeAlias = dict[tuple[Key, int], dict[Distinct, int]]
"""Per group key and index of the window, what is counted once."""


_SHORTEST = ((math.inf,), 0)
"""After the first event: of two trends that have begun at one time, the shorter is the better."""


@dataclass(frozen=True, slots=True)
class Found:
    """A completion.

    Attributes:
        partition, group: Its keys.
        window: Index of the window; 0 when there is no WITHIN.
        event: The event.
        values: One per aggregate, over the trends that end in the event.
        witnesses: Trends that may be its witness: one, but for events that are equal in all of ORDER BY.
    """

    partition: Key
    group: Key
    window: int
    event: Event
    values: tuple[Value, ...]
    witnesses: tuple[Trend, ...]

    def shown(self, shown: Iterable[Shown]) -> set[tuple[Any, ...]]:
        """What its row may show."""
        return {tuple(_value(value_shown, trend) for value_shown in shown) for trend in self.witnesses}


def enumerate_completions(
    query: Query, events: Iterable[Event], adjacent: Mapping[str, Adjacent] | None = None
) -> list[Found]:
    """All completions of ``query``.

    Args:
        query: The query.
        events: In any order.
        adjacent: By text, what the conditions of the query's steps mean.
    """
    split: dict[tuple[Key, Key], list[Event]] = {}
    for event in events:
        if event.time is not None:
            split.setdefault((event.partition, event.group), []).append(event)
    matcher = Matcher(query, adjacent or {})
    order = {name: index for index, name in enumerate(variables(query.pattern))}
    completions: list[Found] = []
    for (partition, group), own_events in split.items():
        own_events.sort(key=lambda event: event.moment)
        for window, trends in _trends(query, matcher, own_events):
            ending: dict[int, list[Trend]] = {}
            for trend in trends:
                ending.setdefault(id(trend[-1][0]), []).append(trend)
            for trends_ending in ending.values():
                values = tuple(_values(query.aggregates, trends_ending))
                witnesses = tuple(_witnesses(trends_ending, order))
                completions.append(Found(partition, group, window, trends_ending[0][-1][0], values, witnesses))
    return completions


def count_completions(completions: Iterable[Found], nulls: bool = False) -> Counts:
    """What `Distinct` counts of completions.

    Args:
        found: The completions.
        nulls: Whether a NULL in a key is a value like any other.
    """
    counts: Counts = {}
    keys: dict[tuple[Key, int], set[tuple[Key, Key]]] = {}
    for completion in completions:
        at = completion.group, completion.window
        counts_at = counts.setdefault(at, {Distinct.COMPLETIONS: 0, Distinct.KEYS: 0})
        counts_at[Distinct.COMPLETIONS] += 1
        if nulls or None not in (*completion.partition, *completion.group):
            keys.setdefault(at, set()).add((completion.partition, completion.group))
    for at, keys_at in keys.items():
        counts[at][Distinct.KEYS] = len(keys_at)
    return counts


def _trends(query: Query, matcher: Matcher, events: list[Event]) -> Iterator[tuple[int, list[Trend]]]:
    """Per window its trends; ``events`` are in order."""
    if query.span is None:
        for window, inside in windows_of(events, query.window).items():
            yield window, list(matcher.trends(events[slice(*inside)]))
        return
    ending: dict[int, list[Trend]] = {}
    for trend in matcher.trends(events):
        first, last = trend[0][0].time, trend[-1][0].time
        assert first is not None
        assert last is not None
        if last - first < query.span:
            for window in windows_of([trend[-1][0]], query.window):
                ending.setdefault(window, []).append(trend)
    yield from ending.items()


def _values(aggregates: tuple[Aggregate, ...], trends: list[Trend]) -> Iterator[Value]:
    """One value per aggregate over some trends."""
    by_id = {id(event): event for trend in trends for event, _ in trend}
    for aggregate in aggregates:
        marks: tuple[Mark, ...] = tuple(dict.fromkeys(end.mark for end in aggregate.ends))
        count, held, ended = _counted(trends, marks)
        if aggregate.ends:
            ends: Counter[Ends] = ended
            yield _of_ends(aggregate, [(dict(zip(marks, ends_of, strict=True)), n) for ends_of, n in ends.items()])
        else:
            yield _aggregate(aggregate, count, [(by_id[event], name, n) for (event, name), n in held.items()])


def _witnesses(trends: list[Trend], order: Mapping[str, int]) -> Iterator[Trend]:
    """Those of trends that end in one event that are the latest: by their first time, then from the last but one back.

    Args:
        trends: The trends.
        order: Of the variables in the text of the pattern.
    """

    def key(trend: Trend) -> tuple[Any, ...]:
        first = trend[0][0].time
        back = [(event.moment, order[name]) for event, name in reversed(trend[:-1])]
        return first, [*back, _SHORTEST], order[trend[-1][1]]

    best = max(map(key, trends))
    yield from (trend for trend in trends if key(trend) == best)


def _value(shown: Shown, trend: Trend) -> Any:
    """What a row shows of a trend; EVENTS as a tuple."""
    if shown.attribute is None:
        return trend[-1][1]
    text = shown.attribute.text
    if shown.mark is None:
        return tuple(event.values[text] for event, _ in trend)
    event = _end(trend, shown.mark)
    return None if event is None else event.values[text]
