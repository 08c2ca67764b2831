"""What people who wait are told: that many queries are planned, or that kernels are compiled."""

from __future__ import annotations

import logging
import sys

from pyspark.sql import SparkSession

from sparkext.amounts import count
from sparkext.jvm.application import shows_progress
from sparkext.udfs.kernels.compiled import cache_directory

log = logging.getLogger(__name__)

MANY = 50
"""Queries whose planning takes long enough to be mentioned on the console."""

_has_looked = False


def say_planning(spark: SparkSession, queries: int) -> None:
    """Say that so many queries are being planned."""
    _say(spark, f"planning {count(queries, 'query', 'queries')}", queries >= MANY)


def say_compiling(spark: SparkSession) -> None:
    """Say that workers are about to compile kernels, if they are those of this machine and have never done so."""
    global _has_looked
    if _has_looked:
        return
    _has_looked = True
    is_here = (spark.sparkContext.master or "").startswith("local")
    if is_here and not _is_compiled():
        _say(spark, "compiling kernels, once on this machine; this takes up to a minute", True)


def _is_compiled() -> bool:
    """Whether this machine keeps the kernel of every pass. Numba makes the directories before it compiles anything."""
    place = cache_directory()
    return place is not None and any(place.glob("*/event_loop.*.nbi"))


def _say(spark: SparkSession, text: str, on_console: bool) -> None:
    """To the log, and where Spark shows the progress of its jobs."""
    log.info(text)
    if on_console and shows_progress(spark.sparkContext):
        print(f"sparkext: {text}", file=sys.stderr, flush=True)
