"""Tokens of a SQL statement with exact offsets, as Spark's own lexer (``SqlBaseLexer.g4``) finds them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class TokenError(Exception):
    """A quote or comment is never closed, so that it cannot be said what the text after it is."""


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
        if self.kind is Kind.WORD:
            return self.text
        return self.text[1:-1].replace("``", "`") if self.kind is Kind.QUOTED else None

    def is_symbol(self, text: str) -> bool:
        """Whether this is that symbol."""
        return self.kind is Kind.SYMBOL and self.text == text


_LEXEME = re.compile(
    r"""
      (?P<blank>    \s+ | --(?:\\\n|[^\r\n])* )  # a backslash carries a comment on in the next line
    | (?P<comment>  /\*(?!\+) )
    | (?P<string>   [rR]'[^']*' | [rR]"[^"]*"
                  | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*"
                  | \$(?P<tag>[A-Za-z]*)\$.*?\$(?P=tag)\$ )
    | (?P<quoted>   `(?:[^`]|``)*` )
    | (?P<number>   (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[lLsSyYdDfF]|[bB][dD])?(?!\w) )
    | (?P<word>     [^\W\d_]+://[\w/.?=&\#%-]+ | \w+ )
    | (?P<unclosed> ['"`] | \$[A-Za-z]*\$ )
    | (?P<hint>     /\*\+ )
    | (?P<symbol>   <=> | >>>? | << | <> | [!=<>]= | ![<>] | \|[|>] | [-=]> | :: | . )
    """,
    re.DOTALL | re.VERBOSE,
)
_COMMENT_ENDS = re.compile(r"/\*(?!\+)|\*/")


def tokenize(sql: str) -> list[Token]:
    """Tokens of ``sql``, without comments and hints.

    Raises:
        TokenError: A quote, comment or hint is never closed.
    """
    tokens: list[Token] = []
    at = 0
    in_hint = False
    while at < len(sql):
        if in_hint and sql.startswith("*/", at):
            at += 2
            in_hint = False
            continue
        found = _LEXEME.match(sql, at)
        assert found is not None
        at = found.end()
        match found.lastgroup:
            case "blank":
                pass
            case "comment":
                at = _comment_end(sql, at)
            case "hint":
                in_hint = True
            case "unclosed":
                raise TokenError(f"{found[0]} is never closed")
            case kind if not in_hint:
                tokens.append(Token(Kind(kind), found[0], found.start(), at))
    if in_hint:
        raise TokenError("a hint is never closed")
    return tokens


def _comment_end(sql: str, at: int) -> int:
    """Just past the end of the comment whose text starts at ``at``; comments may hold comments, but no hints."""
    depth = 1
    for found in _COMMENT_ENDS.finditer(sql, at):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    raise TokenError("a comment is never closed")


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
