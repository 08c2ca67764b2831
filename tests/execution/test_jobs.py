"""What the Spark jobs are called that sparkext starts itself."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from sparkext.jvm.gateway import java_class
from tests.support.spark_programs import eventually
from tests.support.sql_cases import settings, stream, trends, values
from tests.support.tiers import first

DESCRIPTION = "spark.job.description"


def jobs(spark: SparkSession) -> list[Any]:
    """Those that Spark remembers, the last one first."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    remembered = context.statusStore().jobsList(None)
    return [remembered.apply(index) for index in range(remembered.size())]


def last_job(spark: SparkSession) -> int:
    """The number of the job that began last; -1 if none did."""
    return max((int(job.jobId()) for job in jobs(spark)), default=-1)


def described(job: Any) -> str | None:
    return str(job.description().get()) if job.description().isDefined() else None


def descriptions_since(spark: SparkSession, last: int) -> set[str | None]:
    """Of the jobs that began after one with a number: Spark forgets old ones meanwhile, so they cannot be counted."""
    return {described(job) for job in jobs(spark) if job.jobId() > last}


def running(spark: SparkSession) -> list[str | None]:
    return [described(job) for job in jobs(spark) if str(job.status()) == "RUNNING"]


@pytest.mark.parametrize("adaptive", first(1, ["true", "false"]))
@pytest.mark.parametrize("own", first(1, ["what I do", None]))
def test_a_pass_has_a_description_and_the_users_is_restored(
    spark: SparkSession, own: str | None, adaptive: str
) -> None:
    """The jobs that compute what is kept; those that read it are the user's again."""
    key = own or "x"
    stream(spark, {key: "a1 b2 a3 b4"})
    for name, pattern in {"one": "A B", "two": "A+ B", "three": "A+ B+"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
    last = last_job(spark)
    context = spark.sparkContext
    context.setLocalProperty(DESCRIPTION, own)  # type: ignore[arg-type]
    try:
        with settings(spark, spark_sql_adaptive_enabled=adaptive):
            assert values(spark.table("two")) == [(key, 4)]
            assert context.getLocalProperty(DESCRIPTION) == own
            added = descriptions_since(spark, last)
            assert "sparkext: pool 1, 3 queries" in added
            assert added <= {own, "sparkext: pool 1, 3 queries"}
            last = last_job(spark)
            assert values(spark.table("three")) == [(key, 5)]
            assert descriptions_since(spark, last) <= {own}
            assert context.getLocalProperty(DESCRIPTION) == own
    finally:
        context.setLocalProperty(DESCRIPTION, None)  # type: ignore[arg-type]


def test_sample_pass_and_reading_have_names_of_their_own(spark: SparkSession) -> None:
    last = last_job(spark)
    events = "SELECT id AS t, element_at(array('A', 'B', 'C'), CAST(id % 3 AS INT) + 1) AS ty, id % 5 AS k"
    never_seen = f"range(0, 400, 1, 2) WHERE id > {-2 - last}"  # what a sample says is remembered with its source
    spark.sql(f"CREATE TEMP VIEW e AS {events} FROM {never_seen}")
    for name, pattern in {"one": "A+ B", "two": "A+ C"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, more='WITHIN 30')}")
    context = spark.sparkContext
    context.setJobDescription("reading")
    try:
        for name in ("one", "two"):
            assert len(values(spark.sql(f"SELECT k, sum(n) FROM {name} GROUP BY k"))) == 5
    finally:
        context.setLocalProperty(DESCRIPTION, None)  # type: ignore[arg-type]
    assert descriptions_since(spark, last) == {
        "sparkext: pool 1, 2 queries: sample of its source",
        "sparkext: pool 1, 2 queries",
        "reading",
    }


def test_a_description_is_lent_for_one_statement(spark: SparkSession) -> None:
    """What is planned and never computed does not name jobs of other statements, and what the user sets later stays."""
    stream(spark, {"x": "a1 b2"})
    for name, pattern in {"one": "A B", "two": "A+ B"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
    context = spark.sparkContext
    context.setJobDescription("mine")
    try:
        spark.table("one")
        assert context.getLocalProperty(DESCRIPTION) == "sparkext: pool 1, 2 queries"
        spark.sql("SELECT 1")
        assert context.getLocalProperty(DESCRIPTION) == "mine"
        frame = spark.table("one")
        context.setJobDescription("something else")
        assert values(frame) == [("x", 1)]
        assert context.getLocalProperty(DESCRIPTION) == "something else"
    finally:
        context.setLocalProperty(DESCRIPTION, None)  # type: ignore[arg-type]


def create_endless(spark: SparkSession) -> None:
    """Make two views over events that nobody has read to the end."""
    endless = "SELECT id AS t, IF(id % 1000000 = 0, 'A', 'x') AS ty FROM range(0, 1000000000000, 1, 2)"
    spark.sql(f"CREATE TEMP VIEW e AS {endless}")
    for name, pattern in {"one": "A A", "two": "A A A"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern, keys='ORDER BY t TYPE BY ty')}")


@pytest.mark.parametrize(
    ("chunks", "doing", "expected"),
    [("off", "", "SPARK_JOB_CANCELLED"), ("auto", ": sample of its source", "TREND_CANCELLED")],
)
def test_a_pass_is_cancelled_with_the_users_group(spark: SparkSession, chunks: str, doing: str, expected: str) -> None:
    """And so is the look at the times of a large source, to see where to cut it."""
    context = spark.sparkContext
    spark.conf.set("spark.sparkext.statistics", "none")  # no events are counted first, which would be cancelled
    spark.conf.set("spark.sparkext.chunks", chunks)
    create_endless(spark)
    said: list[str] = []

    def work() -> None:
        context.setJobGroup("dashboard", "my dashboard", interruptOnCancel=True)
        try:
            spark.table("one").collect()
        except Exception as error:
            said.append(str(error))

    thread = InheritableThread(target=work)
    thread.start()
    eventually(lambda: f"sparkext: pool 1, 2 queries{doing}" in running(spark))
    context.cancelJobGroup("dashboard")
    thread.join(60)
    assert expected in said[0]
    assert running(spark) == []


def test_an_interrupt_ends_the_look_at_a_source(spark: SparkSession) -> None:
    """Spark Connect interrupts the thread that waits for a job, and the thread is told once."""
    context = spark.sparkContext
    spark.conf.set("spark.sparkext.statistics", "none")
    create_endless(spark)
    threads: list[Any] = []
    said: list[str] = []

    def work() -> None:
        threads.append(java_class("java.lang.Thread").currentThread())
        try:
            spark.table("one").collect()
        except Exception as error:
            said.append(str(error))

    thread = InheritableThread(target=work)
    thread.start()
    eventually(lambda: "sparkext: pool 1, 2 queries: sample of its source" in running(spark))
    threads[0].interrupt()
    thread.join(60)
    context.cancelAllJobs()
    assert "TREND_CANCELLED" in said[0]
    eventually(lambda: running(spark) == [])
