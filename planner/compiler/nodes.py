"""Nodes: components at states of queries, of which those that are equal become one cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from sparkext.planner.automata.automaton import closure
from sparkext.planner.automata.guards import Condition
from sparkext.planner.patterns.query import EventClass, Selection, Step
from sparkext.planner.sharing.regions import Regions
from sparkext.planner.sharing.template import Template
from sparkext.planner.totals.components import Component
from sparkext.planner.totals.contributions import contributes, ends_at, event_at


class TotalKind(Enum):
    """What is held of a component at a state: its total, the one in the base of a region that is kept apart
    from it, its form, the part of its total that later events may still come after, or its total per earlier event."""

    TOTAL = 0
    BASE = 1
    FORM = 2
    LIVE = 3
    ANCHORED = 4


@dataclass(frozen=True, slots=True)
class Node:
    """One component at one state of one query's automaton; if it is held per earlier event, of one class of these."""

    query: int
    state: int
    component: Component
    held: TotalKind = TotalKind.TOTAL
    anchor: EventClass | None = None


def nodes_of(
    template: Template, shared: Regions, query: int, anchors: AnchorClasses, component: Component
) -> Iterator[Node]:
    """The nodes of a component of a query: where it may be other than zero, from where it is contributed onwards.

    Args:
        template: Of the pool.
        shared: All regions.
        query: Number of the query.
        anchors: As `sparkext.planner.compiler.anchor_classes.anchor_classes` has them, for the component.
        component: Which one.
    """
    automaton, forms = template.automata[query], shared.forms[query]
    states = range(len(automaton.labels))
    origins = {s for s in states if component.is_count or contributes(template, query, s, component)}
    totals = closure(origins, automaton.follows.__getitem__)
    if template.queries[query].selection is not Selection.ANY:
        for state in totals:
            if automaton.follows[state]:
                yield Node(query, state, component, TotalKind.LIVE)
            if state in automaton.ends:
                yield Node(query, state, component)
        return
    for state in totals:
        yield Node(query, state, component)
        for anchor in anchors[state]:
            yield Node(query, state, component, TotalKind.ANCHORED, anchor)
        if state in forms and forms[state].kept_apart:
            yield Node(query, state, component, TotalKind.BASE)
    onwards: dict[int, list[int]] = {state: [] for state in forms}
    for state, form in forms.items():
        for source in form.sources:
            onwards[source].append(state)
    for state in closure(origins & forms.keys(), onwards.__getitem__):
        yield Node(query, state, component, TotalKind.FORM)


AnchorClasses: TypeAlias = tuple[tuple[EventClass, ...], ...]
"""Per state of a query, the classes of the earlier events that totals are held for."""

Sources: TypeAlias = tuple[tuple[Condition, int], ...]
"""What comes before a node: nodes, each with the condition of the step from there."""


def sources_of(
    template: Template,
    states: tuple[int, ...],
    shared: Regions,
    node: Node,
    anchors: AnchorClasses,
    index: dict[Node, int],
) -> Sources:
    """What comes before a node.

    Args:
        template: Of the pool.
        states: Before the node's state.
        shared: All regions.
        node: The node.
        anchors: As for `nodes_of`.
        index: Numbers of all nodes.
    """
    automaton = template.automata[node.query]
    held = TotalKind.TOTAL if template.queries[node.query].selection is Selection.ANY else TotalKind.LIVE
    if node.held is TotalKind.FORM:
        states, held = shared.forms[node.query][node.state].sources, TotalKind.FORM
    if node.held is TotalKind.ANCHORED or _step(template, node.query, node.state) is not None:
        before = [
            (state, index.get(earlier)) for state in states for earlier in _apart(template, node, state, held, anchors)
        ]
    else:
        before = [(state, index.get(Node(node.query, state, node.component, held))) for state in states]
    return tuple((automaton.follows[state][node.state], source) for state, source in before if source is not None)


def _apart(template: Template, node: Node, state: int, held: TotalKind, anchors: AnchorClasses) -> Iterator[Node]:
    """The nodes of a state before, if the earlier event matters, which is of the class of ``node`` if that has one."""
    if template.is_open(node.query, state):
        for anchor in anchors[state]:
            if node.anchor in (None, anchor):
                yield Node(node.query, state, node.component, TotalKind.ANCHORED, anchor)
    elif node.anchor in (None, event_at(template, node.query, state, node.component)):
        yield Node(node.query, state, node.component, held)


def _step(template: Template, query: int, state: int) -> Step | None:
    return template.states[template.states_of[query][state]].step


def key_of(template: Template, merged: tuple[tuple[int, ...], ...], shared: Regions, node: Node) -> object:
    """What a cell is, apart from its sources. Variables do not matter, only whether they contribute."""
    component, form = node.component, shared.forms[node.query].get(node.state)
    is_origin = contributes(template, node.query, node.state, component)
    block = None if form is None else form.block
    total = None if node.held is TotalKind.FORM else merged[node.query][node.state]
    # A total that events add up is ahead of one that is evaluated, however equal they are in the end.
    is_ahead = node.held is TotalKind.TOTAL and form is not None and form.kept_apart
    nameless = replace(component, variable=None, mark=None)
    if component.is_count and not any(end.may_be_null for end in component.between):
        nameless = replace(nameless, between=())
    ends = ends_at(template, node.query, node.state, nameless)
    return node.held, node.anchor, total, block, is_ahead, nameless, is_origin, ends


def counts(node: Node) -> Node:
    """The count of trends that a node's contributions are weighted with."""
    return replace(node, component=node.component.counter)
