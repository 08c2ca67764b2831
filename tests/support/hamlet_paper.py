"""What the HAMLET paper decides for each burst, by its own cost formula, to be compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Burst:
    """A burst, of which is to be decided who shares it.

    Attributes:
        events: How many it has.
        seen: How many events there are in the window so far, with it.
        graphlet: Events of a graphlet.
        types: Event types of a query.
    """

    events: int
    seen: int
    graphlet: int
    types: int

    def shared(self, queries: int, created: int, propagated: int) -> int:
        """Accesses to events and coefficients if queries share it, with so many snapshots created and propagated."""
        return self.events * self.seen * propagated + created * queries * self.graphlet * self.types

    def alone(self, queries: int) -> int:
        """Accesses if each of so many queries computes it by itself."""
        return queries * self.events * self.seen

    def benefit(self, queries: int, created: int, propagated: int) -> int:
        """What is saved by sharing; that pays if it is more than nothing."""
        return self.alone(queries) - self.shared(queries, created, propagated)

    def cost(self, introduced: Sequence[int], sharing: Collection[int]) -> int:
        """Accesses if some queries share and the others go alone.

        Args:
            introduced: Per query, how many snapshots it needs beside the one at the beginning of the burst.
            sharing: Numbers of those that share.
        """
        if not sharing:
            return self.alone(len(introduced))
        snapshots = 1 + sum(introduced[query] for query in sharing)
        return self.shared(len(sharing), snapshots, snapshots) + self.alone(len(introduced) - len(sharing))


def cheapest(burst: Burst, introduced: Sequence[int]) -> tuple[int, ...]:
    """The queries that should share a burst, by the published formula; none, or at least two.

    Among as many queries, those that introduce fewest snapshots cost least. So the best set is one of the first when
    queries are sorted by that. The rule of the paper, `by_theorems`, does not always find it.
    """
    order = sorted(range(len(introduced)), key=introduced.__getitem__)
    prefixes = [(), *(tuple(sorted(order[:size])) for size in range(2, len(order) + 1))]
    return min(prefixes, key=lambda sharing: burst.cost(introduced, sharing))


def by_theorems(burst: Burst, introduced: Sequence[int]) -> tuple[int, ...]:
    """The queries that share a burst by Theorems 4.3 and 4.5 of the paper.

    These are the ones that introduce no snapshots, and each other one without which all others would cost no less. Both
    may be dearer than another choice.
    """
    everyone = range(len(introduced))
    together = burst.cost(introduced, everyone)

    def pays(query: int) -> bool:
        return together <= burst.cost(introduced, [candidate for candidate in everyone if candidate != query])

    sharing = tuple(query for query in everyone if not introduced[query] or pays(query))
    return sharing if len(sharing) > 1 else ()
