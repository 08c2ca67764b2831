"""What a query asks of completions: names resolved, and what is refused, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from pyspark.sql.types import DataType

from sparkext.binding.type_text import type_sql
from sparkext.planner.automata.automaton import Automaton
from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Completion, Mark, Selection, Shown
from sparkext.sql.clause import Clause, Item
from sparkext.sql.completion_calls import DistinctCall, ShownCall
from sparkext.sql.event_expressions import EventExpression, Names


def completion_of(
    has_rows: bool,
    shown: Sequence[ShownCall],
    counted: Sequence[DistinctCall],
    checked: Mapping[EventExpression, tuple[str, DataType]],
) -> Completion | None:
    """What a query asks of completions; None if nothing is."""
    if not has_rows and not counted:
        return None
    return Completion(
        has_rows=has_rows,
        shown=tuple(dict.fromkeys(shown_of(call, checked) for call in shown)),
        counted=tuple(dict.fromkeys(call.kind for call in counted)),
    )


def shown_of(call: ShownCall, checked: Mapping[EventExpression, tuple[str, DataType]]) -> Shown:
    """What a row shows, as the planner sees it."""
    mark = None if call.side is None else Mark(call.side, call.variable)
    if call.attribute is None:
        return Shown()
    return Shown(mark, Attribute(call.attribute.canonical, type_sql(checked[call.attribute][1])))


def check_completions(clause: Clause, counted: Sequence[DistinctCall], aggregates_at: tuple[int, int] | None) -> None:
    """Refuse what cannot be computed of completions, or of queries that ask for none.

    Args:
        clause: The clause.
        counted: What it counts once.
        aggregates_at: Where its first aggregate stands; None if it has none.

    Raises:
        PlanningError: ``TREND_FOR_MISPLACED``, ``TREND_ORDER_COMBINED``, ``TREND_COMPLETION_COMBINED``,
            ``TREND_SPAN_NOT_AT_END`` or ``TREND_SPAN_COMBINED``.
    """
    asks = clause.has_rows or bool(counted)
    automaton = automaton_of(clause.pattern, clause.selection is Selection.CONTIGUOUS)
    _check_wait(clause, automaton, asks)
    if clause.further_order and (not asks or (aggregates_at is not None and not clause.has_rows)):
        first = clause.further_order[0]
        also = "aggregates over all trends" if asks else "no ONE ROW PER COMPLETION"
        raise PlanningError("TREND_ORDER_COMBINED", first.start, first.end, also=also)
    if not asks:
        return
    at_start = any(condition != ALWAYS for condition in automaton.starts.values())
    at_end = any(condition != ALWAYS for condition in automaton.ends.values())
    if clause.span is not None and (at_start or (at_end and clause.wait is None)):
        raise PlanningError("TREND_SPAN_NOT_AT_END", clause.span.start, clause.span.end)
    if aggregates_at is not None and clause.wait is not None and not clause.has_rows:
        also = "aggregates over trends and a NOT at the end of its pattern"
        raise PlanningError("TREND_COMPLETION_COMBINED", *aggregates_at, also=also)


def _check_wait(clause: Clause, automaton: Automaton, asks: bool) -> None:
    """Refuse ``FOR d`` where it is not about the one thing that must not come after a trend."""
    if clause.wait is None:
        return
    at = clause.wait.start, clause.wait.end
    conditions = set(automaton.ends.values())
    problem = None
    if not asks:
        problem = "aggregates over all trends cannot wait; it goes with ONE ROW PER COMPLETION"
    elif len(conditions) != 1 or ALWAYS in conditions or len(next(iter(conditions)).guards) != 1:
        problem = "it says how long after the last event what one NOT at the end of the pattern forbids must not happen"
    if problem is not None:
        raise PlanningError("TREND_FOR_MISPLACED", *at, problem=problem)


def check_groups(
    group_by: Sequence[tuple[Item, EventExpression]],
    partition_by: Sequence[tuple[Item, EventExpression]],
    names: Names,
    variables: Set[str],
) -> None:
    """Refuse a GROUP BY that might put the events of a trend apart, where each completion is a row.

    Args:
        group_by: Expressions of GROUP BY.
        partition_by: Those of PARTITION BY.
        names: Of columns.
        variables: Of the pattern, one of which the hint names.

    Raises:
        PlanningError: ``TREND_GROUP_SPLITS``.
    """
    known = {expression.canonical.lower() for _, expression in partition_by}
    for item, expression in group_by:
        columns = {
            token.name.lower()
            for token in item.expression.tokens
            if token.name is not None and names.has_column(token.name)
        }
        if expression.canonical.lower() not in known and not columns <= known:
            first = next(iter(sorted(variables)))
            written = expression.canonical
            example = f"FIRST({first}.{written})" if written.isidentifier() else f"FIRST({written})"
            at = expression.start, expression.end
            raise PlanningError("TREND_GROUP_SPLITS", *at, expression=written, example=example)
