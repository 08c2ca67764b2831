"""From a template and a sharing plan to the kernel plan: states times components become cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

from planner.access import compile_comparison
from planner.banks import Banks, is_free, lay_out
from planner.components import Component, needed
from planner.guards import ALWAYS, Condition
from planner.kernel_plan import (
    NO_EVENT,
    Arithmetic,
    Bank,
    Cell,
    Column,
    Comparison,
    Evaluation,
    GuardState,
    KernelPlan,
    Link,
    Panes,
    Product,
    Region,
)
from planner.nodes import Held, Node, Sources, counts, key_of, nodes_of, sources_of
from planner.panes import PANES_FROM, PaneRows, pane_rows, told_apart
from planner.prefixes import equal_prefixes, share_equal_prefixes
from planner.query import EventClass, Step, Window
from planner.refinement import refine
from planner.regions import Regions, regions
from planner.sharing import SharingPlan
from planner.template import State, Template

_T = TypeVar("_T")


def compile_plan(
    template: Template,
    plan: SharingPlan,
    panes_from: float = PANES_FROM,
    fallback: bool = False,
    stretched: bool = False,
) -> KernelPlan:
    """The kernel plan that computes all queries of ``template``, sharing what ``plan`` shares.

    Args:
        template: Of the pool.
        plan: A valid one.
        panes_from: From how many open windows on these are computed by panes; see `planner.panes.PANES_FROM`.
        fallback: Whether to add a plan without linear forms, if there are any; not if ``stretched``.
        stretched: Whether keys are computed in stretches; see `planner.panes.may_be_stretched`.
    """
    made, banks, cells = _compiled(template, plan, panes_from, stretched)
    if not fallback or not made.regions or stretched:
        return made
    lanes, _, own = _compiled(template, share_equal_prefixes(template), panes_from, stretched, made, banks)
    if not lanes.banks:
        return made
    if not lanes.guard_states and not lanes.comparisons and not lanes.panes and not made.panes:
        lanes = replace(lanes, handover=_handover(cells, own))
    return replace(made, classes=lanes.classes, columns=lanes.columns, fallback=lanes)


def _handover(cells: dict[Node, int], own: dict[Node, int]) -> tuple[tuple[int, int], ...]:
    """Cells of a plan with those of its fallback that hold the same totals.

    What events add up comes last: of a state that is in the base of a region as well, it is the newer one.
    """
    pairs = {(cells[node], own[replace(node, held=Held.TOTAL)]): node.held for node in cells if node.held != Held.FORM}
    return tuple(sorted(pairs, key=lambda pair: pairs[pair] is Held.TOTAL))


def _compiled(
    template: Template,
    plan: SharingPlan,
    panes_from: float,
    stretched: bool,
    like: KernelPlan | None = None,
    banks: Banks | None = None,
) -> tuple[KernelPlan, Banks, dict[Node, int]]:
    """A kernel plan, its banks and the cells of all nodes.

    With ``like`` another, it has the same numbers for classes and columns, and its banks. There are no banks when those
    of the other do not fit.
    """
    merged = equal_prefixes(template, plan)
    apart = told_apart(merged)
    panes = pane_rows(template, apart, panes_from, stretched)
    shared = regions(template, plan)
    nodes = [
        node
        for number, query in enumerate(template.queries)
        for component in needed(query)
        for node in nodes_of(template, shared, number, component)
    ]
    index = {node: place for place, node in enumerate(nodes)}
    predecessors = [machine.predecessors() for machine in template.automata]
    before = [sources_of(template.automata[n.query], predecessors[n.query][n.state], shared, n, index) for n in nodes]
    held = tuple(one if rows is None else other for one, other, rows in zip(merged, apart, panes, strict=True))
    keys = ((key_of(template, held, shared, node), panes[node.query] is not None) for node in nodes)
    blocks = refine(keys, before)
    cell_of = dict(zip(nodes, blocks, strict=True))
    return *_Compiler(template, shared, panes, like).plan(nodes, before, blocks, cell_of, banks), cell_of


def _passive(arithmetic: Arithmetic, window: int) -> Cell:
    """A cell that no event adds to."""
    return Cell(arithmetic, NO_EVENT, window, False, (), None, None, False)


_MoreKey: TypeAlias = "int | tuple[int, int, Arithmetic]"
"""A cell of which there is a view; or the window, or region, column and arithmetic of a unit."""


class _Compiler:
    def __init__(
        self, template: Template, shared: Regions, panes: tuple[PaneRows | None, ...], like: KernelPlan | None
    ) -> None:
        self._template = template
        self._shared = shared
        self._panes = panes
        self._classes: dict[EventClass, int] = {} if like is None else _numbered(like.classes)
        self._columns: dict[Column, int] = {} if like is None else _numbered(like.columns)
        self._windows: dict[tuple[Window | None, bool], int] = {}
        self._window_of = [
            _number(self._windows, (query.window, rows is not None))
            for query, rows in zip(template.queries, panes, strict=True)
        ]
        self._comparisons: dict[Comparison, int] = {}
        self._compared: dict[tuple[Step, bool], int] = {}

    def plan(
        self,
        nodes: list[Node],
        before: list[Sources],
        blocks: list[int],
        cell_of: dict[Node, int],
        banks: Banks | None,
    ) -> tuple[KernelPlan, Banks]:
        representatives: dict[int, int] = {}
        for place, block in enumerate(blocks):
            representatives.setdefault(block, place)
        more = _MoreCells(len(representatives))
        chosen = [nodes[place] for place in representatives.values()]
        steps = (tuple((nodes[s], step) for step, s in before[place]) for place in representatives.values())
        cells = [self._cell(node, of, cell_of, more) for node, of in zip(chosen, steps, strict=True)]
        found = self._regions(chosen, cell_of, more)
        panes = self._all_panes(chosen, cell_of, more)
        guard_states = self._guard_states()
        ends = partial(self._end_cells, cell_of)
        if banks is None:
            banks = lay_out(self._template.queries, self._window_of, ends)
            rows: tuple[Bank, ...] | None = banks.banks
        else:
            rows = banks.of_cells(self._window_of, ends)
        made = KernelPlan(
            classes=tuple(self._classes),
            columns=tuple(self._columns),
            windows=tuple(window for window, _ in self._windows),
            cells=(*cells, *more.cells),
            fields=banks.fields,
            banks=rows or (),
            results=banks.results,
            guards=len(self._template.guards),
            guard_states=guard_states,
            comparisons=tuple(self._comparisons),
            regions=found,
            panes=panes,
        )
        return made, banks

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

    def _cell(
        self, node: Node, steps: tuple[tuple[Node, Condition], ...], cell_of: dict[Node, int], more: _MoreCells
    ) -> Cell:
        component = node.component
        machine, window = self._template.automata[node.query], self._window_of[node.query]
        if self._is_evaluated(node):
            return _passive(component.arithmetic, window)
        contributes = machine.labels[node.state] == component.variable
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
        links = tuple(Link(self._read(source, cell_of, more), condition) for source, condition in steps)
        units: tuple[int, ...] = ()
        if node.held is Held.FORM:
            window, starts, units = self._region(node), False, self._units(node, more)
        elif starts and self._panes[node.query] is not None:
            starts, units = False, (self._one(node, more),)
        if state.step is not None:
            links = tuple(replace(s, comparison=self._comparison(state, s.condition != ALWAYS)) for s in links)
        return Cell(
            arithmetic=component.arithmetic,
            event=_number(self._classes, state.event),
            window=window,
            start=starts,
            start_event=start_event,
            start_condition=machine.starts[node.state] if starts else ALWAYS,
            sources=(*units, *(link.cell for link in links if is_free(link))),
            links=tuple(link for link in links if not is_free(link)),
            count=cell_of[counts(node)] if contributes else None,
            column=column,
            weighted=contributes and component.weighted,
        )

    def _is_evaluated(self, node: Node) -> bool:
        """Whether the total of a node is evaluated, instead of being added up by its events."""
        form = self._shared.forms[node.query].get(node.state)
        return node.held is Held.BASE or (node.held is Held.TOTAL and form is not None and not form.kept_apart)

    def _read(self, source: Node, cell_of: dict[Node, int], more: _MoreCells) -> int:
        """The cell that an event reads: the node's own, or a view of it."""
        cell = cell_of[source]
        if not self._is_evaluated(source):
            return cell
        return more.number(cell, _passive(source.component.arithmetic, self._window_of[source.query]))

    def _region(self, node: Node) -> int:
        """The region of a node's form, numbered on from the windows."""
        return len(self._windows) + self._shared.region_of[self._shared.forms[node.query][node.state].block]

    def _units(self, node: Node, more: _MoreCells) -> tuple[int, ...]:
        """What comes to a form straight from its snapshots and from starts."""
        if node.component.variable is not None:
            return ()
        form = self._shared.forms[node.query][node.state]
        constant = self._shared.bases[self._shared.region_of[form.block]].constant
        columns = ([0] if form.begins else []) + ([constant] if form.starts and constant is not None else [])
        return tuple(self._unit(node, column, more) for column in columns)

    def _regions(self, nodes: list[Node], cell_of: dict[Node, int], more: _MoreCells) -> tuple[Region, ...]:
        """The regions, with one of the ``nodes`` per cell."""
        units: list[list[tuple[int, int]]] = [[] for _ in self._shared.bases]
        evaluations: list[list[Evaluation]] = [[] for _ in self._shared.bases]
        for number, node in enumerate(nodes):
            form = self._shared.forms[node.query].get(node.state)
            if form is None:
                continue
            region = self._shared.region_of[form.block]
            blocks = self._shared.bases[region].blocks
            if node.held is Held.FORM and node.component.variable is None and form.block in blocks:
                units[region].append((number, blocks[form.block]))
            elif self._is_evaluated(node):
                products = tuple(self._products(node, cell_of, more))
                evaluations[region].append(Evaluation(number, more.numbers.get(number), products))
        for key, number in more.numbers.items():
            if isinstance(key, tuple) and key[0] >= len(self._windows):
                units[key[0] - len(self._windows)].append((number, key[1]))
        return tuple(
            Region(base.columns, tuple(known), tuple(found))
            for base, known, found in zip(self._shared.bases, units, evaluations, strict=True)
        )

    def _products(self, node: Node, cell_of: dict[Node, int], more: _MoreCells) -> Iterator[Product]:
        """The linear form that a node's total is."""
        forms = self._shared.forms[node.query]
        trends, form = counts(node), cell_of.get(replace(node, held=Held.FORM))
        # What the base has counted goes on with trends; what is counted on the way is so for trends of the base.
        pairs = dict.fromkeys(((trends, node), (node, trends)))
        for column, state in self._shared.columns(node.query, node.state).items():
            held = Held.BASE if column and forms[state].kept_apart else Held.TOTAL
            for factor, other in pairs:
                coefficient = cell_of.get(replace(factor, held=Held.FORM))
                total = cell_of.get(Node(node.query, state, other.component, held))
                if coefficient is not None and total is not None:
                    yield Product(coefficient, column, total)
        base = self._shared.bases[self._shared.region_of[forms[node.state].block]]
        if base.constant is not None and form is not None:
            yield Product(form, base.constant, None if self._panes[node.query] is None else self._one(trends, more))
        if forms[node.state].block not in base.blocks:
            yield Product(self._unit(trends, 0, more), 0, cell_of[node])

    def _unit(self, node: Node, column: int, more: _MoreCells) -> int:
        """The form, of the node's region and arithmetic, that is the total of one column."""
        window, arithmetic = self._region(node), node.component.arithmetic
        return more.number((window, column, arithmetic), _passive(arithmetic, window))

    def _one(self, node: Node, more: _MoreCells) -> int:
        """The constant 1, of the node's arithmetic, in a window that is computed by panes."""
        window, arithmetic = self._window_of[node.query], node.component.arithmetic
        return more.number((window, 0, arithmetic), _passive(arithmetic, window))

    def _all_panes(self, nodes: list[Node], cell_of: dict[Node, int], more: _MoreCells) -> tuple[Panes, ...]:
        """The panes of all windows that are computed by them, with one of the ``nodes`` per cell."""
        rows: dict[int, int] = {}
        units: dict[int, list[tuple[int, int]]] = {}
        evaluations: dict[int, list[tuple[bool, Evaluation]]] = {}
        for number, node in enumerate(nodes):
            mine, window, counts = self._panes[node.query], self._window_of[node.query], node.component.variable is None
            if mine is None or node.held is Held.FORM:
                continue
            rows[window] = mine.rows
            if counts and node.state in mine.of:
                units.setdefault(window, []).append((number, mine.of[node.state]))
            if node.held is Held.TOTAL:
                products = tuple(dict.fromkeys(self._pane_products(node, mine, cell_of, more)))
                evaluations.setdefault(window, []).append((counts, Evaluation(number, None, products)))
        for key, number in more.numbers.items():
            if isinstance(key, tuple) and key[0] in rows:
                units.setdefault(key[0], []).append((number, 0))
        return tuple(
            Panes(
                window,
                count,
                tuple(units[window]),
                tuple(e for last in (False, True) for counts, e in evaluations[window] if counts is last),
            )
            for window, count in rows.items()
        )

    def _pane_products(
        self, node: Node, rows: PaneRows, cell_of: dict[Node, int], more: _MoreCells
    ) -> Iterator[Product]:
        """What a node's total is after a pane."""
        trends = counts(node)
        for state in rows.before[node.state]:
            for factor, other in dict.fromkeys(((trends, node), (node, trends))):
                total = cell_of.get(Node(node.query, state, other.component))
                if total is not None:
                    yield Product(cell_of[factor], rows.of[state], total)
        yield Product(cell_of[node], 0, None)
        if node.state not in rows.of:
            yield Product(self._one(trends, more), 0, cell_of[node])

    def _end_cells(self, cell_of: dict[Node, int], number: int, component: Component) -> tuple[Link, ...]:
        ends = sorted(self._template.automata[number].ends.items())
        nodes = ((Node(number, state, component), condition) for state, condition in ends)
        return tuple(Link(cell_of[node], condition) for node, condition in nodes if node in cell_of)


class _MoreCells:
    """Cells beside those of nodes: units of regions and views."""

    def __init__(self, first: int) -> None:
        self.cells: list[Cell] = []
        self.numbers: dict[_MoreKey, int] = {}
        self._first = first

    def number(self, key: _MoreKey, cell: Cell) -> int:
        """The number of a cell, which is added if need be."""
        if key not in self.numbers:
            self.numbers[key] = self._first + len(self.cells)
            self.cells.append(cell)
        return self.numbers[key]


def _numbered(things: Iterable[_T]) -> dict[_T, int]:
    return {thing: number for number, thing in enumerate(things)}


def _number(numbers: dict[_T, int], key: _T) -> int:
    return numbers.setdefault(key, len(numbers))
