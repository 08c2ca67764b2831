"""Automata that know the ends of trends: the same words, each by one way, with the right marks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.ends import MarkedAutomaton, mark_ends
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.patterns.pattern import positive_variables, variables
from sparkext.planner.patterns.query import Mark, Side
from tests.support.pools import query
from tests.support.tiers import first
from tests.support.workloads import random_pattern

FIRST_A, LAST_A = Mark(Side.FIRST, "A"), Mark(Side.LAST, "A")
START, END = Mark(Side.FIRST, None), Mark(Side.LAST, None)


def runs(automaton: Automaton, word: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """All ways through an automaton that accept a word, whatever guards say."""
    ways: list[tuple[int, ...]] = [(state,) for state in automaton.starts if automaton.labels[state] == word[0]]
    for label in word[1:]:
        ways = [(*way, s) for way in ways for s in automaton.follows[way[-1]] if automaton.labels[s] == label]
    yield from (way for way in ways if way[-1] in automaton.ends)


def ends_of(word: tuple[str, ...], mark: Mark) -> int | None:
    """The place of an end in a word."""
    indexes = [index for index, label in enumerate(word) if mark.variable in (None, label)]
    if not indexes:
        return None
    return indexes[0] if mark.side is Side.FIRST else indexes[-1]


def check(
    automaton: Automaton, marked: MarkedAutomaton, word: tuple[str, ...], marks: frozenset[Mark], seen: set[str | None]
) -> None:
    """The word has one way in either automaton or in none, and its states know what they should."""
    whole, parts = list(runs(automaton, word)), list(runs(marked.automaton, word))
    assert [tuple(marked.origins[state] for state in way) for way in parts] == whole
    for way in parts:
        for mark in marks:
            marked_at = [index for index, state in enumerate(way) if mark in marked.marks[state]]
            index = ends_of(word, mark)
            assert marked_at == ([] if index is None else [index])
        for index, state in enumerate(way):
            assert marked.seen[state] & seen == seen & {None, *word[: index + 1]}
            ends = {mark: ends_of(word, mark) for mark in marks if mark.variable in seen}
            assert marked.passed[state] == {mark for mark, end in ends.items() if end is not None and end < index}


@pytest.mark.parametrize("seed", first(100, range(300)))
def test_words_and_marks(seed: int) -> None:
    """Each word of a random pattern has the ways it had, and marks at the events that are its ends."""
    random = Random(seed)
    names = ("A", "B", "C")[: random.choice((1, 2, 2, 3))]
    pattern = random_pattern(random, names, random.choice((1, 2, 3)))
    automaton = automaton_of(pattern)
    variable_names = [None, *variables(pattern)]
    marks = frozenset(
        Mark(random.choice(list(Side)), random.choice(variable_names)) for _ in range(random.choice((1, 2, 3)))
    )
    seen: set[str | None] = {name for name in variable_names if random.random() < 0.3}
    try:
        marked = mark_ends(automaton, marks, seen)
    except AutomatonTooLargeError:
        return
    for length in range(1, 6):
        for word in product(names, repeat=length):
            check(automaton, marked, word, marks, seen)
    used = set(marked.automaton.labels)
    assert used == set(positive_variables(pattern))


@pytest.mark.parametrize(
    ("text", "marks", "states"),
    [
        ("A+", {START}, 2),
        ("A+", {END}, 2),
        ("A+", {START, END}, 4),
        ("A B+ C", {START, END}, 3),
        ("A+ B", {LAST_A}, 3),
        ("A+ B", {FIRST_A, END}, 3),
        ("A B C D", {FIRST_A, LAST_A}, 4),
        ("B+ A+ C", {LAST_A}, 4),
        ("(A | B)+", {FIRST_A}, 4),
    ],
)
def test_no_more_states_than_are_needed(text: str, marks: set[Mark], states: int) -> None:
    marked = mark_ends(automaton_of(query(text).pattern), marks, frozenset())
    assert len(marked.automaton.labels) == states


def test_what_may_come_next_is_what_might_have() -> None:
    """After the last A of `A+ B` only B comes; an event of A would still have continued the trend."""
    marked = mark_ends(automaton_of(query("A+ B").pattern), {LAST_A}, frozenset())
    labels = marked.automaton.labels
    (last,) = (state for state, marks in enumerate(marked.marks) if LAST_A in marks)
    assert {labels[state] for state in marked.automaton.follows[last]} == {"B"}
    assert {labels[state] for state in marked.onwards[last]} == {"A", "B"}


def test_too_many_states() -> None:
    """What will still occur is a set of variables; there are too many of them."""
    names = [f"V{number}" for number in range(11)]
    automaton = automaton_of(query(f"({' | '.join(names)})+").pattern)
    assert len(automaton.labels) < MAX_STATES
    with pytest.raises(AutomatonTooLargeError):
        mark_ends(automaton, {Mark(Side.LAST, name) for name in names}, frozenset())
