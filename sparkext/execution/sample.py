"""What is seen of a source: a sample before a pass, counters after it."""

from __future__ import annotations

import itertools
import logging
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import BinaryType, StringType

from sparkext.binding.bound_query import BoundQuery, Key
from sparkext.binding.event_time import in_units, numbered
from sparkext.execution.compact_rows import class_columns, key_text, only_parts, sql_texts
from sparkext.execution.waiting import say_how_kernels_ran
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import selected
from sparkext.jvm.gateway import JvmError
from sparkext.jvm.spark_errors import was_cancelled
from sparkext.planner.amounts import count
from sparkext.planner.costs.statistics import ObservedStatistics
from sparkext.planner.errors import PlanningError
from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.planner.patterns.query import EventClass
from sparkext.sql.quoting import alone, one_line
from sparkext.udfs.tables.program import Floats
from sparkext.udfs.workers.counters import OF_PASS, OF_REGION, Report, ReportAccumulator, Reports

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
"""About how much of a source decides where to cut it by time. To choose that much from all over it, Spark reads the
times of all events."""

MOST_LOOKED_AT = 10_000
"""Rows in which types are looked for."""

MOST_KEYS = 63
"""Keys that a sample looks at for NULL."""

_FIRST_TIME = -(1 << 63)

_RANKS_PER_PART = 100
"""Accuracy of cuts: a part may have a hundredth more or less than its share of the sample."""


def sample(
    source: AnalysedFrame, queries: Sequence[BoundQuery], classes: Sequence[EventClass], rows: int
) -> ObservedStatistics | None:
    """What the first rows of a source show.

    Args:
        source: The source.
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
    if not rows or not classes or not all(name in _CHEAP for name in source.operators()):
        return None
    words = class_columns(classes, sql_texts(queries))
    keys = [key_text(key) for key in (*first.sorted_groups, *first.sorted_partitions)]
    nulls = [f"CASE WHEN ({key}) IS NULL THEN {1 << index}L ELSE 0L END" for index, key in enumerate(keys[:MOST_KEYS])]
    columns = {
        "key": f"xxhash64({', '.join(keys)})" if keys else "0L",
        "nulls": " | ".join(nulls) or "0L",
        "at": in_units(numbered(first.time, (), first.time_kind, first.time_type), first.time_kind),
        "width": _width((*first.sorted_groups, *first.sorted_partitions)),
        **words,
    }
    names = ", ".join(f"{text} AS {name}" for name, text in columns.items())
    parts = " AND ".join(["TRUE", *only_parts(queries)])
    # A limit at the top lets Spark begin with one task, and go on with more only while rows are missing.
    shown = selected(
        source, lambda rows: f"SELECT * FROM (SELECT {names} FROM {rows} WHERE {parts}) WHERE at IS NOT NULL"
    )
    taken = _taken(lambda: shown.take(rows))
    if not taken:
        return None
    # NumPy asks each row of PySpark's whether it is an array, and each answer takes as long as all of its numbers.
    numbers = np.fromiter(itertools.chain.from_iterable(taken), np.int64)
    key, null, time, width, *bits = numbers.reshape(len(taken), -1).T
    order = np.lexsort((time, key))
    new_key = np.diff(key[order]) != 0
    same = np.concatenate(([False], (np.diff(time[order]) == 0) & ~new_key, [False]))
    some_null = int(np.bitwise_or.reduce(null))
    span = np.diff(time[order].astype(np.float64))[~new_key].sum()
    events = {
        event: int(np.count_nonzero(bits[number // CLASSES_PER_WORD] & (1 << number % CLASSES_PER_WORD)))
        for number, event in enumerate(classes)
    }
    most = int(np.diff(np.flatnonzero([True, *new_key, True])).max())
    keys_seen = int(np.count_nonzero(new_key)) + 1
    return ObservedStatistics(
        events,
        keys_seen,
        int(span),
        f"sample of {count(len(taken), 'row', 'rows')}",
        most / len(taken),
        widest=int(width.max()),
        tied=float(np.count_nonzero(same[1:] | same[:-1])) / len(taken),
        null_keys=tuple(index for index in range(len(nulls)) if some_null & (1 << index)),
    )


@dataclass(frozen=True, slots=True)
class SeenTypes:
    """Types of events.

    Attributes:
        types: Sorted.
        are_all: Whether the source has no others.
    """

    types: list[str]
    are_all: bool


def types_seen(source: AnalysedFrame, query: BoundQuery, type_by: str) -> SeenTypes | None:
    """Types that the first rows of a source have.

    Args:
        source: The source.
        query: That reads it.
        type_by: Canonical text of its TYPE BY.

    Returns:
        None when the source must be computed whole for some of its rows.
    """
    if not all(name in _CHEAP for name in source.operators()):
        return None
    text = alone(query.expressions[type_by])
    taken = _taken(lambda: _parts(source, [query]).selectExpr(f"CAST({text} AS STRING) AS type").take(MOST_LOOKED_AT))
    return SeenTypes(sorted({row.type for row in taken if row.type is not None}), len(taken) < MOST_LOOKED_AT)


def time_cuts(source: AnalysedFrame, queries: Sequence[BoundQuery], parts: int) -> tuple[int, ...] | None:
    """Times that cut the events of a source into parts of about the same size, by a sample from all over it.

    Args:
        source: The source.
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
    some = _parts(source, queries).sample(min(1.0, _CUT_BY_BYTES / max(1, source.size_in_bytes)), 0)
    ranks = f"percentile_approx({time}, array({shares}), {_RANKS_PER_PART * parts}) AS cuts"
    cuts = selected(some, lambda rows: f"SELECT {ranks} FROM {rows}")
    times = next((row.cuts for row in _taken(cuts.collect)), None)
    return None if times is None else tuple(sorted(cut for cut in set(times) if cut > _FIRST_TIME))


def _parts(source: AnalysedFrame, queries: Sequence[BoundQuery]) -> DataFrame:
    """The rows of a source that any of the queries of a pool reads."""
    condition = " AND ".join(["TRUE", *only_parts(queries)])
    return selected(source, lambda rows: f"SELECT * FROM {rows} WHERE {condition}")


def _width(keys: Sequence[Key]) -> str:
    """SQL of the bytes that the texts of an event's keys have."""
    texts = [key.text for key in keys if isinstance(key.type, StringType | BinaryType)]
    return " + ".join(["0L", *(f"coalesce(octet_length({alone(text)}), 0)" for text in texts)])


def _taken(take: Callable[[], list[Row]]) -> list[Row]:
    """Rows that Spark reads; none when an expression fails."""
    try:
        return take()
    except (PySparkException, JvmError) as error:
        if was_cancelled(error):
            raise PlanningError("TREND_CANCELLED", 0, 0) from None
        log.info("no sample of the source: %s", one_line(error))
        return []


def counted(classes: Sequence[EventClass], totals: Floats, nulls: int = 0) -> ObservedStatistics | None:
    """What tasks have reported, see `sparkext.udfs.workers.counters.Counters.totals`; None before any has.

    Args:
        classes: Of the plan.
        totals: What has been reported, added up.
        nulls: How many keys have been looked at for NULL.
    """
    numbers, (keys, span) = totals[: 2 * len(classes)], totals[2 * len(classes) : 2 * len(classes) + 2]
    if not keys:
        return None
    events = {event: int(number) for event, number in zip(classes, numbers[: len(classes)], strict=True)}
    runs = {event: float(number) for event, number in zip(classes, numbers[len(classes) :], strict=True)}
    of_keys = totals[len(totals) - OF_PASS - nulls : len(totals) - OF_PASS]
    rows, tied = totals[-2:]
    return ObservedStatistics(
        events,
        int(keys),
        int(span),
        "counted",
        runs=runs,
        tied=float(tied) / max(1.0, float(rows)),
        null_keys=tuple(np.flatnonzero(of_keys).tolist()),
    )


class TaskCounters:
    """Adds up what the tasks of a run report.

    A task that Spark repeats, since its executor was lost, may be counted again with all of its events and keys.
    What is made of the numbers, events in a group and window, hardly changes by that.

    Attributes:
        heard_at: When a task has reported last, in seconds since 1970; None before any has.
    """

    def __init__(self, spark: SparkSession, classes: Sequence[EventClass], regions: int, keys: int) -> None:
        """Nothing is counted as yet.

        Args:
            spark: The session.
            classes: Of the plan.
            regions: How many the plan has.
            keys: How many the pool has.
        """
        self._classes = tuple(classes)
        self._keys = keys
        self._total = np.zeros(2 * len(classes) + 2 + regions * OF_REGION + keys + OF_PASS)
        self._then: Callable[[], object] | None = None
        self._reports = 0
        self.heard_at: float | None = None
        self._has_heard_all = False
        self._at_last: tuple[int, Callable[[ObservedStatistics], object]] | None = None
        self._number = next(_numbers)
        self._accumulator = _accumulator(spark)
        _listening[self._number] = self

    @property
    def report(self) -> Callable[[Floats], object]:
        """What a task is given to report to."""
        return Report(self._accumulator, self._number)

    def hear(self, totals: Floats) -> None:
        """Add what a task has counted."""
        self._total = self._total + totals
        self._reports += 1
        self.heard_at = time.time()
        say_how_kernels_ran(int(totals[1 - OF_PASS]), bool(totals[2 - OF_PASS]))
        if self._then is not None:
            self._then()
        if self._at_last is not None and self._reports == self._at_last[0]:
            self._end()

    def hear_nothing(self) -> None:
        """Take note that no task was run, as Spark has found out that there are no events."""
        if not self._reports:
            self.heard_at = self.heard_at or time.time()
            self._end()

    def _end(self) -> None:
        if self._at_last is not None and not self._has_heard_all:
            self._has_heard_all = True
            nothing = ObservedStatistics(dict.fromkeys(self._classes, 0), 0, 0, "counted")
            self._at_last[1](self.seen() or nothing)

    @property
    def has_heard(self) -> bool:
        """Whether any task has reported."""
        return self._reports > 0

    def when_heard(self, then: Callable[[], object]) -> None:
        """Say what to do whenever a task has reported, in another thread."""
        self._then = then

    def when_all_heard(self, parts: int, then: Callable[[ObservedStatistics], object]) -> None:
        """Say what to do with what has been counted once so many tasks have reported, in another thread."""
        self._at_last = parts, then

    def seen(self) -> ObservedStatistics | None:
        """What has been counted; None before anything has."""
        return counted(self._classes, self._total, self._keys)

    def bursts(self) -> list[tuple[int, int, int]]:
        """Per region of the plan, bursts for which there was a choice, how many were shared, and their events."""
        end = len(self._total) - OF_PASS - self._keys
        of_regions = self._total[2 * len(self._classes) + 2 : end].astype(np.int64)
        return [(int(bursts), int(shared), int(events)) for bursts, shared, events in of_regions.reshape(-1, OF_REGION)]

    def events(self) -> int:
        """How many events the tasks have processed."""
        return int(self._total[-2])

    def by_fallback(self) -> int:
        """How many events the tasks have processed by the fallback of their plan."""
        return int(self._total[-OF_PASS])

    def interpreted(self) -> int:
        """How many events they have processed by kernels that were yet to be compiled."""
        return int(self._total[1 - OF_PASS])


_numbers = itertools.count(1)
_listening: weakref.WeakValueDictionary[int, TaskCounters] = weakref.WeakValueDictionary()
"""By number, what tasks may report to."""

_accumulators: weakref.WeakKeyDictionary[SparkContext, Accumulator[Reports]] = weakref.WeakKeyDictionary()
"""One for each application, since PySpark never forgets any."""


class _Heard(ReportAccumulator):
    """On the driver, hands the reports of tasks on, and keeps nothing."""

    def addInPlace(self, value1: Reports, value2: Reports) -> Reports:  # noqa: N802 - Spark calls it so
        """What is kept: nothing."""
        for number, totals in value2.items():
            counted = _listening.get(number)
            if counted is not None:
                counted.hear(totals)
        return value1

    def __reduce__(self) -> tuple[type[ReportAccumulator], tuple[()]]:
        return ReportAccumulator, ()


def _accumulator(spark: SparkSession) -> Accumulator[Reports]:
    context = spark.sparkContext
    if context not in _accumulators:
        how = cast("AccumulatorParam[Reports]", _Heard())
        _accumulators[context] = context.accumulator({}, how)
    return _accumulators[context]
