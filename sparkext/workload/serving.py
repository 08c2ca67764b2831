"""How a query that is read is served: its source is followed, a run is found for it, and its rows are selected."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.meaning import has_variables
from sparkext.execution import job_names
from sparkext.execution.arrow_batches import may_be_limited_by_rows
from sparkext.execution.job_names import LentProperties
from sparkext.execution.query_results import query_sql
from sparkext.execution.stream_pass import StreamOperator, with_event_time
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import in_one_partition, known_rows, selected, statement_over
from sparkext.jvm.gateway import JavaError
from sparkext.jvm.permanent_views import without_views
from sparkext.jvm.plans import Plan, is_of_now, kind_of
from sparkext.jvm.storage import KeptPlans
from sparkext.planner.amounts import count
from sparkext.planner.errors import PlanningError
from sparkext.sql.brought_together import brings_together
from sparkext.sql.quoting import one_line
from sparkext.udfs.workers.pool_run import NODE
from sparkext.workload import self_check
from sparkext.workload.analyses import AnalysedRelations
from sparkext.workload.collector import Collector
from sparkext.workload.pool import Pool
from sparkext.workload.pools import Pools
from sparkext.workload.registry import Registry
from sparkext.workload.result_unions import ResultUnions
from sparkext.workload.run import Run
from sparkext.workload.runs import Demand
from sparkext.workload.statements import Statement
from sparkext.workload.stream_unions import StreamUnions
from sparkext.workload.trend_query import Served, TrendQuery, by_pool

log = logging.getLogger(__name__)


class Serving:
    """Serves the queries of a session. Several threads may ask.

    Attributes:
        unions: UNION ALLs over streams, whose branches one operator may serve.
        result_unions: UNION ALLs of many branches, which may read the results of a run at once.
    """

    def __init__(self, spark: SparkSession, registry: Registry, pools: Pools, collector: Collector) -> None:
        """Of a session.

        Args:
            spark: The session.
            registry: Who asks for which query.
            pools: Its pools.
            collector: That finds out which views are gone.
        """
        self._spark = spark
        self._registry = registry
        self._pools = pools
        self._collector = collector
        self._kept_plans = KeptPlans(spark, NODE, job_names.OURS)
        self._thread = _Thread()
        self.unions = StreamUnions(pools, collector)
        self.result_unions = ResultUnions()

    def begin_statement(self) -> None:
        """Note that this thread starts another statement: jobs are called after no run any more."""
        if (lent := self._thread.lent) is not None:
            self._thread.lent = None
            lent.give_back()

    @contextmanager
    def reading_for(self, text: str) -> Iterator[None]:
        """While this thread analyses a statement of that text.

        Small results are on the driver, where Spark shows them without a job. To bring them together it would make two
        jobs of them, with a shuffle between: where all are in one partition, it is one task.
        """
        before, self._thread.brings_together = self._thread.brings_together, brings_together(text)
        try:
            with self.result_unions.reading():
                yield
        finally:
            self._thread.brings_together = before

    def serve(self, relations: AnalysedRelations, query: TrendQuery, statement: Statement | None) -> Plan:
        """The plan of the rows of a query that is read, which follow its source as it is now.

        Args:
            relations: Looks of the analysis that asks.
            query: The query.
            statement: With its clause; None for that of a view which another statement has created.

        Raises:
            PlanningError: The source has changed so that the query no longer fits, a setting is wrong, or the query
                cannot be planned.
        """
        served = relations.served.get(query) or self._served(relations, query, statement)
        run = query.run = served.run
        plan = self._plan(relations, query, served)
        is_shown = run.persisted or query.view is not None or job_names.all_are_watched.is_set()
        is_narrow = run.is_narrow and may_be_limited_by_rows(relations.confs)
        if (is_shown or is_narrow) and run.operator is None and not served.is_computed:
            if self._thread.lent is None:
                self._thread.lent = LentProperties(self._spark)
            run.lend_properties(self._thread.lent, is_shown, is_narrow)
        if settings.choice(relations.confs, settings.DEBUG) == "true" and run.operator is None:
            self._check(query, run)
        if self._thread.brings_together and kind_of(plan) == "LocalRelation":
            plan = in_one_partition(plan)
        if run.operator is not None:
            return self.unions.stand_in(plan, query, served.bound)
        if not query.on_driver:
            self.result_unions.note(run)
        return plan

    # Following the source.

    def follow_all(self, relations: AnalysedRelations, queries: Iterable[TrendQuery]) -> None:
        """Follow the sources of queries that are not read now; what is wrong is reported when they are."""
        for query in list(queries):
            if (its := relations.of(query.bound, query.use)) is not None:
                try:
                    self._follow(its, query)
                except PlanningError:
                    query.is_right = False

    def _follow(self, relations: AnalysedRelations, query: TrendQuery) -> None:
        """Bind a query anew when its relation, or what its expressions mean, is not what it was."""
        bound = query.bound
        seen = relations.relation(query.use)
        is_whole = bound.part is not None and seen.part is None
        if is_whole or not (relations.is_same(seen.source, bound.given) and relations.means_same(bound)):
            log.info("the source of %s has changed", one_line(bound.query.name))
            bound = relations.bind(query.use, bound.query.name)
            pool = self._pools.of(bound)
            with self._registry.changing:
                query.bound, query.pool, query.shown = bound, pool, None
        self._follow_source(relations, query, query.bound, query.pool)
        query.is_right = True

    def _follow_source(self, relations: AnalysedRelations, query: TrendQuery, bound: BoundQuery, pool: Pool) -> None:
        """Let a pool have the source of a query as it is in these looks."""
        version = relations.version(query.use, self._kept_plans)
        seen = relations.relation(query.use)  # looked at anew if its files have changed
        pool.follow(seen.source if bound.part is None or seen.part is None else seen.part.whole, version)

    # Finding a run.

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
            self.follow_all(relations, (other for other in self._live(left, ()) if other is not query))
        beside = self._registry.read_beside(query)
        others = [other for other in dict.fromkeys((*together, *beside)) if other is not query]
        self.follow_all(relations, others)
        with self._registry.changing:
            bound, pool = query.bound, query.pool  # which another thread may bind anew meanwhile
            bound_as = {other: other.bound for other in others} | {query: bound}
        also = [other for other in together if other.view is None]
        version = relations.version(query.use, self._kept_plans)
        sibling = next((other for other in relations.served.values() if other.holds(bound, version)), None)
        if sibling is not None:
            served = relations.served[query] = replace(sibling, bound=bound)
            return served
        others = [other for other in others if other.is_right and _share_files(other.pool, pool)]
        is_alone = not self._has_clauses_to_come()
        if is_alone and not others:
            run = pool.runs.computed(bound, relations.confs, version)
            is_computed = run is not None
            if run is None:
                run = self._run(relations, query, bound, pool, also)
            is_computed = is_computed or run.is_computed()
            served = relations.served[query] = Served(bound, run, is_computed, may_be_on_driver=True)
            return served
        runs = {query: pool.runs.computed(bound, relations.confs, version)}
        for other in others:
            its = relations.of(bound_as[other], other.use)
            its_version = None if its is None else its.version(other.use, self._kept_plans)
            runs[other] = other.pool.runs.computed(bound_as[other], relations.confs, its_version)
        before = [relations.served[other] for other in runs if other in relations.served]
        are_computed = is_alone and all(other.may_be_on_driver for other in before)
        on_driver = are_computed and all(run is not None and run.copy() is not None for run in runs.values())
        served_now = [other for other in runs if on_driver or other is query or other.pool is pool]
        if any(runs[other] is None for other in served_now):
            made = self._run(relations, query, bound, pool, [*also, *others], served_now)
            runs |= {
                other: made for other in served_now if other is query or made.index_of(bound_as[other]) is not None
            }
        for other in served_now:
            if other not in relations.served and (its_run := runs[other]) is not None:
                relations.served[other] = Served(bound_as[other], its_run, its_run.is_computed(), on_driver)
        return relations.served[query]

    def _has_clauses_to_come(self) -> bool:
        """Whether the statement of this thread has clauses that have not been looked at."""
        statement = self._registry.current
        if statement is None:
            return False
        return any(clause.view is None and clause.number not in statement.queries for clause in statement.written)

    def _live(self, pool: Pool, also: Iterable[TrendQuery]) -> list[TrendQuery]:
        """Queries of a pool that something may ask for: those of views, and others that a statement reads."""
        queries = [*self._registry.views().values(), *also]
        return [query for query in queries if query.pool is pool]

    def _run(
        self,
        relations: AnalysedRelations,
        query: TrendQuery,
        bound: BoundQuery,
        pool: Pool,
        also: Sequence[TrendQuery],
        anew: Sequence[TrendQuery] = (),
    ) -> Run:
        """The run that computes a query of which the source has been followed, as it was bound then.

        Args:
            relations: Looks of the analysis.
            query: The query.
            bound: As it was bound.
            pool: That it was in.
            also: Others that the statement reads, or may read.
            anew: Of all these, those that the run is to compute, also if other runs have computed them.
        """
        with pool.runs.planning:  # what is asked for by then is planned together
            self._follow_source(relations, query, bound, pool)  # which another thread may have seen otherwise meanwhile
            if any(other is not query for other in self._live(pool, also)):
                self._collector.collect()  # a view may be gone without a sign: what nobody reads is not computed
                also = self._registry.without_gone(also)
            others = (other for other in self._live(pool, also) if other is not query)
            self.follow_all(relations, (other for other in others if not relations.is_known(other.bound)))
            members = [other for other in self._live(pool, also) if other.is_right or other is query]
            live = [bound if other is query else other.bound for other in members]
            if query not in members:  # bound anew by another thread, which found another pool
                live.append(bound)
            left = {query, *also}
            again = [bound if other is query else other.bound for other in anew if other in left]
            permanent = [other.bound for other in members if other.use.view is not None and other is not query]
            permanent += [bound] if query.use.view is not None else []
            demand = Demand(
                bound, live, relations.confs, again, name=lambda: self._name_of(pool, also), permanent=permanent
            )
            run = pool.runs.serving_run(demand)
        self._pools.add(pool)  # forgotten meanwhile, with the last view: its run is yet to be released
        return run

    def _name_of(self, pool: Pool, also: Sequence[TrendQuery]) -> str:
        """What people who look at the Spark UI may call a run of a pool."""
        pools = by_pool([*self._registry.views().values(), *also])
        called = ((name, members) for name, members in pools.items() if members[0].pool is pool)
        name, members = next(called, ("pool", []))
        return f"{job_names.OURS}{name}, {count(len(members), 'query', 'queries')}"

    # Showing its rows.

    def _plan(self, relations: AnalysedRelations, query: TrendQuery, served: Served) -> Plan:
        """The plan of the rows of a query. Those of a pass that is yet to be made are analysed with what reads them."""
        if served.is_computed or served.run.operator is not None or query.use.view is not None:
            rows = self._shown(relations, query, served).analysed_plan
            return rows if query.use.view is None else without_views(rows)
        if query.bound is served.bound:
            query.shown, query.on_driver = None, False
        return statement_over(served.run.results.analysed_plan, _selection(relations, served))

    def _shown(self, relations: AnalysedRelations, query: TrendQuery, served: Served) -> AnalysedFrame:
        """The rows of a query, selected from the results that it is served from."""
        bound, run = served.bound, served.run
        if run.operator is not None:
            return self._streamed(relations, query, served, run.operator)
        key = run, relations.state
        # The user may have asked Spark to keep a view, which it knows by its plan: that must not become another.
        may_be_on_driver = served.is_computed and served.may_be_on_driver and not self._kept_plans.has_trends()
        results = run.rows(may_be_on_driver)
        on_driver = results is not run.results
        shown_by, shown = query.shown or (None, run.results)
        if shown_by == key and query.on_driver == on_driver and (on_driver or not has_variables(shown)):
            return shown
        of, may_show_again = partial(_rows_of, relations, served), True
        rows = of(results)
        if on_driver:
            may_show_again = not has_variables(rows)
            rows = _evaluated(rows, may_show_again) or of(run.results)
        if query.bound is bound:
            query.shown = (key, rows) if may_show_again else None
            query.on_driver = on_driver
        return rows

    def _streamed(
        self, relations: AnalysedRelations, query: TrendQuery, served: Served, operator: StreamOperator
    ) -> AnalysedFrame:
        """The rows of a query over a stream, which the next reader is given, too."""
        key = served.run, relations.state
        shown_by, shown = query.shown or (None, operator.written)
        if shown_by == key and not has_variables(shown):
            return shown
        rows = with_event_time(_rows_of(relations, served, self.unions.results(operator, [query])), served.bound)
        if query.bound is served.bound:
            query.shown = key, rows
        return rows

    def _check(self, query: TrendQuery, run: Run) -> None:
        """Hold what a run says of a query against the query by itself, once."""
        if query.checked is run:
            return
        others = [one for one in self._live(query.pool, ()) if one is not query and run.index_of(one.bound) is not None]
        self_check.check(self._spark, _checked(query), [_checked(other) for other in others], run)
        query.checked = run


class _Thread(threading.local):
    """What a thread is at.

    Attributes:
        lent: What it calls its jobs, if runs have lent them their names.
        brings_together: Whether the statement that it analyses brings rows together.
    """

    lent: LentProperties | None = None
    brings_together = False


def _rows_of(relations: AnalysedRelations, served: Served, results: AnalysedFrame) -> AnalysedFrame:
    """The rows of what is served, selected from the results of its run."""
    return selected(results, _selection(relations, served))


def _selection(relations: AnalysedRelations, served: Served) -> Callable[[str], str]:
    """Gives the statement for the rows of what is served, for the name of the results of its run."""
    run, bound, ansi = served.run, served.bound, relations.state.environment.ansi
    index = run.index_of(bound)
    assert index is not None
    return lambda pool: query_sql(pool, run.plan.fields, run.plan.results[index], bound, ansi)


def _share_files(one: Pool, other: Pool) -> bool:
    """Whether the rows of two pools come from the same source, or from some file that both read."""
    return one is other or one.source.has_files_of(other.source)


def _evaluated(rows: AnalysedFrame, stay: bool) -> AnalysedFrame | None:
    """Rows that the driver has, evaluated once if they ``stay``; None if that fails.

    Spark evaluates all of them, also what nobody asks for: a count that is too large would fail statements that do not
    read it.
    """
    try:
        evaluated = known_rows(rows)
    except (CapturedException, JavaError):
        return None
    return evaluated if evaluated is not None and stay and not is_of_now(rows.analysed_plan) else rows


def _checked(query: TrendQuery) -> self_check.CheckedQuery:
    return self_check.CheckedQuery(query.use, query.bound)
