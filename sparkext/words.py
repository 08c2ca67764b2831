"""Numbers in sentences."""

from __future__ import annotations


def count(number: int, one: str, many: str) -> str:
    """``1 query``, ``2 queries``."""
    return f"{number} {one if number == 1 else many}"


def amount(value: float) -> str:
    """A cost or a number of events, in as many digits as matter."""
    return f"{value:.0f}" if value >= 1000 or value == round(value) else f"{value:.4g}"
