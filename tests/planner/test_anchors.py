"""Automata taken apart by what later conditions ask for."""

from __future__ import annotations

import pytest

from sparkext.planner.automata.anchored import TooWideError, occurs_before, take_apart
from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.unambiguous import automaton_of
from tests.support.pools import query


def built(text: str) -> Automaton:
    """The automaton of a pattern."""
    return automaton_of(query(text).pattern)


@pytest.mark.parametrize(
    ("text", "anchors", "shown"),
    [
        ("A B C", {"C": "A"}, "A:A B:A C"),
        ("A B+ C D", {"C": "A"}, "A:A B:A C D"),
        ("D A B C", {"C": "A"}, "D A:A B:A C"),
        # An A after another takes its place; after C, none is asked for.
        ("(A B C)+", {"C": "A"}, "A:A B:A C"),
        ("A+ B C", {"C": "A"}, "A:A B:A C"),
        # B with an A before, and without.
        ("(A | D) B C", {"C": "A"}, "A:A D B:A B C C*"),
        ("A? B C", {"C": "A"}, "A:A B B:A C* C"),
        # One after another, but never both.
        ("A B C D", {"B": "A", "D": "C"}, "A:A B C:C D"),
        ("A B C", {"C": "A", "B": "A"}, "A:A B:A C"),
    ],
)
def test_what_is_open(text: str, anchors: dict[str, str], shown: str) -> None:
    anchored = take_apart(built(text), anchors, anchors.keys())
    assert [
        f"{label}{'' if variable is None else f':{variable}'}{'*' if state in anchored.missing else ''}"
        for state, (label, variable) in enumerate(zip(anchored.automaton.labels, anchored.opens, strict=True))
    ] == shown.split()


def test_steps_that_nothing_makes_true_are_left_out() -> None:
    anchored = take_apart(built("A? B C"), {"C": "A"}, set())
    assert anchored.automaton.labels == ("A", "B", "B", "C")
    assert [sorted(after) for after in anchored.automaton.follows] == [[2], [], [3], []]
    # No trend has a C, which measures may name all the same.
    anchored = take_apart(built("B C | A"), {"C": "A"}, set())
    assert sorted(anchored.automaton.labels) == ["A", "B", "C"]
    assert [anchored.automaton.labels[state] for state in anchored.automaton.ends] == ["A"]


@pytest.mark.parametrize(
    ("text", "anchors", "variables"),
    [
        ("A B C D", {"C": "A", "D": "B"}, ("A", "B")),
        ("(A | B | C)+ D", {"C": "B", "D": "A"}, ("A", "B")),
        ("A & B C D", {"D": "B", "C": "A"}, ("A", "B")),
    ],
)
def test_two_at_once_are_too_many(text: str, anchors: dict[str, str], variables: tuple[str, ...]) -> None:
    with pytest.raises(TooWideError) as error:
        take_apart(built(text), anchors, anchors.keys())
    assert error.value.variables == variables


def test_what_can_come_before() -> None:
    automaton = built("A (B | C) D+")
    pairs = [(a, b) for a in "ABCD" for b in "ABCD" if occurs_before(automaton, a, b)]
    assert pairs == [("A", "B"), ("A", "C"), ("A", "D"), ("B", "D"), ("C", "D"), ("D", "D")]
