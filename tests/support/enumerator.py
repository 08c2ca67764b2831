"""The truth: trends enumerated one by one from their definition, slowly and obviously.

A pattern is matched by its own tree: `heads` says which variables a word may start with, what must not
happen before each, and what is left to match after it. Each window is looked at by itself; where trends have a span,
all trends are, and then in which windows they end. No automaton, no template and no kernel is involved.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Row
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from sparkext.planner.patterns.pattern import (
    Alternation,
    Node,
    Not,
    Pattern,
    Repeat,
    Sequence,
    Shuffle,
    Variable,
    negations,
)
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Mark, Query, Selection, Side, Window

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
        order: Values of the further expressions of ORDER BY.
    """

    partition: Key
    group: Key
    time: int | None
    classes: frozenset[EventClass]
    values: Mapping[str, Value]
    order: tuple[int, ...] = ()

    @property
    def moment(self) -> tuple[int, ...]:
        """Where it is in the order: two events of one moment are in no trend together."""
        return (self.time or 0, *self.order)


Term: TypeAlias = tuple[Node, ...]
"""What is left to match: patterns, one after another."""

Trend: TypeAlias = tuple[tuple[Event, str], ...]
"""A labelled word that the pattern accepts."""

Forbidden: TypeAlias = frozenset[Pattern]
"""What must not have a trend between two events."""

Adjacent: TypeAlias = Callable[[Mapping[str, Value], Mapping[str, Value] | None], bool]
"""A condition on the values of an event and of an earlier one: the one just before it, or the latest of a variable.
None when there is no such event."""


def empties(node: Node) -> set[Forbidden]:
    """The ways to match the empty word: what each forbids."""
    match node:
        case Variable():
            return set()
        case Not(operand):
            return {frozenset((operand,))}
        case Sequence(parts) | Shuffle(parts):
            return {frozenset().union(*way) for way in product(*map(empties, parts))}
        case Alternation(parts):
            return set().union(*map(empties, parts))
        case Repeat(operand, least, _):
            return _times(empties(operand), least)


def _times(ways: set[Forbidden], times: int) -> set[Forbidden]:
    """One of ``ways`` so many times; what is forbidden twice is forbidden."""
    result: set[Forbidden] = {frozenset()}
    for _ in range(min(times, len(ways) + 1)):
        result = {term | way for term in result for way in ways}
    return result


def heads(term: Term) -> Iterator[tuple[str, Forbidden, Term]]:
    """The variables that a word of ``term`` may start with, each with what must not happen before it
    and a term for the rest of the word.
    """
    if not term:
        return
    first, rest = term[0], term[1:]
    match first:
        case Variable(name):
            yield name, frozenset(), rest
        case Not():
            pass
        case Sequence(parts):
            yield from heads(parts + rest)
            return
        case Alternation(parts):
            for part in parts:
                yield from heads((part, *rest))
            return
        case Shuffle(parts):
            for index, part in enumerate(parts):
                for name, forbidden, tail in heads((part,)):
                    left = Sequence((*tail, *_NOTHING))
                    yield name, forbidden, (Shuffle((*parts[:index], left, *parts[index + 1 :])), *rest)
        case Repeat():
            yield from _rounds(first, rest)
    for before in empties(first):
        for name, forbidden, tail in heads(rest):
            yield name, before | forbidden, tail


def _rounds(repeat: Repeat, rest: Term) -> Iterator[tuple[str, Forbidden, Term]]:
    """The heads of a repetition: some empty rounds, which may forbid something, then one that is not empty."""
    operand, least, most = repeat.operand, repeat.least, repeat.most
    for skipped in range(max(least, 1) if most != 0 else 0):
        again = Repeat(operand, max(least - skipped - 1, 0), None if most is None else most - skipped - 1)
        for name, forbidden, tail in heads((operand,)):
            for before in _times(empties(operand), skipped):
                yield name, before | forbidden, (*tail, again, *rest)


_NOTHING = (Repeat(Variable("nothing"), 0, 0), Repeat(Variable("nothing"), 0, 0))
"""Matches the empty word; two of them, since a sequence has at least two parts."""


class Remaining:
    """All terms that may be left to match after some word; any of them will do.

    Attributes:
        ends: Per way in which the word may end here, what must not happen after it.
    """

    def __init__(self, terms: frozenset[Term], interned: dict[frozenset[Term], Remaining]) -> None:
        self._terms = terms
        self._known = interned
        self._after: dict[str, set[tuple[Forbidden, Term]]] | None = None
        self.ends = {frozenset().union(*way) for term in terms for way in product(*map(empties, term))}

    def after(self) -> dict[str, set[tuple[Forbidden, Term]]]:
        """Per variable that the word may go on with, what must not happen before it and what is left then."""
        if self._after is None:
            self._after = {}
            for term in self._terms:
                for name, forbidden, rest in heads(term):
                    self._after.setdefault(name, set()).add((forbidden, rest))
        return self._after

    def among(self, terms: Iterable[Term]) -> Remaining:
        """What is left when any of ``terms`` may be."""
        chosen = frozenset(terms)
        if chosen not in self._known:
            self._known[chosen] = Remaining(chosen, self._known)
        return self._known[chosen]


def whole(pattern: Pattern) -> Remaining:
    """What is left to match at the start."""
    return Remaining(frozenset({(pattern,)}), {})


def accepts(pattern: Pattern, word: Iterable[str]) -> bool:
    """Whether ``word``, a sequence of variables that is not empty, matches when nothing forbidden happens."""
    left, length = whole(pattern), 0
    for name in word:
        after = left.after()
        if name not in after:
            return False
        left, length = left.among(rest for _, rest in after[name]), length + 1
    return length > 0 and bool(left.ends)


class Matcher:
    """Finds the trends of one query in the events of one partition, group and window."""

    def __init__(self, query: Query, adjacent: Mapping[str, Adjacent]) -> None:
        self._pattern = query.pattern
        self._classes = dict(query.classes)
        self._steps = {name: (adjacent[step.text], step.anchor) for name, step in query.steps}
        self._selection = query.selection
        self._rows = query.rows
        self._wait = query.wait
        self._start = whole(query.pattern)
        self._guards = {pattern: whole(pattern) for pattern in negations(query.pattern)}

    def trends(self, events: Row[Event]) -> Iterator[Trend]:
        """All trends, each once.

        Args:
            events: All events of the window, by time.
        """
        spans = {
            pattern: {
                (trend[0][0].moment, trend[-1][0].moment) for trend in self._words(events, left, {}, {}, Selection.ANY)
            }
            for pattern, left in self._guards.items()
        }
        yield from self._words(events, self._start, self._steps, spans, self._selection)

    def _words(
        self,
        events: Row[Event],
        start: Remaining,
        steps: Mapping[str, tuple[Adjacent, str | None]],
        spans: Mapping[Pattern, set[tuple[Any, Any]]],
        selection: Selection,
    ) -> Iterator[Trend]:
        labels = [[name for name, event in self._classes.items() if event in e.classes] for e in events]

        def happens(forbidden: Forbidden, after: Any, before: Any) -> bool:
            """Whether a forbidden trend lies strictly between two moments; None is beyond all."""
            return any(
                (after is None or after < first) and (before is None or last < before)
                for pattern in forbidden
                for first, last in spans[pattern]
            )

        stack: list[tuple[tuple[tuple[int, str], ...], Remaining]] = [((), start)]
        while stack:
            word, left = stack.pop()
            last = events[word[-1][0]] if word else None
            time = None if last is None else last.moment
            until = None if self._wait is None or last is None or last.time is None else (last.time + self._wait,)
            if word and any(not happens(forbidden, time, until) for forbidden in left.ends):
                yield tuple((events[index], name) for index, name in word)
            after = left.after()
            ways: list[tuple[int, str, Remaining]] = []
            for index in range(word[-1][0] + 1 if word else 0, len(events) if after else 0):
                event = events[index]
                if event.moment == time:
                    continue
                for name in labels[index]:
                    if name in steps:
                        holds, anchor = steps[name]
                        earlier = [events[p].values for p, label in word if anchor in (None, label)]
                        if not holds(event.values, earlier[-1] if earlier else None):
                            continue
                    rests = [r for forbidden, r in after.get(name, ()) if not happens(forbidden, time, event.moment)]
                    if rests:
                        ways.append((index, name, left.among(rests)))
            for index, name, rest in ways:
                # Nothing is left out before the first event: what lies between is between two events of a trend.
                between = range(word[-1][0] + 1 if word else index, index)
                left_out = [p for p in between if time != events[p].moment != events[index].moment]
                match selection:
                    case Selection.NEXT if any(p == way for p in left_out for way, _, _ in ways):
                        continue
                    case Selection.CONTIGUOUS if any(self._rows in events[p].classes for p in left_out):
                        continue
                stack.append(((*word, (index, name)), rest))


def windows_of(events: Row[Event], window: Window | None) -> dict[int, tuple[int, int]]:
    """Indices of the windows that hold events, each with the first of ``events`` in it and the one past its last.

    ``events`` are sorted by time.
    """
    if window is None:
        return {0: (0, len(events))} if events else {}
    numbers: dict[int, tuple[int, int]] = {}
    for event in events:
        assert event.time is not None
        # k·slide <= time, and time < k·slide + within.
        for k in range((event.time - window.within) // window.slide + 1, event.time // window.slide + 1):
            inside = [
                index
                for index, later_event in enumerate(events)
                if later_event.time is not None
                and k * window.slide <= later_event.time < k * window.slide + window.within
            ]
            numbers.setdefault(k, (inside[0], inside[-1] + 1))
    return numbers


def enumerate_results(query: Query, events: Iterable[Event], adjacent: Mapping[str, Adjacent] | None = None) -> Results:
    """The results of ``query``: one entry for each group and window that has a trend.

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
    counts: dict[tuple[Key, int], int] = {}
    held: dict[tuple[Key, int], dict[tuple[int, str], int]] = {}
    marks = tuple(query.marks)
    ended: dict[tuple[Key, int], Counter[Ends]] = {}
    by_id: dict[int, Event] = {}
    for (_, group), own_events in split.items():
        by_id.update((id(event), event) for event in own_events)
        own_events.sort(key=lambda event: event.moment)
        for window, count, pairs, ends in _by_window(query, matcher, own_events, marks):
            if count:
                counts[group, window] = counts.get((group, window), 0) + count
                times = held.setdefault((group, window), {})
                for pair, number in pairs.items():
                    times[pair] = times.get(pair, 0) + number
                ended.setdefault((group, window), Counter()).update(ends)
    return {
        key: [
            _of_ends(aggregate, [(dict(zip(marks, ends, strict=True)), n) for ends, n in ended[key].items()])
            if aggregate.ends
            else _aggregate(aggregate, count, [(by_id[event], name, n) for (event, name), n in held[key].items()])
            for aggregate in query.aggregates
        ]
        for key, count in counts.items()
    }


def _by_window(
    query: Query, matcher: Matcher, events: list[Event], marks: tuple[Mark, ...]
) -> Iterator[tuple[int, int, dict[tuple[int, str], int], Counter[Ends]]]:
    """Per window, its index and what `_counted` says of its trends; ``events`` are sorted by time."""
    if query.span is None:
        by_window: dict[tuple[int, int], tuple[int, dict[tuple[int, str], int], Counter[Ends]]] = {}
        for window, inside in windows_of(events, query.window).items():
            if inside not in by_window:
                by_window[inside] = _counted(matcher.trends(events[slice(*inside)]), marks)
            yield window, *by_window[inside]
        return
    ending: dict[int, list[Trend]] = {}
    for trend in matcher.trends(events):
        first, last = trend[0][0].time, trend[-1][0].time
        assert first is not None
        assert last is not None
        if last - first < query.span:
            for window in windows_of([trend[-1][0]], query.window):
                ending.setdefault(window, []).append(trend)
    for window, trends in ending.items():
        yield window, *_counted(trends, marks)


def _counted(trends: Iterable[Trend], marks: Iterable[Mark]) -> tuple[int, dict[tuple[int, str], int], Counter[Ends]]:
    """The number of trends, of those that hold an event as a variable, and of those that have the same ends."""
    count = 0
    held: dict[tuple[int, str], int] = {}
    ended: Counter[Ends] = Counter()
    for trend in trends:
        count += 1
        for event, name in trend:
            held[id(event), name] = held.get((id(event), name), 0) + 1
        ended[tuple(_Identity(_end(trend, mark)) for mark in marks)] += 1
    return count, held, ended


class _Identity:
    """An event as itself: two of equal values are two."""

    def __init__(self, event: Event | None) -> None:
        self.event = event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.event is other.event

    def __hash__(self) -> int:
        return id(self.event)


Ends: TypeAlias = tuple[_Identity, ...]
"""Per end of a trend that is asked for, the event there."""


def _end(trend: Trend, mark: Mark) -> Event | None:
    """The first or the last event of a trend that is labelled with a variable, or whatever it is labelled with."""
    events = [event for event, name in trend if mark.variable in (None, name)]
    if not events:
        return None
    return events[0] if mark.side is Side.FIRST else events[-1]


def _of_ends(aggregate: Aggregate, trends: list[tuple[Mapping[Mark, _Identity], int]]) -> Value:
    """Value of an aggregate of the ends of trends.

    Args:
        aggregate: Which one.
        trends: The events at the ends of trends, with the number of trends that have these.
    """
    differences: list[tuple[Value, int]] = []
    for events, times in trends:
        ends = [(events[end.mark].event, end.attribute.text) for end in aggregate.ends]
        values = [None if event is None else event.values[text] for event, text in ends]
        if None not in values:
            differences.append((values[0] if len(values) == 1 else minus(*values), times))
    value = _over(aggregate.function, differences)
    is_double = any(end.attribute.type in ("float", "double") for end in aggregate.ends)
    return as_float(value) if is_double and isinstance(value, Fraction) else value


def minus(later: Value, earlier: Value) -> Value:
    """The difference of two attributes: of dates in days, of timestamps in microseconds."""
    if isinstance(later, datetime):
        return (later - earlier) // timedelta(microseconds=1)
    if isinstance(later, date):
        return (later - earlier).days
    numbers = [value if _is_special(value) else Fraction(value) for value in (later, earlier)]
    return float(numbers[0]) - float(numbers[1]) if any(map(_is_special, numbers)) else numbers[0] - numbers[1]


def _is_special(value: Value) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _aggregate(aggregate: Aggregate, count: int, held: list[tuple[Event, str, int]]) -> Value:
    """Value of one aggregate.

    Args:
        aggregate: Which one.
        count: The number of trends.
        held: Events and the variables they stand for, with the number of trends that hold them so.
    """
    if aggregate.variable is None:
        return as_count(aggregate.function, count)
    of_variable = [(event, times) for event, name, times in held if name == aggregate.variable]
    if aggregate.attribute is None:
        return as_count(aggregate.function, sum(times for _, times in of_variable))
    text = aggregate.attribute.text
    return _over(
        aggregate.function,
        [(event.values[text], times) for event, times in of_variable if event.values[text] is not None],
    )


def _over(function: Function, values: list[tuple[Value, int]]) -> Value:
    """A function of values, none of which is NULL, each so many times."""
    match function:
        case Function.COUNT | Function.APPROX_COUNT | Function.LOG10_COUNT:
            return as_count(function, sum(times for _, times in values))
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
    special = [value for value, _ in values if _is_special(value)]
    if special:
        return math.fsum(special) if len(set(special)) == 1 else math.nan
    return as_float(sum((Fraction(value) * times for value, times in values), Fraction()) / divisor)


def as_count(function: Function, count: int) -> Value:
    """A count as COUNT, APPROX_COUNT or LOG10_COUNT gives it; Spark's logarithm of zero is NULL."""
    match function:
        case Function.APPROX_COUNT:
            return as_float(Fraction(count))
        case Function.LOG10_COUNT:
            return math.log10(count) if count else None
        case _:
            return count


def as_float(number: Fraction) -> float:
    """The nearest double; an infinity where there is none."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def sort_key(value: int | float | Decimal | Any) -> tuple[bool, Any]:
    """Orders values as Spark does: NaN is greatest."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)
