"""From lexemes to a pattern: the grammar inside ``PATTERN ( … )``.

::

    alternation := shuffle ( '|' shuffle )*
    shuffle     := sequence ( '&' sequence )*
    sequence    := element+
    element     := NOT factor | factor
    factor      := primary [ '+' | '*' | '?' | '{' n '}' | '{' [n] ',' [m] '}' ]
    primary     := variable | '(' alternation ')'
                 | SEQ '(' alternation, … ')' | OR '(' alternation, … ')'
                 | AND '(' alternation, … ')' | PERMUTE '(' alternation, … ')'

A negation in parentheses, or as an argument of SEQ, is one until it turns out not to be part of a sequence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence as Row
from dataclasses import dataclass
from enum import Enum

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.pattern import (
    Alternation,
    Node,
    Not,
    Pattern,
    Repeat,
    Sequence,
    Shuffle,
    Variable,
    negations,
)

_QUANTIFIERS: dict[str, tuple[int, int | None]] = {"+": (1, None), "*": (0, None), "?": (0, 1)}
_FUNCTIONS = ("SEQ", "OR", "AND", "PERMUTE", "FUNNEL")
_INSIDE = "it is inside another NOT"
_EXCLUSION = "'{- … -}' does not apply: no events are returned, so there are none to leave out"
_ANCHOR = (
    "the anchor '{}' does not apply: a trend may begin and end anywhere in its partition and window; "
    "to forbid events before its first or after its last, write NOT there, as in NOT X A B NOT X"
)
_INFIX = {"OR": "A | B or OR(A, B)", "AND": "A & B or AND(A, B)"}
_BY_SPACE = "; a sequence is written A B, and steps that some do not reach FUNNEL(A, B)"
_ANCHORS = {symbol: _ANCHOR.format(symbol) for symbol in "^$"}
MAX_DEPTH = 100
"""Deepest nesting of parentheses that a pattern may have."""
MAX_BOUND = 1000
"""Greatest bound of a quantifier."""


class LexemeKind(Enum):
    """What a lexeme is."""

    WORD = "word"
    QUOTED = "quoted"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word, a quoted identifier or one symbol, with its position in the user's text."""

    kind: LexemeKind
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
        Lexeme(LexemeKind.WORD if m[1] else LexemeKind.OTHER, m[0], start + m.start(), start + m.end())
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
        PlanningError: ``TREND_PATTERN_SYNTAX`` for what is no pattern, ``TREND_NOT_MISPLACED``,
            ``TREND_QUANTIFIER_BOUNDS``, ``TREND_PATTERN_TOO_DEEP``.
    """
    if not row:
        raise PlanningError("TREND_PATTERN_SYNTAX", start, end, problem="the pattern is empty")
    return _Reader(row, end).pattern()


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
        lexeme = self.peek()
        if lexeme is None or lexeme.kind is not LexemeKind.OTHER or lexeme.text != symbol:
            return False
        self._at += 1
        return True

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            raise self.unexpected(self.peek(), f"'{symbol}' is missing")

    def unexpected(self, lexeme: Lexeme | None, problem: str | None = None) -> PlanningError:
        if lexeme is None:
            problem = problem or "the pattern ends too early"
            return PlanningError("TREND_PATTERN_SYNTAX", self._end, self._end, problem=problem)
        problem = f"{problem or 'a variable or an operator was expected'}, found '{lexeme.text}'"
        problem += self._proposed(lexeme)
        return PlanningError("TREND_PATTERN_SYNTAX", lexeme.start, lexeme.end, problem=problem)

    def _proposed(self, lexeme: Lexeme) -> str:
        """What was probably meant by the lexeme under way, as the end of a message."""
        following = self.peek(1)
        is_arrow = lexeme.text == "-" and following is not None and following.text == ">"
        return _BY_SPACE if is_arrow or lexeme.text == "," else ""

    def pattern(self) -> Pattern:
        """The whole of it."""
        whole = self.alternation(0)
        if (rest := self.peek()) is not None:
            raise self.foreign(rest, _ANCHORS[rest.text]) if rest.text in _ANCHORS else self.unexpected(rest)
        return self.positive(whole, 0, "it stands alone")

    def positive(self, node: Node, begin: int, problem: str) -> Pattern:
        """``node``, read from lexeme number ``begin`` on, which must not be made of negations only."""
        if isinstance(node, Not) or (isinstance(node, Sequence) and all(isinstance(part, Not) for part in node.parts)):
            raise self.misplaced(begin, problem)
        return node

    def misplaced(self, begin: int, problem: str) -> PlanningError:
        """The first NOT from lexeme number ``begin`` on cannot stand there."""
        at = next(lexeme for lexeme in self._row[begin:] if _is_not(lexeme))
        return PlanningError("TREND_NOT_MISPLACED", at.start, at.end, problem=problem)

    def alternation(self, depth: int) -> Node:
        begins = [self._at]
        parts = [self.shuffle(depth)]
        while self.take("|"):
            begins.append(self._at)
            parts.append(self.shuffle(depth))
        return parts[0] if len(parts) == 1 else self.alternatives(parts, begins)

    def alternatives(self, parts: list[Node], begins: list[int]) -> Pattern:
        """Any one of ``parts``, each read from a lexeme number of ``begins`` on."""
        flat: list[Pattern] = []
        for part, begin in zip(parts, begins, strict=True):
            alternative = self.positive(part, begin, "it is an alternative by itself")
            flat.extend(alternative.parts if isinstance(alternative, Alternation) else (alternative,))
        return Alternation(tuple(flat))

    def shuffle(self, depth: int) -> Node:
        begin = self._at
        parts = [self.sequence(depth)]
        while self.take("&"):
            parts.append(self.sequence(depth))
        return parts[0] if len(parts) == 1 else self.shuffled(parts, begin)

    def shuffled(self, parts: list[Node], begin: int) -> Pattern:
        """``parts``, the first of them read from lexeme number ``begin`` on, side by side."""
        flat: list[Pattern] = []
        for part in parts:
            if isinstance(part, Not) or negations(part):
                raise self.misplaced(begin, "it is inside '&', where no step has one event before and one after it")
            flat.extend(part.parts if isinstance(part, Shuffle) else (part,))
        return Shuffle(tuple(flat))

    def sequence(self, depth: int) -> Node:
        parts = [self.element(depth)]
        while self._starts_element(self.peek()):
            parts.append(self.element(depth))
        return _sequence(parts)

    def element(self, depth: int) -> Node:
        if not _is_not(self.peek()):
            return self.factor(depth)
        self._at += 1
        begin = self._at
        operand = self.positive(self.factor(depth), begin, _INSIDE)
        if negations(operand):
            raise self.misplaced(begin, _INSIDE)
        return Not(operand)

    def factor(self, depth: int) -> Node:
        begin = self._at
        operand = self.primary(depth)
        lexeme = self.peek()
        bounds = self.quantifier()
        if bounds is None:
            return operand
        second = self.peek()
        if second is not None and second.kind is LexemeKind.OTHER and second.text in (*_QUANTIFIERS, "{"):
            assert lexeme is not None
            raise PlanningError(
                "TREND_PATTERN_SYNTAX",
                second.start,
                second.end,
                problem=f"'{second.text}' follows the quantifier '{lexeme.text}'; all trends count, so there "
                "are no greedy or reluctant quantifiers, and a repeated repetition needs parentheses",
            )
        operand = self.positive(operand, begin, "it is repeated")
        return operand if bounds == (1, 1) else Repeat(operand, *bounds)

    def quantifier(self) -> tuple[int, int | None] | None:
        """Bounds of the quantifier that comes next; None when none does."""
        lexeme = self.peek()
        if lexeme is None or lexeme.kind is not LexemeKind.OTHER:
            return None
        if lexeme.text in _QUANTIFIERS:
            self._at += 1
            return _QUANTIFIERS[lexeme.text]
        if not self.take("{"):
            return None
        if self._is_exclusion():
            raise self.foreign(lexeme, _EXCLUSION)
        least = self.number()
        comma = self.take(",")
        most = self.number() if comma else least
        closing = self.peek()
        if closing is None or not self.take("}"):
            raise self._wrong_bounds(closing)
        problem = None
        if least is None and most is None:
            problem = "a bound is missing"
        elif most == 0:
            problem = "the upper bound is zero, so nothing would match"
        elif least is not None and most is not None and least > most:
            problem = f"the lower bound {least} is above the upper bound {most}"
        elif max(least or 0, most or 0) > MAX_BOUND:
            problem = f"a bound is above {MAX_BOUND}"
        if problem is not None:
            raise PlanningError("TREND_QUANTIFIER_BOUNDS", lexeme.start, closing.end, problem=problem)
        return least or 0, most

    def _is_exclusion(self) -> bool:
        """Whether what follows a brace is the beginning of ``{- A -}``, and no negative bound."""
        dash, inner = self.peek(), self.peek(1)
        if dash is None or dash.text != "-":
            return False
        return inner is None or not inner.text[0].isdigit()

    def _wrong_bounds(self, lexeme: Lexeme | None) -> PlanningError:
        """Something stands in place of the brace that closes a quantifier."""
        if lexeme is None:
            return self.unexpected(None, "the brace of a quantifier is never closed")
        problem = f"its bounds are whole numbers from 0 to {MAX_BOUND}, found '{self._bound_text()}'"
        return PlanningError("TREND_QUANTIFIER_BOUNDS", lexeme.start, lexeme.end, problem=problem)

    def _bound_text(self) -> str:
        """What stands in place of a bound: a sign or point with what follows it, or one lexeme."""
        first, second = self.peek(), self.peek(1)
        assert first is not None
        is_part = first.text in "-+." and second is not None and second.start == first.end and second.text != "}"
        return first.text + (second.text if is_part and second is not None else "")

    def foreign(self, lexeme: Lexeme, problem: str) -> PlanningError:
        """Something of MATCH_RECOGNIZE that patterns of trends have not."""
        return PlanningError("TREND_PATTERN_SYNTAX", lexeme.start, lexeme.end, problem=problem)

    def number(self) -> int | None:
        """The number that comes next; None when something else does."""
        lexeme = self.peek()
        if lexeme is None or not (lexeme.text.isascii() and lexeme.text.isdigit()):
            return None
        self._at += 1
        return min(int(lexeme.text[-9:]) + (10**9 if lexeme.text[:-9].strip("0") else 0), 10**9)

    def primary(self, depth: int) -> Node:
        lexeme = self.peek()
        if lexeme is None:
            raise self.unexpected(None)
        if depth > MAX_DEPTH:
            raise PlanningError("TREND_PATTERN_TOO_DEEP", lexeme.start, lexeme.end, limit=str(MAX_DEPTH))
        if self.take("("):
            inner = self.alternation(depth + 1)
            self.expect(")")
            return inner
        if lexeme.kind is LexemeKind.OTHER:
            following = self.peek(1)
            if lexeme.text == "{" and following is not None and following.text == "-":
                raise self.foreign(lexeme, _EXCLUSION)
            if lexeme.text in _ANCHORS:
                raise self.foreign(lexeme, _ANCHORS[lexeme.text])
            raise self.unexpected(lexeme)
        if lexeme.kind is LexemeKind.WORD:
            return self._word(lexeme, depth)
        return self._variable(lexeme)

    def _word(self, lexeme: Lexeme, depth: int) -> Node:
        following = self.peek(1)
        called = following is not None and following.kind is LexemeKind.OTHER and following.text == "("
        word = lexeme.text.upper()
        if word == "NOT":
            raise self.misplaced(self._at, "it follows another NOT")
        if called and word in _FUNCTIONS:
            return self._function(lexeme, word, depth)
        if word in _INFIX:
            raise self._infix(lexeme)
        if lexeme.text[0].isdigit():
            raise self.unexpected(lexeme)
        return self._variable(lexeme)

    def _infix(self, lexeme: Lexeme) -> PlanningError:
        """A word stands between two parts, as it would between conditions."""
        problem = f"'{lexeme.text}' is no variable: write {_INFIX[lexeme.text.upper()]}"
        return self.foreign(lexeme, f"{problem}; a variable of that name stands in backquotes")

    def _function(self, lexeme: Lexeme, word: str, depth: int) -> Node:
        follows = self._at > 0 and self._row[self._at - 1].text not in ("(", ",", "|", "&")
        self._at += 2
        begins = [self._at]
        parts = [self.alternation(depth + 1)]
        while self.take(","):
            begins.append(self._at)
            parts.append(self.alternation(depth + 1))
        self.expect(")")
        if word in _INFIX and len(parts) == 1 and follows:
            raise self._infix(lexeme)
        if word == "FUNNEL":
            return self.funnel(parts, begins)
        if word == "SEQ" or len(parts) == 1:
            return _sequence(parts)
        if word == "OR":
            return self.alternatives(parts, begins)
        return self.shuffled(parts, begins[0])

    def funnel(self, parts: list[Node], begins: list[int]) -> Node:
        """The first of some steps, maybe with those after it: ``A (B C?)?``."""
        steps = [
            self.positive(part, begin, "it is a step of FUNNEL by itself")
            for part, begin in zip(parts, begins, strict=True)
        ]
        *before, reached = steps
        for step in reversed(before):
            whole = _sequence([step, Repeat(reached, 0, 1)])
            assert not isinstance(whole, Not)
            reached = whole
        return reached

    def _variable(self, lexeme: Lexeme) -> Variable:
        self._at += 1
        first = self._spelling.setdefault(lexeme.text.upper(), lexeme.text)
        if first != lexeme.text:
            raise PlanningError(
                "TREND_PATTERN_SYNTAX",
                lexeme.start,
                lexeme.end,
                problem=f"the variable '{first}' is also spelled '{lexeme.text}'; names of variables ignore case, "
                "so write it one way",
            )
        return Variable(lexeme.text)

    @staticmethod
    def _starts_element(lexeme: Lexeme | None) -> bool:
        return lexeme is not None and (lexeme.kind is not LexemeKind.OTHER or lexeme.text == "(")


def _sequence(parts: list[Node]) -> Node:
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Sequence) else (part,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _is_not(lexeme: Lexeme | None) -> bool:
    return lexeme is not None and lexeme.kind is LexemeKind.WORD and lexeme.text.upper() == "NOT"
