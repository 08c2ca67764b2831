"""Which conditions on earlier events of a trend can be computed; what is refused, and why."""

from __future__ import annotations

from collections.abc import Mapping, Set

from sparkext.planner.automata.anchored import TooWideError, occurs_before, take_apart
from sparkext.planner.automata.automaton import AutomatonTooLargeError
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.errors import PlanningError
from sparkext.planner.patterns.pattern import negated_variables, negations
from sparkext.planner.patterns.query import Selection
from sparkext.sql.clause import Clause
from sparkext.sql.event_expressions import AdjacentExpression, EarlierVariable


def check_earlier_events(clause: Clause, adjacent: Set[str], earlier: Mapping[str, AdjacentExpression]) -> None:
    """Refuse what cannot be computed.

    Args:
        clause: The clause.
        adjacent: Variables whose conditions use PREV.
        earlier: Per variable whose condition names another, the condition.

    Raises:
        PlanningError: ``TREND_EARLIER_UNDER_NOT``, ``TREND_EARLIER_COMBINED``, ``TREND_EARLIER_NEVER``,
            ``TREND_CONDITION_TOO_WIDE`` or ``TREND_PATTERN_TOO_LARGE``.
    """
    under_not = negated_variables(clause.pattern)
    anchors: dict[str, str] = {}
    for variable, condition in earlier.items():
        named = condition.earlier
        assert named is not None
        negated = next((name for name in (variable, named.name) if name in under_not), None)
        if negated is not None:
            raise _refusal("TREND_EARLIER_UNDER_NOT", variable, named, negated=negated)
        also = _combined(clause, adjacent)
        if also is not None:
            raise _refusal("TREND_EARLIER_COMBINED", variable, named, also=also)
        automaton = automaton_of(clause.pattern)
        if not occurs_before(automaton, named.name, variable):
            raise _refusal("TREND_EARLIER_NEVER", variable, named)
        anchors[variable] = named.name
        try:
            take_apart(automaton, anchors, anchors.keys())
        except TooWideError as error:
            shown = " and ".join(error.variables)
            raise PlanningError("TREND_CONDITION_TOO_WIDE", named.start, named.end, variables=shown) from None
        except AutomatonTooLargeError as error:
            raise PlanningError("TREND_PATTERN_TOO_LARGE", *clause.pattern_at, limit=str(error)) from None


def _combined(clause: Clause, adjacent: Set[str]) -> str | None:
    """What the query has that does not go with conditions on earlier events."""
    if adjacent:
        return "PREV"
    if negations(clause.pattern):
        return "NOT"
    return None if clause.selection is Selection.ANY else clause.selection.value


def _refusal(condition: str, variable: str, named: EarlierVariable, **more: str) -> PlanningError:
    return PlanningError(condition, named.start, named.end, variable=variable, earlier=named.name, **more)
