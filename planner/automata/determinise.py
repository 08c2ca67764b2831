"""Subset construction: a labelled word is accepted by at most one run, so that each trend is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.guards import ALWAYS, NEVER, Condition, assignments, either, of
from sparkext.planner.bits import bits, lowest, members


def determinise(source: Automaton) -> Automaton:
    """The automaton of subsets: of the states after a state, no two of one variable can be taken together.

    Which states of ``source`` a word is in depends on the guards that were intact at each step, so a
    step leads to one subset per combination of intact guards that makes a difference. Subsets are the bits of a
    number. States with the same states after them have them in one mapping.

    Raises:
        AutomatonTooLargeError: There are more than `MAX_STATES` subsets.
        TooManyGuardsError: A step depends on too many guards.
    """
    index: dict[int, int] = {}
    order: list[int] = []

    def number(subset: int) -> int:
        if subset not in index:
            if len(order) >= MAX_STATES:
                raise AutomatonTooLargeError
            index[subset] = len(order)
            order.append(subset)
        return index[subset]

    steps = _Steps(source)
    starts = {number(subset): condition for subset, condition in steps.subsets([_Step(source.starts)])}
    steps_of: dict[int, dict[int, Condition]] = {}
    follows: list[dict[int, Condition]] = []
    while len(follows) < len(order):
        after = [steps.after[state] for state in members(order[len(follows)])]
        if any(step.guarded for step in after):
            follows.append({number(subset): condition for subset, condition in steps.subsets(after)})
            continue
        free = reduce(int.__or__, (step.free for step in after))
        if free not in steps_of:
            steps_of[free] = {number(subset): condition for subset, condition in steps.subsets(after)}
        follows.append(steps_of[free])
    ends = [
        reduce(either, (source.ends[state] for state in members(subset) if state in source.ends), NEVER)
        for subset in order
    ]
    return Automaton(
        labels=tuple(source.labels[lowest(subset)] for subset in order),
        starts=starts,
        ends={state: condition for state, condition in enumerate(ends) if condition != NEVER},
        follows=tuple(follows),
    )


class _Step:
    """States that may come next: those that always may as bits, and the others with their conditions."""

    __slots__ = ("free", "guarded")

    def __init__(self, targets: Mapping[int, Condition]) -> None:
        self.guarded = {target: condition for target, condition in targets.items() if condition.guards}
        self.free = bits(targets.keys() - self.guarded.keys() if self.guarded else targets)


class _Steps:
    """The steps of an automaton.

    Attributes:
        after: Per state, what may come next.
    """

    def __init__(self, source: Automaton) -> None:
        self.after = [_Step(targets) for targets in source.follows]
        self._labels = source.labels
        of_label: dict[str, list[int]] = {}
        for state, label in enumerate(source.labels):
            of_label.setdefault(label, []).append(state)
        self._of_label = {label: bits(states) for label, states in of_label.items()}

    def subsets(self, steps: Iterable[_Step]) -> Iterator[tuple[int, Condition]]:
        """The subsets that ``steps`` lead to together, each with its condition; they exclude each other."""
        free = 0
        guarded: dict[int, Condition] = {}
        for step in steps:
            free |= step.free
            for target, condition in step.guarded.items():
                guarded[target] = either(guarded.get(target, NEVER), condition)
        free |= bits(target for target, condition in guarded.items() if not condition.guards)
        ways: dict[str, dict[int, Condition]] = {
            self._labels[target]: {} for target in self._one_of_each_label(free | bits(guarded))
        }
        for target in sorted(guarded):
            if not free >> target & 1:
                ways[self._labels[target]][target] = guarded[target]
        for label in sorted(ways):
            always, branches = free & self._of_label[label], ways[label]
            if branches:
                yield from _branched(always, branches)
            else:
                yield always, ALWAYS

    def _one_of_each_label(self, states: int) -> Iterator[int]:
        while states:
            target = lowest(states)
            states &= ~self._of_label[self._labels[target]]
            yield target


def _branched(always: int, branches: Mapping[int, Condition]) -> Iterator[tuple[int, Condition]]:
    """Subsets of states of one variable, of which some may always come next, and others under conditions."""
    guards = {guard for condition in branches.values() for guard in condition.guards}
    reached: dict[int, list[frozenset[int]]] = {}
    of(guards, lambda _: True)  # refuses too many guards
    for intact in assignments(guards):
        subset = always | bits(target for target, condition in branches.items() if condition.holds(intact))
        if subset:
            reached.setdefault(subset, []).append(intact)
    for subset, ways in reached.items():
        yield subset, of(guards, frozenset(ways).__contains__)
