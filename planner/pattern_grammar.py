"""From lexemes to a pattern: the grammar inside ``PATTERN ( … )``.

::

    alternation := sequence ( '|' sequence )*
    sequence    := factor+
    factor      := primary [ '+' | '*' | '?' ]
    primary     := variable | '(' alternation ')'
                 | SEQ '(' alternation, … ')' | OR '(' alternation, … ')'
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Row
from dataclasses import dataclass
from enum import Enum

from planner.errors import PlanningError
from planner.pattern import Alternation, Pattern, Repeat, Sequence, Variable

_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"+": (1, None), "*": (0, None), "?": (0, 1)}
_NOT_YET = {"&": "&", "{": "{n,m}"}
_NOT_YET_WORDS = {"NOT": "NOT", "AND": "AND", "PERMUTE": "PERMUTE"}
MAX_DEPTH = 100
"""Deepest nesting of parentheses that a pattern may have."""


class Kind(Enum):
    """What a lexeme is."""

    WORD = "word"
    QUOTED = "quoted"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word, a quoted identifier or one symbol, with its place in the user's text."""

    kind: Kind
    text: str
    start: int
    end: int


_LEXEME = re.compile(r"\s+|(\w+)|.", re.DOTALL)


def lexemes(text: str, start: int) -> list[Lexeme]:
    """Words and single symbols of ``text``, which holds no quotes and no comments.

    Args:
        text: Part of a pattern.
        start: Offset of ``text`` in the user's text.
    """
    return [
        Lexeme(Kind.WORD if m[1] else Kind.OTHER, m[0], start + m.start(), start + m.end())
        for m in _LEXEME.finditer(text)
        if not m[0].isspace()
    ]


def parse_pattern(row: Row[Lexeme], start: int, end: int) -> Pattern:
    """The pattern that ``row`` spells.

    Args:
        row: What stands between the parentheses of ``PATTERN ( … )``.
        start: Offset of the text that ``row`` was read from.
        end: Offset just past it, where a missing part would stand.

    Raises:
        PlanningError: ``TREND_PATTERN_SYNTAX`` for what is no pattern, ``TREND_NOT_SUPPORTED_YET``
            for an operator that is still to come, ``TREND_PATTERN_TOO_DEEP``.
    """
    if not row:
        raise PlanningError("TREND_PATTERN_SYNTAX", start, end, problem="the pattern is empty")
    reader = _Reader(row, end)
    pattern = reader.alternation(0)
    if (rest := reader.peek()) is not None:
        raise reader.unexpected(rest)
    return pattern


class _Reader:
    def __init__(self, row: Row[Lexeme], end: int) -> None:
        self._row = row
        self._end = end
        self._at = 0
        self._spelling: dict[str, str] = {}

    def peek(self, ahead: int = 0) -> Lexeme | None:
        at = self._at + ahead
        return self._row[at] if at < len(self._row) else None

    def take(self, symbol: str) -> bool:
        found = self.peek()
        if found is None or found.kind is not Kind.OTHER or found.text != symbol:
            return False
        self._at += 1
        return True

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            raise self.unexpected(self.peek(), f"'{symbol}' is missing")

    def unexpected(self, found: Lexeme | None, problem: str | None = None) -> PlanningError:
        if found is None:
            problem = problem or "the pattern ends too early"
            return PlanningError("TREND_PATTERN_SYNTAX", self._end, self._end, problem=problem)
        if found.kind is Kind.OTHER and found.text in _NOT_YET:
            return _not_yet(_NOT_YET[found.text], found)
        problem = f"{problem or 'a variable or an operator was expected'}, found '{found.text}'"
        return PlanningError("TREND_PATTERN_SYNTAX", found.start, found.end, problem=problem)

    def alternation(self, depth: int) -> Pattern:
        parts = [self.sequence(depth)]
        while self.take("|"):
            parts.append(self.sequence(depth))
        return _flat(Alternation, parts)

    def sequence(self, depth: int) -> Pattern:
        parts = [self.factor(depth)]
        while self._starts_factor(self.peek()):
            parts.append(self.factor(depth))
        return _flat(Sequence, parts)

    def factor(self, depth: int) -> Pattern:
        operand = self.primary(depth)
        found = self.peek()
        if found is None or found.kind is not Kind.OTHER or found.text not in _QUANTIFIERS:
            return operand
        self._at += 1
        second = self.peek()
        if second is not None and second.kind is Kind.OTHER and second.text in _QUANTIFIERS:
            raise PlanningError(
                "TREND_PATTERN_SYNTAX",
                second.start,
                second.end,
                problem=f"'{second.text}' follows the quantifier '{found.text}'; all trends count, so there "
                "are no greedy or reluctant quantifiers, and a repeated repetition needs parentheses",
            )
        return Repeat(operand, *_QUANTIFIERS[found.text])

    def primary(self, depth: int) -> Pattern:
        found = self.peek()
        if found is None:
            raise self.unexpected(None)
        if depth > MAX_DEPTH:
            raise PlanningError("TREND_PATTERN_TOO_DEEP", found.start, found.end, limit=str(MAX_DEPTH))
        if self.take("("):
            inner = self.alternation(depth + 1)
            self.expect(")")
            return inner
        if found.kind is Kind.OTHER:
            raise self.unexpected(found)
        if found.kind is Kind.WORD:
            return self._word(found, depth)
        return self._variable(found)

    def _word(self, found: Lexeme, depth: int) -> Pattern:
        following = self.peek(1)
        called = following is not None and following.kind is Kind.OTHER and following.text == "("
        word = found.text.upper()
        if word == "NOT" or (called and word in _NOT_YET_WORDS):
            raise _not_yet(_NOT_YET_WORDS[word], found)
        if called and word in ("SEQ", "OR"):
            self._at += 2
            parts = [self.alternation(depth + 1)]
            while self.take(","):
                parts.append(self.alternation(depth + 1))
            self.expect(")")
            return _flat(Sequence if word == "SEQ" else Alternation, parts)
        if found.text[0].isdigit():
            raise self.unexpected(found)
        return self._variable(found)

    def _variable(self, found: Lexeme) -> Variable:
        self._at += 1
        first = self._spelling.setdefault(found.text.upper(), found.text)
        if first != found.text:
            raise PlanningError(
                "TREND_PATTERN_SYNTAX",
                found.start,
                found.end,
                problem=f"the variable '{first}' is also spelled '{found.text}'; names of variables ignore case, "
                "so write it one way",
            )
        return Variable(found.text)

    @staticmethod
    def _starts_factor(found: Lexeme | None) -> bool:
        return found is not None and (found.kind is not Kind.OTHER or found.text in ("(", *_NOT_YET))


def _flat(kind: type[Sequence] | type[Alternation], parts: list[Pattern]) -> Pattern:
    flat: list[Pattern] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _not_yet(feature: str, found: Lexeme) -> PlanningError:
    return PlanningError("TREND_NOT_SUPPORTED_YET", found.start, found.end, feature=f"{feature} in PATTERN")
