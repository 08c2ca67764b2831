"""A query over a stream of files, against the batch pass over the same files."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.queries import TRIP, WINDOWS
from benchmarks.report import Result, Row, Table, Target
from benchmarks.rides import Rides, write
from benchmarks.same import check_same
from tests.support.live import able_to_stream

MINUTES = 10
"""Event time in a micro-batch."""

SKIPPED = 2
"""Micro-batches that do not count: workers start, kernels are loaded, and no window is over yet."""

LIVE = "live_rides"
"""Name of the stream of rides."""

QUERY = (
    "SELECT * FROM {} MATCH_TREND (PARTITION BY driver ORDER BY ts TYPE BY action "
    f"MEASURES COUNT(*) AS trends PATTERN ({TRIP}) {WINDOWS})"
)


OWN = (
    "SELECT driver, window(ts, '20 minutes', '5 minutes') AS w, count(*) AS events FROM {} WHERE length(action) {} 99 "
    "GROUP BY driver, window(ts, '20 minutes', '5 minutes')"
)
"""A stream of Spark's own, with a state for each driver and window."""


def run(bench: Bench) -> Result:
    """Seconds for the same events: micro-batches once they run steadily, the pass over all files, Spark's own streams.

    Of these one counts all events, and the other one reads them and has no use for any.
    """
    drivers = bench.pick(5_000, 5_000, 50)
    sizes: tuple[int, ...] = bench.pick((100_000, 500_000), (500_000,), (500,))
    files = bench.pick(10, 7, 5)
    rows, kept = [], []
    for size in sizes:
        folder = files_of(bench, Rides(size * files, drivers, seconds_between=60 * MINUTES * drivers / size), size)
        spark = bench.spark
        spark.read.parquet(str(folder)).createOrReplaceTempView("rides")
        batch = partial(_batch, spark)
        times = bench.times({"batch": batch})
        with able_to_stream(spark), tempfile.TemporaryDirectory() as checkpoint:
            progress, found = _stream(spark, folder, Path(checkpoint))
            end = max(found["window_end"].to_pylist())
            wanted = spark.sql(QUERY.format("rides")).where(f"window_end <= TIMESTAMP '{end}'").toArrow()
            check_same("stream", wanted, found, ("driver", "window_start", "window_end"))
            steady = {name: _own_seconds(spark, folder, sign) for name, sign in (("all", "<"), ("none", ">"))}
            on_disk = sum(path.stat().st_size for path in Path(checkpoint).rglob("*") if path.is_file())
        full = _steady(progress)
        took = _seconds(full)
        base = times["batch"] * len(full) / files
        what = f"{size:,} events a trigger"
        rows.append(Row(what, took, "s", "batch pass over as many of the events", base, Target(2.5)))
        rows.append(Row(what, took, "s", "a stream of Spark's own, counts by driver and window", steady["all"]))
        rows.append(Row(what, took, "s", "the same where no event counts", steady["none"]))
        observed = next(iter(full[-1]["observedMetrics"].values()))
        kept.append(
            {
                "events a trigger": size,
                "events/s, stream": round(size * len(full) / took),
                "events/s, batch": round(size * files / times["batch"]),
                "events kept": observed["kept"],
                "bytes an event": round(observed["state_bytes"] / max(1, observed["kept"]), 1),
                "bytes a key": round(observed["state_bytes"] / drivers),
                "checkpoint, MB": round(on_disk / 1e6, 1),
            }
        )
    about = f"{drivers:,} drivers, {MINUTES} minutes of event time in a file, `{TRIP}`, {WINDOWS.lower()}"
    return Result(
        rows,
        about,
        f"{bench.method}; micro-batches after the first {SKIPPED}",
        [Table("The state after the last micro-batch", kept)],
    )


def files_of(bench: Bench, rides: Rides, size: int) -> Path:
    """The events in files of ``size``, in the order of time."""
    folder = bench.directory / f"stream-{size}-{rides.name()}"
    if (folder / "_DONE").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    events = pa.concat_tables(pq.read_table(file) for file in sorted(write(rides, bench.directory).glob("*.parquet")))
    for number, begin in enumerate(range(0, rides.events, size)):
        file = folder / f"{number:05}.parquet"
        pq.write_table(events.slice(begin, size), file)
        os.utime(file, (1_700_000_000 + number,) * 2)
    (folder / "_DONE").touch()
    return folder


def _steady(progress: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The micro-batches that count."""
    return [one for one in progress if one["numInputRows"]][SKIPPED:]


def _seconds(progress: list[dict[str, Any]]) -> float:
    return float(sum(one["durationMs"]["triggerExecution"] for one in progress)) / 1000


def _own_seconds(spark: SparkSession, folder: Path, sign: str) -> float:
    """What the micro-batches of `OWN` take."""
    with tempfile.TemporaryDirectory() as checkpoint:
        watch(spark, folder)
        rows = partial(spark.sql, OWN.format(LIVE, sign))
        return _seconds(_steady(run_stream(spark, rows, Path(checkpoint), lambda _: None)))


def _batch(spark: SparkSession) -> None:
    seconds(spark.sql(QUERY.format("rides")).write.format("noop").mode("overwrite").save)


def _stream(spark: SparkSession, folder: Path, checkpoint: Path) -> tuple[list[dict[str, Any]], pa.Table]:
    """The progress of each micro-batch, and all rows."""
    watch(spark, folder)
    parts: list[pa.Table] = []
    progress = run_stream(spark, lambda: spark.sql(QUERY.format(LIVE)), checkpoint, parts.append)
    return progress, pa.concat_tables(part for part in parts if part.num_rows)


def watch(spark: SparkSession, folder: Path) -> None:
    """Make `LIVE` a stream of the events of a folder, a file in each micro-batch."""
    schema = spark.read.parquet(str(folder)).schema
    source = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    source.withWatermark("ts", "10 seconds").createOrReplaceTempView(LIVE)


def run_stream(
    spark: SparkSession, rows: Callable[[], DataFrame], checkpoint: Path, take: Callable[[pa.Table], object]
) -> list[dict[str, Any]]:
    """Run a stream to the end of its files; gives the progress of each micro-batch.

    Args:
        spark: The session.
        rows: Gives the stream, under the settings that it is to have.
        checkpoint: An empty directory.
        take: Called with the rows of each micro-batch.
    """

    def each(batch: DataFrame, _: int) -> None:
        take(batch.toArrow())

    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", spark.sparkContext.defaultParallelism)
    spark.conf.unset("spark.sparkext.stream.buckets")
    try:
        writer = rows().writeStream.option("checkpointLocation", str(checkpoint))
        query = writer.foreachBatch(each).trigger(availableNow=True).start()
        query.awaitTermination()
        return [json.loads(one.json) for one in query.recentProgress]
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))


BENCHMARK = Benchmark("streams", "a query over a stream, against the batch pass over the same files", run)
