"""What a statement that Spark cannot parse was probably meant to be: a clause, a command, a quote that is not closed.

Nothing here is asked of a statement that Spark can parse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparkext.parser.commands import FORMS, Command
from sparkext.parser.unclosed_quotes import find_unclosed
from sparkext.planner.errors import PlanningError
from sparkext.sql.spelling import is_like
from sparkext.sql.tokens import Token, TokenError, tokenize

_KEYWORD = "MATCH_TREND"
_IN_PARENTHESES = "the clause stands in parentheses: MATCH_TREND (ORDER BY …)"
_MAY_BE_MEANT = re.compile(r"MATCH|TREND|SHARI?N?G|\bSHA?RI?N?G?\b", re.IGNORECASE)
_SECTION_WORDS = frozenset(
    ("PARTITION", "GROUP", "ORDER", "TYPE", "MEASURES", "PATTERN", "DEFINE", "WITHIN", "SLIDE", "SPAN")
)
_CERTAIN = frozenset(("MEASURES", "PATTERN"))
"""Words that no relation, and no list of arguments, has in front of a parenthesis or an aggregate."""


def near_miss(sql: str) -> PlanningError | None:
    """What is wrong with ``sql``, of which Spark's parser has said that it is no statement; None if nobody knows."""
    if not _MAY_BE_MEANT.search(sql):
        return None
    try:
        tokens = tokenize(sql)
    except TokenError:
        return _unclosed(sql)
    return _command(tokens) or _clause(tokens)


def _unclosed(sql: str) -> PlanningError | None:
    """The quote or comment that hides what follows it, in a statement with a clause."""
    unclosed = find_unclosed(sql) if _KEYWORD in sql.upper() else None
    if unclosed is None:
        return None
    return PlanningError("TREND_UNCLOSED", unclosed.start, unclosed.end, what=unclosed.what, closing=unclosed.closing)


def _clause(tokens: Sequence[Token]) -> PlanningError | None:
    for at, token in enumerate(tokens):
        after = at + 1
        start, written = token.start, token.text
        if token.word == "MATCH" and at + 1 < len(tokens) and tokens[at + 1].word in ("TREND", "TRENDS"):
            after, written = at + 2, f"{token.text} {tokens[at + 1].text}"
        elif not token.word or not is_like(token.word, (_KEYWORD,)) or token.word == "MATCH_RECOGNIZE":
            continue
        end = tokens[after - 1].end
        has_parenthesis = after < len(tokens) and tokens[after].is_symbol("(")
        if not _holds_sections(tokens[after:]):
            continue
        if token.word == _KEYWORD and has_parenthesis:
            continue  # it has been read as a clause, or is a name
        meant = f"found '{written}'; did you mean {_KEYWORD}?"
        problem = _IN_PARENTHESES if token.word == _KEYWORD else meant
        return PlanningError("TREND_CLAUSE_SYNTAX", start, end, problem=problem)
    return None


def _holds_sections(tokens: Sequence[Token]) -> bool:
    """Whether what follows a word is what a clause holds: at least a section that nothing else in SQL has."""
    words = {token.word for token in tokens}
    return bool(words & _CERTAIN) and len(words & _SECTION_WORDS) > 1


def _command(tokens: Sequence[Token]) -> PlanningError | None:
    for candidate in Command:
        words = candidate.value.split()
        given = [token.word for token in tokens[: len(words)]]
        if given == words or len(given) < len(words) or given[0] != words[0]:
            continue
        pairs = list(zip(given[1:], words[1:], strict=True))
        rest = tokens[len(words) :]
        ends_there = not rest or rest[0].is_symbol(";") or rest[0].word in FORMS or rest[0].word == "FOR"
        if ends_there and all(written == meant or is_like(written, (meant,)) for written, meant in pairs):
            wrong = next(token for token, word in zip(tokens, words, strict=False) if token.word != word)
            problem = f"found '{wrong.text}'; did you mean {candidate.value}?"
            return PlanningError("TREND_COMMAND_SYNTAX", wrong.start, wrong.end, problem=problem)
    return None
