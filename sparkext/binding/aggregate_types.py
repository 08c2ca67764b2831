"""Which types aggregates take."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import types as t
from pyspark.sql.types import DataType

from sparkext.binding.type_text import type_text
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Function
from sparkext.sql.aggregate_calls import AggregateCall
from sparkext.sql.event_expressions import EventExpression

Checked = Mapping[EventExpression, tuple[str, DataType]]
"""Name and type of each expression, as Spark says."""

_NUMERIC: tuple[type[DataType], ...] = (t.NumericType,)
_ORDERED: tuple[type[DataType], ...] = (t.NumericType, t.DateType, t.TimestampType, t.TimestampNTZType)


def check_type(call: AggregateCall, checked: Checked) -> None:
    """Refuse an aggregate of an attribute of a type that it does not take.

    Raises:
        PlanningError: ``TREND_ATTRIBUTE_TYPE``.
    """
    attribute = next(call.attributes())
    match call.function:
        case Function.COUNT | Function.APPROX_COUNT | Function.LOG10_COUNT:
            return
        case Function.SUM | Function.AVG:
            allowed, hint = _NUMERIC, "SUM and AVG take numbers; a cast may help."
        case Function.MIN | Function.MAX:
            allowed, hint = _ORDERED, "MIN and MAX take numbers, dates and timestamps."
    if not isinstance(checked[attribute][1], allowed):
        raise wrong_type(call, attribute, checked, hint)


def wrong_type(call: AggregateCall, attribute: EventExpression, checked: Checked, hint: str) -> PlanningError:
    """``TREND_ATTRIBUTE_TYPE``: the aggregate does not take the type of the attribute."""
    return PlanningError(
        "TREND_ATTRIBUTE_TYPE",
        attribute.start,
        attribute.end,
        function=call.function.value,
        attribute=attribute.canonical,
        type=type_text(checked[attribute][1]),
        hint=hint,
    )
