"""Automata: they accept what the pattern matches, by one run at most, with as few states as there can be."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.automaton import (
    MAX_STATES,
    Automaton,
    AutomatonTooLargeError,
    automaton,
    determinise,
    merge_equal_futures,
    positions,
    refine,
)
from planner.pattern import Alternation, Pattern, Repeat, Sequence, Variable
from tests.enumerator import Remaining, whole
from tests.workloads import random_pattern

LETTERS = ("A", "B", "C")
LENGTH = 6
"""Of the longest words that are tried."""

WORDS = ["".join(word) for length in range(1, LENGTH) for word in product(LETTERS, repeat=length)]


def patterns(depth: int) -> st.SearchStrategy[Pattern]:
    """Random patterns of at most ``depth`` nested operators."""
    randoms = st.randoms(use_true_random=False)
    return st.builds(lambda random, depth: random_pattern(random, LETTERS, depth), randoms, st.integers(0, depth))


def regular_expression(pattern: Pattern) -> str:
    """The pattern as Python's `re` writes it."""
    match pattern:
        case Variable(name):
            return name
        case Sequence(parts):
            return "".join(f"(?:{regular_expression(part)})" for part in parts)
        case Alternation(parts):
            return "|".join(f"(?:{regular_expression(part)})" for part in parts)
        case Repeat(operand):
            return f"(?:{regular_expression(operand)}){pattern.quantifier}"


def runs(machine: Automaton, word: str) -> int:
    """The number of runs that accept ``word``."""
    at = {state: 1 for state in machine.starts if machine.labels[state] == word[0]}
    for name in word[1:]:
        after: dict[int, int] = {}
        for state, number in at.items():
            for target in machine.follows[state]:
                if machine.labels[target] == name:
                    after[target] = after.get(target, 0) + number
        at = after
    return sum(number for state, number in at.items() if state in machine.ends)


@given(patterns(2))
@settings(max_examples=150, deadline=None)
def test_each_word_of_the_regular_expression_is_accepted_by_one_run(pattern: Pattern) -> None:
    """Only for patterns of little depth, since `re` backtracks."""
    machine, expected = automaton(pattern), re.compile(regular_expression(pattern))
    glushkov = positions(pattern)
    for word in WORDS:
        matches = expected.fullmatch(word) is not None
        assert runs(machine, word) == matches, word
        assert (runs(glushkov, word) > 0) == matches, word


@given(patterns(4))
@settings(max_examples=100, deadline=None)
def test_each_word_of_the_pattern_is_accepted_by_one_run(pattern: Pattern) -> None:
    machine, start = automaton(pattern), whole(pattern)

    def check(word: str, left: Remaining) -> None:
        assert not word or runs(machine, word) == left.accepts, word
        after = left.after()
        for name in LETTERS if len(word) < LENGTH else ():
            if name in after:
                check(word + name, after[name])
            else:
                assert runs(machine, word + name) == 0, word + name

    check("", start)


@given(patterns(4))
@settings(max_examples=150, deadline=None)
def test_no_two_states_have_the_same_variable_and_future(pattern: Pattern) -> None:
    """As few states as an automaton split by variables can have: futures differ, by words up to the length
    that tells any two states apart."""
    machine = automaton(pattern)

    def future(state: int, length: int, known: dict[tuple[int, int], object]) -> object:
        key = (state, length)
        if key not in known:
            after = machine.follows[state] if length else ()
            futures = frozenset((machine.labels[s], future(s, length - 1, known)) for s in after)
            known[key] = state in machine.ends, futures
        return known[key]

    size = len(machine.labels)
    known: dict[tuple[int, int], object] = {}
    if size <= 12:
        assert len({(machine.labels[s], future(s, size, known)) for s in range(size)}) == size


@given(patterns(4))
@settings(deadline=None)
def test_states_are_reached_useful_and_deterministic(pattern: Pattern) -> None:
    machine = automaton(pattern)
    reached, todo = set(machine.starts), list(machine.starts)
    while todo:
        fresh = machine.follows[todo.pop()] - reached
        reached |= fresh
        todo.extend(fresh)
    assert reached == set(range(len(machine.labels)))
    for after in (machine.starts, *machine.follows):
        labels = [machine.labels[state] for state in after]
        assert len(labels) == len(set(labels))
    assert machine.ends


@given(patterns(4))
@settings(deadline=None)
def test_passes_change_nothing_when_run_again(pattern: Pattern) -> None:
    machine = automaton(pattern)
    assert merge_equal_futures(machine) == machine
    assert len(determinise(machine).labels) == len(machine.labels)


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        (Repeat(Variable("A"), 1, None), 1),
        (Repeat(Repeat(Variable("A"), 0, None), 1, None), 1),
        (Sequence((Repeat(Variable("A"), 1, None), Repeat(Variable("A"), 1, None))), 2),
        (Alternation((Variable("A"), Variable("A"))), 1),
        (Repeat(Sequence((Variable("A"), Variable("B"))), 1, None), 2),
    ],
    ids=str,
)
def test_number_of_states(pattern: Pattern, states: int) -> None:
    assert len(automaton(pattern).labels) == states


def test_equal_patterns_have_equal_automata() -> None:
    a, b = Variable("A"), Variable("B")
    assert automaton(Repeat(Alternation((a, b)), 1, None)) == automaton(
        Repeat(Repeat(Alternation((a, b, a)), 0, None), 1, None)
    )


def test_size_is_limited() -> None:
    """``(A | B)* A (A | B)^n`` needs 2^n states to be deterministic."""
    either = Alternation((Variable("A"), Variable("B")))
    with pytest.raises(AutomatonTooLargeError):
        automaton(Sequence((Repeat(either, 0, None), Variable("A"), *[either] * 12)))
    with pytest.raises(AutomatonTooLargeError):
        automaton(Sequence((Variable("A"),) * (MAX_STATES + 1)))
    assert len(automaton(Sequence((Variable("A"),) * MAX_STATES)).labels) == MAX_STATES


def test_bounds_must_be_expanded() -> None:
    with pytest.raises(ValueError, match=r"A\{2,3\}"):
        positions(Repeat(Variable("A"), 2, 3))


def test_predecessors() -> None:
    machine = automaton(Repeat(Sequence((Variable("A"), Variable("B"))), 1, None))
    assert machine.predecessors() == ((1,), (0,))


def test_refinement_counts_neighbours_of_a_block() -> None:
    assert refine("aabb", [(), (), (0,), (0, 1)]) == [0, 0, 1, 2]
    assert refine("aabb", [(), (), (0,), (1,)]) == [0, 0, 1, 1]
    assert refine("aaa", [(1,), (2,), (0,)]) == [0, 0, 0]
