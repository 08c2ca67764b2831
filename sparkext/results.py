"""The result of one query, selected from the results of its pool."""

from __future__ import annotations

import math
import re

from pyspark.sql import DataFrame

from planner.kernel_plan import COUNT_LIMIT, SCALE_BITS, Arithmetic, Field, QueryResult
from planner.query import Aggregate, Function, Window
from planner.result_columns import BEYOND, VALUE, WORD, field_column
from sparkext.bound_query import BoundQuery
from sparkext.event_time import bound
from sparkext.own_columns import aggregate_name
from sparkext.pipeline import group_column
from sparkext.source import check_expressions
from sparkext.sql_text import identifier, string

_UNPLANNED = (
    "[TREND_NOT_PLANNED] This trend query has not been planned. "
    "Query it through spark.sql or spark.table. SQLSTATE: 55000"
)
_LIMIT_HIGH, _LIMIT_LOW = divmod(COUNT_LIMIT, 1 << 64)
_WORD = f"{1 << 64}BD"
_LINE = ",\n"  # a line each, as Spark shows the line of an expression that fails
_LOG10_OF_SCALE = f"{math.log10(2**SCALE_BITS)!r}D"


def query_sql(pool: str, fields: tuple[Field, ...], place: QueryResult, query: BoundQuery, ansi: bool) -> str:
    """A statement for the rows of ``query``: group columns, window bounds, measures; see `aggregates_sql`."""
    return f"SELECT\n{_LINE.join(_outputs(query))}\nFROM ({aggregates_sql(pool, fields, place, query, ansi)})"


def aggregates_sql(pool: str, fields: tuple[Field, ...], place: QueryResult, query: BoundQuery, ansi: bool) -> str:
    """A statement for the rows of ``query`` before its measures: group columns, window bounds, aggregates.

    Args:
        pool: Name of the relation of the results of its pool.
        fields: The pool's output fields.
        place: Where the query's results are.
        query: The query.
        ansi: Whether a count of more than 38 digits fails the statement, or is NULL.
    """
    presence = fields[place.presence]
    found = f"{field_column(place.presence, presence)} <> 0 OR {_beyond(place.presence)} IS NOT NULL"
    groups = query.sorted_groups
    columns = [f"{group_column(groups.index(key))} AS {identifier(key.name)}" for key in query.groups]
    bounds = window_bounds(query, "`window`", ansi)
    columns += _named_bounds(bounds)
    for index, (aggregate, value) in enumerate(zip(query.query.aggregates, place.values, strict=True)):
        held = [_held(number, fields[number]) for number in value]
        columns.append(f"{_value(aggregate, held, _overflow(query, index, bounds, ansi))} AS {aggregate_name(index)}")
    return f"SELECT {', '.join(columns) or 'bank'} FROM {pool} WHERE bank = {place.bank} AND ({found})"


def unplanned_sql(query: BoundQuery) -> str:
    """A statement for rows as those of `aggregates_sql`, which fails when they are read."""
    columns = [f"CAST(NULL AS {key.type.simpleString()}) AS {identifier(key.name)}" for key in query.groups]
    columns += _named_bounds(window_bounds(query, "id"))
    for index, aggregate in enumerate(query.query.aggregates):
        columns.append(f"CAST(NULL AS {_type(aggregate)}) AS {aggregate_name(index)}")
    return f"SELECT {', '.join(columns) or 'id'} FROM range(1) WHERE CAST(raise_error({string(_UNPLANNED)}) AS BOOLEAN)"


def check_measures(aggregates: DataFrame, query: BoundQuery) -> None:
    """Let Spark look at the measures of ``query``.

    Args:
        aggregates: Rows as those of `aggregates_sql`.
        query: The query.

    Raises:
        PlanningError: A measure is no scalar expression over aggregates and result columns.
    """
    measures = [("MEASURES", measure.expression) for measure in query.measures]
    check_expressions(aggregates, measures, "the result; attributes of events stand inside of aggregates")


def with_measures(aggregates: DataFrame, query: BoundQuery) -> DataFrame:
    """The rows of ``query``, out of rows as those of `aggregates_sql`."""
    return aggregates.selectExpr(*_outputs(query))


def window_bounds(query: BoundQuery, index: str, ansi: bool = True) -> tuple[str, ...]:
    """SQL for the start and the end of the windows numbered ``index``; nothing for an unbounded window."""
    window: Window | None = query.query.window
    if window is None:
        return ()
    kind, type_ = query.time_kind, query.time_type
    return tuple(bound(index, window.slide, offset, kind, type_, ansi) for offset in (0, window.within))


def _named_bounds(bounds: tuple[str, ...]) -> list[str]:
    return [f"{bound_} AS {name}" for bound_, name in zip(bounds, ("window_start", "window_end"), strict=False)]


def _outputs(query: BoundQuery) -> list[str]:
    """The columns that a user sees, as SQL over those of `aggregates_sql`."""
    outputs = [identifier(key.name) for key in query.groups]
    if query.query.window is not None:
        outputs += ["window_start", "window_end"]
    return [*outputs, *(f"{m.expression.text} AS {identifier(m.name)}" for m in query.measures)]


def _type(aggregate: Aggregate) -> str:
    match aggregate.function:
        case Function.COUNT:
            return "DECIMAL(38,0)"
        case Function.SUM | Function.AVG | Function.APPROX_COUNT | Function.LOG10_COUNT:
            return "DOUBLE"
        case Function.MIN | Function.MAX:
            assert aggregate.attribute is not None
            return aggregate.attribute.type


def _value(aggregate: Aggregate, names: list[tuple[str, ...]], overflow: str) -> str:
    match aggregate.function:
        case Function.COUNT:
            high, low = names[0]
            return _exact(high, low, overflow)
        case Function.APPROX_COUNT:
            return _scaled(*names[0])
        case Function.LOG10_COUNT:
            number, scale = names[0]
            return f"log10({number}) + {scale} * {_LOG10_OF_SCALE}"
        case Function.SUM:
            return f"CASE WHEN {names[1][0]} <> 0 THEN {_scaled(*names[0])} END"
        case Function.AVG:
            total, count = names
            mean = _scaled(f"({total[0]} / {count[0]})", f"({total[1]} - {count[1]})")
            return f"CASE WHEN {count[0]} <> 0 THEN {mean} END"
        case Function.MIN | Function.MAX:
            return names[0][0]


def _held(number: int, field: Field) -> tuple[str, ...]:
    """SQL of what a field holds: high and low word of a count, number and scale, or an extreme."""
    column, beyond = field_column(number, field), _beyond(number)
    match field.arithmetic:
        case Arithmetic.EXACT:
            return f"coalesce({beyond}.{WORD}, 0L)", column
        case Arithmetic.NUMBER:
            return f"coalesce({beyond}.{VALUE}, {column})", f"coalesce({beyond}.{WORD}, 0L)"
        case Arithmetic.EXTREME:
            return (column,)


def _beyond(number: int) -> str:
    return f"try_element_at({BEYOND}, {number})"


def _exact(high: str, low: str, overflow: str) -> str:
    """The 128-bit count as DECIMAL(38,0)."""
    signed = f"CAST({low} AS DECIMAL(20,0))"
    unsigned = f"CASE WHEN {low} >= 0 THEN {signed} ELSE {signed} + {_WORD} END"
    beyond = f"{high} > {_LIMIT_HIGH} OR {high} = {_LIMIT_HIGH} AND ({low} < 0 OR {low} >= {_LIMIT_LOW})"
    return (
        f"CASE WHEN {high} = 0 AND {low} >= 0 THEN CAST({low} AS DECIMAL(38,0)) WHEN {beyond} THEN {overflow} "
        f"ELSE CAST(CAST({high} AS DECIMAL(20,0)) * {_WORD} + {unsigned} AS DECIMAL(38,0)) END"
    )


def _scaled(number: str, scale: str) -> str:
    """``number · 2^(SCALE_BITS·scale)``, in two steps so that only the result can overflow."""
    step = f"power(2D, {SCALE_BITS // 2}D * {scale})"
    return f"CASE WHEN {scale} = 0 OR {number} = 0 THEN {number} ELSE {number} * {step} * {step} END"


def _overflow(query: BoundQuery, index: int, bounds: tuple[str, ...], ansi: bool) -> str:
    if not ansi:
        return "CAST(NULL AS DECIMAL(38,0))"
    measures = ", ".join(
        m.name for m in query.measures if re.search(rf"\b{aggregate_name(index)}\b", m.expression.text)
    )
    text = (
        f"[TREND_COUNT_OVERFLOW] {query.query.aggregates[index]} of measure '{measures}' of query "
        f"'{query.query.name}' has more than 38 digits"
    )
    hint = (
        ". Use APPROX_COUNT or LOG10_COUNT, a narrower window or a stricter pattern; "
        "with spark.sql.ansi.enabled=false it is NULL. SQLSTATE: 22003"
    )
    place = [string(" in its one unbounded window")]
    if bounds:
        start, end = (f"CAST({moment} AS STRING)" for moment in bounds)
        place = [string(" in the window from "), start, string(" to "), end]
    message = ", ".join([string(text), *place, string(hint)])
    return f"CAST(raise_error(concat({message})) AS DECIMAL(38,0))"
