"""Labels: of what a query's share in each transition is made, from which Q-sets follow.

A label is the state whose snapshots the form over a transition is made of, or `ALONE`. Each query may be
labelled by itself. Queries are in one Q-set of a transition when they have the same form there: it is over
the same snapshots and has come by the same transitions. Putting together all that have the same form never
costs anything, so a plan that is best among those of labels is best of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from planner.gloria.problem import Problem
from planner.prefixes import equal_prefixes
from planner.sharing import QSet, SharingPlan, TransitionPlan

ALONE = None
"""Label of a transition over which a query passes values of its own."""

Labels: TypeAlias = Mapping[int, "int | None"]
"""Per transition of a query, by number, its label."""


@dataclass(frozen=True, slots=True)
class Form:
    """What goes over a transition for all queries that have it.

    Attributes:
        transition: By number.
        snapshot: State of the snapshots.
        by: The transitions it has come by, back to that state; empty where the snapshots are taken.
        starts: States on the way at which the queries start.
    """

    transition: int
    snapshot: int
    by: frozenset[int] = frozenset()
    starts: frozenset[int] = frozenset()


def forms(problem: Problem, query: int, labels: Labels) -> dict[int, Form] | None:
    """Per transition that is not alone its form; None when the labels are not valid.

    The conditions are those of `planner.sharing.invalid`.
    """
    found: dict[int, Form] = {}
    for number, snapshot in labels.items():
        if snapshot is ALONE:
            continue
        form = _form(problem, query, labels, number, snapshot)
        if form is None:
            return None
        found[number] = form
    return found


def _form(problem: Problem, query: int, labels: Labels, number: int, snapshot: int) -> Form | None:
    if query not in problem.plain[number]:
        return None
    source = problem.transitions[number].source
    if source == snapshot:
        return Form(number, snapshot)
    arrivals, starts = problem.arrivals[query], problem.starts[query]
    by: set[int] = set()
    passed: set[int] = set()
    todo, begins = [source], False
    while todo:
        state = todo.pop()
        if state in passed:
            continue
        passed.add(state)
        if not problem.steps.passes_on(query, state):
            return None
        for before in arrivals[state]:
            if labels[before] != snapshot:
                return None
            by.add(before)
            origin = problem.transitions[before].source
            if origin == snapshot:
                begins = True
            else:
                todo.append(origin)
    if not begins:
        return None
    return Form(number, snapshot, frozenset(by), frozenset(passed & starts))


def plan_of(problem: Problem, optimizer: str, labels: Sequence[Labels]) -> SharingPlan:
    """The plan of valid labels, one set for each query.

    Queries that go alone and have equal totals anyway are put together.
    """
    together: list[dict[Form | None, list[int]]] = [{} for _ in problem.transitions]
    for query, mine in enumerate(labels):
        known = forms(problem, query, mine)
        assert known is not None, f"labels of query {query} are not valid: {mine}"
        for number in mine:
            together[number].setdefault(known.get(number), []).append(query)
    draft = SharingPlan(
        optimizer,
        tuple(
            TransitionPlan(
                t.source,
                t.target,
                _ordered(QSet(tuple(q), None if form is None else form.snapshot) for form, q in sets.items()),
            )
            for t, sets in zip(problem.transitions, together, strict=True)
        ),
    )
    blocks = equal_prefixes(problem.template, draft)
    at = [dict(zip(row, mine, strict=True)) for row, mine in zip(problem.template.places, blocks, strict=True)]

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
            for query in qset.queries:
                labels[query][number] = qset.snapshot
    return labels


def _ordered(qsets: Iterable[QSet]) -> tuple[QSet, ...]:
    return tuple(sorted(qsets, key=lambda qset: qset.queries))
