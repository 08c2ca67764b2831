"""A user's program: defines views over a folder of events, reads them all, and writes down what came out.

It is copied out of the checkout, beside a module ``session`` that makes its session, and run there::

    python program.py EVENTS STATEMENTS ANSWERS LOST

``STATEMENTS`` holds the queries of the views, by name, over a view ``rides`` of the events, and ``LOST`` says how many
executors are going to be killed. Beside the answers it leaves a file ``middle`` when the first pass over the events is
under way, and ``half`` when half of the views have been read.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

EXECUTORS_PLACES = 8
"""Tasks that say where they have found sparkext: enough for some on each executor."""

MOST_SECONDS = 60
"""How long to wait until Spark has missed executors."""


def main(events: str, statements: Path, answers: Path, lost: int) -> None:
    """Run it."""
    from session import spark  # type: ignore[import-not-found] # it lies beside the copy

    spark.read.parquet(events).createOrReplaceTempView("rides")
    queries = json.loads(statements.read_text())
    for name, query in queries.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {query}")
    threading.Thread(target=say_in_the_middle, args=(spark, answers.with_name("middle")), daemon=True).start()
    rows = {}
    for number, name in enumerate(queries, 1):
        rows[name] = sorted([plain(value) for value in row] for row in spark.table(name).collect())
        if number * 2 == len(queries):
            answers.with_name("half").touch()
    by_part = {
        "rows": rows,
        "driver": sys.modules["sparkext"].__file__,
        "places": places(spark),
        "counted": counted(spark),
        "executors": executors(spark, lost),
    }
    answers.write_text(json.dumps(by_part))
    spark.stop()


def plain(value: Any) -> Any:
    """A value as JSON has it; counts and times as texts, so that nothing of them is lost."""
    return str(value) if isinstance(value, Decimal | datetime) else value


def say_in_the_middle(spark: SparkSession, file: Path) -> None:
    """Make a file when some tasks of the pass have ended, and others have not."""
    tasks = int(str(spark.conf.get("spark.sparkext.partitions")))
    tracker = spark.sparkContext.statusTracker()
    while True:
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks == tasks and 2 <= info.numCompletedTasks < tasks:
                file.touch()
                return
        time.sleep(0.01)


def places(spark: SparkSession) -> list[list[Any]]:
    """Where the executors have found the kernels, and which packages of the driver they have imported."""

    def seen(_: Iterable[int]) -> Iterator[list[Any]]:
        import sparkext.udfs.kernels.event_loop

        own_modules = {name.split(".")[1] for name in sys.modules if name.startswith("sparkext.")}
        loaded = sorted({"sqlglot"} & set(sys.modules) | own_modules - {"planner", "udfs"})
        yield [
            str(sparkext.udfs.__file__),
            str(sparkext.udfs.kernels.event_loop.__file__),
            loaded,
            [os.path.abspath(entry) for entry in sys.path],
        ]

    rows = spark.sparkContext.parallelize(range(EXECUTORS_PLACES), EXECUTORS_PLACES).mapPartitions(seen)
    return list({json.dumps(place): place for place in rows.collect()}.values())


def counted(spark: SparkSession) -> list[dict[str, Any]]:
    """What the tasks of each pass have counted for the statistics."""
    from sparkext.session import parsers

    runs = [run for parser in parsers(spark.sparkContext) for pool in parser.workload.pools for run in pool.runs]
    observed = [run.counted.seen() for run in runs]
    return [
        {"keys": seen.keys, "span": seen.span, "events": {str(event): number for event, number in seen.events.items()}}
        for seen in observed
        if seen is not None
    ]


def executors(spark: SparkSession, lost: int) -> list[dict[str, Any]]:
    """What Spark knows of each executor that there was, the driver left out, once it has missed as many as are lost.

    It waits for some seconds to be told why an executor is gone.
    """
    until = time.monotonic() + MOST_SECONDS
    while True:
        listed = known(spark)
        if sum(not executor["alive"] for executor in listed) >= lost or time.monotonic() > until:
            return listed
        time.sleep(0.1)


def known(spark: SparkSession) -> list[dict[str, Any]]:
    """What Spark knows of each executor now."""
    listed = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    summaries = [listed.apply(place) for place in range(listed.size())]
    return [
        {
            "id": summary.id(),
            "alive": summary.isActive(),
            "completed": summary.completedTasks(),
            "failed": summary.failedTasks(),
        }
        for summary in summaries
        if summary.id() != "driver"
    ]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
