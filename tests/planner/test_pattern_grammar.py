"""Patterns: one canonical text, read back as the same tree; errors at the right place."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.pattern import (
    Alternation,
    Not,
    Pattern,
    Repeat,
    Sequence,
    Shuffle,
    Variable,
    negations,
    positive_variables,
    variables,
)
from sparkext.planner.patterns.pattern_grammar import MAX_BOUND, MAX_DEPTH, Lexeme, LexemeKind, lexemes, parse_pattern
from tests.support.workloads import random_pattern

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
        ("SEQ A", "`SEQ` A"),
        ("A\n\t( B )", "A B"),
        ("Ü+", "`Ü`+"),
        ("A & B", "A & B"),
        ("A & (B & C)", "A & B & C"),
        ("(A & B) & C", "A & B & C"),
        ("(A & B) C", "(A & B) C"),
        ("A & B | C", "A & B | C"),
        ("A & (B | C)", "A & (B | C)"),
        ("(A & B)+", "(A & B)+"),
        ("AND(A, B C, D | E)", "A & B C & (D | E)"),
        ("permute(A, B, C)", "A & B & C"),
        ("AND(A)", "A"),
        ("PERMUTE(A B)", "A B"),
        ("Seq(A, And(B, Or(C, D)), Permute(E, F))", "A (B & (C | D)) (E & F)"),
        ("funnel PERMUTE", "`funnel` `PERMUTE`"),
        ("A{2}", "A{2}"),
        ("A{2,}", "A{2,}"),
        ("A{2,5}", "A{2,5}"),
        ("A{,5}", "A{,5}"),
        ("A{0,5}", "A{,5}"),
        ("A { 2 , 5 }", "A{2,5}"),
        ("A{1}", "A"),
        ("A{1,1}", "A"),
        ("(A B){01}", "A B"),
        ("A{0,1}", "A?"),
        ("A{,1}", "A?"),
        ("A{0,}", "A*"),
        ("A{1,}", "A+"),
        ("A{1000}", "A{1000}"),
        ("(A{2})+", "(A{2})+"),
        ("(A B){2}", "(A B){2}"),
        ("A NOT N B", "A NOT N B"),
        ("A not N B", "A NOT N B"),
        ("NOT N A", "NOT N A"),
        ("A NOT N", "A NOT N"),
        ("NOT N C*", "NOT N C*"),
        ("A NOT C+ B", "A NOT C+ B"),
        ("A NOT (C D) B", "A NOT (C D) B"),
        ("A NOT (C | D) B", "A NOT (C | D) B"),
        ("A NOT (C & D) B", "A NOT (C & D) B"),
        ("A NOT SEQ(C, D){2} B", "A NOT (C D){2} B"),
        ("A NOT ((C)) B", "A NOT C B"),
        ("A NOT N NOT M B", "A NOT N NOT M B"),
        ("SEQ(A, NOT B, C)", "A NOT B C"),
        ("SEQ(A, NOT B) C", "A NOT B C"),
        ("SEQ(NOT A, NOT B) C", "NOT A NOT B C"),
        ("(NOT N) A", "NOT N A"),
        ("((NOT N NOT M)) A", "NOT N NOT M A"),
        ("AND(NOT N) A", "NOT N A"),
        ("A (C? | NOT N C*) B", "A (C? | NOT N C*) B"),
        ("(A NOT N B)+ | (NOT M A){2}", "(A NOT N B)+ | (NOT M A){2}"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    if "`" not in canonical:
        assert parse(canonical) == parse(text)


A, B, C, D, N = (Variable(name) for name in "ABCDN")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A B & C D | A", Alternation((Shuffle((Sequence((A, B)), Sequence((C, D)))), A))),
        ("A | B & C+", Alternation((A, Shuffle((B, Repeat(C, 1, None)))))),
        ("A & B C*", Shuffle((A, Sequence((B, Repeat(C, 0, None)))))),
        ("A B{2,3}", Sequence((A, Repeat(B, 2, 3)))),
        ("(A & B){2,}", Repeat(Shuffle((A, B)), 2, None)),
        ("A NOT C+ B", Sequence((A, Not(Repeat(C, 1, None)), B))),
        ("NOT N C*", Sequence((Not(N), Repeat(C, 0, None)))),
        ("A NOT N B | C", Alternation((Sequence((A, Not(N), B)), C))),
        ("NOT N A NOT B", Sequence((Not(N), A, Not(B)))),
        ("A{3,3}", Repeat(A, 3, 3)),
    ],
)
def test_precedence(text: str, tree: Pattern) -> None:
    """Quantifiers bind tightest, then NOT, which takes one factor, then juxtaposition, ``&`` and ``|``."""
    assert parse(text) == tree


def flat(node: Any) -> Any:
    """Without sequences in sequences and so on; the tree that the grammar makes of the text of ``node``."""
    match node:
        case Variable():
            return node
        case Not(operand):
            return Not(flat(operand))
        case Repeat(operand, least, most):
            return Repeat(flat(operand), least, most)
        case Sequence(parts) | Alternation(parts) | Shuffle(parts):
            kind = type(node)
            inner = [part.parts if isinstance(part, kind) else (part,) for part in map(flat, parts)]
            spliced: tuple[Any, ...] = tuple(part for some in inner for part in some)
            return kind(spliced)


@given(st.randoms(use_true_random=False), st.integers(0, 4), st.booleans())
@settings(deadline=None)
def test_canonical_text_is_read_back_as_the_same_tree(random: Random, depth: int, negate: bool) -> None:
    pattern = flat(random_pattern(random, ("A", "b", "C_1"), depth, negate))
    assert parse(str(pattern)) == pattern
    assert str(parse(str(pattern))) == str(pattern)


def test_quoted_names() -> None:
    quoted = [
        Lexeme(LexemeKind.QUOTED, "my var", 0, 8),
        Lexeme(LexemeKind.OTHER, "+", 8, 9),
        Lexeme(LexemeKind.QUOTED, "a`b", 10, 16),
    ]
    assert str(parse_pattern(quoted, 0, 16)) == "`my var`+ `a``b`"
    for word in ("not", "OR", "and"):
        assert str(parse_pattern([Lexeme(LexemeKind.QUOTED, word, 0, 5)], 0, 5)) == f"`{word}`"


def test_variables_in_order_of_first_use() -> None:
    assert variables(parse("C (B | A)+ C")) == ("C", "B", "A")
    assert variables(parse("A NOT (N M | A) B | C & D")) == ("A", "N", "M", "B", "C", "D")


def test_variables_under_not_are_no_variables_of_trends() -> None:
    assert positive_variables(parse("A NOT (N M | A) B")) == {"A", "B"}
    assert negations(parse("(A NOT N B)+ NOT (M N) NOT N")) == (Variable("N"), Sequence((Variable("M"), N)))
    assert negations(parse("(A | B & C)+")) == ()


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
        ("A NOT n N", 8, "'n' is also spelled 'N'"),
        ("& B", 0, "found '&'"),
        ("A &", 3, "ends too early"),
        ("A & & B", 4, "found '&'"),
        ("A & | B", 4, "found '|'"),
        ("AND()", 4, "found ')'"),
        ("PERMUTE(A,)", 10, "found ')'"),
        ("SEQ(A B", 7, "')' is missing"),
        ("A{2", 3, "the brace of a quantifier is never closed"),
        ("A{2,3", 5, "the brace of a quantifier is never closed"),
        ("A{2}{3}", 4, "'{' follows the quantifier '{'"),
        ("A{2}+", 4, "'+' follows the quantifier '{'"),
        ("A+{2}", 2, "'{' follows the quantifier '+'"),
        ("A{2}?", 4, "greedy"),
        ("{2}", 0, "found '{'"),
        ("A NOT", 5, "ends too early"),
        ("A NOT ) B", 6, "found ')'"),
        ("A NOT | B", 6, "found '|'"),
        ("A NOT + B", 6, "found '+'"),
        ("A OR B", 2, "write A | B or OR(A, B)"),
        ("A or (B | C)", 2, "write A | B or OR(A, B)"),
        ("A and B", 2, "write A & B or AND(A, B)"),
        ("(A) AND (B)", 4, "write A & B or AND(A, B)"),
        ("A+ OR", 3, "write A | B or OR(A, B)"),
    ],
)
def test_errors_say_where_and_what(text: str, at: int, problem: str) -> None:
    with pytest.raises(PlanningError) as caught:
        parse(text)
    assert caught.value.condition == "TREND_PATTERN_SYNTAX"
    assert caught.value.start == OFFSET + at
    assert problem in caught.value.parameters["problem"]


@pytest.mark.parametrize(
    ("text", "at", "problem"),
    [
        ("NOT A", 0, "it stands alone"),
        ("(NOT A)", 1, "it stands alone"),
        ("((not A))", 2, "it stands alone"),
        ("NOT A NOT B", 0, "it stands alone"),
        ("(NOT A) (NOT B)", 1, "it stands alone"),
        ("SEQ(NOT A)", 4, "it stands alone"),
        ("SEQ(NOT A, NOT B)", 4, "it stands alone"),
        ("A (NOT B)+", 3, "it is repeated"),
        ("A (NOT B NOT C){2}", 3, "it is repeated"),
        ("A NOT C SEQ(NOT B)* D", 12, "it is repeated"),
        ("NOT A | B", 0, "alternative"),
        ("B | NOT A", 4, "alternative"),
        ("A NOT N B | C | (NOT A)", 17, "alternative"),
        ("A (B | NOT N) C", 7, "alternative"),
        ("OR(A, NOT B)", 6, "alternative"),
        ("OR(A NOT N B, (NOT B NOT C))", 15, "alternative"),
        ("SEQ(A, NOT B | C)", 7, "alternative"),
        ("A & NOT B", 4, "inside '&'"),
        ("A & NOT B C", 4, "inside '&'"),
        ("NOT A & B", 0, "inside '&'"),
        ("A & (B NOT C D)", 7, "inside '&'"),
        ("A & (B | (C NOT D A)+)", 12, "inside '&'"),
        ("A NOT N B & C", 2, "inside '&'"),
        ("AND(A, NOT B)", 7, "inside '&'"),
        ("permute(A, B, C NOT D)", 16, "inside '&'"),
        ("A NOT N AND(B, (NOT C D)) C", 16, "inside '&'"),
        ("A NOT (NOT B) C", 7, "inside another NOT"),
        ("A NOT (B NOT C) D", 9, "inside another NOT"),
        ("A NOT (B (NOT C D)+) D", 10, "inside another NOT"),
        ("A NOT NOT B C", 6, "it follows another NOT"),
        ("A NOT N NOT not B C", 12, "it follows another NOT"),
        ("A NOT (B & NOT C) D", 11, "inside '&'"),
    ],
)
def test_negations_where_they_cannot_stand(text: str, at: int, problem: str) -> None:
    """The place is that of the NOT itself, however deep it is."""
    with pytest.raises(PlanningError) as caught:
        parse(text)
    assert caught.value.condition == "TREND_NOT_MISPLACED"
    assert (caught.value.start, caught.value.end) == (OFFSET + at, OFFSET + at + 3)
    assert problem in caught.value.parameters["problem"]


@pytest.mark.parametrize(
    ("text", "at", "end", "problem"),
    [
        ("A{0}", 1, 4, "zero"),
        ("A{00}", 1, 5, "zero"),
        ("A {,}", 2, 5, "missing"),
        ("A{}", 1, 3, "missing"),
        ("A{3,2} B", 1, 6, "the lower bound 3 is above the upper bound 2"),
        ("A{,0}", 1, 5, "zero"),
        ("B A{0,0}", 3, 8, "zero"),
        ("A{1001}", 1, 7, "above 1000"),
        ("A{2,1001}", 1, 9, "above 1000"),
        ("A{1001,}", 1, 8, "above 1000"),
        ("A{ 5 , 99999999999999999999 }", 1, 29, "above 1000"),
        ("A{,10000000000}", 1, 15, "above 1000"),
        ("A{2;3}", 3, 4, "found ';'"),
        ("A{-1}", 2, 3, "found '-1'"),
        ("A{1.5}", 3, 4, "found '.5'"),
        ("A{n}", 2, 3, "found 'n'"),
    ],
)
def test_wrong_bounds(text: str, at: int, end: int, problem: str) -> None:
    with pytest.raises(PlanningError) as caught:
        parse(text)
    assert caught.value.condition == "TREND_QUANTIFIER_BOUNDS"
    assert (caught.value.start, caught.value.end) == (OFFSET + at, OFFSET + end)
    assert problem in caught.value.parameters["problem"]


def test_bounds_go_up_to_the_limit() -> None:
    assert parse(f"A{{{MAX_BOUND}}}") == Repeat(A, MAX_BOUND, MAX_BOUND)
    assert parse(f"A{{000{MAX_BOUND},}}") == Repeat(A, MAX_BOUND, None)


def test_depth_is_limited() -> None:
    assert parse("(" * MAX_DEPTH + "A" + ")" * MAX_DEPTH) == Variable("A")
    with pytest.raises(PlanningError) as caught:
        parse("(" * (MAX_DEPTH + 1) + "A" + ")" * (MAX_DEPTH + 1))
    assert caught.value.condition == "TREND_PATTERN_TOO_DEEP"
