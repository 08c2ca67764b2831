"""Ten views over a stream as one operator, against one view, and against an operator for each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark
from benchmarks.queries import WINDOWS
from benchmarks.report import Result, Row, Table, Target
from benchmarks.rides import Rides
from benchmarks.same import check_same
from benchmarks.streams import LIVE, MINUTES, SKIPPED, files_of, run_stream, watch
from tests.support.live import able_to_stream

_COLUMNS = "district", "window_start", "window_end"


def run(bench: Bench) -> Result:
    """Steady micro-batches, and all processors' time in them: of driver, JVM and workers."""
    drivers = bench.pick(5_000, 5_000, 50)
    size = bench.pick(100_000, 100_000, 500)
    files, number = bench.pick(8, 6, 5), bench.pick(10, 10, 3)
    folder = files_of(bench, Rides(size * files, drivers, seconds_between=60 * MINUTES * drivers / size), size)
    spark = bench.spark
    views = [f"pooled_{index}" for index in range(number)]
    measured: dict[str, _Measured] = {}
    with able_to_stream(spark):
        watch(spark, folder)
        for view, text in zip(views, queries.pool(LIVE, number), strict=True):
            spark.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS {text}")
        # The first in a session warms Spark up, and does not count.
        for what, stream in (
            ("", partial(_in_one, spark, views[:1])),
            ("one view", partial(_in_one, spark, views[:1])),
            ("one operator", partial(_in_one, spark, views)),
            (f"{number} operators", partial(_apart, spark, views)),
        ):
            measured[what] = _Measured(spark, stream)
    one, pooled, apart = (measured[what] for what in ("one view", "one operator", f"{number} operators"))
    check_same("one operator", apart.rows, pooled.rows, ("name", *_COLUMNS))
    what = f"{number} views in one operator"
    rows = []
    for unit, name in (("processor time", "cpu"), ("steady micro-batches", "wall")):
        found, single, many = (getattr(each, name) for each in (pooled, one, apart))
        rows.append(Row(f"{what}, {unit}", found, "s", "one view", single, Target(2.5)))
        rows.append(Row(f"{number} operators, {unit}", many, "s", what, found, Target(5, at_least=True)))
    rows.append(Row(f"{what}, state", pooled.size / 1e6, "MB", "one view", one.size / 1e6, Target(1.5)))
    about = f"{size:,} events of {drivers:,} drivers a trigger of {MINUTES} minutes; {WINDOWS.lower()}"
    tables = [
        Table("The state after the last micro-batch", [each.state(what) for what, each in measured.items() if what])
    ]
    return Result(
        rows, about, f"one run each, after one that does not count; micro-batches after the first {SKIPPED}", tables
    )


def _in_one(spark: SparkSession, views: list[str]) -> DataFrame:
    return spark.sql(" UNION ALL ".join(map(_branch, views)))


def _apart(spark: SparkSession, views: list[str]) -> DataFrame:
    """The same rows, of frames, which are no statement."""
    return reduce(DataFrame.unionAll, (spark.sql(_branch(view)) for view in views))


def _branch(view: str) -> str:
    return f"SELECT '{view}' AS name, {', '.join(_COLUMNS)}, trends FROM {view}"


class _Measured:
    """A stream that has been run.

    Attributes:
        rows: All that it has written.
        wall: Seconds of its steady micro-batches.
        cpu: Seconds of processors in these.
        kept: Events in its states.
        size: Of these states, in bytes.
    """

    def __init__(self, spark: SparkSession, rows: Callable[[], DataFrame]) -> None:
        parts: list[pa.Table] = []
        seconds: list[float] = []

        def take(part: pa.Table) -> None:
            parts.append(part)
            seconds.append(processor_seconds())

        with tempfile.TemporaryDirectory() as checkpoint:
            progress = run_stream(spark, rows, Path(checkpoint), take)
        full = [one for one in progress if one["numInputRows"]]
        self.rows = pa.concat_tables(part for part in parts if part.num_rows)
        self.wall = sum(one["durationMs"]["triggerExecution"] for one in full[SKIPPED:]) / 1000
        self.cpu = seconds[len(full) - 1] - seconds[SKIPPED - 1]
        observed = full[-1]["observedMetrics"].values()
        self.kept, self.size = (sum(one[name] for one in observed) for name in ("kept", "state_bytes"))

    def state(self, what: str) -> dict[str, Any]:
        """A line of a table."""
        return {"what": what, "events kept": self.kept, "MB": round(self.size / 1e6, 2)}


def processor_seconds() -> float:
    """Of this process and all below it, those that have ended too, as Linux tells it."""
    parents = {int(pid): (int(fields[1]), sum(map(int, fields[11:15]))) for pid, fields in _processes()}
    mine, found = {os.getpid()}, 0
    while mine:
        found += sum(parents[pid][1] for pid in mine if pid in parents)
        mine = {pid for pid, (parent, _) in parents.items() if parent in mine}
    return found / os.sysconf("SC_CLK_TCK")


def _processes() -> Iterator[tuple[str, list[str]]]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            yield entry.name, (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue


BENCHMARK = Benchmark(
    "stream-pools", "ten views over a stream as one operator, against one view and ten operators", run
)
