"""Words: the sequences of event classes that a pattern with finitely many of them can match."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.patterns.query import EventClass
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.not_planned import Reason, first_reason

MAX_WORDS = 64
"""Most words of a pattern."""

MAX_EVENTS = 16
"""Most events of a word."""


OUTSIDE = (Reason.SELECTION, Reason.SPAN, Reason.ENDS, Reason.EARLIER, Reason.NOT, Reason.PREV)
"""What a query that is matched by words does not ask for."""


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
    reason = first_reason(template, query, OUTSIDE)
    if reason is not None:
        return reason
    automaton = template.automata[query]
    paths: list[tuple[int, ...]] = [(state,) for state in automaton.starts]
    spelt: set[tuple[str, ...]] = set()
    while paths:
        path = paths.pop()
        if path[-1] in automaton.ends:
            spelt.add(tuple(automaton.labels[state] for state in path))
        paths += [(*path, state) for state in automaton.follows[path[-1]]]
        if len(path) > MAX_EVENTS or len(spelt) > MAX_WORDS:
            return Reason.INFINITE
    class_of = dict(template.queries[query].classes)
    return tuple(Word(labels, tuple(class_of[label] for label in labels)) for labels in sorted(spelt))
