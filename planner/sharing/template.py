"""The template: one automaton for all queries of a pool, its transitions labelled with queries.

A state is an event class, maybe with a condition on an earlier event. A class that one pattern uses
several times has one state per use, in order of discovery from the start of the pattern. What must not
happen at a step is a guard; guards are numbered for the whole pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sparkext.planner.automata.anchored import AnchoredAutomaton, needs, take_apart
from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.ends import MarkedAutomaton, mark_ends
from sparkext.planner.automata.guards import Condition, of
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.patterns.pattern import Not, negations
from sparkext.planner.patterns.query import EventClass, Query, Selection, Step


@dataclass(frozen=True, slots=True)
class State:
    """The ``use``-th use (from 1) of an event class, with its condition on an earlier event, within a pattern."""

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
        states_of: Per query and state of its automaton, the state of the template.
        states: In order of first use.
        starts: Per state, the queries that may start there.
        ends: Per state, the queries that may end there.
        transitions: In order of source and target.
        opens: Per query and state of its automaton, the variable of whose latest event later conditions ask, if there
            has been one; see `sparkext.planner.automata.anchored`.
        marked: Per query, how its automaton is taken apart by the ends of trends that are asked for; None if none are.
        guards: What must not happen at some step, each by its states.
        guard_names: How the first query that has a guard writes it.
    """

    queries: tuple[Query, ...]
    automata: tuple[Automaton, ...]
    states_of: tuple[tuple[int, ...], ...]
    states: tuple[State, ...]
    starts: tuple[tuple[int, ...], ...]
    ends: tuple[tuple[int, ...], ...]
    transitions: tuple[Transition, ...]
    opens: tuple[tuple[str | None, ...], ...]
    marked: tuple[MarkedAutomaton | None, ...]
    guards: tuple[tuple[GuardState, ...], ...] = ()
    guard_names: tuple[str, ...] = ()

    def is_anchored(self, query: int) -> bool:
        """Whether totals of a query are kept per earlier event."""
        return any(variable is not None for variable in self.opens[query])

    def is_open(self, query: int, state: int) -> bool:
        """Whether totals at a state of a query are kept per earlier event, and not by events at the state itself."""
        return self.opens[query][state] not in (None, self.automata[query].labels[state])

    def onwards(self, query: int, state: int) -> Mapping[int, Condition]:
        """What a trend of a query that has come to a state may go on with, whatever comes later, each by a state."""
        marked = self.marked[query]
        return self.automata[query].follows[state] if marked is None else marked.onwards[state]


def template_of(queries: Sequence[Query]) -> Template:
    """The template of a pool.

    Raises:
        AutomatonTooLargeError: The automaton of some pattern has too many states.
        TooManyGuardsError: A step of some pattern depends on too many negations.
        TooWideError: The conditions of some query ask for the latest events of too many variables at once.
    """
    guards: dict[tuple[GuardState, ...], tuple[int, str]] = {}
    anchored = (
        _anchored(
            _with_pool_guards(automaton_of(query.pattern, query.selection is Selection.CONTIGUOUS), query, guards),
            query,
        )
        for query in queries
    )
    both = [_with_ends(automaton, query) for automaton, query in zip(anchored, queries, strict=True)]
    taken_apart = tuple(automaton for automaton, _ in both)
    automata = tuple(anchored.automaton for anchored in taken_apart)
    index: dict[State, int] = {}
    template_states: list[tuple[int, ...]] = []
    for query, apart in zip(queries, taken_apart, strict=True):
        classes, steps = dict(query.classes), dict(query.steps)
        uses: dict[tuple[EventClass, Step | None], int] = {}
        row: list[int] = []
        for state, label in enumerate(apart.automaton.labels):
            key = classes[label], steps.get(label)
            if state in apart.missing and key[1] is not None and key[1].start is not None:
                key = key[1].start, None
            uses[key] = uses.get(key, 0) + 1
            row.append(index.setdefault(State(key[0], uses[key], key[1]), len(index)))
        template_states.append(tuple(row))

    starts: list[list[int]] = [[] for _ in index]
    ends: list[list[int]] = [[] for _ in index]
    links: dict[tuple[int, int], list[int]] = {}
    for number, (automaton, own_states) in enumerate(zip(automata, template_states, strict=True)):
        for state, template_state in enumerate(own_states):
            if state in automaton.starts:
                starts[template_state].append(number)
            if state in automaton.ends:
                ends[template_state].append(number)
            for after in automaton.follows[state]:
                links.setdefault((template_state, own_states[after]), []).append(number)
    return Template(
        queries=tuple(queries),
        automata=automata,
        states_of=tuple(template_states),
        states=tuple(index),
        starts=tuple(map(tuple, starts)),
        ends=tuple(map(tuple, ends)),
        transitions=tuple(Transition(*link, tuple(links[link])) for link in sorted(links)),
        guards=tuple(guards),
        guard_names=tuple(name for _, name in guards.values()),
        opens=tuple(apart.opens for apart in taken_apart),
        marked=tuple(marked for _, marked in both),
    )


def _anchored(automaton: Automaton, query: Query) -> AnchoredAutomaton:
    """The automaton of a query, taken apart by the anchors of its conditions."""
    anchors = _anchors(query)
    if not anchors:
        return AnchoredAutomaton(automaton, (None,) * len(automaton.labels), frozenset())
    starting = {name for name, step in query.steps if name in anchors and step.start is not None}
    return take_apart(automaton, anchors, starting)


def _anchors(query: Query) -> dict[str, str]:
    """Per variable whose condition names another, that other."""
    return {name: step.anchor for name, step in query.steps if step.anchor is not None}


def _with_ends(anchored: AnchoredAutomaton, query: Query) -> tuple[AnchoredAutomaton, MarkedAutomaton | None]:
    """The automaton of a query, taken apart further by the ends of trends that its aggregates ask for."""
    if not query.marks:
        return anchored, None
    seen = {end.mark.variable for ends in query.differences for end in ends}
    marked = mark_ends(anchored.automaton, query.marks, seen)
    # From a part of a state, not all that its conditions are about may still come.
    asked = needs(marked.automaton, _anchors(query))
    opens = tuple(
        variable if variable in wanted else None
        for variable, wanted in zip((anchored.opens[state] for state in marked.origins), asked, strict=True)
    )
    missing = frozenset(state for state, origin in enumerate(marked.origins) if origin in anchored.missing)
    return AnchoredAutomaton(marked.automaton, opens, missing), marked


def _with_pool_guards(
    automaton: Automaton, query: Query, guards: dict[tuple[GuardState, ...], tuple[int, str]]
) -> Automaton:
    """``automaton`` with the numbers that its guards have in ``guards``, to which new ones are added."""
    classes = dict(query.classes)
    numbers = [
        guards.setdefault(
            tuple(
                GuardState(classes[label], state in forbidden.starts, state in forbidden.ends, before)
                for state, (label, before) in enumerate(zip(forbidden.labels, forbidden.predecessors(), strict=True))
            ),
            (len(guards), str(Not(negated))),
        )[0]
        for forbidden, negated in zip(automaton.guards, negations(query.pattern), strict=True)
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
        automaton, starts=row(automaton.starts), ends=row(automaton.ends), follows=tuple(map(row, automaton.follows))
    )
