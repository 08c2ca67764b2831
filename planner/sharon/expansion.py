"""Expansion: conflicts are resolved by dropping queries, so that a candidate is shared by some that have it.

The paper makes every way to drop queries a vertex of a larger graph, exponentially many. But in the end each query
has a set of parts without common states, and what is paid for a part is the same whoever shares it: that is a choice
of one option for each query, which completion knows how to look for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from sparkext.planner.disjoint_sets import put_together
from sparkext.planner.plan_completion.choices import Choices
from sparkext.planner.plan_completion.completed_plan import FEWEST_LABELS, LARGE, Effort, promising, searched
from sparkext.planner.plan_completion.options import Core, Option, core, options
from sparkext.planner.problem.labels import Labelling, Labels, forms
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharon.benefits import Benefits
from sparkext.planner.sharon.candidates import Candidate

FEWEST = 2
"""Fewest queries that share a candidate."""


def expanded(
    problem: Problem,
    pricer: Pricer,
    benefits: Benefits,
    candidates: Sequence[Candidate],
    chosen: Sequence[Candidate],
    effort: Effort,
) -> list[Labelling]:
    """Labels that cost no more than those of the chosen candidates, where other queries may share what they have.

    Args:
        problem: The workload.
        pricer: Of its cost model.
        benefits: Of the candidates.
        candidates: Those that pay for the queries they have here.
        chosen: Candidates between which there is no conflict.
        effort: How hard to look.
    """
    labels = benefits.together(chosen)
    having = _open_to_change(len(labels), candidates, chosen)
    queries = list(having)
    most = max(FEWEST_LABELS, effort.labels // max(1, len(queries)))
    options_of: list[list[Option]] = []
    for query in queries:
        own_core = core(problem, FEWEST, query)
        given = _inner(own_core, labels[query])
        sets = islice(_compatible(having[query]), most)
        every: list[Labelling] = [benefits.alone[query], labels[query]]
        every += (benefits.labels(query, parts) for parts in sets)
        forms_of: dict[tuple[int | None, ...], tuple[Labelling, Mapping[int, int]]] = {}
        for some in every:
            inner = _inner(own_core, some)
            if tuple(inner.values()) not in forms_of:
                forms_of[tuple(inner.values())] = inner, forms(problem, query, some) or {}
        options_of.append(promising(options(problem, pricer, query, own_core, forms_of.values(), given), given))
    choices = Choices(FEWEST, options_of, [[index] for index in range(len(queries))], problem.budget)
    proof = searched(choices, [labels[query] for query in queries], effort, effort.looks // LARGE)
    for query, best in zip(queries, choices.labels(proof.chosen), strict=True):
        labels[query].update(best)
    return labels


def _inner(own: Core, labels: Labels) -> Labelling:
    """Of the labels of a query, those that it may have in common with others."""
    return {number: labels[number] for number in own.transitions}


def _open_to_change(
    count: int, candidates: Sequence[Candidate], chosen: Sequence[Candidate]
) -> dict[int, list[Candidate]]:
    """By query its candidates, for those that may save more than by the chosen ones.

    Where a candidate is chosen with all that pay for it, and none of these has another, there is nothing to change.
    """
    candidates_of: dict[int, list[Candidate]] = {}
    wanted = set(chosen)
    for queries in put_together(count, [candidate.queries for candidate in candidates]):
        in_part = set(queries)
        connected = [candidate for candidate in candidates if candidate.queries[0] in in_part]
        if len(connected) > 1 or not wanted.issuperset(connected):
            candidates_of.update(
                {query: [shared for shared in connected if query in shared.queries] for query in queries if connected}
            )
    return candidates_of


def _compatible(candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, ...]]:
    """Sets of candidates without common states, those of few first."""
    sets: list[tuple[tuple[Candidate, ...], int]] = [((), 0)]
    while sets:
        larger: list[tuple[tuple[Candidate, ...], int]] = []
        for parts, begin in sets:
            taken = {state for part in parts for state in part.states}
            for index in range(begin, len(candidates)):
                if taken.isdisjoint(candidates[index].states):
                    more = (*parts, candidates[index])
                    yield more
                    larger.append((more, index + 1))
        sets = larger
