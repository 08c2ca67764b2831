"""Conditions on earlier events, with what finds the events that they name."""

from __future__ import annotations

from collections.abc import Iterable

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.conditions.access import accesses, is_ranked
from sparkext.planner.kernel_plan.kernel_plan import Access
from sparkext.planner.patterns.prev_condition import Operand
from sparkext.planner.patterns.query import Selection
from sparkext.planner.sharing.template import Template

_SCANNED = {
    Selection.NEXT: "scan of the events before that nothing has come after",
    Selection.CONTIGUOUS: "scan of the events of the time before",
}
"""What finds the events before where a trend may not leave out every event."""


def adjacent_conditions(template: Template, queries: Iterable[int]) -> tuple[tuple[str, str], ...]:
    """The conditions on adjacent events of some queries, with what finds the events before."""
    pairs: dict[tuple[str, str], None] = {}
    for query in queries:
        states, selection = template.states_of[query], template.queries[query].selection
        for after in template.automata[query].follows:
            for target, condition in after.items():
                step = template.states[states[target]].step
                if step is not None and step.anchor is None:
                    structures = accesses(step.condition, condition != ALWAYS)
                    pairs[step.text, _SCANNED.get(selection) or _found_by(structures)] = None
    return tuple(pairs)


def earlier_conditions(template: Template, queries: Iterable[int]) -> tuple[tuple[str, str], ...]:
    """The conditions on the latest event of a variable of some queries, with what finds these events."""
    pairs: dict[tuple[str, str], None] = {}
    for query in queries:
        for source, after in enumerate(template.automata[query].follows):
            for target in after:
                step = template.states[template.states_of[query][target]].step
                if step is not None and step.anchor is not None:
                    how = _looked_up_by(step.condition, template.is_open(query, source))
                    pairs[step.text, f"looks back at {step.anchor}, by {how}"] = None
    return tuple(pairs)


def _found_by(structures: tuple[Access, ...]) -> str:
    """What finds the events before, one for each of the terms that a condition is taken apart into."""
    if structures == (Access.SCAN,):
        return "scan of all events before"
    return " + ".join(access.value for access in structures)


def _looked_up_by(condition: Operand, is_open: bool) -> str:
    """What finds the latest events of a variable; ``is_open``: other events may lie between."""
    structures = accesses(condition, False)
    if is_open and is_ranked(condition):
        return "scan of the ranks of its events"
    return "scan of its events" if is_open or structures == (Access.SCAN,) else _found_by(structures)
