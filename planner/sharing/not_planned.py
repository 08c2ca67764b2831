"""Queries that a strategy does not plan, each with a reason that programs can read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
