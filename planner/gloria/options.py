"""Options: the valid labels of one query, with what each costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from planner.gloria.costs import CostModel, charges
from planner.gloria.labels import ALONE, Form, Labels, forms
from planner.gloria.problem import Problem

Labelling: TypeAlias = "dict[int, int | None]"
"""Labels that are still being made."""


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A way to label one query.

    Attributes:
        labels: The labels.
        forms: That the query then has in common with others.
        charges: All that it then has to pay for, with others or by itself.
    """

    labels: Labels
    forms: frozenset[Form]
    charges: dict[Hashable, float]


def option(problem: Problem, model: CostModel, query: int, labels: Labels) -> Option | None:
    """The option of some labels; None when they are not valid."""
    known = forms(problem, query, labels)
    if known is None:
        return None
    return Option(labels, frozenset(known.values()), dict(charges(problem, model, query, labels, known)))


def alone(problem: Problem, model: CostModel, query: int) -> Option:
    """The option to share nothing."""
    found = option(problem, model, query, dict.fromkeys(problem.mine[query], ALONE))
    assert found is not None
    return found


def all_labels(problem: Problem, fewest: int, query: int) -> Iterator[Labelling]:
    """All valid labels of a query, but for Q-sets that cannot have ``fewest`` queries."""
    numbers = problem.mine[query]
    transitions, arrivals = problem.transitions, problem.arrivals[query]
    labels: Labelling = {}

    def choices(number: int) -> list[int | None]:
        if query not in problem.plain[number] or len(problem.plain[number]) < fewest:
            return [ALONE]
        source = transitions[number].source
        found: list[int | None] = [ALONE, source]
        if problem.steps.passes_on(query, source):
            known = {labels[before] for before in arrivals[source] if before in labels}
            unknown = [before for before in arrivals[source] if before not in labels]
            if len(known) == 1:
                found += [snapshot for snapshot in known if snapshot not in (ALONE, source)]
            elif unknown and not known:
                # Only what comes round a cycle gets here.
                found += [s for s in arrivals if s != source and problem.rank[s] <= problem.rank[source]]
        return found

    def extend(place: int) -> Iterator[Labelling]:
        if place == len(numbers):
            if forms(problem, query, labels) is not None:
                yield dict(labels)
            return
        for label in choices(numbers[place]):
            labels[numbers[place]] = label
            yield from extend(place + 1)
            del labels[numbers[place]]

    return extend(0)
