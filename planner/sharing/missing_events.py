"""Events for want of which a query has no trend."""

from __future__ import annotations

from collections.abc import Mapping, Set

from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.template import Template


def missing_events(template: Template, events: Mapping[EventClass, int]) -> list[EventClass]:
    """Classes of which a pass has found no event, and for want of which alone some query has no trend.

    Classes with a condition are none of these, since it may be true of no event for once; nor are those of queries of
    which the pass has found no event at all.

    Args:
        template: Template of the queries of the pass.
        events: How many the pass has found of each class.
    """
    wanting: dict[EventClass, None] = {}
    for query in range(len(template.queries)):
        classes = dict.fromkeys(template.states[state].event for state in template.states_of[query])
        missing = [event for event in classes if event.condition is None and events.get(event) == 0]
        present = {event for event in classes if events.get(event) != 0}
        if not any(events.get(event) for event in classes) or _may_have_trends(template, query, present):
            continue
        would_be = present | set(missing)
        if _may_have_trends(template, query, would_be):
            needed = [event for event in missing if not _may_have_trends(template, query, would_be - {event})]
            wanting |= dict.fromkeys(needed or missing)
    return list(wanting)


def found_nothing(template: Template, query: int, events: Mapping[EventClass, int]) -> bool:
    """Whether a pass has found no event at all that a query might have used."""
    return not any(events.get(template.states[state].event, 1) for state in template.states_of[query])


def _may_have_trends(template: Template, query: int, present: Set[EventClass]) -> bool:
    """Whether a query may have a trend of events of some classes."""
    possible = {state for state in template.states_of[query] if template.states[state].event in present}
    follows: dict[int, list[int]] = {}
    for transition in template.transitions:
        if query in transition.queries:
            follows.setdefault(transition.source, []).append(transition.target)
    todo = [state for state in possible if query in template.starts[state]]
    reached = set(todo)
    while todo:
        state = todo.pop()
        if query in template.ends[state]:
            return True
        new = [target for target in follows.get(state, ()) if target in possible and target not in reached]
        reached.update(new)
        todo += new
    return False
