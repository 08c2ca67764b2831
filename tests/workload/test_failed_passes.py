"""An expression that fails takes the pass with it, and not what is read afterwards."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.jvm.application import failures
from sparkext.workload.failed_passes import divided
from tests.support.sql_cases import relation, trends, values
from tests.support.tiers import first

ROWS = ["'x', 1, 'A', '7'", "'x', 2, 'B', '8'", "'x', 3, 'A', '9'", "'x', 4, 'B', '{}'"]
GOOD = {"one": ("A B", [("x", 3)]), "two": ("A+ B", [("x", 4)]), "three": ("(A B)+", [("x", 4)])}


@pytest.fixture(params=["rows", "table"])
def views(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """The session with three views over rows of which one holds no number, which Spark may look at while it plans."""
    relation(spark, "e", "k, t, ty, text", [row.format("none") for row in ROWS])
    if request.param == "table":
        spark.sql("CREATE TABLE texts USING parquet AS TABLE e")
        spark.sql("CREATE OR REPLACE TEMP VIEW e AS TABLE texts")
    for name, (pattern, _) in GOOD.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
    spark.sql("REFRESH SHARING")  # a pool outlives its views for a moment, with what it has failed of in another test
    yield spark
    spark.sql("DROP TEMPORARY FUNCTION IF EXISTS number")
    spark.sql("DROP TABLE IF EXISTS texts")


def fails(spark: SparkSession, view: str, words: str) -> None:
    """Read a view of a pass that fails."""
    with pytest.raises(PySparkException, match=words):
        spark.table(view).collect()
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()


def states(spark: SparkSession) -> dict[str, str]:
    """Of the queries."""
    return {row.name: row.state for row in spark.sql("SHOW TREND QUERIES").collect()}


def failed_before_all_is_well(spark: SparkSession) -> int:
    """Read the three views until none fails, and see to it that their rows are right; how many reads have failed, of 5.

    None of their errors may name a view.
    """
    errors: list[str] = []
    while len(errors) < 5:
        try:
            rows_of_views = {name: values(spark.table(name)) for name in GOOD}
        except PySparkException as error:
            errors.append(str(error))
            spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        else:
            assert rows_of_views == {name: right for name, (_, right) in GOOD.items()}
            break
    assert not [error for error in errors if "of VIEW" in error], "the expression may be that of another view"
    return len(errors)


@pytest.mark.parametrize("where", first(1, ["condition", "attribute"]))
def test_other_queries_go_on(views: SparkSession, caplog: pytest.LogCaptureFixture, where: str) -> None:
    """All but the first statement, in one pass; and the one that fails too, when the source has changed."""
    if where == "condition":
        views.sql(f"CREATE TEMP VIEW bad AS {trends('A B', more='DEFINE B AS CAST(text AS INT) > 0')}")
    else:
        views.sql(f"CREATE TEMP VIEW bad AS {trends('A B', 'SUM(CAST(B.text AS INT)) AS n')}")
    assert failed_before_all_is_well(views) <= 1
    fails(views, "bad", "CAST_INVALID_INPUT")
    assert failed_before_all_is_well(views) == 0
    assert states(views) == {"one": "computed", "two": "computed", "three": "computed", "bad": "planned"}
    assert "4 queries: the pass has failed; until its source changes, or REFRESH SHARING, bad will be" in caplog.text

    relation(views, "e", "k, t, ty, text", [row.format("6") for row in ROWS])
    assert values(views.table("bad")) == ([("x", 3)] if where == "condition" else [("x", 20.0)])
    assert failed_before_all_is_well(views) == 0
    assert "Pool 1: 4 queries, 1 pass" in views.sql("EXPLAIN SHARING").collect()[0].plan


@pytest.mark.long
def test_errors_that_show_no_expression(views: SparkSession) -> None:
    """Of functions in Python: the queries are halved until the one that fails is by itself."""
    views.udf.register("number", lambda text: int(text) > 0, "boolean")
    views.sql(f"CREATE TEMP VIEW bad AS {trends('A B', more='DEFINE B AS number(text)')}")
    assert 1 <= failed_before_all_is_well(views) <= 2
    fails(views, "bad", "invalid literal")
    views.sql("REFRESH SHARING")
    assert "Pool 1: 4 queries, 1 pass" in views.sql("EXPLAIN SHARING").collect()[0].plan


def test_equal_queries_are_not_divided(views: SparkSession) -> None:
    """They fail together, also of what shows no expression."""
    never = "DEFINE B AS raise_error(concat('none of ', text)) IS NULL"
    for name in ("bad", "again"):
        views.sql(f"CREATE TEMP VIEW {name} AS {trends('A B', more=never)}")
    for name in ("bad", "again", "bad"):
        fails(views, name, "none of ")
    assert failed_before_all_is_well(views) == 0


@pytest.mark.long
def test_what_all_queries_have_is_no_reason_to_divide_them(views: SparkSession) -> None:
    """A key that fails, and a source."""
    keys = "PARTITION BY CAST(text AS INT) AS k ORDER BY t TYPE BY ty"
    for name in ("four", "five"):
        views.sql(f"CREATE TEMP VIEW {name} AS {trends(GOOD['one' if name == 'four' else 'two'][0], keys=keys)}")
    views.sql("CREATE TEMP VIEW broken AS SELECT k, CAST(text AS INT) AS t, ty FROM e")
    for name in ("six", "seven"):
        views.sql(f"CREATE TEMP VIEW {name} AS {trends(GOOD['one' if name == 'six' else 'two'][0], source='broken')}")
    for name in ("four", "five", "six", "seven") * 2:
        fails(views, name, "CAST_INVALID_INPUT")
    text = views.sql("EXPLAIN SHARING").collect()[0].plan
    assert "2 passes" not in text
    assert "2 queries, 1 pass" in text or "broken, reading them says why: six, seven" in text
    assert values(views.table("one")) == GOOD["one"][1]


def test_failures_of_a_description(spark: SparkSession) -> None:
    """What is cancelled has not failed, nor what has another description, or failed before."""
    context = spark.sparkContext
    context.setJobDescription("fails by itself")
    try:
        with pytest.raises(PySparkException):
            spark.sql("SELECT raise_error('no ' || id) FROM range(3)").collect()
        context.addJobTag("stopped")
        canceller = threading.Timer(0.5, context.cancelJobsWithTag, ("stopped",))
        canceller.start()
        with pytest.raises(Exception, match="cancelled"):
            spark.sql("SELECT sum(hash(id)) FROM range(0, 1000000000000, 1, 2)").collect()
        canceller.join()
        context._jsc.sc().listenerBus().waitUntilEmpty()
    finally:
        context.removeJobTag("stopped")
        context.setJobDescription(None)  # type: ignore[arg-type]
    [reason] = failures(context, "by itself", 0)
    assert "USER_RAISED_EXCEPTION" in reason
    assert failures(context, "by others", 0) == []
    assert failures(context, "by itself", 4e9) == []


def test_a_measure_that_fails_fails_what_reads_it(views: SparkSession) -> None:
    """Also once the driver has the rows, of which Spark evaluates all that a view selects."""
    views.sql(f"CREATE TEMP VIEW wrong AS {trends('A B', 'COUNT(*) AS n, 1 / (COUNT(*) - 3) AS bad')}")
    for _ in range(3):
        assert values(views.sql("SELECT k, n FROM wrong")) == [("x", 3)]
        assert values(views.table("one")) == [("x", 3)]
        fails(views, "wrong", "DIVIDE_BY_ZERO")


LOST = (
    "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in stage "
    "3.0 (TID 5) (host executor driver): "
)
MACHINE = (
    "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting …",
    "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with code 137",
    "FetchFailed(BlockManagerId(1, host, 40001, None), shuffleId=0, mapIndex=0, mapId=0, reduceId=1, message=…)",
    "java.lang.OutOfMemoryError: Java heap space",
    "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes",
    "java.io.IOException: No space left on device",
    "java.io.EOFException: reached end of stream",
    "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file:///t/part-0.parquet. File does not exist.",
    "org.apache.spark.api.python.PythonException: Traceback …\nMemoryError",
)


class Named:
    """A query, as far as it is looked at here."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts


@pytest.mark.parametrize("reason", MACHINE)
def test_what_a_machine_fails_of_divides_nothing(reason: str) -> None:
    """It says nothing of any query; what fails as well does."""
    queries = cast("list[BoundQuery]", [Named("a > 0"), Named("CAST(b AS INT)"), Named("c")])
    assert divided(queries, [LOST + reason]) == [queries]
    shown = "[CAST_INVALID_INPUT] …\n== SQL (line 2, position 1) ==\nCAST(b AS INT)\n^^^^^^^^^^^^^^\n"
    assert divided(queries, [LOST + reason, shown]) == [[queries[0], queries[2]], [queries[1]]]
    assert divided(queries, ["ValueError: 'OutOfMemory' is meant\n== SQL ==\nOutOfMemoryError\n^^^\n"]) == [queries]
    assert len(divided(queries, ["PythonException: ValueError: invalid literal"])) == 2


def test_a_killed_worker_leaves_one_pass(views: SparkSession, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """Spark's error, and then the rows of all queries from one pass."""
    order = tmp_path / "die"
    order.touch()

    def survives(_: object) -> bool:
        try:
            order.unlink()
        except FileNotFoundError:
            return True
        os.kill(os.getpid(), signal.SIGKILL)
        return False

    views.udf.register("number", survives, "boolean")
    views.conf.set("spark.sparkext.statistics", "none")  # a sample would be the first to meet it
    views.sql(f"CREATE TEMP VIEW killed AS {trends('A B', more='DEFINE B AS number(text)')}")
    # Spark may be the first to notice when it writes to the worker.
    with pytest.raises(Py4JJavaError, match=r"Python worker exited unexpectedly|Broken pipe|Connection reset"):
        views.table("one").collect()
    views.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert failures(views.sparkContext, "4 queries", 0)
    assert failed_before_all_is_well(views) == 0
    assert values(views.table("killed")) == [("x", 3)]
    assert "will be computed apart" not in caplog.text
    assert "Pool 1: 4 queries, 1 pass" in views.sql("EXPLAIN SHARING").collect()[0].plan
