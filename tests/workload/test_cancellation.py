"""Statements that are cancelled while they are planned, when they have no job."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark import InheritableThread
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkext.jvm.application import JavaThread
from sparkext.planner.optimizers import OptimizerResult, optimize
from sparkext.workload.cancellation import cancelled, of_this_thread

pytestmark = pytest.mark.spark

SECONDS = 60.0
"""Within so many it must have ended, also on a busy machine; by itself it would go on for minutes."""


CLAUSES = [
    f"SELECT n FROM e MATCH_TREND (ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN ({first} (A|B)* A (A|B){{7}}))"
    for first in "XY"
]


@pytest.fixture
def events(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """A session without a limit for planning, in which the second clause takes minutes, with the first.

    They gain nothing, which would be known at once.
    """
    monkeypatch.setattr("sparkext.planner.gloria.prospects.KNOWN_FROM", 1 << 20)
    spark.conf.set("spark.sparkext.optimizer.budget", "none")
    spark.conf.set("spark.sparkext.statistics", "none")
    spark.sql("CREATE TEMP VIEW e AS SELECT * FROM VALUES (1, 'A'), (2, 'B') AS e(t, ty)")
    spark.sql(f"CREATE TEMP VIEW x AS {CLAUSES[0]}")
    return spark


def test_ctrl_c_in_the_thread_that_plans(events: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JVM is told, and so goes on with the next statement."""

    def interrupted(*_: Any) -> OptimizerResult:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sparkext.workload.planning.optimize", interrupted)
        with pytest.raises(PySparkException) as caught:
            events.sql(CLAUSES[1]).collect()
    assert "TREND_CANCELLED" in str(caught.value)
    assert events.sql("SELECT 41 + 1").collect() == [(42,)]


def test_a_budget_is_kept_and_shown(events: SparkSession) -> None:
    events.conf.set("spark.sparkext.optimizer.budget", "0.1")
    events.sql(f"CREATE TEMP VIEW y AS {CLAUSES[1]}")
    assert events.table("x").collect() == []
    assert "best found in its budget of 0.1 s" in events.sql("EXPLAIN SHARING").collect()[0][0]
    (document,) = json.loads(events.sql("EXPLAIN SHARING JSON").collect()[0][0])["pools"]
    assert document["budget_used_up"]


def test_a_client_interrupts_the_thread_of_its_statement(events: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the JDBC server does for a client that cancels, or is gone."""
    jvm: Any = events.sparkContext._jvm
    searching = threading.Event()
    threads: list[Any] = []
    said: list[str] = []

    def noted(*given: Any) -> OptimizerResult:
        threads.append(jvm.java.lang.Thread.currentThread())
        searching.set()
        return optimize(*given)

    monkeypatch.setattr("sparkext.workload.planning.optimize", noted)

    def work() -> None:
        try:
            events.sql(CLAUSES[1]).collect()
        except PySparkException as error:
            said.append(str(error))
        jvm.java.lang.Thread.interrupted()  # takes the interrupt back

    thread = InheritableThread(target=work)
    thread.start()
    assert searching.wait(SECONDS)
    time.sleep(0.5)
    threads[0].interrupt()
    thread.join(SECONDS)
    assert [text for text in said if "TREND_CANCELLED" in text] == said != []


@pytest.mark.usefixtures("spark")
def test_the_next_statement_of_a_thread_is_not_cancelled() -> None:
    """It may begin before what cancels the one before has seen that this is over."""
    goes_on = True

    def run() -> list[bool]:
        nonlocal goes_on
        is_cancelled = of_this_thread()
        looks = [is_cancelled()]
        with cancelled(JavaThread(), lambda: goes_on):
            looks.append(is_cancelled())
            goes_on = False
            looks.append(is_cancelled())
        return looks

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run).result() == [False, True, False]
