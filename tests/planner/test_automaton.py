"""Automata of patterns: they accept what the pattern matches, by one run at most, with few states."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.automata.automaton import MAX_STATES, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.determinise import determinise
from sparkext.planner.automata.merging import merge_equal_futures
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.patterns.pattern import Alternation, Pattern, Repeat, Variable, negations
from tests.support.automata import LETTERS, all_words, language, matches, parse, patterns, random_gaps, runs, some_words
from tests.support.enumerator import Remaining, accepts, whole

LONGEST = 5
"""Of the words that are tried."""


@given(patterns(3))
@settings(max_examples=60, deadline=None)
def test_each_word_of_the_language_is_accepted_by_one_run(pattern: Pattern) -> None:
    """The enumerator, which the other tests here rely on, is held against the same words."""
    automaton, expected = automaton_of(pattern), language(pattern, LONGEST - 1)
    for word in all_words(LONGEST - 1):
        assert runs(automaton, word) == (word in expected), word
        assert accepts(pattern, word) == (word in expected), word


@given(patterns(4))
@settings(max_examples=60, deadline=None)
def test_each_word_of_the_pattern_is_accepted_by_one_run(pattern: Pattern) -> None:
    automaton = automaton_of(pattern)

    def check(word: str, left: Remaining) -> None:
        assert not word or runs(automaton, word) == bool(left.ends), word
        after = left.after()
        for name in LETTERS if len(word) < LONGEST else ():
            if name in after:
                check(word + name, left.among(rest for _, rest in after[name]))
            else:
                assert runs(automaton, word + name) == 0, word + name

    check("", whole(pattern))


@given(patterns(4, negate=True), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_each_word_is_accepted_by_one_run_whatever_is_intact(pattern: Pattern, random: Random) -> None:
    automaton = automaton_of(pattern)
    for word in some_words(random):
        gaps = random_gaps(random, pattern, word)
        assert runs(automaton, word, gaps) == matches(pattern, word, gaps), (word, gaps)


@given(patterns(4, negate=True))
@settings(max_examples=50, deadline=None)
def test_guards_are_the_automata_of_what_is_negated(pattern: Pattern) -> None:
    automaton = automaton_of(pattern)
    assert automaton.guards == tuple(map(automaton_of, negations(pattern)))
    for conditions in (automaton.starts, automaton.ends, *automaton.follows):
        assert {guard for condition in conditions.values() for guard in condition.guards} <= set(
            range(len(automaton.guards))
        )
    assert not any(forbidden.guards for forbidden in automaton.guards)


@given(patterns(4))
@settings(max_examples=60, deadline=None)
def test_no_two_states_have_the_same_variable_and_future(pattern: Pattern) -> None:
    """As few states as an automaton split by variables can have: futures differ, by words up to the length
    that tells any two states apart."""
    automaton = automaton_of(pattern)

    def future(state: int, length: int, future_of: dict[tuple[int, int], object]) -> object:
        key = (state, length)
        if key not in future_of:
            after = automaton.follows[state] if length else ()
            futures = frozenset((automaton.labels[s], future(s, length - 1, future_of)) for s in after)
            future_of[key] = state in automaton.ends, futures
        return future_of[key]

    size = len(automaton.labels)
    future_of: dict[tuple[int, int], object] = {}
    if size <= 12:
        assert len({(automaton.labels[s], future(s, size, future_of)) for s in range(size)}) == size


@given(patterns(4, negate=True))
@settings(max_examples=60, deadline=None)
def test_states_are_reached_and_useful(pattern: Pattern) -> None:
    automaton = automaton_of(pattern)
    assert closure(automaton.starts, [list(after) for after in automaton.follows]) == set(range(len(automaton.labels)))
    assert closure(automaton.ends, [list(before) for before in automaton.predecessors()]) == set(
        range(len(automaton.labels))
    )


def closure(starts: object, after: list[list[int]]) -> set[int]:
    """All states that can be reached from ``starts``."""
    assert isinstance(starts, dict)
    reached, todo = set(starts), list(starts)
    while todo:
        fresh = set(after[todo.pop()]) - reached
        reached |= fresh
        todo.extend(fresh)
    return reached


@given(patterns(4, negate=True))
@settings(max_examples=60, deadline=None)
def test_passes_change_nothing_when_run_again(pattern: Pattern) -> None:
    automaton = automaton_of(pattern)
    without = Automaton(automaton.labels, automaton.starts, automaton.ends, automaton.follows)
    assert merge_equal_futures(without) == without
    assert len(determinise(without).labels) == len(automaton.labels)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("A+", 1),
        ("(A*)+", 1),
        ("A+ A+", 2),
        ("A | A", 1),
        ("(A B)+", 2),
        ("A{2,4}", 4),
        ("A{3,}", 3),
        ("A & B", 4),
        ("A & A", 2),
        ("A NOT N B", 2),
        ("A NOT N B | A B", 2),
        ("A NOT N B C | A B NOT M C", 4),
    ],
)
def test_number_of_states(text: str, states: int) -> None:
    assert len(automaton_of(parse(text)).labels) == states


def test_equal_patterns_have_equal_automata() -> None:
    a, b = Variable("A"), Variable("B")
    assert automaton_of(Repeat(Alternation((a, b)), 1, None)) == automaton_of(
        Repeat(Repeat(Alternation((a, b, a)), 0, None), 1, None)
    )
    assert automaton_of(parse("A{2,3}")) == automaton_of(parse("A A A?"))
    assert automaton_of(parse("A & B")) == automaton_of(parse("A B | B A"))


def test_size_is_limited() -> None:
    """``(A | B)* A (A | B)^n`` needs 2^n states to be deterministic."""
    with pytest.raises(AutomatonTooLargeError):
        automaton_of(parse("(A | B)* A (A | B){12}"))
    with pytest.raises(AutomatonTooLargeError):
        automaton_of(parse(f"A{{{MAX_STATES}}} B"))
    with pytest.raises(AutomatonTooLargeError):
        automaton_of(parse(f"A NOT (B C{{{MAX_STATES}}}) D"))
    assert len(automaton_of(parse(f"A{{{MAX_STATES // 4}}}")).labels) == MAX_STATES // 4


def test_predecessors() -> None:
    assert automaton_of(parse("(A B)+")).predecessors() == ((1,), (0,))
    assert automaton_of(parse("A B? NOT N A")).predecessors() == ((), (0, 2), (0,))
