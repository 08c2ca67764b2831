"""A trend query as the planner sees it: pattern, event classes, aggregates and window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import Pattern
from sparkext.planner.patterns.prev_condition import Operand


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

    def with_values(self, attributes: Iterable[str]) -> EventClass:
        """The events of the class at which no attribute is NULL, each given by its canonical text."""
        condition = self.condition
        for text in attributes:
            # No canonical text of a condition that is written has a parenthesis without a blank after it.
            condition = f"({text}) IS NOT NULL" if condition is None else f"{condition} AND (({text}) IS NOT NULL)"
        return replace(self, condition=condition)


@dataclass(frozen=True, slots=True)
class Step:
    """What must be true of an event and an earlier one of its trend.

    Attributes:
        text: Canonical text of the condition.
        condition: The condition itself.
        start: The class of events for which it is true when there is no such event; None when it never is.
        anchor: The variable of which the earlier event is the latest; None when it is the event just before.
    """

    text: str
    condition: Operand
    start: EventClass | None
    anchor: str | None = None


class Selection(Enum):
    """Which events between two neighbours of a trend may be left out.

    ANY: all. NEXT: those that could not have continued the trend. CONTIGUOUS: none.
    """

    ANY = "SKIP TILL ANY MATCH"
    NEXT = "SKIP TILL NEXT MATCH"
    CONTIGUOUS = "CONTIGUOUS"

    def of(self, pattern: str) -> str:
        """A pattern as people read it, with the selection unless that is `ANY`."""
        return pattern if self is Selection.ANY else f"{pattern}, {self.value}"


ALL_ROWS = EventClass(None, None, None)
"""The class of all rows of a relation."""


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


class Side(Enum):
    """An end of a trend."""

    FIRST = "FIRST"
    LAST = "LAST"


@dataclass(frozen=True, slots=True)
class Mark:
    """The first or the last event of a variable in a trend; of all of them, where the variable is None."""

    side: Side
    variable: str | None


@dataclass(frozen=True, slots=True)
class End:
    """An attribute of the first or the last event of a trend, ``LAST(X.a)`` or ``LAST(a)``.

    Attributes:
        mark: Which event.
        attribute: What is asked of it.
        may_be_null: Whether the attribute may be NULL.
    """

    mark: Mark
    attribute: Attribute
    may_be_null: bool = True

    def __str__(self) -> str:
        return f"{self.mark.side.value}({_shown(self.mark.variable, self.attribute)})"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over all trends.

    ``COUNT(*)`` has neither variable nor attribute, ``COUNT(X)`` has no attribute, and so for the other
    functions that count; all others have both. An aggregate of ends has no variable.

    Attributes:
        function: What is computed.
        variable: Over events of which variable; None for trends.
        attribute: Of these events, or of the one end.
        ends: The end that there is one value of per trend, or two of which the difference is taken.
    """

    function: Function
    variable: str | None = None
    attribute: Attribute | None = None
    ends: tuple[End, ...] = ()

    @property
    def is_difference(self) -> bool:
        """Whether it is about differences of two ends."""
        return len(self.ends) > 1

    @property
    def is_extreme_difference(self) -> bool:
        """Whether it is the least or the greatest difference of two ends."""
        return self.is_difference and self.function in (Function.MIN, Function.MAX)

    def __str__(self) -> str:
        if self.ends:
            return f"{self.function.value}({' - '.join(map(str, self.ends))})"
        if self.variable is None:
            return f"{self.function.value}(*)"
        if self.attribute is None:
            return f"{self.function.value}({self.variable})"
        return f"{self.function.value}({_shown(self.variable, self.attribute)})"


class Distinct(Enum):
    """What is counted once, however many trends it is in.

    COMPLETIONS: events that end a trend. KEYS: partitions with a trend; one with a NULL among its keys does not count.
    """

    COMPLETIONS = "COUNT(DISTINCT LAST(*))"
    KEYS = "COUNT(DISTINCT keys)"


@dataclass(frozen=True, slots=True)
class Shown:
    """What the row of a completion shows of its witness.

    Attributes:
        mark: Of which event; None for all of its events, or for the variable of the last one.
        attribute: What of it; None for that variable.
    """

    mark: Mark | None = None
    attribute: Attribute | None = None

    def __str__(self) -> str:
        if self.attribute is None:
            return "CLASSIFIER()"
        if self.mark is None:
            return f"EVENTS({_shown(None, self.attribute)})"
        return f"{self.mark.side.value}({_shown(self.mark.variable, self.attribute)})"


@dataclass(frozen=True, slots=True)
class Completion:
    """What a query asks of completions, the events that end a trend.

    Attributes:
        has_rows: Whether each of them is a row of the result.
        shown: What such a row shows of its witness, distinct.
        counted: What is counted once, distinct: of all completions, or of the one that a row is of.
    """

    has_rows: bool
    shown: tuple[Shown, ...] = ()
    counted: tuple[Distinct, ...] = ()


def _shown(variable: str | None, attribute: Attribute) -> str:
    """An attribute of a variable as people read it."""
    text = attribute.text
    if variable is None:
        return text
    return f"{variable}.{text}" if text.isidentifier() else f"{variable}: {text}"


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
        steps: Per variable that has one, the condition on an event and an earlier one of its trend.
        selection: Which events a trend may leave out.
        rows: The class of all rows of the query's relation, of which CONTIGUOUS leaves out none.
        span: How much less than that a trend's last event is after its first, in units of the time column; None for
            any time. With it, a trend is in the windows that its last event is in.
        wait: How long after its last event what is forbidden at the end of the pattern must not happen, likewise; None
            for up to the end of the window.
        completion: What is asked of completions; None if nothing is.
    """

    name: str
    pattern: Pattern
    classes: tuple[tuple[str, EventClass], ...]
    aggregates: tuple[Aggregate, ...]
    window: Window | None
    steps: tuple[tuple[str, Step], ...] = ()
    selection: Selection = Selection.ANY
    rows: EventClass = ALL_ROWS
    span: int | None = None
    wait: int | None = None
    completion: Completion | None = None

    @property
    def has_rows(self) -> bool:
        """Whether each completion is a row of the result."""
        return self.completion is not None and self.completion.has_rows

    @property
    def has_totals(self) -> bool:
        """Whether anything is added up over all trends of a group and window."""
        return self.completion is None or (bool(self.aggregates) and not self.has_rows)

    @property
    def held_for(self) -> Window | int | None:
        """What its totals are held for: the windows that trends are in, or all of the span before a moment."""
        return self.window if self.span is None else self.span

    @property
    def differences(self) -> tuple[tuple[End, ...], ...]:
        """The pairs of ends whose differences are asked for."""
        return tuple(aggregate.ends for aggregate in self.aggregates if aggregate.is_difference)

    @property
    def has_extreme_differences(self) -> bool:
        """Whether the least or the greatest of some differences is asked for."""
        return any(aggregate.is_extreme_difference for aggregate in self.aggregates)

    @property
    def marks(self) -> frozenset[Mark]:
        """The ends of a trend that are asked for."""
        return frozenset(end.mark for aggregate in self.aggregates for end in aggregate.ends)
