"""The truth: trends enumerated one by one from their definition, slowly and obviously.

A pattern is matched by its own tree: `heads` says which variables a word may start with and what is
left to match after each. No automaton, no template and no kernel is involved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from planner.pattern import Alternation, Pattern, Repeat, Sequence, Variable
from planner.query import Aggregate, EventClass, Function, Query, Window

Value: TypeAlias = Any
"""An attribute or a result: int, float, Decimal, date, datetime, or None for NULL."""

Key: TypeAlias = tuple[object, ...]
Results: TypeAlias = dict[tuple[Key, int], list[Value]]
"""Per group key and index of the window (0 when there is no WITHIN), one value per aggregate."""


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the source.

    Attributes:
        partition: Keys that all events of a trend agree on and that results are not grouped by.
        group: Keys that all events of a trend agree on and that results are grouped by.
        time: None for NULL; such an event is ignored.
        classes: The event classes that it is of.
        values: Per text of an attribute, its value.
    """

    partition: Key
    group: Key
    time: int | None
    classes: frozenset[EventClass]
    values: Mapping[str, Value]


Term: TypeAlias = tuple[Pattern, ...]
"""What is left to match: patterns, one after another."""

Trend: TypeAlias = tuple[tuple[Event, str], ...]
"""A labelled word that the pattern accepts."""


def is_optional(pattern: Pattern) -> bool:
    """Whether the empty word matches."""
    match pattern:
        case Variable():
            return False
        case Sequence(parts):
            return all(map(is_optional, parts))
        case Alternation(parts):
            return any(map(is_optional, parts))
        case Repeat(operand, least, _):
            return least == 0 or is_optional(operand)


def heads(term: Term) -> Iterator[tuple[str, Term]]:
    """The variables that a word of ``term`` may start with, each with a term for the rest of the word."""
    if not term:
        return
    first, rest = term[0], term[1:]
    match first:
        case Variable(name):
            yield name, rest
        case Sequence(parts):
            yield from heads(parts + rest)
        case Alternation(parts):
            for part in parts:
                yield from heads((part, *rest))
        case Repeat(operand, least, most):
            if most != 0:
                again = Repeat(operand, max(least - 1, 0), None if most is None else most - 1)
                for name, tail in heads((operand,)):
                    yield name, (*tail, again, *rest)
            if is_optional(first):
                yield from heads(rest)


class Remaining:
    """All terms that may be left to match after some word; any of them will do.

    Attributes:
        accepts: Whether the word may end here.
    """

    def __init__(self, terms: frozenset[Term], known: dict[frozenset[Term], Remaining]) -> None:
        self._terms = terms
        self._known = known
        self._after: dict[str, Remaining] | None = None
        self.accepts = any(all(map(is_optional, term)) for term in terms)

    def after(self) -> dict[str, Remaining]:
        """Per variable that the word may go on with, what is left then."""
        if self._after is None:
            terms: dict[str, set[Term]] = {}
            for term in self._terms:
                for name, rest in heads(term):
                    terms.setdefault(name, set()).add(rest)
            self._after = {name: self._number(frozenset(rests)) for name, rests in terms.items()}
        return self._after

    def _number(self, terms: frozenset[Term]) -> Remaining:
        if terms not in self._known:
            self._known[terms] = Remaining(terms, self._known)
        return self._known[terms]


def whole(pattern: Pattern) -> Remaining:
    """What is left to match at the start."""
    return Remaining(frozenset({(pattern,)}), {})


def accepts(pattern: Pattern, word: Iterable[str]) -> bool:
    """Whether ``word``, a sequence of variables that is not empty, matches."""
    left, length = whole(pattern), 0
    for name in word:
        after = left.after()
        if name not in after:
            return False
        left, length = after[name], length + 1
    return length > 0 and left.accepts


def trends(query: Query, events: Iterable[Event]) -> Iterator[Trend]:
    """All trends of ``query``, each once, that fit into some window length.

    Args:
        query: The query.
        events: Of one partition and group, in any order.
    """
    classes = dict(query.classes)
    timed = sorted(((e.time, e) for e in events if e.time is not None), key=lambda pair: pair[0])
    labels = [[name for name, event_class in classes.items() if event_class in event.classes] for _, event in timed]
    stack: list[tuple[tuple[tuple[int, str], ...], Remaining]] = [((), whole(query.pattern))]
    while stack:
        word, left = stack.pop()
        if word and left.accepts:
            yield tuple((timed[place][1], name) for place, name in word)
        after = left.after()
        if not after:
            continue
        for place in range(word[-1][0] + 1 if word else 0, len(timed)):
            time = timed[place][0]
            if word and time == timed[word[-1][0]][0]:
                continue
            if word and query.window is not None and time - timed[word[0][0]][0] >= query.window.within:
                break
            stack += (((*word, (place, name)), after[name]) for name in labels[place] if name in after)


def windows_of(trend: Trend, window: Window | None) -> range:
    """Indices of the windows that contain all events of ``trend``."""
    if window is None:
        return range(1)
    first, last = trend[0][0].time, trend[-1][0].time
    assert first is not None
    assert last is not None
    # k·slide <= first, and last < k·slide + within.
    return range((last - window.within) // window.slide + 1, first // window.slide + 1)


def enumerate_results(query: Query, events: Iterable[Event]) -> Results:
    """The results of ``query``: one entry for each group and window that has a trend."""
    split: dict[tuple[Key, Key], list[Event]] = {}
    for event in events:
        split.setdefault((event.partition, event.group), []).append(event)
    counts: dict[tuple[Key, int], int] = {}
    held: dict[tuple[Key, int], dict[tuple[int, str], int]] = {}
    by_id: dict[int, Event] = {}
    for (_, group), mine in split.items():
        by_id.update((id(event), event) for event in mine)
        for trend in trends(query, mine):
            pairs = [(id(event), name) for event, name in trend]
            for window in windows_of(trend, query.window):
                counts[group, window] = counts.get((group, window), 0) + 1
                times = held.setdefault((group, window), {})
                for pair in pairs:
                    times[pair] = times.get(pair, 0) + 1
    return {
        place: [
            _aggregate(aggregate, count, [(by_id[event], name, n) for (event, name), n in held[place].items()])
            for aggregate in query.aggregates
        ]
        for place, count in counts.items()
    }


def _aggregate(aggregate: Aggregate, count: int, held: list[tuple[Event, str, int]]) -> Value:
    """Value of one aggregate.

    Args:
        aggregate: Which one.
        count: The number of trends.
        held: Events and the variables they stand for, with the number of trends that hold them so.
    """
    if aggregate.variable is None:
        return count
    mine = [(event, times) for event, name, times in held if name == aggregate.variable]
    if aggregate.attribute is None:
        return sum(times for _, times in mine)
    text = aggregate.attribute.text
    values = [(event.values[text], times) for event, times in mine if event.values[text] is not None]
    match aggregate.function:
        case Function.COUNT:
            return sum(times for _, times in values)
        case Function.SUM:
            return _sum(values) if values else None
        case Function.AVG:
            return _sum(values, sum(times for _, times in values)) if values else None
        case Function.MIN:
            return min((value for value, _ in values), key=sort_key, default=None)
        case Function.MAX:
            return max((value for value, _ in values), key=sort_key, default=None)


def _sum(values: list[tuple[Value, int]], divisor: int = 1) -> float:
    """Sum of values times how often they occur, divided exactly before it is rounded once."""
    special = [value for value, _ in values if isinstance(value, float) and not math.isfinite(value)]
    if special:
        return math.fsum(special) if len(set(special)) == 1 else math.nan
    return as_float(sum((Fraction(value) * times for value, times in values), Fraction()) / divisor)


def as_float(number: Fraction) -> float:
    """The nearest double; an infinity where there is none."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def sort_key(value: int | float | Decimal | Any) -> tuple[bool, Any]:
    """Orders values as Spark does: NaN is greatest."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)
