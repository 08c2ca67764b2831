"""The result of one query, selected from the results of its pool."""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from planner.kernel_plan import Arithmetic, Field, QueryResult, field_columns
from planner.query import Aggregate, Function, Window
from sparkext.binding import BoundQuery, aggregate_name
from sparkext.event_time import bound
from sparkext.pipeline import group_column
from sparkext.source import check_expressions

_UNPLANNED = "[TREND_NOT_PLANNED] This trend query has not been planned; query it through spark.sql or spark.table."
_LIMIT_HIGH, _LIMIT_LOW = divmod(10**38, 1 << 64)


def query_result(
    pool: DataFrame, fields: tuple[Field, ...], place: QueryResult, query: BoundQuery, ansi: bool
) -> DataFrame:
    """The rows of ``query``: group columns, window bounds, measures.

    Args:
        pool: Results of its pool.
        fields: The pool's output fields.
        place: Where the query's results are.
        query: The query.
        ansi: Whether a count of more than 38 digits fails the statement, or is NULL.

    Raises:
        pyspark.errors.AnalysisException: A measure is no expression over aggregates and columns.
    """
    names = field_columns(fields)
    presence = names[place.presence]
    found = F.col(presence[0]) != 0
    if fields[place.presence].arithmetic is Arithmetic.EXACT:
        found = found | (F.col(presence[1]) != 0)
    rows = pool.where((F.col("bank") == place.bank) & found)

    places = query.sorted_groups
    columns = [F.col(group_column(places.index(key))).alias(key.name) for key in query.groups]
    bounds: list[Column] = []
    if query.query.window is not None:
        bounds = window_bounds(query, query.query.window, F.col("window"))
        columns += bounds
    for index, (aggregate, value) in enumerate(zip(query.query.aggregates, place.values, strict=True)):
        column = _value(aggregate, [names[field] for field in value], _overflow(query, index, bounds, ansi))
        columns.append(column.alias(aggregate_name(index)))
    return _with_measures(rows.select(*columns), query)


def stand_in(spark: SparkSession, query: BoundQuery) -> DataFrame:
    """A relation with the columns of `query_result` that fails when it is read.

    Raises:
        PlanningError: A measure is no scalar expression over aggregates and result columns.
    """
    columns = [F.lit(None).cast(key.type).alias(key.name) for key in query.groups]
    if query.query.window is not None:
        columns += window_bounds(query, query.query.window, F.col("id"))
    for index, aggregate in enumerate(query.query.aggregates):
        columns.append(F.lit(None).cast(_type(aggregate)).alias(aggregate_name(index)))
    rows = spark.range(1).where(F.raise_error(F.lit(_UNPLANNED)).cast("boolean")).select(*columns)
    check_expressions(rows, [("MEASURES", measure.expression) for measure in query.measures])
    return _with_measures(rows, query)


def window_bounds(query: BoundQuery, window: Window, index: Column) -> list[Column]:
    """``window_start`` and ``window_end`` of the windows numbered ``index``, in the type of the event time."""
    start, end = (
        bound(index, window.slide, offset, query.time_kind, query.time_type) for offset in (0, window.within)
    )
    return [start.alias("window_start"), end.alias("window_end")]


def _with_measures(rows: DataFrame, query: BoundQuery) -> DataFrame:
    outputs = [_quoted(key.name) for key in query.groups]
    if query.query.window is not None:
        outputs += [F.col("window_start"), F.col("window_end")]
    return rows.select(*outputs, *(F.expr(m.expression.text).alias(m.name) for m in query.measures))


def _type(aggregate: Aggregate) -> str:
    match aggregate.function:
        case Function.COUNT:
            return "decimal(38,0)"
        case Function.SUM | Function.AVG:
            return "double"
        case Function.MIN | Function.MAX:
            assert aggregate.attribute is not None
            return aggregate.attribute.type


def _value(aggregate: Aggregate, names: list[tuple[str, ...]], overflow: Column) -> Column:
    match aggregate.function:
        case Function.COUNT:
            return _exact(*names[0], overflow)
        case Function.SUM:
            return F.when(F.col(names[1][0]) != 0, _scaled(F.col(names[0][0]), F.col(names[0][1])))
        case Function.AVG:
            total, count = names
            mean = _scaled(F.col(total[0]) / F.col(count[0]), F.col(total[1]) - F.col(count[1]))
            return F.when(F.col(count[0]) != 0, mean)
        case Function.MIN | Function.MAX:
            return F.col(names[0][0])


def _exact(high: str, low: str, overflow: Column) -> Column:
    """The 128-bit count as DECIMAL(38,0)."""
    top, bottom = F.col(high), F.col(low)
    small = bottom.cast("decimal(20,0)")
    unsigned = F.when(bottom >= 0, small).otherwise((small + _decimal(1 << 64)).cast("decimal(20,0)"))
    beyond = (top > _LIMIT_HIGH) | ((top == _LIMIT_HIGH) & ((bottom < 0) | (bottom >= _LIMIT_LOW)))
    value = (
        F.when((top == 0) & (bottom >= 0), bottom.cast("decimal(38,0)"))
        .when(beyond, overflow)
        .otherwise((top.cast("decimal(20,0)") * _decimal(1 << 64) + unsigned).cast("decimal(38,0)"))
    )
    return value.cast("decimal(38,0)")


def _decimal(value: int) -> Column:
    return F.lit(str(value)).cast("decimal(20,0)")


def _scaled(number: Column, scale: Column) -> Column:
    """``number · 2^(512·scale)``, in two steps so that only the result can overflow."""
    step = F.pow(F.lit(2.0), F.lit(256.0) * scale)
    return F.when(scale == 0, number).otherwise(number * step * step)


def _overflow(query: BoundQuery, index: int, bounds: list[Column], ansi: bool) -> Column:
    if not ansi:
        return F.lit(None).cast("decimal(38,0)")
    measures = ", ".join(m.name for m in query.measures if re.search(rf"\b{aggregate_name(index)}\b", m.expression.text))
    text = (
        f"[TREND_COUNT_OVERFLOW] {query.query.aggregates[index]} of measure '{measures}' of query "
        f"'{query.query.name}' has more than 38 digits"
    )
    hint = (
        ". Use APPROX_COUNT or LOG10_COUNT, a narrower window or a stricter pattern; "
        "with spark.sql.ansi.enabled=false it is NULL. SQLSTATE: 22003"
    )
    place = [F.lit(" in its one unbounded window")]
    if bounds:
        start, end = (moment.cast("string") for moment in bounds)
        place = [F.lit(" in the window from "), start, F.lit(" to "), end]
    return F.raise_error(F.concat(F.lit(text), *place, F.lit(hint))).cast("decimal(38,0)")


def _quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")
