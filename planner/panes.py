"""Panes: which windows are computed from what happens between one window's start and the next one's.

Without guards and conditions on adjacent events, what comes after an event is linear in the totals before it.
So all that the events of a pane do, the time from the start of a window to that of the next, is one matrix,
and a window is the product of its panes. That takes a lane per row of the matrix, twice, however many windows
are open. Where few are, a lane for each of them is cheaper.

An unbounded window can be computed so too: all that the events of a *stretch* of time do is one matrix, so that
several tasks compute the stretches of one key, and the product of their matrices is its window.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.automaton import closure
from planner.guards import ALWAYS
from planner.query import Window
from planner.template import Template

PANES_FROM = 6.0
"""How many windows must be open, for each row of a matrix and class of events, for matrices to be cheaper than a lane
per window. An event costs as much as there are lanes, and a pane, of which there is at most one per event, as there
are products of two entries; measured with ``benchmarks/kernel.py``."""


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
    """Whether keys can be computed in stretches of time: all windows are unbounded, and panes possible."""
    return all(query.window is None and _is_linear(template, number) for number, query in enumerate(template.queries))


def pane_rows(
    template: Template, merged: tuple[tuple[int, ...], ...], least: float = PANES_FROM, stretched: bool = False
) -> tuple[PaneRows | None, ...]:
    """Per query, the rows of its pane matrices; None where a lane per window is kept.

    States that hold equal totals have one row. Others share a row if no state comes after both.

    Args:
        template: Of the pool.
        merged: Per query and state, a number that states of several queries have in common that hold equal totals.
        least: As `PANES_FROM`.
        stretched: Whether keys are computed in stretches; see `may_be_stretched`.
    """
    together: dict[Window | None, list[int]] = {}
    for number, query in enumerate(template.queries):
        if stretched or (query.window is not None and query.window.live > 1 and _is_linear(template, number)):
            together.setdefault(query.window, []).append(number)
    found: list[PaneRows | None] = [None] * len(template.queries)
    for window, queries in together.items():
        events = {template.states[place].event for number in queries for place in template.places[number]}
        if window is not None and window.live < least * len(events):
            continue
        comes_after = {number: _before(template, number) for number in queries}
        rows = _rows(template, merged, comes_after)
        count = 1 + max(rows.values(), default=0)
        if window is None or window.live >= least * len(events) * count:
            for number in queries:
                of = {state: rows[block] for state, block in enumerate(merged[number]) if block in rows}
                before = tuple(tuple(s for s in states if s in of) for states in comes_after[number])
                found[number] = PaneRows(count, of, before)
    return tuple(found)


def _is_linear(template: Template, number: int) -> bool:
    """Whether no step of a query depends on guards or on the event before."""
    machine = template.automata[number]
    conditions = [*machine.starts.values(), *machine.ends.values()]
    conditions += [condition for after in machine.follows for condition in after.values()]
    return all(condition == ALWAYS for condition in conditions) and all(
        template.states[place].step is None for place in template.places[number]
    )


def _before(template: Template, number: int) -> list[tuple[int, ...]]:
    """Per state of a query, all states that it comes after, and itself; ascending."""
    predecessors = template.automata[number].predecessors()
    return [closure([state], predecessors.__getitem__) for state in range(len(predecessors))]


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
