"""From queries that ask for completions to the completion plan: states that hold the same are one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.automata.refinement import refine
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.compiler.completion_totals import Totals
from sparkext.planner.compiler.guard_states import guard_states
from sparkext.planner.compiler.nodes import Node
from sparkext.planner.conditions.access import compile_comparison
from sparkext.planner.conditions.instructions import program
from sparkext.planner.kernel_plan.kernel_plan import (
    MOST_NODES,
    Arithmetic,
    Column,
    Comparison,
    CompletionEnd,
    CompletionQuery,
    Completions,
    CompletionState,
    Cut,
    Field,
    KernelPlan,
    Link,
    Register,
    ShownColumn,
    ShownSlot,
    StateTotal,
)
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import Pattern, variables
from sparkext.planner.patterns.prev_condition import Constant, ValueKind
from sparkext.planner.patterns.query import Distinct, EventClass, Mark, Query, Selection, Side, Window
from sparkext.planner.sharing.prefixes import taken_out
from sparkext.planner.sharing.template import Template, template_of
from sparkext.planner.totals.components import Component, components
from sparkext.planner.totals.contributions import addend_at, column_at, contributes, event_at, is_at_end, of_component


def with_completions(
    plan: KernelPlan,
    queries: Sequence[Query],
    orders: int = 0,
    keys: Sequence[int] = (),
    most: int = MOST_NODES,
) -> KernelPlan:
    """A kernel plan that also finds the completions of the queries of a pool that ask for them.

    Args:
        plan: Which has banks for all of them; nothing adds to those of queries with a row for each completion.
        queries: Of the pool.
        orders: Number of expressions of ORDER BY beside the time.
        keys: Positions of the PARTITION BY expressions among the key columns.
        most: Most nodes at once.
    """
    return _Compiler(plan, queries).plan(orders, tuple(keys), most)


def one_by_one(query: Query) -> Window | None:
    """The windows of a query that asks for completions, if an event may be something else in each of them.

    So it is when something is forbidden at the start of the pattern: it must not happen since the window has begun.
    """
    if query.completion is None or query.window is None or not _is_forbidden_at_start(query.pattern, query.selection):
        return None
    return query.window


def final_when(query: Query) -> tuple[object, ...] | None:
    """When completions that a query asks for over a stream are final: queries of which this is equal go together.

    None for a query that asks for none.
    """
    if query.completion is None:
        return None
    (automaton,) = template_of([_as_compiled(query)]).automata
    waits = any(condition != ALWAYS for condition in automaton.ends.values())
    return query.window, query.span, query.wait, query.has_rows, waits


def _as_compiled(query: Query) -> Query:
    """A query as its automaton is made: what is asked of the ends of trends matters to what rows add up alone."""
    return query if query.has_rows else replace(query, aggregates=())


@lru_cache(1 << 10)
def _is_forbidden_at_start(pattern: Pattern, selection: Selection) -> bool:
    starts = automaton_of(pattern, selection is Selection.CONTIGUOUS).starts
    return any(condition != ALWAYS for condition in starts.values())


class _Compiler:
    def __init__(self, plan: KernelPlan, queries: Sequence[Query]) -> None:
        self._plan = plan
        self._asking = [number for number, query in enumerate(queries) if query.completion is not None]
        self._queries = [queries[number] for number in self._asking]
        self._template = template_of([_as_compiled(query) for query in self._queries])
        self._classes: dict[EventClass, int] = {event: number for number, event in enumerate(plan.classes)}
        self._columns: dict[Column, int] = {column: number for number, column in enumerate(plan.columns)}
        self._comparisons: dict[Comparison, int] = {}
        self._registers: dict[Register, int] = {}
        self._slots: dict[ShownColumn, int] = {}
        self._slots_of: dict[int, list[int]] = {}
        self._shown: dict[Attribute, set[int]] = {}

    def plan(self, orders: int, keys: tuple[int, ...], most: int) -> KernelPlan:
        self._plan = _with_counts(self._plan, [(number, self._queries[n]) for n, number in enumerate(self._asking)])
        blocks = _blocks(self._template)
        chosen: dict[int, tuple[int, int]] = {}
        for query, row in enumerate(blocks):
            for state, block in enumerate(row):
                chosen.setdefault(block, (query, state))
        totals = self._totals = Totals(self._template, blocks)
        states = [self._state(blocks, *chosen[block]) for block in range(len(chosen))]
        states = [
            replace(state, totals=tuple(self._total(state, blocks, node) for node in totals.at(number)))
            for number, state in enumerate(states)
        ]
        for number, target in enumerate(states):
            leading = [link for source in states for link in source.links if link.cell == number]
            opens = any(link.cell == number and source.is_open for source in states for link in source.links)
            conditions = [*(link.condition for link in leading), *(cut.condition for cut in target.cuts)]
            states[number] = replace(
                target,
                is_read=bool(leading),
                is_scanned=opens or any(link.comparison is not None for link in leading),
                is_guarded=any(condition != ALWAYS for condition in conditions),
            )
        asking = tuple(self._query(number, blocks[number]) for number in range(len(self._queries)))
        completions = Completions(
            states=tuple(states),
            queries=asking,
            registers=tuple(self._registers),
            slots=tuple(self._slots),
            shown=tuple((attribute, tuple(sorted(classes))) for attribute, classes in self._shown.items()),
            orders=orders,
            guards=len(self._template.guards),
            guard_states=guard_states(self._template, self._class),
            keys=keys,
            comparisons=tuple(self._comparisons),
            most=most,
        )
        return replace(
            self._plan,
            classes=tuple(self._classes),
            columns=tuple(self._columns),
            results=tuple(
                replace(
                    result,
                    shown=tuple(list(self._slots)[slot].name for slot in self._slots_of.get(number, ())),
                    most_nodes=most if number in self._asking else None,
                )
                for number, result in enumerate(self._plan.results)
            ),
            completions=completions,
        )

    def _class(self, event: EventClass) -> int:
        return self._classes.setdefault(event, len(self._classes))

    def _state(self, blocks: tuple[tuple[int, ...], ...], query: int, state: int) -> CompletionState:
        """A state, by one of the queries that have it."""
        template, asked = self._template, self._queries[query]
        automaton = template.automata[query]
        of_template = template.states[template.states_of[query][state]]
        starts = state in automaton.starts
        start_event = None
        if of_template.step is not None:
            starts = starts and of_template.step.start is not None
            start_event = self._class(of_template.step.start) if starts and of_template.step.start is not None else None
        links = [
            Link(blocks[query][before], automaton.follows[before][state], self._comparison(query, before, state))
            for before in automaton.predecessors()[state]
        ]
        is_open = template.is_open(query, state)
        cuts, is_taken = self._leaving(query, state)
        return CompletionState(
            event=self._class(of_template.event),
            label=_order(asked)[automaton.labels[state]],
            start=starts,
            start_event=start_event,
            start_condition=automaton.starts[state] if starts else ALWAYS,
            links=tuple(links),
            cuts=cuts,
            is_taken=is_taken,
            is_open=is_open,
        )

    def _total(self, at: CompletionState, blocks: tuple[tuple[int, ...], ...], of: Node) -> StateTotal:
        """What is added up at a state, by one of the nodes of which it is."""
        template, automaton, component = self._template, self._template.automata[of.query], of.component
        where = template, of.query, of.state, component
        step = template.states[template.states_of[of.query][of.state]].step
        starts, start_event = component.is_count and of.state in automaton.starts, None
        if starts and step is not None:
            starts = step.start is not None
            start_event = None if step.start is None else self._class(of_component(*where, step.start))
        is_origin, held, added = contributes(*where), column_at(*where), addend_at(*where)
        sources: list[tuple[int, int]] = []
        for before in automaton.predecessors()[of.state]:
            source = self._totals.number(replace(of, state=before))
            if source is not None:
                link = Link(
                    blocks[of.query][before],
                    automaton.follows[before][of.state],
                    self._comparison(of.query, before, of.state),
                )
                sources.append((at.links.index(link), source))
        return StateTotal(
            arithmetic=component.arithmetic,
            event=self._class(event_at(*where)),
            starts=starts,
            start_event=start_event,
            count=self._totals.number(replace(of, component=component.counter)) if is_origin else None,
            column=self._column(held) if is_origin and held is not None else None,
            weighted=is_origin and component.weighted,
            addend=None if added is None else self._column(added),
            sources=tuple(sources),
        )

    def _comparison(self, query: int, before: int, state: int) -> int | None:
        """Number of the comparison of an event at a state with an earlier one, if there is any."""
        template = self._template
        step = template.states[template.states_of[query][state]].step
        if step is not None:
            comparison = compile_comparison(step.condition, True, self._column)
        elif self._leaving(query, before)[1]:
            comparison = Comparison((), program(Constant(1, ValueKind.FLAG), self._column))
        else:
            return None
        return self._comparisons.setdefault(comparison, len(self._comparisons))

    def _column(self, column: Column) -> int:
        return self._columns.setdefault(column, len(self._columns))

    def _leaving(self, query: int, state: int) -> tuple[tuple[Cut, ...], bool]:
        """What empties a state, and whether single events leave it that are gone on from."""
        template, asked = self._template, self._queries[query]
        if asked.selection is Selection.ANY:
            return (), False
        if asked.selection is Selection.CONTIGUOUS:
            return (Cut(self._class(asked.rows)),), False
        onwards = template.onwards(query, state)
        states = [template.states[template.states_of[query][target]] for target in onwards]
        if any(target_state.step is not None for target_state in states):
            return (), True
        cuts = (Cut(self._class(s.event), way) for s, way in zip(states, onwards.values(), strict=True))
        return tuple(dict.fromkeys(cuts)), False

    def _query(self, number: int, blocks: tuple[int, ...]) -> CompletionQuery:
        query, automaton = self._queries[number], self._template.automata[number]
        result = self._plan.results[self._asking[number]]
        assert query.completion is not None
        values: dict[int, Component] = {}
        if query.has_rows:
            for fields, parts in zip(result.values, components(query)[1], strict=True):
                values |= zip(fields, parts, strict=True)
        ends = [
            CompletionEnd(blocks[s], way, automaton.labels[s], tuple(self._ended(number, s, values.values())))
            for s, way in automaton.ends.items()
        ]
        shown: list[ShownSlot] = []
        used: dict[tuple[Attribute | None, bool], int] = {}
        for value in query.completion.shown if query.has_rows else ():
            is_list = value.attribute is not None and value.mark is None
            nth = used[value.attribute, is_list] = used.get((value.attribute, is_list), -1) + 1
            column = None
            if value.attribute is not None:
                of = [
                    s
                    for s in range(len(blocks))
                    if value.mark is None or value.mark.variable in (None, automaton.labels[s])
                ]
                shown_at = self._shown.setdefault(value.attribute, set())
                shown_at.update(
                    self._class(self._template.states[self._template.states_of[number][s]].event) for s in of
                )
                column = list(self._shown).index(value.attribute)
            slot = self._slots.setdefault(ShownColumn(column, is_list, nth), len(self._slots))
            is_last = value.mark == Mark(Side.LAST, None)
            register = None
            if value.mark is not None and not is_last:
                states = frozenset(blocks[s] for s, name in enumerate(automaton.labels) if name == value.mark.variable)
                register = self._registers.setdefault(Register(value.mark.side, states), len(self._registers))
            shown.append(ShownSlot(slot, register, is_last))
        self._slots_of[self._asking[number]] = [value.slot for value in shown]
        return CompletionQuery(
            bank=result.bank,
            window=query.window,
            span=query.span,
            wait=query.wait,
            ends=tuple(ends),
            has_rows=query.has_rows,
            shown=tuple(shown),
            counted=tuple(zip(_counted(query), result.counted, strict=True)),
            counted_in=result.counted_in,
            values=tuple(values),
        )

    def _ended(self, query: int, state: int, values: Iterable[Component]) -> Iterator[int | None]:
        """Which totals of a state are part of the values of a query whose trends end there."""
        for component in values:
            is_part = is_at_end(self._template, query, state, component)
            yield self._totals.number(Node(query, state, component)) if is_part else None


def _with_counts(plan: KernelPlan, asking: Sequence[tuple[int, Query]]) -> KernelPlan:
    """The plan with a bank for what each query, by its number, counts once, in fields that hold counts."""
    fields, results, bank = list(plan.fields), list(plan.results), len(plan.banks)
    exact = [number for number, field in enumerate(fields) if field == Field(Arithmetic.EXACT)]
    for number, query in asking:
        counted = _counted(query)
        while len(exact) < len(counted):
            exact.append(len(fields))
            fields.append(Field(Arithmetic.EXACT))
        if counted:
            results[number] = replace(results[number], counted=tuple(exact[: len(counted)]), counted_in=bank)
            bank += 1
    return replace(plan, fields=tuple(fields), results=tuple(results))


def _counted(query: Query) -> tuple[Distinct, ...]:
    """What is counted once; where each completion is a row that is known without counting."""
    return () if query.completion is None or query.has_rows else query.completion.counted


def _order(query: Query) -> dict[str, int]:
    """The variables of a query in the order of its text."""
    return {name: number for number, name in enumerate(variables(query.pattern))}


def _blocks(template: Template) -> tuple[tuple[int, ...], ...]:
    """Per query and state of its automaton, the number of what it is at the same time for other queries.

    Two states are one when their events are of the same class and must meet the same condition, a trend may start at
    both under the same guards, their variables are the same ones in the order of the text, and so for the states before
    them; and when they are emptied alike. Windows and spans do not matter: of a trend that has the latest start, it is
    asked in the end whether that is late enough.
    """
    keys: list[object] = []
    before: list[tuple[tuple[object, int], ...]] = []
    for number, automaton in enumerate(template.automata):
        offset = len(keys)
        order = _order(template.queries[number])
        for state, sources in enumerate(automaton.predecessors()):
            of_template = template.states[template.states_of[number][state]]
            is_open, start = template.is_open(number, state), automaton.starts.get(state)
            label = order[automaton.labels[state]]
            out = taken_out(template, number, state)
            keys.append(
                (of_template.event, of_template.step, is_open, start, label, out, _is_anchor(template, number, state))
            )
            before.append(tuple((automaton.follows[source][state], offset + source) for source in sources))
    numbers = iter(refine(keys, before))
    return tuple(tuple(next(numbers) for _ in automaton.labels) for automaton in template.automata)


def _is_anchor(template: Template, number: int, state: int) -> bool:
    """Whether trends are told apart by their events at a state."""
    return any(template.is_open(number, target) for target in template.onwards(number, state))
