"""A trend query that has been bound, and the view that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.clause_use import ClauseUse
from sparkext.binding.session_state import SessionState
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.relation_files import SourceVersion
from sparkext.workload.pool import Pool
from sparkext.workload.run import Run

FRAME_PREFIX = "match_trend_"
"""Beginning of the names of views of data frames that have been given none."""


@dataclass(frozen=True, slots=True)
class View:
    """A view that a statement creates, or a permanent one that is read.

    Attributes:
        name: Without its database.
        is_global: Whether it is a temporary one that all sessions see.
        read_at_once: Whether the statement also reads it.
        is_permanent: Whether the catalog keeps it.
    """

    name: str
    is_global: bool
    read_at_once: bool
    is_permanent: bool = False


@dataclass(frozen=True, slots=True)
class ParsedClause:
    """A clause of a statement, as it was parsed.

    Attributes:
        number: Of its stand-in.
        use: The clause.
        view: That the statement creates, if it does.
        number_in_view: Among the clauses of its view; None when it is the only one.
    """

    number: int
    use: ClauseUse
    view: View | None
    number_in_view: int | None

    @property
    def is_to_be_stored(self) -> bool:
        """Whether the statement creates a permanent view: it is read by other statements, from the catalog."""
        return self.view is not None and self.view.is_permanent and self.use.view is None

    @property
    def is_of_all(self) -> bool:
        """Whether it is of a temporary view that all sessions see."""
        return self.view is not None and self.view.is_global

    @property
    def name(self) -> str:
        """What the query is called."""
        if self.view is None:
            return f"query {self.number}"
        return self.view.name if self.number_in_view is None else f"{self.view.name}#{self.number_in_view}"


@dataclass(eq=False)
class TrendQuery:
    """A query that has been bound.

    Attributes:
        written: What it was made of.
        bound: Resolved against the columns of its relation.
        pool: That computes it.
        run: That it is planned in; None while it is not.
        is_right: Whether its relation is there and it fits, as far as has been looked.
        shown: A run and the state of the session, and the rows that are selected from its results.
        on_driver: Whether these rows are on the driver.
        checked: The run whose results have been found to be right, in debug mode.
        stand_in: Number by which a statement over a stream is seen to read it, and as what it was bound then.
        apart: Why an operator of its own computes it, where a UNION ALL over a stream has it beside others.
    """

    written: ParsedClause
    bound: BoundQuery
    pool: Pool
    run: Run | None = None
    is_right: bool = True
    shown: tuple[tuple[Run, SessionState], AnalysedFrame] | None = None
    on_driver: bool = False
    checked: Run | None = None
    stand_in: tuple[int, BoundQuery] | None = None
    apart: str | None = None

    @property
    def use(self) -> ClauseUse:
        """The clause."""
        return self.written.use

    @property
    def view(self) -> View | None:
        """The view whose life it shares; None for a query that lives for one statement."""
        return self.written.view

    @property
    def lasting_name(self) -> str | None:
        """The name of its view, which it has in each process: with the database, unless the session has the view.

        None where there is no view, or one that has a number for a name.
        """
        if self.view is None or (self.use.view is None and self.view.name.startswith(FRAME_PREFIX)):
            return None
        if self.view.is_global:
            return f"global_temp.{self.written.name}"
        database = "" if self.use.view is None else self.use.view.rpartition(".")[0].partition(".")[2]
        return f"{database}.{self.written.name}" if database else self.written.name

    def rename(self, name: str) -> None:
        """Follow its view, which has another name now."""
        assert self.view is not None
        self.written = replace(self.written, view=replace(self.view, name=name))
        self.bound = replace(self.bound, query=replace(self.bound.query, name=self.written.name))
        self.shown = None


@dataclass(frozen=True, slots=True)
class Served:
    """What a clause of a statement is served from, for as long as Spark analyses the statement.

    Attributes:
        bound: The query, as it was bound then.
        run: That computes it.
        is_computed: Whether the run has been computed.
        may_be_on_driver: Whether its rows may be those that the driver has, which stay as they are whatever is written
            to the source before the statement runs.
    """

    bound: BoundQuery
    run: Run
    is_computed: bool
    may_be_on_driver: bool

    def holds(self, bound: BoundQuery, version: SourceVersion) -> bool:
        """Whether another query of the statement, whose source has a version, is to be served from the same rows."""
        is_on_driver = self.is_computed and self.may_be_on_driver
        is_kept = self.run.persisted and self.run.version == version
        return (is_on_driver or is_kept) and self.run.index_of(bound) is not None


def by_pool(queries: Iterable[TrendQuery]) -> dict[str, list[TrendQuery]]:
    """Queries by their pools, which are called ``pool 1`` and so on in the order of their first queries."""
    pools: dict[Pool, list[TrendQuery]] = {}
    for query in queries:
        pools.setdefault(query.pool, []).append(query)
    return {f"pool {number}": members for number, members in enumerate(pools.values(), 1)}
