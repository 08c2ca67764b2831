"""Statistics: how many events of each class there are in a group and window, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkext.planner.patterns.query import EventClass, Query

ASSUMED = 100.0
"""Events of a class in a group and window when nothing is known."""


@dataclass(frozen=True, slots=True)
class ExpectedEvents:
    """Events of a class in a group and window; in a pool with different windows, in the longest.

    Attributes:
        events: How many.
        origin: How that is known.
        runs: How many runs of them, see `ObservedStatistics.runs`; None when that is not known.
    """

    events: float
    origin: str
    runs: float | None = None

    @property
    def expected_runs(self) -> float:
        """How many runs there are; where that is not known, each event is believed to be one, as if all were mixed."""
        return self.events if self.runs is None else self.runs

    def runs_among(self, events: float) -> float:
        """How many runs there are; where that is not known, of so many events that are randomly mixed."""
        if self.runs is not None:
            return self.runs
        return self.events * (1 - self.events / events) if events else 0.0


@dataclass(frozen=True, slots=True)
class ObservedStatistics:
    """What has been seen of a source.

    Attributes:
        events: Per class, how many events.
        keys: How many combinations of keys.
        span: Time from the first event of a combination to its last, summed over all of them, in units of
            the time column.
        origin: Where it has been seen.
        largest: Share of the events that are of the combination of keys with most; 0 when that is not known.
        runs: Per class, about how often its events follow on another event or begin a key, events of the class in a row
            being one run; empty when their order has not been seen.
        widest: Most bytes of the texts in a combination of keys; None when that has not been looked at.
        tied: Share of the events that have key and time in common with another.
        null_keys: Which of the keys are NULL of some events, by number.
    """

    events: Mapping[EventClass, int]
    keys: int
    span: int
    origin: str
    largest: float = 0.0
    runs: Mapping[EventClass, float] = field(default_factory=dict)
    widest: int | None = None
    tied: float = 0.0
    null_keys: tuple[int, ...] = ()

    def expected(self, event: EventClass, within: int | None) -> ExpectedEvents | None:
        """Events of a class in windows of length ``within``; None when there is nothing to tell it from."""
        if event not in self.events or self.keys < 1:
            return None
        windows = float(self.keys)
        if within is not None:
            windows = max(windows, self.span / within)
        runs = self.runs[event] / windows if event in self.runs else None
        return ExpectedEvents(self.events[event] / windows, self.origin, runs)


def longest_window(queries: Iterable[Query]) -> int | None:
    """Length of the longest bounded window; None when there is none."""
    return max((query.window.within for query in queries if query.window is not None), default=None)


def expectations(
    classes: Sequence[EventClass], within: int | None, given: Mapping[str, float], seen: Sequence[ObservedStatistics]
) -> dict[EventClass, ExpectedEvents]:
    """What to expect of each class: what a user says, else the first that has been seen, else an assumption.

    Args:
        classes: The classes.
        within: Length of the longest window.
        given: Events by the text of a class, or by its type alone.
        seen: Most trusted first.
    """
    expected_of: dict[EventClass, ExpectedEvents] = {}
    for event in classes:
        for name in (str(event), event.type):
            if event not in expected_of and name is not None and name in given:
                expected_of[event] = ExpectedEvents(given[name], "given")
        for source in seen:
            if event not in expected_of and (expected := source.expected(event, within)) is not None:
                expected_of[event] = expected
        expected_of.setdefault(event, ExpectedEvents(ASSUMED, "assumed"))
    return expected_of


def are_near(some: Mapping[EventClass, ExpectedEvents], others: Mapping[EventClass, ExpectedEvents]) -> bool:
    """Whether as many events and runs are expected of all classes of ``others``, but for a factor of two."""
    total, other_total = (sum(expectation.events for expectation in every.values()) for every in (some, others))
    return all(
        _near(some[event].events, other_expectation.events)
        and _near(some[event].runs_among(total), other_expectation.runs_among(other_total))
        for event, other_expectation in others.items()
    )


def _near(left: float, right: float) -> bool:
    low, high = sorted((left, right))
    return high <= 2 * low + 1
