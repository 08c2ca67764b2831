"""What people are told: that many queries are planned, how kernels run, and that there are no events of some type."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable

from pyspark.sql import SparkSession

from sparkext.jvm.application import shows_progress
from sparkext.planner.amounts import count
from sparkext.planner.patterns.query import EventClass
from sparkext.udfs.jit.compiled import cache_directory

log = logging.getLogger(__name__)

MANY = 50
"""Queries whose planning takes long enough to be mentioned on the console."""

_has_looked = False
_told: set[str] = set()


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
        _say(spark, "compiling kernels, once on this machine; until then queries run more slowly", True)


def say_how_kernels_ran(interpreted: int, alone: bool) -> None:
    """Say, once, that a task has run kernels that were yet to be compiled, or had to compile them for itself.

    Args:
        interpreted: Events that it has processed interpreted.
        alone: Whether it had to compile for itself.
    """
    if interpreted and "interpreted" not in _told:
        _told.add("interpreted")
        log.info("kernels are not compiled yet where tasks run: events are interpreted until a process has done so")
    if alone and "alone" not in _told:
        _told.add("alone")
        log.warning(
            "kernels cannot be kept where tasks run, so that each Python worker compiles them for itself; "
            "see 'Where kernels are kept' in docs/cluster.md"
        )


def say_missing(name: str, events: Iterable[EventClass]) -> None:
    """Say, once for each type, that a pass has found no events of it, and that a query has no trends therefore.

    Args:
        name: Of the pass.
        events: Classes without a condition.
    """
    types = [str(event) for event in events if f"no {event}" not in _told]
    _told.update(f"no {one}" for one in types)
    if types:
        log.warning(
            "%s: no event of the source has the type %s, so a query that needs one has no trends; is it misspelt?",
            name,
            " or ".join(types),
        )


def _is_compiled() -> bool:
    """Whether this machine keeps a kernel; the file of a variant is empty until it is compiled."""
    directory = cache_directory()
    return directory is not None and any(file.stat().st_size for file in directory.glob("*.variant"))


def _say(spark: SparkSession, text: str, on_console: bool) -> None:
    """To the log, and where Spark shows the progress of its jobs."""
    log.info(text)
    if on_console and shows_progress(spark.sparkContext):
        print(f"sparkext: {text}", file=sys.stderr, flush=True)
