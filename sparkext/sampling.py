"""What is seen of a source: a sample before a pass, counters after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from planner.errors import PlanningError
from planner.kernel_plan import CLASSES_PER_WORD
from planner.query import EventClass
from planner.statistics import Seen
from sparkext.bound_query import BoundQuery
from sparkext.event_time import in_units, numbered
from sparkext.pipeline import class_columns, key_text, only_parts, sql_texts
from sparkext.source import operators
from sparkext.tasks import source_bytes
from udfs.counters import Added
from udfs.order_keys import as_int64
from udfs.program import Floats

log = logging.getLogger(__name__)

_CHEAP = frozenset(
    (
        "Filter",
        "Generate",
        "HiveTableRelation",
        "InMemoryRelation",
        "LocalRelation",
        "LogicalRDD",
        "LogicalRelation",
        "Project",
        "Range",
        "Relation",
        "RelationV2",
        "Sample",
        "Union",
    )
)
"""Operators of which some rows can be had without computing all."""

_CUT_BY_BYTES = 1 << 20
"""About how much of a source is looked at to cut it by time."""

_FIRST_TIME = -(1 << 63)

_RANKS_PER_PART = 100
"""Accuracy of cuts: a part may have a hundredth more or less than its share of the sample."""


def sample(queries: Sequence[BoundQuery], classes: Sequence[EventClass], rows: int) -> Seen | None:
    """What the first rows of a source show.

    Args:
        queries: Of one pool, that ``classes`` are from.
        classes: To be counted.
        rows: How many rows are read at most.

    Returns:
        None when the source has no rows, when it must be computed whole for some of them, or when its
        expressions fail on them; they will fail again, with a message, when the pass is made.

    Raises:
        PlanningError: ``TREND_CANCELLED``.
    """
    first = queries[0]
    if not rows or not classes or not all(name in _CHEAP for name in operators(first.source)):
        return None
    words = class_columns(classes, sql_texts(queries))
    keys = [key_text(key) for key in (*first.sorted_groups, *first.sorted_partitions)]
    columns = {
        "key": f"xxhash64({', '.join(keys)})" if keys else "0L",
        "time": numbered(first.time, (), first.time_kind, first.time_type),
        **words,
    }
    read = _read(_source(queries).limit(rows).selectExpr(*(f"{text} AS {name}" for name, text in columns.items())))
    read = None if read is None else read.filter(read["time"].is_valid())
    if read is None or not read.num_rows:
        return None
    key, time = (as_int64(read[name].combine_chunks()) for name in ("key", "time"))
    order = np.lexsort((time, key))
    new_key = np.diff(key[order]) != 0
    span = np.diff(time[order].astype(np.float64))[~new_key].sum()
    bits = [as_int64(read[name].combine_chunks()) for name in words]
    events = {
        event: int(np.count_nonzero(bits[place // CLASSES_PER_WORD] & (1 << place % CLASSES_PER_WORD)))
        for place, event in enumerate(classes)
    }
    most = int(np.diff(np.flatnonzero([True, *new_key, True])).max())
    keys_seen = int(np.count_nonzero(new_key)) + 1
    return Seen(events, keys_seen, int(span), f"sample of {read.num_rows} rows", most / read.num_rows)


def time_cuts(queries: Sequence[BoundQuery], parts: int) -> tuple[int, ...] | None:
    """Times that cut the events of a source into parts of about the same size, by a sample from all over it.

    Args:
        queries: Of one pool.
        parts: How many there are to be; there may be fewer.

    Returns:
        The first time of each part but the first, as the kernel counts it, ascending. None when the sample has no
        rows, or when the time fails on them; it will fail again, with a message, when the pass is made.

    Raises:
        PlanningError: ``TREND_CANCELLED``.
    """
    first = queries[0]
    time = in_units(f"({first.time})", first.time_kind)
    shares = ", ".join(f"{part / parts!r}D" for part in range(1, parts))
    if not shares:
        return ()
    some = _source(queries).sample(min(1.0, _CUT_BY_BYTES / max(1, source_bytes(first.source))), 0)
    read = _read(some.selectExpr(f"percentile_approx({time}, array({shares}), {_RANKS_PER_PART * parts}) AS cuts"))
    found = None if read is None else read["cuts"][0].as_py()
    return None if found is None else tuple(sorted(cut for cut in set(found) if cut > _FIRST_TIME))


def _source(queries: Sequence[BoundQuery]) -> DataFrame:
    """The rows that any of the queries of a pool reads."""
    return queries[0].source.where(" AND ".join(["TRUE", *only_parts(queries)]))


def _read(rows: DataFrame) -> pa.Table | None:
    """What Spark reads; None when an expression fails."""
    try:
        return rows.toArrow()
    except (PySparkException, Py4JError) as error:
        if "[SPARK_JOB_CANCELLED]" in str(error):
            raise PlanningError("TREND_CANCELLED", 0, 0) from None
        log.info("no sample of the source: %s", error)
        return None


class _Heard(Added):
    """Adds up, on the driver, and tells of each report. Tasks have the plain one."""

    def __init__(self) -> None:
        self.then: Callable[[], object] | None = None

    def addInPlace(self, value1: Floats, value2: Floats) -> Floats:  # noqa: N802 - Spark calls it so
        """The sum."""
        if self.then is not None:
            self.then()
        return super().addInPlace(value1, value2)

    def __reduce__(self) -> tuple[type[Added], tuple[()]]:
        return Added, ()


class Counted:
    """Adds up what the tasks of a run report.

    A task that Spark repeats, since its executor was lost, may be counted again with all of its events and keys.
    What is made of the numbers, events in a group and window, hardly changes by that.
    """

    def __init__(self, spark: SparkSession, classes: Sequence[EventClass]) -> None:
        self._classes = tuple(classes)
        self._heard = _Heard()
        how = cast("AccumulatorParam[Any]", self._heard)
        self._total = spark.sparkContext.accumulator(np.zeros(len(classes) + 3), how)

    @property
    def report(self) -> Callable[[Floats], object]:
        """What a task is given to report to."""
        return self._total.add

    def when_heard(self, then: Callable[[], object]) -> None:
        """Say what to do whenever a task has reported, in another thread."""
        self._heard.then = then

    def seen(self) -> Seen | None:
        """What has been counted; None before anything has."""
        *events, keys, span, _ = self._total.value
        if not keys:
            return None
        counts = {event: int(number) for event, number in zip(self._classes, events, strict=True)}
        return Seen(counts, int(keys), int(span), "counted")

    def by_fallback(self) -> int:
        """How many events the tasks have processed by the fallback of their plan."""
        return int(self._total.value[-1])
