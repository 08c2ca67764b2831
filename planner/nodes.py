"""Nodes: components at states of queries, of which those that are equal become one cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from planner.automaton import Automaton, closure
from planner.components import SCALED_TRENDS, TRENDS, Component
from planner.guards import Condition
from planner.kernel_plan import Arithmetic
from planner.regions import Regions
from planner.template import Template


class Held(Enum):
    """What is held of a component at a state: its total, the one in the base of a region that is kept apart
    from it, or its form."""

    TOTAL = 0
    BASE = 1
    FORM = 2


@dataclass(frozen=True, slots=True)
class Node:
    """One component at one state of one query's automaton."""

    query: int
    state: int
    component: Component
    held: Held = Held.TOTAL


def nodes_of(template: Template, shared: Regions, query: int, component: Component) -> Iterator[Node]:
    """The nodes of a component of a query: where it may be other than zero, from where it is contributed onwards."""
    machine, forms = template.automata[query], shared.forms[query]
    origins = {s for s, label in enumerate(machine.labels) if component.variable in (None, label)}
    totals = closure(origins, machine.follows.__getitem__)
    for state in totals:
        yield Node(query, state, component)
        if state in forms and forms[state].kept_apart:
            yield Node(query, state, component, Held.BASE)
    onwards: dict[int, list[int]] = {state: [] for state in forms}
    for state, form in forms.items():
        for source in form.sources:
            onwards[source].append(state)
    for state in closure(origins & forms.keys(), onwards.__getitem__):
        yield Node(query, state, component, Held.FORM)


Sources: TypeAlias = tuple[tuple[Condition, int], ...]
"""What comes before a node: nodes, each with the condition of the step from there."""


def sources_of(
    machine: Automaton, states: tuple[int, ...], shared: Regions, node: Node, index: dict[Node, int]
) -> Sources:
    """What comes before a node.

    Args:
        machine: Of the node's query.
        states: Before the node's state.
        shared: All regions.
        node: The node.
        index: Numbers of all nodes.
    """
    held = Held.TOTAL
    if node.held is Held.FORM:
        states, held = shared.forms[node.query][node.state].sources, Held.FORM
    before = ((state, index.get(Node(node.query, state, node.component, held))) for state in states)
    return tuple((machine.follows[state][node.state], source) for state, source in before if source is not None)


def key_of(template: Template, merged: tuple[tuple[int, ...], ...], shared: Regions, node: Node) -> object:
    """What a cell is, apart from its sources. Variables do not matter, only whether they contribute."""
    component, form = node.component, shared.forms[node.query].get(node.state)
    contributes = template.automata[node.query].labels[node.state] == component.variable
    block = None if form is None else form.block
    total = None if node.held is Held.FORM else merged[node.query][node.state]
    # A total that events add up is ahead of one that is evaluated, however equal they are in the end.
    is_ahead = node.held is Held.TOTAL and form is not None and form.kept_apart
    return node.held, total, block, is_ahead, replace(component, variable=None), contributes


def counts(node: Node) -> Node:
    """The count of trends that a node's contributions are weighted with."""
    return replace(node, component=SCALED_TRENDS if node.component.counted_by is Arithmetic.NUMBER else TRENDS)
