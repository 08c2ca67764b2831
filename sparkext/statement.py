"""What a statement asks for: a command of sparkext's, or a view that it creates."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from planner.errors import PlanningError
from sparkext.tokens import Kind, Token
from sparkext.workload import View


class Command(Enum):
    """Commands that go through ``spark.sql``."""

    EXPLAIN_SHARING = "EXPLAIN SHARING"
    SHOW_TREND_QUERIES = "SHOW TREND QUERIES"
    REFRESH_SHARING = "REFRESH SHARING"


def command(tokens: Sequence[Token]) -> Command | None:
    """The command that a statement is; None for all others.

    Raises:
        PlanningError: ``TREND_COMMAND_SYNTAX`` for a command with something after it that it does not
            take, ``TREND_NOT_SUPPORTED_YET`` for a form that is still to come.
    """
    tokens = [token for token in tokens if not token.is_symbol(";")]
    for known in Command:
        words = known.value.split()
        if [token.word for token in tokens[: len(words)]] != words:
            continue
        rest = tokens[len(words) :]
        if not rest:
            return known
        if known is Command.EXPLAIN_SHARING and rest[0].word in ("JSON", "DOT", "MERMAID", "FOR"):
            feature = f"EXPLAIN SHARING {rest[0].word}"
            raise PlanningError("TREND_NOT_SUPPORTED_YET", rest[0].start, rest[-1].end, feature=feature)
        raise PlanningError(
            "TREND_COMMAND_SYNTAX", rest[0].start, rest[-1].end, problem=f"'{rest[0].text}' follows {known.value}"
        )
    return None


def created_view(tokens: Sequence[Token]) -> View | None:
    """The temporary view that a statement creates, if it does.

    Raises:
        PlanningError: ``TREND_PERMANENT_VIEW`` when it creates a permanent one.
    """
    words = [token.word for token in tokens]
    if words[:2] == ["CACHE", "TABLE"] or words[:3] == ["CACHE", "LAZY", "TABLE"]:
        return _named(tokens[words.index("TABLE") + 1 :], is_global=False, read_at_once=True)
    if words[:1] not in (["CREATE"], ["ALTER"]) or "VIEW" not in words[:6]:
        return None
    place = words.index("VIEW")
    before = words[1:place]
    if words[0] == "CREATE" and not {"TEMP", "TEMPORARY"} & set(before):
        raise PlanningError("TREND_PERMANENT_VIEW", tokens[0].start, tokens[place].end)
    return _named(tokens[place + 1 :], is_global="GLOBAL" in before, read_at_once=False)


def _named(tokens: Sequence[Token], is_global: bool, read_at_once: bool) -> View | None:
    parts: list[str] = []
    for place, token in enumerate(tokens):
        if place % 2 == 0 and token.kind in (Kind.WORD, Kind.QUOTED):
            parts.append(token.name or token.text)
        elif place % 2 == 0 or not token.is_symbol("."):
            break
    return View(parts[-1], is_global, read_at_once) if parts else None
