"""Compact rows: what a pass reads of each event that some query of its pool can use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import DoubleType, FloatType

from sparkext.binding.bound_query import BoundQuery, Key
from sparkext.binding.event_time import numbered
from sparkext.binding.trend_ends import as_double, as_number
from sparkext.binding.type_text import carried_type
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import selected
from sparkext.planner.kernel_plan.event_form import is_evaluated_for_some, readers
from sparkext.planner.kernel_plan.kernel_plan import (
    CLASSES_PER_WORD,
    Encoding,
    KernelPlan,
    class_words,
)
from sparkext.planner.kernel_plan.kernel_plan import (
    Column as EventColumn,
)
from sparkext.planner.patterns.query import EventClass
from sparkext.sql.quoting import alone, string

TIME = "event_time"
"""Name of the column of the event time, a word that no setting reserves."""

_ORDER = "order_"
_FIRST_WORD = "classes_0"
_OF_EACH_TASK = "CAST(least(spark_partition_id(), 0) AS BIGINT)"
"""0, of which Spark does not know that it is the same for each row. So a condition on words of class bits, of which an
event is to have one, stays above them. Spark would evaluate all of their conditions once more to apply it earlier, and
derives from it what holds of each combination of words: for 13 words, of 800 conditions, that took most of a minute."""
_LINE = ",\n"  # a line each, as Spark shows the line of an expression that fails


def group_column(index: int) -> str:
    """Name of a group key in the results of a pool."""
    return f"group_{index}"


def sql_texts(queries: Iterable[BoundQuery]) -> dict[str, str]:
    """SQL of types, conditions and attributes by their canonical text."""
    return {canonical: text for query in queries for canonical, text in query.expressions.items()}


def only_parts(queries: Iterable[BoundQuery]) -> list[str]:
    """Filters for the source: which rows any of the queries reads, as SQL, unless one reads all."""
    parts = dict.fromkeys(query.part for query in queries)
    return [] if None in parts else [f"({' OR '.join(map(str, parts))})"]


@dataclass(frozen=True, slots=True)
class CompactRows:
    """Compact rows of the events that some query of a pool can use.

    Attributes:
        keys: Names of their key columns, which come first.
        columns: Names of all columns.
        further_order: Names of those by which rows of one time are ordered.
        text: Gives SQL of them for that of the source.
    """

    keys: list[str]
    columns: list[str]
    further_order: list[str]
    text: Callable[[str], str]


def compact_events(
    source: AnalysedFrame, queries: Sequence[BoundQuery], texts: Mapping[str, str], plan: KernelPlan
) -> tuple[AnalysedFrame, CompactRows]:
    """The frame of `compact_rows`, and what they are."""
    rows = compact_rows(source, queries, texts, plan)
    return selected(source, rows.text), rows


def compact_rows(
    source: AnalysedFrame, queries: Sequence[BoundQuery], texts: Mapping[str, str], plan: KernelPlan
) -> CompactRows:
    """Compact rows of the events of ``source`` that some query can use."""
    query = queries[0]
    keys = {group_column(index): key_text(key) for index, key in enumerate(query.sorted_groups)}
    keys |= {f"partition_{index}": key_text(key) for index, key in enumerate(query.sorted_partitions)}
    words = class_columns(plan.classes, texts)
    held = list(words.values())
    classes_of = readers(plan)
    attributes = {
        f"attribute_{index}": _attribute(column, classes_of[index], held, texts)
        for index, column in enumerate(plan.columns)
    }
    time = numbered(alone(query.time), plan.windows, query.time_kind, query.time_type)
    if len(words) > 1 and not source.is_stream:
        words[_FIRST_WORD] = f"{words[_FIRST_WORD]} | {_OF_EACH_TASK}"
    columns = {**keys, TIME: time, **words, **attributes, **_of_completions(query, plan, held, texts)}
    usable = [f"({alone(query.time)}) IS NOT NULL", *only_parts(queries)]
    types = _only_types(plan.classes)
    if types is not None:
        usable.append(f"CAST({alone(texts[types[0]])} AS STRING) IN ({', '.join(map(string, types[1]))})")
    condition, in_a_class = " AND ".join(usable), " OR ".join(f"{name} <> 0" for name in words)
    if source.is_stream:
        condition, in_a_class = _above_watermark(condition, alone(query.time)), _above_watermark(in_a_class, TIME)
    outputs = _LINE.join(f"{text} AS {name}" for name, text in columns.items())
    # To apply this, Spark looks up each type once more. Where classes have types alone, all rows with one are of some.
    has_types_alone = types is not None and all(event.condition is None for event in plan.classes)
    those = "" if has_types_alone else f" WHERE {in_a_class}"
    return CompactRows(
        list(keys),
        list(columns),
        [name for name in columns if name.startswith(_ORDER)],
        lambda rows: f"SELECT * FROM (SELECT\n{outputs}\nFROM {rows} WHERE\n{condition}\n){those}",
    )


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
    if is_evaluated_for_some(column.attribute.text, classes):
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


def _of_completions(
    query: BoundQuery, plan: KernelPlan, words: Sequence[str], texts: Mapping[str, str]
) -> dict[str, str]:
    """Columns beside those of the kernel, as SQL by name: what rows of one time are ordered by, and what is shown."""
    if plan.completions is None:
        return {}
    columns = {f"{_ORDER}{index}": alone(text) for index, (_, text) in enumerate(query.further_order)}
    for index, (attribute, classes) in enumerate(plan.completions.shown):
        value = alone(texts[attribute.text])
        if is_evaluated_for_some(attribute.text, set(classes)):
            value = f"CASE WHEN {_is_of_some(set(classes), words)} THEN {value} END"
        carried = carried_type(attribute.type)
        columns[f"shown_{index}"] = value if carried == attribute.type else f"CAST({value} AS {carried})"
    return columns


def _is_of_some(classes: set[int], words: Sequence[str]) -> str:
    """Whether an event with these ``words`` of class bits is of one of ``classes``."""
    masks = [0] * len(words)
    for event in classes:
        masks[event // CLASSES_PER_WORD] |= 1 << event % CLASSES_PER_WORD
    return " OR ".join(f"({word}) & {mask}L <> 0" for word, mask in zip(words, masks, strict=True) if mask)
