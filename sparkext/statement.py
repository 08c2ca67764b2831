"""What a statement asks for: a command of sparkext's, or a view that it creates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from planner.errors import PlanningError
from sparkext.tokens import Token, tokenize
from sparkext.trend_query import View


class Command(Enum):
    """Commands that go through ``spark.sql``."""

    EXPLAIN_SHARING = "EXPLAIN SHARING"
    SHOW_TREND_QUERIES = "SHOW TREND QUERIES"
    REFRESH_SHARING = "REFRESH SHARING"


class Form(Enum):
    """Forms of ``EXPLAIN SHARING``."""

    TEXT = "TEXT"
    JSON = "JSON"
    DOT = "DOT"
    MERMAID = "MERMAID"


@dataclass(frozen=True, slots=True)
class Asked:
    """A command with what it is told.

    Attributes:
        command: The command.
        form: Of ``EXPLAIN SHARING``.
        only: The view or query after ``FOR``; None for all.
        only_at: Where that stands in the statement.
    """

    command: Command
    form: Form = Form.TEXT
    only: str | None = None
    only_at: tuple[int, int] = (0, 0)


def command(tokens: Sequence[Token]) -> Asked | None:
    """The command that a statement is; None for all others.

    Raises:
        PlanningError: ``TREND_COMMAND_SYNTAX`` for a command with something after it that it does not take.
    """
    tokens = [token for token in tokens if not token.is_symbol(";")]
    for known in Command:
        words = known.value.split()
        if [token.word for token in tokens[: len(words)]] != words:
            continue
        rest: Sequence[Token] = tokens[len(words) :]
        before = known.value
        asked = Asked(known)
        if known is Command.EXPLAIN_SHARING:
            if rest and rest[0].word in Form.__members__:
                asked = replace(asked, form=Form(rest[0].word))
                rest, before = rest[1:], f"{before} {rest[0].word}"
            if rest and rest[0].word == "FOR":
                name, rest = _name_after(rest)
                asked, before = replace(asked, only=name[0], only_at=name[1]), f"{before} FOR {name[0]}"
        if not rest:
            return asked
        raise PlanningError(
            "TREND_COMMAND_SYNTAX", rest[0].start, rest[-1].end, problem=f"'{rest[0].text}' follows {before}"
        )
    return None


def _name_after(tokens: Sequence[Token]) -> tuple[tuple[str, tuple[int, int]], Sequence[Token]]:
    """The name after ``FOR``, without its database, with its place, and the tokens after it."""
    rest = tokens[1:]
    name = None
    while rest and rest[0].name is not None:
        name, rest = rest[0], rest[1:]
        if len(rest) < 2 or not rest[0].is_symbol("."):
            break
        rest = rest[1:]
    if name is None or name.name is None:
        problem = "the name of a view or query is missing after FOR"
        raise PlanningError("TREND_COMMAND_SYNTAX", tokens[0].start, tokens[-1].end, problem=problem)
    return (name.name, (name.start, name.end)), rest


_VIEW = re.compile(
    "(CREATE (OR REPLACE )?|(?P<altered>ALTER ))"
    "(?P<global>GLOBAL )?(?P<temporary>TEMP |TEMPORARY )?(MATERIALIZED )?VIEW "
)
_FUNCTION = re.compile("CREATE (OR REPLACE )?(TEMP |TEMPORARY )?FUNCTION ")
_PLAIN_NAME = re.compile(r"'[\w.]+'")
_CACHED = re.compile("CACHE (LAZY )?TABLE ")


_BEFORE_STATEMENT = frozenset(("BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT"))
"""Words in a script that a statement follows."""


def created_view(tokens: Sequence[Token], place: int) -> View | None:
    """The temporary view that is created by the statement, possibly of a script, that holds offset ``place``.

    Raises:
        PlanningError: ``TREND_PERMANENT_VIEW`` when it creates a permanent one,
            ``TREND_NOT_SUPPORTED_YET`` when its name is an expression, or when it creates a function.
    """
    tokens = tokens[_statement_start(tokens, place) :]
    words = " ".join(token.word or token.text for token in tokens[:7]) + " "
    if found := _CACHED.match(words):
        return _named(tokens[found[0].count(" ") :], is_global=False, read_at_once=True)
    if found := _FUNCTION.match(words):
        feature = "MATCH_TREND in the body of a function"
        raise PlanningError(
            "TREND_NOT_SUPPORTED_YET", tokens[0].start, tokens[found[0].count(" ") - 1].end, feature=feature
        )
    found = _VIEW.match(words)
    if found is None:
        return None
    end = found[0].count(" ")
    if not found["temporary"] and not found["altered"]:
        raise PlanningError("TREND_PERMANENT_VIEW", tokens[0].start, tokens[end - 1].end)
    return _named(tokens[end:], is_global=bool(found["global"]), read_at_once=False)


def _statement_start(tokens: Sequence[Token], place: int) -> int:
    """Index of the first token of the statement that holds offset ``place``, which is 0 outside of scripts."""
    first = 0
    for at, (token, following) in enumerate(pairwise(tokens), 1):
        if token.start >= place:
            break
        creates = following.word in ("CREATE", "ALTER", "CACHE")
        if token.is_symbol(";") or (token.word in _BEFORE_STATEMENT and creates):
            first = at
    return first


def _named(tokens: Sequence[Token], is_global: bool, read_at_once: bool) -> View | None:
    if len(tokens) > 2 and tokens[0].word == "IDENTIFIER" and tokens[1].is_symbol("("):
        name, end = tokens[2], tokens[3:4]
        if not _PLAIN_NAME.fullmatch(name.text) or not end or not end[0].is_symbol(")"):
            feature = "a view with the clause whose name is computed by IDENTIFIER"
            raise PlanningError("TREND_NOT_SUPPORTED_YET", tokens[0].start, tokens[2].end, feature=feature)
        return _named(tokenize(name.text[1:-1]), is_global, read_at_once)
    parts: list[str] = []
    for place, token in enumerate(tokens):
        if place % 2 == 0 and token.name is not None:
            parts.append(token.name)
        elif place % 2 == 0 or not token.is_symbol("."):
            break
    if not parts:
        return None
    return View(parts[-1], is_global or [part.lower() for part in parts[:-1]] == ["global_temp"], read_at_once)
