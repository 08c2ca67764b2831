"""Quotes and comments of a statement that are never closed."""

from __future__ import annotations

from dataclasses import dataclass

_KINDS = {
    "'": ("The string", "'"),
    '"': ("The string", '"'),
    "`": ("The name", "`"),
    "/*": ("The comment", "*/"),
}


@dataclass(frozen=True, slots=True)
class UnclosedQuote:
    """A quote or comment without an end.

    Attributes:
        what: Such as ``The string``.
        closing: What would close it.
        start, end: Offsets of what opens it.
    """

    what: str
    closing: str
    start: int
    end: int


def find_unclosed(sql: str) -> UnclosedQuote | None:
    """What is opened and never closed in ``sql``, as Spark reads it; None when all is closed."""
    at = 0
    while at < len(sql):
        opening = sql[at : at + 2] if sql.startswith("/*", at) else sql[at]
        if sql.startswith("--", at):
            end = sql.find("\n", at)
            if end < 0:
                return None
            at = end + 1
        elif opening in _KINDS:
            end = _end_of_comment(sql, at) if opening == "/*" else _end_of_quote(sql, at, opening)
            if end < 0:
                return UnclosedQuote(*_KINDS[opening], at, at + len(opening))
            at = end
        else:
            at += 1
    return None


def _end_of_comment(sql: str, start: int) -> int:
    """Offset just past the comment at ``start``, which may hold others; -1 when there is none."""
    depth, at = 1, start + 2
    while at < len(sql):
        pair = sql[at : at + 2]
        depth += (pair == "/*") - (pair == "*/")
        if depth == 0:
            return at + 2
        at += 2 if pair in ("/*", "*/") else 1
    return -1


def _end_of_quote(sql: str, start: int, quote: str) -> int:
    """Offset just past the quoted text at ``start``; -1 when it has no end. In strings, a backslash escapes."""
    at = start + 1
    while at < len(sql):
        if sql[at] == "\\" and quote != "`":
            at += 2
        elif sql[at] == quote:
            return at + 1
        else:
            at += 1
    return -1
