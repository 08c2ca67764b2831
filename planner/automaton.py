"""Automata over variables, and the passes that turn a pattern into the one a template is made of.

The passes, in order (``PASSES``): positions of the pattern (Glushkov), subset construction, and
merging of states with equal futures (Moore). What comes out is split by the variable that enters a
state, so that each state stands for one event, and is unambiguous: a labelled word is accepted by
at most one run, hence each trend is counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from planner.pattern import Alternation, Pattern, Repeat, Sequence, Variable


@dataclass(frozen=True, slots=True)
class Automaton:
    """A finite automaton in which every state is entered by one variable.

    Attributes:
        labels: Per state, the variable of the event matched there.
        starts: States at which a trend may start.
        ends: States at which a trend may end.
        follows: Per state, the states that may come next, ascending.
    """

    labels: tuple[str, ...]
    starts: frozenset[int]
    ends: frozenset[int]
    follows: tuple[frozenset[int], ...]

    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """Per state, the states it may come right after, ascending."""
        before: list[list[int]] = [[] for _ in self.labels]
        for state, after in enumerate(self.follows):
            for target in after:
                before[target].append(state)
        return tuple(tuple(sorted(states)) for states in before)


MAX_STATES = 1000
"""Most states that the automaton of one pattern may have, in any pass."""


class AutomatonTooLargeError(Exception):
    """The automaton of a pattern would have more than `MAX_STATES` states."""


def automaton(pattern: Pattern) -> Automaton:
    """The unambiguous automaton of ``pattern``, its states in order of discovery from the starts.

    Raises:
        AutomatonTooLargeError: Some pass needs more than `MAX_STATES` states.
    """
    result = positions(pattern)
    for rewrite in PASSES:
        result = rewrite(result)
    return result


def positions(pattern: Pattern) -> Automaton:
    """Glushkov's automaton: one state per use of a variable. May be ambiguous."""
    labels: list[str] = []
    follows: list[set[int]] = []

    def link(sources: Iterable[int], targets: set[int]) -> None:
        for source in sources:
            follows[source] |= targets

    def build(node: Pattern) -> tuple[set[int], set[int], bool]:
        """First states, last states, and whether the empty word is accepted."""
        match node:
            case Variable(name):
                if len(labels) >= MAX_STATES:
                    raise AutomatonTooLargeError
                labels.append(name)
                follows.append(set())
                return {len(labels) - 1}, {len(labels) - 1}, False
            case Repeat(operand, least, most):
                if (least, most) not in ((0, 1), (0, None), (1, None)):
                    raise ValueError(f"bounds of {node} must be expanded first")
                first, last, empty = build(operand)
                if most is None:
                    link(last, first)
                return first, last, empty or least == 0
            case Alternation(parts):
                built = [build(part) for part in parts]
                return (
                    set().union(*(first for first, _, _ in built)),
                    set().union(*(last for _, last, _ in built)),
                    any(empty for _, _, empty in built),
                )
            case Sequence(parts):
                first, last, empty = build(parts[0])
                for part in parts[1:]:
                    more_first, more_last, more_empty = build(part)
                    link(last, more_first)
                    first = first | more_first if empty else first
                    last = last | more_last if more_empty else more_last
                    empty = empty and more_empty
                return first, last, empty

    first, last, _ = build(pattern)
    return Automaton(tuple(labels), frozenset(first), frozenset(last), tuple(map(frozenset, follows)))


def determinise(source: Automaton) -> Automaton:
    """Subset construction: of the states after a state, no two have the same variable."""
    index: dict[frozenset[int], int] = {}
    order: list[frozenset[int]] = []

    def split(states: Iterable[int]) -> frozenset[int]:
        by_label: dict[str, set[int]] = {}
        for state in sorted(states):
            by_label.setdefault(source.labels[state], set()).add(state)
        return frozenset(map(number, map(frozenset, by_label.values())))

    def number(subset: frozenset[int]) -> int:
        if subset not in index:
            if len(order) >= MAX_STATES:
                raise AutomatonTooLargeError
            index[subset] = len(order)
            order.append(subset)
        return index[subset]

    starts = split(source.starts)
    follows: list[frozenset[int]] = []
    while len(follows) < len(order):
        follows.append(split(set().union(*(source.follows[state] for state in order[len(follows)]))))
    return Automaton(
        labels=tuple(source.labels[min(subset)] for subset in order),
        starts=starts,
        ends=frozenset(state for state, subset in enumerate(order) if subset & source.ends),
        follows=tuple(follows),
    )


def merge_equal_futures(source: Automaton) -> Automaton:
    """Moore's refinement: states of one variable after which the same words are accepted become one.

    Expects a deterministic automaton; keeps it so, and keeps the words it accepts.
    """
    block = refine(
        [(source.labels[state], state in source.ends) for state in range(len(source.labels))],
        [tuple(sorted(after)) for after in source.follows],
    )
    names: dict[int, int] = {}
    for state in range(len(block)):
        names.setdefault(block[state], len(names))
    chosen = {names[block[state]]: state for state in reversed(range(len(block)))}

    def renamed(states: Iterable[int]) -> frozenset[int]:
        return frozenset(names[block[state]] for state in states)

    return Automaton(
        labels=tuple(source.labels[chosen[name]] for name in range(len(names))),
        starts=renamed(source.starts),
        ends=renamed(source.ends),
        follows=tuple(renamed(source.follows[chosen[name]]) for name in range(len(names))),
    )


def refine(keys: Iterable[object], neighbours: list[tuple[int, ...]]) -> list[int]:
    """Coarsest partition in which nodes of a block have equal keys and neighbours in the same blocks.

    Args:
        keys: Per node, what tells it apart by itself; hashable.
        neighbours: Per node, the nodes that tell it apart further; how many are in a block counts too.

    Returns:
        Per node, the number of its block; blocks are numbered in order of their first node.
    """
    numbers: dict[object, int] = {}
    block = [numbers.setdefault(key, len(numbers)) for key in keys]
    while True:
        numbers = {}
        finer = [
            numbers.setdefault((block[node], tuple(sorted(block[other] for other in near))), len(numbers))
            for node, near in enumerate(neighbours)
        ]
        if finer == block:
            return block
        block = finer


PASSES: tuple[Callable[[Automaton], Automaton], ...] = (determinise, merge_equal_futures)
