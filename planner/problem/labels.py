"""Labels: of what a query's share in each transition is made, from which Q-sets follow.

A label is the state whose snapshots the form over a transition is made of, or what ends the bursts in a loop, see
`sparkext.planner.problem.burst_labels`, or `ALONE`. Each query may be
labelled by itself. Queries are in one Q-set of a transition when they have the same form there: it is over
the same snapshots and has come by the same transitions. Putting together all that have the same form never
costs anything, so a plan that is best among those of labels is best of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.prefixes import equal_prefixes
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, TransitionPlan

ALONE = None
"""Label of a transition over which a query passes values of its own."""

Labels: TypeAlias = Mapping[int, "int | None"]
"""Per transition of a query, by number, its label."""

Labelling: TypeAlias = "dict[int, int | None]"
"""Labels that are still being made."""


def forms(problem: Problem, query: int, labels: Labels) -> dict[int, int] | None:
    """Per transition that is not alone the number of its form; None when the labels are not valid.

    Queries have a form in common when it has the same number. The conditions are those of
    `sparkext.planner.sharing.invalid.invalid`.
    """
    form_of: dict[int, int] = {}
    come: dict[int, _Way] = {}
    plain, passing, starts = problem.plain, problem.passing[query], problem.starts[query]
    arrivals, transitions, numbers = problem.arrivals[query], problem.transitions, problem.forms
    for transition in problem.transitions_of[query]:
        snapshot = labels[transition]
        if snapshot is ALONE:
            continue
        if query not in plain[transition]:
            return None
        if snapshot < 0:
            way = _in_loop(problem, query, transition, labels)
            if way is None:
                return None
            form_of[transition] = numbers.setdefault((transition, snapshot, *way), len(numbers))
            continue
        source = transitions[transition].source
        by = begun = 0
        if source != snapshot:
            before = arrivals[source]
            if not before or source not in passing:
                return None
            for arriving in before:
                if labels[arriving] != snapshot:
                    return None
                if arriving in come:
                    more, started = come[arriving]
                    by |= more | 1 << arriving
                    begun |= started
                else:
                    around = _around(problem, query, labels, source, snapshot)
                    if around is None:
                        return None
                    by, begun = around
                    break
            else:
                begun |= (source in starts) << source
        come[transition] = (by, begun)
        form_of[transition] = numbers.setdefault((transition, snapshot, by, begun), len(numbers))
    return form_of


_Way: TypeAlias = tuple[int, int]
"""By which transitions a form has come since its snapshots, and at which states on the way its queries start,
as bits."""


def _in_loop(problem: Problem, query: int, transition: int, labels: Labels) -> _Way | None:
    """The way of a form that is shared by bursts, the whole loop; None when it cannot be."""
    loop, label = problem.loop_of[query].get(transition), labels[transition]
    if loop is None or label is None or not loop.before <= problem.bursts.ending(label):
        return None
    if any(labels[number] != label for number in loop.inside):
        return None
    if any(labels[number] is not ALONE for number in loop.entering):
        return None
    return sum(1 << number for number in loop.inside), 0


def _around(problem: Problem, query: int, labels: Labels, source: int, snapshot: int) -> _Way | None:
    """The way of a form to a state, when some of it is in a cycle; None when it does not begin at ``snapshot``."""
    arrivals, passing, starts = problem.arrivals[query], problem.passing[query], problem.starts[query]
    by = begun = 0
    todo = [source]
    passed = set(todo)
    begins = False
    while todo:
        state = todo.pop()
        if state not in passing:
            return None
        begun |= (state in starts) << state
        for before in arrivals[state]:
            if labels[before] != snapshot:
                return None
            by |= 1 << before
            origin = problem.transitions[before].source
            if origin == snapshot:
                begins = True
            elif origin not in passed:
                passed.add(origin)
                todo.append(origin)
    return (by, begun) if begins else None


def plan_of(problem: Problem, optimizer: str, labels: Sequence[Labels]) -> SharingPlan:
    """The plan of valid labels, one set for each query.

    Queries that go alone and have equal totals anyway are put together.
    """
    together: list[dict[tuple[int | None, int | None], list[int]]] = [{} for _ in problem.transitions]
    for query, own_labels in enumerate(labels):
        form_of = forms(problem, query, own_labels)
        assert form_of is not None, f"labels of query {query} are not valid: {own_labels}"
        for number, snapshot in own_labels.items():
            together[number].setdefault((form_of.get(number), snapshot), []).append(query)
    draft = SharingPlan(
        optimizer,
        tuple(
            TransitionPlan(
                t.source,
                t.target,
                _ordered(
                    QSet(tuple(queries), BURST if is_burst(snapshot) else snapshot)
                    for (_, snapshot), queries in sets.items()
                ),
            )
            for t, sets in zip(problem.transitions, together, strict=True)
        ),
    )
    blocks = equal_prefixes(problem.template, draft)
    at = [
        dict(zip(row, own_labels, strict=True))
        for row, own_labels in zip(problem.template.states_of, blocks, strict=True)
    ]

    def divided(planned: TransitionPlan) -> Iterable[QSet]:
        for qset in planned.qsets:
            if qset.snapshot is not None:
                yield qset
                continue
            equal: dict[tuple[int, int], list[int]] = {}
            for query in qset.queries:
                equal.setdefault((at[query][planned.source], at[query][planned.target]), []).append(query)
            yield from (QSet(tuple(queries), None) for queries in equal.values())

    return SharingPlan(
        optimizer, tuple(TransitionPlan(p.source, p.target, _ordered(divided(p))) for p in draft.transitions)
    )


def labels_of(problem: Problem, plan: SharingPlan) -> list[dict[int, int | None]]:
    """Per query, the labels that a plan gives it."""
    labels: list[dict[int, int | None]] = [{} for _ in problem.template.queries]
    for number, planned in enumerate(plan.transitions):
        for qset in planned.qsets:
            label = qset.snapshot
            if label == BURST:
                label = problem.bursts.label_of(problem.loop_of[query][number] for query in qset.queries)
            for query in qset.queries:
                labels[query][number] = label
    return labels


def _ordered(qsets: Iterable[QSet]) -> tuple[QSet, ...]:
    return tuple(sorted(qsets, key=lambda qset: qset.queries))
