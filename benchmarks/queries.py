"""Pools of trend queries over ride-sharing events."""

from __future__ import annotations

from collections.abc import Iterator

_BEFORE = ("Request", "Accept Request", "Request Accept", "Cancel Request", "Request Cancel Request")
_AFTER = ("Delivery", "Cancel", "Delivery Request", "Delivery Cancel", "Travel Delivery")
_MEASURES = (
    "COUNT(*) AS trends",
    "COUNT(Travel) AS stretches",
    "COUNT(*) AS trends, AVG(Travel.duration) AS mean",
    "SUM(Travel.duration) AS total",
)


def one(relation: str) -> str:
    """The query that a pool is measured against: trips of any number of stretches."""
    return _query(relation, "Request (Pickup Travel)+ Delivery", "COUNT(*) AS trends")


def pool(relation: str, number: int) -> Iterator[str]:
    """``number`` different queries that share the Kleene part ``(Pickup Travel)+``, all over 20-minute windows.

    They differ in what comes before and after it, in measures, and, from the hundredth on, in a condition
    on Delivery or Cancel.
    """
    for i in range(number):
        before = _BEFORE[i % 5]
        after = _AFTER[i // 5 % 5]
        define = "" if i < 100 else f"DEFINE {after.split()[0]} AS speed > {i // 100}"
        yield _query(relation, f"{before} (Pickup Travel)+ {after}", _MEASURES[i // 25 % 4], define)


def _query(relation: str, pattern: str, measures: str, define: str = "") -> str:
    return (
        f"SELECT * FROM {relation} MATCH_TREND (PARTITION BY driver GROUP BY district ORDER BY ts TYPE BY action "
        f"MEASURES {measures} PATTERN ({pattern}) {define} "
        "WITHIN INTERVAL 20 MINUTES SLIDE INTERVAL 5 MINUTES)"
    )
