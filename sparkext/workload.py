"""The trend queries of a session: what is registered, how it is pooled, and what has been computed."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from planner.errors import PlanningError
from sparkext import debug, settings
from sparkext.bound_query import BoundQuery
from sparkext.files import Listing
from sparkext.jobs import Lent
from sparkext.looks import Looks
from sparkext.named import drop_view, named, view_text, view_texts
from sparkext.pool import Pool, Run
from sparkext.results import query_sql, with_measures
from sparkext.source import is_same, reads_view
from sparkext.tokens import names_in
from sparkext.transfer import limit_by_bytes, limit_by_rows
from sparkext.trend_query import RELATION_PREFIX, TrendQuery, View, by_pool, relations_read
from sparkext.use import Use
from sparkext.words import count

log = logging.getLogger(__name__)

SOURCE_PREFIX = "sparkext_source_"
"""Names of temporary views of data frames, each for the clauses that read it."""

SOON = 1.0
"""Seconds after which is forgotten what a view has asked for that is gone."""

_numbers = itertools.count(1)

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


class Workload:
    """All trend queries of one session. Methods may be called from several threads.

    Attributes:
        spark: The session.
        statements: How many statements have begun.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.statements = 0
        self._lock = threading.RLock()
        self._queries: dict[str, TrendQuery] = {}
        self._pools: list[Pool] = []
        self._under_way: dict[int, set[str]] = {}
        self._lent: dict[int, Lent] = {}
        self._changing: deque[tuple[int | None, str]] = deque()
        self._later: threading.Timer | None = None
        self._looks: Looks | None = None
        self._renamed: set[str] = set()
        self._limited_by_rows = False

    def begin_statement(self) -> None:
        """Note that this thread starts another statement: what its last one registered must be in use now."""
        with self._lock:
            self.statements += 1
            if lent := self._lent.pop(threading.get_ident(), None):
                lent.give_back()
            self._collect_changed()
            begun = self._under_way.pop(threading.get_ident(), set())
            self._forget_unused([self._queries[relation] for relation in begun if relation in self._queries])

    def register(self, use: Use, view: View | None, number: int | None) -> str:
        """Register a clause. It is not planned before something asks for it.

        Args:
            use: The clause.
            view: What its statement creates, if it does.
            number: Of the clause in its statement; None when it is the only one.

        Returns:
            Name of the relation that stands in for the clause. Without a view there is none before it is planned.

        Raises:
            PlanningError: With the place of what is wrong; nothing is registered then.
        """
        with self._lock, self.looking_once() as looks:
            relation = f"{RELATION_PREFIX}{next(_numbers)}"
            name = relation if view is None else view.name if number is None else f"{view.name}#{number}"
            found = looks.relation(use)
            bound = use.bind(found.source, found.part, name)
            # A view that is not read yet need not know what files there are: they are listed when it is planned.
            is_for_later = view is not None and not view.read_at_once
            seen = self._files_seen(bound, use) if is_for_later else None
            files = looks.files(use) if seen is None else seen
            if view is not None and reads_view(bound.given, view.name, view.is_global):
                raise PlanningError("TREND_RECURSIVE_VIEW", *use.source_at, view=view.name)
            aggregates = looks.unplanned(bound)
            if view is not None:
                with_measures(aggregates, bound).createOrReplaceTempView(relation)
            self._queries[relation] = TrendQuery(view, relation, use, bound, files, self._pool_of(bound, files))
            self._under_way.setdefault(threading.get_ident(), set()).add(relation)
            return relation

    def abandon(self, relations: Iterable[str]) -> None:
        """Forget what a statement registered that turned out to be wrong."""
        with self._lock:
            for relation in relations:
                self._forget(self._queries[relation])

    def plan(self, relations: Iterable[str]) -> list[Run]:
        """Make the stand-in relations show results that follow their sources as they are now, to be read.

        Args:
            relations: Their names.

        Returns:
            The runs that were planned for it.

        Raises:
            PlanningError: A source has changed so that a query is no longer right, or a setting is wrong.
        """
        with self._lock, self.looking_once():
            wanted = [self._queries[relation] for relation in relations if relation in self._queries]
            made: list[Run] = []
            members: dict[Run, list[TrendQuery]] = {}
            for query in wanted:
                self._follow_sources(query)
            for query in wanted:
                run, is_new = self._plan(query, members)
                if is_new:
                    made.append(run)
                members.setdefault(run, []).append(query)
            for run, queries in members.items():
                self._show(run, queries)
                run.lend_name(self._lent.setdefault(threading.get_ident(), Lent(self.spark)))
                if settings.choice(self.spark, settings.DEBUG) == "true":
                    for query in queries:
                        self._check(query, run)
            return made

    def queries(self) -> list[TrendQuery]:
        """The queries that views refer to, in order of registration, planned as far as their sources allow.

        Raises:
            PlanningError: A setting has an unknown value, or asks for too much; or the statement was cancelled.
        """
        with self._lock, self.looking_once():
            self.collect()
            followed: list[TrendQuery] = []
            for query in list(self._queries.values()):
                with _noted_as_broken(query):
                    self._follow_sources(query)
                    followed.append(query)
            runs: dict[Run, None] = {}
            for query in followed:
                with _noted_as_broken(query):
                    runs[self._plan(query, runs)[0]] = None
            return list(self._queries.values())

    def collect(self) -> None:
        """Forget queries whose views have been dropped or replaced, and results that none asks for.

        Queries whose views have been renamed follow them.
        """
        with self._lock:
            self._collect_changed()
            names = _abandoned.get(str(self.spark._jsparkSession.sessionUUID()))
            while names:
                drop_view(self.spark, names.popleft())
            read = relations_read(view_texts(self.spark)) if self._queries else set()
            for query in self._over(self._queries.values()):
                if query.view is None or query.relation not in read:
                    self._forget(query)
                elif self._renamed:
                    self._follow_view(query)
            self._release_unused()

    def expect_change(self, text: str, by_itself: bool) -> None:
        """Note that this thread drops or replaces views, which may be the last that ask for something.

        What nothing asks for then is forgotten when the next statement starts, or after `SOON` if there is none.
        It waits for no lock and asks nothing of the JVM, since Spark's catalog may be locked.

        Args:
            text: Of the statement, or of the view that is dropped.
            by_itself: Whether no statement does it, so that the thread's last one is over. What a statement has
                registered is in use until the thread starts another: in a script, views change on the way.
        """
        relations = self._under_way.get(threading.get_ident(), ())
        is_over = by_itself and all(self._queries[relation].view for relation in relations if relation in self._queries)
        # Another thread may look at once, before the statement has been run: what it renames must be known by then.
        if "rename" in text.lower():
            self._renamed.update(names_in(text))
        self._changing.append((threading.get_ident() if is_over else None, text))
        if self._later is not None:
            self._later.cancel()
        self._later = threading.Timer(SOON, self._collect_later)
        self._later.daemon = True
        self._later.start()

    def _collect_later(self) -> None:
        try:
            self.collect()
        except (Py4JError, OSError) as error:  # Spark has been stopped meanwhile
            log.debug("nothing is collected: %s", error)

    def _collect_changed(self) -> None:
        """Forget queries whose views are named in statements that may have dropped or replaced them."""
        texts: list[str] = []
        while self._changing:
            done, text = self._changing.popleft()
            texts.append(text)
            if done is not None:
                self._under_way.pop(done, None)
        if texts:
            shown = "\n".join(texts).lower().replace("``", "`")
            self._forget_unused([query for query in self._queries.values() if query.is_named_in(shown)])
            self._release_unused()

    def drop_results(self) -> None:
        """Forget all computed results; what is asked for next is planned and computed anew."""
        with self._lock:
            self.collect()
            for pool in self._pools:
                pool.drop_results()

    def holds_queries(self) -> bool:
        """Whether there are any."""
        return bool(self._queries)

    def drop_views(self) -> None:
        """Drop all views that hold trend queries, forget the queries, and take back what was set for them."""
        with self._lock:
            self.collect()
            views = {query.view for query in self._queries.values() if query.view is not None}
        # Without the lock: Spark parses what the views hold, in another thread.
        for view in views:
            if view.is_global:
                self.spark.catalog.dropGlobalTempView(view.name)
            else:
                self.spark.catalog.dropTempView(view.name)
        self.release()
        if self._limited_by_rows:
            limit_by_bytes(self.spark)
            self._limited_by_rows = False

    def release(self) -> None:
        """Forget all queries and their results, as their session is no more."""
        with self._lock:
            for query in list(self._queries.values()):
                self._forget(query)
            self.collect()

    @contextmanager
    def looking_once(self) -> Iterator[Looks]:
        """Look at each thing once, however many queries ask for it."""
        with self._lock:
            outermost = self._looks is None
            looks = self._looks = self._looks or Looks(self.spark)
            try:
                yield looks
            finally:
                if outermost:
                    self._looks = None

    def _files_seen(self, bound: BoundQuery, use: Use) -> tuple[Listing, ...] | None:
        """Files of what a clause reads, as seen last by another query on it; None when there is none."""
        last = next((query for query in reversed(self._queries.values()) if query.use.source == use.source), None)
        return last.files if last is not None and is_same(bound.given, last.bound.given) else None

    def _pool_of(self, bound: BoundQuery, files: tuple[Listing, ...]) -> Pool:
        pool = next((pool for pool in self._pools if pool.takes(bound)), None)
        if pool is None:
            pool = Pool(self.spark, bound)
            self._pools.append(pool)
        pool.follow(files)
        return pool

    def _live(self, pool: Pool) -> list[BoundQuery]:
        return [query.bound for query in self._queries.values() if query.pool is pool]

    def _follow_sources(self, query: TrendQuery) -> None:
        """Bind the query anew when its relation is not what it was, and with it its whole pool."""
        left = query.pool
        is_other = self._follow_source(query)
        for other in self._queries.values():
            if (is_other and other.pool is left) or (other.pool is query.pool and other.files != query.files):
                with suppress(PlanningError):  # it is reported when that query is asked for
                    self._follow_source(other)

    def _follow_source(self, query: TrendQuery) -> bool:
        """Bind the query anew when its relation is not what it was; returns whether it was not."""
        try:
            with self.looking_once() as looks:
                found = looks.relation(query.use)
                files = looks.files(query.use)
            source = found.source
            if is_same(source, query.bound.given) and files == query.files:
                return False
            log.info("the source of %s has changed", query.bound.query.name)
            query.bound = query.use.bind(source, found.part, query.bound.query.name)
        except PlanningError as error:
            error.text = query.use.sql
            raise
        query.files = files
        query.pool = self._pool_of(query.bound, files)
        query.run = query.shown = None
        return True

    def _check(self, query: TrendQuery, run: Run) -> None:
        """Hold what a run says of a query against the query by itself, once."""
        if query.checked is run:
            return
        others = [
            other for other in self._queries.values() if other is not query and run.place(other.bound) is not None
        ]
        debug.check(self.spark, _written(query), [_written(other) for other in others], run)
        query.checked = run

    def _plan(self, query: TrendQuery, known: Iterable[Run]) -> tuple[Run, bool]:
        """The run that computes the query now, and whether it is new.

        Args:
            query: Of which the source has been followed.
            known: Runs that have been found for others since then.
        """
        found = next((run for run in known if run in query.pool.runs and run.place(query.bound) is not None), None)
        found = found or query.pool.find(query.bound, self._live(query.pool))
        query.run = self._make_run(query) if found is None else found
        return query.run, found is None

    def _make_run(self, query: TrendQuery) -> Run:
        self.collect()
        self._limited_by_rows |= limit_by_rows(self.spark)
        pool, members = next(one for one in by_pool(self._queries.values()).items() if query in one[1])
        name = f"sparkext: {pool}, {count(len(members), 'query', 'queries')}"
        return query.pool.make(query.bound, [member.bound for member in members], name)

    def _show(self, run: Run, queries: Iterable[TrendQuery]) -> None:
        """Let the stand-in relations of ``queries`` show what a run computes."""
        ansi = str(self.spark.conf.get("spark.sql.ansi.enabled", "true")).lower() == "true"
        unseen = [query for query in queries if query.shown != (run, ansi)]
        if not unseen:
            return
        with named(run.results) as pool:
            for query in unseen:
                place = run.place(query.bound)
                assert place is not None
                text = query_sql(pool, run.plan.fields, run.plan.results[place], query.bound, ansi)
                self.spark.sql(text).createOrReplaceTempView(query.relation)
                query.shown = run, ansi

    def _forget_unused(self, queries: Iterable[TrendQuery]) -> None:
        """Forget those of ``queries`` that no view refers to, and let the others follow their views."""
        lost = [query for query in self._over(queries) if not self._follow_view(query)]
        # A view that all sessions see may have been renamed in any of them.
        are_global = any(query.view is not None and query.view.is_global for query in lost)
        read = relations_read(view_texts(self.spark)) if are_global else set()
        for query in lost:
            if query.relation not in read:
                self._forget(query)

    def _follow_view(self, query: TrendQuery) -> bool:
        """Rename a query with its view; returns whether it has one, by any of the names that it may have."""
        view = query.view
        if view is None:
            return False
        for name in (view.name, *self._renamed):
            if query.is_read_by(view_text(self.spark, name, view.is_global)):
                if name != view.name:
                    query.rename(view, name)
                return True
        return False

    def _over(self, queries: Iterable[TrendQuery]) -> list[TrendQuery]:
        """Those that were not registered by a statement that may be under way."""
        alive = {thread.ident for thread in threading.enumerate()}
        under_way = {name for thread, names in self._under_way.items() if thread in alive for name in names}
        return [query for query in queries if query.relation not in under_way]

    def _release_unused(self) -> None:
        """Release results that no query asks for, and pools that no query is in."""
        for pool in list(self._pools):
            live = self._live(pool)
            pool.keep_only(live)
            if not live:
                self._pools.remove(pool)

    def _forget(self, query: TrendQuery) -> None:
        del self._queries[query.relation]
        drop_view(self.spark, query.relation)
        source = query.use.relation or ""
        if source.startswith(SOURCE_PREFIX) and all(other.use.relation != source for other in self._queries.values()):
            drop_view(self.spark, source)


@contextmanager
def _noted_as_broken(query: TrendQuery) -> Iterator[None]:
    """Leave a query without a run if it cannot be planned, unless it is not for its own sake."""
    try:
        yield
    except PlanningError as error:
        if error.condition in ("TREND_CANCELLED", "TREND_UNKNOWN_SETTING", "TREND_WORKLOAD_TOO_LARGE"):
            raise
        query.run = None


def _written(query: TrendQuery) -> debug.Written:
    return debug.Written(query.use, query.bound)
