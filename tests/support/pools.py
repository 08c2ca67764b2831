"""Pools written by hand: queries from the text of their patterns."""

from __future__ import annotations

from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.query import Aggregate, End, EventClass, Function, Mark, Query, Selection, Side, Window
from tests.support.workloads import typed_class

COUNT = Aggregate(Function.COUNT)
V = Attribute("v", "int")
W = Attribute("w", "double")
TIME = Attribute("at", "timestamp")
DURATION = (
    End(Mark(Side.LAST, None), TIME, may_be_null=False),
    End(Mark(Side.FIRST, None), TIME, may_be_null=False),
)
"""How long a trend takes, as the difference of its ends."""


def query(
    text: str,
    *aggregates: Aggregate,
    window: Window | None = None,
    classes: dict[str, EventClass] | None = None,
    selection: Selection = Selection.ANY,
    span: int | None = None,
) -> Query:
    """A query whose variables are types, but for those in ``classes``; COUNT(*) when it says nothing else."""
    parsed = parse_pattern(lexemes(text, 0), 0, len(text))
    event_classes = {name: typed_class(name) for name in variables(parsed)} | (classes or {})
    named = tuple((name, event_classes[name]) for name in variables(parsed))
    return Query(f"q {text}", parsed, named, aggregates or (COUNT,), window, selection=selection, span=span)


def all_of(variable: str) -> tuple[Aggregate, ...]:
    """Every aggregate there is of the events of a variable, and the number of trends."""
    of_values = (Function.COUNT, Function.APPROX_COUNT, Function.SUM, Function.AVG, Function.MIN, Function.MAX)
    return (COUNT, Aggregate(Function.COUNT, variable), *(Aggregate(function, variable, V) for function in of_values))
