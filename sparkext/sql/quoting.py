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
