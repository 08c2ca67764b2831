"""The template: one automaton for all queries of a pool, its transitions labelled with queries.

A state is an event class. A class that one pattern uses several times has one state per use, in
order of discovery from the start of the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.automaton import Automaton, automaton
from planner.query import EventClass, Query


@dataclass(frozen=True, slots=True)
class State:
    """The ``use``-th use (from 1) of an event class within a pattern."""

    event: EventClass
    use: int

    def __str__(self) -> str:
        return str(self.event) if self.use == 1 else f"{self.event}#{self.use}"


@dataclass(frozen=True, slots=True)
class Transition:
    """From one state to the next, for the queries (by number in the pool) that have it."""

    source: int
    target: int
    queries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """The automata of all queries of a pool, laid over each other.

    Attributes:
        queries: The pool's queries; elsewhere they go by their number here.
        automata: Per query, its own unambiguous automaton.
        places: Per query and state of its automaton, the state of the template.
        states: In order of first use.
        starts: Per state, the queries that may start there.
        ends: Per state, the queries that may end there.
        transitions: In order of source and target.
    """

    queries: tuple[Query, ...]
    automata: tuple[Automaton, ...]
    places: tuple[tuple[int, ...], ...]
    states: tuple[State, ...]
    starts: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    transitions: tuple[Transition, ...]


def template(queries: Sequence[Query]) -> Template:
    """The template of a pool.

    Raises:
        AutomatonTooLargeError: The automaton of some pattern has too many states.
    """
    automata = tuple(automaton(query.pattern) for query in queries)
    index: dict[State, int] = {}
    places: list[tuple[int, ...]] = []
    for query, machine in zip(queries, automata, strict=True):
        classes = dict(query.classes)
        uses: dict[EventClass, int] = {}
        row: list[int] = []
        for label in machine.labels:
            event = classes[label]
            uses[event] = uses.get(event, 0) + 1
            row.append(index.setdefault(State(event, uses[event]), len(index)))
        places.append(tuple(row))

    starts: list[list[int]] = [[] for _ in index]
    ends: list[list[int]] = [[] for _ in index]
    links: dict[tuple[int, int], list[int]] = {}
    for number, (machine, mine) in enumerate(zip(automata, places, strict=True)):
        for state, place in enumerate(mine):
            if state in machine.starts:
                starts[place].append(number)
            if state in machine.ends:
                ends[place].append(number)
            for after in machine.follows[state]:
                links.setdefault((place, mine[after]), []).append(number)
    return Template(
        queries=tuple(queries),
        automata=automata,
        places=tuple(places),
        states=tuple(index),
        starts=tuple(map(tuple, starts)),
        ends=tuple(map(tuple, ends)),
        transitions=tuple(Transition(*link, tuple(links[link])) for link in sorted(links)),
    )
