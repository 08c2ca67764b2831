"""What people are told of the events of a source, once a sample or a pass has seen them."""

from __future__ import annotations

import logging
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from sparkext.binding.bound_query import BoundQuery, Key
from sparkext.execution import job_names
from sparkext.execution.sample import TaskCounters, types_seen
from sparkext.execution.waiting import say_missing, say_no_types, say_once
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.planner.costs.statistics import ObservedStatistics
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.missing_events import found_nothing, missing_events
from sparkext.planner.sharing.template import Template
from sparkext.workload.soon import STOPPED, soon

log = logging.getLogger(__name__)

MANY_TIED = 0.01
"""Share of events with key and time in common with another from which on it is said."""

_LITERALS = r"'[^']*'|\"[^\"]*\"|-?\d+"
_NOT_ONLY_AND = re.compile(r"\b(?:OR|NOT|CASE|IF)\b", re.IGNORECASE)
LOOKS_UP = "sparkext-looks-up-types"
"""Name of the threads that look for the types that a source has."""


def remarks(queries: Sequence[BoundQuery], seen: ObservedStatistics) -> Iterator[str]:
    """What is to be known of the keys and times of a source, a sentence each.

    Args:
        queries: Of one pool.
        seen: What has been seen of their events.
    """
    first = queries[0]
    named = frozenset(chain.from_iterable(query.partition_by for query in queries))
    keys = [*first.sorted_groups, *first.sorted_partitions]
    for index in seen.null_keys:
        key = keys[index].canonical
        if key in named:
            yield (
                f"{key} is NULL at some events, and NULL agrees with NULL: all events without {key} are of one {key}. "
                f"SELECT … WHERE {key} IS NOT NULL before MATCH_TREND leaves them out"
            )
    if seen.tied > MANY_TIED and not first.further_order:
        time = first.time_canonical
        yield (
            f"{100 * seen.tied:.0f} % of the events have their keys and {time} in common with another; such events are "
            f"never in one trend. ORDER BY a finer time, or, for completions, ORDER BY {time}, seq with a number that "
            "tells them apart"
        )


def traps(template: Template, query: int, bound: BoundQuery) -> Iterator[str]:
    """Keys on which all events of a trend agree though variables are told apart by them, a sentence each.

    Args:
        template: Of the pass.
        query: Number of the query in it.
        bound: The query.
    """
    steps = {(one.source, one.target) for one in template.transitions if query in one.queries}
    pairs = sorted({(template.states[a].event, template.states[b].event) for a, b in steps}, key=str)
    for key in (*bound.groups, *bound.partitions):
        apart = next((pair for pair in pairs if _are_apart(bound, key, *pair)), None)
        if apart is not None:
            clause = "PARTITION BY" if key.canonical in bound.partition_by else "GROUP BY"
            yield (
                f"all events of a trend agree on {key.canonical}, which tells {apart[0]} from {apart[1]}: "
                f"no trend has both. Leave {key.canonical} out of {clause} for trends that have"
            )


def _are_apart(bound: BoundQuery, key: Key, one: EventClass, other: EventClass) -> bool:
    """Whether no two events that agree on a key are of these classes."""
    if one.type_by is not None and one.type != other.type and _is_made_of(bound, key, one.type_by):
        return True
    some, others = (_values(key.canonical, event.condition) for event in (one, other))
    return some is not None and others is not None and not some & others


def _is_made_of(bound: BoundQuery, key: Key, text: str) -> bool:
    """Whether an expression is a key, or has no other columns than that."""
    own, words = key.canonical.lower(), {word.strip("`") for word in text.lower().split(" ")}
    columns = {column.lower() for column in bound.source.columns} & words
    return text.lower() == own or columns == {own.strip("`")}


def _values(key: str, condition: str | None) -> set[str] | None:
    """The values that an event of a class can have of a key; None if its condition does not list them."""
    if condition is None or _NOT_ONLY_AND.search(condition):
        return None
    # Outside of functions, an expression begins a condition or a parenthesis, or follows on AND.
    column = rf"(?:^|\bAND |(?:^|AND )\(+ ?){re.escape(key)}"
    listed = re.compile(rf"{column} (?:==? ({_LITERALS})|IN \( ((?:{_LITERALS})(?: , (?:{_LITERALS}))*) \))", re.I)
    lists = [{value.strip() for value in re.findall(_LITERALS, one or many)} for one, many in listed.findall(condition)]
    return set.intersection(*lists) if lists else None


def say_traps(name: str, template: Template, queries: Sequence[BoundQuery]) -> None:
    """Say, once for each query, which of its keys leave it no trends of different events."""
    for number, bound in enumerate(queries):
        for text in traps(template, number, bound):
            say_once(f"{name}: {bound.query.name}: {text}", (bound.query.name, text))


def say_seen(name: str, queries: Sequence[BoundQuery], seen: ObservedStatistics) -> None:
    """Say, once for each key, what is to be known of the keys and times of a source."""
    columns = tuple(queries[0].source.columns)
    for text in remarks(queries, seen):
        say_once(f"{name}: {text}", (columns, re.sub(r"^\d+", "", text)))


def say_passed(
    name: str, source: AnalysedFrame, queries: Sequence[BoundQuery], template: Template, seen: ObservedStatistics
) -> None:
    """Say, once, what a pass has found out: of keys and times, and of types of which there is no event.

    Spark waits for the return of this, so what asks it for rows is done by another thread.

    Args:
        name: Of the pass.
        source: That it has read.
        queries: In the order of the template.
        template: Of the pass.
        seen: What it has counted.
    """
    say_missing(name, missing_events(template, seen.events))
    if seen.keys:
        say_seen(name, queries, seen)
    nothing = [
        bound for number, bound in enumerate(queries) if found_nothing(template, number, seen.events) and _types(bound)
    ]
    if nothing:
        looked = threading.Thread(target=_say_no_types, args=(name, source, nothing), name=LOOKS_UP, daemon=True)
        looked.start()


def expect_report(counted: TaskCounters, results: AnalysedFrame) -> None:
    """Ask, if no task of a pass has reported soon, whether Spark runs any. It runs none if it knows of no events.

    Args:
        counted: What the tasks report to.
        results: Of the pass.
    """
    soon(partial(_look_for_report, weakref.ref(counted), weakref.ref(results)))


def _look_for_report(counters: weakref.ref[TaskCounters], frame: weakref.ref[AnalysedFrame]) -> None:
    counted, results = counters(), frame()
    if counted is not None and results is not None and not counted.has_heard and results.has_no_source():
        counted.hear_nothing()


def _types(bound: BoundQuery) -> list[str]:
    """Types of the events of a query, if it has TYPE BY."""
    return list(dict.fromkeys(event.type for _, event in bound.query.classes if event.type is not None))


def _say_no_types(name: str, source: AnalysedFrame, queries: Sequence[BoundQuery]) -> None:
    for bound in queries:
        [type_by] = {event.type_by for _, event in bound.query.classes}
        assert type_by is not None
        is_certain = all(event.condition is None for _, event in bound.query.classes)
        try:
            with job_names.described(source.sparkSession, f"{name}: types of its source"):
                seen = types_seen(source, bound, type_by)
        except STOPPED as error:
            log.debug("no types are looked for: %s", error)
            return
        if seen is None:
            say_no_types(name, _types(bound) if is_certain else [], [])
        else:
            known = seen.types if is_certain or seen.are_all else None
            say_no_types(name, [] if not known else [one for one in _types(bound) if one not in known], known or [])
