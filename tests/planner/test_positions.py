"""Glushkov's construction: a state per use of a variable, steps under the guards that stand between."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.automata.automaton import MAX_STATES, AutomatonTooLargeError
from sparkext.planner.automata.guards import MAX_GUARDS, TooManyGuardsError
from sparkext.planner.automata.positions import positions
from sparkext.planner.patterns.pattern import Pattern
from tests.support.automata import matches, parse, patterns, random_gaps, runs, shown, some_words


@given(patterns(3, negate=True), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_some_run_accepts_what_the_pattern_matches(pattern: Pattern, random: Random) -> None:
    glushkov = positions(pattern)
    for word in some_words(random):
        gaps = random_gaps(random, pattern, word)
        assert (runs(glushkov, word, gaps) > 0) == matches(pattern, word, gaps), (word, gaps)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("A", "A"),
        ("A B A", "ABA"),
        ("A+ | B?", "AB"),
        ("A{3}", "AAA"),
        ("A{2,4}", "AAAA"),
        ("A{,3}", "AAA"),
        ("A{2,}", "AA"),
        ("A{3,}", "AAA"),
        ("(A B){2}", "ABAB"),
        ("A NOT (B C) D", "AD"),
        ("A & B", "ABBA"),
    ],
)
def test_a_state_per_use_of_a_variable(text: str, labels: str) -> None:
    assert sorted(positions(parse(text)).labels) == sorted(labels)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("A NOT N B", ["-> A0: always", "A0 -> B1: 0", "B1 ->: always"]),
        ("NOT N A NOT M", ["-> A0: 0", "A0 ->: 1"]),
        ("A NOT N NOT M B", ["-> A0: always", "A0 -> B1: 0 and 1", "B1 ->: always"]),
        ("A NOT N NOT N B", ["-> A0: always", "A0 -> B1: 0", "B1 ->: always"]),
        (
            "(A NOT N B)+",
            ["-> A0: always", "A0 -> B1: 0", "B1 ->: always", "B1 -> A0: always"],
        ),
        ("(A NOT N)+", ["-> A0: always", "A0 ->: 0", "A0 -> A0: 0"]),
        ("(NOT N A)+", ["-> A0: 0", "A0 ->: always", "A0 -> A0: 0"]),
        ("(NOT N A NOT M)+", ["-> A0: 0", "A0 ->: 1", "A0 -> A0: 0 and 1"]),
        ("(A NOT N){2}", ["-> A0: always", "A0 -> A1: 0", "A1 ->: 0"]),
        (
            "A (C? | NOT N C*) B",
            [
                "-> A0: always",
                "A0 -> B3: always",
                "A0 -> C1: always",
                "A0 -> C2: 0",
                "B3 ->: always",
                "C1 -> B3: always",
                "C2 -> B3: always",
                "C2 -> C2: always",
            ],
        ),
        (
            "A NOT N B? NOT M C",
            [
                "-> A0: always",
                "A0 -> B1: 0",
                "A0 -> C2: 0 and 1",
                "B1 -> C2: 1",
                "C2 ->: always",
            ],
        ),
        (
            "A (NOT N B?)+ C",
            ["-> A0: always", "A0 -> B1: 0", "A0 -> C2: 0", "B1 -> B1: 0", "B1 -> C2: always", "C2 ->: always"],
        ),
        (
            "A (B* NOT N | C* NOT M) A",
            [
                "-> A0: always",
                "A0 -> A3: 0 and not (1) or 0 and 1 or not (0) and 1",
                "A0 -> B1: always",
                "A0 -> C2: always",
                "A3 ->: always",
                "B1 -> A3: 0",
                "B1 -> B1: always",
                "C2 -> A3: 1",
                "C2 -> C2: always",
            ],
        ),
        # The empty word is no trend, so a guard that only it needs is nowhere.
        ("(NOT N A?)?", ["-> A0: 0", "A0 ->: always"]),
    ],
)
def test_steps_under_guards(text: str, steps: list[str]) -> None:
    assert shown(positions(parse(text))) == sorted(steps)


def test_size_is_limited() -> None:
    assert len(positions(parse(f"A{{{MAX_STATES}}}")).labels) == MAX_STATES
    for text in (f"A B{{{MAX_STATES}}}", "(A{50}){50}", "A{40} & B{40}"):
        with pytest.raises(AutomatonTooLargeError):
            positions(parse(text))


def test_number_of_guards_of_a_step_is_limited() -> None:
    nots = [f"NOT N{number}" for number in range(MAX_GUARDS + 1)]
    assert positions(parse(f"A {' '.join(nots[1:])} B {nots[0]}"))
    with pytest.raises(TooManyGuardsError):
        positions(parse(f"A {' '.join(nots)} B"))
