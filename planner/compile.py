"""From a template and a sharing plan to the kernel plan: states times components become cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from planner.access import compile_comparison
from planner.automaton import Automaton
from planner.components import SCALED_TRENDS, TRENDS, Component, components, needed
from planner.guards import ALWAYS, Condition
from planner.kernel_plan import (
    Arithmetic,
    Bank,
    Cell,
    Column,
    Comparison,
    Field,
    GuardState,
    KernelPlan,
    Link,
    QueryResult,
    Slot,
)
from planner.prefixes import equal_prefixes
from planner.query import EventClass, Step, Window
from planner.refinement import refine
from planner.sharing import SharingPlan
from planner.template import State, Template

MAX_FIELDS = 24
"""Most output fields of a bank that holds more than one query. Narrow rows keep Spark's generated
code small and let a view read few columns; measured with ``benchmarks/``."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Node:
    """One component at one state of one query's automaton."""

    query: int
    state: int
    component: Component


def compile_plan(template: Template, plan: SharingPlan) -> KernelPlan:
    """The kernel plan that computes all queries of ``template``, sharing what ``plan`` shares."""
    merged = equal_prefixes(template, plan)
    kept = [needed(query) for query in template.queries]
    nodes = [
        _Node(number, state, component)
        for number, machine in enumerate(template.automata)
        for component in kept[number]
        for state in _reached(machine, component)
    ]
    index = {node: place for place, node in enumerate(nodes)}
    predecessors = [machine.predecessors() for machine in template.automata]
    before = [_sources(template.automata[n.query], predecessors[n.query][n.state], n, index) for n in nodes]
    blocks = refine((_key(template, merged, node) for node in nodes), before)
    cell_of = dict(zip(nodes, blocks, strict=True))
    return _Compiler(template).plan(nodes, before, blocks, cell_of)


def _reached(machine: Automaton, component: Component) -> tuple[int, ...]:
    """States at which the component may be other than zero: from where it is contributed, onwards."""
    if component.variable is None:
        return tuple(range(len(machine.labels)))
    reached = {state for state, label in enumerate(machine.labels) if label == component.variable}
    todo = list(reached)
    while todo:
        fresh = machine.follows[todo.pop()].keys() - reached
        reached |= fresh
        todo.extend(fresh)
    return tuple(sorted(reached))


_Sources: TypeAlias = tuple[tuple[Condition, int], ...]
"""What comes before a node: nodes, each with the condition of the step from there."""


def _sources(machine: Automaton, states: tuple[int, ...], node: _Node, index: dict[_Node, int]) -> _Sources:
    before = ((state, index.get(_Node(node.query, state, node.component))) for state in states)
    return tuple((machine.follows[state][node.state], source) for state, source in before if source is not None)


def _key(template: Template, merged: tuple[tuple[int, ...], ...], node: _Node) -> object:
    """What a cell is, apart from its sources. Variables do not matter, only whether they contribute."""
    component = node.component
    contributes = template.automata[node.query].labels[node.state] == component.variable
    return merged[node.query][node.state], replace(component, variable=None), contributes


class _Compiler:
    def __init__(self, template: Template) -> None:
        self._template = template
        self._classes: dict[EventClass, int] = {}
        self._columns: dict[Column, int] = {}
        self._windows: dict[Window | None, int] = {}
        self._comparisons: dict[Comparison, int] = {}
        self._compared: dict[tuple[Step, bool], int] = {}

    def plan(
        self, nodes: list[_Node], before: list[_Sources], blocks: list[int], cell_of: dict[_Node, int]
    ) -> KernelPlan:
        representatives: dict[int, int] = {}
        for place, block in enumerate(blocks):
            representatives.setdefault(block, place)
        cells = tuple(
            self._cell(nodes[place], tuple(Link(blocks[s], step) for step, s in before[place]), cell_of)
            for place in representatives.values()
        )
        guard_states = self._guard_states()
        fields, banks, results = self._banks(cell_of)
        return KernelPlan(
            classes=tuple(self._classes),
            columns=tuple(self._columns),
            windows=tuple(self._windows),
            cells=cells,
            fields=fields,
            banks=banks,
            results=results,
            guards=len(self._template.guards),
            guard_states=guard_states,
            comparisons=tuple(self._comparisons),
        )

    def _guard_states(self) -> tuple[GuardState, ...]:
        states: list[GuardState] = []
        for guard, forbidden in enumerate(self._template.guards):
            first = len(states)
            states += (
                GuardState(
                    guard=guard,
                    event=_number(self._classes, state.event),
                    start=state.start,
                    end=state.end,
                    sources=tuple(first + source for source in state.sources),
                )
                for state in forbidden
            )
        return tuple(states)

    def _comparison(self, state: State, guarded: bool) -> int | None:
        """Number of the comparison of events at ``state`` with those before."""
        if state.step is None:
            return None
        key = (state.step, guarded)
        if key not in self._compared:
            comparison = compile_comparison(state.step.condition, guarded, self._column)
            self._compared[key] = _number(self._comparisons, comparison)
        return self._compared[key]

    def _column(self, column: Column) -> int:
        return _number(self._columns, column)

    def _cell(self, node: _Node, steps: tuple[Link, ...], cell_of: dict[_Node, int]) -> Cell:
        component = node.component
        query, machine = self._template.queries[node.query], self._template.automata[node.query]
        contributes = machine.labels[node.state] == component.variable
        counts = SCALED_TRENDS if component.counted_by is Arithmetic.NUMBER else TRENDS
        column = None
        if contributes and component.column is not None:
            column = self._column(component.column)
        place = self._template.places[node.query][node.state]
        state = self._template.states[place]
        starts = component.variable is None and node.state in machine.starts
        start_event = None
        if starts and state.step is not None:
            starts = state.step.start is not None
            start_event = None if state.step.start is None else _number(self._classes, state.step.start)
        if state.step is not None:
            steps = tuple(Link(s.cell, s.condition, self._comparison(state, s.condition != ALWAYS)) for s in steps)
        return Cell(
            arithmetic=component.arithmetic,
            event=_number(self._classes, state.event),
            window=_number(self._windows, query.window),
            start=starts,
            start_event=start_event,
            start_condition=machine.starts[node.state] if starts else ALWAYS,
            sources=tuple(step.cell for step in steps if _is_free(step)),
            links=tuple(step for step in steps if not _is_free(step)),
            count=cell_of[replace(node, component=counts)] if contributes else None,
            column=column,
            weighted=contributes and component.weighted,
        )

    def _banks(self, cell_of: dict[_Node, int]) -> tuple[tuple[Field, ...], tuple[Bank, ...], tuple[QueryResult, ...]]:
        """Fill banks with queries of the same window, in order, until `MAX_FIELDS` are in use."""
        open_banks: dict[int, int] = {}
        banks: list[_BankBuilder] = []
        results: list[QueryResult] = []
        for number, query in enumerate(self._template.queries):
            presence, values = components(query)
            window = self._windows[query.window]
            wanted = len(needed(query))
            if window not in open_banks or not banks[open_banks[window]].has_room(wanted):
                open_banks[window] = len(banks)
                banks.append(_BankBuilder(window))
            bank = banks[open_banks[window]]
            located = {
                component: bank.slot(self._field(component), self._end_cells(number, component, cell_of))
                for component in dict.fromkeys([presence, *(item for value in values for item in value)])
            }
            results.append(
                QueryResult(
                    bank=open_banks[window],
                    presence=located[presence],
                    values=tuple(tuple(located[item] for item in value) for value in values),
                )
            )
        return _lay_out(banks, results)

    def _end_cells(self, number: int, component: Component, cell_of: dict[_Node, int]) -> tuple[Link, ...]:
        ends = sorted(self._template.automata[number].ends.items())
        nodes = ((_Node(number, state, component), condition) for state, condition in ends)
        return tuple(Link(cell_of[node], condition) for node, condition in nodes if node in cell_of)

    @staticmethod
    def _field(component: Component) -> Field:
        if component.arithmetic is not Arithmetic.EXTREME or component.column is None:
            return Field(component.arithmetic)
        return Field(component.arithmetic, component.column.encoding, component.column.attribute.type)


class _BankBuilder:
    """Slots of a bank, each by its kind of field and its number among those of that kind."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.slots: dict[tuple[Field, tuple[Link, ...]], tuple[Field, int]] = {}
        self._used: dict[Field, int] = {}

    def has_room(self, wanted: int) -> bool:
        return not self.slots or len(self.slots) + wanted <= MAX_FIELDS

    def slot(self, kind: Field, ends: tuple[Link, ...]) -> int:
        """Number of the slot, among the slots of this bank."""
        key = (kind, ends)
        if key not in self.slots:
            self.slots[key] = (kind, self._used.get(kind, 0))
            self._used[kind] = self._used.get(kind, 0) + 1
        return list(self.slots).index(key)


def _lay_out(
    builders: list[_BankBuilder], results: list[QueryResult]
) -> tuple[tuple[Field, ...], tuple[Bank, ...], tuple[QueryResult, ...]]:
    """Give every slot its field: the i-th slot of a kind in each bank is the i-th field of that kind."""
    wanted = dict.fromkeys(place for builder in builders for place in builder.slots.values())
    order = sorted(
        wanted, key=lambda place: (place[0].arithmetic.value, str(place[0].type), str(place[0].encoding), place[1])
    )
    field = {place: number for number, place in enumerate(order)}
    banks = tuple(
        Bank(b.window, tuple(_slot(field[place], ends) for (_, ends), place in b.slots.items())) for b in builders
    )
    located = tuple(
        QueryResult(
            bank=result.bank,
            presence=banks[result.bank].slots[result.presence].field,
            values=tuple(tuple(banks[result.bank].slots[slot].field for slot in value) for value in result.values),
        )
        for result in results
    )
    return tuple(kind for kind, _ in order), banks, located


def _slot(field: int, ends: tuple[Link, ...]) -> Slot:
    free, guarded = (tuple(end for end in ends if _is_free(end) is wanted) for wanted in (True, False))
    return Slot(field, tuple(end.cell for end in free), guarded)


def _is_free(link: Link) -> bool:
    """Whether all events of the cell count."""
    return link.condition == ALWAYS and link.comparison is None


def _number(numbers: dict[_T, int], key: _T) -> int:
    return numbers.setdefault(key, len(numbers))
