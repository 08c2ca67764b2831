"""Which earlier events totals are kept for: the classes of anchors, per state of a query."""

from __future__ import annotations

from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.template import Template
from sparkext.planner.totals.components import Component
from sparkext.planner.totals.contributions import event_at


def anchor_classes(template: Template, query: int, component: Component) -> tuple[tuple[EventClass, ...], ...]:
    """Per state of a query at which totals of a component are kept per earlier event, the classes of these; else none.

    A variable has one class, and another where its condition names a variable of which there has been no event.
    """
    automaton = template.automata[query]
    classes_at: list[dict[EventClass, None]] = [{} for _ in automaton.labels]
    if not template.is_anchored(query):
        return tuple(map(tuple, classes_at))
    todo = list(range(len(classes_at)))
    while todo:
        state = todo.pop()
        if template.opens[query][state] is None:
            continue
        own_class = {event_at(template, query, state, component): None}
        coming = classes_at[state] if template.is_open(query, state) else own_class
        for target in automaton.follows[state]:
            if template.is_open(query, target) and coming.keys() - classes_at[target].keys():
                classes_at[target] |= coming
                todo.append(target)
    return tuple(map(tuple, classes_at))
