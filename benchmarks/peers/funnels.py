"""The funnels that peers answer: pages in a row within an hour, over the visits of `benchmarks.visits`.

Imported by programs that have nothing but a peer's own packages.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

PAGES = tuple(f"P{number}" for number in range(1, 31))
"""The most frequent one first."""

SPAN = 3_600_000_000
"""Microseconds. The last visit of a funnel is less than that after the first."""

KEYS = ("funnel", "country")
"""Columns of an answer that tell its rows apart. Others are ``users`` and ``completions``; of funnels with a repeated
step, ``trends``. A funnel and country without any has no row."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """Pages in the order in which they are visited, the second of them once or more often if it is repeated."""

    pages: tuple[str, ...]
    repeated: bool

    @property
    def pattern(self) -> str:
        """As ``MATCH_TREND`` takes it."""
        return " ".join(f"{page}+" if self.repeated and step == 1 else page for step, page in enumerate(self.pages))


def some(number: int, repeated: bool = False) -> list[Funnel]:
    """So many different funnels of three to six steps; frequent pages are in more of them."""
    chance = random.Random(3)
    found: dict[tuple[str, ...], None] = {}
    while len(found) < number:
        steps = 3 + len(found) % 4
        # An exponential draw of each page, by its frequency: the least ones are a sample without replacement.
        draws = {page: chance.expovariate(1 / rank) for rank, page in enumerate(PAGES, 1)}
        found[tuple(sorted(PAGES, key=draws.__getitem__)[:steps])] = None
    return [Funnel(pages, repeated) for pages in found]
