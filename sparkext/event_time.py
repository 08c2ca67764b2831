"""Event time: its unit in the kernel, windows over it, and window bounds in its own type."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    TimestampNTZType,
    TimestampType,
)

from planner.errors import PlanningError
from planner.query import Window
from sparkext.clause import Expression
from sparkext.jvm_errors import reason
from sparkext.tokens import Kind

_DAY = 86_400_000_000
_INTEGRAL = (ByteType, ShortType, IntegerType, LongType)


class TimeKind(Enum):
    """What kind of type the event time has. The kernel counts in microseconds, days, or as it is."""

    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_NTZ = "TIMESTAMP_NTZ"
    DATE = "DATE"
    INTEGRAL = "an integral type"


def time_kind(kind: DataType) -> TimeKind | None:
    """The kind of an event time; None when the type is none."""
    if isinstance(kind, TimestampType):
        return TimeKind.TIMESTAMP
    if isinstance(kind, TimestampNTZType):
        return TimeKind.TIMESTAMP_NTZ
    if isinstance(kind, DateType):
        return TimeKind.DATE
    return TimeKind.INTEGRAL if isinstance(kind, _INTEGRAL) else None


def window(parser: Any, sql: str, within: Expression | None, slide: Expression | None, kind: TimeKind) -> Window | None:
    """The windows that ``WITHIN … SLIDE …`` asks for.

    Args:
        parser: Spark's own parser, which reads the intervals.
        sql: The user's statement.
        within: None for one unbounded window.
        slide: None for windows that do not overlap.
        kind: Of the event time.

    Raises:
        PlanningError: ``TREND_WINDOW_INVALID``.
    """
    if within is None:
        return None
    length = _length(parser, sql, "WITHIN", within, kind)
    return Window(length, length if slide is None else _length(parser, sql, "SLIDE", slide, kind))


def bound(index: str, unit: int, offset: int, kind: TimeKind, type_: DataType) -> str:
    """SQL for ``index · unit + offset``, a moment in units of the kernel, as a value of the time's own type."""
    moment = f"({index} * {unit}L + {offset}L)"
    match kind:
        case TimeKind.TIMESTAMP:
            return f"timestamp_micros({moment})"
        case TimeKind.TIMESTAMP_NTZ:
            days, rest = f"CAST({moment} DIV {_DAY}L AS INT)", f"CAST({moment} % {_DAY}L AS DECIMAL(18,6)) / 1000000"
            return f"(TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval({days}, 0, 0, {rest}))"
        case TimeKind.DATE:
            return f"date_from_unix_date(CAST({moment} AS INT))"
        case TimeKind.INTEGRAL:
            return f"CAST({moment} AS {type_.simpleString()})"


def _length(parser: Any, sql: str, clause: str, expression: Expression, kind: TimeKind) -> int:
    text = sql[expression.start : expression.end]

    def wrong(problem: str, hint: str) -> PlanningError:
        return PlanningError(
            "TREND_WINDOW_INVALID", expression.start, expression.end, clause=clause, problem=problem, hint=hint
        )

    spelled = "INTERVAL " + text if len(expression.tokens) == 1 and expression.tokens[0].kind is Kind.STRING else text
    example = f"{clause} 10" if kind is TimeKind.INTEGRAL else f"{clause} INTERVAL 10 MINUTES"
    hint = f"Example: {example}."
    try:
        literal = parser.parseExpression(spelled)
        constant = literal.resolved() and literal.foldable()
    except CapturedException as error:
        raise wrong(reason(error).rstrip("."), hint) from None
    if not constant:
        raise wrong(f"'{text}' is not a constant", hint)
    type_name, value = literal.dataType().typeName(), literal.eval(None)
    if type_name.startswith("interval") and ("month" in type_name or "year" in type_name):
        raise wrong("months and years differ in length", "Use days, hours, minutes or seconds.")
    if type_name.startswith("interval"):
        if kind is TimeKind.INTEGRAL:
            raise wrong("the ORDER BY expression is a plain number, so an interval does not apply", hint)
    elif type_name in ("tinyint", "smallint", "integer", "bigint", "byte", "short", "long", "int"):
        if kind is not TimeKind.INTEGRAL:
            raise wrong(f"the ORDER BY expression is a {kind.value}, so a plain number does not apply", hint)
    else:
        raise wrong(f"'{text}' is neither an interval nor an integer", hint)
    if value is None or value <= 0:
        raise wrong("it must be positive", hint)
    if kind is TimeKind.DATE:
        if value % _DAY:
            raise wrong(
                "the ORDER BY expression is a DATE, so it must be whole days", "Example: WITHIN INTERVAL 7 DAYS."
            )
        value //= _DAY
    return int(value)
