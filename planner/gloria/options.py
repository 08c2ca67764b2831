"""Options: the valid labels of one query, with what each costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
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


@dataclass(frozen=True, slots=True)
class Core:
    """What of a query others might share. Queries with equal cores have the same valid labels there.

    Attributes:
        transitions: That the query may share, by number.
        states: At their ends, each with what matters of the rest of the query: whether it comes there,
            leaves there, ends or starts by itself, and whether its forms may be passed on.
    """

    transitions: tuple[int, ...]
    states: tuple[tuple[int, bool, bool, bool, bool, bool], ...]


def core(problem: Problem, fewest: int, query: int) -> Core:
    """The core of a query, when a Q-set has at least ``fewest`` queries."""
    mine = tuple(number for number in problem.mine[query] if can_share(problem, fewest, query, number))
    links = [problem.transitions[number] for number in mine]
    return Core(
        mine,
        tuple(
            (
                state,
                any(number not in mine for number in problem.arrivals[query][state]),
                any(number not in mine for number in problem.departures[query][state]),
                state in problem.ends[query],
                state in problem.starts[query],
                state in problem.passing[query],
            )
            for state in dict.fromkeys(state for link in links for state in (link.source, link.target))
        ),
    )


def options(
    problem: Problem, pricer: Pricer, query: int, mine: Core, candidates: Iterable[tuple[Labelling, Mapping[int, int]]]
) -> list[Option]:
    """The options of a query.

    Args:
        problem: The problem.
        pricer: Of its cost model.
        query: The query.
        mine: Its core.
        candidates: Labels of the core, each with the forms that they give; the first share nothing.
    """
    alone: Labelling = dict.fromkeys(problem.mine[query], ALONE)
    around = {state for state, *_ in mine.states}
    rest = pricer.charges(query, alone, {}, [state for state in problem.arrivals[query] if state not in around])
    return [
        Option(labels, frozenset(known.values()), pricer.charges(query, labels, known, around) | rest)
        for labels, known in (({**alone, **some}, known) for some, known in candidates)
    ]


def all_labels(problem: Problem, fewest: int, query: int) -> Iterator[tuple[Labelling, Mapping[int, int]]]:
    """All valid labels of a query, with its forms, but for Q-sets that cannot have ``fewest`` queries."""
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

    def extend(place: int) -> Iterator[tuple[Labelling, Mapping[int, int]]]:
        if place == len(numbers):
            known = forms(problem, query, labels)
            if known is not None:
                yield dict(labels), known
            return
        for label in choices(numbers[place]):
            labels[numbers[place]] = label
            yield from extend(place + 1)
            del labels[numbers[place]]

    return extend(0)


def some_labels(problem: Problem, fewest: int, query: int) -> Iterator[tuple[Labelling, Mapping[int, int]]]:
    """Labels of a query, with its forms: snapshots at a state, or two, from where forms go on as far as they can.

    Forms stop where they cannot be passed on, or at one state more, behind which the query goes alone.
    """
    sharable = {number for number in problem.mine[query] if can_share(problem, fewest, query, number)}
    sources = sorted({problem.transitions[number].source for number in sharable})
    seen: set[tuple[int | None, ...]] = set()
    for first in sources:
        for second in sources:
            for stop in (None, *sources) if first == second else (None,):
                labels = _spread(problem, query, sharable, {first, second}, stop)
                if (shown := tuple(labels.values())) in seen:
                    continue
                seen.add(shown)
                known = forms(problem, query, labels)
                if known is not None:
                    yield labels, known


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
