"""Ten views over a stream of deliveries, as one operator: ``python -m examples.deliveries_stream``.

Events come in files, some of them late. In the middle one view is dropped, and another one added. What the stream has
written in the end is what a batch over all events has: of the view that was dropped up to the change, and of the one
that was added from the first window on that was open then.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

import sparkext
from examples import java

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SCHEMA = "courier STRING, district STRING, at TIMESTAMP, action STRING, minutes BIGINT"
_START = datetime(2026, 1, 1, tzinfo=timezone.utc)
_WITHIN = "WITHIN INTERVAL 30 MINUTES SLIDE INTERVAL 10 MINUTES"

PATTERNS = {
    "rounds": ("COUNT(*) AS n", "Request (Pickup Travel)+ Delivery"),
    "on_road": ("COUNT(*) AS n, SUM(Travel.minutes) AS minutes", "Request (Pickup Travel)+ Delivery"),
    "in_vain": ("COUNT(*) AS n", "Request (Pickup Travel)+ Cancel"),
    "direct": ("COUNT(*) AS n", "Request Pickup Travel Delivery"),
    "called_off": ("COUNT(*) AS n", "Request NOT Pickup Cancel"),
    "again": ("COUNT(*) AS n", "Delivery Request+"),
    "slow": ("COUNT(*) AS n, MAX(Travel.minutes) AS longest", "Pickup Travel+ Delivery"),
    "idle": ("COUNT(*) AS n", "Delivery NOT Request Pickup"),
    "moves": ("COUNT(*) AS n, AVG(Travel.minutes) AS mean", "Travel+"),
    "legs": ("COUNT(*) AS n, SUM(Travel.minutes) AS minutes", "(Pickup Travel)+"),
    "journeys": ("COUNT(*) AS n, MAX(Travel.minutes) AS longest", "(Pickup Travel+)+ Delivery"),
}
"""Measures and pattern of each view."""

DROPPED, ADDED = "idle", "journeys"
"""What changes in the middle: the one reads what others read, too, and so does the other."""


def create_views(spark: SparkSession, deliveries: DataFrame) -> None:
    """Make the views over deliveries, a stream or not."""
    deliveries.createOrReplaceTempView("deliveries")
    for name, (measures, pattern) in PATTERNS.items():
        spark.sql(f"""
            CREATE OR REPLACE TEMP VIEW {name} AS
            SELECT * FROM deliveries MATCH_TREND (
              PARTITION BY courier GROUP BY district ORDER BY at TYPE BY action
              MEASURES {measures} PATTERN ({pattern}) {_WITHIN})""")


def write_files(folder: Path, files: int, events: int, couriers: int) -> None:
    """Deliveries of so many couriers, in files of ten minutes each, of which some events are up to a minute late."""
    chance = random.Random(1)
    span = 600.0 * files
    times = sorted(chance.uniform(0, span) for _ in range(files * events))
    rows: list[tuple[Any, ...]] = [
        (f"c{chance.randrange(couriers)}", chance.choice("NESW"), at, chance.choice(_ACTIONS), chance.randint(1, 9))
        for at in times
    ]
    rows.sort(key=lambda row: row[2] + chance.uniform(0, 60))
    parts = [rows[begin : begin + events] for begin in range(0, len(rows), events)]
    # Events of another day, after which all windows of this one are over.
    parts += [[("c0", "N", span + 86_400 * day, "Request", 1)] for day in (1, 2)]
    for number, part in enumerate(parts):
        columns = zip(*((*row[:2], _START + timedelta(seconds=row[2]), *row[3:]) for row in part), strict=True)
        table = pa.table(dict(zip(("courier", "district", "at", "action", "minutes"), map(list, columns), strict=True)))
        pq.write_table(table, folder / f"{number:03}.parquet")
        os.utime(folder / f"{number:03}.parquet", (1_700_000_000 + number,) * 2)


_ACTIONS = ("Request", "Pickup", "Travel", "Travel", "Delivery", "Cancel")


def start_stream(spark: SparkSession, folder: Path, work: Path) -> sparkext.TrendStream:
    """Begin to write what the stream has of all files that come, to files, one directory for each view."""
    read = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    create_views(spark, read.withWatermark("at", "2 minutes"))

    def write(rows: DataFrame) -> DataStreamWriter:
        writer = rows.writeStream.partitionBy("query").format("parquet").option("path", str(work / "out"))
        return writer.option("checkpointLocation", str(work / "checkpoint"))

    return sparkext.TrendStream([name for name in PATTERNS if name != ADDED], write, spark=spark)


def check(spark: SparkSession, folder: Path, work: Path, closed: datetime) -> dict[str, int]:
    """Hold the rows of each view against a batch; gives how many there are.

    Args:
        spark: The session.
        folder: Of the events.
        work: Where the stream has written.
        closed: The end of the last window that was written before the views changed.

    Raises:
        AssertionError: They differ.
    """
    read = spark.read.schema(_SCHEMA).parquet(str(folder))
    create_views(spark, read)
    day = f"window_end < TIMESTAMP '{_START + timedelta(days=1):%Y-%m-%d %H:%M:%S} UTC'"
    parts = {DROPPED: F.col("window_end") <= closed, ADDED: F.col("window_end") > closed}
    out = spark.read.option("mergeSchema", "true").parquet(str(work / "out"))
    found = {}
    for name in sparkext.views_of(out):
        view = name.removesuffix("_rows")
        streamed, wanted = _sorted(spark.table(name).where(day)), spark.table(view).where(day)
        if streamed != _sorted(wanted.where(parts.get(view, F.lit(True)))):
            raise AssertionError(f"{view}: {len(streamed)} rows over the stream, and others in a batch")
        found[view] = len(streamed)
    assert found.keys() == PATTERNS.keys()
    return found


def _sorted(rows: DataFrame) -> Sequence[str]:
    return sorted(str(tuple(row)) for row in rows.collect())


def _take(running: sparkext.TrendStream, files: Sequence[Path], folder: Path) -> None:
    """Let files come, and wait until they have been read."""
    began = time.perf_counter()
    for file in files:
        file.rename(folder / file.name)
    running.query.processAllAvailable()
    print(f"{len(files)} files in {time.perf_counter() - began:.0f} s", flush=True)


def main(files: int = 6, events: int = 2_000, couriers: int = 50, spark: SparkSession | None = None) -> dict[str, int]:
    """Run the stream, with a change in the middle, and check it; gives the rows of each view."""
    spark = sparkext.enable(spark or SparkSession.builder.master("local[2]").getOrCreate())
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", _ROCKSDB)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sparkext.stream.buckets", "4")
    with tempfile.TemporaryDirectory() as directory:
        work, come = Path(directory), Path(directory, "come")
        come.mkdir()
        made = work / "made"
        made.mkdir()
        write_files(made, files, events, couriers)
        every = sorted(made.iterdir())
        half = len(every) // 2
        running = start_stream(spark, come, work)
        _take(running, every[:half], come)
        running.alter(add=[ADDED], drop=[DROPPED])
        [[closed]] = spark.read.parquet(str(work / "out")).agg({"window_end": "max"}).collect()
        print(f"{DROPPED} is dropped and {ADDED} added, after windows up to {closed:%H:%M}", flush=True)
        _take(running, every[half:], come)
        running.query.stop()
        plan = spark.sql("EXPLAIN SHARING").collect()[0][0]
        print("\n".join(line for line in plan.splitlines() if "Pool" in line or "Pass" in line))
        found = check(spark, come, work, closed)
        for view, rows in found.items():
            print(f"{view:<12}{rows:>6} rows, those of a batch")
    return found


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    java.make_sure()
    main()
