"""Statistics: how many events of each class there are in a group and window, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sparkext.planner.patterns.query import EventClass, Query

ASSUMED = 100.0
"""Events of a class in a group and window when nothing is known."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Events of a class in a group and window; in a pool with different windows, in the longest.

    Attributes:
        events: How many.
        origin: How that is known.
    """

    events: float
    origin: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What has been seen of a source.

    Attributes:
        events: Per class, how many events.
        keys: How many combinations of keys.
        span: Time from the first event of a combination to its last, summed over all of them, in units of
            the time column.
        origin: Where it has been seen.
        largest: Share of the events that are of the combination of keys with most; 0 when that is not known.
    """

    events: Mapping[EventClass, int]
    keys: int
    span: int
    origin: str
    largest: float = 0.0

    def expected(self, event: EventClass, within: int | None) -> Expected | None:
        """Events of a class in windows of length ``within``; None when there is nothing to tell it from."""
        if event not in self.events or self.keys < 1:
            return None
        windows = float(self.keys)
        if within is not None:
            windows = max(windows, self.span / within)
        return Expected(self.events[event] / windows, self.origin)


def longest_window(queries: Iterable[Query]) -> int | None:
    """Length of the longest bounded window; None when there is none."""
    return max((query.window.within for query in queries if query.window is not None), default=None)


def expectations(
    classes: Sequence[EventClass], within: int | None, given: Mapping[str, float], seen: Sequence[Seen]
) -> dict[EventClass, Expected]:
    """What to expect of each class: what a user says, else the first that has been seen, else an assumption.

    Args:
        classes: The classes.
        within: Length of the longest window.
        given: Events by the text of a class, or by its type alone.
        seen: Most trusted first.
    """
    found: dict[EventClass, Expected] = {}
    for event in classes:
        for name in (str(event), event.type):
            if event not in found and name is not None and name in given:
                found[event] = Expected(given[name], "given")
        for source in seen:
            if event not in found and (expected := source.expected(event, within)) is not None:
                found[event] = expected
        found.setdefault(event, Expected(ASSUMED, "assumed"))
    return found
