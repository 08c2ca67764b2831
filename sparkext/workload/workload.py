"""The trend queries of a session: what is registered, how it is pooled, and what has been computed."""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from enum import Enum
from functools import partial

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from sparkext import settings
from sparkext.binding.refusals import check_functions
from sparkext.binding.relation import reads_view
from sparkext.execution.query_results import output_columns
from sparkext.execution.stream_pass import with_event_time
from sparkext.jvm.analysis_context import has_double_quoted_names, session_confs
from sparkext.jvm.frames import frame_of_statement
from sparkext.jvm.permanent_views import is_temporary, look_at_view, rows_to_be_stored, text_in_catalog, views_of_schema
from sparkext.jvm.plans import Plan
from sparkext.jvm.sessions import session_id
from sparkext.jvm.table_function import calls_in
from sparkext.jvm.temp_views import analysed_within, drop_view, trend_views
from sparkext.jvm.unions import has_streamed_union
from sparkext.planner.errors import PlanningError
from sparkext.sql.view_text import as_written
from sparkext.workload.analyses import AnalysedRelations, Analyses
from sparkext.workload.collector import Collector
from sparkext.workload.pools import Pools
from sparkext.workload.registry import SOURCE_PREFIX, Held, Registry, abandoned_views
from sparkext.workload.run import Run
from sparkext.workload.running_streams import Row, running_streams
from sparkext.workload.runs import by_pass
from sparkext.workload.serving import Serving
from sparkext.workload.statements import ReadView, Statement
from sparkext.workload.trend_query import ParsedClause, TrendQuery, by_pool

log = logging.getLogger(__name__)

_INLINES_CTES = "spark.sql.legacy.inlineCTEInCommands"

_numbers = itertools.count(1)

_homes: weakref.WeakValueDictionary[int, Workload] = weakref.WeakValueDictionary()
"""Workloads by the numbers of their clauses: a view that all sessions see may be read in any."""

_of_all: dict[int, ParsedClause] = {}
"""Clauses of views that all sessions see, which outlive the session that has made them."""


_EACH = 1_000_000_000


def start_numbers(process: int) -> None:
    """Number clauses from now on as no other process of an application does.

    Args:
        process: The number of this one: 0 is that of the program itself.
    """
    global _numbers
    _numbers = itertools.count(process * _EACH + 1)


class Workload:
    """All trend queries of one session. Methods may be called from several threads.

    Spark's analyzer asks `rows` for what stands in for a clause, with its catalog locked. Other locks: that of
    the registry is held while dictionaries and lists change, and never while Spark is asked for what may need its
    catalog, such as the release of a result; a pool's own one while a run of it is made.

    Attributes:
        spark: The session.
        statements: How many statements have begun.
        pools: Of its queries.
    """

    def __init__(self, spark: SparkSession, describe: Callable[[Run], str]) -> None:
        """Without queries.

        Args:
            spark: The session.
            describe: What is logged of a run that has been planned.
        """
        self.spark = spark
        self.statements = 0
        self._analyses = Analyses(spark)
        self._collector = Collector(self.collect)
        self._registry = Registry(lambda: self._collector.expect((0,)))
        self.pools = Pools(spark, self._registry, self._collector, partial(_announce, describe))
        self._serving = Serving(spark, self._registry, self.pools, self._collector)

    def begin_statement(self) -> None:
        """Note that this thread starts another statement."""
        self.statements += 1
        self._registry.begin()
        self._serving.begin_statement()

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
            _homes.update((clause.number, self) for clause in written)
            _of_all.update((clause.number, clause) for clause in written if clause.is_of_all)
        self.pools.release_unused()

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
        written = self._written(number)
        if written is None:
            home, written = self._elsewhere(number)
            if home is not None:
                return home.rows(number)
            self._take_over(written)
        statement = self._registry.statement_with(number)
        with self._registry.reading(number) as is_nested:
            if is_nested:
                raise PlanningError("TREND_RECURSIVE_VIEW", 0, 0, view=written.name)
            return self._rows(number, statement)

    def reading_for(self, text: str) -> AbstractContextManager[None]:
        """While this thread analyses a statement of that text, whose rows it may read in another way than others."""
        return self._serving.reading_for(text)

    def may_unite_streams(self, text: str) -> bool:
        """Whether a statement or view may have a UNION ALL of views over a stream, as far as its text tells."""
        if "union" not in text.lower():
            return False
        return any(query.bound.source.is_stream for query in self._registry.views().values())

    def pooled(self, plan: Plan) -> Plan:
        """A statement, as Spark has analysed it, with one operator for its UNION ALLs of clauses over a stream.

        Those of many clauses over other sources are read at once, if this thread is reading for the statement.

        Raises:
            PlanningError: The queries of such a union cannot be planned together.
        """
        if not has_streamed_union(plan):
            return self._serving.result_unions.at_once(plan)
        with self._analyses.relations(in_analysis=False) as relations:
            return self._serving.unions.pooled(relations, plan)

    def united(self, text: str) -> set[int]:
        """Numbers of the clauses that a statement reads by UNION ALLs over streams, which are planned as it does.

        Raises:
            PlanningError: As for `pooled`.
        """
        if not self.may_unite_streams(text):
            return set()
        plan = frame_of_statement(self.spark, text).analysed_plan
        self.pooled(plan)
        return {query.written.number for query in self._serving.unions.queries_in(plan)}

    def pooled_view(self, parsed: Plan) -> Plan:
        """The rows of a view that Spark's analyzer is at, likewise, unless it is created or dropped.

        Raises:
            PlanningError: As for `pooled`.
        """
        plan = analysed_within(self.spark, parsed)
        if not has_streamed_union(plan):
            return plan
        with self._analyses.relations() as relations:
            return plan if relations.is_by_itself else self._serving.unions.pooled(relations, plan)

    def take_over_views(self) -> None:
        """Take over the clauses of the views that this session has from the one that it has been cloned from.

        What they read is called by name, so it is what this session knows by these names, as in Spark's own views.
        """
        for number, (_, is_of_all) in trend_views(self.spark).items():
            home = _homes.get(number)
            if home is not None and home is not self and not is_of_all:
                written = home._written(number)
                if written is not None:
                    self._take_over(written)

    def _take_over(self, written: ParsedClause) -> None:
        self._registry.take_over(Statement((written,), at_once=False))
        if written.is_of_all:
            _homes[written.number] = self

    def _written(self, number: int) -> ParsedClause | None:
        """The clause of that number; None if this session has none."""
        query, statement = self._registry.view(number), self._registry.statement_with(number)
        if query is not None:
            return query.written
        return None if statement is None else statement.clause(number)

    def _elsewhere(self, number: int) -> tuple[Workload | None, ParsedClause]:
        """The clause of a view that this session sees and has not made, and the workload that computes it if another.

        That is the one of the session that has made a view which all sessions see, until that session has ended.

        Raises:
            PlanningError: ``TREND_NOT_PLANNED`` when the clause is gone, ``TREND_STAND_IN`` when it is none of this
                session's.
        """
        home = _homes.get(number)
        written = None if home is None or home is self else home._written(number)
        if written is None:
            written, home = _of_all.get(number), None
        if written is None:
            raise PlanningError("TREND_NOT_PLANNED", 0, 0)
        if number not in (views := trend_views(self.spark)):
            raise PlanningError("TREND_STAND_IN", 0, 0)
        _, is_of_all = views[number]
        return home if is_of_all else None, written

    def _rows(self, number: int, statement: Statement | None) -> Plan:
        with self._analyses.relations() as relations:
            if not relations.is_by_itself:
                self._collector.settle(number)
            query = self._registry.view(number)
            if query is None:
                assert statement is not None
                query = self._bind(relations, statement, number)
                if query.use.view is not None and not self._registry.is_looking():
                    self._look_beside(query, query.use.view, settings.catalog_views(relations.confs))
            is_creating = relations.is_by_itself and number in self._registry.being_created()
            try:
                match _purpose(relations, query, is_creating or self._registry.is_looking()):
                    case _Purpose.STORED:
                        return self._to_be_stored(relations, query)
                    case _Purpose.SHAPE:
                        rows = relations.unread(query.bound)
                        return with_event_time(rows, query.bound).analysed_plan
                    case _Purpose.ROWS:
                        return self._serving.serve(relations, query, statement)
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
        shown: list[TrendQuery] = []
        with self._analyses.relations(in_analysis=False) as relations:
            queries = list(self._registry.views().values())
            self._serving.follow_all(relations, queries)
            for query in queries:
                query.run = query.pool.runs.known(query.bound, query.run) if query.is_right else None
                shown.append(query)
        return shown

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
            for clause in also:
                try:
                    queries.append(self._bound(relations, clause))
                except PlanningError as error:
                    raise clause.use.placed(error) from None
        shown: list[TrendQuery] = []
        for members in by_pool(queries).values():
            runs = members[0].pool.runs
            runs.learn()
            planned = {clause: runs.known(clause.bound, clause.run) for clause in members}
            missing = [clause.bound for clause in members if planned[clause] is None and clause.is_right]
            previews: list[Run] = []
            with contextlib.suppress(CapturedException):  # of rows that Spark has at hand, and looks at while it plans
                previews += (runs.preview(part, relations.confs, samples) for part in by_pass(missing))
            for member in members:
                run = planned[member] or next((run for run in previews if run.index_of(member.bound) is not None), None)
                shown.append(replace(member, run=run if member.is_right else None))
        self.pools.release_unused()
        return sorted(shown, key=lambda clause: clause.written.number)

    def streams(self) -> list[Row]:
        """The operators of the session's streaming queries, as `sparkext.workload.running_streams.COLUMNS` has them."""
        return running_streams(self.spark)

    def collect(self) -> None:
        """Forget queries whose views have been dropped or replaced, and results that none asks for.

        Queries whose views have been renamed follow them.
        """
        self._collector.done()
        for name in abandoned_views(session_id(self.spark)):
            drop_view(self.spark, name)
        with self._registry.changing:
            self._registry.forget_ended()
            queries, being_created = self._registry.views(), self._registry.being_created()
        called = {number: name for number, (name, *_) in trend_views(self.spark).items()} if queries else {}
        for view, read in self._registry.read_views():
            if not self._is_kept(view, read):
                self._registry.forget_read_view(view, read)
        gone = self._registry.follow_names(queries, called, being_created)
        self.pools.release_unused()
        self.pools.release_again()
        for query in gone:
            _of_all.pop(query.written.number, None)
            self._drop_source(query)

    def drop_results(self) -> None:
        """Forget all computed results; what is asked for next is planned and computed anew."""
        self._registry.forget_recent()
        self.collect()
        self.pools.release_all()

    def holds_queries(self) -> bool:
        """Whether there are any."""
        return self._registry.has_views() or bool(self.pools)

    def held(self) -> Held:
        """How much the session holds of its queries."""
        with self._registry.changing:
            return replace(
                self._registry.held(),
                pools=len(self.pools),
                runs=self.pools.number_of_runs(),
                is_expecting=self._collector.is_expecting(),
            )

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
        self.pools.release_unused()

    def _bind(self, relations: AnalysedRelations, statement: Statement, number: int) -> TrendQuery:
        """The query of a clause, bound; and with it those of the statement that are computed at once."""
        asked, bound = statement.clause(number), dict[int, TrendQuery]()
        for clause in statement.written:
            if clause is not asked and (clause.view is not None or not statement.at_once):
                continue
            if clause.number in statement.queries or clause.number in statement.under_way:
                continue
            statement.under_way.add(clause.number)
            try:
                query = self._registry.take_recent(statement, clause) or self._bound(relations, clause)
            except PlanningError as error:
                if clause is asked:
                    raise clause.use.placed(error) from None
                continue  # it is reported when its own rows are asked for
            finally:
                statement.under_way.discard(clause.number)
            self._registry.add(statement, clause, query)
            bound[clause.number] = query
        return bound.get(number) or statement.queries[number]

    def _look_beside(self, query: TrendQuery, view: str, most: int) -> None:
        """Bind the clauses of permanent views beside one that is read first, so that one pass computes all of them.

        Args:
            query: Of the view that is read.
            view: Its name, with catalog and schema.
            most: How many views are looked at.
        """
        if not most:
            return
        relation = re.escape((query.use.relation or "").rpartition(".")[2].strip("`"))
        reads_it = re.compile(rf"(?s)(?=.*\bMATCH_TREND\b).*\b{relation}\b", re.IGNORECASE)
        with self._registry.looking():
            for name, text in views_of_schema(self.spark, view.rpartition(".")[0]).items():
                if most and reads_it.match(text) and self._registry.read_view(name) is None:
                    most -= 1
                    with contextlib.suppress(CapturedException, PlanningError):  # it is for those who read it
                        look_at_view(self.spark, name)

    def _bound(self, relations: AnalysedRelations, clause: ParsedClause) -> TrendQuery:
        bound = relations.bind(clause.use, clause.name, is_whole=clause.is_to_be_stored)
        view = clause.view
        if view is not None and not view.is_permanent and reads_view(bound.given, view.name, view.is_global):
            raise PlanningError("TREND_RECURSIVE_VIEW", *clause.use.source_at, view=view.name)
        if view is None:
            relations.check_measures(bound)  # what is read at once needs no stand-in
        else:
            relations.unread(bound)
        return TrendQuery(clause, bound, self.pools.of(bound))

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

    def _drop_source(self, query: TrendQuery) -> None:
        """Drop the view of a data frame that only a query that is gone has read."""
        source = query.use.relation or ""
        if source.startswith(SOURCE_PREFIX) and all(
            other.use.relation != source for other in self._registry.views().values()
        ):
            drop_view(self.spark, source)


class _Purpose(Enum):
    """What Spark's analyzer asks for what stands in for a clause for."""

    STORED = "to store a permanent view with it"
    SHAPE = "to create a view, or to drop one that nothing has read: it wants columns and no rows"
    ROWS = "to read it"


def _purpose(relations: AnalysedRelations, query: TrendQuery, is_creating: bool) -> _Purpose:
    if query.written.is_to_be_stored:
        return _Purpose.STORED
    is_unread = is_creating or (relations.is_by_itself and query.run is None)
    if is_unread and query.view is not None and not query.view.read_at_once and not relations.stores_plans:
        return _Purpose.SHAPE
    return _Purpose.ROWS


def _announce(describe: Callable[[Run], str], run: Run) -> None:
    if log.isEnabledFor(logging.INFO):
        log.info("planned %s\n%s", run.name, describe(run))
