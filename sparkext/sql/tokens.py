"""Tokens of a SQL statement with exact offsets, as sqlglot's Spark tokenizer finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import ClassVar

from sqlglot import Token as SqlglotToken
from sqlglot import TokenError as TokenError
from sqlglot import TokenType
from sqlglot.dialects.spark import Spark


class TokenKind(Enum):
    """What a token is. A STRING is any quoted literal, a QUOTED an identifier in quotes, mostly backticks."""

    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    NUMBER = "number"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """One word, literal or symbol of the statement; ``text`` is as the user wrote it.

    ``start`` and ``end`` are offsets in the statement, the end exclusive. ``is_parameter`` says that the name is one of
    a lambda function around it.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    is_parameter: bool = False

    @property
    def word(self) -> str:
        """The word in upper case; empty for all that is not a plain word."""
        return self.text.upper() if self.kind is TokenKind.WORD else ""

    @property
    def name(self) -> str | None:
        """The identifier that this token spells, without its quotes; None if it cannot be one."""
        if self.kind is TokenKind.WORD:
            return self.text
        quote = self.text[0]
        return self.text[1:-1].replace(2 * quote, quote) if self.kind is TokenKind.QUOTED else None

    def is_symbol(self, text: str) -> bool:
        """Whether this is that symbol."""
        return self.kind is TokenKind.SYMBOL and self.text == text


_HINT, _COMMENT, _END = "\x01", "\x02", "\x03"
_SPELLINGS = {
    "/*+": f"{_HINT}  ",
    "/*": f"{_COMMENT} ",
    "*/": f"{_END} ",
    "\\\n": "\\ ",
    "{#": "{?",
    **dict.fromkeys((_HINT, _COMMENT, _END), "?"),
}
"""What sqlglot gets in place of what it reads otherwise than Spark: of the same length, and harmless within quotes.

Hints hold tokens, comments hold comments but no hints, a backslash carries a ``--`` comment on in the next line,
and ``{#`` begins no comment.
"""
_MISREAD = re.compile("|".join(map(re.escape, _SPELLINGS)))
_SYMBOLS = ("<=>", ">>>", ">>", "<<", "<>", "==", "!=", "<=", ">=", "!<", "!>", "||", "|>", "->", "=>", "::")
_TAG = re.compile(r"(?=(\$[A-Za-z]*\$))")
_DIGITS = frozenset("0123456789")
_PART = re.compile(
    r"""
      (?P<number> (?: [0-9]+[LSY] | (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:E[+-]?[0-9]+)?(?:[DF]|BD)? )(?!\w)
                | [0-9]+E[+-][0-9]+ )
    | (?P<word>   \w+ )
    | (?P<symbol> . )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What Spark finds in one word or number of sqlglot's, such as ``1.x``."""


class _Tokenizer(Spark.Tokenizer):
    """sqlglot's for Spark, with the symbols that Spark has, and without words that change how what follows is read."""

    SINGLE_TOKENS: ClassVar[dict[str, TokenType]] = {
        **dict.fromkeys((*Spark.Tokenizer.SINGLE_TOKENS, _COMMENT), TokenType.OPERATOR),
        _HINT: TokenType.HINT,
        _END: TokenType.BLOCK_END,
    }
    KEYWORDS: ClassVar[dict[str, TokenType]] = dict.fromkeys(_SYMBOLS, TokenType.OPERATOR)
    COMMENTS: ClassVar[list[str | tuple[str, str]]] = ["--", (_COMMENT, _END)]
    STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']
    NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}
    HEX_STRINGS: ClassVar[list[str | tuple[str, str]]] = [("0x'", "'")]  # X'1F' is a word and a string; 0x1F one word


@lru_cache(maxsize=16)
def _tokenizer(tags: frozenset[str]) -> type[Spark.Tokenizer]:
    """A tokenizer that reads text between two equal ``tags``, such as ``$$`` or ``$tag$``, as a string."""

    class Tagged(_Tokenizer):
        RAW_STRINGS: ClassVar[list[str | tuple[str, str]]] = [
            *Spark.Tokenizer.RAW_STRINGS,
            *((tag, tag) for tag in sorted(tags)),
        ]

    return Tagged


def tokenize(sql: str) -> list[Token]:
    """Tokens of ``sql``, without comments and hints.

    Raises:
        TokenError: A quote, comment or hint is never closed, so that it cannot be said what the text after it is.
    """
    tokens: list[Token] = []
    in_hint = False
    for read in _sqlglot_tokens(sql):
        if read.token_type is TokenType.HINT:
            in_hint = True
        elif read.token_type is TokenType.BLOCK_END:
            if not in_hint:
                tokens.append(Token(TokenKind.SYMBOL, "*/", read.start, read.start + 2))
            in_hint = False
        elif not in_hint:
            start = read.start
            if _continues_point(sql, start, tokens):
                start = tokens.pop().start
            tokens += _as_spark(sql, read.token_type, start, read.end + 1)
    if in_hint:
        raise TokenError("a hint is never closed")
    return tokens


def _sqlglot_tokens(sql: str) -> list[SqlglotToken]:
    """The tokens that sqlglot reads in ``sql``.

    It takes a comment that is never closed for one that is; then it does not find a semicolon after the text.
    """
    spelled = _MISREAD.sub(lambda misread: _SPELLINGS[misread[0]], sql)
    tokenizer = _tokenizer(frozenset(_TAG.findall(sql)))
    tokens = tokenizer(Spark).tokenize(f"{spelled}\n;")
    if not tokens or tokens[-1].start <= len(sql):
        raise TokenError("a comment is never closed")
    return tokens[:-1]


def _continues_point(sql: str, start: int, tokens: Sequence[Token]) -> bool:
    """Whether a digit at ``start`` follows a point, as in ``.5``, which is one number."""
    return sql[start] in _DIGITS and bool(tokens) and tokens[-1].is_symbol(".") and tokens[-1].end == start


def _as_spark(sql: str, kind: TokenType, start: int, end: int) -> Iterator[Token]:
    """The tokens that Spark reads where sqlglot reads one, of ``kind``, at ``start``..``end``."""
    if kind is TokenType.OPERATOR:
        yield Token(TokenKind.SYMBOL, sql[start:end], start, end)
    elif kind in (TokenType.STRING, TokenType.RAW_STRING):
        yield Token(TokenKind.STRING, sql[start:end], start, end)
    elif kind is TokenType.NATIONAL_STRING:  # N'a'
        yield Token(TokenKind.WORD, sql[start], start, start + 1)
        yield Token(TokenKind.STRING, sql[start + 1 : end], start + 1, end)
    elif sql[start] == "`":
        yield Token(TokenKind.QUOTED, sql[start:end], start, end)
    else:
        for part in _PART.finditer(sql, start, end):
            yield Token(TokenKind(part.lastgroup), part[0], part.start(), part.end())


def with_double_quoted_names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens as Spark reads them where double quotes are around names, and not around strings."""
    return [replace(token, kind=TokenKind.QUOTED) if token.text.startswith('"') else token for token in tokens]


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: opening for opening, close in OPENING.items()}


def depth_change(token: Token) -> int:
    """1 for an opening bracket, -1 for a closing one, else 0."""
    if token.kind is not TokenKind.SYMBOL:
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
