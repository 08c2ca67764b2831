"""Queries over a stream, as a streaming data frame of the results of all of them.

``source → key columns, time, class bits, attributes → events packed by bucket of keys → a bucket's state, which keeps
the events that rows to come may be about → rows of the windows, or of the events, that the watermark has passed``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.streams import DELAY
from sparkext.execution.compact_rows import compact_events, group_column, sql_texts
from sparkext.execution.source_pass import result_schema
from sparkext.execution.waiting import say_recomputed
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of, own_column
from sparkext.jvm.python_functions import map_in_arrow
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.query import Query, Window
from sparkext.sql.quoting import string
from sparkext.udfs.streams.bucket import StreamPlan
from sparkext.udfs.streams.combined_rows import combined_rows
from sparkext.udfs.streams.packs import PACKED, packed
from sparkext.udfs.streams.processor import OUTPUT, TrendProcessor, unpacked

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

METRICS = "sparkext_"
"""Beginning of the names of what is observed of a stream."""

VIEWS = "views"
"""Name of the metric that says which views an operator computes."""

_COUNTED = {
    "events": "sum(events)",
    "late": "sum(late)",
    "late_by_milliseconds": "max(lateness) DIV 1000",
    "kept": "sum(kept)",
    "state_bytes": "sum(size)",
    "computed": "sum(computed)",
    "windows_closed": "max(windows)",
    "rows": "sum(written)",
    "pages_read": "sum(pages_read)",
    "pages_written": "sum(pages_written)",
    "milliseconds": "sum(micros) DIV 1000",
    "kernel_milliseconds": "sum(kernel_micros) DIV 1000",
    "largest_bucket_events": "max(events)",
    "largest_bucket_milliseconds": "max(micros) DIV 1000",
}
"""What is observed, in SQL over the columns of what buckets write."""

_TRUE = "sqrt(rand(0)) < 2"
"""It is true, and another expression for each reader: in a micro-batch Spark gives each ``rand`` a seed of its own.

Else Spark would have one shuffle for two readers of an operator, so that only one of them is called, and the state of
the other is lost.
"""

_BUCKET = "bucket"
_HASH = "hash"


class StreamOperator:
    """Queries over a stream, as one operator with one state computes them.

    Attributes:
        written: What it writes.
        views: That are read of it, for people, by the names of metrics.
    """

    def __init__(self, source: AnalysedFrame, queries: Sequence[BoundQuery], plan: KernelPlan, buckets: int) -> None:
        """Of some queries.

        Args:
            source: The stream, with a watermark on the event time of the queries.
            queries: The queries.
            plan: What the kernel computes.
            buckets: Among how many buckets keys are divided.
        """
        first = queries[0]
        self._layout = Layout(len(first.groups), len(first.partitions))
        self._fields = plan.fields
        events, compact = compact_events(source, queries, sql_texts(queries), plan)
        keys = compact.keys
        self._schema = result_schema(events, self._layout, plan)
        hashed = columns_of(events, [f"{_hash(keys)} AS {_HASH}", "*"])
        divided = columns_of(hashed, [f"CAST(pmod({_HASH}, {buckets}L) AS INT) AS {_BUCKET}", "*"])
        packs = map_in_arrow(divided, packed(buckets, _first_task()), PACKED).where(own_column(_TRUE))
        of = StreamPlan(plan, self._layout, buckets, _meaning(queries, plan))
        for window in () if of.is_by_event else of.windows:
            say_recomputed(window)
        processor = cast("StatefulProcessor", TrendProcessor(of))
        written = packs.groupBy(_BUCKET).transformWithState(
            processor, OUTPUT, outputMode="Append", timeMode="EventTime"
        )
        self.written = AnalysedFrame.of(written)
        self.views: dict[str, str] = {}

    def results(self, name: str, views: str) -> AnalysedFrame:
        """The results, with the columns of `sparkext.execution.source_pass.run_pool`, for one of those that read them.

        Each reader has a state of its own; of those that are in one streaming query, metrics are of one.

        Args:
            name: By which metrics are found, behind `METRICS`; not that of another operator in a streaming query.
            views: That are read, for people.
        """
        observed = {**_COUNTED, VIEWS: f"max({string(views)})"}
        counted = self.written.observe(
            METRICS + name, *(own_column(f"{sql} AS {one}") for one, sql in observed.items())
        )
        hint = "concat('[TREND_STREAM_CHECKPOINT] The state in the checkpoint cannot be used: ', problem, '.')"
        is_right = f"results IS NOT NULL OR CASE WHEN problem IS NOT NULL THEN {_fails(hint)} ELSE false END"
        right = counted.where(own_column(is_right))
        rows = map_in_arrow(right.select("results"), unpacked, self._schema)
        layout = self._layout
        if not layout.other_keys:
            return rows
        groups = [group_column(index) for index in range(layout.group_keys)]
        together = rows.repartition(*groups) if groups else rows.repartition(1)
        return map_in_arrow(together, combined_rows(self._fields, layout.group_keys + 2), self._schema)


def with_event_time(rows: AnalysedFrame, query: BoundQuery) -> AnalysedFrame:
    """Rows of a query; over a stream ``window_end``, if it has windows, is an event time to what comes next."""
    if query.query.window is None or not query.source.is_stream:
        return rows
    return AnalysedFrame.of(rows.withMetadata("window_end", {DELAY: 0}))


def _fails(message: str) -> str:
    return f"CAST(raise_error({message}) AS BOOLEAN)"


def _hash(keys: Sequence[str]) -> str:
    """SQL of 64 bits that tell keys apart. Spark's hash leaves NULLs out, so it is said where they are."""
    if not keys:
        return "0L"
    parts = keys if len(keys) == 1 else [part for key in keys for part in (key, f"isnull({key})")]
    return f"xxhash64({', '.join(parts)})"


def _first_task() -> Callable[[], bool]:
    """Tells a task whether it is the first of its stage. It goes to the workers as it is, without this module."""

    def is_first() -> bool:
        from pyspark import TaskContext

        context = TaskContext.get()
        return context is not None and context.partitionId() == 0

    return is_first


def _meaning(queries: Sequence[BoundQuery], plan: KernelPlan) -> dict[str, str]:
    """What is computed, by the names that people have for it: state of other queries is of no use."""
    first = queries[0]
    keys = [f"{key.canonical} {key.type.simpleString()}" for key in first.sorted_groups]
    others = [f"{key.canonical} {key.type.simpleString()}" for key in first.sorted_partitions]
    order = [f"{first.time_canonical} {first.time_type.simpleString()}", *(text for text, _ in first.further_order)]
    steps = {f"{name}: {step.text}": None for query in queries for name, step in query.query.steps}
    shown = () if plan.completions is None else plan.completions.shown
    return {
        "PATTERN": "; ".join(_pattern(query.query) for query in queries),
        "WITHIN": "; ".join(_within(query.query.window) for query in queries),
        "the keys": ", ".join([*keys, "and below them", *others] if others else keys) or "none",
        "ORDER BY": ", ".join(order),
        "the classes of events": ", ".join(map(str, plan.classes)),
        "the conditions": ", ".join(steps) or "none",
        "the attributes": ", ".join(
            f"{one.attribute.text} {one.attribute.type} {one.encoding.value}" for one in plan.columns
        )
        or "none",
        "what is shown": ", ".join(f"{attribute.text} {attribute.type}" for attribute, _ in shown) or "nothing",
    }


def _pattern(query: Query) -> str:
    span = "" if query.span is None else f" SPAN {query.span} µs"
    wait = "" if query.wait is None else f" FOR {query.wait} µs"
    return query.selection.of(str(query.pattern)) + wait + span


def _within(window: Window | None) -> str:
    return "none" if window is None else f"{window.within} µs, SLIDE {window.slide} µs"
