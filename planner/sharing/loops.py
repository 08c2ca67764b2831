"""Loops: parts of queries that can be shared by bursts, whatever comes to them from outside.

A loop is a strongly connected component of a query's automaton that has a transition. Where all that the query does
there is plain, its totals after some events of the loop are a linear form over those before and over what had come
from outside until then, and the coefficients do not depend on what that was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.planner.sharing.sharing_plan import Steps
from sparkext.planner.sharing.template import Template
from sparkext.planner.strong_components import strong_components


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a query; states and transitions are those of the template, ascending.

    Attributes:
        states: Its states.
        inside: Its transitions, by number. Queries can share it if these are equal.
        entering: Transitions of the query that come to it from outside, by number.
        before: The states where these come from.
    """

    states: tuple[int, ...]
    inside: tuple[int, ...]
    entering: tuple[int, ...]
    before: frozenset[int]


def loops(template: Template, steps: Steps) -> tuple[tuple[Loop, ...], ...]:
    """Per query its loops that can be shared: all states pass on what comes there, and all steps to them are plain."""
    numbers_of: list[list[int]] = [[] for _ in template.queries]
    for number, transition in enumerate(template.transitions):
        for query in transition.queries:
            numbers_of[query].append(number)
    return tuple(tuple(_loops(template, steps, query, numbers)) for query, numbers in enumerate(numbers_of))


def _loops(template: Template, steps: Steps, query: int, numbers: Sequence[int]) -> Iterator[Loop]:
    """Those of a query with these transitions."""
    links = [(template.transitions[number].source, template.transitions[number].target) for number in numbers]
    around = {source for source, target in links if source == target}
    for states in strong_components(template.states_of[query], links):
        if len(states) == 1 and states[0] not in around:
            continue
        inner = set(states)
        arriving = [(n, source) for n, (source, target) in zip(numbers, links, strict=True) if target in inner]
        entering = tuple((number, source) for number, source in arriving if source not in inner)
        if all(steps.passes_on(query, state) for state in states) and all(
            steps.is_plain(query, source, template.transitions[number].target) for number, source in entering
        ):
            inside = tuple(number for number, source in arriving if source in inner)
            yield Loop(states, inside, tuple(n for n, _ in entering), frozenset(source for _, source in entering))
