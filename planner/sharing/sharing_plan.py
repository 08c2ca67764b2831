"""The workload sharing plan: which queries share which transitions, and through which snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.patterns.query import Selection
from sparkext.planner.sharing.template import Template


@dataclass(frozen=True, slots=True)
class QSet:
    """Queries (by number in the pool) that share a transition.

    Attributes:
        queries: Ascending.
        snapshot: State of the template at whose events snapshots are taken: what goes over the transition
            is a linear form over them, the same for all queries. None for a query that goes alone, and for
            several whose totals are equal anyway.
    """

    queries: tuple[int, ...]
    snapshot: int | None


@dataclass(frozen=True, slots=True)
class TransitionPlan:
    """How the queries of one transition of the template are divided into Q-sets."""

    source: int
    target: int
    qsets: tuple[QSet, ...]


@dataclass(frozen=True, slots=True)
class SharingPlan:
    """One transition plan per transition of the template, in its order.

    Attributes:
        optimizer: What made the plan.
        transitions: The choices.
    """

    optimizer: str
    transitions: tuple[TransitionPlan, ...]


class Steps:
    """What may be shared in a template.

    A step of a query is plain when it has neither guards nor a condition on the event before, and the query skips till
    any match and has no span, so that totals only grow, and keeps no totals per earlier event. Only plain steps can be
    part of a linear form. A state passes a query's forms on, instead of turning them into values, only if all that the
    query does there is plain.
    """

    def __init__(self, template: Template) -> None:
        self._template = template
        self._at = [{place: state for state, place in enumerate(places)} for places in template.places]
        self._grows = [
            query.selection is Selection.ANY
            and query.span is None
            and not template.is_anchored(number)
            and not query.has_extreme_differences
            for number, query in enumerate(template.queries)
        ]

    def is_plain(self, query: int, source: int, target: int) -> bool:
        """Whether a query's step from state to state of the template is plain."""
        if not self._grows[query]:
            return False
        at = self._at[query]
        condition = self._template.automata[query].follows[at[source]][at[target]]
        return condition == ALWAYS and self._template.states[target].step is None

    def passes_on(self, query: int, state: int) -> bool:
        """Whether a state of the template may pass on what a query brings there."""
        machine, here = self._template.automata[query], self._at[query][state]
        return (
            self._grows[query]
            and self._template.states[state].step is None
            and machine.starts.get(here, ALWAYS) == ALWAYS
            and machine.ends.get(here, ALWAYS) == ALWAYS
            and all(self.is_plain(query, state, self._template.places[query][t]) for t in machine.follows[here])
        )

    def starts(self, query: int, state: int) -> bool:
        """Whether a query starts at a state of the template."""
        return self._at[query][state] in self._template.automata[query].starts


def invalid(template: Template, plan: SharingPlan) -> Iterator[str]:
    """What is wrong with a plan, as texts; nothing for one that can be carried out.

    The Q-sets of a transition hold each of its queries once. A Q-set on (E', E) with snapshots of E' takes
    them there. One with snapshots of another state X passes on what comes to E': it comes by transitions that
    all of the Q-set have, in Q-sets that hold it and have snapshots of X too, all or none of its queries
    start at E', and some of what comes begins at X.
    """
    steps = Steps(template)
    arriving: dict[int, list[TransitionPlan]] = {}
    for transition, planned in zip(template.transitions, plan.transitions, strict=True):
        name = f"({template.states[planned.source]}, {template.states[planned.target]})"
        if (transition.source, transition.target) != (planned.source, planned.target):
            yield f"{name} is not the transition of the template"
        if sorted(query for qset in planned.qsets for query in qset.queries) != list(transition.queries):
            yield f"{name}: {planned.qsets} does not divide {transition.queries}"
        arriving.setdefault(planned.target, []).append(planned)
    for planned in plan.transitions:
        for qset in planned.qsets:
            if qset.snapshot is None:
                continue
            name = f"({template.states[planned.source]}, {template.states[planned.target]}), {qset}"
            if not all(steps.is_plain(query, planned.source, planned.target) for query in qset.queries):
                yield f"{name}: not a plain step"
            if qset.snapshot == planned.source:
                continue
            if not all(steps.passes_on(query, planned.source) for query in qset.queries):
                yield f"{name}: passed on at a state that has guards or a condition"
            if len({steps.starts(query, planned.source) for query in qset.queries}) != 1:
                yield f"{name}: only some start there"
            for before in arriving.get(planned.source, ()):
                if not _comes_in_one(before, qset):
                    yield f"{name}: comes from {template.states[before.source]} in another way"
            if not _begins(arriving, planned.source, qset):
                yield f"{name}: nothing comes from the state of its snapshots"


def _comes_in_one(before: TransitionPlan, qset: QSet) -> bool:
    """Whether a transition brings all of a Q-set in one over the same snapshots, or nothing of it."""
    holding = [other for other in before.qsets if set(other.queries) & set(qset.queries)]
    if not holding:
        return True
    return len(holding) == 1 and holding[0].snapshot == qset.snapshot and set(qset.queries) <= set(holding[0].queries)


def _begins(arriving: dict[int, list[TransitionPlan]], state: int, qset: QSet) -> bool:
    """Whether something that comes to ``state`` over snapshots of the Q-set's type has begun at that type."""
    seen, todo = {state}, [state]
    while todo:
        for before in arriving.get(todo.pop(), ()):
            if any(o.snapshot == qset.snapshot and set(qset.queries) & set(o.queries) for o in before.qsets):
                if before.source == qset.snapshot:
                    return True
                if before.source not in seen:
                    seen.add(before.source)
                    todo.append(before.source)
    return False
