"""Statements that bring rows together: aggregates, and what sorts all rows or compares them with each other."""

from __future__ import annotations

import re

_TOGETHER = re.compile(
    r"\b(?:count|sum|avg|mean|min|max)\s*\(|\b(?:GROUP|ORDER)\s+BY\b|\bDISTINCT\b|\bOVER\s*\(", re.IGNORECASE
)
_WITH_OTHERS = re.compile(r"\bJOIN\b", re.IGNORECASE)


def brings_together(text: str) -> bool:
    """Whether a statement brings rows together, and does not join them with others, as far as its words tell."""
    return _TOGETHER.search(text) is not None and _WITH_OTHERS.search(text) is None
