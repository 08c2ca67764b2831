"""Files of SQL statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.sql.tokens import Token, tokenize

_QUERIES = frozenset(("SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE"))
_SHOWN = frozenset(("SHOW", "DESCRIBE", "DESC", "EXPLAIN", "LIST"))
_AFTER_END = frozenset(("IF", "WHILE", "REPEAT", "LOOP", "FOR"))
"""Words after ``END`` of which the beginning is not counted."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a file.

    Attributes:
        sql: Its text, without the semicolon.
        line: Where it begins, from 1.
        is_query: Whether it returns rows of relations and changes nothing.
        is_shown: Whether it says something about the session and changes nothing.
        has_trends: Whether it has the clause ``MATCH_TREND``.
    """

    sql: str
    line: int
    is_query: bool
    is_shown: bool
    has_trends: bool


def statements(text: str) -> list[Statement]:
    """The statements of a file, which are divided by semicolons; a script from BEGIN to END is one.

    Raises:
        TokenError: A quote or comment is never closed.
    """
    return [_statement(text, tokens) for tokens in _divided(tokenize(text))]


def _statement(text: str, tokens: Sequence[Token]) -> Statement:
    start = tokens[0].start
    words = [token.word for token in tokens]
    first = next((token for token in tokens if not token.is_symbol("(")), tokens[0]).word
    inserts = first in ("WITH", "FROM") and "INSERT" in words
    return Statement(
        text[start : tokens[-1].end],
        text.count("\n", 0, start) + 1,
        first in _QUERIES and not inserts,
        first in _SHOWN,
        "MATCH_TREND" in words,
    )


def _divided(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    statement: list[Token] = []
    depth = 0
    for at, token in enumerate(tokens):
        before = tokens[at - 1].word if at else ""
        if token.is_symbol(";") and depth == 0:
            if statement:
                yield statement
            statement = []
            continue
        is_script = (bool(statement) and statement[0].word == "BEGIN") or (not statement and token.word == "BEGIN")
        if is_script and before != "END" and token.word in ("BEGIN", "CASE"):
            depth += 1
        elif is_script and token.word == "END":
            after = tokens[at + 1].word if at + 1 < len(tokens) else ""
            depth -= after not in _AFTER_END
        statement.append(token)
    if statement:
        yield statement
