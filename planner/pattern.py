"""Patterns: regular expressions over variables, as immutable trees with one canonical text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Variable:
    """One event that matches the variable ``name``."""

    name: str

    def __str__(self) -> str:
        plain = self.name.isidentifier() and self.name.isascii()
        return self.name if plain else "`" + self.name.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts one after another; at least two."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " ".join(_bracketed(part, Alternation) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Alternation:
    """Any one of the parts; at least two."""

    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " | ".join(str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Repeat:
    """``operand`` one after another, ``least`` to ``most`` times; ``most`` is None for no bound."""

    operand: Pattern
    least: int
    most: int | None

    def __str__(self) -> str:
        return _bracketed(self.operand, Sequence, Alternation, Repeat) + self.quantifier

    @property
    def quantifier(self) -> str:
        """The shortest spelling of the bounds."""
        short = {(1, None): "+", (0, None): "*", (0, 1): "?"}
        bounds = (self.least, self.most)
        if bounds in short:
            return short[bounds]
        most = "" if self.most is None else str(self.most)
        return f"{{{self.least}}}" if self.least == self.most else f"{{{self.least},{most}}}"


Pattern: TypeAlias = Variable | Sequence | Alternation | Repeat


def variables(pattern: Pattern) -> tuple[str, ...]:
    """Names of the variables of ``pattern``, each once, in order of first use."""
    return tuple(dict.fromkeys(_names(pattern)))


def _names(pattern: Pattern) -> Iterator[str]:
    match pattern:
        case Variable(name):
            yield name
        case Repeat(operand):
            yield from _names(operand)
        case Sequence(parts) | Alternation(parts):
            for part in parts:
                yield from _names(part)


def _bracketed(pattern: Pattern, *kinds: type) -> str:
    return f"({pattern})" if isinstance(pattern, kinds) else str(pattern)
