"""Patterns: regular expressions over variables, as immutable trees with one canonical text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

_WORDS = frozenset(("NOT", "SEQ", "OR", "AND", "PERMUTE", "FUNNEL"))
"""That a pattern may be written with."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One event that matches the variable ``name``."""

    name: str

    def __str__(self) -> str:
        plain = self.name.isidentifier() and self.name.isascii() and self.name.upper() not in _WORDS
        return self.name if plain else "`" + self.name.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts one after another; at least two, not all of them negations."""

    parts: tuple[Pattern | Not, ...]

    def __str__(self) -> str:
        return " ".join(_bracketed(part, Alternation, Shuffle) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Alternation:
    """Any one of the parts; at least two."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " | ".join(str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The parts side by side, their events interleaved in any way; at least two, without negations."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " & ".join(_bracketed(part, Alternation) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """No trend of ``operand`` between the event before and the event after; part of a sequence only."""

    operand: Pattern

    def __str__(self) -> str:
        return "NOT " + _bracketed(self.operand, Sequence, Alternation, Shuffle)


@dataclass(frozen=True, slots=True)
class Repeat:
    """``operand`` one after another, ``least`` to ``most`` times; ``most`` is None for no bound."""

    operand: Pattern
    least: int
    most: int | None

    def __str__(self) -> str:
        return _bracketed(self.operand, Sequence, Alternation, Shuffle, Repeat) + self.quantifier

    @property
    def quantifier(self) -> str:
        """The shortest spelling of the bounds."""
        short = {(1, None): "+", (0, None): "*", (0, 1): "?"}
        bounds = (self.least, self.most)
        if bounds in short:
            return short[bounds]
        least = str(self.least or "") if self.most is not None else str(self.least)
        most = "" if self.most is None else str(self.most)
        return f"{{{self.least}}}" if self.least == self.most else f"{{{least},{most}}}"


Pattern: TypeAlias = Variable | Sequence | Alternation | Shuffle | Repeat
Node: TypeAlias = Pattern | Not


def variables(pattern: Pattern) -> tuple[str, ...]:
    """Names of the variables of ``pattern``, each once, in order of first use."""
    return tuple(dict.fromkeys(_names(pattern, frozenset())))


def positive_variables(pattern: Pattern) -> frozenset[str]:
    """Names of the variables that an event of a trend may stand for, which those under NOT are not."""
    return frozenset(_names(pattern, frozenset((Not,))))


def negated_variables(pattern: Pattern) -> frozenset[str]:
    """Names of the variables that stand under NOT."""
    return frozenset(name for negated in negations(pattern) for name in variables(negated))


def negations(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns that stand under NOT, each once, in order of first use; not those within them."""
    return tuple(dict.fromkeys(_negations(pattern)))


def _names(node: Node, skipped: frozenset[type]) -> Iterator[str]:
    match node:
        case Variable(name):
            yield name
        case Not() if Not in skipped:
            return
        case Repeat(operand) | Not(operand):
            yield from _names(operand, skipped)
        case Sequence(parts) | Alternation(parts) | Shuffle(parts):
            for part in parts:
                yield from _names(part, skipped)


def _negations(node: Node) -> Iterator[Pattern]:
    match node:
        case Variable():
            return
        case Not(operand):
            yield operand
        case Repeat(operand):
            yield from _negations(operand)
        case Sequence(parts) | Alternation(parts) | Shuffle(parts):
            for part in parts:
                yield from _negations(part)


def _bracketed(pattern: Node, *kinds: type) -> str:
    return f"({pattern})" if isinstance(pattern, kinds) else str(pattern)
