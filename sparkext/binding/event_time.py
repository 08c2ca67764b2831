"""Event time: its unit in the kernel, windows over it, and window bounds in its own type."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DayTimeIntervalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
    YearMonthIntervalType,
)

from sparkext.jvm.expressions import CalendarInterval, NotConstantError, constant, parsed_interval
from sparkext.jvm.frames import own_column
from sparkext.jvm.spark_errors import reason
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Window
from sparkext.sql.clause import Expression
from sparkext.sql.quoting import string

MAX_LIVE = 1_000_000
"""The most windows that an event may be in: a task has totals for each of them."""

_DAY = 86_400_000_000
_INTEGRAL = (ByteType, ShortType, IntegerType, LongType)

OF_64_BITS = (LongType, TimestampType, TimestampNTZType)
"""Types of times near whose ends windows that slide by 1 have numbers of more than 64 bits."""


class TimeKind(Enum):
    """What kind of type the event time has. The kernel counts in microseconds, days, or as it is."""

    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_NTZ = "TIMESTAMP_NTZ"
    DATE = "DATE"
    INTEGRAL = "an integral type"


_EXAMPLES = {
    TimeKind.TIMESTAMP: "INTERVAL 10 MINUTES",
    TimeKind.TIMESTAMP_NTZ: "INTERVAL 10 MINUTES",
    TimeKind.DATE: "INTERVAL 7 DAYS",
    TimeKind.INTEGRAL: "10",
}

_LITERAL = re.compile(r"INTERVAL\s+'?\d+'?\s+[A-Z]+|\d+", re.IGNORECASE)
_UNITS = "MICROSECONDS?|MILLISECONDS?|SECONDS?|MINUTES?|HOURS?|DAYS?|WEEKS?"
_WITHOUT_INTERVAL = re.compile(rf"([\d.]+)\s*({_UNITS})", re.IGNORECASE)
_WITHOUT_UNIT = re.compile(r"INTERVAL\s+'?([\d.]+)'?", re.IGNORECASE)
_QUOTED_NUMBER = re.compile(r"['\"]\s*(\d+)\s*['\"]")
_MOST_SAID = 1000
_said: dict[tuple[str, TimeKind], tuple[DataType | None, Any]] = {}
"""What Spark has said that intervals are, which are the same in every session; workloads repeat them."""


def time_kind(kind: DataType) -> TimeKind | None:
    """The kind of an event time; None when the type is none."""
    if isinstance(kind, TimestampType):
        return TimeKind.TIMESTAMP
    if isinstance(kind, TimestampNTZType):
        return TimeKind.TIMESTAMP_NTZ
    if isinstance(kind, DateType):
        return TimeKind.DATE
    return TimeKind.INTEGRAL if isinstance(kind, _INTEGRAL) else None


def window(
    spark: SparkSession, sql: str, within: Expression | None, slide: Expression | None, kind: TimeKind
) -> Window | None:
    """The windows that ``WITHIN … SLIDE …`` asks for.

    Args:
        spark: Evaluates the two.
        sql: The user's statement.
        within: None for one unbounded window.
        slide: None for windows that do not overlap.
        kind: Of the event time.

    Raises:
        PlanningError: ``TREND_WINDOW_INVALID``.
    """
    if within is None:
        return None
    length = _length(spark, sql, "WITHIN", within, kind)
    if slide is None:
        return Window(length, length)
    sliding = Window(length, _length(spark, sql, "SLIDE", slide, kind))
    if sliding.live > MAX_LIVE:
        problem = f"every event would be in {sliding.live:,} windows, of {MAX_LIVE:,} at most"
        raise _invalid("SLIDE", slide, problem, "Choose a longer SLIDE or a shorter WITHIN.")
    return sliding


def span(
    spark: SparkSession, sql: str, expression: Expression | None, kind: TimeKind, word: str = "SPAN"
) -> int | None:
    """The length that ``SPAN …`` asks for, in units of the kernel; None if there is none.

    Args:
        spark: Evaluates it.
        sql: The user's statement.
        expression: What follows the word.
        kind: Of the event time.
        word: That comes before it.

    Raises:
        PlanningError: ``TREND_WINDOW_INVALID``.
    """
    return None if expression is None else _length(spark, sql, word, expression, kind)


def is_literal(length: str) -> bool:
    """Whether the text of a length means the same in all states of a session."""
    return _LITERAL.fullmatch(length) is not None


def bound(index: str, unit: int, offset: int, kind: TimeKind, type_: DataType, ansi: bool = True) -> str:
    """SQL for ``index · unit + offset``, a moment in units of the kernel, as a value of the time's own type.

    For a moment that the type does not have it fails with ``TREND_TIME_OVERFLOW``; without ``ansi`` it is NULL.
    """
    moment = _moment(f"try_add(try_multiply({index}, {unit}L), {offset}L)", kind, type_)
    return f"coalesce({moment}, {_no_moment(type_)})" if ansi else moment


def _moment(units: str, kind: TimeKind, type_: DataType) -> str:
    """SQL for a moment by its ``units`` of the kernel; NULL if the type does not have it."""
    match kind:
        case TimeKind.TIMESTAMP:
            return f"timestamp_micros({units})"
        case TimeKind.TIMESTAMP_NTZ:
            days, rest = f"CAST({units} DIV {_DAY}L AS INT)", f"CAST({units} % {_DAY}L AS DECIMAL(18,6)) / 1000000"
            return f"(TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval({days}, 0, 0, {rest}))"
        case TimeKind.DATE:
            return f"date_from_unix_date(try_cast({units} AS INT))"
        case TimeKind.INTEGRAL:
            return f"try_cast({units} AS {type_.simpleString()})"


def _no_moment(type_: DataType) -> str:
    problem = f"[TREND_TIME_OVERFLOW] A window reaches beyond the range of {type_.simpleString().upper()}"
    return f"raise_error({string(f'{problem}. Cast the event time to a wider type, or use a shorter WITHIN.')})"


def in_units(time: str, kind: TimeKind) -> str:
    """SQL for the event time ``time`` as the kernel counts it, a BIGINT."""
    match kind:
        case TimeKind.TIMESTAMP:
            return f"unix_micros({time})"
        case TimeKind.TIMESTAMP_NTZ:
            since = f"CAST(({time}) - TIMESTAMP_NTZ'1970-01-01 00:00:00' AS INTERVAL SECOND)"
            return f"CAST(CAST({since} AS DECIMAL(20, 6)) * 1000000 AS BIGINT)"
        case TimeKind.DATE:
            return f"CAST(unix_date({time}) AS BIGINT)"
        case TimeKind.INTEGRAL:
            return f"CAST({time} AS BIGINT)"


def numbered(time: str, windows: Iterable[Window | None], kind: TimeKind, type_: DataType) -> str:
    """SQL for the event time ``time``, which fails for times that the kernel cannot number windows of.

    A window has the number of its start in slides. Where it slides by 1, which is by one microsecond for a
    timestamp, the first windows that hold the least times of a type of 64 bits have numbers of more bits.
    """
    within = max((window.within for window in windows if window is not None and window.slide == 1), default=0)
    if not within or not isinstance(type_, OF_64_BITS):
        return time
    first, last = (_moment(f"{moment}L", kind, type_) for moment in (within - (1 << 63), (1 << 63) - 2))
    problem = "[TREND_TIME_OVERFLOW] An event is at an end of the range of its type, where SLIDE must be longer than 1"
    hint = ". Leave such events out in a subquery before MATCH_TREND, or choose a longer SLIDE."
    fails = f"raise_error({string(problem + hint)})"
    return f"CASE WHEN ({time}) BETWEEN {first} AND {last} THEN {time} ELSE {fails} END"


def _invalid(clause: str, expression: Expression, problem: str, hint: str) -> PlanningError:
    return PlanningError(
        "TREND_WINDOW_INVALID", expression.start, expression.end, clause=clause, problem=problem, hint=hint
    )


def _length(spark: SparkSession, sql: str, clause: str, expression: Expression, kind: TimeKind) -> int:
    """The length that ``expression`` says, in units of the kernel."""
    text = sql[expression.start : expression.end]
    if (meant := _meant(text, kind)) is not None:
        what = "a number" if kind is TimeKind.INTEGRAL else "an interval"
        raise _invalid(clause, expression, f"{text} is not {what}", f"Write {clause} {meant}.")
    try:
        type_, value = _said.get((text, kind)) or _constant(spark, text, kind)
        problem = _problem(text, type_, value, kind)
        if problem is None and is_literal(text) and len(_said) < _MOST_SAID:
            _said[text, kind] = type_, value
    except CapturedException as error:
        problem = reason(error).rstrip(".")
    if problem is not None:
        raise _invalid(clause, expression, problem, f"Example: {clause} {_EXAMPLES[kind]}.")
    return int(value // _DAY if kind is TimeKind.DATE else value)


def _meant(text: str, kind: TimeKind) -> str | None:
    """What a length was probably meant to be that is almost one; None if it may be one."""
    if kind is TimeKind.INTEGRAL:
        if match := _QUOTED_NUMBER.fullmatch(text):
            return f"{match[1]}, without quotes: the event time is a number"
        if match := _WITHOUT_INTERVAL.fullmatch(text) or _WITHOUT_UNIT.fullmatch(text):
            return f"{match[1]}, without a unit: the event time is a number"
        return None
    if match := _WITHOUT_INTERVAL.fullmatch(text):
        return f"INTERVAL {match[1]} {match[2]}"
    if match := _WITHOUT_UNIT.fullmatch(text):
        return f"INTERVAL {match[1]} MINUTES, or another unit"
    return None


def _problem(text: str, type_: DataType | None, value: int | None, kind: TimeKind) -> str | None:
    """Why the constant ``text`` is no length over that kind of event time; None if it is one."""
    if type_ is None:
        return f"'{text}' is not a constant"
    interval = isinstance(type_, DayTimeIntervalType | YearMonthIntervalType | StringType)
    if not interval and not isinstance(type_, _INTEGRAL):
        return f"'{text}' is neither an interval nor an integer"
    if interval and kind is TimeKind.INTEGRAL:
        return "the ORDER BY expression is a plain number, so an interval does not apply"
    if not interval and kind is not TimeKind.INTEGRAL:
        return f"the ORDER BY expression is a {kind.value}, so a plain number does not apply"
    if isinstance(type_, StringType):
        return f"{text} is not an interval"
    if isinstance(type_, YearMonthIntervalType):
        return "months and years differ in length; days, hours, minutes and seconds do not"
    if value is None or value <= 0:
        return "it must be positive"
    if value >= 1 << 63:
        return "it is longer than INTERVAL '106751991 04:00:54.775807' DAY TO SECOND, the longest there is"
    if kind is TimeKind.DATE and value % _DAY:
        return "the ORDER BY expression is a DATE, so it must be whole days"
    return None


def _constant(spark: SparkSession, text: str, kind: TimeKind) -> tuple[DataType | None, Any]:
    """Type and value, as Spark holds it, of an expression without columns; no type if it is not constant.

    A string over moments is an interval, as Spark's ``window`` function takes it; it stays a string if it is
    none. Intervals are of microseconds or of months, whatever type Spark gives them.

    Raises:
        CapturedException: Spark cannot make sense of it.
    """
    try:
        selected = spark.range(1).select().select(own_column(f"({text})"))
    except AnalysisException as error:
        if (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            return None, None
        raise
    try:
        type_, value = selected.schema.fields[0].dataType, constant(selected)
    except NotConstantError:
        return None, None
    if isinstance(type_, StringType) and value is not None and kind is not TimeKind.INTEGRAL:
        value = parsed_interval(value)
    if not isinstance(value, CalendarInterval):
        return type_, value
    if value.months:
        return YearMonthIntervalType(), value.months
    return DayTimeIntervalType(), value.days * _DAY + value.microseconds
