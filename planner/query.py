"""A trend query as the planner sees it: pattern, event classes, aggregates and window."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from planner.pattern import Pattern


@dataclass(frozen=True, slots=True)
class EventClass:
    """What an event must be to match a variable. Equal classes share their condition bit.

    Attributes:
        type_by: Canonical text of the TYPE BY expression; None when there is none.
        type: Value of that expression; None when there is none.
        condition: Canonical text of the condition on one event; None when there is none.
    """

    type_by: str | None
    type: str | None
    condition: str | None

    def __str__(self) -> str:
        if self.type is None:
            return f"[{self.condition}]"
        return self.type if self.condition is None else f"{self.type}[{self.condition}]"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A scalar expression over the columns of one event.

    Attributes:
        text: Its canonical text.
        type: Its type, as Spark spells it, e.g. ``decimal(10,2)``.
    """

    text: str
    type: str


class Function(Enum):
    """What an aggregate computes over the trends of a group and window."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over all trends.

    ``COUNT(*)`` has neither variable nor attribute, ``COUNT(X)`` has no attribute; all others have both.
    """

    function: Function
    variable: str | None = None
    attribute: Attribute | None = None

    def __str__(self) -> str:
        if self.variable is None:
            return f"{self.function.value}(*)"
        inner = self.variable if self.attribute is None else f"{self.variable}: {self.attribute.text}"
        return f"{self.function.value}({inner})"


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """Windows [k·slide, k·slide + within) for all integers k.

    Both are in units of the time column: microseconds, days or plain numbers. Both are positive.
    """

    within: int
    slide: int

    @property
    def live(self) -> int:
        """The most windows that one moment is in."""
        return -(-self.within // self.slide)


@dataclass(frozen=True, slots=True)
class Query:
    """One trend query of a pool.

    Attributes:
        name: Unique in the pool.
        pattern: Over the variables of ``classes``.
        classes: Per variable, in order of first use in the pattern, what its events must be.
        aggregates: Distinct, in order of first use.
        window: None for one unbounded window.
    """

    name: str
    pattern: Pattern
    classes: tuple[tuple[str, EventClass], ...]
    aggregates: tuple[Aggregate, ...]
    window: Window | None
