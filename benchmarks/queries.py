"""Pools of trend queries over ride-sharing events."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

_BEFORE = ("Request", "Accept Request", "Request Accept", "Cancel Request", "Request Cancel Request")
_AFTER = ("Delivery", "Cancel", "Delivery Request", "Delivery Cancel", "Travel Delivery")
_MEASURES = (
    "COUNT(*) AS trends",
    "COUNT(Travel) AS stretches",
    "COUNT(*) AS trends, AVG(Travel.duration) AS mean",
    "SUM(Travel.duration) AS total",
)
LENGTHS = ((20, 5), (30, 5), (60, 10), (120, 30))
"""Minutes within which a trend is, and by which windows slide, for each set of measures in `mixed`."""
PATTERNS = tuple(f"{before} (Pickup Travel)+ {after}" for after in _AFTER for before in _BEFORE)
"""That share the Kleene part ``(Pickup Travel)+`` and differ in what comes before and after it."""

TRIP = "Request (Pickup Travel)+ Delivery"
"""The pattern of the query that a pool is measured against: trips of any number of stretches."""

WINDOWS = "WITHIN INTERVAL 20 MINUTES SLIDE INTERVAL 5 MINUTES"


def one(relation: str) -> str:
    """The query that a pool is measured against."""
    return trend(relation, TRIP, "COUNT(*) AS trends")


def others(relation: str) -> Iterator[str]:
    """That query with another condition each time, without end."""
    for speed in itertools.count(1):
        yield trend(relation, TRIP, "COUNT(*) AS trends", f"DEFINE Travel AS speed > {speed / 1000}")


def pool(relation: str, number: int) -> Iterator[str]:
    """``number`` different queries of `PATTERNS`, all over 20-minute windows.

    They differ in pattern, in measures, and, from the hundredth on, in a condition on Delivery or Cancel.
    """
    for i in range(number):
        pattern = PATTERNS[i % 25]
        define = "" if i < 100 else f"DEFINE {pattern.split('+ ')[1].split()[0]} AS speed > {i // 100}"
        yield trend(relation, pattern, _MEASURES[i // 25 % 4], define)


def mixed(relation: str, number: int) -> Iterator[str]:
    """``number`` different queries of `PATTERNS`, at most 100; each set of measures has windows of its own."""
    for i in range(number):
        measures = i // 25 % 4
        length, slide = LENGTHS[measures]
        windows = f"WITHIN INTERVAL {length} MINUTES SLIDE INTERVAL {slide} MINUTES"
        yield trend(relation, PATTERNS[i % 25], _MEASURES[measures], windows=windows)


def trend(relation: str, pattern: str, measures: str, define: str = "", windows: str = WINDOWS) -> str:
    """A query by driver and district."""
    return (
        f"SELECT * FROM {relation} MATCH_TREND (PARTITION BY driver GROUP BY district ORDER BY ts TYPE BY action "
        f"MEASURES {measures} PATTERN ({pattern}) {define} {windows})"
    )
