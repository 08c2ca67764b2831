"""Canonical order: what is found must not depend on the order in which queries were registered.

Where two plans cost the same, or differ by what rounding makes of their sums, the order of things decides. So
a problem is solved as if its queries had been registered in an order of their own: the longest first, then by
their text. What has been found is then numbered as before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, TransitionPlan
from sparkext.planner.sharing.template import Template, Transition


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """A problem in canonical order.

    Attributes:
        problem: In that order.
        given: The problem as it was given.
        queries: Per query its number as given.
        states: Per state its number as given.
        transitions: Per transition its number as given.
    """

    problem: Problem
    given: Problem
    queries: tuple[int, ...]
    states: tuple[int, ...]
    transitions: tuple[int, ...]

    def plan(self, plan: SharingPlan) -> SharingPlan:
        """A plan of the problem, as one of the given problem."""
        qsets = {n: self.qsets(p.qsets) for n, p in zip(self.transitions, plan.transitions, strict=True)}
        links = enumerate(self.given.transitions)
        return SharingPlan(plan.optimizer, tuple(TransitionPlan(t.source, t.target, qsets[n]) for n, t in links))

    def numbered(self, queries: Iterable[int]) -> tuple[int, ...]:
        """Queries by their numbers as given, ascending."""
        return tuple(sorted([self.queries[query] for query in queries]))

    def qsets(self, qsets: Iterable[QSet]) -> tuple[QSet, ...]:
        """Q-sets by the numbers of their queries and states as given, ordered."""
        renumbered = [
            QSet(
                self.numbered(qset.queries),
                qset.snapshot if qset.snapshot in (None, BURST) else self.states[qset.snapshot],
            )
            for qset in qsets
        ]
        return tuple(sorted(renumbered, key=lambda qset: qset.queries))


def canonical(problem: Problem) -> Canonical:
    """A problem in canonical order; the very problem if it has that order already."""
    template = problem.template
    shown = [repr(state) for state in template.states]
    queries = sorted(range(len(template.queries)), key=lambda query: _text(template, query, shown))
    states = list(dict.fromkeys(state for query in queries for state in template.states_of[query]))
    transitions = list(range(len(template.transitions)))
    if states == list(range(len(states))) and queries == list(range(len(queries))):
        return Canonical(problem, problem, tuple(queries), tuple(states), tuple(transitions))
    state_at, query_at = _indexes(states), _indexes(queries)

    def renumbered(numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted([query_at[query] for query in numbers]))

    links = [(state_at[t.source], state_at[t.target]) for t in template.transitions]
    transitions.sort(key=lambda number: links[number])
    ordered = replace(
        template,
        queries=tuple(template.queries[query] for query in queries),
        automata=tuple(template.automata[query] for query in queries),
        states_of=tuple(tuple(state_at[state] for state in template.states_of[query]) for query in queries),
        states=tuple(template.states[state] for state in states),
        starts=tuple(renumbered(template.starts[state]) for state in states),
        ends=tuple(renumbered(template.ends[state]) for state in states),
        transitions=tuple(
            Transition(*links[number], renumbered(template.transitions[number].queries)) for number in transitions
        ),
        opens=tuple(template.opens[query] for query in queries),
        marked=tuple(template.marked[query] for query in queries),
    )
    events = tuple(problem.events[state] for state in states)
    runs = tuple(problem.runs[state] for state in states) if problem.runs else ()
    return Canonical(
        Problem(ordered, events, problem.budget, runs=runs), problem, tuple(queries), tuple(states), tuple(transitions)
    )


def _text(template: Template, query: int, shown: list[str]) -> tuple[object, ...]:
    """What tells a query apart from all that are not its equals, the longest first."""
    asked, states = template.queries[query], template.states_of[query]
    return (
        -len(states),
        str(asked.pattern),
        [shown[state] for state in states],
        # What must not happen has classes that are not among the states.
        repr(asked.classes) if template.automata[query].guards else "",
        (asked.window.within, asked.window.slide) if asked.window else (),
        [str(aggregate) for aggregate in asked.aggregates],
        (asked.selection.value, str(asked.rows)),
        [variable or "" for variable in template.opens[query]],
        asked.span or 0,
    )


def _indexes(numbers: list[int]) -> dict[int, int]:
    return {number: index for index, number in enumerate(numbers)}
