"""Tokens of a SQL statement with exact offsets, as sqlglot's Spark tokenizer finds them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]


class Kind(Enum):
    """What a token is. A STRING is any quoted literal, a QUOTED an identifier in backticks."""

    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """One word, literal or symbol of the statement; ``text`` is as the user wrote it.

    ``start`` and ``end`` are offsets in the statement, the end exclusive.
    """

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in upper case; empty for all that is not a plain word."""
        return self.text.upper() if self.kind is Kind.WORD else ""

    @property
    def name(self) -> str | None:
        """The identifier that this token spells, without backticks; None if it cannot be one."""
        if self.kind is Kind.WORD and not self.text[0].isdigit():
            return self.text
        return self.text[1:-1].replace("``", "`") if self.kind is Kind.QUOTED else None

    def is_symbol(self, text: str) -> bool:
        """Whether this is that symbol."""
        return self.kind is Kind.SYMBOL and self.text == text


_OPAQUE_COMMANDS = (TokenType.COMMAND, TokenType.SHOW, TokenType.EXECUTE)
"""After these words sqlglot's tokenizer makes one string of all that follows."""

_WORDS = re.compile(r"\w+(\s+\w+)*")
_WORD = re.compile(r"\w+")


def tokenize(sql: str) -> list[Token]:
    """Tokens of ``sql``, without comments and hints.

    Raises:
        sqlglot.errors.TokenError: The text has, e.g., a quote that is never closed.
    """
    return _tokens(sql, 0)


def _tokens(sql: str, offset: int) -> list[Token]:
    """Tokens of ``sql[offset:]``; the rest of a statement that sqlglot takes for one string is taken apart."""
    tokens: list[Token] = []
    end = offset
    rest_follows = False
    for found in Spark().tokenize(sql[offset:]):
        start, stop = offset + found.start, offset + found.end + 1
        if rest_follows and found.token_type is TokenType.STRING:
            inner = _tokens(sql[: sql.index(found.text, end) + len(found.text)], sql.index(found.text, end))
            return [*tokens, *inner, *_tokens(sql, inner[-1].end if inner else stop)]
        rest_follows = found.token_type in _OPAQUE_COMMANDS
        if found.token_type is TokenType.HINT or start < end:
            continue
        end = stop
        text = sql[start:stop]
        if text[0] == "`":
            tokens.append(Token(Kind.QUOTED, text, start, stop))
        elif text[-1] in "'\"":
            tokens.append(Token(Kind.STRING, text, start, stop))
        elif text[0].isdigit():
            tokens.append(Token(Kind.NUMBER, text, start, stop))
        elif _WORDS.fullmatch(text):
            tokens += (Token(Kind.WORD, m[0], start + m.start(), start + m.end()) for m in _WORD.finditer(text))
        else:
            tokens.append(Token(Kind.SYMBOL, text, start, stop))
    return tokens


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: opening for opening, close in OPENING.items()}


def depth_change(token: Token) -> int:
    """1 for an opening bracket, -1 for a closing one, else 0."""
    if token.kind is not Kind.SYMBOL:
        return 0
    return (token.text in OPENING) - (token.text in CLOSING)


def matching(tokens: Sequence[Token], opening: int) -> int | None:
    """Index of the bracket that closes the one at ``opening``; None when it is never closed."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += depth_change(tokens[at])
        if depth == 0:
            return at
    return None


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Pieces between the commas that are in no brackets; a piece may be empty."""
    pieces: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += depth_change(token)
        if depth == 0 and token.is_symbol(","):
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces
