"""Subset construction: one run per word, whatever guards are intact."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.automata.automaton import Automaton, AutomatonTooLargeError
from sparkext.planner.automata.determinise import determinise
from sparkext.planner.automata.guards import NEVER, assignments, both
from sparkext.planner.automata.positions import positions
from sparkext.planner.patterns.pattern import Pattern
from tests.support.automata import parse, patterns, random_gaps, runs, shown, some_words


@given(patterns(3, negate=True), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_a_word_with_runs_has_one_run_left(pattern: Pattern, random: Random) -> None:
    before = positions(pattern)
    after = determinise(before)
    for word in some_words(random):
        gaps = random_gaps(random, pattern, word)
        assert runs(after, word, gaps) == min(1, runs(before, word, gaps)), (word, gaps)


@given(patterns(4, negate=True))
@settings(max_examples=40, deadline=None)
def test_steps_to_states_of_one_variable_exclude_each_other(pattern: Pattern) -> None:
    automaton = determinise(positions(pattern))
    for after in (automaton.starts, *automaton.follows):
        for left in after:
            for right in after:
                if left < right and automaton.labels[left] == automaton.labels[right]:
                    assert both(after[left], after[right]) == NEVER
        assert NEVER not in after.values()
    assert NEVER not in automaton.ends.values()


@given(patterns(4, negate=True))
@settings(max_examples=40, deadline=None)
def test_what_is_deterministic_stays_as_it_is(pattern: Pattern) -> None:
    automaton = determinise(positions(pattern))
    assert determinise(automaton) == automaton


def test_subsets_depend_on_what_is_intact() -> None:
    """While N is intact both readings are alive; else only the second, which asks for M."""
    assert shown(determinise(positions(parse("A NOT N B C | A B NOT M C")))) == sorted(
        [
            "-> A0: always",
            "A0 -> B1: not (0)",
            "A0 -> B2: 0",
            "B1 -> C3: 1",
            "B2 -> C4: not (1)",
            "B2 -> C5: 1",
            "C3 ->: always",
            "C4 ->: always",
            "C5 ->: always",
        ]
    )


def test_guards_that_make_no_difference_are_not_asked() -> None:
    automaton = determinise(positions(parse("A NOT N B | A B")))
    assert shown(automaton) == [
        "-> A0: always",
        "A0 -> B1: not (0)",
        "A0 -> B2: 0",
        "B1 ->: always",
        "B2 ->: always",
    ], "merging makes one of B1 and B2"


def test_every_assignment_leads_to_its_subset() -> None:
    automaton = determinise(positions(parse("A (NOT N B C | NOT M B A | NOT N NOT M B B)")))
    for intact in assignments((0, 1)):
        assert runs(automaton, "ABC", [intact] * 4) == (0 in intact)
        assert runs(automaton, "ABA", [intact] * 4) == (1 in intact)
        assert runs(automaton, "ABB", [intact] * 4) == (intact == {0, 1})


def test_size_is_limited() -> None:
    """``(A | B)* A (A | B)^n`` needs 2^n states to be deterministic."""
    source: Automaton = positions(parse("(A | B)* A (A | B){12}"))
    with pytest.raises(AutomatonTooLargeError):
        determinise(source)
