"""Steps without guards: where nothing lies between two neighbours of a trend, nothing forbidden does."""

from __future__ import annotations

from dataclasses import replace

from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.guards import ALWAYS


def free_steps(source: Automaton) -> Automaton:
    """The automaton with all guards of its steps taken as intact; those of starts and ends stay as they are."""
    return replace(
        source,
        follows=tuple(
            {state: ALWAYS for state, condition in after.items() if condition.holds(frozenset(condition.guards))}
            for after in source.follows
        ),
    )
