"""Who refers to which query: views, statements that go on or may come again, and data frames."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sparkext.binding.recent import Recent
from sparkext.workload.statements import MOST_RECENT, MOST_STATEMENTS, ReadView, Statement
from sparkext.workload.trend_query import ParsedClause, TrendQuery
from sparkext.workload.view_names import ViewNames

SOURCE_PREFIX = "sparkext_source_"
"""Names of temporary views of data frames, each for the clauses that read it."""

_abandoned: dict[str, deque[str]] = {}
"""Per session, views that nothing can ask for any more."""


def abandon_view(session: str, name: str) -> None:
    """Say that nothing will ask for a temporary view; it is dropped when the workload is looked at next.

    It asks nothing of the JVM, so that finalizers may call it.

    Args:
        session: UUID of its session.
        name: Of the view.
    """
    _abandoned.setdefault(session, deque()).append(name)


def abandoned_views(session: str) -> Iterator[str]:
    """Views of a session that have been abandoned, each of which is given once."""
    names = _abandoned.get(session)
    while names:
        yield names.popleft()


@dataclass(frozen=True, slots=True)
class Held:
    """How much a session holds of its queries.

    Attributes:
        views: Queries that views refer to.
        going_on: Statements that threads go on with.
        clauses: That a statement may be asked for again.
        recent: Queries that may come again.
        pools: Of all of these queries.
        runs: Of the pools, and those that have been released and are to be released once more.
        is_expecting: Whether it is to be looked for what nothing asks for any more.
    """

    views: int
    going_on: int
    clauses: int
    recent: int
    pools: int = 0
    runs: int = 0
    is_expecting: bool = False


class _GoingOn:
    """That a thread goes on with the statement that it has parsed: it has this until its next one, or its end."""

    statement: Statement | None = None


class _Thread(threading.local):
    """What a thread is at.

    Attributes:
        going_on: Its statement.
        reads: Numbers of the clauses whose rows are being looked for.
        names: Of views with trend queries that it may come to read.
        is_looking: Whether it looks at views of the catalog whose rows nobody has asked for.
    """

    def __init__(self) -> None:
        self.going_on: _GoingOn | None = None
        self.reads: set[int] = set()
        self.names: frozenset[str] = frozenset()
        self.is_looking = False


class Registry:
    """The queries of a session, by who refers to them.

    A statement is referred to by its thread alone, so it is over when the thread has another one, or is gone.

    Attributes:
        changing: To be held while what belongs together changes, and never while Spark is asked for what may need its
            catalog.
    """

    def __init__(self, forgotten: Callable[[], None]) -> None:
        """Without queries.

        Args:
            forgotten: Called when queries of a statement are asked for no more. It waits for nobody.
        """
        self.changing = threading.RLock()
        self._forgotten = forgotten
        self._thread = _Thread()
        self._clauses: OrderedDict[int, Statement] = OrderedDict()
        self._going_on: dict[weakref.ref[_GoingOn], Statement] = {}
        self._recent: Recent[tuple[str, int], TrendQuery] = Recent(MOST_RECENT)
        self._views: dict[int, TrendQuery] = {}
        self._names = ViewNames()
        self._read_views: dict[str, ReadView] = {}

    def held(self) -> Held:
        """How much there is, pools and runs apart."""
        with self.changing:
            return Held(len(self._views), len(self._going_on), len(self._clauses), len(self._recent))

    # Statements.

    def begin(self) -> None:
        """This thread begins another statement."""
        self._thread.names = frozenset()
        if self._thread.going_on is not None:
            self._thread.going_on = None
            self.forget_ended()

    def remember(self, statement: Statement) -> None:
        """This thread goes on with a statement, of which Spark may ask for clauses."""
        going_on = self._thread.going_on = _GoingOn()
        self.forget_ended()
        with self.changing:
            self._going_on[weakref.ref(going_on)] = statement
            going_on.statement = statement
            self._add_clauses(statement)
            while len(self._clauses) > max(MOST_STATEMENTS, len(statement.written)):
                self._clauses.popitem(last=False)

    def take_over(self, statement: Statement) -> None:
        """Have the clauses of a view that another session has made."""
        with self.changing:
            self._add_clauses(statement)
            for clause in statement.written:
                if clause.view is not None:
                    self._names = self._names.with_name(clause.view.name)

    def forget_ended(self) -> None:
        """Forget what has been bound for statements that are over; if one is asked for again, it is bound anew."""
        with self.changing:
            ended = [self._going_on.pop(going_on) for going_on in list(self._going_on) if going_on() is None]
        for statement in ended:
            if statement.queries:
                statement.queries = {}
                self._forgotten()

    def _add_clauses(self, statement: Statement) -> None:
        self._clauses.update((clause.number, statement) for clause in statement.written)

    def statement_with(self, number: int) -> Statement | None:
        """The statement or permanent view that has a clause; None if it is long gone."""
        return self._clauses.get(number)

    @property
    def current(self) -> Statement | None:
        """The statement of this thread."""
        going_on = self._thread.going_on
        return None if going_on is None else going_on.statement

    def going_on(self) -> list[Statement]:
        """Statements that threads go on with."""
        with self.changing:
            return list(self._going_on.values())

    def being_created(self) -> set[int]:
        """Clauses whose views may not be in the catalog yet: those of statements that go on."""
        current = self.going_on()
        return {one.number for statement in current for one in statement.written if one.number not in statement.stored}

    def stored(self, numbers: Iterable[int]) -> None:
        """Clauses whose views are in the catalog for certain."""
        for statement in self.going_on():
            statement.stored.update(numbers)

    def add(self, statement: Statement, clause: ParsedClause, query: TrendQuery) -> None:
        """Note the query that a clause has been bound to."""
        with self.changing:
            statement.queries[clause.number] = query
            if clause.view is None:
                self._recent[statement.key(clause)] = query
            elif not clause.is_to_be_stored:
                self._views[clause.number] = query
                self._names = self._names.with_name(clause.view.name)

    def take_recent(self, statement: Statement, clause: ParsedClause) -> TrendQuery | None:
        """The query that a clause was when a statement of the same text was run before."""
        return self._recent.pop(statement.key(clause)) if clause.view is None else None

    def recent(self) -> list[TrendQuery]:
        """Queries that may come again."""
        return self._recent.values()

    def forget_recent(self) -> None:
        """Bind what comes again anew."""
        self._recent.clear()

    def of_statements(self) -> list[TrendQuery]:
        """Queries that no view but a statement that goes on refers to."""
        with self.changing:
            queries = [query for statement in self.going_on() for query in statement.queries.values()]
        return [query for query in queries if query.view is None]

    @contextmanager
    def reading(self, number: int) -> Iterator[bool]:
        """While this thread looks for the rows of a clause; gives whether it was looking for them already."""
        reads = self._thread.reads
        is_nested = number in reads
        reads.add(number)
        try:
            yield is_nested
        finally:
            if not is_nested:
                reads.discard(number)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """While this thread looks at views of the catalog whose rows nobody has asked for."""
        self._thread.is_looking = True
        try:
            yield
        finally:
            self._thread.is_looking = False

    def is_looking(self) -> bool:
        """Whether this thread does that."""
        return self._thread.is_looking

    # Views.

    def view(self, number: int) -> TrendQuery | None:
        """The query of a view's clause."""
        return self._views.get(number)

    def views(self) -> dict[int, TrendQuery]:
        """Queries of views by the numbers of their clauses, in order of registration."""
        with self.changing:
            return dict(self._views)

    def has_views(self) -> bool:
        """Whether any view refers to a query."""
        return bool(self._views)

    def may_read(self, text: str) -> bool:
        """Note which views this thread may come to read: those that a text of a statement or view may name.

        Returns:
            Whether there are any.
        """
        names = self._names.within(text)
        self._thread.names |= names
        return bool(names)

    def read_beside(self, query: TrendQuery) -> list[TrendQuery]:
        """Queries of other views that this thread may come to read, as far as the texts tell that it has parsed."""
        names = self._thread.names
        if query.view is not None:
            names = names - {query.view.name.lower()}
        if not names:
            return []
        return [other for other in self.views().values() if other.view is not None and other.view.name.lower() in names]

    def without_gone(self, queries: Iterable[TrendQuery]) -> list[TrendQuery]:
        """Those of views that there are, and those without a view."""
        views = set(self.views().values())
        return [one for one in queries if one.view is None or one in views]

    def read_view(self, view: str) -> ReadView | None:
        """What was found when a permanent view was read."""
        return self._read_views.get(view)

    def read_views(self) -> list[tuple[str, ReadView]]:
        """Permanent views that have been read, and what was found."""
        with self.changing:
            return list(self._read_views.items())

    def add_read_view(self, view: str, read: ReadView) -> None:
        """A permanent view has been read, again or for the first time."""
        with self.changing:
            self._read_views[view] = read
            self._add_clauses(read.statement)

    def forget_read_view(self, view: str, read: ReadView) -> None:
        """Forget what was found in a permanent view that has another text now, or is gone."""
        with self.changing:
            if self._read_views.get(view) is not read:
                return
            del self._read_views[view]
            for clause in read.statement.written:
                self._views.pop(clause.number, None)
                self._clauses.pop(clause.number, None)

    def follow_names(self, queries: dict[int, TrendQuery], called: dict[int, str], kept: set[int]) -> list[TrendQuery]:
        """Rename queries as their temporary views are called now, and forget those that have none any more.

        Args:
            queries: Of views, when the catalog was asked.
            called: Names that the catalog has, by the numbers of clauses.
            kept: Numbers of clauses whose views may not be in the catalog yet.

        Returns:
            Those that are forgotten.
        """
        gone: list[TrendQuery] = []
        with self.changing:
            for number, query in queries.items():
                if query.use.view is not None:
                    continue
                if number in called:
                    if query.view is not None and called[number] != query.view.name:
                        query.rename(called[number])
                elif number not in kept and self._views.get(number) is query:
                    gone.append(self._views.pop(number))
            self._names = ViewNames(left.view.name for left in self._views.values() if left.view is not None)
        return gone

    def forget_all(self) -> None:
        """Forget all queries."""
        with self.changing:
            self._views.clear()
            self._recent.clear()
            self._names = ViewNames()
            self._read_views.clear()
            self._going_on.clear()
            self._clauses.clear()
