"""One pass over the source of a pool, as a data frame of partial or final results.

``source → key columns, time, class bits, attributes → rows that some query can use → one partition
per key → sorted by key and time → kernel → one row per group, bank and window``
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StructField,
    StructType,
)

from sparkext.binding.bound_query import BoundQuery, Key
from sparkext.binding.event_time import TimeKind, in_units, numbered
from sparkext.binding.trend_ends import as_double, as_number, held_type
from sparkext.execution.combine_groups import combine_groups
from sparkext.execution.partition_keys import part_of, spread
from sparkext.execution.time_chunks import by_chunk, chunk_length, chunks_of, overlap
from sparkext.jvm.frames import map_in_arrow, selected, sorted_within_partitions
from sparkext.jvm.plans import is_stream
from sparkext.planner.compiler.kernel_plan import (
    CLASSES_PER_WORD,
    Arithmetic,
    Comparison,
    Encoding,
    KernelPlan,
    Layout,
    class_words,
)
from sparkext.planner.compiler.kernel_plan import (
    Column as EventColumn,
)
from sparkext.planner.compiler.result_columns import BEYOND, DOUBLE, EXACT, MATRIX, NUMBER, SCALE, field_column
from sparkext.planner.patterns.query import EventClass
from sparkext.sql.quoting import alone, string
from sparkext.udfs.state.program import Floats
from sparkext.udfs.workers.matches import MatchRun
from sparkext.udfs.workers.run import pool_kernel
from sparkext.udfs.workers.stretches import StretchRun, merged

_TIME = "time"
_CHUNK = "chunk"
_FIRST = "first"
_LINE = ",\n"  # a line each, as Spark shows the line of an expression that fails


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
    """

    tasks: int
    by_chunks: bool
    cuts: tuple[int, ...] | None
    is_small: bool = False
    is_whole: bool = False


def group_column(index: int) -> str:
    """Name of a group key in the results of a pool."""
    return f"group_{index}"


def run_pool(
    source: DataFrame,
    queries: Sequence[BoundQuery],
    plan: KernelPlan,
    division: Division,
    report: Callable[[Floats], object],
    name: str,
) -> DataFrame:
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
    chunk = _chunk(first, plan, division)
    layout = Layout(len(first.groups), len(first.partitions), chunk)
    events, keys = compact_events(source, queries, texts, plan)
    groups = [group_column(index) for index in range(layout.group_keys)]
    in_front = _hash(groups, keys) if keys else None
    together: Sequence[Column | str] = keys
    if chunk is not None:
        shared = overlap(plan.windows)
        number = f"explode({chunks_of(_TIME, chunk, shared, first.time_kind)}) AS {_CHUNK}"
        events = events.selectExpr(*keys, number, *events.columns[len(keys) :])
        in_front = in_front or by_chunk(_TIME, _CHUNK, shared, first.time_kind)
        of_key = f"CAST(hash({', '.join(keys)}) AS BIGINT) + {_CHUNK}" if keys else _CHUNK
        together = [F.expr(spread(source.sparkSession, of_key, tasks))]
        keys = [*keys, _CHUNK]
    schema = result_schema(events, layout, plan)
    if plan.is_stretched:
        stretches = _in_stretches(events, keys, division, first.time_kind)
        with_matrices = StructType([*schema, StructField(MATRIX, BinaryType())])
        done = map_in_arrow(stretches, pool_kernel(plan, layout, report, StretchRun, name=name), with_matrices)
        by_group = done.repartition(tasks, *groups) if groups else done.repartition(1)
        partial = map_in_arrow(by_group, merged(plan, layout), schema)
    else:
        if division.is_small:
            whole = events.coalesce(1)
        else:
            whole = events.repartition(tasks, *together) if keys else events.repartition(1)
        run_of = None if plan.matches is None else MatchRun
        is_whole = division.is_whole and layout.other_keys > 0
        kernel = pool_kernel(plan, layout, report, run_of, name, is_whole)
        # By a hash, groups may alternate.
        partial = map_in_arrow(_in_order(whole, keys, None if is_whole else in_front), kernel, schema)
        if is_whole:
            return partial
    return combine_groups(partial, groups, plan.fields, tasks) if layout.other_keys else partial


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
    """``events`` by ``keys`` and time, of which each task has a part, sorted by them."""
    if division.cuts is None:
        apart = events.repartitionByRange(division.tasks, *keys, _TIME)
    else:
        part = part_of(in_units(_TIME, kind), division.cuts)
        apart = events.repartition(division.tasks, F.expr(spread(events.sparkSession, part, division.tasks)))
    return sorted_within_partitions(apart, [*keys, _TIME])


def _hash(groups: Sequence[str], keys: Sequence[str]) -> str:
    """SQL of 64 bits, the lower half of which is a hash of ``keys``, and the upper one of the ``groups`` among them.

    Sorted by it, groups whose hashes are equal may alternate, each of which is then written more than once.
    """
    high = f"hash({', '.join(groups)})" if groups else "0"
    return f"shiftleft(CAST({high} AS BIGINT), 32) | (CAST(hash({', '.join(keys)}) AS BIGINT) & {0xFFFFFFFF}L)"


def _in_order(events: DataFrame, keys: Sequence[str], first: str | None) -> DataFrame:
    """``events`` of a task sorted by ``keys`` and time, after ``first``, SQL of 64 bits, if there is any.

    Spark compares whole rows, each of which is somewhere else in memory, unless the 64 bits that it keeps of the first
    column decide. Sorted by a hash first, rows of a million keys took 60 % of the time.
    """
    if first is not None:
        columns, order = ", ".join(events.columns), ", ".join([*keys, _TIME])
        return selected(
            events,
            lambda rows: f"SELECT {columns} FROM (SELECT {first} AS {_FIRST}, * FROM {rows} SORT BY {_FIRST}, {order})",
        )
    return sorted_within_partitions(events, [*keys, _TIME])


def sql_texts(queries: Iterable[BoundQuery]) -> dict[str, str]:
    """SQL of types, conditions and attributes by their canonical text."""
    return {canonical: text for query in queries for canonical, text in query.expressions.items()}


def only_parts(queries: Iterable[BoundQuery]) -> list[str]:
    """Filters for the source: which rows any of the queries reads, as SQL, unless one reads all."""
    parts = dict.fromkeys(query.part for query in queries)
    return [] if None in parts else [f"({' OR '.join(map(str, parts))})"]


def compact_events(
    source: DataFrame, queries: Sequence[BoundQuery], texts: Mapping[str, str], plan: KernelPlan
) -> tuple[DataFrame, list[str]]:
    """Compact rows of the events that some query can use, and the names of their key columns."""
    query = queries[0]
    keys = {group_column(index): key_text(key) for index, key in enumerate(query.sorted_groups)}
    keys |= {f"partition_{index}": key_text(key) for index, key in enumerate(query.sorted_partitions)}
    words = class_columns(plan.classes, texts)
    held = list(words.values())
    readers = _readers(plan)
    attributes = {
        f"attribute_{index}": _attribute(column, readers[index], held, texts)
        for index, column in enumerate(plan.columns)
    }
    time = numbered(alone(query.time), plan.windows, query.time_kind, query.time_type)
    columns = {**keys, _TIME: time, **words, **attributes}
    usable = [f"({alone(query.time)}) IS NOT NULL", *only_parts(queries)]
    types = _only_types(plan.classes)
    if types is not None:
        usable.append(f"CAST({alone(texts[types[0]])} AS STRING) IN ({', '.join(map(string, types[1]))})")
    condition, in_a_class = " AND ".join(usable), " OR ".join(f"{name} <> 0" for name in words)
    if is_stream(source):
        condition, in_a_class = _above_watermark(condition, alone(query.time)), _above_watermark(in_a_class, _TIME)
    outputs = _LINE.join(f"{text} AS {name}" for name, text in columns.items())
    events = selected(
        source, lambda rows: f"SELECT * FROM (SELECT\n{outputs}\nFROM {rows} WHERE\n{condition}\n) WHERE {in_a_class}"
    )
    return events, list(keys)


def _above_watermark(condition: str, time: str) -> str:
    """A condition that Spark applies after it has seen the times of all events, for their watermark.

    Conditions that do not ask for the time go before that: events that nothing matches would not move the watermark.
    """
    return f"({condition}) OR hour({time}) > 24"


def key_text(key: Key) -> str:
    """A key expression; NaN and zeros of floating keys are made one, as Spark's own grouping does."""
    if isinstance(key.type, DoubleType | FloatType):
        kind = key.type.simpleString()
        text = alone(key.text)
        return f"CASE WHEN isnan({text}) THEN CAST('NaN' AS {kind}) ELSE ({text}) + CAST(0 AS {kind}) END"
    return alone(key.text)


def _only_types(classes: Sequence[EventClass]) -> tuple[str, list[str]] | None:
    """The one TYPE BY expression and its values, when every class has them: a filter for the source."""
    by = {event.type_by for event in classes}
    only = next(iter(by)) if len(by) == 1 else None
    return None if only is None else (only, sorted({event.type for event in classes if event.type is not None}))


def class_columns(classes: Sequence[EventClass], texts: Mapping[str, str]) -> dict[str, str]:
    """Columns with one bit for each class that an event is of, as SQL by name.

    Args:
        classes: In order of their bits.
        texts: SQL of types and conditions by their canonical text.
    """
    return {f"classes_{word}": _word(classes, word, texts) for word in range(class_words(len(classes)))}


def _word(classes: Sequence[EventClass], word: int, texts: Mapping[str, str]) -> str:
    """Bits of the classes that an event is of, ``CLASSES_PER_WORD`` to a word.

    Conditions of one type are evaluated for events of that type only.
    """
    first = word * CLASSES_PER_WORD
    by_type: dict[str, dict[str, list[str]]] = {}
    bits: list[str] = []
    for index, event in enumerate(classes[first : first + CLASSES_PER_WORD]):
        bit = f"{1 << index}L"
        if event.condition is not None:
            bit = f"CASE WHEN {alone(texts[event.condition])} THEN {bit} ELSE 0L END"
        if event.type_by is None or event.type is None:
            bits.append(bit)
        else:
            by_type.setdefault(event.type_by, {}).setdefault(event.type, []).append(bit)
    for text, types in by_type.items():
        cases = " ".join(f"WHEN {string(name)} THEN {' | '.join(of_type)}" for name, of_type in types.items())
        bits.append(f"CASE CAST({alone(texts[text])} AS STRING) {cases} ELSE 0L END")
    return " | ".join(bits)


def _attribute(column: EventColumn, classes: set[int], words: Sequence[str], texts: Mapping[str, str]) -> str:
    """What a column of the plan holds.

    Expressions are evaluated only for events of ``classes``, which they are asked of, since they may fail on others.
    """
    value = alone(texts[column.attribute.text])
    if classes and " " in column.attribute.text:
        value = f"CASE WHEN {_is_of_some(classes, words)} THEN {value} END"
    match column.encoding:
        case Encoding.NUMBER:
            return f"CAST({value} AS DOUBLE)"
        case Encoding.AFTER | Encoding.BEFORE:
            return as_double(value, column.attribute.type)
        case Encoding.PRESENT:
            return f"({value}) IS NOT NULL"
        case Encoding.LEAST_DIFFERENCE | Encoding.GREATEST_DIFFERENCE:
            return f"CAST({as_number(value, column.attribute.type)} AS {column.unit})"
        case Encoding.LEAST | Encoding.GREATEST | Encoding.IDENTITY:
            return value


def _readers(plan: KernelPlan) -> list[set[int]]:
    """Per column, numbers of the classes of whose events it is read: they contribute it or are compared by it."""
    compared = [_compared(comparison) for comparison in plan.comparisons]
    classes: list[set[int]] = [set() for _ in plan.columns]
    for cell in plan.cells:
        for column in (cell.column, cell.addend):
            if column is not None:
                classes[column].add(cell.event)
        for link in cell.links:
            source = plan.cells[link.cell]
            for column in () if link.comparison is None else compared[link.comparison]:
                classes[column] |= {cell.event, source.event if source.anchor is None else source.anchor}
    if plan.matches is not None:
        for root in plan.matches.roots:
            events = plan.matches.steps[root.step].classes
            for added in root.added:
                if added.column is not None:
                    classes[added.column].update(events[index] for index in added.positions or ())
    return classes


def _compared(comparison: Comparison) -> set[int]:
    """Numbers of the columns that a comparison reads, of either event."""
    columns: set[int] = set()
    programs = [comparison.program]
    for term in comparison.terms:
        columns.update(column for pair in term.equal for column in pair)
        if term.order is not None:
            columns |= {term.order.here, term.order.prev}
        programs += [term.asks, term.stands, *(interval.program for interval in term.intervals)]
    return columns | {one.column for program in programs for one in program if one.column >= 0}


def _is_of_some(classes: set[int], words: Sequence[str]) -> str:
    """Whether an event with these ``words`` of class bits is of one of ``classes``."""
    masks = [0] * len(words)
    for event in classes:
        masks[event // CLASSES_PER_WORD] |= 1 << event % CLASSES_PER_WORD
    return " OR ".join(f"({word}) & {mask}L <> 0" for word, mask in zip(words, masks, strict=True) if mask)


def result_schema(events: DataFrame, layout: Layout, plan: KernelPlan) -> StructType:
    """Types of the rows that the kernel writes."""
    fields = list(events.schema.fields[: layout.group_keys])
    fields += [StructField("bank", IntegerType()), StructField("window", LongType())]
    first_attribute = len(events.schema.fields) - len(plan.columns)
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
    return StructType([*fields, StructField(BEYOND, MapType(IntegerType(), beyond))])
