"""The queries that peers answer: trends of ``A B+ C`` over the types of ride-sharing events."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from benchmarks.queries import trend
from benchmarks.rides import MIX

MINUTE = 60_000_000
WITHIN, SLIDE = 20 * MINUTE, 5 * MINUTE
"""In microseconds, as `benchmarks.queries.WINDOWS`."""

KEYS = ("query", "district", "window_start")


@dataclass(frozen=True, slots=True)
class Trend:
    """Trends of ``first repeated+ last``; of ``first repeated last`` if nothing may be repeated."""

    first: str
    repeated: str
    last: str
    kleene: bool = True

    @property
    def types(self) -> tuple[str, str, str]:
        """All three."""
        return self.first, self.repeated, self.last

    @property
    def pattern(self) -> str:
        """As ``MATCH_TREND`` takes it."""
        return f"{self.first} {self.repeated}{'+' if self.kleene else ''} {self.last}"

    def sql(self) -> str:
        """The query."""
        return trend("rides", self.pattern, "COUNT(*) AS n")


def some(number: int) -> list[Trend]:
    """So many different choices of three types; the first is ``Request Travel+ Delivery``."""
    first = ("Request", "Travel", "Delivery")
    others = [types for types in permutations(MIX, 3) if types != first]
    step = max(1, len(others) // number)
    return [Trend(*types) for types in (first, *others[::step])][:number]


def quoted(names: tuple[str, ...]) -> str:
    """Strings of SQL, separated by commas."""
    return ", ".join(f"'{name}'" for name in names)
