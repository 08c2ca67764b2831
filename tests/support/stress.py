"""Many threads on one session, each of which creates, reads, replaces, drops, renames, explains, analyses and cancels::

python -m tests.support.stress --minutes 10 --threads 16

It ends with 1 after a wrong row, an error that should not be, or something that was left behind, and with 2 after a
statement that does not come back.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import itertools
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from benchmarks.memory import megabytes
from sparkext.session import parsers_of
from tests.support.spark_programs import eventually
from tests.support.sql_cases import clause, stream, trends
from tests.support.sql_harness import start_session

TRENDS = {"A B": 3, "A+ B": 4, "(A B)+": 4, "A NOT A B": 2, "A B NOT A": 2, "NOT B A": 1, "A & B": 4, "A+ | A B": 6}
"""How many trends patterns have over a1 b2 a3 b4."""

PATIENCE = 240.0
"""Seconds after which a statement is believed to wait for ever."""

REFRESHED = "UNSUPPORTED_FEATURE.ANALYZE_UNCACHED_TEMP_VIEW"
"""What Spark says of a view whose results have been dropped since it was cached, by REFRESH SHARING in some thread."""

SECONDS_OF_PY4J = 2.0
"""After which Py4J, which looks once a second, has told Java what Python holds no more."""

SHARED = 6
"""Views that all threads read and replace."""

_numbers = itertools.count()


class Stress:
    """What the threads have in common.

    Attributes:
        done: How often each kind of step has been taken.
        problems: What has gone wrong.
        since: When each thread began its step, and what it is.
    """

    def __init__(self, spark: SparkSession, seed: int) -> None:
        self.spark = spark
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []
        self.since: dict[str, tuple[float, str]] = {}
        self._seed = seed
        self._inserting = threading.Lock()  # Spark's own way of writing files is not made for two at once
        self._steps: dict[str, Callable[[Random], None]] = {
            "own view": self._own_view,
            "shared view": self._shared_view,
            "replace": self._replace,
            "by itself": self._by_itself,
            "union": self._union,
            "append": self._append,
            "explain": self._explain,
            "analyse": self._analyse,
            "cancel": self._cancel,
            "refresh": self._refresh,
            "refused": self._refused,
            "plain": self._plain,
        }

    def prepare(self) -> None:
        """Make what all threads read."""
        stream(self.spark, {"x": "a1 b2 a3 b4"})
        self.spark.sql("CREATE TABLE grows (t BIGINT, ty STRING) USING parquet")
        self.spark.sql("INSERT INTO grows VALUES (0, 'A')")
        for number in range(SHARED):
            self.spark.sql(f"CREATE TEMP VIEW shared_{number} AS {trends('A B')}")

    def work(self, number: int, until: float) -> None:
        """Take random steps until a moment of ``time.monotonic``."""
        random, name = Random(self._seed * 1000 + number), threading.current_thread().name
        while time.monotonic() < until:
            step = random.choice([*self._steps])
            self.since[name] = time.monotonic(), step
            try:
                self._steps[step](random)
            except Exception as error:
                self.problems.append(f"{step}: {type(error).__name__}: {str(error)[:500]}")
            self.done[step] += 1
        del self.since[name]

    def _check(self, text: str, wanted: set[int]) -> None:
        rows = [int(row.n) for row in self.spark.sql(text).collect()]
        if len(rows) != 1 or rows[0] not in wanted:
            self.problems.append(f"{text}: {rows} instead of one of {wanted}")

    def _own_view(self, random: Random) -> None:
        name, pattern = f"own_{next(_numbers)}", random.choice([*TRENDS])
        self.spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
        self._check(f"SELECT n FROM {name}", {TRENDS[pattern]})
        if random.random() < 0.5:
            self.spark.sql(f"ALTER VIEW {name} RENAME TO {name}_renamed")
            name += "_renamed"
            self._check(f"SELECT n FROM {name}", {TRENDS[pattern]})
        if random.random() < 0.5:
            self.spark.sql(f"DROP VIEW {name}")
        else:
            self.spark.catalog.dropTempView(name)

    def _shared_view(self, random: Random) -> None:
        self._check(f"SELECT n FROM shared_{random.randrange(SHARED)}", set(TRENDS.values()))

    def _replace(self, random: Random) -> None:
        pattern = random.choice([*TRENDS])
        self.spark.sql(f"CREATE OR REPLACE TEMP VIEW shared_{random.randrange(SHARED)} AS {trends(pattern)}")

    def _by_itself(self, random: Random) -> None:
        pattern = random.choice([*TRENDS])
        self._check(trends(pattern), {TRENDS[pattern]})

    def _union(self, random: Random) -> None:
        first, second = random.sample([*TRENDS], 2)
        text = f"SELECT sum(n) AS n FROM ({trends(first)} UNION ALL {trends(second)})"
        self._check(text, {TRENDS[first] + TRENDS[second]})

    def _append(self, random: Random) -> None:
        """Rows come and never go, so a count lies between what plain Spark counts before it and after it."""
        if random.random() < 0.3:
            with self._inserting:
                self.spark.sql(f"INSERT INTO grows VALUES ({next(_numbers) + 1}, 'A')")
        counted = "SELECT count(*) AS n FROM grows"
        [before] = self.spark.sql(counted).collect()
        query = clause("A", keys="ORDER BY t TYPE BY ty")
        [row] = self.spark.sql(f"SELECT n FROM grows {query}").collect()
        [after] = self.spark.sql(counted).collect()
        if not before.n <= row.n <= after.n:
            self.problems.append(f"a table that grows: {row.n} rows between {before.n} and {after.n}")

    def _explain(self, random: Random) -> None:
        form = random.choice(("EXPLAIN SHARING", "EXPLAIN SHARING JSON", "SHOW TREND QUERIES", "EXPLAIN SHARING DOT"))
        self.spark.sql(form).collect()

    def _analyse(self, _: Random) -> None:
        name = f"own_{next(_numbers)}"
        self.spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A+ B')}")
        self.spark.sql(f"CACHE TABLE {name}")
        try:
            self.spark.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
        except PySparkException as error:
            if error.getCondition() != REFRESHED:
                raise
        self._check(f"SELECT n FROM {name}", {4})
        self.spark.sql(f"UNCACHE TABLE {name}")
        self.spark.sql(f"DROP VIEW {name}")

    def _cancel(self, random: Random) -> None:
        """What is cancelled says so, unless it was over before."""
        context, tag = self.spark.sparkContext, f"tag-{next(_numbers)}"
        canceller = threading.Timer(random.random(), context.cancelJobsWithTag, (tag,))
        context.addJobTag(tag)
        canceller.start()
        try:
            self._check(trends("A+ B", more=f"WITHIN {random.randrange(10, 1000) * 10}"), {4})
        except (PySparkException, Py4JError) as error:
            if "cancel" not in str(error).lower():
                raise
        finally:
            context.removeJobTag(tag)
            canceller.join()

    def _refresh(self, _: Random) -> None:
        self.spark.sql("REFRESH SHARING")

    def _refused(self, _: Random) -> None:
        name = f"own_{next(_numbers)}"
        try:
            self.spark.sql(f"CREATE TEMP VIEW {name} AS {trends('A B', 'SUM(A.nothing) AS n')}")
        except PySparkException as error:
            if "TREND_UNKNOWN_COLUMN" not in str(error):
                raise
        else:
            self.problems.append("a query with an unknown column was not refused")

    def _plain(self, _: Random) -> None:
        self._check("SELECT count(*) AS n FROM e", {4})

    def left_behind(self) -> list[str]:
        """What there still is when all views have been dropped and a moment has gone by."""
        for number in range(SHARED):
            self.spark.catalog.dropTempView(f"shared_{number}")
        self.spark.sql("REFRESH SHARING").collect()  # forgets recent queries
        workloads = [parser.workload for parser in parsers_of(self.spark)]
        kept = self.spark.sparkContext._jsc.sc().getPersistentRDDs
        java: Any = self.spark._jvm

        def is_clean() -> bool:
            # Spark goes on to keep what a statement reads that was planned before it was released, until it is garbage:
            # of Python first, where what has failed is in cycles with its traceback, and then of Java, once Py4J has
            # told it so, also of what was kept when it was looked before. Threads of Spark's that wait for work, which
            # end after a minute, may hold it.
            gc.collect()
            time.sleep(SECONDS_OF_PY4J)
            java.java.lang.System.gc()
            return not any(workload.holds_queries() for workload in workloads) and kept().size() == 0

        try:
            eventually(is_clean, 180, 0)
        except AssertionError:
            return [
                f"left: {sum(workload.holds_queries() for workload in workloads)} workloads, {kept().size()} results"
            ]
        return []


def main() -> int:
    """Run the threads, and print once a minute how far they are."""
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--threads", type=int, default=16)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")
    stress = Stress(start_session(), asked.seed)
    stress.prepare()
    until = time.monotonic() + 60 * asked.minutes
    threads = [
        threading.Thread(target=stress.work, args=(number, until), name=f"stress-{number}", daemon=True)
        for number in range(asked.threads)
    ]
    for thread in threads:
        thread.start()
    told = time.monotonic()
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        late = [(name, step) for name, (at, step) in list(stress.since.items()) if time.monotonic() - at > PATIENCE]
        if late:
            print("These do not come back:", late, flush=True)
            faulthandler.dump_traceback(all_threads=True)
            gateway: Any = stress.spark.sparkContext._gateway
            os.kill(gateway.proc.pid, signal.SIGQUIT)  # Java prints what its threads do
            time.sleep(5)
            os._exit(2)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            gc.collect()
            [held] = megabytes(os.getpid(), "VmRSS")
            print(f"{sum(stress.done.values())} steps, {len(stress.problems)} problems, ", end="")
            print(f"{held:.0f} MB, {threading.active_count()} threads", flush=True)
    problems = [*stress.problems, *stress.left_behind()]
    print(dict(stress.done))
    for problem, times in Counter(problems).most_common(20):
        print(f"{times} x {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
