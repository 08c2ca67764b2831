"""Panes: which windows are computed from what happens between one window's start and the next one's.

Without guards and conditions on adjacent events, and where a trend may leave out any event, what comes after an
event is linear in the totals before it. So all that the events of a pane do, the time from the start of a window to
that of the next, is one matrix, and a window is the product of its panes. That takes a lane per row of the matrix,
twice, however many windows are open. Where few are, a lane for each of them is cheaper.

Where a trend has a span, its totals are held for the time before each moment that it may have begun in. That is a
window that slides with each event and is always computed by panes: each of the events up to a time at which trends
begin.

An unbounded window can be computed so too: all that the events of a *stretch* of time do is one matrix, so that
several tasks compute the stretches of one key, and the product of their matrices is its window.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.bits import members
from sparkext.planner.patterns.query import Selection, Window
from sparkext.planner.sharing.template import Template

PANES_FROM = 6.0
"""How many windows must be open, for each row of a matrix and class of events, for matrices to be cheaper than a lane
per window. An event costs as much as there are lanes, and a pane, of which there is at most one per event, as there
are products of two entries; measured with ``benchmarks/kernel.py``."""

LEAST_CARRIED = 12
"""How many windows must be open for what keys have done to be carried on beside events of a stream, which takes
matrices; measured with ``benchmarks/stream_phi.py``."""


@dataclass(frozen=True, slots=True)
class PaneRows:
    """The rows of the pane matrices of a query. Row 0 is the constant 1, of which trends that start are made.

    Attributes:
        rows: How many there are; queries with one window have as many.
        of: Row of each state of the query's automaton that another comes after.
        before: Per state, those of these states that it comes after, at once or later, and itself if it is one.
    """

    rows: int
    of: dict[int, int]
    before: tuple[tuple[int, ...], ...]


def told_apart(merged: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """Blocks of states that hold equal totals, of which no query has two in one block.

    Two states of one query, whose variables are of one class, may hold as many trends and not the same of them.
    """
    numbers: dict[tuple[int, int], int] = {}
    return tuple(
        tuple(numbers.setdefault((block, states[:at].count(block)), len(numbers)) for at, block in enumerate(states))
        for states in merged
    )


def may_be_stretched(template: Template) -> bool:
    """Whether keys can be computed in stretches of time: all windows are unbounded, and panes possible.

    What differences of ends are taken against is one value for a task, and the events of a key have to share it.
    """
    return all(
        query.held_for is None and not query.differences and _is_linear(template, number)
        for number, query in enumerate(template.queries)
    )


def pane_rows(
    template: Template,
    merged: tuple[tuple[int, ...], ...],
    least: float = PANES_FROM,
    stretched: bool = False,
    is_carried: bool = False,
) -> tuple[PaneRows | None, ...]:
    """Per query, the rows of its pane matrices; None where a lane per window is kept, as it never is for a span.

    States that hold equal totals have one row. Others share a row if no state comes after both.

    Args:
        template: Of the pool.
        merged: Per query and state, a number that states of several queries have in common that hold equal totals.
        least: As `PANES_FROM`.
        stretched: Whether keys are computed in stretches; see `may_be_stretched`.
        is_carried: Whether windows are by panes in any case of which `LEAST_CARRIED` are open.
    """
    together: dict[Window | int | None, list[int]] = {}
    for number, query in enumerate(template.queries):
        if not query.has_totals:
            continue
        window = query.held_for
        many = isinstance(window, Window) and window.live > 1 and _is_linear(template, number)
        assert query.span is None or _is_linear(template, number), "totals of a span are products"
        if stretched or many or query.span is not None:
            together.setdefault(window, []).append(number)
    rows_of: list[PaneRows | None] = [None] * len(template.queries)
    for window, queries in together.items():
        each = 0.0 if is_carried and isinstance(window, Window) and window.live >= LEAST_CARRIED else least
        events = {template.states[state].event for number in queries for state in template.states_of[number]}
        if isinstance(window, Window) and window.live < each * len(events):
            continue
        reached = {number: _before(template, number) for number in queries}
        # States that one comes after have a row each, if others come after them, as they do but for that one itself.
        fewest = max(states.bit_count() for masks in reached.values() for states in masks)
        if isinstance(window, Window) and window.live < each * len(events) * fewest:
            continue
        comes_after = {number: [members(states) for states in masks] for number, masks in reached.items()}
        rows = _rows(template, merged, comes_after)
        count = 1 + max(rows.values(), default=0)
        if not isinstance(window, Window) or window.live >= each * len(events) * count:
            for number in queries:
                of = {state: rows[block] for state, block in enumerate(merged[number]) if block in rows}
                before = tuple(tuple(s for s in states if s in of) for states in comes_after[number])
                rows_of[number] = PaneRows(count, of, before)
    return tuple(rows_of)


def _is_linear(template: Template, number: int) -> bool:
    """Whether totals are sums of totals before: no step of a query depends on guards or on the event before, all events
    stay in its totals, and none changes what trends have brought, as a part of a difference does.
    """
    if template.queries[number].selection is not Selection.ANY or template.queries[number].has_extreme_differences:
        return False
    automaton = template.automata[number]
    conditions = [*automaton.starts.values(), *automaton.ends.values()]
    conditions += [condition for after in automaton.follows for condition in after.values()]
    return all(condition == ALWAYS for condition in conditions) and all(
        template.states[state].step is None for state in template.states_of[number]
    )


def _before(template: Template, number: int) -> list[int]:
    """Per state of a query, all states that it comes after, and itself, as bits."""
    predecessors = template.automata[number].predecessors()
    reached = [1 << state for state in range(len(predecessors))]
    changed = True
    while changed:
        changed = False
        for state, sources in enumerate(predecessors):
            before = reached[state]
            for source in sources:
                before |= reached[source]
            changed |= before != reached[state]
            reached[state] = before
    return reached


def _rows(
    template: Template, merged: tuple[tuple[int, ...], ...], comes_after: dict[int, list[tuple[int, ...]]]
) -> dict[int, int]:
    """The row, from 1 on, of each block of states that others come after."""
    after: dict[int, set[int]] = {}
    onwards: set[int] = set()
    for query, states in comes_after.items():
        blocks = merged[query]
        for state, before in enumerate(states):
            for source in before:
                after.setdefault(blocks[source], set()).add(blocks[state])
        onwards |= {blocks[s] for s, follows in enumerate(template.automata[query].follows) if follows}
    taken: dict[int, int] = {}
    rows: dict[int, int] = {}
    for block in sorted(onwards):
        used = 0
        for target in after[block]:
            used |= taken.get(target, 0)
        row = (~used & used + 1).bit_length() - 1
        rows[block] = row + 1
        for target in after[block]:
            taken[target] = taken.get(target, 0) | 1 << row
    return rows
