"""Lengths of time in plain words."""

from __future__ import annotations

from sparkext.binding.event_time import TimeKind
from sparkext.planner.amounts import count

_MICROSECONDS = (("day", 86_400_000_000), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000))


def duration(length: int, kind: TimeKind) -> str:
    """A length of time in plain words."""
    if kind is TimeKind.INTEGRAL:
        return str(length)
    if kind is TimeKind.DATE:
        return count(length, "day", "days")
    for unit, size in _MICROSECONDS:
        if length % size == 0:
            return count(length // size, unit, unit + "s")
    return count(length, "microsecond", "microseconds")
