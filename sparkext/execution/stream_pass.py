"""Queries over a stream, as a streaming data frame of the results of all of them.

``source → key columns, time, class bits, attributes → events packed by bucket of keys → a bucket's state, which keeps
the events that rows to come may be about → rows of the windows, or of the events, that the watermark has passed``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from pyspark.sql.types import LongType, StructField, StructType

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.column_metadata import DELAY
from sparkext.execution.arrow_schemas import arrow_schema
from sparkext.execution.compact_rows import TIME, compact_events, group_column, sql_texts
from sparkext.execution.source_pass import result_schema
from sparkext.execution.stream_history import StreamHistory
from sparkext.execution.stream_meaning import meaning_of, orders_of, stream_queries
from sparkext.execution.waiting import say_recomputed
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of, own_column
from sparkext.jvm.plans import plan_text
from sparkext.jvm.python_functions import map_in_arrow
from sparkext.planner.kernel_plan.event_form import event_form, needs_of
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.kernel_plan.result_columns import beside_column, field_column
from sparkext.sql.quoting import alone as as_expression
from sparkext.sql.quoting import string
from sparkext.udfs.streams.carrying import carried_windows
from sparkext.udfs.streams.combined_rows import combined_rows
from sparkext.udfs.streams.counts_beside import CountBeside, counts_beside
from sparkext.udfs.streams.late_rows import LATE_BY, beside_combined
from sparkext.udfs.streams.packs import PACKED, packed
from sparkext.udfs.streams.processor import OUTPUT, TrendProcessor, unpacked
from sparkext.udfs.streams.stream_plan import StreamPlan

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

_WATERMARK = "EventTimeWatermark"
_BUCKET = "bucket"
_HASH = "hash"


class StreamOperator:
    """Queries over a stream, as one operator with one state computes them.

    Attributes:
        written: What it writes.
        views: That are read of it, for people, by the names of metrics.
    """

    def __init__(
        self,
        source: AnalysedFrame,
        queries: Sequence[BoundQuery],
        plan: KernelPlan,
        alone: Sequence[KernelPlan],
        buckets: int,
        on_change: str,
        history: StreamHistory | None = None,
        has_late: bool = False,
    ) -> None:
        """Of some queries.

        Args:
            source: The stream, with a watermark on the event time of the queries.
            queries: The queries.
            plan: What the kernel computes.
            alone: Per query, a plan of it alone.
            buckets: Among how many buckets keys are divided.
            on_change: What becomes of the state of other queries; see `StreamPlan`.
            history: Events from before the stream.
            has_late: Whether there is a row for each late event, too.
        """
        first = queries[0]
        self._layout = Layout(len(first.groups), len(first.partitions))
        self._fields = plan.fields
        self._beside = _counts_beside(queries, plan)
        compact, events = _hashed_events(source, queries, plan)
        self._schema = result_schema(compact, self._layout, plan)
        self._has_late = has_late
        if has_late:
            self._schema.add(LATE_BY, LongType())
        of = StreamPlan(
            plan,
            self._layout,
            buckets,
            meaning_of(first),
            tuple(stream_queries(queries, plan, alone)),
            event_form(plan, orders_of(first)),
            needs_of(plan, orders_of(first)),
            arrow_schema(events.schema),
            _ahead(source, first),
            on_change,
            None if history is None else history.since,
            arrow_schema(self._schema) if has_late else None,
        )
        carried = carried_windows(plan)
        for window in () if of.is_by_event else of.windows:
            say_recomputed(window, window in carried)
        packs = _packs_of(events, buckets).where(own_column(_TRUE))
        before = None
        if history is not None:
            needed = f"{TIME} >= timestamp_micros({of.needed_from(history.since)}L)"
            _, earlier = _hashed_events(history.events, queries, plan)
            is_before = own_column(f"{needed} AND {TIME} < timestamp_micros({history.since}L)")
            earlier = AnalysedFrame.of(earlier.where(is_before))
            before = _packs_of(earlier, buckets).groupBy(_BUCKET)
        processor = cast("StatefulProcessor", TrendProcessor(of))
        written = packs.groupBy(_BUCKET).transformWithState(
            processor, OUTPUT, outputMode="Append", timeMode="EventTime", initialState=before
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
        if layout.other_keys:
            groups = [group_column(index) for index in range(layout.group_keys)]
            together = rows.repartition(*groups) if groups else rows.repartition(1)
            combine = combined_rows(self._fields, layout.group_keys + 2)
            combine = beside_combined(combine, layout.group_keys) if self._has_late else combine
            rows = map_in_arrow(together, combine, self._schema)
        if not self._beside:
            return rows
        schema = StructType([*self._schema.fields, *(StructField(one.name, LongType()) for one in self._beside)])
        return map_in_arrow(rows, counts_beside(self._beside, layout.group_keys), schema)


def _counts_beside(queries: Sequence[BoundQuery], plan: KernelPlan) -> list[CountBeside]:
    """What queries count once that have aggregates over all trends as well, whose rows are those of another bank."""
    return [
        CountBeside(beside_column(result.counted_in, index), result.counted_in, field_column(field, plan.fields[field]))
        for query, result in zip(queries, plan.results, strict=True)
        if result.counted_in is not None and query.query.aggregates
        for index, field in enumerate(result.counted)
    ]


def _hashed_events(
    source: AnalysedFrame, queries: Sequence[BoundQuery], plan: KernelPlan
) -> tuple[AnalysedFrame, AnalysedFrame]:
    """What a pass reads of each event, and that behind a hash of its keys, as a bucket keeps it."""
    events, compact = compact_events(source, queries, sql_texts(queries), plan)
    return events, columns_of(events, [f"{_hash(compact.keys)} AS {_HASH}", "*"])


def _packs_of(events: AnalysedFrame, buckets: int) -> AnalysedFrame:
    """Events, one row for each task and bucket."""
    divided = columns_of(events, [f"CAST(pmod({_HASH}, {buckets}L) AS INT) AS {_BUCKET}", "*"])
    return map_in_arrow(divided, packed(buckets, _first_task()), PACKED)


def with_event_time(rows: AnalysedFrame, query: BoundQuery) -> AnalysedFrame:
    """Rows of a query; over a stream ``window_end``, if it has windows, is an event time to what comes next."""
    if query.query.window is None or not query.source.is_stream:
        return rows
    return AnalysedFrame.of(rows.withMetadata("window_end", {DELAY: 0}))


def _ahead(source: AnalysedFrame, query: BoundQuery) -> int | None:
    """How much later than the watermark an event that has come may be, in microseconds; None if that is not known.

    Spark's watermark is in whole milliseconds.
    """
    if plan_text(source.analysed_plan).count(_WATERMARK) > 1:
        return None
    delay = source.select(own_column(as_expression(query.time))).schema.fields[0].metadata[DELAY]
    return 1000 * int(delay) + 999


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
