"""From a template and a sharing plan to the kernel plan: states times components become cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from sparkext.planner.automata.guards import ALWAYS, Condition
from sparkext.planner.automata.refinement import refine
from sparkext.planner.compiler.anchor_classes import anchor_classes
from sparkext.planner.compiler.banks import Banks, is_free, lay_out
from sparkext.planner.compiler.completion_plan import one_by_one, with_completions
from sparkext.planner.compiler.guard_states import guard_states
from sparkext.planner.compiler.match_steps import with_matches
from sparkext.planner.compiler.nodes import Node, Sources, TotalKind, counts, key_of, nodes_of, sources_of
from sparkext.planner.compiler.spaces import Forms, Gains, MoreCells, passive
from sparkext.planner.conditions.access import compile_comparison, is_ranked
from sparkext.planner.conditions.instructions import program
from sparkext.planner.kernel_plan.kernel_plan import (
    MOST_NODES,
    Arithmetic,
    Bank,
    Cell,
    Column,
    Comparison,
    Cut,
    KernelPlan,
    Link,
    Numbering,
)
from sparkext.planner.patterns.prev_condition import Constant, ValueKind
from sparkext.planner.patterns.query import EventClass, Selection, Step, Window
from sparkext.planner.problem.problem import MOST_MATCHES
from sparkext.planner.sharing.match_plan import MatchPlan
from sparkext.planner.sharing.prefixes import equal_prefixes, share_equal_prefixes
from sparkext.planner.sharing.regions import Regions, regions
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import State, Template, template_of
from sparkext.planner.totals.components import Component, needed
from sparkext.planner.totals.contributions import (
    addend_at,
    column_at,
    contributes,
    event_at,
    is_at_end,
    of_component,
)
from sparkext.planner.totals.pane_rows import PANES_FROM, PaneRows, pane_rows, told_apart

_T = TypeVar("_T")


def compile_plan(
    template: Template,
    plan: SharingPlan,
    panes_from: float = PANES_FROM,
    fallback: bool = False,
    stretched: bool = False,
    matches: MatchPlan | None = None,
    most_matches: int = MOST_MATCHES,
    own_rows: bool = False,
    is_stream: bool = False,
) -> KernelPlan:
    """The kernel plan that computes all queries of ``template``, sharing what ``plan`` shares.

    Args:
        template: Of the pool.
        plan: A valid one.
        panes_from: From how many open windows on these are computed by panes; see `panes.PANES_FROM`.
        fallback: Whether to add a plan without linear forms, if there are any; not if ``stretched``.
        stretched: Whether keys are computed in stretches; see `panes.may_be_stretched`. Not with ``matches``.
        matches: How the matches of some queries are built, which share nothing by ``plan`` then.
        most_matches: Most partial matches of a step in a key and window.
        own_rows: Whether no two queries have a row together; not with ``matches``.
        is_stream: Whether to add a plan by which windows are carried on from one micro-batch to the next, if there are
            any that may be. Not with ``matches``.
    """
    if matches is not None and matches.roots:
        compiled, _, _ = _compiled(template, plan, panes_from, False, built=matches.queries)
        return with_matches(compiled, template.queries, matches, most_matches)
    compiled, banks, cells = _compiled(template, plan, panes_from, stretched, own_rows=own_rows)
    equal = share_equal_prefixes(template)
    if fallback and compiled.regions and not stretched:
        lanes, _, own = _compiled(template, equal, panes_from, stretched, compiled, banks)
        if lanes.banks:
            if compiled.holds_totals_alone and lanes.holds_totals_alone:
                lanes = replace(lanes, handover=_handover(cells, own))
            compiled = replace(compiled, classes=lanes.classes, columns=lanes.columns, fallback=lanes)
    if is_stream:
        carried, _, _ = _compiled(template, equal, panes_from, stretched, compiled, banks, is_carried=True)
        if _is_carried(carried) and (carried.classes, carried.columns) == (compiled.classes, compiled.columns):
            compiled = replace(compiled, carried=carried)
    return compiled


def _is_carried(plan: KernelPlan) -> bool:
    """Whether windows of a plan can be carried on, beside no spans and nothing that is held against a value which each
    pass has anew."""
    return bool(plan.banks and plan.panes) and not plan.spans and all(one.origin is None for one in plan.columns)


def compile_completions(
    template: Template,
    orders: int = 0,
    keys: Sequence[int] = (),
    most_nodes: int = MOST_NODES,
    own_rows: bool = False,
) -> KernelPlan:
    """The kernel plan of queries that ask for completions, all of which share what is equal.

    Args:
        template: Of these queries, for all of which `one_by_one` gives the same.
        orders: Number of expressions of ORDER BY beside the time.
        keys: Positions of the PARTITION BY expressions among the key columns.
        most_nodes: Most nodes at once.
        own_rows: As for `compile_plan`.
    """
    windows = one_by_one(template.queries[0])
    if windows is not None:
        template = template_of([replace(query, window=None) for query in template.queries])
    built = frozenset(number for number, query in enumerate(template.queries) if not query.has_totals)
    # No cell adds to what is built, so no span needs one.
    plain = replace(
        template,
        queries=tuple(replace(q, span=None) if number in built else q for number, q in enumerate(template.queries)),
    )
    compiled, _, _ = _compiled(plain, share_equal_prefixes(plain), PANES_FROM, False, built=built, own_rows=own_rows)
    compiled = with_completions(compiled, template.queries, orders, keys, most_nodes)
    assert compiled.completions is not None
    return replace(compiled, completions=replace(compiled.completions, windows=windows))


def _handover(cells: dict[Node, int], own: dict[Node, int]) -> tuple[tuple[int, int], ...]:
    """Cells of a plan with those of its fallback that hold the same totals.

    What events add up comes last: of a state that is in the base of a region as well, it is the newer one.
    """
    pairs = {(cells[node], own[_in_fallback(node)]): node.held for node in cells if node.held != TotalKind.FORM}
    return tuple(sorted(pairs, key=lambda pair: pairs[pair] is TotalKind.TOTAL))


def _in_fallback(node: Node) -> Node:
    """The node of a plan without forms that holds the same total between two times."""
    return node if node.held is TotalKind.LIVE else replace(node, held=TotalKind.TOTAL)


def _compiled(
    template: Template,
    plan: SharingPlan,
    panes_from: float,
    stretched: bool,
    like: KernelPlan | None = None,
    banks: Banks | None = None,
    built: Set[int] = frozenset(),
    own_rows: bool = False,
    is_carried: bool = False,
) -> tuple[KernelPlan, Banks, dict[Node, int]]:
    """A kernel plan, its banks and the cells of all nodes. Nothing is added to the banks of ``built`` queries.

    With ``like`` another, it has the same numbers for classes and columns, and its banks. There are no banks when those
    of the other do not fit.
    """
    merged = equal_prefixes(template, plan)
    apart = told_apart(merged)
    rows_of = pane_rows(template, apart, panes_from, stretched, is_carried)
    panes = tuple(None if number in built else rows for number, rows in enumerate(rows_of))
    shared = regions(template, plan)
    kept = [
        (number, component)
        for number, query in enumerate(template.queries)
        if number not in built
        for component in needed(query)
    ]
    anchors = {
        (number, component.between): anchor_classes(template, number, component.counter) for number, component in kept
    }
    nodes = [
        node
        for number, component in kept
        for node in nodes_of(template, shared, number, anchors[number, component.between], component)
    ]
    index = {node: number for number, node in enumerate(nodes)}
    predecessors = [automaton.predecessors() for automaton in template.automata]
    before = [
        sources_of(template, predecessors[n.query][n.state], shared, n, anchors[n.query, n.component.between], index)
        for n in nodes
    ]
    held = tuple(shared if rows is None else alone for shared, alone, rows in zip(merged, apart, panes, strict=True))
    keys = ((key_of(template, held, shared, node), panes[node.query] is not None) for node in nodes)
    blocks = refine(keys, before)
    cell_of = dict(zip(nodes, blocks, strict=True))
    compiler = _Compiler(template, shared, merged, panes, like, built, own_rows)
    return *compiler.plan(nodes, before, blocks, cell_of, banks), cell_of


def _copy(arithmetic: Arithmetic, event: int, window: int, cell: int) -> Cell:
    """A cell to which each event adds what it adds to another."""
    return Cell(arithmetic, event, window, False, (), cell, None, False)


@dataclass(frozen=True, slots=True)
class _Leaving:
    """How events leave a cell: see `Cell.cuts` and `Cell.taken`."""

    cuts: tuple[Cut, ...] = ()
    taken: int | None = None

    @property
    def is_in_parts(self) -> bool:
        """Whether not all events leave together."""
        return self.taken is not None or any(cut.condition != ALWAYS for cut in self.cuts)


class _Compiler:
    def __init__(
        self,
        template: Template,
        shared: Regions,
        merged: tuple[tuple[int, ...], ...],
        panes: tuple[PaneRows | None, ...],
        like: KernelPlan | None,
        built: Set[int],
        own_rows: bool,
    ) -> None:
        self._template = template
        self._built = built
        self._with_own_rows = range(len(template.queries)) if own_rows else built
        self._shared = shared
        self._merged = merged
        self._panes = panes
        self._classes: dict[EventClass, int] = {} if like is None else _numbered(like.classes)
        self._columns: dict[Column, int] = {} if like is None else _numbered(like.columns)
        self._windows: dict[tuple[Window | None, bool], int] = {}
        # Per query, the window that it is reported in, and the one that its cells are for.
        self._reported_in = [
            _number(self._windows, (query.window, query.span is None and rows is not None))
            for query, rows in zip(template.queries, panes, strict=True)
        ]
        lengths = dict.fromkeys(query.span for query in template.queries if query.span)
        self._numbering = Numbering(len(self._windows), len(shared.bases), len(lengths))
        spans = dict(zip(lengths, self._numbering.of_spans, strict=True))
        self._window_of = [
            self._reported_in[number] if query.span is None else spans[query.span]
            for number, query in enumerate(template.queries)
        ]
        self._forms = Forms(template, shared, panes, self._window_of, self._numbering, spans)
        self._gains: Gains = {}
        self._comparisons: dict[Comparison, int] = {}
        self._compared: dict[tuple[Step, bool], int] = {}
        self._taken: dict[object, int] = {}

    def plan(
        self,
        nodes: list[Node],
        before: list[Sources],
        blocks: list[int],
        cell_of: dict[Node, int],
        banks: Banks | None,
    ) -> tuple[KernelPlan, Banks]:
        representatives: dict[int, int] = {}
        for index, block in enumerate(blocks):
            representatives.setdefault(block, index)
        more = MoreCells(len(representatives))
        chosen = [nodes[index] for index in representatives.values()]
        steps = (tuple((nodes[s], step) for step, s in before[index]) for index in representatives.values())
        before_each = list(zip(chosen, steps, strict=True))
        cells = [self._cell(node, of, cell_of, more) for node, of in before_each]
        regions = self._forms.regions(before_each, cell_of, more, self._alone)
        panes = self._forms.panes(chosen, cell_of, more)
        forbidden = guard_states(self._template, partial(_number, self._classes))
        ends = partial(self._end_cells, cell_of, more)
        if banks is None:
            banks = lay_out(self._template.queries, self._reported_in, ends, self._with_own_rows)
            rows: tuple[Bank, ...] | None = banks.banks
        else:
            rows = banks.of_cells(self._reported_in, ends)
        kernel_plan = KernelPlan(
            classes=tuple(self._classes),
            columns=tuple(self._columns),
            windows=tuple(window for window, _ in self._windows),
            cells=(*cells, *more.cells),
            fields=banks.fields,
            banks=rows or (),
            results=banks.results,
            guards=len(self._template.guards),
            guard_states=forbidden,
            comparisons=tuple(self._comparisons),
            regions=regions,
            panes=tuple(pane for pane in panes if pane.number in self._numbering.of_windows),
            spans=tuple(self._forms.spans(panes, self._gains, cells)),
        )
        return kernel_plan, banks

    def _comparison(self, state: State, scanned: bool) -> int | None:
        """Number of the comparison of events at ``state`` with those before."""
        if state.step is None:
            return None
        key = (state.step, scanned)
        if key not in self._compared:
            comparison = compile_comparison(state.step.condition, scanned, self._column)
            self._compared[key] = _number(self._comparisons, comparison)
        return self._compared[key]

    def _column(self, column: Column) -> int:
        return _number(self._columns, column)

    def _cell(
        self, node: Node, steps: tuple[tuple[Node, Condition], ...], cell_of: dict[Node, int], more: MoreCells
    ) -> Cell:
        if self._forms.is_evaluated(node):
            return passive(node.component.arithmetic, self._window_of[node.query])
        return self._added(node, steps, cell_of, more)

    def _alone(
        self, node: Node, steps: tuple[tuple[Node, Condition], ...], cell_of: dict[Node, int], more: MoreCells
    ) -> Cell:
        """What events add to a total that is evaluated, in a burst that is not shared."""
        cell = self._added(node, (), cell_of, more)
        return replace(cell, sources=(*cell.sources, *(cell_of[source] for source, _ in steps)))

    def _added(
        self, node: Node, steps: tuple[tuple[Node, Condition], ...], cell_of: dict[Node, int], more: MoreCells
    ) -> Cell:
        """What events add to the cell of a node."""
        component = node.component
        automaton, window = self._template.automata[node.query], self._window_of[node.query]
        at = self._template, node.query, node.state, component
        is_origin, held = contributes(*at), column_at(*at)
        column = self._column(held) if is_origin and held is not None else None
        added = addend_at(*at)
        state = self._template.states[self._template.states_of[node.query][node.state]]
        starts = component.is_count and node.state in automaton.starts
        start_event = None
        if starts and state.step is not None:
            start = state.step.start
            starts = start is not None
            start_event = None if start is None else _number(self._classes, of_component(*at, start))
        units: tuple[int, ...] = ()
        if node.held is TotalKind.FORM:
            window, starts, units = self._forms.number_of(node), False, self._forms.units(node, more)
        elif starts and self._panes[node.query] is not None:
            starts, units = False, (self._forms.unit(node, more),)
        live = replace(node, held=TotalKind.LIVE)
        if node.held is TotalKind.TOTAL and component.arithmetic is not Arithmetic.EXTREME and live in cell_of:
            # What comes to the state is added up already; the column of its own has no part in that.
            return _copy(component.arithmetic, _number(self._classes, event_at(*at)), window, cell_of[live])
        whole, links = self._before(node, steps, cell_of, more)
        own = self._leaving(node)
        return Cell(
            arithmetic=component.arithmetic,
            event=_number(self._classes, event_at(*at)),
            window=window,
            start=starts,
            start_event=start_event,
            start_condition=automaton.starts[node.state] if starts else ALWAYS,
            sources=(*units, *whole),
            links=links,
            count=cell_of[counts(node)] if is_origin else None,
            column=column,
            weighted=is_origin and component.weighted,
            cuts=own.cuts,
            taken=own.taken,
            anchor=None if node.anchor is None else _number(self._classes, node.anchor),
            addend=None if added is None else self._column(added),
        )

    def _before(
        self, node: Node, steps: tuple[tuple[Node, Condition], ...], cell_of: dict[Node, int], more: MoreCells
    ) -> tuple[tuple[int, ...], tuple[Link, ...]]:
        """The cells before of which all events count, and the others."""
        state = self._template.states[self._template.states_of[node.query][node.state]]
        is_cut = self._template.queries[node.query].selection is not Selection.ANY
        whole: list[int] = []
        links: list[Link] = []
        for source, condition in steps:
            leaving = self._leaving(source)
            is_anchored = TotalKind.ANCHORED in (node.held, source.held)
            unranked = is_anchored and state.step is not None and not is_ranked(state.step.condition)
            comparison = self._comparison(state, is_cut or unranked or condition != ALWAYS)
            if comparison is None and leaving.taken is not None:
                comparison = self._any_event()
            link = Link(self._read(source, cell_of, more), condition, comparison)
            if node.anchor is not None or leaving.is_in_parts or not is_free(link):
                links.append(link)
            else:
                whole.append(link.cell)
        return tuple(whole), tuple(links)

    def _leaving(self, node: Node) -> _Leaving:
        """How events leave the cell of a node."""
        query = self._template.queries[node.query]
        if node.held is not TotalKind.LIVE:
            return _Leaving()
        if query.selection is Selection.CONTIGUOUS:
            return _Leaving((Cut(_number(self._classes, query.rows)),))
        onwards = self._template.onwards(node.query, node.state)
        states = [self._template.states[self._template.states_of[node.query][target]] for target in onwards]
        if any(state.step is not None for state in states):
            return _Leaving(taken=_number(self._taken, self._left_together(node)))
        cuts = (Cut(_number(self._classes, s.event), way) for s, way in zip(states, onwards.values(), strict=True))
        return _Leaving(tuple(dict.fromkeys(cuts)))

    def _left_together(self, node: Node) -> object:
        """What cells have in common which an event leaves together."""
        marked = self._template.marked[node.query]
        if marked is None:
            return self._merged[node.query][node.state]
        return node.query, marked.origins[node.state]

    def _any_event(self) -> int:
        """Number of the comparison that is true of any event."""
        condition = Constant(1, ValueKind.FLAG)
        return _number(self._comparisons, Comparison((), program(condition, self._column)))

    def _read(self, source: Node, cell_of: dict[Node, int], more: MoreCells) -> int:
        """The cell that an event reads: the node's own, or a view of it."""
        cell = cell_of[source]
        if not self._forms.is_evaluated(source):
            return cell
        return more.number(cell, passive(source.component.arithmetic, self._window_of[source.query]))

    def _end_cells(
        self, cell_of: dict[Node, int], more: MoreCells, number: int, component: Component
    ) -> tuple[Link, ...]:
        if number in self._built:
            return (Link(more.add(passive(component.arithmetic, self._reported_in[number])), ALWAYS),)
        states = sorted(self._template.automata[number].ends.items())
        ends = [(state, way) for state, way in states if is_at_end(self._template, number, state, component)]
        nodes = ((Node(number, state, component), condition) for state, condition in ends)
        links = tuple(Link(cell_of[node], condition) for node, condition in nodes if node in cell_of)
        if self._template.queries[number].span is None or not links:
            return links
        key = (self._reported_in[number], tuple(sorted(link.cell for link in links)))
        if key not in self._gains:
            self._gains[key] = more.add(passive(component.arithmetic, key[0]))
        return (Link(self._gains[key], ALWAYS),)


def _numbered(values: Iterable[_T]) -> dict[_T, int]:
    return {value: number for number, value in enumerate(values)}


def _number(numbers: dict[_T, int], key: _T) -> int:
    return numbers.setdefault(key, len(numbers))
