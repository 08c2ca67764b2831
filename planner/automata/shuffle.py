"""The shuffle of two automata: it accepts the interleavings of a word of the one with a word of the other."""

from __future__ import annotations

from typing import NamedTuple

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.guards import ALWAYS


class _Pair(NamedTuple):
    """Where both automata are, None before the first event of one, and which of them moved last."""

    left: int | None
    right: int | None
    left_moved: bool


def shuffle(left: Automaton, right: Automaton, left_empty: bool, right_empty: bool) -> Automaton:
    """The shuffle of two automata without guards.

    Args:
        left: An automaton.
        right: Another.
        left_empty: Whether the empty word is one of the words of ``left``.
        right_empty: Likewise for ``right``.

    Raises:
        AutomatonTooLargeError: There are more than `MAX_STATES` states.
    """
    index: dict[_Pair, int] = {}

    def number(pair: _Pair) -> int:
        if len(index) >= MAX_STATES and pair not in index:
            raise AutomatonTooLargeError
        return index.setdefault(pair, len(index))

    def after(pair: _Pair) -> dict[int, object]:
        by_left = left.starts if pair.left is None else left.follows[pair.left]
        by_right = right.starts if pair.right is None else right.follows[pair.right]
        pairs = [_Pair(state, pair.right, True) for state in by_left]
        pairs += [_Pair(pair.left, state, False) for state in by_right]
        return dict.fromkeys(map(number, pairs))

    starts = after(_Pair(None, None, True))
    follows: list[dict[int, object]] = []
    while len(follows) < len(index):
        follows.append(after(list(index)[len(follows)]))
    pairs = list(index)
    return Automaton(
        labels=tuple(_label(left, right, pair) for pair in pairs),
        starts=dict.fromkeys(starts, ALWAYS),
        ends={
            number: ALWAYS
            for number, pair in enumerate(pairs)
            if _ends(left, pair.left, left_empty) and _ends(right, pair.right, right_empty)
        },
        follows=tuple(dict.fromkeys(row, ALWAYS) for row in follows),
    )


def _label(left: Automaton, right: Automaton, pair: _Pair) -> str:
    automaton, state = (left, pair.left) if pair.left_moved else (right, pair.right)
    assert state is not None
    return automaton.labels[state]


def _ends(automaton: Automaton, state: int | None, empty: bool) -> bool:
    return empty if state is None else state in automaton.ends
