"""The trend queries of a session: what is registered, how it is pooled, and what has been computed."""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame, SparkSession

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.meaning import has_variables
from sparkext.binding.refusals import check_functions
from sparkext.binding.relation import reads_view
from sparkext.execution import job_names
from sparkext.execution.job_names import LentDescription
from sparkext.execution.query_results import output_columns, query_sql
from sparkext.execution.stream_pass import with_event_time
from sparkext.jvm.analysis_context import has_double_quoted_names, session_confs
from sparkext.jvm.frames import known_rows, selected
from sparkext.jvm.gateway import JavaError
from sparkext.jvm.permanent_views import is_temporary, rows_to_be_stored, text_in_catalog, without_views
from sparkext.jvm.plans import Plan, analysed_plan, is_of_now, is_stream
from sparkext.jvm.relation_files import SourceVersion
from sparkext.jvm.sessions import session_id
from sparkext.jvm.storage import KeptPlans
from sparkext.jvm.table_function import calls_in
from sparkext.jvm.temp_views import drop_view, trend_views
from sparkext.planner.amounts import count
from sparkext.planner.errors import PlanningError
from sparkext.sql.quoting import one_line
from sparkext.sql.view_text import as_written
from sparkext.udfs.workers.pool_run import NODE
from sparkext.workload import self_check
from sparkext.workload.analyses import AnalysedRelations, Analyses
from sparkext.workload.collector import LATER, Collector
from sparkext.workload.pool import Pool, by_pass
from sparkext.workload.registry import SOURCE_PREFIX, Held, Registry, abandoned_views
from sparkext.workload.run import Run
from sparkext.workload.statements import ReadView, Statement
from sparkext.workload.trend_query import ParsedClause, Served, TrendQuery, by_pool

log = logging.getLogger(__name__)

_INLINES_CTES = "spark.sql.legacy.inlineCTEInCommands"

_numbers = itertools.count(1)

_homes: weakref.WeakValueDictionary[int, Workload] = weakref.WeakValueDictionary()
"""Workloads by the numbers of their clauses: a view that all sessions see may be read in any."""


class Workload:
    """All trend queries of one session. Methods may be called from several threads.

    Spark's analyzer asks `rows` for what stands in for a clause, with its catalog locked. Other locks: that of
    the registry is held while dictionaries and lists change, and never while Spark is asked for what may need its
    catalog, such as the release of a result; a pool's own one while a run of it is made.

    Attributes:
        spark: The session.
        statements: How many statements have begun.
    """

    def __init__(self, spark: SparkSession, describe: Callable[[Run], str]) -> None:
        """Without queries.

        Args:
            spark: The session.
            describe: What is logged of a run that has been planned.
        """
        self.spark = spark
        self._describe = describe
        self.statements = 0
        self._analyses = Analyses(spark)
        self._kept_plans = KeptPlans(spark, NODE, job_names.OURS)
        self._collector = Collector(self.collect)
        self._registry = Registry(lambda: self._collector.expect((0,)))
        self._pools: list[Pool] = []
        self._lent = _Lent()
        self._released: deque[tuple[float, Run]] = deque()

    def begin_statement(self) -> None:
        """Note that this thread starts another statement."""
        self.statements += 1
        self._registry.begin()
        if (lent := self._lent.description) is not None:
            self._lent.description = None
            lent.give_back()

    @staticmethod
    def take_numbers(count: int) -> list[int]:
        """Numbers for that many clauses, which no other clause of the process has."""
        return list(itertools.islice(_numbers, count))

    def is_temporary(self, name: Sequence[str]) -> bool:
        """Whether the view that a statement calls ``name`` is a temporary one."""
        return is_temporary(self.spark, name)

    @staticmethod
    def has_double_quoted_names() -> bool:
        """Whether to the statement or view that this thread parses, double quotes are around names."""
        return has_double_quoted_names()

    def inlines_ctes(self) -> bool:
        """Whether Spark puts the CTEs of a command where they are read, before it looks what the command refers to."""
        return session_confs(self.spark).get(_INLINES_CTES, "false").lower() == "true"

    def remember(self, written: Sequence[ParsedClause], is_script: bool) -> None:
        """Remember the clauses of a statement, which are bound when Spark asks for their rows.

        Args:
            written: The clauses, inner ones before those that contain them.
            is_script: Whether they are those of several statements, one after another.
        """
        with self._registry.changing:
            self._registry.remember(Statement(tuple(written), at_once=not is_script))
            _homes.update((one.number, self) for one in written)
        self._release_unused()

    def text_of_view(self, view: str, text: str, rewrite: Callable[[], tuple[str, tuple[ParsedClause, ...]]]) -> str:
        """What Spark is to parse instead of a permanent view's text: the same for as long as the text is.

        Args:
            view: Catalog, schema and name.
            text: As the user wrote it.
            rewrite: Gives what Spark is to parse, and the clauses in place of which it has stand-ins.

        Raises:
            PlanningError: A clause is wrong.
        """
        with self._registry.changing:
            read = self._registry.read_view(view)
            if read is None or read.text != text:
                if read is not None:
                    self._registry.forget_read_view(view, read)
                    self._collector.expect((0,))
                rewritten, written = rewrite()
                read = ReadView(text, rewritten, Statement(written, at_once=False))
            self._registry.add_read_view(view, read)
        return read.rewritten

    def rows(self, number: int | None) -> Plan:
        """What Spark's analyzer gets for the stand-in of a clause: an analysed plan.

        While a view is created these are rows of the right types, which fail when they are read; and so they are
        when a view is dropped that has never been read. Else they are results that follow their source as it is now.

        Args:
            number: Of the stand-in; None for what is none of sparkext's.

        Raises:
            PlanningError: The clause is wrong, a source has changed so that it no longer fits, or a setting is wrong;
                ``TREND_STAND_IN`` for what this session has no clause for.
        """
        if number is None:
            raise PlanningError("TREND_STAND_IN", 0, 0)
        statement, query = self._registry.statement_with(number), self._registry.view(number)
        if statement is not None:
            written = statement.clause(number)
        elif query is not None:
            written = query.written
        else:
            return self._home_of(number).rows(number)
        with self._registry.reading(number) as is_nested:
            if is_nested:
                raise PlanningError("TREND_RECURSIVE_VIEW", 0, 0, view=written.name)
            return self._rows(number, statement)

    def _home_of(self, number: int) -> Workload:
        """The workload of another session that has the clause of a view which this session sees, too.

        Such views are temporary ones that all sessions see, and those that a cloned session has from the one before.

        Raises:
            PlanningError: ``TREND_NOT_PLANNED`` when the clause is gone, ``TREND_STAND_IN`` when it is none of this
                session's.
        """
        home = _homes.get(number)
        if home is None or home is self:
            raise PlanningError("TREND_NOT_PLANNED", 0, 0)
        if number not in trend_views(self.spark):
            raise PlanningError("TREND_STAND_IN", 0, 0)
        return home

    def _rows(self, number: int, statement: Statement | None) -> Plan:
        with self._analyses.relations() as relations:
            if not relations.is_by_itself:
                self._collector.settle(number)
            query = self._registry.view(number)
            if query is None:
                assert statement is not None
                query = self._bind(relations, statement, number)
            is_creating = relations.is_by_itself and number in self._registry.being_created()
            try:
                if query.written.is_to_be_stored:
                    return self._to_be_stored(relations, query)
                is_unread = is_creating or (relations.is_by_itself and query.run is None)
                if is_unread and query.view is not None and not query.view.read_at_once and not relations.stores_plans:
                    rows = relations.unread(query.bound)
                    return analysed_plan(with_event_time(rows, query.bound) if is_stream(query.bound.source) else rows)
                return self._planned(relations, query, statement)
            except PlanningError as error:
                if error.text is None and query.view is not None and not is_creating:
                    error.view = query.view.name
                raise query.use.placed(error) from None

    def dropped(self, numbers: Iterable[int]) -> None:
        """Note that Spark has parsed the text of a view, which it does to read it, and also before it drops it."""
        self._collector.expect(numbers)
        self._registry.stored(numbers)

    def views_may_change(self) -> None:
        """Note that this statement may drop, replace or rename views."""
        if self._registry.has_views():
            self._collector.expect((0,))

    def queries(self) -> list[TrendQuery]:
        """The queries that views refer to, in order of registration. Nothing is run or planned for it."""
        self.collect()
        found: list[TrendQuery] = []
        with self._analyses.relations(in_analysis=False) as relations:
            queries = list(self._registry.views().values())
            self._follow_all(relations, queries)
            for query in queries:
                query.run = query.pool.known(query.bound, query.run) if query.is_right else None
                found.append(query)
        return found

    def explained(self, also: Sequence[ParsedClause] = (), samples: bool = False) -> list[TrendQuery]:
        """As `queries`, but those that nothing has read yet have runs as they would be planned.

        Args:
            also: Clauses of a statement that is not run, explained as if it were.
            samples: Whether a sample of their source may be taken for that; else nothing is run.

        Raises:
            PlanningError: One of these clauses is wrong.
        """
        queries = self.queries()
        with self._analyses.relations(in_analysis=False) as relations:
            for one in also:
                try:
                    queries.append(self._bound(relations, one))
                except PlanningError as error:
                    raise one.use.placed(error) from None
        shown: list[TrendQuery] = []
        for members in by_pool(queries).values():
            pool = members[0].pool
            pool.note_counts()
            planned = {one: pool.known(one.bound, one.run) for one in members}
            missing = [one.bound for one in members if planned[one] is None and one.is_right]
            previews: list[Run] = []
            with contextlib.suppress(CapturedException):  # of rows that Spark has at hand, and looks at while it plans
                previews += (pool.preview(part, relations.confs, samples) for part in by_pass(missing))
            for member in members:
                run = planned[member] or next((run for run in previews if run.index_of(member.bound) is not None), None)
                shown.append(replace(member, run=run if member.is_right else None))
        self._release_unused()
        return sorted(shown, key=lambda one: one.written.number)

    def collect(self) -> None:
        """Forget queries whose views have been dropped or replaced, and results that none asks for.

        Queries whose views have been renamed follow them.
        """
        self._collector.done()
        for name in abandoned_views(session_id(self.spark)):
            drop_view(self.spark, name)
        with self._registry.changing:
            self._registry.forget_ended()
            known, being_created = self._registry.views(), self._registry.being_created()
        called = {number: name for number, (name, *_) in trend_views(self.spark).items()} if known else {}
        for view, read in self._registry.read_views():
            if not self._is_kept(view, read):
                self._registry.forget_read_view(view, read)
        gone = self._registry.follow_names(known, called, being_created)
        self._release_unused()
        self._release_again()
        for query in gone:
            self._drop_source(query)

    def drop_results(self) -> None:
        """Forget all computed results; what is asked for next is planned and computed anew."""
        self._registry.forget_recent()
        self.collect()
        for pool in list(self._pools):
            pool.forget_failures()
            self._release(pool.take_unused(()))

    def holds_queries(self) -> bool:
        """Whether there are any."""
        return self._registry.has_views() or bool(self._pools)

    def held(self) -> Held:
        """How much the session holds of its queries."""
        with self._registry.changing:
            runs = sum(len(pool.runs) for pool in self._pools) + len(self._released)
            is_expecting = self._collector.is_expecting()
            return replace(self._registry.held(), pools=len(self._pools), runs=runs, is_expecting=is_expecting)

    def reads_trends(self, text: str) -> bool:
        """Whether a statement may read a view that holds trend queries, or a clause: by the words that it has."""
        return self.may_read(text) or bool(calls_in(text))

    def may_read(self, text: str) -> bool:
        """Note which views this thread may come to read: those that a text of a statement or view may name.

        Returns:
            Whether there are any.
        """
        return self._registry.may_read(text)

    def drop_views(self) -> None:
        """Drop all views that hold trend queries, and forget the queries."""
        self.collect()
        queries = list(self._registry.views().values())
        for view in {query.view for query in queries if query.view is not None}:
            if view.is_permanent:
                continue
            if view.is_global:
                self.spark.catalog.dropGlobalTempView(view.name)
            else:
                self.spark.catalog.dropTempView(view.name)
        self.release()
        for query in queries:
            self._drop_source(query)

    def release(self) -> None:
        """Forget all queries and their results, as their session is no more."""
        self._registry.forget_all()
        self._release_unused()

    def _bind(self, relations: AnalysedRelations, statement: Statement, number: int) -> TrendQuery:
        """The query of a clause, bound; and with it those of the statement that are computed at once."""
        asked, bound = statement.clause(number), dict[int, TrendQuery]()
        together = [one for one in statement.written if one is asked or (statement.at_once and one.view is None)]
        for one in together:
            if one.number in statement.queries or one.number in statement.under_way:
                continue
            statement.under_way.add(one.number)
            try:
                query = self._registry.take_recent(statement, one) or self._bound(relations, one)
            except PlanningError as error:
                if one is asked:
                    raise one.use.placed(error) from None
                continue  # it is reported when its own rows are asked for
            finally:
                statement.under_way.discard(one.number)
            self._registry.add(statement, one, query)
            bound[one.number] = query
        return bound.get(number) or statement.queries[number]

    def _bound(self, relations: AnalysedRelations, one: ParsedClause) -> TrendQuery:
        bound = relations.bind(one.use, one.name, is_whole=one.is_to_be_stored)
        view = one.view
        if view is not None and not view.is_permanent and reads_view(bound.given, view.name, view.is_global):
            raise PlanningError("TREND_RECURSIVE_VIEW", *one.use.source_at, view=view.name)
        if view is None:
            relations.check_measures(bound)  # what is read at once needs no stand-in
        else:
            relations.unread(bound)
        return TrendQuery(one, bound, self._pool_of(bound))

    def _to_be_stored(self, relations: AnalysedRelations, query: TrendQuery) -> Plan:
        """The plan of the rows of a clause of a permanent view that is created."""
        bound, use = query.bound, query.use
        check_functions(self.spark, use.text, use.sql.index(use.text, use.source_at[1]))
        texts = *bound.texts, *bound.length_texts
        return rows_to_be_stored(relations.unplanned(bound), output_columns(bound), use.source, texts)

    def _is_kept(self, view: str, read: ReadView) -> bool:
        """Whether the catalog has a permanent view as it was when it was read."""
        text = text_in_catalog(self.spark, view)
        return text is not None and as_written(text) == read.text

    def _planned(self, relations: AnalysedRelations, query: TrendQuery, statement: Statement | None) -> Plan:
        """The plan of the rows of a query that is read."""
        served = relations.served.get(query) or self._served(relations, query, statement)
        run = query.run = served.run
        rows = self._shown(relations, query, served)
        if run.persisted and not served.is_computed:
            if self._lent.description is None:
                self._lent.description = LentDescription(self.spark)
            run.lend_name(self._lent.description)
        if settings.choice(relations.confs, settings.DEBUG) == "true" and not is_stream(rows):
            self._check(query, run)
        return analysed_plan(rows) if query.use.view is None else without_views(analysed_plan(rows))

    def _served(self, relations: AnalysedRelations, query: TrendQuery, statement: Statement | None) -> Served:
        """What a query is served from, and with it all those over its source that the statement may read.

        All clauses of a statement are to give rows of one state of their source, also if it is written meanwhile. Rows
        that the driver has are of the state that was there when the clause was looked at; all others are read when the
        statement runs. So rows of the driver are given to all of these clauses, or to none: Spark itself forgets what
        it keeps of a source that it writes to.
        """
        together = [query] if statement is None or query.view is not None else [*statement.queries.values()]
        left = query.pool
        self._follow(relations, query)
        if query.pool is not left:
            self._follow_all(relations, (one for one in self._live(left, ()) if one is not query))
        beside = self._registry.read_beside(query)
        others = [one for one in dict.fromkeys((*together, *beside)) if one is not query]
        self._follow_all(relations, others)
        with self._registry.changing:
            bound, pool = query.bound, query.pool  # which another thread may bind anew meanwhile
        also = [one for one in together if one.view is None]
        known = next((one for one in relations.served.values() if one.holds(bound)), None)
        if known is not None:
            served = relations.served[query] = replace(known, bound=bound)
            return served
        others = [one for one in others if one.is_right and one.pool.reads_files_of(pool)]
        is_alone = not self._has_clauses_to_come()
        if is_alone and not others:
            run, is_computed = self._run_of(relations, query, bound, pool, also)
            served = relations.served[query] = Served(bound, run, is_computed, may_be_on_driver=True)
            return served
        runs = {one: one.pool.computed(one.bound, relations.confs) for one in others}
        runs[query] = pool.computed(bound, relations.confs)
        before = [relations.served[one] for one in runs if one in relations.served]
        are_computed = is_alone and all(one.may_be_on_driver for one in before)
        on_driver = are_computed and all(run is not None and run.copy() is not None for run in runs.values())
        mine = [one for one in runs if on_driver or one is query or one.pool is pool]
        if any(runs[one] is None for one in mine):
            anew = [bound if one is query else one.bound for one in mine]
            with pool.planning:
                made = self._make_run(relations, query, bound, pool, [*also, *others], anew)
            runs.update((one, made) for one in mine if one is query or made.index_of(one.bound) is not None)
        for one in mine:
            if one not in relations.served and (its := runs[one]) is not None:
                its_bound = bound if one is query else one.bound
                relations.served[one] = Served(its_bound, its, its.is_computed(), on_driver)
        return relations.served[query]

    def _has_clauses_to_come(self) -> bool:
        """Whether the statement of this thread has clauses that have not been looked at."""
        statement = self._registry.current
        if statement is None:
            return False
        return any(one.view is None and one.number not in statement.queries for one in statement.written)

    def _follow_all(self, relations: AnalysedRelations, queries: Iterable[TrendQuery]) -> None:
        """Follow the sources of queries that are not read now; what is wrong is reported when they are."""
        for query in list(queries):
            if (its := relations.of(query.bound, query.use)) is not None:
                try:
                    self._follow(its, query)
                except PlanningError:
                    query.is_right = False

    def _follow(self, relations: AnalysedRelations, query: TrendQuery) -> None:
        """Bind a query anew when its relation, or what its expressions mean, is not what it was."""
        known = query.bound
        found = relations.relation(query.use)
        is_whole = known.part is not None and found.part is None
        if is_whole or not (relations.is_same(found.source, known.given) and relations.means_same(known)):
            log.info("the source of %s has changed", one_line(known.query.name))
            known = relations.bind(query.use, known.query.name)
            pool = self._pool_of(known)
            with self._registry.changing:
                query.bound, query.pool, query.shown = known, pool, None
        files = relations.files(query.use)
        found = relations.relation(query.use)  # looked at anew if its files have changed
        whole = found.source if query.bound.part is None or found.part is None else found.part.whole
        query.pool.follow(whole, SourceVersion(files, relations.reading))
        query.is_right = True

    def _pool_of(self, bound: BoundQuery) -> Pool:
        with self._registry.changing:
            pools = list(self._pools)
        pool = next((pool for pool in pools if pool.takes(bound)), None)
        if pool is not None:
            return pool
        pool = Pool(self.spark, bound)
        with self._registry.changing:
            self._pools.append(pool)
        return pool

    def _live(self, pool: Pool, also: Iterable[TrendQuery]) -> list[TrendQuery]:
        """Queries of a pool that something may ask for: those of views, and others that a statement reads."""
        queries = [*self._registry.views().values(), *also]
        return [query for query in queries if query.pool is pool]

    def _run_of(
        self, relations: AnalysedRelations, query: TrendQuery, bound: BoundQuery, pool: Pool, also: Sequence[TrendQuery]
    ) -> tuple[Run, bool]:
        """The run that computes a query of which the source has been followed, as it was bound then.

        Returns:
            The run, and whether it has been computed.
        """
        run = pool.computed(bound, relations.confs)
        if run is not None:
            return run, True
        with pool.planning:
            run = self._make_run(relations, query, bound, pool, also)
        return run, run.is_computed()

    def _make_run(
        self,
        relations: AnalysedRelations,
        query: TrendQuery,
        bound: BoundQuery,
        pool: Pool,
        also: Sequence[TrendQuery],
        anew: Sequence[BoundQuery] = (),
    ) -> Run:
        """The run that computes a query, of what is planned or made anew; by one thread at a time.

        It computes all of ``anew`` with it, also those that other runs have computed.
        """
        if self._collector.is_expecting() and any(one is not query for one in self._live(pool, also)):
            self.collect()
        others = (one for one in self._live(pool, also) if one is not query)
        self._follow_all(relations, (one for one in others if not relations.is_known(one.bound)))
        members = [one for one in self._live(pool, also) if one.is_right or one is query]
        live = [bound if one is query else one.bound for one in members]
        if query not in members:  # bound anew by another thread, which found another pool
            live.append(bound)
        run = pool.find(bound, live, relations.confs, anew)
        if run is not None:
            return run
        settings.check_names(relations.confs)
        run = pool.make(bound, live, f"{job_names.OURS}{self._name_of(pool, also)}", relations.confs, anew)
        with self._registry.changing:
            if pool not in self._pools:  # forgotten meanwhile, with the last view: its run is yet to be released
                self._pools.append(pool)
        if log.isEnabledFor(logging.INFO):
            log.info("planned %s\n%s", run.name, self._describe(run))
        return run

    def _name_of(self, pool: Pool, also: Sequence[TrendQuery]) -> str:
        """What people who look at the Spark UI may call a pool."""
        pools = by_pool([*self._registry.views().values(), *also])
        found = ((name, members) for name, members in pools.items() if members[0].pool is pool)
        name, members = next(found, ("pool", []))
        return f"{name}, {count(len(members), 'query', 'queries')}"

    def _shown(self, relations: AnalysedRelations, query: TrendQuery, served: Served) -> DataFrame:
        """The rows of a query, selected from the results that it is served from."""
        bound, run = served.bound, served.run
        key = run, relations.state
        # The user may have asked Spark to keep a view, which it knows by its plan: that must not become another.
        streams = run.again is not None
        may_be_on_driver = served.is_computed and served.may_be_on_driver and not self._kept_plans.has_others()
        results = run.rows(may_be_on_driver)
        on_driver = results is not run.results
        known, shown = query.shown or (None, run.results)
        if known == key and query.on_driver == on_driver and (on_driver or not has_variables(shown)):
            return shown
        index = run.index_of(bound)
        assert index is not None
        fields, ansi = run.plan.fields, relations.state.environment.ansi

        def of(held: DataFrame) -> DataFrame:
            return selected(held, lambda pool: query_sql(pool, fields, run.plan.results[index], bound, ansi))

        rows = of(results)
        may_show_again = not streams
        if streams:
            rows = with_event_time(rows, bound)
        elif on_driver:
            may_show_again = not has_variables(rows)
            rows = _evaluated(rows, may_show_again) or of(run.results)
        if query.bound is bound:
            query.shown = (key, rows) if may_show_again else None
            query.on_driver = on_driver
        return rows

    def _check(self, query: TrendQuery, run: Run) -> None:
        """Hold what a run says of a query against the query by itself, once."""
        if query.checked is run:
            return
        others = [one for one in self._live(query.pool, ()) if one is not query and run.index_of(one.bound) is not None]
        self_check.check(self.spark, _checked(query), [_checked(other) for other in others], run)
        query.checked = run

    def _release_unused(self) -> None:
        """Release results that no query asks for, and pools that no query is in.

        Spark may ask its catalog for that, so it is not done with the registry locked.
        """
        unused: list[Run] = []
        with self._registry.changing:
            asked = [*self._registry.views().values(), *self._registry.of_statements()]
            may_come = self._registry.recent()
            for pool in list(self._pools):
                live = [query.bound for query in asked if query.pool is pool]
                recent = [query.bound for query in may_come if query.pool is pool]
                unused += pool.take_unused(live, recent)
                if not live and not recent:
                    self._pools.remove(pool)
        self._release(unused)

    def _release(self, runs: Iterable[Run]) -> None:
        for run in runs:
            run.release()
            self._released.append((time.monotonic(), run))
            self._collector.expect_later()

    def _release_again(self) -> None:
        """Release once more what Spark was just computing anew when it was released, as it does after an INSERT."""
        while self._released and self._released[0][0] <= time.monotonic() - LATER:
            self._released.popleft()[1].release()
        if self._released:
            self._collector.expect_later()

    def _drop_source(self, query: TrendQuery) -> None:
        """Drop the view of a data frame that only a query that is gone has read."""
        source = query.use.relation or ""
        if source.startswith(SOURCE_PREFIX) and all(
            other.use.relation != source for other in self._registry.views().values()
        ):
            drop_view(self.spark, source)


class _Lent(threading.local):
    """What a thread calls its jobs, if runs have lent them their names."""

    description: LentDescription | None = None


def _evaluated(rows: DataFrame, stay: bool) -> DataFrame | None:
    """Rows that the driver has, evaluated once if they ``stay``; None if that fails.

    Spark evaluates all of them, also what nobody asks for: a count that is too large would fail statements that do not
    read it.
    """
    try:
        known = known_rows(rows)
    except (CapturedException, JavaError):
        return None
    return known if known is not None and stay and not is_of_now(analysed_plan(rows)) else rows


def _checked(query: TrendQuery) -> self_check.CheckedQuery:
    return self_check.CheckedQuery(query.use, query.bound)
