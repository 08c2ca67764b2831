"""Spaces of a kernel plan and the linear forms that carry each into others: regions, panes and spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from sparkext.planner.automata.guards import Condition
from sparkext.planner.compiler.nodes import Node, TotalKind, counts
from sparkext.planner.kernel_plan.kernel_plan import (
    NO_EVENT,
    Arithmetic,
    Cell,
    Closing,
    Evaluation,
    Gain,
    Numbering,
    Product,
    Region,
    Space,
    Span,
)
from sparkext.planner.sharing.regions import Regions
from sparkext.planner.sharing.template import Template
from sparkext.planner.totals.pane_rows import PaneRows

Gains: TypeAlias = dict[tuple[int, tuple[int, ...]], int]
"""Per window and cells of a span in which trends end, the cell of what is reported of them."""


def passive(arithmetic: Arithmetic, window: int) -> Cell:
    """A cell that no event adds to."""
    return Cell(arithmetic, NO_EVENT, window, False, (), None, None, False)


_MoreKey: TypeAlias = "int | tuple[int, int, Arithmetic]"
"""A cell of which there is a view; or the space, lane and arithmetic of a unit."""


class MoreCells:
    """Cells beside those of nodes: units of regions and views."""

    def __init__(self, first: int) -> None:
        self.cells: list[Cell] = []
        self.numbers: dict[_MoreKey, int] = {}
        self._first = first

    def number(self, key: _MoreKey, cell: Cell) -> int:
        """The number of a cell, which is added if need be."""
        if key not in self.numbers:
            self.numbers[key] = self.add(cell)
        return self.numbers[key]

    def add(self, cell: Cell) -> int:
        """The number of a cell, which is added."""
        self.cells.append(cell)
        return self._first + len(self.cells) - 1


AddedAlone: TypeAlias = "Callable[[Node, tuple[tuple[Node, Condition], ...], dict[Node, int], MoreCells], Cell]"
"""What events add to a node in a burst that is not shared, by what comes before it, the cells of nodes and others."""


class Forms:
    """Regions, panes and spans of a kernel plan, with the linear forms by which totals are evaluated.

    Args:
        template: Of the pool.
        shared: All regions.
        panes: Per query, the rows of its pane matrices; None where a lane per window is kept.
        window_of: Per query, the number of the window or span that its cells are for.
        numbering: Of all spaces.
        spans: By length, the numbers of spans.
    """

    def __init__(
        self,
        template: Template,
        shared: Regions,
        panes: Sequence[PaneRows | None],
        window_of: Sequence[int],
        numbering: Numbering,
        spans: dict[int, int],
    ) -> None:
        self._template = template
        self._shared = shared
        self._panes = panes
        self._window_of = window_of
        self._numbering = numbering
        self._spans = spans

    def is_evaluated(self, node: Node) -> bool:
        """Whether the total of a node is evaluated, instead of being added up by its events."""
        form = self._shared.forms[node.query].get(node.state)
        return node.held is TotalKind.BASE or (
            node.held is TotalKind.TOTAL and form is not None and not form.kept_apart
        )

    def number_of(self, node: Node) -> int:
        """The number of the space of a node's form."""
        return self._numbering.of_regions[self._shared.region_of[self._shared.forms[node.query][node.state].block]]

    def units(self, node: Node, more: MoreCells) -> tuple[int, ...]:
        """What comes to a form straight from its snapshots and from starts."""
        if not node.component.is_count:
            return ()
        form = self._shared.forms[node.query][node.state]
        base = self._shared.bases[self._shared.region_of[form.block]]
        columns = [base.inflows[form.block]] if form.block in base.inflows else []
        if form.snapshot is not None:
            columns += [0] if form.begins else []
            columns += [base.constant] if form.starts and base.constant is not None else []
        return tuple(self._unit(node, column, more) for column in columns)

    def regions(
        self,
        nodes: list[tuple[Node, tuple[tuple[Node, Condition], ...]]],
        cell_of: dict[Node, int],
        more: MoreCells,
        alone_at: AddedAlone,
    ) -> tuple[Region, ...]:
        """The regions, each with its units, its forms, and what events add when a burst is not shared.

        Args:
            nodes: One per cell, and what comes before it.
            cell_of: The cells of all nodes.
            more: Other cells; some are added.
            alone_at: What events add to a node, in a burst that is not shared.
        """
        units: list[list[tuple[int, int]]] = [[] for _ in self._shared.bases]
        evaluations: list[list[Evaluation]] = [[] for _ in self._shared.bases]
        alone: list[list[tuple[int, Cell]]] = [[] for _ in self._shared.bases]
        for number, (node, steps) in enumerate(nodes):
            form = self._shared.forms[node.query].get(node.state)
            if form is None:
                continue
            region = self._shared.region_of[form.block]
            blocks = self._shared.bases[region].blocks
            if node.held is TotalKind.FORM and node.component.is_count and form.block in blocks:
                units[region].append((number, blocks[form.block]))
            elif self.is_evaluated(node):
                products = tuple(self._products(node, cell_of, more))
                evaluations[region].append(Evaluation(number, more.numbers.get(number), products))
                if form.snapshot is None:
                    alone[region].append((number, alone_at(node, steps, cell_of, more)))
        for key, number in more.numbers.items():
            if isinstance(key, tuple) and key[0] in self._numbering.of_regions:
                units[self._numbering.of_regions.index(key[0])].append((number, key[1]))
        each = zip(self._numbering.of_regions, self._shared.bases, units, evaluations, alone, strict=True)
        return tuple(
            Region(Space(number, base.columns, tuple(columns), tuple(forms), Closing.BASE), tuple(added))
            for number, base, columns, forms, added in each
        )

    def _products(self, node: Node, cell_of: dict[Node, int], more: MoreCells) -> Iterator[Product]:
        """The linear form that a node's total is."""
        forms = self._shared.forms[node.query]
        trends, form = counts(node), cell_of.get(replace(node, held=TotalKind.FORM))
        # What the base has counted goes on with trends; what is counted on the way is so for trends of the base.
        pairs = dict.fromkeys(((trends, node), (node, trends)))
        inflows = self._shared.inflows(node.query, node.state)
        snapshot = forms[node.state].snapshot
        totals = [
            (
                column,
                state,
                TotalKind.BASE if (column or snapshot is None) and forms[state].kept_apart else TotalKind.TOTAL,
            )
            for column, state in self._shared.columns(node.query, node.state).items()
        ]
        totals += ((column, state, TotalKind.TOTAL) for column, to in inflows.items() for state in to.inflow)
        for column, state, held in totals:
            for factor, following in pairs:
                coefficient = cell_of.get(replace(factor, held=TotalKind.FORM))
                total = cell_of.get(Node(node.query, state, following.component, held))
                if coefficient is not None and total is not None:
                    yield Product(coefficient, column, total)
        base = self._shared.bases[self._shared.region_of[forms[node.state].block]]
        constants = [column for column, to in inflows.items() if to.starts]
        if base.constant is not None:
            constants.append(base.constant)
        for column in constants:
            if form is not None:
                yield Product(form, column, None if self._panes[node.query] is None else self.unit(trends, more))
        if forms[node.state].block not in base.blocks:
            yield Product(self._unit(trends, 0, more), 0, cell_of[node])

    def _unit(self, node: Node, column: int, more: MoreCells) -> int:
        """The form, of the node's region and arithmetic, that is the total of one column."""
        window, arithmetic = self.number_of(node), node.component.arithmetic
        return more.number((window, column, arithmetic), passive(arithmetic, window))

    def unit(self, node: Node, more: MoreCells) -> int:
        """The constant 1, of the node's arithmetic, in a window that is computed by panes."""
        window, arithmetic = self._window_of[node.query], node.component.arithmetic
        return more.number((window, 0, arithmetic), passive(arithmetic, window))

    def panes(self, nodes: list[Node], cell_of: dict[Node, int], more: MoreCells) -> tuple[Space, ...]:
        """The panes of all windows and spans that are computed by them, with one of the ``nodes`` per cell."""
        rows: dict[int, int] = {}
        units: dict[int, list[tuple[int, int]]] = {}
        evaluations: dict[int, list[tuple[bool, Evaluation]]] = {}
        for number, node in enumerate(nodes):
            pane_rows, window, counts = self._panes[node.query], self._window_of[node.query], node.component.is_count
            if pane_rows is None or node.held is TotalKind.FORM:
                continue
            rows[window] = pane_rows.rows
            if counts and node.state in pane_rows.of:
                units.setdefault(window, []).append((number, pane_rows.of[node.state]))
            if node.held is TotalKind.TOTAL:
                products = tuple(dict.fromkeys(self._pane_products(node, pane_rows, cell_of, more)))
                evaluations.setdefault(window, []).append((counts, Evaluation(number, None, products)))
        for key, number in more.numbers.items():
            if isinstance(key, tuple) and key[0] in rows:
                units.setdefault(key[0], []).append((number, 0))
        return tuple(
            Space(
                window,
                count,
                tuple(units[window]),
                tuple(e for last in (False, True) for counts, e in evaluations[window] if counts is last),
                Closing.PANE if window in self._numbering.of_windows else Closing.TIME,
            )
            for window, count in rows.items()
        )

    def _pane_products(
        self, node: Node, rows: PaneRows, cell_of: dict[Node, int], more: MoreCells
    ) -> Iterator[Product]:
        """What a node's total is after a pane."""
        trends = counts(node)
        for state in rows.before[node.state]:
            for factor, following in dict.fromkeys(((trends, node), (node, trends))):
                total = cell_of.get(Node(node.query, state, following.component))
                if total is not None:
                    yield Product(cell_of[factor], rows.of[state], total)
        yield Product(cell_of[node], 0, None)
        if node.state not in rows.of:
            yield Product(self.unit(trends, more), 0, cell_of[node])

    def spans(self, panes: Iterable[Space], gains: Gains, cells: Sequence[Cell]) -> Iterator[Span]:
        """The spans, whose ``panes`` are among those of windows."""
        by_window = {pane.number: pane for pane in panes}
        for length, window in self._spans.items():
            own_gains = (Gain(cell, of) for (_, of), cell in gains.items() if cells[of[0]].window == window)
            yield Span(length, by_window[window], tuple(own_gains))
