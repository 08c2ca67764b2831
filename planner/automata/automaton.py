"""Automata over variables, of which a template is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sparkext.planner.automata.guards import Condition

MAX_STATES = 1000
"""Most states that the automaton of one pattern may have, in any pass."""

MAX_TRANSITIONS = 100_000
"""Most transitions that it may have in the end. To plan a query takes 20 to 40 µs for each."""


class AutomatonTooLargeError(Exception):
    """The automaton of a pattern would be larger than it may be. As text, the limit."""

    def __init__(self, limit: str = f"{MAX_STATES} states") -> None:
        super().__init__(limit)


@dataclass(frozen=True, slots=True)
class Automaton:
    """A finite automaton in which every state is entered by one variable.

    Conditions say which guards must be intact: between the events before and after a step, from the
    start of the window to the first event, from the last event to the end of the window.

    Attributes:
        labels: Per state, the variable of the event matched there.
        starts: States at which a trend may start, each with its condition.
        ends: States at which a trend may end, each with its condition.
        follows: Per state, the states that may come next, each with its condition.
        guards: Per guard, the automaton of what must not happen.
    """

    labels: tuple[str, ...]
    starts: Mapping[int, Condition]
    ends: Mapping[int, Condition]
    follows: tuple[Mapping[int, Condition], ...]
    guards: tuple[Automaton, ...] = ()

    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """Per state, the states it may come right after, ascending."""
        before: list[list[int]] = [[] for _ in self.labels]
        for state, after in enumerate(self.follows):
            for target in after:
                before[target].append(state)
        return tuple(tuple(sorted(states)) for states in before)


def closure(origins: Iterable[int], onwards: Callable[[int], Iterable[int]]) -> tuple[int, ...]:
    """The states that can be reached from some, which are among them; ascending."""
    reached = set(origins)
    todo = list(reached)
    while todo:
        fresh = set(onwards(todo.pop())) - reached
        reached |= fresh
        todo += fresh
    return tuple(sorted(reached))
