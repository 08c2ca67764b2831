"""Options: the valid labels of one query, with what each costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from planner.gloria.costs import Pricer
from planner.gloria.labels import ALONE, Labels, forms
from planner.gloria.problem import Problem

Labelling: TypeAlias = "dict[int, int | None]"
"""Labels that are still being made."""


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A way to label one query.

    Attributes:
        labels: The labels.
        forms: Numbers of the forms that the query then has in common with others.
        charges: All that it then has to pay for, with others or by itself.
    """

    labels: Labels
    forms: frozenset[int]
    charges: dict[Hashable, float]


def option(problem: Problem, pricer: Pricer, query: int, labels: Labels) -> Option | None:
    """The option of some labels; None when they are not valid."""
    known = forms(problem, query, labels)
    if known is None:
        return None
    return Option(labels, frozenset(known.values()), pricer.charges(query, labels, known))


def all_labels(problem: Problem, fewest: int, query: int) -> Iterator[Labelling]:
    """All valid labels of a query, but for Q-sets that cannot have ``fewest`` queries."""
    numbers = problem.mine[query]
    transitions, arrivals, passing = problem.transitions, problem.arrivals[query], problem.passing[query]
    sharable = {number for number in numbers if can_share(problem, fewest, query, number)}
    labels: Labelling = {}

    def choices(number: int) -> list[int | None]:
        if number not in sharable:
            return [ALONE]
        source = transitions[number].source
        found: list[int | None] = [ALONE, source]
        if source in passing:
            known = {labels[before] for before in arrivals[source] if before in labels}
            if len(known) == 1:
                found += [snapshot for snapshot in known if snapshot not in (ALONE, source)]
            elif not known:
                # Only what comes round a cycle gets here.
                found += [state for state in arrivals if state != source]
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


def some_labels(problem: Problem, fewest: int, query: int) -> Iterator[Labelling]:
    """Labels of a query with snapshots at one state, or two, from where forms go on as far as they can.

    Forms stop where they cannot be passed on, or at one state more, behind which the query goes alone.
    """
    sharable = {number for number in problem.mine[query] if can_share(problem, fewest, query, number)}
    sources = sorted({problem.transitions[number].source for number in sharable})
    seen: set[tuple[int | None, ...]] = set()
    for first in sources:
        for second in sources:
            for stop in (None, *sources) if first == second else (None,):
                labels = _spread(problem, query, sharable, {first, second}, stop)
                if tuple(labels.values()) not in seen and forms(problem, query, labels) is not None:
                    seen.add(tuple(labels.values()))
                    yield labels


def can_share(problem: Problem, fewest: int, query: int, number: int) -> bool:
    """Whether a query may be in some Q-set of a transition."""
    return query in problem.plain[number] and len(problem.plain[number]) >= fewest


def _spread(problem: Problem, query: int, sharable: set[int], snapshots: set[int], stop: int | None) -> Labelling:
    """Labels with snapshots at some states, passed on wherever all that arrives is over the same."""
    labels: Labelling = dict.fromkeys(problem.mine[query], ALONE)
    arrivals, departures, passing = problem.arrivals[query], problem.departures[query], problem.passing[query]
    for state in snapshots:
        if state != stop:
            labels.update((number, state) for number in departures[state] if number in sharable)
    # A state on a cycle is taken to pass on what comes from outside it, until something else is found.
    guess = {number for number, label in labels.items() if label is ALONE and number in sharable}
    for state in snapshots | ({stop} if stop is not None else set()):
        guess -= set(departures[state])
    for _ in range(2):
        for number in problem.mine[query]:
            source = problem.transitions[number].source
            if number not in guess:
                continue
            coming = {
                labels[before] for before in arrivals[source] if before not in guess or labels[before] is not ALONE
            }
            labels[number] = next(iter(coming)) if len(coming) == 1 and source in passing else ALONE
    changed = True
    while changed:
        changed = False
        for number in guess:
            source = problem.transitions[number].source
            label = labels[number]
            if label is not ALONE and (not arrivals[source] or any(labels[b] != label for b in arrivals[source])):
                labels[number] = ALONE
                changed = True
    return labels
