"""Streams of files in Spark: a directory to which files are added, and queries over it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
BUCKETS = "spark.sparkext.stream.buckets"

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
SCHEMA = "k INT, sub STRING, ts TIMESTAMP, ty STRING, v INT"

Event: TypeAlias = "tuple[int | None, str | None, float | None, str, int | None]"
"""Key, second key, seconds since the start, type, and value."""


@contextmanager
def able_to_stream(spark: SparkSession) -> Iterator[None]:
    """A session with the state store that streams need, and few buckets."""
    before = spark.conf.get(PROVIDER)
    spark.conf.set(PROVIDER, ROCKSDB)
    spark.conf.set(BUCKETS, "3")
    try:
        yield
    finally:
        for query in spark.streams.active:
            query.stop()
        spark.conf.set(PROVIDER, str(before))
        spark.conf.unset(BUCKETS)


class Feed:
    """A directory of files of events, of which a stream reads one in each micro-batch.

    Args:
        spark: The session.
        at: Where the files are, and the checkpoints.
    """

    def __init__(self, spark: SparkSession, at: Path) -> None:
        self._spark = spark
        self._at = at
        self._files = 0
        (at / "in").mkdir(exist_ok=True)

    def put(self, events: Sequence[Event]) -> None:
        """Add a file."""
        k, sub, seconds, ty, v = zip(*events, strict=True) if events else ((), (), (), (), ())
        times = [None if second is None else START + timedelta(seconds=second) for second in seconds]
        columns = [
            pa.array(k, pa.int32()),
            pa.array(sub, pa.string()),
            pa.array(times, pa.timestamp("us", tz="UTC")),
            pa.array(ty, pa.string()),
            pa.array(v, pa.int32()),
        ]
        hidden = self._at / "in" / ".next"
        pq.write_table(pa.table(columns, ["k", "sub", "ts", "ty", "v"]), hidden)
        shown = self._at / "in" / f"{self._files:05d}.parquet"
        hidden.rename(shown)
        os.utime(shown, (1_700_000_000 + self._files,) * 2)  # the order in which Spark takes them
        self._files += 1

    def batch(self) -> DataFrame:
        """All events."""
        return self._spark.read.schema(SCHEMA).parquet(str(self._at / "in"))

    def stream(self, delay: str | None = "10 seconds") -> DataFrame:
        """The events as a stream."""
        read = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(self._at / "in"))
        return read if delay is None else read.withWatermark("ts", delay)

    def checkpoint(self, name: str = "ck") -> str:
        """Where a stream keeps its state."""
        return str(self._at / name)

    def start(self, rows: DataFrame, take: Callable[[list[Any]], None], checkpoint: str = "ck") -> StreamingQuery:
        """Begin, or go on, to hand the rows of each micro-batch to ``take``."""

        def each(batch: DataFrame, _: int) -> None:
            take([tuple(row) for row in batch.collect()])

        writer = rows.writeStream.option("checkpointLocation", self.checkpoint(checkpoint))
        return writer.foreachBatch(each).start()

    def all_now(self, rows: DataFrame, checkpoint: str = "ck") -> list[Any]:
        """The rows of all files that have come since, by a trigger ``availableNow``."""
        all_rows: list[Any] = []

        def each(batch: DataFrame, _: int) -> None:
            all_rows.extend(tuple(row) for row in batch.collect())

        writer = rows.writeStream.option("checkpointLocation", self.checkpoint(checkpoint)).trigger(availableNow=True)
        query = writer.foreachBatch(each).start()
        query.awaitTermination()
        return all_rows


def metrics(query: StreamingQuery) -> dict[str, int]:
    """What has been observed of a stream: sums over its micro-batches, and what is kept after the last."""
    sums = {"events": 0, "late": 0, "kept": 0}
    for progress in query.recentProgress:
        for observed in progress.observedMetrics.values():
            sums["events"] += observed["events"] or 0
            sums["late"] += observed["late"] or 0
            sums["kept"] = observed["kept"] or 0
    return sums
