"""The shuffle of two automata: it accepts the interleavings of a word of the one with a word of the other."""

from __future__ import annotations

from typing import NamedTuple

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.guards import ALWAYS


class _Pair(NamedTuple):
    """Where both automata are, None before the first event of one, and which of them moved last."""

    one: int | None
    other: int | None
    one_moved: bool


def shuffle(one: Automaton, other: Automaton, one_empty: bool, other_empty: bool) -> Automaton:
    """The shuffle of two automata without guards.

    Args:
        one: An automaton.
        other: Another.
        one_empty: Whether the empty word is one of the words of ``one``.
        other_empty: Likewise for ``other``.

    Raises:
        AutomatonTooLargeError: There are more than `MAX_STATES` states.
    """
    index: dict[_Pair, int] = {}

    def number(pair: _Pair) -> int:
        if len(index) >= MAX_STATES and pair not in index:
            raise AutomatonTooLargeError
        return index.setdefault(pair, len(index))

    def after(pair: _Pair) -> dict[int, object]:
        by_one = one.starts if pair.one is None else one.follows[pair.one]
        by_other = other.starts if pair.other is None else other.follows[pair.other]
        pairs = [_Pair(state, pair.other, True) for state in by_one]
        pairs += [_Pair(pair.one, state, False) for state in by_other]
        return dict.fromkeys(map(number, pairs))

    starts = after(_Pair(None, None, True))
    follows: list[dict[int, object]] = []
    while len(follows) < len(index):
        follows.append(after(list(index)[len(follows)]))
    pairs = list(index)
    return Automaton(
        labels=tuple(_label(one, other, pair) for pair in pairs),
        starts=dict.fromkeys(starts, ALWAYS),
        ends={
            number: ALWAYS
            for number, pair in enumerate(pairs)
            if _ends(one, pair.one, one_empty) and _ends(other, pair.other, other_empty)
        },
        follows=tuple(dict.fromkeys(row, ALWAYS) for row in follows),
    )


def _label(one: Automaton, other: Automaton, pair: _Pair) -> str:
    automaton, state = (one, pair.one) if pair.one_moved else (other, pair.other)
    assert state is not None
    return automaton.labels[state]


def _ends(automaton: Automaton, state: int | None, empty: bool) -> bool:
    return empty if state is None else state in automaton.ends
