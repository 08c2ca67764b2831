"""From a clause and the columns of its relation to a trend query: names resolved, types checked."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from pyspark.sql import types as t
from pyspark.sql.types import DataType

from sparkext.binding import event_time
from sparkext.binding.aggregate_types import check_type
from sparkext.binding.bound_completions import check_completions, check_groups, completion_of, shown_of
from sparkext.binding.bound_query import BoundQuery, Key, Measure, event_texts
from sparkext.binding.column_metadata import DECLARED
from sparkext.binding.earlier_events import check_earlier_events
from sparkext.binding.meaning import Meaning
from sparkext.binding.orders import KEY_TYPES, has_order
from sparkext.binding.prev_conditions import BoundStep, bind_step
from sparkext.binding.refusals import check_foreign
from sparkext.binding.relation import check_boolean, check_expressions
from sparkext.binding.session_state import SessionState
from sparkext.binding.spans import check_span
from sparkext.binding.trend_ends import check_difference, check_ends, classes_with_values, ends_of
from sparkext.binding.trend_ends import texts as difference_texts
from sparkext.binding.type_text import type_text
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.expressions import is_constant
from sparkext.jvm.relation_filter import FilteredRelation
from sparkext.planner.automata.automaton import AutomatonTooLargeError
from sparkext.planner.automata.guards import TooManyGuardsError
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import negated_variables, positive_variables, variables
from sparkext.planner.patterns.query import Aggregate, Completion, EventClass, Query, Selection, Step, Window
from sparkext.sql.aggregate_calls import AggregateCall, aggregate_calls
from sparkext.sql.clause import Clause, Expression, Item
from sparkext.sql.completion_calls import DistinctCall, ShownCall, distinct_calls, shown_calls
from sparkext.sql.event_expressions import (
    AdjacentExpression,
    EventExpression,
    Names,
    adjacent_expression,
    earlier_expression,
    event_expression,
    find_variable,
)
from sparkext.sql.own_columns import aggregate_name, counted_name, shown_name
from sparkext.sql.quoting import alone, one_line
from sparkext.sql.tokens import Token, TokenKind

log = logging.getLogger(__name__)

_CHAR = re.compile(r"\bchar\(")


def bind(
    sql: str,
    clause: Clause,
    source: AnalysedFrame,
    part: FilteredRelation | None,
    relation: str | None,
    name: str,
    state: SessionState,
    meaning: Callable[[AnalysedFrame, tuple[str, ...]], Meaning],
) -> BoundQuery:
    """Resolve ``clause`` against the columns of ``source``.

    Args:
        sql: The user's statement.
        clause: Parsed from it.
        source: The relation before the clause.
        part: What that is a part of, if it is.
        relation: Its name or alias, if it has one.
        name: Of the query.
        state: Of the session.
        meaning: Gives what texts mean over the columns of a relation.

    Raises:
        PlanningError: With the position of what is wrong.
    """
    binder = _Binder(sql, clause, source, part if _has_plain_keys(clause) else None, relation, state)
    return binder.bind(name, meaning)


def _has_plain_keys(clause: Clause) -> bool:
    """Whether what is evaluated for all events, whatever filters a source has, are columns, which cannot fail."""
    keys = [item.expression for item in (*clause.group_by, *clause.partition_by)]
    keys += [clause.order_by] if clause.type_by is None else [clause.order_by, clause.type_by]
    return all(token.name is not None or token.is_symbol(".") for key in keys for token in key.tokens)


class _Binder:
    def __init__(
        self,
        sql: str,
        clause: Clause,
        given: AnalysedFrame,
        part: FilteredRelation | None,
        relation: str | None,
        state: SessionState,
    ) -> None:
        self._sql = sql
        self._clause = clause
        self._given = given
        self._source = given if part is None else part.whole
        self._part = None if part is None else part.condition
        self._variables = variables(clause.pattern)
        self._state = state
        columns = tuple(self._source.columns)
        self._names = Names(self._variables, relation, columns, state.environment.is_case_sensitive)

    def bind(self, name: str, meaning: Callable[[AnalysedFrame, tuple[str, ...]], Meaning]) -> BoundQuery:
        clause = self._clause
        self._check_automaton()
        for where, expression in _expressions(clause):
            check_foreign(self._source.sparkSession, where, expression, clause.has_rows)
        order_by = event_expression(self._sql, clause.order_by, self._names)
        type_by = None if clause.type_by is None else event_expression(self._sql, clause.type_by, self._names)
        self._warn_of_constants(name)
        group_items, partition_items = self._keys(clause.group_by), self._keys(clause.partition_by)
        conditions, steps = self._conditions()
        calls = [aggregate_calls(self._sql, item.expression, self._names) for item in clause.measures]
        attributes = [call for row in calls for call in row if any(call.attributes())]
        self._check_counted(call for row in calls for call in row)
        shown = [
            shown_calls(self._sql, item.expression, self._names) if clause.has_rows else [] for item in clause.measures
        ]
        counted = [
            distinct_calls(self._sql, item.expression, self._names, clause.partition_by) for item in clause.measures
        ]
        self._check_shown(call for row in shown for call in row)
        all_counted = [call for row in counted for call in row]
        first_call = next((call for row in calls for call in row), None)
        at = None if first_call is None else (first_call.start, first_call.end)
        check_completions(clause, all_counted, at)
        if not clause.has_rows:
            check_span(clause, steps, not any(calls) and bool(all_counted))
        further = [event_expression(self._sql, expression, self._names) for expression in clause.further_order]
        if clause.has_rows:
            check_groups(group_items, partition_items, self._names, positive_variables(clause.pattern))
            known_keys = {expression.canonical for _, expression in partition_items}
            group_items = [*partition_items, *(item for item in group_items if item[1].canonical not in known_keys)]
            partition_items = []

        of_witness = [call.attribute for row in shown for call in row if call.attribute is not None]
        checked = self._check(
            order_by, type_by, group_items, partition_items, conditions, attributes, further, of_witness
        )
        _, time_type = checked[order_by]
        kind = event_time.time_kind(time_type)
        if kind is None:
            problem, hint = "cannot be an event time", "Use a TIMESTAMP, TIMESTAMP_NTZ, DATE or integral expression"
            raise _order_type(order_by, time_type, problem, hint)
        for also in further:
            if not has_order(checked[also][1]):
                hint = "Use a part of it, or a text of it such as to_json( )"
                raise _order_type(also, checked[also][1], "has no order", hint)
        self._check_varies(order_by)
        for variable, condition in conditions.items():
            check_boolean(variable, condition, checked[condition][1])
        for call in attributes:
            (check_difference if len(call.ends) > 1 else check_type)(call, checked)
        window = event_time.window(self._source.sparkSession, self._sql, clause.within, clause.slide, kind)
        span = event_time.span(self._source.sparkSession, self._sql, clause.span, kind)
        wait = event_time.span(self._source.sparkSession, self._sql, clause.wait, kind, "FOR")
        completion = completion_of(clause.has_rows, [call for row in shown for call in row], all_counted, checked)

        groups = _named(group_items or partition_items, checked)
        in_groups = {key.canonical for key in groups}
        partitions = tuple(key for key in _named(partition_items, checked) if key.canonical not in in_groups)
        aggregate_rows = [[_aggregate(call, checked, order_by.canonical) for call in row] for row in calls]
        aggregates = list(dict.fromkeys(aggregate for row in aggregate_rows for aggregate in row))
        measures = tuple(
            Measure(
                _name(item),
                self._measure(
                    item,
                    [
                        (call.start, call.end, aggregate_name(aggregates.index(aggregate)))
                        for call, aggregate in zip(row, row_aggregates, strict=True)
                    ]
                    + self._completion_names(completion, shown[number], counted[number], checked),
                ),
            )
            for number, (item, row, row_aggregates) in enumerate(
                zip(clause.measures, calls, aggregate_rows, strict=True)
            )
        )
        self._check_names(group_items or partition_items, groups, window)
        evaluated = [
            order_by,
            *further,
            *of_witness,
            *conditions.values(),
            *(attribute for call in attributes for attribute in call.attributes()),
        ]
        by, type_texts = self._type(type_by)
        classes = self._classes(by, conditions, steps)
        expressions = self._with_part(
            {e.canonical: e.text for e in evaluated}
            | type_texts
            | {text: text for step in steps.values() for text in _texts(step)},
            [*(condition.canonical for condition in conditions.values()), *_conditions(steps.values())],
        )
        query = Query(
            name,
            clause.pattern,
            tuple(classes.items()),
            tuple(aggregates),
            window,
            self._steps(classes, steps),
            clause.selection,
            EventClass(None, None, self._part),
            span,
            wait,
            completion,
        )
        written = (
            (call, aggregate)
            for row, row_aggregates in zip(calls, aggregate_rows, strict=True)
            for call, aggregate in zip(row, row_aggregates, strict=True)
        )
        check_ends(query, written, clause.pattern_at)
        for aggregate in aggregates:
            expressions |= difference_texts(aggregate, expressions)
        expressions |= classes_with_values(query, expressions)
        lengths = [part for part in (clause.within, clause.slide, clause.span, clause.wait) if part is not None]
        texts = event_texts(groups, partitions, order_by.text, expressions)
        said = (self._sql[length.start : length.end] for length in lengths)
        length_texts = tuple(text for text in said if not event_time.is_literal(text))
        return BoundQuery(
            given=self._given,
            source=self._source,
            part=self._part,
            query=query,
            groups=groups,
            partitions=partitions,
            time=order_by.text,
            time_canonical=order_by.canonical,
            time_kind=kind,
            time_type=time_type,
            expressions=expressions,
            measures=measures,
            state=self._state,
            texts=texts,
            meaning=meaning(self._source, texts),
            length_texts=length_texts,
            length_meaning=meaning(self._source, length_texts) if length_texts else None,
            further_order=tuple((expression.canonical, expression.text) for expression in further),
            partition_by=tuple(
                event_expression(self._sql, i.expression, self._names).canonical for i in clause.partition_by
            ),
        )

    def _warn_of_constants(self, query: str) -> None:
        """Say so if every event has one type, which no variable has, or a key is the name of a column in quotes."""
        by = self._clause.type_by
        if by is not None and (text := _constant(by)) is not None and text not in self._variables:
            meant = f"; did you mean the column {text}?" if self._names.has_column(text) else ""
            problem = f"TYPE BY {by.tokens[0].text} of {query} is a constant that no variable is called"
            log.warning("%s", one_line(f"{problem}, so nothing matches{meant}"))
        for words, items in (("PARTITION BY", self._clause.partition_by), ("GROUP BY", self._clause.group_by)):
            for key in (item.expression for item in items if item.name is None):
                if (text := _constant(key)) is not None and self._names.has_column(text):
                    problem = f"{words} {key.tokens[0].text} of {query} is a constant, which all events have"
                    log.warning("%s", one_line(f"{problem}; did you mean the column {text}?"))

    def _type(self, type_by: EventExpression | None) -> tuple[str | None, dict[str, str]]:
        """Canonical text of what tells types apart, with its SQL: of a CHAR(n), without the blanks that fill it up."""
        if type_by is None:
            return None, {}
        names = {self._names.folded(token.name) for token in self._clause_type_tokens() if token.name is not None}
        if any(self._names.folded(field.name) in names and _is_char(field) for field in self._source.schema.fields):
            return f"rtrim({type_by.canonical})", {f"rtrim({type_by.canonical})": f"rtrim({alone(type_by.text)})"}
        return type_by.canonical, {type_by.canonical: type_by.text}

    def _clause_type_tokens(self) -> tuple[Token, ...]:
        return () if self._clause.type_by is None else self._clause.type_by.tokens

    def _check_varies(self, order_by: EventExpression) -> None:
        """Refuse a time that is the same for all events, such as the position of a column."""
        tokens = self._clause.order_by.tokens
        if any(token.name is not None and self._names.has_column(token.name) for token in tokens):
            return
        if is_constant(self._source, order_by.text):
            is_position = len(tokens) == 1 and tokens[0].kind is TokenKind.NUMBER
            hint = f"Name the column of the event time; {order_by.canonical} is not the position of one."
            at = order_by.start, order_by.end
            raise PlanningError(
                "TREND_ORDER_CONSTANT",
                *at,
                expression=order_by.canonical,
                hint=hint if is_position else "Name the column of the event time.",
            )

    def _check_automaton(self) -> None:
        try:
            automaton_of(self._clause.pattern, self._clause.selection is Selection.CONTIGUOUS)
        except (AutomatonTooLargeError, TooManyGuardsError) as error:
            raise PlanningError("TREND_PATTERN_TOO_LARGE", *self._clause.pattern_at, limit=str(error)) from None

    def _check_counted(self, calls: Iterable[AggregateCall]) -> None:
        counted = positive_variables(self._clause.pattern)
        for call in calls:
            for variable in call.variables():
                if variable not in counted:
                    raise PlanningError("TREND_NEGATED_VARIABLE", call.start, call.end, name=variable)

    def _keys(self, items: Sequence[Item]) -> list[tuple[Item, EventExpression]]:
        return [(item, event_expression(self._sql, item.expression, self._names)) for item in items]

    def _conditions(self) -> tuple[dict[str, EventExpression], dict[str, BoundStep]]:
        """Conditions on one event, and those that name an earlier one."""
        conditions: dict[str, EventExpression] = {}
        steps: dict[str, BoundStep] = {}
        earlier: dict[str, AdjacentExpression] = {}
        under_not = negated_variables(self._clause.pattern)
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
            if variable in conditions or variable in steps or variable in earlier:
                raise PlanningError("TREND_VARIABLE_REPEATED", token.start, token.end, name=variable)
            adjacent = adjacent_expression(self._sql, definition.condition, self._names, variable, self._source.columns)
            if adjacent is None:
                named = earlier_expression(self._sql, definition.condition, self._names, variable, self._source.columns)
                if named is None:
                    conditions[variable] = event_expression(self._sql, definition.condition, self._names, variable)
                else:
                    earlier[variable] = named
                continue
            if variable in under_not:
                raise PlanningError("TREND_PREV_UNDER_NOT", token.start, token.end, variable=variable)
            steps[variable] = bind_step(self._source, variable, adjacent)
        check_earlier_events(self._clause, steps.keys(), earlier)
        steps |= {variable: bind_step(self._source, variable, named) for variable, named in earlier.items()}
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
        further: Sequence[EventExpression],
        of_witness: Sequence[EventExpression],
    ) -> dict[EventExpression, tuple[str, DataType]]:
        wanted: list[tuple[str, EventExpression]] = [("ORDER BY", expression) for expression in (order_by, *further)]
        wanted += (("MEASURES", expression) for expression in of_witness)
        if type_by is not None:
            wanted.append(("TYPE BY", type_by))
        wanted += (("GROUP BY", expression) for _, expression in groups)
        wanted += (("PARTITION BY", expression) for _, expression in partitions)
        wanted += (("DEFINE", condition) for condition in conditions.values())
        wanted += (("MEASURES", attribute) for call in attributes for attribute in call.attributes())
        results = check_expressions(self._source, wanted)
        checked = {expression: result for (_, expression), result in zip(wanted, results, strict=True)}
        for clause, items in (("GROUP BY", groups), ("PARTITION BY", partitions)):
            for _, expression in items:
                kind = checked[expression][1]
                if not isinstance(kind, KEY_TYPES):
                    raise PlanningError(
                        "TREND_KEY_TYPE",
                        expression.start,
                        expression.end,
                        clause=clause,
                        expression=expression.canonical,
                        type=type_text(kind),
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

        return tuple(
            (v, Step(steps[v].text, steps[v].condition, start(v, steps[v]), steps[v].anchor))
            for v in classes
            if v in steps
        )

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
        own = {self._of_part(c) or "": f"CASE WHEN {self._part} THEN {alone(expressions[c])} END" for c in conditions}
        return expressions | own | {self._part: self._part}

    def _check_shown(self, calls: Iterable[ShownCall]) -> None:
        counted = positive_variables(self._clause.pattern)
        for call in calls:
            if call.variable is not None and call.variable not in counted:
                raise PlanningError("TREND_NEGATED_VARIABLE", call.start, call.end, name=call.variable)

    @staticmethod
    def _completion_names(
        completion: Completion | None,
        shown: Sequence[ShownCall],
        counted: Sequence[DistinctCall],
        checked: dict[EventExpression, tuple[str, DataType]],
    ) -> list[tuple[int, int, str]]:
        """Places of a measure with the names of what is asked of completions there."""
        if completion is None:
            return []
        places = [(c.start, c.end, shown_name(completion.shown.index(shown_of(c, checked)))) for c in shown]
        return places + [(c.start, c.end, counted_name(completion.counted.index(c.kind))) for c in counted]

    def _measure(self, item: Item, named: Sequence[tuple[int, int, str]]) -> EventExpression:
        """A measure with names in place of its calls.

        Args:
            item: The measure.
            named: Start and end of each call in the statement, and the name.
        """
        expression = item.expression
        text = self._sql[expression.start : expression.end]
        for first, last, name in named:
            start, end = first - expression.start, last - expression.start
            text = text[:start] + name.ljust(end - start) + text[end:]
        return EventExpression(text, expression.start, text)

    def _check_names(
        self, items: Sequence[tuple[Item, EventExpression]], groups: tuple[Key, ...], window: Window | None
    ) -> None:
        folded = self._names.folded
        taken = set() if window is None else {"window_start", "window_end"}
        columns = [
            *((key.name, item.name or item.expression) for key, (item, _) in zip(groups, items, strict=False)),
            *((_name(item), item.name or item.expression) for item in self._clause.measures),
        ]
        for name, written in columns:
            if folded(name) in taken:
                raise PlanningError("TREND_COLUMN_REPEATED", written.start, written.end, name=name)
            taken.add(folded(name))


def _constant(expression: Expression) -> str | None:
    """What stands in quotes, or the number, if the expression is nothing else."""
    first, *others = expression.tokens
    is_one = not others and first.kind in (TokenKind.STRING, TokenKind.NUMBER)
    return first.text.strip("'\"") if is_one else None


def _is_char(field: t.StructField) -> bool:
    """Whether a column is of CHAR(n), or has parts that are: Spark fills their values up with blanks."""
    return _CHAR.search(f"{field.dataType.simpleString()} {field.metadata.get(DECLARED, '')}") is not None


def _expressions(clause: Clause) -> Iterator[tuple[str, Expression]]:
    """All expressions of the clause, each with the name of its section."""
    yield "ORDER BY", clause.order_by
    yield from (("GROUP BY", item.expression) for item in clause.group_by)
    yield from (("PARTITION BY", item.expression) for item in clause.partition_by)
    yield from (("DEFINE", definition.condition) for definition in clause.define)
    yield from (("MEASURES", item.expression) for item in clause.measures)
    yield from (("ORDER BY", expression) for expression in clause.further_order)
    lengths = (("WITHIN", clause.within), ("SLIDE", clause.slide), ("SPAN", clause.span), ("FOR", clause.wait))
    optional = (("TYPE BY", clause.type_by), *lengths)
    yield from ((where, expression) for where, expression in optional if expression is not None)


def _conditions(steps: Iterable[BoundStep]) -> Iterator[str]:
    """What concerns one event in conditions that name an earlier one."""
    yield from (text for step in steps for text in (step.own, step.start) if text is not None)


def _texts(step: BoundStep) -> Iterator[str]:
    """What Spark evaluates of a condition that names an earlier event."""
    yield from step.attributes
    yield from _conditions([step])


def _order_type(expression: EventExpression, kind: DataType, problem: str, hint: str) -> PlanningError:
    at = expression.start, expression.end
    return PlanningError("TREND_ORDER_TYPE", *at, type=type_text(kind), problem=problem, hint=hint)


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
            text = expression.text
            if isinstance(kind, t.DecimalType) and kind.scale < 0:  # Arrow compares none of these
                kind = t.DecimalType(min(kind.precision - kind.scale, 38), 0)
                text = f"CAST({alone(text)} AS {kind.simpleString()})"
            yield Key(expression.canonical, text, given or name, kind)

    return tuple(keys())


def _aggregate(call: AggregateCall, checked: dict[EventExpression, tuple[str, DataType]], time: str) -> Aggregate:
    if call.ends:
        ends = ends_of(call, checked, time)
        return Aggregate(call.function, attribute=ends[0].attribute if len(ends) == 1 else None, ends=ends)
    if call.attribute is None:
        return Aggregate(call.function, call.variable)
    kind = checked[call.attribute][1].simpleString()
    return Aggregate(call.function, call.variable, Attribute(call.attribute.canonical, kind))
