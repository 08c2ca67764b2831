"""What events contribute to a component at a state of a query, by themselves."""

from __future__ import annotations

from dataclasses import replace

from sparkext.planner.kernel_plan.kernel_plan import Arithmetic, Column, Encoding
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import End, EventClass
from sparkext.planner.sharing.template import Template
from sparkext.planner.totals.components import Component
from sparkext.planner.totals.difference_columns import part_column

_WITH_NAN = ("float", "double")
"""Types of which a value less itself may be no number."""


def ends_at(template: Template, query: int, state: int, component: Component) -> tuple[End, ...]:
    """Which of the two ends, whose difference the component is about, an event at a state is."""
    marked = template.marked[query]
    if marked is None:
        return ()
    return tuple(end for end in component.between if end.mark in marked.marks[state])


def contributes(template: Template, query: int, state: int, component: Component) -> bool:
    """Whether events at a state contribute."""
    if component.arithmetic is Arithmetic.EXTREME and component.between:
        return bool(ends_at(template, query, state, component)) and not _has_passed(template, query, state, component)
    if component.between:
        return component.weighted and _column_between(template, query, state, component) is not None
    if component.mark is not None:
        marked = template.marked[query]
        return marked is not None and component.mark in marked.marks[state]
    return component.variable is not None and template.automata[query].labels[state] == component.variable


def column_at(template: Template, query: int, state: int, component: Component) -> Column | None:
    """The column of what events at a state contribute, if they do; None where each counts as one."""
    return _column_between(template, query, state, component) if component.between else component.column


def addend_at(template: Template, query: int, state: int, component: Component) -> Column | None:
    """What events at a state add to the extremes that come there: the part of the later end; None for nothing."""
    if component.arithmetic is not Arithmetic.EXTREME or not component.between:
        return None
    assert component.column is not None
    parts = _parts_at(template, query, state, component, replace(component.column, is_beside=False))
    has_passed = _has_passed(template, query, state, component)
    return parts[-1] if len(parts) == 2 or (parts and has_passed) else None


def _has_passed(template: Template, query: int, state: int, component: Component) -> bool:
    """Whether there has been an end of the difference before the events at a state."""
    marked = template.marked[query]
    return marked is not None and any(end.mark in marked.passed[state] for end in component.between)


def _parts_at(template: Template, query: int, state: int, component: Component, whole: Column) -> list[Column]:
    """The parts of a least or greatest difference that an event at a state has."""
    ends, (_, taken) = ends_at(template, query, state, component), component.between
    if len(ends) == 2:
        return [part_column(whole, end, is_taken) for end, is_taken in zip(ends, (False, True), strict=True)]
    return [part_column(whole, end, end == taken) for end in ends]


def _column_between(template: Template, query: int, state: int, component: Component) -> Column | None:
    ends = ends_at(template, query, state, component)
    later, earlier = component.between
    if not ends:
        return None
    if component.arithmetic is Arithmetic.EXTREME:
        assert component.column is not None
        return _parts_at(template, query, state, component, component.column)[0]
    if len(ends) == 2:
        is_nothing = later.attribute == earlier.attribute and later.attribute.type not in _WITH_NAN
        return None if is_nothing else Column(both(later, earlier), Encoding.NUMBER)
    origin = ", ".join(sorted({later.attribute.text, earlier.attribute.text}))
    return Column(ends[0].attribute, Encoding.AFTER if ends[0] == later else Encoding.BEFORE, origin)


def both(later: End, earlier: End) -> Attribute:
    """The difference of two ends that are one event."""
    return Attribute(f"({later.attribute.text}) - ({earlier.attribute.text})", "double")


def event_at(template: Template, query: int, state: int, component: Component) -> EventClass:
    """The class of the events that add to a component at a state."""
    event = template.states[template.states_of[query][state]].event
    return of_component(template, query, state, component, event)


def of_component(template: Template, query: int, state: int, component: Component, event: EventClass) -> EventClass:
    """Of a class of events at a state, those that add to a component."""
    attributes = {end.attribute.text for end in ends_at(template, query, state, component) if end.may_be_null}
    return event.with_values(sorted(attributes)) if attributes else event


def is_at_end(template: Template, query: int, state: int, component: Component) -> bool:
    """Whether what is held of a component at a state is part of the result, if trends may end there."""
    marked = template.marked[query]
    wanted = {end.mark.variable for end in component.between}
    return marked is None or wanted <= {None, *marked.seen[state]}
