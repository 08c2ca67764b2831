"""Automata whose states know whether an event is the first or the last of its variable in a trend.

A trend's first event of a variable is told by what came before: a state is taken apart by which variables have
occurred. Its last one is told by what comes later, so a state is taken apart by which variables will still occur, and
only those ways go on from a part that keep to that. What comes out is no longer deterministic, but each trend has one
way through it, since what comes later is known at each event of a trend that is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.guards import Condition
from sparkext.planner.patterns.query import Mark, Side

Occurring: TypeAlias = frozenset[str | None]
"""Variables that have occurred, or will; None if any event has, or will."""


@dataclass(frozen=True, slots=True)
class MarkedAutomaton:
    """An automaton whose states know which ends of a trend an event there is.

    Attributes:
        automaton: The automaton.
        origins: Per state, the one that it is a part of.
        marks: Per state, which ends of a trend an event there is, of those that were asked for.
        seen: Per state, the variables that have occurred, of those that were asked for.
        passed: Per state, the ends that are events before, of those that were asked for and whose variables are.
        onwards: Per state, one part of each state that may come next, whatever comes later.
    """

    automaton: Automaton
    origins: tuple[int, ...]
    marks: tuple[frozenset[Mark], ...]
    seen: tuple[Occurring, ...]
    passed: tuple[frozenset[Mark], ...]
    onwards: tuple[Mapping[int, Condition], ...]


_Part = tuple[int, Occurring, Occurring, frozenset[Mark]]
"""A state of the automaton that is taken apart, what has occurred, what will, and which ends an event there is."""


def mark_ends(automaton: Automaton, marks: Set[Mark], seen: Set[str | None]) -> MarkedAutomaton:
    """An automaton whose states know the ends of a trend.

    Args:
        automaton: An unambiguous automaton.
        marks: Which ends.
        seen: Variables of which each state is to know whether they have occurred.

    Raises:
        AutomatonTooLargeError: There would be more than `MAX_STATES` states.
    """
    return _Parts(automaton, marks, seen).marked()


class _Parts:
    """The parts of an automaton's states, numbered as they are found."""

    def __init__(self, automaton: Automaton, marks: Set[Mark], seen: Set[str | None]) -> None:
        self._automaton = automaton
        self._marks = marks
        self._seen = frozenset(seen)
        self._forward = frozenset(mark.variable for mark in marks if mark.side is Side.FIRST) | self._seen
        self._backward = frozenset(mark.variable for mark in marks if mark.side is Side.LAST)
        self._before = automaton.predecessors()
        self._later = self._reached(automaton.follows, self._before)
        self._futures = self._all_futures()
        self._index: dict[_Part, int] = {}
        self._order: list[_Part] = []

    def marked(self) -> MarkedAutomaton:
        """All parts, in order of discovery from the starts."""
        automaton = self._automaton
        starts: dict[int, Condition] = {}
        for state, condition in automaton.starts.items():
            for future in self._sorted(state):
                starts[self._number(self._entered(state, frozenset(), future))] = condition
        follows: list[dict[int, Condition]] = []
        while len(follows) < len(self._order):
            follows.append(dict(self._steps(self._order[len(follows)])))
        ends = {
            number: automaton.ends[state]
            for number, (state, _, future, _) in enumerate(self._order)
            if not future and state in automaton.ends
        }
        # Measures may be of variables that no trend has an event of; each has a state by itself.
        labels = {automaton.labels[state] for state, _, _, _ in self._order}
        never = {label: state for state, label in enumerate(automaton.labels) if label not in labels}
        for label, state in never.items():
            marks = frozenset(mark for mark in self._marks if mark.variable in (None, label))
            self._order.append((state, frozenset(), frozenset(), marks))
        follows += ({} for _ in never)
        part_of: dict[int, int] = {}
        for number, (state, _, _, _) in enumerate(self._order):
            part_of.setdefault(state, number)
        return MarkedAutomaton(
            automaton=Automaton(
                labels=tuple(automaton.labels[state] for state, _, _, _ in self._order),
                starts=starts,
                ends=ends,
                follows=tuple(follows),
                guards=automaton.guards,
            ),
            origins=tuple(state for state, _, _, _ in self._order),
            marks=tuple(marks for _, _, _, marks in self._order),
            seen=tuple(past & self._seen for _, past, _, _ in self._order),
            passed=tuple(map(self._passed, self._order)),
            onwards=tuple(
                {part_of[target]: way for target, way in automaton.follows[state].items() if target in part_of}
                for state, _, _, _ in self._order
            ),
        )

    def _entered(self, state: int, past: Occurring, future: Occurring) -> _Part:
        """The part of a state that is come to after ``past``."""
        names = self._here(state)
        marks = {Mark(Side.FIRST, name) for name in names - past} | {Mark(Side.LAST, name) for name in names - future}
        occurred = (past | names & self._forward) & (self._seen | self._later[state])
        return state, occurred, future, frozenset(marks & self._marks)

    def _passed(self, part: _Part) -> frozenset[Mark]:
        """Which ends are events before."""
        state, past, future, marks = part
        before = {Side.FIRST: past, Side.LAST: past - future - self._here(state)}
        return frozenset(
            mark for mark in self._marks - marks if mark.variable in self._seen and mark.variable in before[mark.side]
        )

    def _steps(self, part: _Part) -> Iterator[tuple[int, Condition]]:
        """The parts that may come after one, each with the condition of the step."""
        state, past, future, _ = part
        for target, condition in self._automaton.follows[state].items():
            for after in self._sorted(target):
                if self._seen_from(state, target, after) == future:
                    yield self._number(self._entered(target, past, after)), condition

    def _number(self, part: _Part) -> int:
        if part not in self._index:
            if len(self._order) >= MAX_STATES:
                raise AutomatonTooLargeError
            self._index[part] = len(self._order)
            self._order.append(part)
        return self._index[part]

    def _here(self, state: int) -> Occurring:
        """What an event at a state is an event of."""
        return frozenset((None, self._automaton.labels[state]))

    def _sorted(self, state: int) -> list[Occurring]:
        """What may occur after a state, in an order that is the same in every process, the most first.

        So the first part of a state is the one that is most like the state of a query that does not ask for ends.
        """
        return sorted(self._futures[state], key=lambda future: (-len(future), sorted(name or "" for name in future)))

    def _reached(self, near: Sequence[Iterable[int]], back: Sequence[Iterable[int]]) -> list[Occurring]:
        """Per state, what occurs at the states that ``near`` leads to, at once or later; ``back`` is the other way."""
        occurring: list[Occurring] = [frozenset()] * len(self._automaton.labels)
        todo = set(range(len(occurring)))
        while todo:
            state = todo.pop()
            more = frozenset[str | None]().union(
                *(occurring[neighbour] | self._here(neighbour) for neighbour in near[state])
            )
            if more != occurring[state]:
                occurring[state] = more
                todo.update(back[state])
        return occurring

    def _all_futures(self) -> list[set[Occurring]]:
        """Per state, all that may occur after it in a trend, of what may have occurred before and is asked for.

        Before the first event of a variable it does not matter whether there will be one.
        """
        automaton = self._automaton
        past = self._reached(self._before, automaton.follows)
        self._past = [(past[state] | self._here(state)) & self._backward for state in range(len(past))]
        futures: list[set[Occurring]] = [{frozenset()} if s in automaton.ends else set() for s in range(len(past))]
        todo = set(range(len(futures)))
        while todo:
            target = todo.pop()
            for state in self._before[target]:
                more = {self._seen_from(state, target, future) for future in futures[target]}
                if not more <= futures[state]:
                    futures[state] |= more
                    todo.add(state)
            if sum(map(len, futures)) > MAX_STATES:
                raise AutomatonTooLargeError  # each of them is a part of its state
        return futures

    def _seen_from(self, state: int, target: int, future: Occurring) -> Occurring:
        """What occurs after a state if ``target`` comes next, and ``future`` after that."""
        return (future | self._here(target)) & self._past[state]
