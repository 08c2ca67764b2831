"""Pieces of SQL that sparkext itself writes, for expressions that Spark evaluates."""

from __future__ import annotations

import base64


def identifier(name: str) -> str:
    """``name`` in backticks."""
    return "`" + name.replace("`", "``") + "`"


def string(text: str) -> str:
    """A string constant; encoded where its quotes would depend on ``escapedStringLiterals``."""
    if "'" not in text and "\\" not in text:
        return f"'{text}'"
    return f"decode(unbase64('{base64.b64encode(text.encode()).decode()}'), 'UTF-8')"


def alone(text: str) -> str:
    """An expression of the user's on lines of its own: Spark shows the lines of an expression that fails."""
    return f"\n{text}\n"


def one_line(text: object) -> str:
    """``text`` for a line of the log: what would begin another line, or steer a terminal, is escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in str(text))
