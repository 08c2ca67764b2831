"""Statements and permanent views with clauses, until nothing asks for these any more."""

from __future__ import annotations

from dataclasses import dataclass, field

from sparkext.workload.trend_query import ParsedClause, TrendQuery

MOST_STATEMENTS = 1000
"""Statements whose clauses are remembered. Spark Connect analyses a statement again whenever it is asked about it."""


MOST_RECENT = 16
"""Queries without a view that are remembered, in case that the same statement comes again."""


@dataclass(slots=True, eq=False)
class Statement:
    """A statement with clauses.

    Attributes:
        written: Its clauses.
        at_once: Clauses that are computed together, as the statement reads them; of a script each goes by itself.
        queries: Those of them that have been bound, by number.
        under_way: Clauses that are being bound. To bind one, those inside of what it reads are bound.
        stored: Clauses whose views are in the catalog for certain.
    """

    written: tuple[ParsedClause, ...]
    at_once: bool
    queries: dict[int, TrendQuery] = field(default_factory=dict)
    under_way: set[int] = field(default_factory=set)
    stored: set[int] = field(default_factory=set)

    def clause(self, number: int) -> ParsedClause:
        """The clause of that number."""
        return next(one for one in self.written if one.number == number)

    def key(self, one: ParsedClause) -> tuple[str, int]:
        """What the same clause of a statement of the same text has in common with one."""
        return one.use.sql, self.written.index(one)


@dataclass(frozen=True, slots=True, eq=False)
class ReadView:
    """A permanent view that has been read.

    Attributes:
        text: As the user wrote it.
        rewritten: What Spark parses instead.
        statement: Its clauses.
    """

    text: str
    rewritten: str
    statement: Statement
