"""Queries that a strategy does not plan, each with a reason that programs can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from sparkext.planner.patterns.query import Selection
from sparkext.planner.sharing.template import Template


class Reason(Enum):
    """Why a strategy leaves a query alone; the name is for programs, the value for people."""

    KLEENE = "it repeats"
    NO_KLEENE = "nothing in it repeats by itself"
    COMPLEX_KLEENE = "what repeats in it are several events in a row"
    BRANCHES = "it has alternatives"
    NOT = "it has NOT"
    PREV = "it has a condition on the event before"
    EARLIER = "it has a condition on an earlier event"
    SELECTION = "it may not leave out every event"
    SPAN = "it has SPAN"
    DIFFERENCE = "it has MIN or MAX of a difference of ends"
    ENDS = "it asks for FIRST or LAST of a trend"
    INFINITE = "its trends have no bounded length, or more than 16 events or 64 forms"
    STREAM = "it is over a stream"
    TOO_MANY_MATCHES = "it has too many matches to build them"
    NOTHING_IN_COMMON = "no other query has what it could share"


@dataclass(frozen=True, slots=True)
class NotPlanned:
    """A query that goes alone, whatever it might share.

    Attributes:
        query: Its number in the pool.
        reason: Why.
    """

    query: int
    reason: Reason


_HOLDS: dict[Reason, Callable[[Template, int], bool]] = {
    Reason.SELECTION: lambda template, query: template.queries[query].selection is not Selection.ANY,
    Reason.SPAN: lambda template, query: template.queries[query].span is not None,
    Reason.DIFFERENCE: lambda template, query: template.queries[query].has_extreme_differences,
    Reason.ENDS: lambda template, query: bool(template.queries[query].marks),
    Reason.EARLIER: lambda template, query: template.is_anchored(query),
    Reason.NOT: lambda template, query: bool(template.automata[query].guards),
    Reason.PREV: lambda template, query: any(
        template.states[state].step is not None for state in template.states_of[query]
    ),
}


def first_reason(template: Template, query: int, reasons: Iterable[Reason]) -> Reason | None:
    """The first of some reasons that a query of a pool gives, or None; of them only what a query asks for is known.

    Raises:
        KeyError: A reason is about more than what a query asks for, such as `Reason.NOTHING_IN_COMMON`.
    """
    return next((reason for reason in reasons if _HOLDS[reason](template, query)), None)
