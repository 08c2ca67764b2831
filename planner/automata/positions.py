"""Glushkov's automaton of a pattern: one state per use of a variable. It may be ambiguous."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.determinise import determinise
from sparkext.planner.automata.guards import ALWAYS, NEVER, Condition, both, either, guard
from sparkext.planner.automata.merging import merge_equal_futures
from sparkext.planner.automata.shuffle import shuffle
from sparkext.planner.patterns.pattern import (
    Alternation,
    Node,
    Not,
    Pattern,
    Repeat,
    Sequence,
    Shuffle,
    Variable,
    negations,
)


@dataclass(frozen=True, slots=True)
class _Part:
    """Part of a pattern: its first and last states, and when it accepts the empty word.

    The conditions are those of the step before the first state, after the last one, and across.
    """

    first: Mapping[int, Condition]
    last: Mapping[int, Condition]
    empty: Condition


def positions(pattern: Pattern) -> Automaton:
    """The automaton of ``pattern``; its guards are those of `negations`, of which it holds none itself.

    Raises:
        AutomatonTooLargeError: There are more than `MAX_STATES` states.
        TooManyGuardsError: A step depends on too many guards.
    """
    builder = _Builder(negations(pattern))
    whole = builder.build(pattern)
    return Automaton(tuple(builder.labels), whole.first, whole.last, tuple(builder.follows))


class _Builder:
    def __init__(self, guards: tuple[Pattern, ...]) -> None:
        self.labels: list[str] = []
        self.follows: list[dict[int, Condition]] = []
        self._guards = guards

    def build(self, node: Node) -> _Part:
        match node:
            case Variable(name):
                state = self._state(name)
                return _Part({state: ALWAYS}, {state: ALWAYS}, NEVER)
            case Not(operand):
                return _Part({}, {}, guard(self._guards.index(operand)))
            case Repeat():
                return self._repeat(node)
            case Shuffle(parts):
                return self._shuffle(parts)
            case Alternation(parts):
                built = [self.build(part) for part in parts]
                return _Part(
                    _any(part.first for part in built),
                    _any(part.last for part in built),
                    reduce(either, (part.empty for part in built)),
                )
            case Sequence(parts):
                return reduce(self._then, map(self.build, parts))

    def _then(self, left: _Part, right: _Part) -> _Part:
        """One part after the other."""
        self._link(left.last, right.first)
        return _Part(
            _any((left.first, _all(left.empty, right.first))),
            _any((right.last, _all(right.empty, left.last))),
            both(left.empty, right.empty),
        )

    def _repeat(self, node: Repeat) -> _Part:
        least, most = node.least, node.most
        if (least, most) == (0, 1):
            return self._optional(self.build(node.operand))
        if most is None and least <= 1:
            part = self.build(node.operand)
            self._link(part.last, part.first)
            return part if least else self._optional(part)
        # The tail from the end: x{2,4} is x x (x (x)?)?, and x{2,} is x x+.
        rest = [Repeat(node.operand, 1, None)] if most is None else [node.operand] * (most - least)
        tail: _Part | None = None
        for operand in rest:
            part = self.build(operand)
            part = part if tail is None else self._then(part, tail)
            tail = part if most is None else self._optional(part)
        copies = [self.build(node.operand) for _ in range(least - (most is None))]
        return reduce(self._then, copies if tail is None else [*copies, tail])

    @staticmethod
    def _optional(part: _Part) -> _Part:
        return _Part(part.first, part.last, ALWAYS)

    def _shuffle(self, operands: tuple[Pattern, ...]) -> _Part:
        automata = [merge_equal_futures(determinise(positions(operand))) for operand in operands]
        whole, empty = automata[0], _is_optional(operands[0])
        for automaton, operand in zip(automata[1:], operands[1:], strict=True):
            whole = merge_equal_futures(determinise(shuffle(whole, automaton, empty, _is_optional(operand))))
            empty = empty and _is_optional(operand)
        states = [self._state(label) for label in whole.labels]
        for state, after in enumerate(whole.follows):
            self.follows[states[state]].update((states[target], ALWAYS) for target in after)
        return _Part(
            {states[state]: ALWAYS for state in whole.starts},
            {states[state]: ALWAYS for state in whole.ends},
            ALWAYS if empty else NEVER,
        )

    def _state(self, label: str) -> int:
        if len(self.labels) >= MAX_STATES:
            raise AutomatonTooLargeError
        self.labels.append(label)
        self.follows.append({})
        return len(self.labels) - 1

    def _link(self, sources: Mapping[int, Condition], targets: Mapping[int, Condition]) -> None:
        for source, after in sources.items():
            row, ways = self.follows[source], _all(after, targets)
            if row:
                ways = {target: either(row.get(target, NEVER), way) for target, way in ways.items()}
            row.update(ways)


def _any(choices: Iterable[Mapping[int, Condition]]) -> dict[int, Condition]:
    """All states of several choices, of which the first is the longest in a repetition; a state of two may be
    reached either way."""
    first, *later = choices
    result = dict(first)
    for choice in later:
        for state, condition in choice.items():
            result[state] = either(result.get(state, NEVER), condition)
    return result


def _all(condition: Condition, states: Mapping[int, Condition]) -> Mapping[int, Condition]:
    """The states, where ``condition`` holds as well; none if it never does."""
    if condition == ALWAYS:
        return states
    return {} if condition == NEVER else {state: both(condition, own) for state, own in states.items()}


def _is_optional(pattern: Node) -> bool:
    """Whether the empty word matches."""
    match pattern:
        case Variable():
            return False
        case Not():
            return True
        case Sequence(parts) | Shuffle(parts):
            return all(map(_is_optional, parts))
        case Alternation(parts):
            return any(map(_is_optional, parts))
        case Repeat(operand, least, _):
            return least == 0 or _is_optional(operand)
