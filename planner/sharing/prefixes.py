"""Equal prefixes: states of different queries that always hold the same totals are computed once.

Two states hold the same totals when their events are of the same class and must meet the same condition
on the event before, a trend may start at both or neither and under the same guards, their windows, or
spans, are equal, and the states before them hold the same totals and are left under the same guards. Where events do
not stay in totals for good (`Selection`), the same events must take them out, and totals per earlier event are no
others. The coarsest such partition is found by refinement; it needs no statistics, since merging never costs anything.
"""

from __future__ import annotations

from sparkext.planner.automata.refinement import refine
from sparkext.planner.patterns.query import Selection
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan, TransitionPlan
from sparkext.planner.sharing.template import Template


def equal_prefixes(template: Template, plan: SharingPlan | None = None) -> tuple[tuple[int, ...], ...]:
    """Per query and state of its automaton, the number of its block of equal prefixes.

    Args:
        template: Of a pool.
        plan: When given, states are told apart also where it puts their queries in different Q-sets
            of a transition that leads to them.
    """
    entered = entered_in(plan) | _of_parts(template, plan)
    keys: list[object] = []
    before: list[tuple[tuple[object, int], ...]] = []
    for number, automaton in enumerate(template.automata):
        offset = len(keys)
        query = template.queries[number]
        for state, sources in enumerate(automaton.predecessors()):
            template_state = template.states_of[number][state]
            event, step = template.states[template_state].event, template.states[template_state].step
            leaving = taken_out(template, number, state)
            is_open, start = template.is_open(number, state), automaton.starts.get(state)
            keys.append((event, step, is_open, start, query.held_for, leaving, entered.get((number, template_state))))
            before.append(tuple((automaton.follows[source][state], offset + source) for source in sources))
    blocks = iter(refine(keys, before))
    return tuple(tuple(next(blocks) for _ in automaton.labels) for automaton in template.automata)


def _of_parts(template: Template, plan: SharingPlan | None) -> dict[tuple[int, int], tuple[object, ...]]:
    """As `entered_in`, of parts of one state that hold equal totals: as the first, so that they are not told apart."""
    if plan is None or all(marked is None for marked in template.marked):
        return {}
    entered = entered_in(plan)
    forms = {(q, t.target) for t in plan.transitions for s in t.qsets if s.snapshot is not None for q in s.queries}
    entered_at: dict[tuple[int, int], tuple[object, ...]] = {}
    for number, (marked, blocks) in enumerate(zip(template.marked, equal_prefixes(template), strict=True)):
        first: dict[tuple[int, int], tuple[int, int]] = {}
        for state, origin in enumerate(() if marked is None else marked.origins):
            place = (number, template.states_of[number][state])
            like = first.setdefault((origin, blocks[state]), place)
            if place in entered and like in entered and not {place, like} & forms:
                entered_at[place] = entered[like]
    return entered_at


def taken_out(template: Template, number: int, state: int) -> object:
    """What takes events out of the totals of a state of a query; None when nothing does."""
    query = template.queries[number]
    if query.selection is Selection.ANY:
        return None
    if query.selection is Selection.CONTIGUOUS:
        return query.rows
    onwards = template.onwards(number, state)
    states = [template.states[template.states_of[number][target]] for target in onwards]
    steps = frozenset((s.event, s.step, c) for s, c in zip(states, onwards.values(), strict=True))
    # The parts of a state lose the same events, even those that another part of it has found.
    is_apart = template.marked[number] is not None and any(state_at.step is not None for state_at in states)
    return (number, steps) if is_apart else steps


def share_equal_prefixes(template: Template) -> SharingPlan:
    """The plan that shares what `equal_prefixes` merges, and nothing else."""
    blocks = equal_prefixes(template)
    at = [dict(zip(row, states, strict=True)) for row, states in zip(template.states_of, blocks, strict=True)]
    plans: list[TransitionPlan] = []
    for transition in template.transitions:
        together: dict[tuple[int, int], list[int]] = {}
        for query in transition.queries:
            link = (at[query][transition.source], at[query][transition.target])
            together.setdefault(link, []).append(query)
        qsets = tuple(QSet(tuple(queries), None) for queries in together.values())
        plans.append(TransitionPlan(transition.source, transition.target, qsets))
    return SharingPlan("none", tuple(plans))


def share_nothing(template: Template) -> SharingPlan:
    """The plan in which every query goes alone, even where prefixes are equal."""
    return SharingPlan(
        "none",
        tuple(
            TransitionPlan(t.source, t.target, tuple(QSet((query,), None) for query in t.queries))
            for t in template.transitions
        ),
    )


def entered_in(plan: SharingPlan | None) -> dict[tuple[int, int], tuple[object, ...]]:
    """Per query and state of the template, the Q-sets by which the query enters the state."""
    entered: dict[tuple[int, int], list[object]] = {}
    for transition in () if plan is None else plan.transitions:
        for qset in transition.qsets:
            for query in qset.queries:
                entered.setdefault((query, transition.target), []).append((transition.source, qset.queries))
    return {key: tuple(qsets) for key, qsets in entered.items()}
