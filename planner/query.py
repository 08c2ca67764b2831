"""A trend query as the planner sees it: pattern, event classes, aggregates and window."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from planner.adjacent import Operand
from planner.attribute import Attribute
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
class Step:
    """What must be true of an event and the one just before it in a trend.

    Attributes:
        text: Canonical text of the condition.
        condition: The condition itself.
        start: The class of events for which it is true when there is no event before; None when it never is.
    """

    text: str
    condition: Operand
    start: EventClass | None


class Function(Enum):
    """What an aggregate computes over the trends of a group and window.

    APPROX_COUNT and LOG10_COUNT are COUNT in doubles: the count itself, and its decimal logarithm.
    """

    COUNT = "COUNT"
    APPROX_COUNT = "APPROX_COUNT"
    LOG10_COUNT = "LOG10_COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"

    @property
    def counts(self) -> bool:
        """Whether it counts trends or events, and so needs no attribute."""
        return self in (Function.COUNT, Function.APPROX_COUNT, Function.LOG10_COUNT)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over all trends.

    ``COUNT(*)`` has neither variable nor attribute, ``COUNT(X)`` has no attribute, and so for the other
    functions that count; all others have both.
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
        steps: Per variable that has one, the condition on an event and the one before it in a trend.
    """

    name: str
    pattern: Pattern
    classes: tuple[tuple[str, EventClass], ...]
    aggregates: tuple[Aggregate, ...]
    window: Window | None
    steps: tuple[tuple[str, Step], ...] = ()
