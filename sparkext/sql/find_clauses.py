"""Where in a statement ``relation MATCH_TREND ( … )`` stands, and which CTEs are visible there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.planner.errors import PlanningError
from sparkext.sql.tokens import Token, TokenKind, depth_change, split_at_commas

Ctes = tuple[tuple[int, int], ...]
"""Offsets of the entries of one ``WITH`` list that a relation may use."""

_BEFORE_RELATION = frozenset(("FROM", "JOIN", "USING"))
_NOT_IN_FROM = frozenset(
    (
        *("SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET", "WINDOW"),
        *("QUALIFY", "UNION", "EXCEPT", "MINUS", "SETMINUS", "INTERSECT", "INSERT", "INTO", "SET"),
    )
)
"""Words that no FROM with its joins holds, unless as names."""
_NOT_IN_RELATION = _NOT_IN_FROM | {"FROM", "ON", "USING"}
_SECTIONS = frozenset(
    (
        ("PARTITION", "BY"),
        ("GROUP", "BY"),
        ("ORDER", "BY"),
        ("TYPE", "BY"),
        ("ONE", "ROW"),
        ("ALL", "ROWS"),
        ("AFTER", "MATCH"),
        ("PATTERN", "("),
    )
)
"""Two tokens that begin a section of the clause, and nothing in a list of columns or arguments."""
_SECTION_WORDS = frozenset(("MEASURES", "DEFINE", "WITHIN", "SLIDE", "SPAN", "SUBSET"))


@dataclass(frozen=True, slots=True)
class ClauseSpan:
    """One use of the clause; all are offsets in the statement.

    Attributes:
        start: Of the relation before the clause.
        keyword: Of the word MATCH_TREND.
        body: Index of the first token inside the parentheses.
        body_end: Index of the closing parenthesis.
        end: Just past the closing parenthesis.
        ctes: The ``WITH`` lists that the relation may use, outermost first.
    """

    start: int
    keyword: int
    body: int
    body_end: int
    end: int
    ctes: tuple[Ctes, ...]


def find_clauses(tokens: Sequence[Token]) -> list[ClauseSpan]:
    """All uses of the clause, inner ones before those that contain them.

    Raises:
        PlanningError: ``TREND_CLAUSE_SYNTAX`` when a clause has no end or no relation before it,
            ``TREND_LATERAL`` when the relation is a lateral one.
    """
    uses = [at for at in range(len(tokens) - 1) if tokens[at].word == "MATCH_TREND" and tokens[at + 1].is_symbol("(")]
    if not uses:
        return []
    statement = _Statement(tokens)
    spans = (statement.span(at) for at in uses)
    return sorted((span for span in spans if span is not None), key=lambda span: (span.end, -span.start))


class _Statement:
    """The tokens of a statement, and which bracket belongs to which."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._partner: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(tokens):
            change = depth_change(token)
            if change > 0:
                opened.append(at)
            elif change < 0 and opened:
                opening = opened.pop()
                self._partner[opening], self._partner[at] = at, opening

    def span(self, at: int) -> ClauseSpan | None:
        """The clause whose word is at ``at``; None if that word is a name of the user's."""
        tokens = self._tokens
        if at > 0 and (tokens[at - 1].word == "AS" or tokens[at - 1].is_symbol(".")):
            return None
        word, closing = tokens[at], self._partner.get(at + 1)
        inside = range(at + 2, len(tokens) if closing is None else closing)
        first = self._relation_start(at)
        # After a relation, the word may be its alias, with names for its columns: `FROM t match_trend (a, b)`.
        # Elsewhere it may be the name of a table or a function, with columns or arguments.
        if (first is None or first == at) and not self._is_like_a_clause(inside):
            return None
        if first is None:
            raise _wrong(word, "MATCH_TREND follows a relation in FROM or JOIN")
        if first == at:
            raise _wrong(word, "a relation must stand before MATCH_TREND")
        if inside and self._are_names(inside):
            return None
        if closing is None:
            raise _wrong(word, "the parenthesis after MATCH_TREND is never closed")
        for outer in self._outside_brackets(first, at):
            if tokens[outer].word == "LATERAL":
                raise PlanningError("TREND_LATERAL", tokens[outer].start, tokens[outer].end)
        return ClauseSpan(
            start=tokens[first].start,
            keyword=word.start,
            body=at + 2,
            body_end=closing,
            end=tokens[closing].end,
            ctes=self._visible_ctes(first),
        )

    def _relation_start(self, at: int) -> int | None:
        """Index of the first token of the relation that ends before ``at``; None if none can stand there.

        It is ``at`` itself if that is where a relation begins.
        """
        start: int | None = None
        before = at - 1
        while before >= 0:
            token = self._tokens[before]
            change = depth_change(token)
            if change < 0 and before in self._partner:
                before = self._partner[before]
            elif change > 0:
                # Parentheses around relations stand where a relation does.
                start = before + 1 if start is None else start
                if not self._begins_relation(before):
                    return None
            elif self._is_before_relation(before):
                return before + 1 if start is None else self._start_of_values(start)
            elif change < 0 or not self._is_in_from(before, is_in_relation=start is None):
                return None
            elif start is None and token.is_symbol(","):
                start = before + 1
            before -= 1
        return None

    def _begins_relation(self, at: int) -> bool:
        """Whether a relation may begin at ``at``, as far as the token before it tells."""
        if at == 0:
            return False
        before = self._tokens[at - 1]
        return before.is_symbol(",") or before.is_symbol("(") or before.word in _BEFORE_RELATION

    def _is_in_from(self, at: int, is_in_relation: bool) -> bool:
        """Whether the token at ``at`` can be part of a FROM, or even of a relation in it."""
        token = self._tokens[at]
        if is_in_relation and token.kind is TokenKind.SYMBOL and token.text not in (".", ","):
            return False
        if token.word not in (_NOT_IN_RELATION if is_in_relation else _NOT_IN_FROM) or at == 0:
            return True
        before = self._tokens[at - 1]  # after which a word is a name, whatever it is
        return before.is_symbol(".") or before.is_symbol(",") or before.word in ("AS", "FROM", "JOIN")

    def _is_before_relation(self, at: int) -> bool:
        """Whether the token at ``at`` is a word that a relation follows."""
        tokens = self._tokens
        if tokens[at].word not in _BEFORE_RELATION or (at > 0 and tokens[at - 1].is_symbol(".")):
            return False
        if tokens[at].word == "USING":
            return any(token.word == "MERGE" for token in tokens[:at])
        return tokens[at].word == "JOIN" or at == 0 or tokens[at - 1].word not in ("DISTINCT", "DELETE")

    def _start_of_values(self, start: int) -> int:
        """Where the ``VALUES`` begin that have their last row at ``start``; ``start`` if there are none."""
        at = start - 1
        while at > 0:
            token = self._tokens[at]
            if at in self._partner:
                at = self._partner[at]
            elif token.kind not in (TokenKind.NUMBER, TokenKind.STRING) and not token.is_symbol(","):
                break
            at -= 1
        is_values = self._tokens[at].word == "VALUES" and not self._tokens[at + 1].is_symbol(",")
        return at if is_values and self._begins_relation(at) else start

    def _are_names(self, inside: range) -> bool:
        """Whether this is a list of names, as after the alias of a relation."""
        pieces = split_at_commas(self._tokens[inside.start : inside.stop])
        return all(len(piece) == 1 and piece[0].name is not None for piece in pieces)

    def _is_like_a_clause(self, inside: range) -> bool:
        """Whether this begins as a clause does, and as no columns or arguments do."""
        if not inside or self._tokens[inside.start].word not in _SECTION_WORDS:
            return self._is_section(inside.start)
        return any(self._is_section(at) for at in self._outside_brackets(inside.start, inside.stop))

    def _is_section(self, at: int) -> bool:
        tokens = self._tokens
        return at + 1 < len(tokens) and (tokens[at].word, tokens[at + 1].word or tokens[at + 1].text) in _SECTIONS

    def _outside_brackets(self, begin: int, end: int) -> Iterator[int]:
        """Indices from ``begin`` to ``end`` of what is in no brackets that are opened and closed there."""
        at = begin
        while at < end:
            partner = self._partner.get(at, at)
            if at < partner < end:
                at = partner
            else:
                yield at
            at += 1

    def _visible_ctes(self, at: int) -> tuple[Ctes, ...]:
        """The entries of ``WITH`` lists that are defined before ``at`` in the queries around it."""
        opened: list[int] = [-1]
        for before in range(at):
            change = depth_change(self._tokens[before])
            if change > 0:
                opened.append(before)
            elif change < 0 and len(opened) > 1:
                opened.pop()
        around = (self._ctes_between(a + 1, b, at) for a, b in zip(opened, [*opened[1:], at], strict=True))
        return tuple(entries for entries in around if entries)

    def _ctes_between(self, begin: int, end: int, at: int) -> Ctes:
        """The entries that are defined before ``at`` by the last statement that begins before ``end``."""
        entries: Ctes = ()
        for outer in self._outside_brackets(begin, end):
            if self._tokens[outer].is_symbol(";"):
                entries = ()
            elif self._tokens[outer].word == "WITH":
                entries = self._with_list(outer + 1, at) or entries
        return entries

    def _with_list(self, at: int, end: int) -> Ctes:
        """Entries from ``at`` that end before ``end``; the first has the word RECURSIVE with it."""
        tokens = self._tokens
        entries: list[tuple[int, int]] = []
        first = at
        if tokens[at].word == "RECURSIVE" and tokens[at + 1].name is not None and tokens[at + 1].word != "AS":
            at += 1
        while at < end and tokens[at].name is not None:
            closing = self._partner.get(self._body_of_cte(at + 1), end)
            if closing >= end:
                break
            entries.append((tokens[first].start, tokens[closing].end))
            if not tokens[closing + 1].is_symbol(","):
                break
            first = at = closing + 2
        return tuple(entries)

    def _body_of_cte(self, at: int) -> int:
        """Where, after its name, the parenthesis before the query of a CTE should be.

        Between them may stand names of columns, ``MAX RECURSION LEVEL n``, and ``AS``.
        """
        tokens = self._tokens
        if tokens[at].is_symbol("(") and at in self._partner:
            following = tokens[self._partner[at] + 1 : self._partner[at] + 2]
            if not following or (following[0].word not in ("AS", "MAX") and not following[0].is_symbol("(")):
                return at
            at = self._partner[at] + 1
        if [token.word for token in tokens[at : at + 3]] == ["MAX", "RECURSION", "LEVEL"]:
            at += 4
        return at + 1 if at < len(tokens) and tokens[at].word == "AS" else at


def _wrong(word: Token, problem: str) -> PlanningError:
    return PlanningError("TREND_CLAUSE_SYNTAX", word.start, word.end, problem=problem)
