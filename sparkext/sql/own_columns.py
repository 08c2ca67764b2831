"""Columns of sparkext's own, which exist only while Spark looks at an expression of the user's."""

from __future__ import annotations

import re
from string import ascii_lowercase, digits

_AGGREGATE = "__agg"
_BEFORE = "__p"
_EARLIER = "__"
_LETTERS = digits + ascii_lowercase
_OWN = re.compile(rf"\b(({_AGGREGATE}|{_BEFORE})\d+|{_EARLIER}[{_LETTERS}]{{1,2}})\b")


def aggregate_name(index: int) -> str:
    """Name that the value of an aggregate has while measures are evaluated; no longer than its call."""
    return f"{_AGGREGATE}{index}"


def before_name(index: int) -> str:
    """Name that a value of the event before has in a condition; no longer than ``PREV(x)``."""
    return f"{_BEFORE}{index}"


def earlier_name(index: int) -> str:
    """Name that a value of an earlier event has in a condition; the first 36 are no longer than ``A.x``."""
    more, last = divmod(index, len(_LETTERS))
    return f"{_EARLIER}{_LETTERS[more - 1] if more else ''}{_LETTERS[last]}"


def names_own(text: str) -> bool:
    """Whether a text names a column of sparkext's own."""
    return _OWN.search(text) is not None
