"""Moore's refinement: states with equal futures become one."""

from __future__ import annotations

from collections.abc import Mapping

from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.guards import NEVER, Condition, either
from sparkext.planner.automata.refinement import refine


def merge_equal_futures(source: Automaton) -> Automaton:
    """The automaton in which states of one variable are one if the same words are accepted after them.

    Expects a deterministic automaton; keeps it so, and keeps the words it accepts.
    """
    while True:
        merged = _merge_once(source)
        if len(merged.labels) == len(source.labels):
            return merged
        source = merged  # steps that led to states that are one now may have become one themselves


def _merge_once(source: Automaton) -> Automaton:
    # What comes after is a node by itself, so that states with the same after them do not each have links to all.
    states = len(source.labels)
    rows = list({id(after): after for after in source.follows}.values())
    row_of = {id(after): states + row for row, after in enumerate(rows)}
    block = refine(
        [(source.labels[state], source.ends.get(state)) for state in range(states)] + [None] * len(rows),
        [((None, row_of[id(after)]),) for after in source.follows]
        + [tuple((condition, target) for target, condition in after.items()) for after in rows],
    )
    names: dict[int, int] = {}
    for state in range(states):
        names.setdefault(block[state], len(names))
    chosen = {names[block[state]]: state for state in reversed(range(states))}

    def renamed(targets: Mapping[int, Condition]) -> dict[int, Condition]:
        result: dict[int, Condition] = {}
        for state, condition in targets.items():
            name = names[block[state]]
            result[name] = either(result.get(name, NEVER), condition)
        return result

    after = {block[row_of[id(targets)]]: renamed(targets) for targets in rows}
    return Automaton(
        labels=tuple(source.labels[chosen[name]] for name in range(len(names))),
        starts=renamed(source.starts),
        ends={names[block[state]]: condition for state, condition in source.ends.items()},
        follows=tuple(after[block[row_of[id(source.follows[chosen[name]])]]] for name in range(len(names))),
    )
