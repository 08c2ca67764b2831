"""Fallback: which of two machines is the faster on the events at hand.

A plan shares by what statistics say, and by what things are said to cost. Where the stream departs from them, a
machine without linear forms may be faster. Every now and then the one that rests is tried on a few
events, and takes over when it is clearly faster. Both have the same results.
"""

from __future__ import annotations

PROBE = 10_000
"""Events that a machine is timed by when it is tried. As many go before, for caches to be warm."""

FIRST = 50_000
"""Events before the other machine is tried for the first time; most tasks of small sources have fewer."""

REST = 64
"""How many times the events of a trial must pass before the next; more if the one tried was much slower."""

GAIN = 0.85
"""What part of the time of the other a machine may take at most to take over."""


class Fallback:
    """Chooses between machine 0, that of the plan, and machine 1.

    Attributes:
        wanted: The machine for the events to come, as soon as it can take over.
        events: How many events machine 1 has had.
    """

    def __init__(self) -> None:
        self.wanted = 0
        self.events = 0
        self._better = 0
        self._left = FIRST
        self._cold = 0
        self._pace = [0.0, 0.0]
        self._timed = [0, 0]

    def took(self, machine: int, events: int, seconds: float) -> None:
        """Take note of what a machine has done.

        Args:
            machine: Which.
            events: How many it has processed.
            seconds: How long it took.
        """
        self.events += machine * events
        if machine != self.wanted or not events:
            return
        self._left -= events
        if self._cold > 0:
            self._cold -= events
        else:
            self._time(machine, events, seconds)
        if self._left > 0:
            return
        if machine == self._better:
            other_machine = 1 - machine
            self.wanted, self._left, self._cold, self._timed[other_machine] = other_machine, 2 * PROBE, PROBE, 0
            return
        tried, best = self._pace[machine], self._pace[self._better]
        if tried < GAIN * best:
            self._better = machine
        slower = max(tried, best) / max(min(tried, best), 1e-12)
        self.wanted, self._left = self._better, int(REST * 2 * PROBE * slower)

    def _time(self, machine: int, events: int, seconds: float) -> None:
        """Pace of a machine: of its latest events, some `PROBE` of them, the later the more."""
        timed = self._timed[machine]
        weight = events / (events + min(timed, PROBE))
        self._pace[machine] += weight * (seconds / events - self._pace[machine])
        self._timed[machine] = timed + events
