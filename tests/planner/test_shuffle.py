"""The shuffle: the interleavings of a word of one automaton with a word of another."""

from __future__ import annotations

import pytest
from hypothesis import given, reject, settings

from sparkext.planner.automata.automaton import MAX_STATES, AutomatonTooLargeError
from sparkext.planner.automata.positions import positions
from sparkext.planner.automata.shuffle import shuffle
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.patterns.pattern import Pattern
from tests.support.automata import all_words, interleavings, language, parse, patterns, runs

LONGEST = 4
WORDS = all_words(LONGEST)


@given(patterns(2), patterns(2))
@settings(max_examples=60, deadline=None)
def test_words_are_interleavings(left: Pattern, right: Pattern) -> None:
    left_words, right_words = language(left, LONGEST), language(right, LONGEST)
    try:
        mixed = shuffle(automaton_of(left), automaton_of(right), "" in left_words, "" in right_words)
    except AutomatonTooLargeError:
        reject()  # users are told so; what is drawn is seldom as large as that
    expected = {word for a in left_words for b in right_words for word in interleavings(a, b)}
    for word in WORDS:
        assert (runs(mixed, word) > 0) == (word in expected), word


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A & B", {"AB", "BA"}),
        ("A & A", {"AA"}),
        ("A & B C", {"ABC", "BAC", "BCA"}),
        ("A & B?", {"A", "AB", "BA"}),
        ("A? & B?", {"A", "B", "AB", "BA"}),
        ("(A & B) C", {"ABC", "BAC"}),
        ("A B & A", {"ABA", "AAB"}),
        ("PERMUTE(A, B, C)", {"ABC", "ACB", "BAC", "BCA", "CAB", "CBA"}),
        ("A{2} & B", {"AAB", "ABA", "BAA"}),
    ],
)
def test_shuffles_in_patterns(text: str, words: set[str]) -> None:
    automaton = automaton_of(parse(text))
    assert {word for word in WORDS if runs(automaton, word)} == words
    assert {word for word in WORDS if runs(automaton, word) > 1} == set()


def test_size_is_limited() -> None:
    long, short = positions(parse(f"A{{{MAX_STATES // 2}}}")), positions(parse("B"))
    with pytest.raises(AutomatonTooLargeError):
        shuffle(long, short, False, False)
