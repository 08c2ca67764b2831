"""Which sharing plans can be carried out."""

from __future__ import annotations

from collections.abc import Iterator

from sparkext.planner.sharing.loops import Loop, loops
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, Steps, TransitionPlan
from sparkext.planner.sharing.template import Template


def invalid(template: Template, plan: SharingPlan) -> Iterator[str]:
    """What is wrong with a plan, as texts; nothing for one that can be carried out.

    The Q-sets of a transition hold each of its queries once. A Q-set on (E', E) with snapshots of E' takes
    them there. One with snapshots of another state X passes on what comes to E': it comes by transitions that
    all of the Q-set have, in Q-sets that hold it and have snapshots of X too, all or none of its queries
    start at E', and some of what comes begins at X. One that is shared by bursts is on all transitions inside
    a loop that all of its queries have, and these go alone over the transitions that come to it from outside.
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
            if qset.snapshot in (None, BURST):
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
    yield from _invalid_bursts(template, steps, plan)


def _invalid_bursts(template: Template, steps: Steps, plan: SharingPlan) -> Iterator[str]:
    """What is wrong with the Q-sets of a plan that are shared by bursts."""
    loop_at: list[dict[int, Loop]] = [
        {number: loop for loop in query_loops for number in loop.inside} for query_loops in loops(template, steps)
    ]
    for number, planned in enumerate(plan.transitions):
        for qset in planned.qsets:
            if qset.snapshot != BURST:
                continue
            name = f"({template.states[planned.source]}, {template.states[planned.target]}), {qset}"
            query_loops = [loop_at[query].get(number) for query in qset.queries]
            first = query_loops[0]
            if first is None or any(loop is None or loop.inside != first.inside for loop in query_loops):
                yield f"{name}: not in one loop of plain steps"
                continue
            if any(qset not in plan.transitions[entering].qsets for entering in first.inside):
                yield f"{name}: not all of the loop is shared"
            for query, loop in zip(qset.queries, query_loops, strict=True):
                for entering in () if loop is None else loop.entering:
                    if any(query in q.queries and q.snapshot is not None for q in plan.transitions[entering].qsets):
                        yield f"{name}: query {query} does not come to the loop alone"


def _comes_in_one(before: TransitionPlan, qset: QSet) -> bool:
    """Whether a transition brings all of a Q-set in one over the same snapshots, or nothing of it."""
    holding = [incoming for incoming in before.qsets if set(incoming.queries) & set(qset.queries)]
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
