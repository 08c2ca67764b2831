"""The template: one automaton for all queries of a pool, its transitions labelled with queries.

A state is an event class, maybe with a condition on the event before. A class that one pattern uses
several times has one state per use, in order of discovery from the start of the pattern. What must not
happen at a step is a guard; guards are numbered for the whole pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from planner.automaton import Automaton
from planner.guards import Condition, of
from planner.pattern import Not, negations
from planner.query import EventClass, Query, Step
from planner.unambiguous import automaton


@dataclass(frozen=True, slots=True)
class State:
    """The ``use``-th use (from 1) of an event class, with its condition on the event before, within a pattern."""

    event: EventClass
    use: int
    step: Step | None = None

    def __str__(self) -> str:
        shown = str(self.event) if self.step is None else f"{self.event}[{self.step.text}]"
        return shown if self.use == 1 else f"{shown}#{self.use}"


@dataclass(frozen=True, slots=True)
class GuardState:
    """A state of what must not happen.

    Attributes:
        event: The class of the events matched there.
        start: Whether it may start there.
        end: Whether it may end there.
        sources: The states it may come right after, ascending.
    """

    event: EventClass
    start: bool
    end: bool
    sources: tuple[int, ...]


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
        automata: Per query, its own unambiguous automaton; its conditions are over ``guards``.
        places: Per query and state of its automaton, the state of the template.
        states: In order of first use.
        starts: Per state, the queries that may start there.
        ends: Per state, the queries that may end there.
        transitions: In order of source and target.
        guards: What must not happen at some step, each by its states.
        guard_names: How the first query that has a guard writes it.
    """

    queries: tuple[Query, ...]
    automata: tuple[Automaton, ...]
    places: tuple[tuple[int, ...], ...]
    states: tuple[State, ...]
    starts: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    transitions: tuple[Transition, ...]
    guards: tuple[tuple[GuardState, ...], ...] = ()
    guard_names: tuple[str, ...] = ()


def template(queries: Sequence[Query]) -> Template:
    """The template of a pool.

    Raises:
        AutomatonTooLargeError: The automaton of some pattern has too many states.
        TooManyGuardsError: A step of some pattern depends on too many negations.
    """
    guards: dict[tuple[GuardState, ...], tuple[int, str]] = {}
    automata = tuple(_with_pool_guards(automaton(query.pattern), query, guards) for query in queries)
    index: dict[State, int] = {}
    places: list[tuple[int, ...]] = []
    for query, machine in zip(queries, automata, strict=True):
        classes, steps = dict(query.classes), dict(query.steps)
        uses: dict[tuple[EventClass, Step | None], int] = {}
        row: list[int] = []
        for label in machine.labels:
            what = classes[label], steps.get(label)
            uses[what] = uses.get(what, 0) + 1
            row.append(index.setdefault(State(what[0], uses[what], what[1]), len(index)))
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
        guards=tuple(guards),
        guard_names=tuple(name for _, name in guards.values()),
    )


def _with_pool_guards(
    machine: Automaton, query: Query, guards: dict[tuple[GuardState, ...], tuple[int, str]]
) -> Automaton:
    """``machine`` with the numbers that its guards have in ``guards``, to which new ones are added."""
    classes = dict(query.classes)
    numbers = [
        guards.setdefault(
            tuple(
                GuardState(classes[label], state in forbidden.starts, state in forbidden.ends, before)
                for state, (label, before) in enumerate(zip(forbidden.labels, forbidden.predecessors(), strict=True))
            ),
            (len(guards), str(Not(negated))),
        )[0]
        for forbidden, negated in zip(machine.guards, negations(query.pattern), strict=True)
    ]

    def renumbered(condition: Condition) -> Condition:
        if not condition.guards:
            return condition
        return of(
            {numbers[guard] for guard in condition.guards},
            lambda intact: condition.holds(frozenset(g for g in condition.guards if numbers[g] in intact)),
        )

    def row(states: Mapping[int, Condition]) -> dict[int, Condition]:
        return {state: renumbered(condition) for state, condition in states.items()}

    return replace(
        machine, starts=row(machine.starts), ends=row(machine.ends), follows=tuple(map(row, machine.follows))
    )
