"""Subset construction: a labelled word is accepted by at most one run, so that each trend is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from planner.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from planner.guards import ALWAYS, NEVER, Condition, assignments, either, of


def determinise(source: Automaton) -> Automaton:
    """The automaton of subsets: of the states after a state, no two of one variable can be taken together.

    Which states of ``source`` a word is in depends on the guards that were intact at each step, so a
    step leads to one subset per combination of intact guards that makes a difference.

    Raises:
        AutomatonTooLargeError: There are more than `MAX_STATES` subsets.
        TooManyGuardsError: A step depends on too many guards.
    """
    index: dict[frozenset[int], int] = {}
    order: list[frozenset[int]] = []

    def number(subset: frozenset[int]) -> int:
        if subset not in index:
            if len(order) >= MAX_STATES:
                raise AutomatonTooLargeError
            index[subset] = len(order)
            order.append(subset)
        return index[subset]

    def numbered(steps: Iterable[Mapping[int, Condition]]) -> dict[int, Condition]:
        return {number(subset): condition for subset, condition in _subsets(source, steps)}

    starts = numbered([source.starts])
    follows: list[dict[int, Condition]] = []
    while len(follows) < len(order):
        follows.append(numbered(source.follows[state] for state in sorted(order[len(follows)])))
    ends = [reduce(either, (source.ends[state] for state in subset if state in source.ends), NEVER) for subset in order]
    return Automaton(
        labels=tuple(source.labels[min(subset)] for subset in order),
        starts=starts,
        ends={state: condition for state, condition in enumerate(ends) if condition != NEVER},
        follows=tuple(follows),
    )


def _subsets(source: Automaton, steps: Iterable[Mapping[int, Condition]]) -> list[tuple[frozenset[int], Condition]]:
    """The subsets that ``steps`` lead to, each with its condition; they exclude each other."""
    ways: dict[str, dict[int, Condition]] = {}
    merged: dict[int, Condition] = {}
    for step in steps:
        for target, condition in step.items():
            merged[target] = either(merged.get(target, NEVER), condition)
    for target in sorted(merged):
        ways.setdefault(source.labels[target], {})[target] = merged[target]
    found: list[tuple[frozenset[int], Condition]] = []
    for _, targets in sorted(ways.items()):
        guards = {guard for condition in targets.values() for guard in condition.guards}
        if not guards:
            found.append((frozenset(targets), ALWAYS))
            continue
        reached: dict[frozenset[int], list[frozenset[int]]] = {}
        of(guards, lambda _: True)  # refuses too many guards
        for intact in assignments(guards):
            subset = frozenset(target for target, condition in targets.items() if condition.holds(intact))
            if subset:
                reached.setdefault(subset, []).append(intact)
        found += ((subset, of(guards, frozenset(ways_).__contains__)) for subset, ways_ in reached.items())
    return found
