"""Which queries can have SPAN; what is refused, and why."""

from __future__ import annotations

from collections.abc import Mapping

from sparkext.binding.prev_conditions import BoundStep
from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.query import Selection
from sparkext.sql.clause import Clause


def check_span(clause: Clause, steps: Mapping[str, BoundStep], of_completions: bool = False) -> None:
    """Refuse what cannot be computed of a query with SPAN.

    Args:
        clause: The clause.
        steps: Its conditions that name an earlier event, by variable.
        of_completions: Whether nothing but completions is asked for, which `check_completions` has looked at.

    Raises:
        PlanningError: ``TREND_SPAN_NOT_AT_END`` or ``TREND_SPAN_COMBINED``.
    """
    if clause.span is None or of_completions:
        return
    automaton = automaton_of(clause.pattern, clause.selection is Selection.CONTIGUOUS)
    if any(condition != ALWAYS for condition in (*automaton.starts.values(), *automaton.ends.values())):
        raise PlanningError("TREND_SPAN_NOT_AT_END", clause.span.start, clause.span.end)
    also = None if clause.selection is Selection.ANY else clause.selection.value
    if any(step.anchor is None for step in steps.values()):
        also = "PREV"
    elif steps:
        also = "a condition on an earlier event"
    if any(condition != ALWAYS for after in automaton.follows for condition in after.values()):
        also = "NOT"
    if also is not None:
        raise PlanningError("TREND_SPAN_COMBINED", clause.span.start, clause.span.end, also=also)
