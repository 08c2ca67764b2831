"""What a statement asks for: a command of sparkext's, or a view that it creates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise, takewhile

from sparkext.planner.errors import PlanningError
from sparkext.sql.tokens import Token, TokenKind, tokenize
from sparkext.workload.trend_query import View


class Command(Enum):
    """Commands that go through ``spark.sql``."""

    EXPLAIN_SHARING = "EXPLAIN SHARING"
    SHOW_TREND_QUERIES = "SHOW TREND QUERIES"
    SHOW_TREND_STREAMS = "SHOW TREND STREAMS"
    REFRESH_SHARING = "REFRESH SHARING"


class ReportForm(Enum):
    """Forms of ``EXPLAIN SHARING``."""

    TEXT = "TEXT"
    JSON = "JSON"
    DOT = "DOT"
    MERMAID = "MERMAID"


FORMS = frozenset(ReportForm.__members__) - {ReportForm.TEXT.name}
"""Words that may follow ``EXPLAIN SHARING``, beside FOR."""

COMPARE = "COMPARE"
"""Word that may follow ``EXPLAIN SHARING``, to compare all optimizers."""

_BEGIN_STATEMENT = frozenset(("SELECT", "WITH", "FROM", "CREATE", "INSERT"))
"""Words with which a statement begins that can be explained."""

_FOLLOWED_BY = {
    Command.EXPLAIN_SHARING: "it takes COMPARE or COMPARE JSON, or JSON, DOT or MERMAID, and a statement, or FOR with "
    "the name of a view or query",
    Command.SHOW_TREND_QUERIES: "it takes LIKE and a pattern of names",
    Command.SHOW_TREND_STREAMS: "it takes nothing else",
    Command.REFRESH_SHARING: "it takes nothing else",
}


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command with what it is told.

    Attributes:
        command: The command.
        form: Of ``EXPLAIN SHARING``.
        compares: Whether all optimizers are to be compared.
        only: The view or query after ``FOR``; None for all.
        only_at: Where that stands in the statement.
        explained_at: Where a statement stands that is to be explained; None if there is none.
        like: Pattern of the names of queries to show; None for all.
    """

    command: Command
    form: ReportForm = ReportForm.TEXT
    compares: bool = False
    only: str | None = None
    only_at: tuple[int, int] = (0, 0)
    explained_at: tuple[int, int] | None = None
    like: str | None = None


def command(tokens: Sequence[Token]) -> ParsedCommand | None:
    """The command that a statement is; None for all others.

    Raises:
        PlanningError: ``TREND_COMMAND_SYNTAX`` for a command with something after it that it does not take.
    """
    tokens = [token for token in tokens if not token.is_symbol(";")]
    for candidate in Command:
        words = candidate.value.split()
        if [token.word for token in tokens[: len(words)]] != words:
            continue
        rest: Sequence[Token] = tokens[len(words) :]
        before = candidate.value
        asked = ParsedCommand(candidate)
        if candidate is Command.EXPLAIN_SHARING:
            if rest and rest[0].word == COMPARE:
                asked, rest, before = replace(asked, compares=True), rest[1:], f"{before} {COMPARE}"
            if rest and rest[0].word in ((ReportForm.JSON.name,) if asked.compares else FORMS):
                asked = replace(asked, form=ReportForm(rest[0].word))
                rest, before = rest[1:], f"{before} {rest[0].word}"
            if rest and rest[0].word == "FOR":
                name, rest = _name_after(rest)
                asked, before = replace(asked, only=name[0], only_at=name[1]), f"{before} FOR {name[0]}"
            elif rest and (rest[0].word in _BEGIN_STATEMENT or rest[0].is_symbol("(")):
                return replace(asked, explained_at=(rest[0].start, rest[-1].end))
        if candidate is Command.SHOW_TREND_QUERIES and rest and rest[0].word == "LIKE":
            if len(rest) == 2 and rest[1].kind is TokenKind.STRING:
                return replace(asked, like=rest[1].text[1:-1])
            problem = "after LIKE stands a string, as in LIKE 'daily*'"
            raise PlanningError("TREND_COMMAND_SYNTAX", rest[0].start, rest[-1].end, problem=problem)
        if not rest:
            return asked
        problem = f"'{rest[0].text}' follows {before}; {_FOLLOWED_BY[candidate]}"
        raise PlanningError("TREND_COMMAND_SYNTAX", rest[0].start, rest[-1].end, problem=problem)
    return None


def _name_after(tokens: Sequence[Token]) -> tuple[tuple[str, tuple[int, int]], Sequence[Token]]:
    """The name after ``FOR``, without its database, with its position, and the tokens after it."""
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
    "(?P<global>GLOBAL )?(?P<temporary>TEMP |TEMPORARY )?VIEW (IF NOT EXISTS )?"
)
_FUNCTION = re.compile("CREATE (OR REPLACE )?(TEMP |TEMPORARY )?FUNCTION ")
_PLAIN_NAME = re.compile(r"'[\w.]+'")
_CACHED = re.compile("CACHE (LAZY )?TABLE ")


_BEFORE_STATEMENT = frozenset(("BEGIN", "THEN", "ELSE", "DO", "LOOP", "REPEAT"))
"""Words in a script that a statement follows."""


def created_view(tokens: Sequence[Token], offset: int, is_temporary: Callable[[Sequence[str]], bool]) -> View | None:
    """The view that is created or altered by the statement, possibly of a script, that holds ``offset``.

    Args:
        tokens: Of the whole statement.
        offset: Of a clause in it.
        is_temporary: Whether there is a temporary view of a name, to be altered.

    Raises:
        PlanningError: ``TREND_PERMANENT_VIEW`` when a script creates a permanent one,
            ``TREND_NOT_SUPPORTED_YET`` when its name is an expression, when its constants have a collation of its
            own, or when it creates a function.
    """
    start = _statement_start(tokens, offset)
    tokens = tokens[start:]
    words = " ".join(token.word or token.text for token in tokens[:9]) + " "
    if match := _CACHED.match(words):
        return _view(_name(tokens[match[0].count(" ") :]), read_at_once=True)
    if match := _FUNCTION.match(words):
        feature = "MATCH_TREND in the body of a function"
        raise PlanningError(
            "TREND_NOT_SUPPORTED_YET", tokens[0].start, tokens[match[0].count(" ") - 1].end, feature=feature
        )
    match = _VIEW.match(words)
    if match is None:
        return None
    end = match[0].count(" ")
    name = _name(tokens[end:])
    _check_collation(tokens[end:])
    if match["temporary"] or (match["altered"] and is_temporary(name)):
        return _view(name, is_global=bool(match["global"]))
    if start > 0:
        at = tokens[0].start, tokens[end - 1].end
        hint = "Do so by a statement of its own, or use CREATE TEMP VIEW."
        raise PlanningError("TREND_PERMANENT_VIEW", *at, problem="a script creates or alters it", hint=hint)
    return _view(name, is_permanent=True)


def _check_collation(tokens: Sequence[Token]) -> None:
    """Refuse that a view gives the constants of its query another collation, of which a clause would not know."""
    head = list(takewhile(lambda token: token.word != "AS", tokens))
    for default, collation, name in zip(head, head[1:], head[2:], strict=False):
        if default.word == "DEFAULT" and collation.word == "COLLATION" and name.word != "UTF8_BINARY":
            feature = "a view with the clause and a DEFAULT COLLATION"
            raise PlanningError("TREND_NOT_SUPPORTED_YET", default.start, name.end, feature=feature)


def is_script(tokens: Sequence[Token]) -> bool:
    """Whether this is ``BEGIN … END``, perhaps with a label before it: several statements, one after another."""
    at = 2 if len(tokens) > 2 and tokens[0].name is not None and tokens[1].is_symbol(":") else 0
    return bool(tokens) and tokens[at].word == "BEGIN"


def _statement_start(tokens: Sequence[Token], offset: int) -> int:
    """Index of the first token of the statement that holds ``offset``, which is 0 outside of scripts."""
    first = 0
    for at, (token, following) in enumerate(pairwise(tokens), 1):
        if token.start >= offset:
            break
        creates = following.word in ("CREATE", "ALTER", "CACHE")
        if token.is_symbol(";") or (token.word in _BEFORE_STATEMENT and creates):
            first = at
    return first


def _name(tokens: Sequence[Token]) -> list[str]:
    """The parts of the name that stands first; nothing if there is none."""
    if len(tokens) > 2 and tokens[0].word == "IDENTIFIER" and tokens[1].is_symbol("("):
        name, end = tokens[2], tokens[3:4]
        if not _PLAIN_NAME.fullmatch(name.text) or not end or not end[0].is_symbol(")"):
            feature = "a view with the clause whose name is computed by IDENTIFIER"
            raise PlanningError("TREND_NOT_SUPPORTED_YET", tokens[0].start, tokens[2].end, feature=feature)
        return _name(tokenize(name.text[1:-1]))
    parts: list[str] = []
    for at, token in enumerate(tokens):
        if at % 2 == 0 and token.name is not None:
            parts.append(token.name)
        elif at % 2 == 0 or not token.is_symbol("."):
            break
    return parts


def _view(
    name: Sequence[str], is_global: bool = False, read_at_once: bool = False, is_permanent: bool = False
) -> View | None:
    """The view of that name; None if there is none, which Spark finds wrong."""
    if not name:
        return None
    is_global = is_global or [part.lower() for part in name[:-1]] == ["global_temp"]
    return View(name[-1], is_global, read_at_once, is_permanent)
