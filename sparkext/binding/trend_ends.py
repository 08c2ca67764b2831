"""Aggregates of the ends of trends: which types go with them, and what Spark evaluates for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pyspark.sql import types as t
from pyspark.sql.types import DataType

from sparkext.binding.aggregate_types import Checked, wrong_type
from sparkext.binding.event_time import TimeKind, in_units
from sparkext.binding.type_text import type_text
from sparkext.planner.automata.automaton import MAX_STATES, AutomatonTooLargeError
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, End, EventClass, Mark, Query, Selection
from sparkext.planner.sharing.template import template_of
from sparkext.planner.totals.contributions import both
from sparkext.planner.totals.difference_columns import difference_type as held_as
from sparkext.sql.aggregate_calls import AggregateCall
from sparkext.sql.quoting import alone

_TIMES: dict[str, TimeKind] = {
    "timestamp": TimeKind.TIMESTAMP,
    "timestamp_ntz": TimeKind.TIMESTAMP_NTZ,
    "date": TimeKind.DATE,
}
INTERVALS = ("timestamp", "timestamp_ntz")
"""Types of which a difference is an interval."""

_WHOLE = ("tinyint", "smallint", "int", "date")
"""Types of which a difference is a BIGINT."""

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def as_double(text: str, type_: str) -> str:
    """SQL for a value, of which differences are taken: a time is so many microseconds or days."""
    return f"CAST({as_number(text, type_)} AS DOUBLE)"


def as_number(text: str, type_: str) -> str:
    """SQL for a value, of which differences are taken: a time is so many microseconds or days, a BIGINT."""
    return in_units(text, _TIMES[type_]) if type_ in _TIMES else text


def difference_type(aggregate: Aggregate) -> str:
    """What the least or greatest difference of two ends is, as Spark spells types."""
    kinds = [end.attribute.type for end in aggregate.ends]
    if all(kind in INTERVALS for kind in kinds):
        return "INTERVAL DAY TO SECOND"
    return "bigint" if all(kind in _WHOLE for kind in kinds) else held_as(aggregate.ends)


def held_type(name: str) -> DataType:
    """The type in which differences are held, by its name."""
    digits = _DECIMAL.fullmatch(name)
    return t.DoubleType() if digits is None else t.DecimalType(int(digits[1]), int(digits[2]))


def ends_of(call: AggregateCall, checked: Checked, time: str) -> tuple[End, ...]:
    """The ends that an aggregate is of; the event time, ``time``, is never NULL."""
    return tuple(
        End(
            mark=Mark(end.side, end.variable),
            attribute=Attribute(end.attribute.canonical, checked[end.attribute][1].simpleString()),
            may_be_null=end.attribute.canonical != time,
        )
        for end in call.ends
    )


def check_difference(call: AggregateCall, checked: Checked) -> None:
    """Refuse the difference of ends that have none.

    Raises:
        PlanningError: ``TREND_ATTRIBUTE_TYPE``.
    """
    first, second = call.ends
    kinds = [checked[end.attribute][1] for end in call.ends]
    if all(isinstance(kind, t.NumericType) for kind in kinds):
        return
    for end, kind in zip(call.ends, kinds, strict=True):
        if not isinstance(kind, t.NumericType) and kind.simpleString() not in _TIMES:
            hint = "Differences are of numbers, dates or timestamps; a cast may help."
            raise wrong_type(call, end.attribute, checked, hint)
    if kinds[0] != kinds[1]:
        first_type = type_text(kinds[0])
        hint = f"{first.side.value}( ) is of type {first_type}: cast one of them, so that both are of one type."
        raise wrong_type(call, second.attribute, checked, hint)


def check_ends(query: Query, calls: Iterable[tuple[AggregateCall, Aggregate]], pattern_at: tuple[int, int]) -> None:
    """Refuse what cannot be computed of the ends of trends.

    Args:
        query: The query.
        calls: Its aggregates, as they are written and as they are understood.
        pattern_at: Where its pattern is.

    Raises:
        PlanningError: ``TREND_PATTERN_TOO_LARGE``, ``TREND_END_COMBINED`` or ``TREND_SPAN_COMBINED``.
    """
    if not query.marks:
        return
    for call, aggregate in calls if query.span is not None and not query.has_rows else ():
        if aggregate.is_extreme_difference:
            also = f"{call.function.value} of a difference of ends"
            raise PlanningError("TREND_SPAN_COMBINED", call.start, call.end, also=also)
    if query.selection is Selection.NEXT and query.steps:
        for call, aggregate in calls:
            if aggregate.is_difference and any(end.may_be_null for end in aggregate.ends):
                raise PlanningError("TREND_END_COMBINED", call.start, call.end, function=call.function.value)
    try:
        template_of([query])
    except AutomatonTooLargeError:
        limit = f"{MAX_STATES} states, taken apart by the ends of trends,"
        raise PlanningError("TREND_PATTERN_TOO_LARGE", *pattern_at, limit=limit) from None


def texts(aggregate: Aggregate, expressions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Canonical text and SQL of what is evaluated for a difference beside its two ends."""
    if aggregate.is_difference and not aggregate.is_extreme_difference:
        later, earlier = (end.attribute for end in aggregate.ends)
        parts = [as_double(alone(expressions[attribute.text]), attribute.type) for attribute in (later, earlier)]
        yield both(*aggregate.ends).text, " - ".join(parts)


def classes_with_values(query: Query, expressions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Canonical text and SQL of the conditions that neither end of a difference is NULL, for all classes of events."""
    classes = dict.fromkeys(event for _, event in query.classes)
    classes |= dict.fromkeys(step.start for _, step in query.steps if step.start is not None)
    for ends in query.differences:
        asked = sorted({end.attribute.text for end in ends if end.may_be_null})
        for event in classes:
            for some in ([text] for text in asked):
                yield _with_values(event, some, expressions)
            yield _with_values(event, asked, expressions)


def _with_values(event: EventClass, attributes: list[str], expressions: Mapping[str, str]) -> tuple[str, str]:
    has_values = " AND ".join(f"({alone(expressions[text])}) IS NOT NULL" for text in attributes) or "true"
    canonical = event.with_values(attributes).condition or "true"
    # Not AND, which Spark may evaluate from either side: an attribute may fail on events of other classes.
    condition = None if event.condition is None else expressions[event.condition]
    return canonical, has_values if condition is None else f"CASE WHEN {alone(condition)} THEN {has_values} END"
