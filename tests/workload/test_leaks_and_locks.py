"""What must not grow, and who must not wait for whom."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from pyspark import accumulators
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from sparkext.execution import sample
from sparkext.execution.stream_pass import with_event_time
from sparkext.jvm import storage, temp_views
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.gateway import java_class
from sparkext.session import parsers, parsers_of
from sparkext.workload import collector, making, releases
from sparkext.workload import workload as workload_module
from sparkext.workload.collector import Collector
from sparkext.workload.planning import Planned
from sparkext.workload.run import KEPT, Run
from sparkext.workload.runs import Runs
from sparkext.workload.workload import Workload
from tests.support.spark_programs import eventually
from tests.support.sql_cases import stream, trends, values

SECONDS = 40


@pytest.fixture
def views(spark: SparkSession) -> SparkSession:
    """The session with a relation and two views of one pool, of which nothing has been computed."""
    spark.catalog.clearCache()  # which is one for all sessions, also those of other tests
    spark.sql("REFRESH SHARING")
    stream(spark, {"x": "a1 b2 a3 b4"})
    spark.sql(f"CREATE OR REPLACE TEMP VIEW one AS {trends('A B')}")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW two AS {trends('A+ B')}")
    return spark


def workload(spark: SparkSession) -> Workload:
    [parser] = parsers_of(spark)
    return parser.workload


def kept(spark: SparkSession) -> int:
    """How many results Spark keeps."""
    return int(spark.sparkContext._jsc.sc().getPersistentRDDs().size())


def test_sessions_that_spark_makes_for_what_it_keeps_are_collected(views: SparkSession) -> None:
    """One for each pass; none is held by the parser that it has."""

    def sessions() -> int:
        gc.collect()
        java_class("java.lang.System").gc()
        java_class("java.lang.System").runFinalization()
        return len(parsers(views.sparkContext))

    before = sessions()
    for number in range(8):
        stream(views, {"x": f"a1 b{number + 2}"})
        assert values(views.table("one")) == [("x", 1)]
    eventually(lambda: sessions() < before + 5)


@pytest.mark.long
def test_planning_again_and_again_leaves_nothing(views: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "LATER", 0.0)

    def plan() -> None:
        views.sql("REFRESH SHARING")
        views.sql(f"CREATE OR REPLACE TEMP VIEW two AS {trends('A+ B')}")
        assert values(views.sql("SELECT * FROM one UNION ALL SELECT * FROM two")) == [("x", 3), ("x", 4)]
        views.sql(f"{trends('A B')} UNION ALL {trends('A B+')}").collect()
        views.sql("EXPLAIN SHARING").collect()

    for _ in range(2):
        plan()
    registered = len(accumulators._accumulatorRegistry)
    threads = threading.active_count()
    before = kept(views)
    gc.collect()
    listening = len(sample._listening)
    workload(views).collect()
    held = workload(views).held()
    assert (held.views, held.pools) == (2, 1)
    for _ in range(12):
        plan()
    workload(views).collect()
    assert len(accumulators._accumulatorRegistry) == registered
    assert threading.active_count() <= threads + 1
    assert kept(views) <= before
    gc.collect()
    assert len(sample._listening) <= listening
    assert replace(workload(views).held(), clauses=held.clauses) == held


@pytest.mark.long
def test_threads_that_have_ended_are_forgotten(views: SparkSession) -> None:
    def ask() -> None:
        assert values(views.sql(trends("A B"))) == [("x", 3)]

    for _ in range(4):
        started = [threading.Thread(target=ask) for _ in range(4)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
    ask()
    gone = workload(views)

    def is_forgotten() -> bool:
        gone.collect()
        return gone.held().going_on <= 2  # those of this thread and of Spark's that has answered the last of the others

    eventually(is_forgotten)
    assert gone.held().views == 2


def test_statements_that_are_long_gone_are_forgotten(views: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkext.workload.registry.MOST_STATEMENTS", 3)
    for _ in range(5):
        views.sql(trends("A B"))
    assert workload(views).held().clauses == 3
    assert values(views.sql("SELECT * FROM one")) == [("x", 3)]


def test_java_holds_nothing_of_a_refused_statement(views: SparkSession) -> None:
    """What Java holds of Python's, and that holds what Java has thrown, is garbage that neither can tell."""
    held = views.sparkContext._gateway.gateway_property.pool.dict  # type: ignore[union-attr]
    before = {*held}
    for text in (trends("A B", "SUM(A.nothing) AS n"), f"CREATE TEMP VIEW three AS {trends('A B', 'SUM(A.no) AS n')}"):
        with pytest.raises(ParseException, match="TREND_UNKNOWN_COLUMN"):
            views.sql(text)
    assert {*held} <= before


@pytest.mark.parametrize("statement", ["SELECT replace('DROP ', 'a', 'b')", "SELECT 1", "SELECT 'alter view' AS x"])
def test_plain_statements_start_no_thread(views: SparkSession, statement: str) -> None:
    of_session = workload(views)
    views.sql("SELECT 0").collect()  # the statement that made the views is over
    eventually(lambda: not of_session.held().is_expecting)
    before = set(threading.enumerate())
    views.sql(statement).collect()
    assert set(threading.enumerate()) <= before
    assert not of_session.held().is_expecting


def in_time(*calls: Callable[[], object]) -> list[object]:
    """What calls return, each in a thread of its own, which must end in some time."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(SECONDS) for future in [pool.submit(call) for call in calls]]


def test_plain_statements_do_not_wait_for_a_plan(views: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    planning, may_go_on = threading.Event(), threading.Event()
    plan = making.plan

    def wait(*given: Any) -> Planned:
        planning.set()
        assert may_go_on.wait(SECONDS)
        return plan(*given)

    monkeypatch.setattr(making, "plan", wait)
    with ThreadPoolExecutor(1) as background:
        slow = background.submit(lambda: values(views.sql("SELECT * FROM one")))
        try:
            assert planning.wait(SECONDS)
            assert in_time(lambda: views.sql("SELECT 1").collect()[0][0]) == [1]
        finally:
            may_go_on.set()
        assert slow.result(SECONDS) == [("x", 3)]


def test_metadata_commands_run_no_job(views: SparkSession) -> None:
    views.sparkContext.setJobGroup("metadata", "no jobs")
    try:
        for statement in (
            "SHOW TREND QUERIES",
            "SHOW TREND QUERIES LIKE 'o*'",
            "EXPLAIN SHARING",
            "EXPLAIN SHARING JSON",
            f"EXPLAIN SHARING {trends('A B+')}",
            "REFRESH SHARING",
        ):
            assert views.sql(statement).collect()
        assert list(views.sparkContext.statusTracker().getJobIdsForGroup("metadata")) == []
    finally:
        views.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        views.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def test_small_results_that_are_kept_are_read_without_a_job(views: SparkSession) -> None:
    for name, right in (("one", 3), ("two", 4), ("one", 3)):
        assert values(views.sql(f"SELECT * FROM {name}")) == [("x", right)]
    views.sparkContext.setJobGroup("read", "no jobs")
    try:
        assert values(views.sql("SELECT * FROM one")) == [("x", 3)]
        assert values(views.sql("SELECT n + 1 AS n FROM two WHERE n > 3")) == [(5,)]
        assert list(views.sparkContext.statusTracker().getJobIdsForGroup("read")) == []
    finally:
        views.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        views.sparkContext.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]
    stream(views, {"x": "a1 b2"})
    assert values(views.sql("SELECT * FROM one")) == [("x", 1)]


def test_views_are_created_while_is_looked_for_what_is_gone(
    views: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that has seen the catalog before a view was in it does not take the view for dropped."""
    looking, has_looked, is_created = (threading.Event() for _ in range(3))

    def trend_views(spark: SparkSession) -> object:
        if not threading.current_thread().name.startswith("look"):
            return temp_views.trend_views(spark)
        has_looked.set()
        assert is_created.wait(SECONDS)
        return before

    def shape(*args: Any) -> AnalysedFrame:
        if not looking.is_set():
            looking.set()
            looks.append(pool.submit(workload(views).collect))
            assert has_looked.wait(SECONDS)
        return with_event_time(*args)

    looks: list[Future[None]] = []
    before = temp_views.trend_views(views)
    monkeypatch.setattr(workload_module, "trend_views", trend_views)
    monkeypatch.setattr(workload_module, "with_event_time", shape)
    with ThreadPoolExecutor(1, "look") as pool:
        views.sql(f"CREATE TEMP VIEW three AS {trends('A B+')}")
        views.sql("SELECT 1").collect()
        is_created.set()
        [look] = looks
        look.result(SECONDS)
    assert {query.written.name for query in workload(views).queries()} == {"one", "two", "three"}


def test_results_are_released_without_a_lock(views: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark may need its catalog for that, which another statement may have locked that waits for ours."""
    is_releasing, has_read = threading.Event(), threading.Event()

    def release(run: Run) -> None:
        if not is_releasing.is_set():
            is_releasing.set()
            assert has_read.wait(SECONDS)
        released(run)

    released = Run.release
    assert values(views.sql("SELECT * FROM one")) == [("x", 3)]
    monkeypatch.setattr(Run, "release", release)
    with ThreadPoolExecutor(1) as pool:
        refreshing = pool.submit(views.sql, "REFRESH SHARING")
        assert is_releasing.wait(SECONDS)
        assert in_time(lambda: values(views.sql(trends("A B+")))) == [[("x", 4)]]
        has_read.set()
        refreshing.result(SECONDS)


def test_results_that_come_while_a_run_is_looked_for(views: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are taken, and nothing is planned."""
    assert values(views.sql("SELECT * FROM one")) == [("x", 3)]
    before = [list(pool.runs) for pool in workload(views).pools]
    monkeypatch.setattr(Runs, "computed", lambda *_: None)
    assert values(views.sql("SELECT * FROM two")) == [("x", 4)]
    assert [list(pool.runs) for pool in workload(views).pools] == before


def is_anything_kept(spark: SparkSession) -> bool:
    """Whether Spark keeps the rows of any plan, computed or not."""
    return not spark._jsparkSession.sharedState().cacheManager().isEmpty()


def test_a_run_that_is_released_while_it_is_found_is_not_kept(
    views: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(run: Run) -> None:
        [pool] = workload(views).pools
        for unused in pool.runs.take_unused(()):
            unused.release()
        kept_again(run)

    kept_again = Run.keep
    rows = views.table("one")
    monkeypatch.setattr(Run, "keep", keep)
    assert values(views.table("two")) == [("x", 4)]
    assert values(rows) == [("x", 3)]
    assert not is_anything_kept(views)


@pytest.mark.long
def test_a_run_that_spark_computes_anew_while_it_is_released_is_not_kept(
    views: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does after an INSERT: what depends on the table is taken out of its cache, planned anew, and put back."""
    monkeypatch.setattr(releases, "LATER", 0.2)
    monkeypatch.setattr(collector, "LATER", 0.2)
    views.sql("SELECT * FROM one").collect()
    [pool] = workload(views).pools
    [run] = pool.runs
    assert storage.is_computed(run.results)
    for view in ("one", "two"):
        views.catalog.dropTempView(view)
    workload(views).collect()
    assert not storage.is_kept(run.results)
    storage.keep(run.results, run.name, KEPT)
    eventually(lambda: not storage.is_kept(run.results), 20)


def test_a_pool_that_is_forgotten_while_it_is_planned(views: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when its last view has been dropped just before, and another thread finds that out only now."""

    def not_now(collector: Collector, in_any_case: bool) -> None:
        del in_any_case
        collector._is_due = collector._is_due_later = False

    def plan(*given: Any) -> Planned:
        with monkeypatch.context() as dropped, ThreadPoolExecutor(1) as executor:
            dropped.setattr(workload_module, "trend_views", lambda _: {})
            executor.submit(workload(views).collect).result(SECONDS)
        assert not workload(views).holds_queries()
        return planned(*given)

    assert values(views.table("two")) == [("x", 4)]
    views.sql("REFRESH SHARING")
    planned = making.plan
    monkeypatch.setattr(making, "plan", plan)
    monkeypatch.setattr(Collector, "look", not_now)
    assert values(views.table("one")) == [("x", 3)]
    assert is_anything_kept(views)
    workload(views).collect()
    assert not workload(views).holds_queries()
    assert not is_anything_kept(views)


@pytest.mark.long
def test_analysing_columns_of_a_view_while_it_is_read(views: SparkSession) -> None:
    """Spark holds the lock of its catalog meanwhile."""
    views.sql("CACHE TABLE two")
    assert views.catalog.isCached("two")
    types = in_time(
        *[lambda: views.sql("ANALYZE TABLE two COMPUTE STATISTICS FOR ALL COLUMNS").collect()] * 4,
        *[lambda: values(views.sql("SELECT * FROM one"))] * 4,
        *[lambda: views.sql(f"CREATE OR REPLACE TEMP VIEW three AS {trends('A B B')}").collect()] * 2,
    )
    assert types[4:8] == [[("x", 3)]] * 4
    views.sql("UNCACHE TABLE two")
