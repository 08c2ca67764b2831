"""Moore's refinement: states with equal futures become one."""

from __future__ import annotations

from collections.abc import Mapping

from planner.automaton import Automaton
from planner.guards import NEVER, Condition, either
from planner.refinement import refine


def merge_equal_futures(source: Automaton) -> Automaton:
    """States of one variable after which the same words are accepted become one.

    Expects a deterministic automaton; keeps it so, and keeps the words it accepts.
    """
    while True:
        merged = _merge_once(source)
        if len(merged.labels) == len(source.labels):
            return merged
        source = merged  # steps that led to states that are one now may have become one themselves


def _merge_once(source: Automaton) -> Automaton:
    block = refine(
        [(source.labels[state], source.ends.get(state)) for state in range(len(source.labels))],
        [tuple((condition, target) for target, condition in after.items()) for after in source.follows],
    )
    names: dict[int, int] = {}
    for state in range(len(block)):
        names.setdefault(block[state], len(names))
    chosen = {names[block[state]]: state for state in reversed(range(len(block)))}

    def renamed(states: Mapping[int, Condition]) -> dict[int, Condition]:
        result: dict[int, Condition] = {}
        for state, condition in states.items():
            name = names[block[state]]
            result[name] = either(result.get(name, NEVER), condition)
        return result

    return Automaton(
        labels=tuple(source.labels[chosen[name]] for name in range(len(names))),
        starts=renamed(source.starts),
        ends={names[block[state]]: condition for state, condition in source.ends.items()},
        follows=tuple(renamed(source.follows[chosen[name]]) for name in range(len(names))),
    )
