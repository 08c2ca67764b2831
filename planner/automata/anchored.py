"""Automata whose states know of which variable there is a latest event that later conditions ask for.

A condition of C that names A asks for the latest event of A before. To answer it, totals are kept per event of A, the
*anchor*, from that event on until the last step that may ask for it. A state is taken apart by whether there has been
an anchor, so that either all trends at a state have one or none has.

    need(s): the variables that the conditions of later events name, of those between s and the next event of each.
    open(s): those of need(s) that have occurred when a trend is at s.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError, closure
from sparkext.planner.automata.guards import Condition

MAX_WIDTH = 1
"""Most variables that are open at a state."""


class TooWideError(Exception):
    """Conditions ask for the latest events of several variables at once.

    Attributes:
        variables: Of which, in order.
    """

    def __init__(self, variables: tuple[str, ...]) -> None:
        super().__init__(variables)
        self.variables = variables


@dataclass(frozen=True, slots=True)
class AnchoredAutomaton:
    """An automaton whose states know which earlier event the conditions to come ask for.

    Attributes:
        automaton: The automaton.
        opens: Per state, the variable that is open there; None when none is.
        missing: States whose condition names a variable of which there has been no event.
    """

    automaton: Automaton
    opens: tuple[str | None, ...]
    missing: frozenset[int]


_State = tuple[int, bool, frozenset[str]]
"""A state of the automaton that is taken apart, whether an anchor is missing, and what is open."""


def take_apart(automaton: Automaton, anchors: Mapping[str, str], starting: Set[str]) -> AnchoredAutomaton:
    """An automaton whose states know what is open.

    Args:
        automaton: An unambiguous automaton without guards.
        anchors: Per variable whose condition names another, that other.
        starting: Those of these variables whose condition can be true without an event of the other.

    Raises:
        TooWideError: More than `MAX_WIDTH` variables are open at a state.
        AutomatonTooLargeError: There would be more than `MAX_STATES` states.
    """
    need = needs(automaton, anchors)
    index: dict[_State, int] = {}
    order: list[_State] = []

    def entered(state: int, before: frozenset[str]) -> _State:
        label = automaton.labels[state]
        missing = label in anchors and anchors[label] not in before
        return state, missing, (before | {label}) & need[state]

    def number(entry: _State) -> int:
        if entry not in index:
            if len(order) >= MAX_STATES:
                raise AutomatonTooLargeError
            if len(entry[2]) > MAX_WIDTH:
                raise TooWideError(tuple(sorted(entry[2])))
            index[entry] = len(order)
            order.append(entry)
        return index[entry]

    starts = {number(entered(state, frozenset())): condition for state, condition in automaton.starts.items()}
    follows: list[dict[int, Condition]] = []
    while len(follows) < len(order):
        state, _, before = order[len(follows)]
        after = ((entered(target, before), condition) for target, condition in automaton.follows[state].items())
        follows.append(
            {
                number(entry): condition
                for entry, condition in after
                if not entry[1] or automaton.labels[entry[0]] in starting
            }
        )
    ends = {
        entry_number: automaton.ends[state]
        for entry_number, (state, _, _) in enumerate(order)
        if state in automaton.ends
    }
    # Measures may be of variables that no trend has an event of; each has a state by itself.
    occurring = {automaton.labels[state] for state, _, _ in order}
    never = {label: state for state, label in enumerate(automaton.labels) if label not in occurring}
    order += ((state, True, frozenset()) for state in never.values())
    return AnchoredAutomaton(
        automaton=Automaton(
            labels=tuple(automaton.labels[state] for state, _, _ in order),
            starts=starts,
            ends=ends,
            follows=(*follows, *({} for _ in never)),
        ),
        opens=tuple(next(iter(open_anchors), None) for _, _, open_anchors in order),
        missing=frozenset(entry_number for entry_number, (_, missing, _) in enumerate(order) if missing),
    )


def occurs_before(automaton: Automaton, earlier: str, later: str) -> bool:
    """Whether an event of one variable can come before one of another in a trend."""
    origins = (state for state, label in enumerate(automaton.labels) if label == earlier)
    onwards = (target for state in origins for target in automaton.follows[state])
    return any(automaton.labels[state] == later for state in closure(onwards, automaton.follows.__getitem__))


def needs(automaton: Automaton, anchors: Mapping[str, str]) -> list[frozenset[str]]:
    """Per state, the variables that the conditions of later events name, before another event of each.

    Args:
        automaton: An automaton.
        anchors: Per variable whose condition names another, that other.
    """
    need: list[frozenset[str]] = [frozenset()] * len(automaton.labels)
    changed = True
    while changed:
        changed = False
        for state in reversed(range(len(need))):
            wanted = need[state]
            for target in automaton.follows[state]:
                label = automaton.labels[target]
                wanted |= need[target] - {label}
                if label in anchors:
                    wanted |= {anchors[label]}
            changed |= wanted != need[state]
            need[state] = wanted
    return need
