"""One pass over the source of a pool, as a data frame of partial or final results.

``source → key columns, time, class bits, attributes → rows that some query can use → one partition
per key → a worker, which sorts them by key and time → kernel → one row per group, bank and window``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.event_time import TimeKind, in_units
from sparkext.binding.orders import has_known_order
from sparkext.binding.trend_ends import held_type
from sparkext.execution.combine_groups import combine_groups
from sparkext.execution.compact_rows import TIME, CompactRows, compact_events, compact_rows, group_column, sql_texts
from sparkext.execution.partition_keys import part_of, spread
from sparkext.execution.task_count import parts_of_result
from sparkext.execution.time_chunks import by_chunk, chunk_length, chunks_of, overlap
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import columns_of, own_column, selected, selected_by_one_task, sorted_within_partitions
from sparkext.jvm.python_functions import map_in_arrow
from sparkext.planner.kernel_plan.kernel_plan import (
    Arithmetic,
    KernelPlan,
    Layout,
    ShownColumn,
)
from sparkext.planner.kernel_plan.result_columns import BEYOND, DOUBLE, EXACT, MATRIX, NUMBER, SCALE, field_column
from sparkext.udfs.sorting.sorted_events import MOST_BYTES, Sort
from sparkext.udfs.tables.program import Floats
from sparkext.udfs.workers.match_run import MatchRun
from sparkext.udfs.workers.pool_run import pool_kernel
from sparkext.udfs.workers.stretches import StretchRun, merged
from sparkext.udfs.workers.window_by_window import completion_run

_CHUNK = "chunk"
_FIRST = "first"


@dataclass(frozen=True, slots=True)
class Division:
    """How the events of a pass are divided among tasks.

    Attributes:
        tasks: How many partitions there are.
        by_chunks: Whether keys are to be cut into chunks of time, if that is possible. Those of a stretched plan are
            cut into stretches in any case.
        cuts: Where to cut all events into stretches, if the plan is a stretched one: the first time of each but the
            first, ascending. None to leave it to Spark, which evaluates all events once more for it.
        is_small: Whether there is so little that the one task reads the source, too.
        is_whole: Whether that task also combines the results of each group, which it holds for it.
        sorts_itself: Whether a task sorts its events in the Python worker, where it can; else Spark does.
    """

    tasks: int
    by_chunks: bool
    cuts: tuple[int, ...] | None
    is_small: bool = False
    is_whole: bool = False
    sorts_itself: bool = True


def run_pool(
    source: AnalysedFrame,
    queries: Sequence[BoundQuery],
    plan: KernelPlan,
    division: Division,
    report: Callable[[Floats], object],
    name: str,
) -> AnalysedFrame:
    """Results of all ``queries``, which are of one pool, as `KernelPlan.results` says.

    The columns are the group keys, ``bank``, ``window`` and those of `result_columns`. Nothing is run yet.
    When it is, each task gives ``report`` what it has counted.

    Args:
        source: That they read, as it is now.
        queries: The queries.
        plan: What the kernel computes.
        division: How events are divided among tasks.
        report: What a task reports to.
        name: By which plans call what is computed.
    """
    first = queries[0]
    texts = sql_texts(queries)
    tasks = division.tasks
    parts = parts_of_result(source.sparkSession, tasks, len(queries)) if tasks > 1 else None
    chunk = _chunk(first, plan, division)
    layout = Layout(len(first.groups), len(first.partitions), chunk)
    groups = [group_column(index) for index in range(layout.group_keys)]
    run_of = completion_run if plan.completions is not None else None if plan.matches is None else MatchRun
    if division.is_small and chunk is None:
        is_whole = division.is_whole and layout.other_keys > 0
        compact = compact_rows(source, queries, texts, plan)
        events = _with_ranks(selected_by_one_task(source, compact.text), compact)
        schema = result_schema(events, layout, plan)
        sort = _sort(events, plan, division)
        if sort is None:
            in_front = (
                _hash(groups, compact.keys) if compact.keys and not is_whole else None
            )  # by it, groups may alternate
            events = _in_order(events, compact.keys, in_front, compact.further_order)
        kernel = pool_kernel(plan, layout, report, run_of, name, is_whole, sort)
        partial = map_in_arrow(events, kernel, schema)
        return combine_groups(partial, groups, plan.fields, parts) if layout.other_keys and not is_whole else partial
    events, compact = compact_events(source, queries, texts, plan)
    events, keys = _with_ranks(events, compact), compact.keys
    in_front = _hash(groups, keys) if keys else None
    # Where a source is partitioned by just the keys, Spark takes this shuffle away, and then may put together, split or
    # ignore the partitions or buckets of the source, as nothing asks for them any more. By one more constant it is not.
    together: Sequence[Column | str] = [*keys, own_column("0")]
    if chunk is not None:
        shared = overlap(plan.windows)
        number = f"explode({chunks_of(TIME, chunk, shared, first.time_kind)}) AS {_CHUNK}"
        events = columns_of(events, [*keys, number, *events.columns[len(keys) :]])
        in_front = in_front or by_chunk(TIME, _CHUNK, shared, first.time_kind)
        of_key = f"CAST(hash({', '.join(keys)}) AS BIGINT) + {_CHUNK}" if keys else _CHUNK
        together = [own_column(spread(source.sparkSession, of_key, tasks))]
        keys = [*keys, _CHUNK]
    schema = result_schema(events, layout, plan)
    sort = _sort(events, plan, division)
    if plan.is_stretched:
        stretches = _in_stretches(events, keys, division, first.time_kind)
        with_matrices = StructType([*schema, StructField(MATRIX, BinaryType())])
        kernel = pool_kernel(plan, layout, report, StretchRun, name=name, sort=sort)
        ordered: DataFrame = stretches if sort is not None else sorted_within_partitions(stretches, [*keys, TIME])
        done = map_in_arrow(ordered, kernel, with_matrices)
        by_group = done.repartition(tasks, *groups) if groups else done.repartition(1)
        partial = map_in_arrow(by_group, merged(plan, layout), schema)
    else:
        whole: DataFrame = events.repartition(tasks, *together) if keys else events.repartition(1)
        ordered = whole if sort is not None else _in_order(whole, keys, in_front, compact.further_order)
        partial = map_in_arrow(ordered, pool_kernel(plan, layout, report, run_of, name, sort=sort), schema)
    return combine_groups(partial, groups, plan.fields, parts) if layout.other_keys else partial


def number_of_parts(first: BoundQuery, plan: KernelPlan, division: Division) -> int | None:
    """How many tasks process the events of a pass, and report what they have counted; None if Spark decides that."""
    if plan.is_stretched:
        return None if division.cuts is None else division.tasks
    has_keys = first.groups or first.partitions or _chunk(first, plan, division) is not None
    return division.tasks if has_keys else 1


def _chunk(first: BoundQuery, plan: KernelPlan, division: Division) -> int | None:
    """Length of the chunks that keys are cut into, if they are; trends with a span reach into windows before."""
    return chunk_length(plan.windows, first.time_type) if division.by_chunks and not plan.spans else None


def _in_stretches(events: DataFrame, keys: Sequence[str], division: Division, kind: TimeKind) -> DataFrame:
    """``events`` by ``keys`` and time, of which each task has a part."""
    if division.cuts is None:
        return events.repartitionByRange(division.tasks, *keys, TIME)
    part = part_of(in_units(TIME, kind), division.cuts)
    return events.repartition(division.tasks, own_column(spread(events.sparkSession, part, division.tasks)))


def _sort(events: DataFrame, plan: KernelPlan, division: Division) -> Sort | None:
    """How tasks sort ``events``; None if Spark is asked to."""
    asked = plan.completions
    orders, shown = (0, 0) if asked is None else (asked.orders, len(asked.shown))
    first = len(events.columns) - orders - shown
    if not division.sorts_itself:
        return None
    return Sort(tuple(range(first, first + orders)), MOST_BYTES, by_value=plan.is_stretched)


def _with_ranks(events: AnalysedFrame, compact: CompactRows) -> AnalysedFrame:
    """``events``, ordered by ranks of Spark's where workers do not know the order of a type, as of collated texts."""
    unknown = {
        field.name
        for field in events.schema.fields
        if field.name in compact.further_order and not has_known_order(field.dataType)
    }
    if not unknown:
        return events
    together = ", ".join([*compact.keys, TIME])
    ranks = {name: f"dense_rank() OVER (PARTITION BY {together} ORDER BY {name}) AS {name}" for name in unknown}
    return columns_of(events, [ranks.get(name, name) for name in compact.columns])


def _hash(groups: Sequence[str], keys: Sequence[str]) -> str:
    """SQL of 64 bits, the lower half of which is a hash of ``keys``, and the upper one of the ``groups`` among them.

    Sorted by it, groups whose hashes are equal may alternate, each of which is then written more than once.
    """
    high = f"hash({', '.join(groups)})" if groups else "0"
    return f"shiftleft(CAST({high} AS BIGINT), 32) | (CAST(hash({', '.join(keys)}) AS BIGINT) & {0xFFFFFFFF}L)"


def _in_order(events: DataFrame, keys: Sequence[str], first: str | None, further: Sequence[str]) -> AnalysedFrame:
    """The ``events`` of each task sorted by Spark: by ``keys``, time and ``further`` columns.

    They come after ``first``, SQL of 64 bits, if there is any.

    Spark compares whole rows, each of which is somewhere else in memory, unless the 64 bits that it keeps of the first
    column decide. Sorted by a hash first, rows of a million keys took 60 % of the time.
    """
    order = ", ".join([*keys, TIME, *further])
    if first is None:
        return selected(events, lambda rows: f"SELECT * FROM {rows} SORT BY {order}")
    columns = ", ".join(events.columns)
    ordered = f"SORT BY {_FIRST}, {order}"
    return selected(events, lambda rows: f"SELECT {columns} FROM (SELECT {first} AS {_FIRST}, * FROM {rows} {ordered})")


def result_schema(events: DataFrame, layout: Layout, plan: KernelPlan) -> StructType:
    """Types of the rows that the kernel writes."""
    fields = list(events.schema.fields[: layout.group_keys])
    fields += [StructField("bank", IntegerType()), StructField("window", LongType())]
    asked = plan.completions
    beside = 0 if asked is None else asked.orders + len(asked.shown)
    first_attribute = len(events.schema.fields) - len(plan.columns) - beside
    kinds = {
        (column.encoding, column.attribute.type): events.schema.fields[first_attribute + index].dataType
        for index, column in enumerate(plan.columns)
    }
    for number, field in enumerate(plan.fields):
        kind: DataType
        match field.arithmetic:
            case Arithmetic.EXACT:
                kind = LongType()
            case Arithmetic.NUMBER:
                kind = DoubleType()
            case Arithmetic.EXTREME:
                assert field.encoding is not None
                assert field.type is not None
                # Differences need not be of any column's type.
                kind = kinds.get((field.encoding, field.type)) or held_type(field.type)
        fields.append(StructField(field_column(number, field), kind))
    beyond = StructType(
        [
            StructField(EXACT, DecimalType(38, 0)),
            StructField(DOUBLE, DoubleType()),
            StructField(NUMBER, DoubleType()),
            StructField(SCALE, LongType()),
        ]
    )
    shown = [] if asked is None else [_slot(slot, events, len(asked.shown)) for slot in asked.slots]
    return StructType([*fields, StructField(BEYOND, MapType(IntegerType(), beyond)), *shown])


def _slot(slot: ShownColumn, events: DataFrame, shown: int) -> StructField:
    """The column of what completions show."""
    if slot.column is None:
        return StructField(slot.name, StringType())
    kind = events.schema.fields[len(events.schema.fields) - shown + slot.column].dataType
    return StructField(slot.name, ArrayType(kind) if slot.is_list else kind)
