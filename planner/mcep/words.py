"""Words: the sequences of event classes that a pattern with finitely many of them can match."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.gloria.problem import Problem
from sparkext.planner.patterns.query import EventClass, Selection
from sparkext.planner.sharing.not_planned import Reason

MAX_WORDS = 64
"""Most words of a pattern."""

MAX_EVENTS = 16
"""Most events of a word."""


@dataclass(frozen=True, slots=True)
class Word:
    """One sequence of a pattern.

    Attributes:
        labels: The variable of each of its events, in order of time.
        classes: What each event must be.
    """

    labels: tuple[str, ...]
    classes: tuple[EventClass, ...]


def words(problem: Problem, query: int) -> tuple[Word, ...] | Reason:
    """The words of a query, each once, by their labels; or why its matches cannot be built from words alone."""
    template = problem.template
    asked, machine, places = template.queries[query], template.automata[query], template.places[query]
    if asked.selection is not Selection.ANY:
        return Reason.SELECTION
    if asked.span is not None:
        return Reason.SPAN
    if asked.marks:
        return Reason.ENDS
    if template.is_anchored(query):
        return Reason.EARLIER
    if machine.guards:
        return Reason.NOT
    if any(template.states[place].step is not None for place in places):
        return Reason.PREV
    paths: list[tuple[int, ...]] = [(state,) for state in machine.starts]
    found: set[tuple[str, ...]] = set()
    while paths:
        path = paths.pop()
        if path[-1] in machine.ends:
            found.add(tuple(machine.labels[state] for state in path))
        paths += [(*path, state) for state in machine.follows[path[-1]]]
        if len(path) > MAX_EVENTS or len(found) > MAX_WORDS:
            return Reason.INFINITE
    known = dict(asked.classes)
    return tuple(Word(labels, tuple(known[label] for label in labels)) for labels in sorted(found))
