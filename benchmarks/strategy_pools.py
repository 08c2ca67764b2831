"""Pools and events with which strategies are compared, of the shape of those in their papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.kernel import MINUTE, Stream, query
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window

ITEMS = 50
"""Types of the sequences, as SHARON has for its shop."""

USERS = 20
"""Their keys."""

SECTION = 4
"""Types of what sequences have in common."""

SECTIONS = 5
"""How many such sections there are."""

LONG = [f"K{index}" for index in range(8)]
"""Types of a long Kleene part."""

APPROXIMATE = Aggregate(Function.APPROX_COUNT)
"""Of trends round repeated events, of which there are more than a whole number holds."""


@dataclass(frozen=True, slots=True)
class Case:
    """What strategies are compared on.

    Attributes:
        what: In words.
        queries: The pool.
        stream: Events.
    """

    what: str
    queries: Sequence[Query]
    stream: Stream


def sequences(queries: int, length: int, events: int) -> Case:
    """Sequences of distinct types: a section that one query in five has too, between types of their own."""
    random = Random(queries)
    sections = [[f"I{SECTION * number + index}" for index in range(SECTION)] for number in range(SECTIONS)]
    others = [f"I{number}" for number in range(SECTION * SECTIONS, ITEMS)]
    pool = []
    for number in range(queries):
        own = random.sample(others, length - SECTION)
        before = random.randint(0, len(own))
        pool.append(query(f"q{number}", " ".join([*own[:before], *random.choice(sections), *own[before:]])))
    mix = dict.fromkeys((f"I{number}" for number in range(ITEMS)), 1.0)
    return Case(f"{queries} sequences of {length}", pool, Stream(events, USERS, MINUTE // 10, mix))


def repeated(
    what: str,
    part: Sequence[str],
    queries: int,
    events: int,
    burst: float,
    in_odd_keys: float | None = None,
) -> Case:
    """Queries with ends of their own that repeat the same part, which three quarters of the bursts of events are of.

    Args:
        what: In words.
        part: Its types.
        queries: How many.
        events: How many.
        burst: Mean number of events of a type in a row.
        in_odd_keys: Likewise in keys of odd numbers; as in the others if None.
    """
    inner = f"({' '.join(part)})+" if len(part) > 1 else f"{part[0]}+"
    pool = [query(f"q{i}", f"X{i} {inner} Y{i}", APPROXIMATE) for i in range(queries)]
    around = [f"{letter}{number}" for letter in "XY" for number in range(queries)]
    mix = dict.fromkeys(part, 0.75 / len(part)) | dict.fromkeys(around, 0.25 / len(around))
    return Case(
        what, pool, Stream(events, max(2, events // 5_000), MINUTE // 60, mix, burst, burst_in_odd_keys=in_odd_keys)
    )


def one_sequence(types: int, events: int, in_window: int) -> Case:
    """A sequence of so many types, in windows of so many events of one key."""
    names = [f"T{number}" for number in range(types)]
    window = Window(in_window * MINUTE, in_window * MINUTE)
    pool = [query("q", " ".join(names), window=window)]
    return Case(
        f"{types} types, {in_window:,} events a window", pool, Stream(events, 1, MINUTE, dict.fromkeys(names, 1.0))
    )


def growing(sizes: Sequence[int], types: int, events: int) -> Iterator[tuple[int, Case]]:
    """With the number of events in a window, each with it."""
    for size in sizes:
        yield size, one_sequence(types, max(events, size), size)
