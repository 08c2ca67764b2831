"""A program that runs a stream of several views, for tests that kill it: ``python -m tests.support.killed_stream``.

Its environment says what it does: the folder, the views, the sink. Where the folder has a file ``die``, which names a
point, the first process that comes to that point kills all of them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

import sparkext
from sparkext.execution import stream_pass
from sparkext.settings import STREAM_ON_CHANGE
from sparkext.udfs.streams.processor import OutputRow, TrendProcessor
from tests.streams.test_changed_streams import create
from tests.support.live import Feed, able_to_stream
from tests.support.sql_harness import start_session

FOLDER, VIEWS, SINK, GROUP = (f"SPARKEXT_TEST_{name}" for name in ("FOLDER", "VIEWS", "SINK", "GROUP"))

POINTS = {"files": ("worker", "state", "any"), "split": ("worker", "state", "sink", "commit", "any")}
"""Where it may die, by its sink: a worker alone, all after a bucket has stored its state, in the sink, before the
micro-batch is committed, and wherever it is.
"""


def die_at(*points: str) -> None:
    """Kill all processes of the program, or for ``worker`` this one, if one of these points is wanted."""
    wanted = Path(os.environ[FOLDER]) / "die"
    try:
        point = wanted.read_text()
        if point not in points:
            return
        wanted.unlink()
    except FileNotFoundError:
        return
    if point == "worker":
        os._exit(1)
    os.killpg(int(os.environ[GROUP]), signal.SIGKILL)


class MortalProcessor(TrendProcessor):
    """A processor that may die when it has stored the state of a bucket."""

    def handleInputRows(self, key: Any, rows: Iterable[Any], timerValues: Any) -> Iterator[OutputRow]:  # noqa: N802, N803
        """As that of any."""
        yield from super().handleInputRows(key, rows, timerValues)
        die_at("worker", "state")


def to_directories(folder: Path, rows: DataFrame, number: int) -> None:
    """Write the rows of each view to a directory, in a part for the micro-batch."""
    sinks = {}
    for view in os.environ[VIEWS].split():

        def write(part: DataFrame, number: int, view: str = view) -> None:
            part.write.mode("overwrite").parquet(str(folder / "out" / f"query={view}" / f"batch={number}"))
            die_at("sink")

        sinks[view] = write
    sparkext.split(sinks)(rows, number)
    die_at("commit")


def writer_of(spark: SparkSession, folder: Path) -> DataStreamWriter:
    """The stream, with its sink."""
    create(spark, Feed(spark, folder).stream())
    rows = sparkext.stream(os.environ[VIEWS].split()).writeStream.option("checkpointLocation", str(folder / "ck"))
    if os.environ[SINK] == "files":
        return rows.partitionBy("query").format("parquet").option("path", str(folder / "out"))
    return rows.foreachBatch(lambda batch, number: to_directories(folder, batch, number))


def main() -> None:
    """Write the rows of all files, and a line for each micro-batch."""
    folder = Path(os.environ[FOLDER])
    stream_pass.TrendProcessor = MortalProcessor  # type: ignore[attr-defined]
    spark = start_session()
    spark.conf.set(STREAM_ON_CHANGE, "allow")
    with able_to_stream(spark):
        query = writer_of(spark, folder).trigger(availableNow=True).start()
        while query.isActive:
            print("batch", query.lastProgress and query.lastProgress.batchId, flush=True)
            time.sleep(0.2)
        query.awaitTermination()
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    os.environ[GROUP] = str(os.getpgid(0))
    main()
