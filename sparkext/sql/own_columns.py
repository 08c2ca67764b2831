"""Columns of sparkext's own, which exist only while Spark looks at an expression of the user's."""

from __future__ import annotations

import re
from string import ascii_lowercase, digits

_AGGREGATE = "__agg"
_BEFORE = "__p"
_EARLIER = "__"
_SHOWN = "__s"
_COUNTED = "__c"
_LETTERS = digits + ascii_lowercase
_OWN = re.compile(rf"\b(({_AGGREGATE}|{_BEFORE}|{_SHOWN}|{_COUNTED})\d+|{_EARLIER}[{_LETTERS}]{{1,2}})\b")


def aggregate_name(index: int) -> str:
    """Column name of an aggregate while measures are evaluated; no longer than its call."""
    return f"{_AGGREGATE}{index}"


def shown_name(index: int) -> str:
    """Column name of a value that a completion shows while measures are evaluated; no longer than its call."""
    return f"{_SHOWN}{index}"


def counted_name(index: int) -> str:
    """Column name of a ``COUNT(DISTINCT …)`` while measures are evaluated; no longer than its call."""
    return f"{_COUNTED}{index}"


def before_name(index: int) -> str:
    """Name that a value of the event before has in a condition; no longer than ``PREV(x)``."""
    return f"{_BEFORE}{index}"


def earlier_name(index: int) -> str:
    """Name that a value of an earlier event has in a condition; the first 36 are no longer than ``A.x``."""
    more, last = divmod(index, len(_LETTERS))
    return f"{_EARLIER}{_LETTERS[more - 1] if more else ''}{_LETTERS[last]}"


def without_own(text: str) -> str:
    """A message of Spark's about an expression, with a mark in place of columns of sparkext's own."""
    return _OWN.sub("…", text)


def names_own(text: str) -> bool:
    """Whether a text names a column of sparkext's own."""
    return _OWN.search(text) is not None
