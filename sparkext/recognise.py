"""Where in a statement ``relation MATCH_TREND ( … )`` stands, and which CTEs are visible there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.errors import PlanningError
from sparkext.tokens import Kind, Token, depth_change, matching, split_at_commas

_CLAUSE_WORDS = frozenset(
    (
        "PARTITION",
        "GROUP",
        "ORDER",
        "TYPE",
        "MEASURES",
        "PATTERN",
        "DEFINE",
        "WITHIN",
        "SLIDE",
        "ONE",
        "ALL",
        "AFTER",
        "SUBSET",
    )
)
_BEFORE_RELATION = frozenset(("FROM", "JOIN", "USING"))


@dataclass(frozen=True, slots=True)
class Span:
    """One use of the clause; all are offsets in the statement.

    Attributes:
        start: Of the relation before the clause.
        keyword: Of the word MATCH_TREND.
        body: Index of the first token inside the parentheses.
        body_end: Index of the closing parenthesis.
        end: Just past the closing parenthesis.
        ctes: The ``WITH`` lists that the relation may use, outermost first; per list the offsets of
            its entries' texts.
    """

    start: int
    keyword: int
    body: int
    body_end: int
    end: int
    ctes: tuple[tuple[tuple[int, int], ...], ...]


def find_clauses(tokens: Sequence[Token]) -> list[Span]:
    """All uses of the clause, inner ones before those that contain them.

    Raises:
        PlanningError: ``TREND_CLAUSE_SYNTAX`` when a clause has no end or no relation before it.
    """
    spans = [_span(tokens, at) for at in range(len(tokens)) if _is_clause(tokens, at)]
    return sorted(spans, key=lambda span: (span.end, -span.start))


def _is_clause(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word at ``at`` is the clause, and not a name of the user's."""
    if tokens[at].word != "MATCH_TREND" or at == 0 or at + 1 == len(tokens) or not tokens[at + 1].is_symbol("("):
        return False
    before = tokens[at - 1]
    if not (before.kind in (Kind.WORD, Kind.QUOTED) or before.is_symbol(")")) or before.word in ("AS", "SELECT"):
        return False
    closing = matching(tokens, at + 1)
    # `FROM t match_trend (a, b)` gives a relation and its columns new names.
    inside = tokens[at + 2 : closing]
    renames = bool(inside) and all(len(piece) == 1 and piece[0].name for piece in split_at_commas(inside))
    return not renames or inside[0].word in _CLAUSE_WORDS


def _span(tokens: Sequence[Token], at: int) -> Span:
    closing = matching(tokens, at + 1)
    word = tokens[at]
    if closing is None:
        raise PlanningError(
            "TREND_CLAUSE_SYNTAX", word.start, word.end, problem="the parenthesis after MATCH_TREND is never closed"
        )
    first = _relation_start(tokens, at)
    if first == at:
        raise PlanningError(
            "TREND_CLAUSE_SYNTAX", word.start, word.end, problem="a relation must stand before MATCH_TREND"
        )
    if tokens[first].word == "LATERAL":
        raise PlanningError("TREND_LATERAL", tokens[first].start, tokens[first].end)
    return Span(
        start=tokens[first].start,
        keyword=word.start,
        body=at + 2,
        body_end=closing,
        end=tokens[closing].end,
        ctes=_visible_ctes(tokens, first),
    )


def _relation_start(tokens: Sequence[Token], at: int) -> int:
    """Index of the first token of the relation that ends before ``at``."""
    depth = 0
    for place in range(at - 1, -1, -1):
        token = tokens[place]
        depth -= depth_change(token)
        if depth < 0:
            return place + 1
        if depth == 0 and (token.word in _BEFORE_RELATION or token.is_symbol(",")):
            return place + 1
    raise PlanningError(
        "TREND_CLAUSE_SYNTAX",
        tokens[at].start,
        tokens[at].end,
        problem="MATCH_TREND follows a relation in FROM or JOIN",
    )


def _visible_ctes(tokens: Sequence[Token], at: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The entries of ``WITH`` lists that are defined before ``at`` in the queries around it."""
    levels: list[int] = [0]
    for place in range(at):
        change = depth_change(tokens[place])
        if change > 0:
            levels.append(place + 1)
        elif change < 0 and len(levels) > 1:
            levels.pop()
    lists: list[tuple[tuple[int, int], ...]] = []
    for level in levels:
        place = level
        while place < at:
            if tokens[place].word == "WITH":
                entries, place = _with_list(tokens, place + 1, at)
                if entries:
                    lists.append(entries)
            elif depth_change(tokens[place]) > 0:
                place = (matching(tokens, place) or at) + 1
            else:
                place += 1
    return tuple(lists)


def _with_list(tokens: Sequence[Token], place: int, at: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Entries ``name [(columns)] AS (query)`` from ``place`` that end before ``at``, and where to go on."""
    entries: list[tuple[int, int]] = []
    while place < at:
        first = place
        opening = next((i for i in range(place, min(at, len(tokens))) if tokens[i].word == "AS"), None)
        if tokens[first].name is None or opening is None or not tokens[opening + 1].is_symbol("("):
            break
        closing = matching(tokens, opening + 1)
        if closing is None or closing >= at:
            break
        entries.append((tokens[first].start, tokens[closing].end))
        place = closing + 1
        if not tokens[place].is_symbol(","):
            break
        place += 1
    return tuple(entries), place
