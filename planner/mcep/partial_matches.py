"""How many partial matches of some event classes there are in a key and window.

Kolchinsky, Schuster: *Real-Time Multi-Pattern Detection over Event Streams* (SIGMOD 2019), section 2. What is kept of
a pattern on the way to its matches are partial matches: of some of its classes, those tuples of events that may still
become a match. Their number is the product of the numbers of events, times what part of the tuples meets the
conditions between two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from math import factorial, prod
from typing import Any, TypeAlias

Kinds: TypeAlias = "tuple[Hashable, ...]"
"""Classes of the events of a partial match, in order of time."""

Expected: TypeAlias = Callable[[Kinds, float], float]
"""How many partial matches of some classes there are in so large a part of the longest window."""


@dataclass(frozen=True, slots=True)
class PartialMatches:
    """Expected numbers of partial matches.

    Attributes:
        events: Of each class, in the longest window.
        selectivity: Of conditions on events of two classes, the part of the pairs for which they are true.
        are_ordered: Whether events must be in order of time, which 1 of n! tuples of n events are. The paper leaves
            that out.
    """

    events: Mapping[Any, float]
    selectivity: Mapping[frozenset[Any], float] = field(default_factory=dict)
    are_ordered: bool = True

    def __call__(self, kinds: Kinds, part: float = 1.0) -> float:
        """How many there are of some classes in a window that is ``part`` of the longest one."""
        tuples = prod(self.events[kind] * part for kind in kinds)
        for position, kind in enumerate(kinds) if self.selectivity else ():
            tuples *= prod(self.selectivity.get(frozenset((kind, earlier)), 1.0) for earlier in kinds[:position])
        return tuples / factorial(len(kinds)) if self.are_ordered else tuples
