"""The words of MATCH_TREND that say which events a trend may leave out."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeAlias

from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Selection
from sparkext.sql.spelling import is_like
from sparkext.sql.tokens import Token, TokenKind

Words: TypeAlias = tuple[str, ...]

SELECTIONS: dict[Words, Selection] = {tuple(selection.value.split()): selection for selection in Selection}
"""What is selected, by the words that say so."""

_SKIP, _CONTIGUOUS = "SKIP", "CONTIGUOUS"
_CLOSING = (")", "]")
_GO_ON = frozenset(
    (
        *("BY", "AS", "AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "ESCAPE", "DIV"),
        *("CASE", "WHEN", "THEN", "ELSE", "INTERVAL", "DISTINCT", "MEASURES", "PATTERN", "DEFINE", "WITHIN", "SLIDE"),
        "SPAN",
    )
)
"""Words after which an expression goes on, or begins."""


def selection_at(tokens: Sequence[Token], at: int) -> Words:
    """The words of the selection that starts at ``at``; empty when none does.

    Args:
        tokens: Of the clause.
        at: Index of a token outside of parentheses.

    Raises:
        PlanningError: ``TREND_CLAUSE_SYNTAX``: there are almost those words, and no expression could have them there.
    """
    word = tokens[at].word
    if not (word == _SKIP or is_like(word, (_CONTIGUOUS,))) or not _may_begin(tokens, at):
        return ()
    if word == _CONTIGUOUS:
        return (_CONTIGUOUS,)
    if word != _SKIP:
        raise _almost(tokens[at : at + 1], Selection.CONTIGUOUS.value)
    chosen = next((words for words in SELECTIONS if _are(tokens[at : at + len(words)], words)), None)
    if chosen is not None:
        return chosen
    spelled = [token for token in tokens[at : at + 4] if token.word]
    selections = [selection.value for selection in (Selection.NEXT, Selection.ANY)]
    meant = get_close_matches(" ".join(token.word for token in spelled), selections, n=1, cutoff=0.0)
    raise _almost(spelled[:2], meant[0])


def _are(tokens: Sequence[Token], words: Words) -> bool:
    return tuple(token.word for token in tokens) == words


def _may_begin(tokens: Sequence[Token], at: int) -> bool:
    """Whether what comes before ``at`` is complete, and what stands there is not the name of a column."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return not (following and (following.is_symbol(".") or following.is_symbol("("))) and is_whole_before(tokens, at)


def is_whole_before(tokens: Sequence[Token], at: int) -> bool:
    """Whether what comes before ``at`` is complete, so that no expression goes on there."""
    if at == 0:
        return True
    before = tokens[at - 1]
    if before.kind is TokenKind.SYMBOL:
        return before.text in _CLOSING
    if before.word == "MATCH" and at > 1 and tokens[at - 2].word == "AFTER":
        return False  # of MATCH_RECOGNIZE, which is refused by name
    named = at > 1 and tokens[at - 2].word == "AS"
    return named or before.word not in _GO_ON


def _almost(tokens: Sequence[Token], meant: str) -> PlanningError:
    written = " ".join(token.text for token in tokens)
    return PlanningError(
        "TREND_CLAUSE_SYNTAX",
        tokens[0].start,
        tokens[-1].end,
        problem=f"found '{written}'; did you mean {meant}?",
    )
