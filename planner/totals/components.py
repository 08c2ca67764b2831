"""Components: the intermediate aggregates that must be kept at a state for a query's aggregates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sparkext.planner.kernel_plan.kernel_plan import Arithmetic, Column, Encoding
from sparkext.planner.patterns.query import Aggregate, End, Function, Mark, Query
from sparkext.planner.totals.difference_columns import difference_columns


@dataclass(frozen=True, slots=True)
class Component:
    """One intermediate aggregate.

    Attributes:
        arithmetic: How it is held.
        variable: The variable whose events contribute; None for the count of trends.
        column: What they contribute; None when they contribute by being there.
        weighted: Whether the column's value counts, or only that it is not NULL.
        counted_by: Arithmetic of the count of trends that contributions are weighted with.
        mark: The end of trends whose events contribute, instead of those of a variable.
        between: The two ends of which the difference is taken. Weighted, the one contributes its value and the other
            takes away its own, or, of an extreme, the later adds its part to what the earlier has contributed; else it
            counts trends, of those in which neither value is NULL so far.
    """

    arithmetic: Arithmetic
    variable: str | None = None
    column: Column | None = None
    weighted: bool = False
    counted_by: Arithmetic = Arithmetic.EXACT
    mark: Mark | None = None
    between: tuple[End, ...] = ()

    @property
    def is_count(self) -> bool:
        """Whether it counts trends, all or some."""
        return self.variable is None and self.mark is None and not self.weighted

    @property
    def counter(self) -> Component:
        """The count of trends that contributions are weighted with."""
        counts = SCALED_TRENDS if self.counted_by is Arithmetic.NUMBER else TRENDS
        return replace(counts, between=self.between)


TRENDS = Component(Arithmetic.EXACT)
SCALED_TRENDS = Component(Arithmetic.NUMBER, counted_by=Arithmetic.NUMBER)

_SCALED = (Function.SUM, Function.AVG, Function.APPROX_COUNT, Function.LOG10_COUNT)

_EXTREMES: dict[Function, Literal[Encoding.LEAST, Encoding.GREATEST]] = {
    Function.MIN: Encoding.LEAST,
    Function.MAX: Encoding.GREATEST,
}


def components(query: Query) -> tuple[Component, tuple[tuple[Component, ...], ...]]:
    """The component that tells whether there is a trend, and per aggregate the ones that make it.

    SUM, AVG, APPROX_COUNT and LOG10_COUNT are counted in scaled doubles, all else exactly. A query that
    has nothing but these keeps no exact counts.
    """
    scaled = all(aggregate.function in _SCALED for aggregate in query.aggregates)
    presence = SCALED_TRENDS if scaled else TRENDS
    return presence, tuple(_of(aggregate, presence.arithmetic) for aggregate in query.aggregates)


def _of(aggregate: Aggregate, presence: Arithmetic) -> tuple[Component, ...]:
    variable, attribute = aggregate.variable, aggregate.attribute
    counts = SCALED_TRENDS if aggregate.function in _SCALED else TRENDS
    if aggregate.is_extreme_difference:
        extreme = Component(Arithmetic.EXTREME, weighted=True, counted_by=presence, between=aggregate.ends)
        return tuple(replace(extreme, column=column) for column in difference_columns(aggregate))
    if aggregate.is_difference:
        whole = replace(counts, between=aggregate.ends)
        return (whole,) if aggregate.function.counts else (replace(whole, weighted=True), whole)
    if aggregate.ends:
        of_variable = replace(aggregate, variable="", ends=())
        mark = aggregate.ends[0].mark
        return tuple(replace(component, variable=None, mark=mark) for component in _of(of_variable, presence))
    if variable is None:
        return (counts,)
    if attribute is None:
        return (replace(counts, variable=variable),)
    match aggregate.function:
        case Function.COUNT | Function.APPROX_COUNT | Function.LOG10_COUNT:
            return (replace(counts, variable=variable, column=Column(attribute, Encoding.PRESENT)),)
        case Function.SUM | Function.AVG:
            number, counted = Column(attribute, Encoding.NUMBER), Arithmetic.NUMBER
            return (
                Component(Arithmetic.NUMBER, variable, number, weighted=True, counted_by=counted),
                Component(Arithmetic.NUMBER, variable, number, weighted=False, counted_by=counted),
            )
        case Function.MIN | Function.MAX:
            column = Column(attribute, _EXTREMES[aggregate.function])
            return (Component(Arithmetic.EXTREME, variable, column, weighted=True, counted_by=presence),)


def needed(query: Query) -> tuple[Component, ...]:
    """Components to keep: counts of trends first, since the others are weighted with them."""
    presence, values = components(query)
    flat = [presence, *(component for value in values for component in value)]
    counts = [component.counter for component in flat]
    return tuple(dict.fromkeys([*counts, *flat]))
