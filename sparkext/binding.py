"""From a clause and the columns of its relation to a trend query: names resolved, types checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import types as t
from pyspark.sql.types import DataType

from planner.attribute import Attribute
from planner.automaton import MAX_STATES, AutomatonTooLargeError
from planner.errors import PlanningError
from planner.guards import MAX_GUARDS, TooManyGuardsError
from planner.pattern import negations, positive_variables, variables
from planner.query import Aggregate, EventClass, Function, Query, Step, Window
from planner.unambiguous import automaton
from sparkext import event_time
from sparkext.adjacent import BoundStep, bind_step
from sparkext.bound_query import BoundQuery, Key, Measure
from sparkext.clause import Clause, Expression, Item
from sparkext.expressions import (
    AggregateCall,
    EventExpression,
    Names,
    adjacent_expression,
    aggregate_calls,
    event_expression,
    find_variable,
)
from sparkext.foreign import check_foreign
from sparkext.own_columns import aggregate_name
from sparkext.source import check_boolean, check_expressions
from sparkext.source_filter import Filtered

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


def bind(
    sql: str, clause: Clause, source: DataFrame, part: Filtered | None, relation: str | None, name: str
) -> BoundQuery:
    """Resolve ``clause`` against the columns of ``source``.

    Args:
        sql: The user's statement.
        clause: Parsed from it.
        source: The relation before the clause.
        part: What that is a part of, if it is.
        relation: Its name or alias, if it has one.
        name: Of the query.

    Raises:
        PlanningError: With the place of what is wrong.
    """
    return _Binder(sql, clause, source, part if _has_plain_keys(clause) else None, relation).bind(name)


def _has_plain_keys(clause: Clause) -> bool:
    """Whether what is evaluated for all events, whatever filters a source has, are columns, which cannot fail."""
    keys = [item.expression for item in (*clause.group_by, *clause.partition_by)]
    keys += [clause.order_by] if clause.type_by is None else [clause.order_by, clause.type_by]
    return all(token.name is not None or token.is_symbol(".") for key in keys for token in key.tokens)


class _Binder:
    def __init__(self, sql: str, clause: Clause, given: DataFrame, part: Filtered | None, relation: str | None) -> None:
        self._sql = sql
        self._clause = clause
        self._given = given
        self._source = given if part is None else part.whole
        self._part = None if part is None else part.condition
        self._variables = variables(clause.pattern)
        self._names = Names(self._variables, relation)

    def bind(self, name: str) -> BoundQuery:
        clause = self._clause
        self._check_automaton()
        for where, expression in _expressions(clause):
            check_foreign(self._source.sparkSession, where, expression)
        order_by = event_expression(self._sql, clause.order_by, self._names)
        type_by = None if clause.type_by is None else event_expression(self._sql, clause.type_by, self._names)
        group_items, partition_items = self._keys(clause.group_by), self._keys(clause.partition_by)
        conditions, steps = self._conditions()
        calls = [aggregate_calls(self._sql, item.expression, self._names) for item in clause.measures]
        attributes = [call for row in calls for call in row if call.attribute is not None]
        self._check_counted(call for row in calls for call in row)

        checked = self._check(order_by, type_by, group_items, partition_items, conditions, attributes)
        _, time_type = checked[order_by]
        kind = event_time.time_kind(time_type)
        if kind is None:
            raise PlanningError("TREND_ORDER_TYPE", order_by.start, order_by.end, type=time_type.simpleString().upper())
        for variable, condition in conditions.items():
            check_boolean(variable, condition, checked[condition][1])
        for call in attributes:
            _aggregable(call, checked)
        window = event_time.window(self._source.sparkSession, self._sql, clause.within, clause.slide, kind)

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
        by = None if type_by is None else type_by.canonical
        classes = self._classes(by, conditions, steps)
        return BoundQuery(
            given=self._given,
            source=self._source,
            part=self._part,
            query=Query(
                name, clause.pattern, tuple(classes.items()), tuple(aggregates), window, self._steps(classes, steps)
            ),
            groups=groups,
            partitions=partitions,
            time=order_by.text,
            time_canonical=order_by.canonical,
            time_kind=kind,
            time_type=time_type,
            expressions=self._with_part(
                {e.canonical: e.text for e in ([*known, type_by] if type_by is not None else known)}
                | {text: text for step in steps.values() for text in _texts(step)},
                [*(condition.canonical for condition in conditions.values()), *_conditions(steps.values())],
            ),
            measures=measures,
        )

    def _check_automaton(self) -> None:
        try:
            automaton(self._clause.pattern)
        except AutomatonTooLargeError:
            limit = f"{MAX_STATES} states"
        except TooManyGuardsError:
            limit = f"{MAX_GUARDS} negations that one step depends on"
        else:
            return
        raise PlanningError("TREND_PATTERN_TOO_LARGE", *self._clause.pattern_at, limit=limit)

    def _check_counted(self, calls: Iterable[AggregateCall]) -> None:
        counted = positive_variables(self._clause.pattern)
        for call in calls:
            if call.variable is not None and call.variable not in counted:
                raise PlanningError("TREND_NEGATED_VARIABLE", call.start, call.end, name=call.variable)

    def _keys(self, items: Sequence[Item]) -> list[tuple[Item, EventExpression]]:
        return [(item, event_expression(self._sql, item.expression, self._names)) for item in items]

    def _conditions(self) -> tuple[dict[str, EventExpression], dict[str, BoundStep]]:
        """Conditions on one event, and those that name the event before."""
        conditions: dict[str, EventExpression] = {}
        steps: dict[str, BoundStep] = {}
        under_not = {name for negated in negations(self._clause.pattern) for name in variables(negated)}
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
            if variable in conditions or variable in steps:
                raise PlanningError("TREND_VARIABLE_REPEATED", token.start, token.end, name=variable)
            adjacent = adjacent_expression(self._sql, definition.condition, self._names, variable, self._source.columns)
            if adjacent is None:
                conditions[variable] = event_expression(self._sql, definition.condition, self._names, variable)
                continue
            if variable in under_not:
                raise PlanningError("TREND_PREV_UNDER_NOT", token.start, token.end, variable=variable)
            steps[variable] = bind_step(self._source, variable, adjacent)
        if self._clause.type_by is None:
            for variable in self._variables:
                if variable not in conditions and variable not in steps:
                    raise PlanningError("TREND_VARIABLE_UNDEFINED", *self._clause.pattern_at, name=variable)
        return conditions, steps

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
                if isinstance(kind, t.StringType) and not kind.isUTF8BinaryCollation():
                    raise PlanningError(
                        "TREND_KEY_COLLATION",
                        expression.start,
                        expression.end,
                        clause=clause,
                        expression=expression.canonical,
                        collation=kind.collation,
                    )
        return checked

    def _classes(
        self, by: str | None, conditions: dict[str, EventExpression], steps: dict[str, BoundStep]
    ) -> dict[str, EventClass]:
        own = {variable: condition.canonical for variable, condition in conditions.items()}
        own |= {variable: step.own for variable, step in steps.items() if step.own is not None}
        return {v: EventClass(by, None if by is None else v, self._of_part(own.get(v))) for v in self._variables}

    def _steps(self, classes: dict[str, EventClass], steps: dict[str, BoundStep]) -> tuple[tuple[str, Step], ...]:
        def start(variable: str, step: BoundStep) -> EventClass | None:
            return None if step.start is None else replace(classes[variable], condition=self._of_part(step.start))

        return tuple((v, Step(steps[v].text, steps[v].condition, start(v, steps[v]))) for v in classes if v in steps)

    def _of_part(self, condition: str | None) -> str | None:
        """Canonical text of a condition on events of the relation that is read."""
        if self._part is None or condition is None:
            return self._part or condition
        return f"{self._part} AND ({condition})"

    def _with_part(self, expressions: dict[str, str], conditions: Iterable[str]) -> dict[str, str]:
        """Texts by canonical texts, with those of conditions on events of the relation that is read."""
        if self._part is None:
            return expressions
        # Not AND, which Spark may evaluate from either side: a condition may fail on events of other parts.
        own = {self._of_part(c) or "": f"CASE WHEN {self._part} THEN {expressions[c]} END" for c in conditions}
        return expressions | own | {self._part: self._part}

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


def _expressions(clause: Clause) -> Iterator[tuple[str, Expression]]:
    """All expressions of the clause, each with the name of its section."""
    yield "ORDER BY", clause.order_by
    yield from (("GROUP BY", item.expression) for item in clause.group_by)
    yield from (("PARTITION BY", item.expression) for item in clause.partition_by)
    yield from (("DEFINE", definition.condition) for definition in clause.define)
    yield from (("MEASURES", item.expression) for item in clause.measures)
    optional = (("TYPE BY", clause.type_by), ("WITHIN", clause.within), ("SLIDE", clause.slide))
    yield from ((where, expression) for where, expression in optional if expression is not None)


def _conditions(steps: Iterable[BoundStep]) -> Iterator[str]:
    """What concerns one event in conditions that name the event before."""
    yield from (text for step in steps for text in (step.own, step.start) if text is not None)


def _texts(step: BoundStep) -> Iterator[str]:
    """What Spark evaluates of a condition that names the event before."""
    yield from step.attributes
    yield from _conditions([step])


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


def _aggregable(call: AggregateCall, checked: dict[EventExpression, tuple[str, DataType]]) -> None:
    assert call.attribute is not None
    kind = checked[call.attribute][1]
    match call.function:
        case Function.COUNT | Function.APPROX_COUNT | Function.LOG10_COUNT:
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
