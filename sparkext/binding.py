"""From a clause and the columns of its relation to a trend query: names resolved, types checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import types as t
from pyspark.sql.types import DataType

from planner.automaton import MAX_STATES, AutomatonTooLargeError, automaton
from planner.errors import PlanningError
from planner.pattern import Pattern, variables
from planner.query import Aggregate, Attribute, EventClass, Function, Query, Window
from sparkext import event_time
from sparkext.clause import Clause, Item
from sparkext.event_time import TimeKind
from sparkext.expressions import (
    AggregateCall,
    EventExpression,
    Names,
    aggregate_calls,
    event_expression,
    find_variable,
)
from sparkext.source import check_expressions

_NUMERIC: tuple[type[DataType], ...] = (t.NumericType,)
_ORDERED: tuple[type[DataType], ...] = (t.NumericType, t.DateType, t.TimestampType, t.TimestampNTZType)
_KEYS = (
    t.NumericType,
    t.StringType,
    t.BooleanType,
    t.BinaryType,
    t.DateType,
    t.TimestampType,
    t.TimestampNTZType,
    t.DayTimeIntervalType,
)


Computation: TypeAlias = tuple[Pattern, tuple[tuple[str, EventClass], ...], tuple[Aggregate, ...], Window | None]


@dataclass(frozen=True, slots=True)
class Key:
    """A PARTITION BY or GROUP BY expression: its text for Spark, its name in the result, its type."""

    canonical: str
    text: str
    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: an expression over result columns and aggregates.

    Attributes:
        name: Of the result column.
        expression: With `aggregate_name` of an index into the query's aggregates in place of each
            call, padded so that all else keeps its offset.
    """

    name: str
    expression: EventExpression


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A trend query over a relation whose columns are known.

    Attributes:
        source: The relation.
        query: What the planner sees.
        groups: What results are grouped by.
        partitions: Further expressions on which the events of a trend agree.
        time: Text of the ORDER BY expression.
        time_canonical: Its canonical text.
        time_kind, time_type: Of that expression.
        expressions: Texts for Spark by canonical text: type, conditions, attributes.
        measures: In order.
    """

    source: DataFrame
    query: Query
    groups: tuple[Key, ...]
    partitions: tuple[Key, ...]
    time: str
    time_canonical: str
    time_kind: TimeKind
    time_type: DataType
    expressions: dict[str, str]
    measures: tuple[Measure, ...]

    @property
    def computation(self) -> Computation:
        """What a pool computes for the query, whatever it is called and however its measures are written."""
        return self.query.pattern, self.query.classes, self.query.aggregates, self.query.window

    @property
    def sorted_groups(self) -> tuple[Key, ...]:
        """`groups` in the order that a pool keeps them in."""
        return tuple(sorted(self.groups, key=_canonical))

    @property
    def sorted_partitions(self) -> tuple[Key, ...]:
        """`partitions` in the order that a pool keeps them in."""
        return tuple(sorted(self.partitions, key=_canonical))


def aggregate_name(index: int) -> str:
    """Name that the value of an aggregate has while measures are evaluated; no longer than its call."""
    return f"__agg{index}"


def bind(sql: str, clause: Clause, source: DataFrame, relation: str | None, parser: Any, name: str) -> BoundQuery:
    """Resolve ``clause`` against the columns of ``source``.

    Args:
        sql: The user's statement.
        clause: Parsed from it.
        source: The relation before the clause.
        relation: Its name or alias, if it has one.
        parser: Spark's own parser, for intervals.
        name: Of the query.

    Raises:
        PlanningError: With the place of what is wrong.
    """
    return _Binder(sql, clause, source, relation, parser).bind(name)


class _Binder:
    def __init__(self, sql: str, clause: Clause, source: DataFrame, relation: str | None, parser: Any) -> None:
        self._sql = sql
        self._clause = clause
        self._source = source
        self._parser = parser
        self._variables = variables(clause.pattern)
        self._names = Names(self._variables, relation)

    def bind(self, name: str) -> BoundQuery:
        clause = self._clause
        self._check_automaton()
        order_by = event_expression(self._sql, clause.order_by, self._names)
        type_by = None if clause.type_by is None else event_expression(self._sql, clause.type_by, self._names)
        group_items, partition_items = self._keys(clause.group_by), self._keys(clause.partition_by)
        conditions = self._conditions()
        calls = [aggregate_calls(self._sql, item.expression, self._names) for item in clause.measures]
        attributes = [call for row in calls for call in row if call.attribute is not None]

        checked = self._check(order_by, type_by, group_items, partition_items, conditions, attributes)
        _, time_type = checked[order_by]
        kind = event_time.time_kind(time_type)
        if kind is None:
            raise PlanningError("TREND_ORDER_TYPE", order_by.start, order_by.end, type=time_type.simpleString().upper())
        for variable, condition in conditions.items():
            _boolean(variable, condition, checked[condition][1])
        for call in attributes:
            _aggregable(call, checked)
        window = event_time.window(self._parser, self._sql, clause.within, clause.slide, kind)

        groups = _named(group_items or partition_items, checked)
        shown = {key.canonical for key in groups}
        partitions = tuple(key for key in _named(partition_items, checked) if key.canonical not in shown)
        aggregates = self._aggregates(calls, checked)
        measures = tuple(
            Measure(_name(item), self._measure(item, row, aggregates, checked))
            for item, row in zip(clause.measures, calls, strict=True)
        )
        self._check_names(group_items or partition_items, groups, window)
        known = [order_by, *conditions.values(), *(call.attribute for call in attributes if call.attribute)]
        return BoundQuery(
            source=self._source,
            query=Query(name, clause.pattern, self._classes(type_by, conditions), tuple(aggregates), window),
            groups=groups,
            partitions=partitions,
            time=order_by.text,
            time_canonical=order_by.canonical,
            time_kind=kind,
            time_type=time_type,
            expressions={e.canonical: e.text for e in ([*known, type_by] if type_by is not None else known)},
            measures=measures,
        )

    def _check_automaton(self) -> None:
        try:
            automaton(self._clause.pattern)
        except AutomatonTooLargeError:
            raise PlanningError("TREND_PATTERN_TOO_LARGE", *self._clause.pattern_at, limit=str(MAX_STATES)) from None

    def _keys(self, items: Sequence[Item]) -> list[tuple[Item, EventExpression]]:
        return [(item, event_expression(self._sql, item.expression, self._names)) for item in items]

    def _conditions(self) -> dict[str, EventExpression]:
        conditions: dict[str, EventExpression] = {}
        for definition in self._clause.define:
            token = definition.variable
            variable = find_variable(token.name or "", self._variables)
            if variable is None:
                raise PlanningError(
                    "TREND_UNKNOWN_VARIABLE",
                    token.start,
                    token.end,
                    name=token.name or "",
                    known=", ".join(self._variables),
                )
            if variable in conditions:
                raise PlanningError("TREND_VARIABLE_REPEATED", token.start, token.end, name=variable)
            conditions[variable] = event_expression(self._sql, definition.condition, self._names, variable)
        if self._clause.type_by is None:
            for variable in self._variables:
                if variable not in conditions:
                    raise PlanningError("TREND_VARIABLE_UNDEFINED", *self._clause.pattern_at, name=variable)
        return conditions

    def _check(
        self,
        order_by: EventExpression,
        type_by: EventExpression | None,
        groups: Sequence[tuple[Item, EventExpression]],
        partitions: Sequence[tuple[Item, EventExpression]],
        conditions: dict[str, EventExpression],
        attributes: Sequence[AggregateCall],
    ) -> dict[EventExpression, tuple[str, DataType]]:
        wanted: list[tuple[str, EventExpression]] = [("ORDER BY", order_by)]
        if type_by is not None:
            wanted.append(("TYPE BY", type_by))
        wanted += (("GROUP BY", expression) for _, expression in groups)
        wanted += (("PARTITION BY", expression) for _, expression in partitions)
        wanted += (("DEFINE", condition) for condition in conditions.values())
        wanted += (("MEASURES", call.attribute) for call in attributes if call.attribute is not None)
        found = check_expressions(self._source, wanted)
        checked = {expression: result for (_, expression), result in zip(wanted, found, strict=True)}
        for clause, items in (("GROUP BY", groups), ("PARTITION BY", partitions)):
            for _, expression in items:
                kind = checked[expression][1]
                if not isinstance(kind, _KEYS):
                    raise PlanningError(
                        "TREND_KEY_TYPE",
                        expression.start,
                        expression.end,
                        clause=clause,
                        expression=expression.canonical,
                        type=kind.simpleString().upper(),
                    )
        return checked

    def _classes(
        self, type_by: EventExpression | None, conditions: dict[str, EventExpression]
    ) -> tuple[tuple[str, EventClass], ...]:
        by = None if type_by is None else type_by.canonical
        return tuple(
            (v, EventClass(by, None if by is None else v, conditions[v].canonical if v in conditions else None))
            for v in self._variables
        )

    @staticmethod
    def _aggregates(
        calls: list[list[AggregateCall]], checked: dict[EventExpression, tuple[str, DataType]]
    ) -> list[Aggregate]:
        return list(dict.fromkeys(_aggregate(call, checked) for row in calls for call in row))

    def _measure(
        self,
        item: Item,
        calls: list[AggregateCall],
        aggregates: list[Aggregate],
        checked: dict[EventExpression, tuple[str, DataType]],
    ) -> EventExpression:
        expression = item.expression
        text = self._sql[expression.start : expression.end]
        for call in calls:
            start, end = call.start - expression.start, call.end - expression.start
            name = aggregate_name(aggregates.index(_aggregate(call, checked)))
            text = text[:start] + name.ljust(end - start) + text[end:]
        return EventExpression(text, expression.start, text)

    def _check_names(
        self, items: Sequence[tuple[Item, EventExpression]], groups: tuple[Key, ...], window: Window | None
    ) -> None:
        taken = set() if window is None else {"window_start", "window_end"}
        places = [
            *((key.name, item.name or item.expression) for key, (item, _) in zip(groups, items, strict=False)),
            *((_name(item), item.name or item.expression) for item in self._clause.measures),
        ]
        for name, place in places:
            if name.lower() in taken:
                raise PlanningError("TREND_COLUMN_REPEATED", place.start, place.end, name=name)
            taken.add(name.lower())


def _canonical(key: Key) -> str:
    return key.canonical


def _name(item: Item) -> str:
    assert item.name is not None
    return item.name.name or ""


def _named(
    items: Sequence[tuple[Item, EventExpression]], checked: dict[EventExpression, tuple[str, DataType]]
) -> tuple[Key, ...]:
    def keys() -> Iterator[Key]:
        for item, expression in items:
            given = item.name.name if item.name is not None else None
            name, kind = checked[expression]
            yield Key(expression.canonical, expression.text, given or name, kind)

    return tuple(keys())


def _aggregate(call: AggregateCall, checked: dict[EventExpression, tuple[str, DataType]]) -> Aggregate:
    if call.attribute is None:
        return Aggregate(call.function, call.variable)
    kind = checked[call.attribute][1].simpleString()
    return Aggregate(call.function, call.variable, Attribute(call.attribute.canonical, kind))


def _boolean(variable: str, condition: EventExpression, kind: DataType) -> None:
    if not isinstance(kind, t.BooleanType):
        raise PlanningError(
            "TREND_CONDITION_NOT_BOOLEAN",
            condition.start,
            condition.end,
            variable=variable,
            type=kind.simpleString().upper(),
        )


def _aggregable(call: AggregateCall, checked: dict[EventExpression, tuple[str, DataType]]) -> None:
    assert call.attribute is not None
    kind = checked[call.attribute][1]
    match call.function:
        case Function.COUNT:
            return
        case Function.SUM | Function.AVG:
            allowed, hint = _NUMERIC, "SUM and AVG take numbers; a cast may help."
        case Function.MIN | Function.MAX:
            allowed, hint = _ORDERED, "MIN and MAX take numbers, dates and timestamps."
    if not isinstance(kind, allowed):
        raise PlanningError(
            "TREND_ATTRIBUTE_TYPE",
            call.attribute.start,
            call.attribute.end,
            function=call.function.value,
            attribute=call.attribute.canonical,
            type=kind.simpleString().upper(),
            hint=hint,
        )
