"""Patterns: one canonical text, read back as the same tree; errors at the right place."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import PlanningError
from planner.pattern import Alternation, Pattern, Repeat, Sequence, Variable, variables
from planner.pattern_grammar import MAX_DEPTH, Kind, Lexeme, lexemes, parse_pattern
from tests.workloads import random_pattern

OFFSET = 100


def parse(text: str) -> Pattern:
    return parse_pattern(lexemes(text, OFFSET), OFFSET, OFFSET + len(text))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("A", "A"),
        ("((A))", "A"),
        ("A B", "A B"),
        ("A (B C)", "A B C"),
        ("A | (B | C)", "A | B | C"),
        ("A B | C+ D*", "A B | C+ D*"),
        ("(A | B) C", "(A | B) C"),
        ("(A B)+", "(A B)+"),
        ("(A+)?", "(A+)?"),
        ("SEQ(A, B | C, D+)", "A (B | C) D+"),
        ("OR(A, B C)", "A | B C"),
        ("seq(A, or(B, C))*", "(A (B | C))*"),
        ("SEQ(A)", "A"),
        ("SEQ OR", "SEQ OR"),
        ("A\n\t( B )", "A B"),
        ("Ü+", "`Ü`+"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


def flat(pattern: Pattern) -> Pattern:
    """Without sequences in sequences and alternations in alternations."""
    match pattern:
        case Variable():
            return pattern
        case Repeat(operand, least, most):
            return Repeat(flat(operand), least, most)
        case Sequence(parts) | Alternation(parts):
            kind = type(pattern)
            inner = [part.parts if isinstance(part, kind) else (part,) for part in map(flat, parts)]
            return kind(tuple(part for some in inner for part in some))


@given(st.randoms(use_true_random=False), st.integers(0, 4))
@settings(deadline=None)
def test_canonical_text_is_read_back_as_the_same_tree(random: Random, depth: int) -> None:
    pattern = flat(random_pattern(random, ("A", "b", "C_1"), depth))
    assert parse(str(pattern)) == pattern
    assert str(parse(str(pattern))) == str(pattern)


def test_quoted_names() -> None:
    quoted = [Lexeme(Kind.QUOTED, "my var", 0, 8), Lexeme(Kind.OTHER, "+", 8, 9), Lexeme(Kind.QUOTED, "a`b", 10, 16)]
    assert str(parse_pattern(quoted, 0, 16)) == "`my var`+ `a``b`"
    assert parse_pattern([Lexeme(Kind.QUOTED, "not", 0, 5)], 0, 5) == Variable("not")


def test_variables_in_order_of_first_use() -> None:
    assert variables(parse("C (B | A)+ C")) == ("C", "B", "A")


@pytest.mark.parametrize(
    ("text", "at", "problem"),
    [
        ("", 0, "the pattern is empty"),
        ("A |", 3, "ends too early"),
        ("(A", 2, ""),
        ("A)", 1, "found ')'"),
        ("| A", 0, "found '|'"),
        ("A ++", 3, "greedy"),
        ("A+?", 2, "greedy"),
        ("+", 0, "found '+'"),
        ("A, B", 1, "found ','"),
        ("A 1b", 2, "found '1b'"),
        ("SEQ()", 4, "found ')'"),
        ("A [", 2, "found '['"),
        ("Abc ABC", 4, "'Abc' is also spelled 'ABC'"),
    ],
)
def test_errors_say_where_and_what(text: str, at: int, problem: str) -> None:
    with pytest.raises(PlanningError) as caught:
        parse(text)
    assert caught.value.condition == "TREND_PATTERN_SYNTAX"
    assert caught.value.start == OFFSET + at
    assert problem in caught.value.parameters["problem"]


@pytest.mark.parametrize(
    ("text", "at", "feature"),
    [
        ("A & B", 2, "&"),
        ("& B", 0, "&"),
        ("A{2,3}", 1, "{n,m}"),
        ("A {2}", 2, "{n,m}"),
        ("A NOT B C", 2, "NOT"),
        ("not A", 0, "NOT"),
        ("AND(A, B)", 0, "AND"),
        ("permute(A, B)", 0, "PERMUTE"),
    ],
)
def test_operators_that_are_to_come_are_named(text: str, at: int, feature: str) -> None:
    with pytest.raises(PlanningError) as caught:
        parse(text)
    assert caught.value.condition == "TREND_NOT_SUPPORTED_YET"
    assert caught.value.start == OFFSET + at
    assert feature in caught.value.parameters["feature"]


def test_depth_is_limited() -> None:
    assert parse("(" * MAX_DEPTH + "A" + ")" * MAX_DEPTH) == Variable("A")
    with pytest.raises(PlanningError) as caught:
        parse("(" * (MAX_DEPTH + 1) + "A" + ")" * (MAX_DEPTH + 1))
    assert caught.value.condition == "TREND_PATTERN_TOO_DEEP"
