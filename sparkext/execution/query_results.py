"""The result of one query, selected from the results of its pool."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.event_time import bound
from sparkext.binding.trend_ends import INTERVALS, difference_type
from sparkext.binding.type_text import carried_type, null_sql
from sparkext.execution.compact_rows import group_column
from sparkext.planner.kernel_plan.kernel_plan import SCALE_BITS, Field, QueryResult, too_many
from sparkext.planner.kernel_plan.result_columns import (
    BEYOND,
    DOUBLE,
    EXACT,
    NUMBER,
    SCALE,
    beside_column,
    field_column,
)
from sparkext.planner.optimizers import DEFAULT
from sparkext.planner.patterns.query import Aggregate, Distinct, Function, Shown, Window
from sparkext.settings import MOST_NODES
from sparkext.sql.own_columns import aggregate_name, counted_name, shown_name
from sparkext.sql.quoting import identifier, string
from sparkext.sql.tokens import tokenize

_UNPLANNED = "[TREND_NOT_PLANNED] This trend query has not been planned. Query it through spark.sql or spark.table."
_INTERVAL = "INTERVAL DAY TO SECOND"
_TOO_MANY = (
    "[TREND_COUNT_OVERFLOW]",
    "has more than 38 digits",
    "Use APPROX_COUNT or LOG10_COUNT, a narrower window or a stricter pattern; "
    "with spark.sql.ansi.enabled=false it is NULL.",
    "DECIMAL(38,0)",
)
"""What is said of a count that is too large: condition, problem, hint; and its type."""
_TOO_LONG = (
    "[TREND_INTERVAL_OVERFLOW]",
    "is longer than an interval can be",
    "Use AVG, or the difference of unix_micros of the two; with spark.sql.ansi.enabled=false it is NULL.",
    _INTERVAL,
)
"""Likewise of an interval that is too long."""
_MOST_SHOWN = 60
"""Most characters of an aggregate that names a column."""
_LINE = ",\n"  # a line each, as Spark shows the line of an expression that fails
_LOG10_OF_SCALE = f"{math.log10(2**SCALE_BITS)!r}D"


def query_sql(pool: str, fields: tuple[Field, ...], result: QueryResult, query: BoundQuery, ansi: bool) -> str:
    """A statement for the rows of ``query``: group columns, window bounds, measures; see `aggregates_sql`."""
    names = _shown_names(query)
    aggregates = aggregates_sql(pool, fields, result, query, ansi, names)
    return f"SELECT\n{_LINE.join(output_columns(query, names))}\nFROM ({aggregates})"


def aggregates_sql(
    pool: str,
    fields: tuple[Field, ...],
    result: QueryResult,
    query: BoundQuery,
    ansi: bool,
    names: Sequence[str] | None = None,
) -> str:
    """A statement for the rows of ``query`` before its measures: group columns, window bounds, aggregates.

    Args:
        pool: Name of the relation of the results of its pool.
        fields: The pool's output fields.
        result: Where the query's results are.
        query: The query.
        ansi: Whether a count of more than 38 digits fails the statement, or is NULL.
        names: SQL of the names of the aggregates; `aggregate_name` if left out.
    """
    if query.query.completion is not None:
        return _with_completions_sql(pool, fields, result, query, ansi, names)
    return _aggregates_sql(pool, fields, result, query, ansi, names)


def _with_completions_sql(
    pool: str,
    fields: tuple[Field, ...],
    result: QueryResult,
    query: BoundQuery,
    ansi: bool,
    names: Sequence[str] | None,
) -> str:
    """SQL as of `aggregates_sql`, for a query that asks for completions."""
    counts = [
        f"CAST({field_column(number, fields[number])} AS BIGINT) AS {counted_name(index)}"
        for index, number in enumerate(result.counted)
    ]
    if query.query.has_rows:
        more = [*_shown(query, result), *_counts_of_one(query)]
        return _aggregates_sql(pool, fields, result, query, ansi, names, more, f"bank = {result.bank}")
    if not query.query.aggregates:
        return _aggregates_sql(pool, fields, result, query, ansi, names, counts, f"bank = {result.counted_in}")
    # What is counted once has rows of its own, one for each group and window that has a trend.
    if query.source.is_stream:
        assert result.counted_in is not None
        beside = [f"{beside_column(result.counted_in, i)} AS {counted_name(i)}" for i in range(len(result.counted))]
        return _aggregates_sql(pool, fields, result, query, ansi, names, beside)
    keys = ", ".join([*(group_column(index) for index in range(len(query.groups))), "`window`"])
    beside = [
        f"max(CASE WHEN bank = {result.counted_in} THEN {field_column(number, fields[number])} END) "
        f"OVER (PARTITION BY {keys}) AS {counted_name(index)}"
        for index, number in enumerate(result.counted)
    ]
    banks = f"{result.bank}, {result.counted_in}, {too_many(result.bank)}"
    both = f"(SELECT *, {', '.join(beside)} FROM {pool} WHERE bank IN ({banks}))"
    counted = [f"CAST({counted_name(index)} AS BIGINT) AS {counted_name(index)}" for index in range(len(beside))]
    return _aggregates_sql(both, fields, result, query, ansi, names, counted)


def _shown(query: BoundQuery, result: QueryResult) -> Iterator[str]:
    """SQL of what rows of completions show."""
    assert query.query.completion is not None
    for index, (shown, column) in enumerate(zip(query.query.completion.shown, result.shown, strict=True)):
        kind = _shown_type(shown)
        yield f"{column if carried_type(kind) == kind else f'CAST({column} AS {kind})'} AS {shown_name(index)}"


def _counts_of_one(query: BoundQuery) -> Iterator[str]:
    """SQL of what a completion that is a row adds to each ``COUNT(DISTINCT …)``: 1, or 0 for a key with NULL."""
    assert query.query.completion is not None
    groups = query.sorted_groups
    keys = (group_column(index) for index, key in enumerate(groups) if key.canonical in query.partition_by)
    has_null = " OR ".join(f"{key} IS NULL" for key in keys)
    count_sql = {Distinct.COMPLETIONS: "1L", Distinct.KEYS: f"CASE WHEN {has_null} THEN 0L ELSE 1L END"}
    for index, kind in enumerate(query.query.completion.counted):
        yield f"{count_sql[kind]} AS {counted_name(index)}"


def _aggregates_sql(
    pool: str,
    fields: tuple[Field, ...],
    result: QueryResult,
    query: BoundQuery,
    ansi: bool,
    names: Sequence[str] | None,
    more: Sequence[str] = (),
    which: str | None = None,
) -> str:
    """SQL as of `aggregates_sql`, with the columns ``more``, and with the condition ``which`` for the rows if given."""
    names = names or [aggregate_name(index) for index in range(len(query.query.aggregates))]
    is_present = f"NOT ({field_column(result.presence, fields[result.presence])} <=> 0)"
    groups = query.sorted_groups
    columns = [f"{group_column(groups.index(key))} AS {identifier(key.name)}" for key in query.groups]
    bounds = window_bounds(query, "`window`", ansi)
    columns += _named_bounds(bounds)
    for index, (aggregate, value) in enumerate(zip(query.query.aggregates, result.values, strict=True)):
        held = [_Held(field_column(number, fields[number]), f"{BEYOND}[{number}]") for number in value]
        overflow = _overflow(query, index) if ansi else None
        if _is_interval(aggregate):
            text = _interval(_value(aggregate, held, None), overflow)
        else:
            text = _value(aggregate, held, overflow)
        columns.append(f"{text} AS {names[index]}")
    columns += more
    condition = which or f"bank = {result.bank} AND {is_present}"
    fails = _too_much(query, result)
    if fails is not None:
        condition = f"CASE WHEN bank = {too_many(result.bank)} THEN {fails} ELSE {condition} END"
    return f"SELECT {', '.join(columns) or 'bank'} FROM {pool} WHERE {condition}"


def unplanned_sql(query: BoundQuery) -> str:
    """A statement for rows as those of `aggregates_sql`, which fails when they are read."""
    columns = [f"{null_sql(key.type.simpleString())} AS {identifier(key.name)}" for key in query.groups]
    columns += _named_bounds(window_bounds(query, "id"))
    for index, aggregate in enumerate(query.query.aggregates):
        columns.append(f"{null_sql(_type(aggregate))} AS {aggregate_name(index)}")
    completion = query.query.completion
    if completion is not None:
        columns += [f"CAST(NULL AS BIGINT) AS {counted_name(index)}" for index in range(len(completion.counted))]
        columns += [
            f"CAST(NULL AS {_shown_type(shown)}) AS {shown_name(n)}" for n, shown in enumerate(completion.shown)
        ]
    nothing = f"id AS {aggregate_name(0)}"
    return (
        f"SELECT {', '.join(columns) or nothing} FROM range(1) WHERE CAST(raise_error({string(_UNPLANNED)}) AS BOOLEAN)"
    )


def window_bounds(query: BoundQuery, index: str, ansi: bool = True) -> tuple[str, ...]:
    """SQL for the start and the end of the windows numbered ``index``; nothing for an unbounded window."""
    window: Window | None = query.query.window
    if window is None:
        return ()
    kind, type_ = query.time_kind, query.time_type
    return tuple(bound(index, window.slide, offset, kind, type_, ansi) for offset in (0, window.within))


def _named_bounds(bounds: tuple[str, ...]) -> list[str]:
    return [f"{bound_} AS {name}" for bound_, name in zip(bounds, ("window_start", "window_end"), strict=False)]


def output_columns(query: BoundQuery, names: Sequence[str] = ()) -> list[str]:
    """The columns that a user sees, as SQL over those of `aggregates_sql`, whose aggregates have ``names``."""
    outputs = [identifier(key.name) for key in query.groups]
    if query.query.window is not None:
        outputs += ["window_start", "window_end"]
    return [*outputs, *(f"{_renamed(m.expression.text, names)}\nAS {identifier(m.name)}" for m in query.measures)]


def _renamed(text: str, names: Sequence[str]) -> str:
    """A measure with ``names`` in place of those that its aggregates have while it is looked at."""
    for token in reversed(tokenize(text)) if names else ():
        index = next((index for index in range(len(names)) if token.text == aggregate_name(index)), None)
        if index is not None:
            text = f"{text[: token.start]}{names[index]} {text[token.end :].lstrip()}"
    return text.rstrip()


def _shown_type(shown: Shown) -> str:
    if shown.attribute is None:
        return "STRING"
    return shown.attribute.type if shown.mark is not None else f"ARRAY<{shown.attribute.type}>"


def _type(aggregate: Aggregate) -> str:
    match aggregate.function:
        case Function.COUNT:
            return "DECIMAL(38,0)"
        case Function.SUM | Function.AVG | Function.APPROX_COUNT | Function.LOG10_COUNT:
            return _INTERVAL if _is_interval(aggregate) else "DOUBLE"
        case Function.MIN | Function.MAX if aggregate.is_difference:
            return difference_type(aggregate)
        case Function.MIN | Function.MAX:
            assert aggregate.attribute is not None
            return aggregate.attribute.type


@dataclass(frozen=True, slots=True)
class _Held:
    """Where the value of a field is: SQL of its column, NULL if it does not fit, and of what holds it then."""

    column: str
    beyond: str

    @property
    def number(self) -> str:
        """The number of a scaled double."""
        return f"coalesce({self.column}, {self.beyond}.{NUMBER})"

    @property
    def scale(self) -> str:
        """The scale of a scaled double."""
        return f"coalesce({self.beyond}.{SCALE}, 0L)"

    @property
    def double(self) -> str:
        """A scaled double as a double."""
        return f"coalesce({self.column}, {self.beyond}.{DOUBLE})"


def _value(aggregate: Aggregate, held: list[_Held], overflow: str | None) -> str:
    first = held[0]
    match aggregate.function:
        case Function.COUNT:
            cases = [f"CAST({first.column} AS DECIMAL(38,0))", f"{first.beyond}.{EXACT}"]
            return f"coalesce({', '.join([*cases, *([] if overflow is None else [overflow])])})"
        case Function.APPROX_COUNT:
            return first.double
        case Function.LOG10_COUNT:
            return f"log10({first.number}) + {first.scale} * {_LOG10_OF_SCALE}"
        case Function.SUM:
            return f"CASE WHEN NOT ({held[1].column} <=> 0D) THEN {first.double} END"
        case Function.AVG:
            count = held[1]
            # In two steps, so that only the result can overflow.
            step = f"power(2D, {SCALE_BITS // 2}D * ({first.scale} - {count.scale}))"
            scaled = f"try_divide({first.number}, {count.number}) * {step} * {step}"
            return f"coalesce(try_divide({first.column}, {count.column}), {scaled})"
        case Function.MIN | Function.MAX if aggregate.is_difference and not _is_interval(aggregate):
            either = first.column
            if len(held) > 1:
                function = "least" if aggregate.function is Function.MIN else "greatest"
                either = f"{function}({', '.join(value.column for value in held)})"
            return f"CAST({either} AS {difference_type(aggregate)})"
        case Function.MIN | Function.MAX:
            return first.column


def _is_interval(aggregate: Aggregate) -> bool:
    """Whether the value is a time between two timestamps."""
    if not aggregate.is_difference or aggregate.function.counts:
        return False
    return all(end.attribute.type in INTERVALS for end in aggregate.ends)


def _interval(microseconds: str, overflow: str | None) -> str:
    """SQL for the interval of so many microseconds, of any type; for too long a one it is ``overflow``, or NULL."""
    interval = f"try_multiply(INTERVAL '0 00:00:00.000001' DAY TO SECOND, {microseconds})"
    return (
        interval
        if overflow is None
        else f"CASE WHEN ({microseconds}) IS NOT NULL THEN coalesce({interval}, {overflow}) END"
    )


def _overflow(query: BoundQuery, index: int) -> str:
    """SQL that fails with ``TREND_COUNT_OVERFLOW``, or ``TREND_INTERVAL_OVERFLOW``, of an aggregate of ``query``."""
    aggregate = query.query.aggregates[index]
    overflow, problem, hint, kind = _TOO_LONG if _is_interval(aggregate) else _TOO_MANY
    measures = ", ".join(
        m.name for m in query.measures if re.search(rf"\b{aggregate_name(index)}\b", m.expression.text)
    )
    return _failed_in_window(
        query, overflow, f"{aggregate} of measure {measures} of {_called(query)} {problem}", hint, kind
    )


def _too_much(query: BoundQuery, result: QueryResult) -> str | None:
    """SQL that fails because of what a pass could not hold for a query; None if it holds whatever there is."""
    if result.most_nodes is not None:
        return _too_many_nodes(query, result.most_nodes)
    return None if result.most_matches is None else _too_many_matches(query, result.most_matches)


def _too_many_nodes(query: BoundQuery, most: int) -> str:
    """SQL that fails with ``TREND_TOO_MANY_NODES``."""
    what = f"{_called(query)} and those computed with it need more than {most:,} events of one key to be held"
    hint = (
        "Use SPAN, a shorter WITHIN or more keys in PARTITION BY, so that trends are shorter; leave out EVENTS, which "
        "holds all events of a trend; or, where executors have the memory, some 100 bytes an event, "
        f"SET {MOST_NODES} to more."
    )
    return _failed_in_window(query, "[TREND_TOO_MANY_NODES]", what, hint, "BOOLEAN")


def _too_many_matches(query: BoundQuery, most: int) -> str:
    """SQL that fails with ``TREND_TOO_MANY_MATCHES``."""
    what = f"{_called(query)} has more than {most:,} partial matches of one key"
    hint = (
        "Use a shorter WITHIN, more keys in PARTITION BY or conditions on single events, or do not build matches: "
        f"SET spark.sparkext.optimizer = {DEFAULT}, then REFRESH SHARING."
    )
    return _failed_in_window(query, "[TREND_TOO_MANY_MATCHES]", what, hint, "BOOLEAN")


def _called(query: BoundQuery) -> str:
    return f"query {query.query.name.removeprefix('query ')}"


def _failed_in_window(query: BoundQuery, condition: str, what: str, hint: str, kind: str) -> str:
    """SQL that fails with an error about one window of a query."""
    if not window_bounds(query, "`window`"):
        return _failed(string(f"{condition} In its one unbounded window, {what}. {hint}"), kind)
    start, end = (f"CAST({moment} AS STRING)" for moment in window_bounds(query, "`window`", ansi=False))
    said = f"{condition} In the window from", start, "to", end, f"{what}. {hint}"
    parts = (part if part in (start, end) else string(part) for part in said)
    return _failed(f"concat_ws(' ', {', '.join(parts)})", kind)


def _failed(message: str, kind: str) -> str:
    return f"CAST(raise_error({message}) AS {kind})"


def _shown_names(query: BoundQuery) -> list[str]:
    """Names of the aggregates of ``query`` in its plan: as they are written, where that is short and clear."""
    taken = {"window_start", "window_end", *(key.name.lower() for key in query.groups)}
    names: list[str] = []
    for index, aggregate in enumerate(query.query.aggregates):
        text = str(aggregate)
        is_clear = len(text) <= _MOST_SHOWN and text.lower() not in taken
        names.append(identifier(text) if is_clear else aggregate_name(index))
        taken.add(text.lower())
    return names
