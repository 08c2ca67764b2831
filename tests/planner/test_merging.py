"""Refinement, and the merging of states with equal futures."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.determinise import determinise
from sparkext.planner.automata.guards import ALWAYS, guard
from sparkext.planner.automata.merging import merge_equal_futures
from sparkext.planner.automata.positions import positions
from sparkext.planner.automata.refinement import refine
from sparkext.planner.patterns.pattern import Pattern
from tests.support.automata import parse, patterns, random_gaps, runs, shown, some_words


def test_refinement_counts_neighbours_of_a_block() -> None:
    assert refine("aabb", [(), (), (("", 0),), (("", 0), ("", 1))]) == [0, 0, 1, 2]
    assert refine("aabb", [(), (), (("", 0),), (("", 1),)]) == [0, 0, 1, 1]
    assert refine("aaa", [(("", 1),), (("", 2),), (("", 0),)]) == [0, 0, 0]


def test_refinement_tells_links_apart() -> None:
    assert refine("aabb", [(), (), (("x", 0),), (("y", 0),)]) == [0, 0, 1, 2]
    assert refine("aabbc", [(), (), (("x", 0), ("y", 1)), (("y", 0), ("x", 1)), ()]) == [0, 0, 1, 1, 2]
    # Nodes 0 and 1 are in different blocks, so which of them a link of a kind leads to matters.
    assert refine("abcc", [(), (), (("x", 0), ("y", 1)), (("y", 0), ("x", 1))]) == [0, 1, 2, 3]


@given(patterns(3, negate=True), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_words_and_runs_stay_the_same(pattern: Pattern, random: Random) -> None:
    before = determinise(positions(pattern))
    after = merge_equal_futures(before)
    assert len(after.labels) <= len(before.labels)
    for word in some_words(random):
        gaps = random_gaps(random, pattern, word)
        assert runs(after, word, gaps) == runs(before, word, gaps), (word, gaps)


def test_steps_to_states_that_become_one_become_one() -> None:
    """Whether N is intact no longer matters when what follows is the same."""
    merged = merge_equal_futures(determinise(positions(parse("A NOT N B | A B"))))
    assert shown(merged) == ["-> A0: always", "A0 -> B1: always", "B1 ->: always"]
    # Only after the C have become one are the steps from the B the same.
    longer = merge_equal_futures(determinise(positions(parse("A NOT N B C | A B NOT M C | A B C"))))
    assert [*longer.labels] == ["A", "B", "C"]


def test_states_that_end_or_go_on_under_other_guards_are_kept_apart() -> None:
    source = Automaton(
        labels=("A", "B", "B", "B", "C"),
        starts={0: ALWAYS},
        ends={1: guard(0), 2: ALWAYS, 4: ALWAYS},
        follows=({1: guard(0), 2: guard(1), 3: guard(2)}, {4: ALWAYS}, {4: ALWAYS}, {4: guard(0)}, {}),
    )
    assert merge_equal_futures(source) == source
