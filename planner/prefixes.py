"""Equal prefixes: states of different queries that always hold the same totals are computed once.

Two states hold the same totals when their events are of the same class and must meet the same condition
on the event before, a trend may start at both or neither and under the same guards, their windows are
equal, and the states before them hold the same totals and are left under the same guards. The coarsest
such partition is found by refinement; it needs no statistics, since merging never costs anything.
"""

from __future__ import annotations

from planner.refinement import refine
from planner.sharing import QSet, SharingPlan, TransitionPlan
from planner.template import Template


def equal_prefixes(template: Template, plan: SharingPlan | None = None) -> tuple[tuple[int, ...], ...]:
    """Per query and state of its automaton, the number of its block of equal prefixes.

    Args:
        template: Of a pool.
        plan: When given, states are told apart also where it puts their queries in different Q-sets
            of a transition that leads to them.
    """
    entered = entered_in(plan)
    keys: list[object] = []
    before: list[tuple[tuple[object, int], ...]] = []
    for number, machine in enumerate(template.automata):
        offset = len(keys)
        window = template.queries[number].window
        for state, sources in enumerate(machine.predecessors()):
            place = template.places[number][state]
            event, step = template.states[place].event, template.states[place].step
            keys.append((event, step, machine.starts.get(state), window, entered.get((number, place))))
            before.append(tuple((machine.follows[source][state], offset + source) for source in sources))
    blocks = iter(refine(keys, before))
    return tuple(tuple(next(blocks) for _ in machine.labels) for machine in template.automata)


def share_equal_prefixes(template: Template) -> SharingPlan:
    """The plan that shares what `equal_prefixes` merges, and nothing else."""
    blocks = equal_prefixes(template)
    at = [dict(zip(row, states, strict=True)) for row, states in zip(template.places, blocks, strict=True)]
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
    entered: dict[tuple[int, int], tuple[object, ...]] = {}
    for transition in () if plan is None else plan.transitions:
        for qset in transition.qsets:
            for query in qset.queries:
                key = (query, transition.target)
                entered[key] = (*entered.get(key, ()), (transition.source, qset.queries))
    return entered
