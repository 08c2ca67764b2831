"""The Spark session of the benchmarks, and what is done with frames."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import sparkext


def start(cores: int | None, memory: str = "8g") -> SparkSession:
    """An enabled session on so many cores of this machine, all if None: Python workers get no others, where
    that can be said (Linux).

    The driver has at most so much memory. Shuffles have four partitions a core, which helps those who leave the number
    to Spark.
    """
    plain = (
        SparkSession.builder.master("local[*]" if cores is None else f"local[{cores}]")
        .appName("sparkext benchmarks")
        .config("spark.driver.memory", memory)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    plain.sparkContext.setLogLevel("ERROR")
    _confine(plain, cores)
    spark = sparkext.enable(plain)
    spark.conf.set("spark.sql.shuffle.partitions", 4 * spark.sparkContext.defaultParallelism)
    return spark


@cache
def opened() -> SparkSession:
    """The session of a program that needs one and has 4 GB for it, with Python workers ready."""
    spark = start(None, "4g")
    wake(spark)
    return spark


def _confine(spark: SparkSession, cores: int | None) -> None:
    """Let all threads of the JVM, and the Python workers that it starts, run on so many cores alone."""
    if not hasattr(os, "sched_setaffinity"):
        return
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    for thread in Path("/proc", str(gateway.proc.pid), "task").iterdir():
        os.sched_setaffinity(int(thread.name), allowed)


def stop(spark: SparkSession) -> None:
    """Stop a session, with its Python workers."""
    sparkext.disable(spark)
    spark.stop()


def wake(spark: SparkSession) -> None:
    """Start as many Python workers as there are cores, with what all of them import."""

    def idle(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numba
        import pandas as pd

        assert numba
        assert pd
        time.sleep(0.2)  # so that no worker does the work of two
        yield from batches

    cores = spark.sparkContext.defaultParallelism
    discard(spark.range(0, cores, 1, cores).mapInArrow(idle, "id LONG"))


def discard(*frames: DataFrame) -> None:
    """Compute all rows of each frame and keep none."""
    for frame in frames:
        frame.write.format("noop").mode("overwrite").save()
