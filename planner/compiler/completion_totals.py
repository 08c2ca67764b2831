"""What is added up for the rows of completions: components at states, of which those that are equal are one total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkext.planner.automata.automaton import closure
from sparkext.planner.automata.refinement import refine
from sparkext.planner.compiler.nodes import Node
from sparkext.planner.sharing.template import Template
from sparkext.planner.totals.components import needed
from sparkext.planner.totals.contributions import addend_at, column_at, contributes, event_at, of_component


class Totals:
    """Totals at each state of a completion plan.

    Args:
        template: Of the queries that ask for completions.
        blocks: Per query and state of its automaton, the state of the plan.
    """

    def __init__(self, template: Template, blocks: Sequence[Sequence[int]]) -> None:
        self._template, self._blocks = template, blocks
        nodes = [node for number in range(len(template.queries)) for node in self._nodes(number)]
        number_of = {node: index for index, node in enumerate(nodes)}
        before: list[tuple[tuple[object, int], ...]] = []
        for node in nodes:
            automaton = template.automata[node.query]
            near: list[tuple[object, int]] = [
                (automaton.follows[state][node.state], number_of[earlier])
                for state in automaton.predecessors()[node.state]
                if (earlier := replace(node, state=state)) in number_of
            ]
            counter = replace(node, component=node.component.counter)
            if counter != node and counter in number_of:
                near.append(("count", number_of[counter]))
            before.append(tuple(near))
        equal = refine(map(self._key, nodes), before)
        self._at: dict[int, list[Node]] = {}
        self._number: dict[Node, int] = {}
        first: dict[int, int] = {}
        for node, total in zip(nodes, equal, strict=True):
            if total not in first:
                of_state = self._at.setdefault(blocks[node.query][node.state], [])
                first[total] = len(of_state)
                of_state.append(node)
            self._number[node] = first[total]

    def at(self, state: int) -> Sequence[Node]:
        """One node of each total of a state of the plan, counts of trends before what is weighted with them."""
        return self._at.get(state, ())

    def number(self, node: Node) -> int | None:
        """Which total of its state a node is; None if nothing is added up there."""
        return self._number.get(node)

    def _nodes(self, number: int) -> list[Node]:
        """The nodes of a query: where a component may be other than zero, from where it is contributed onwards."""
        query, automaton = self._template.queries[number], self._template.automata[number]
        nodes: list[Node] = []
        for component in needed(query) if query.has_rows and query.aggregates else ():
            states = range(len(automaton.labels))
            origins = {s for s in states if component.is_count or contributes(self._template, number, s, component)}
            nodes += (Node(number, s, component) for s in closure(origins, automaton.follows.__getitem__))
        return nodes

    def _key(self, node: Node) -> object:
        """What tells a total apart, beside what comes before."""
        template, component = self._template, node.component
        where = template, node.query, node.state, component
        step = template.states[template.states_of[node.query][node.state]].step
        start = None if step is None or step.start is None else of_component(*where, step.start)
        starts = component.is_count and node.state in template.automata[node.query].starts
        is_origin = contributes(*where)
        kind = component.arithmetic, component.is_count, component.weighted, column_at(*where) if is_origin else None
        return self._blocks[node.query][node.state], kind, is_origin, event_at(*where), addend_at(*where), starts, start
