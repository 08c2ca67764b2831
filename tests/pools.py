"""Pools written by hand: queries from the text of their patterns."""

from __future__ import annotations

from planner.attribute import Attribute
from planner.pattern import variables
from planner.pattern_grammar import lexemes, parse_pattern
from planner.query import Aggregate, EventClass, Function, Query, Window
from tests.workloads import typed_class

COUNT = Aggregate(Function.COUNT)
V = Attribute("v", "int")
W = Attribute("w", "double")


def query(
    text: str, *aggregates: Aggregate, window: Window | None = None, classes: dict[str, EventClass] | None = None
) -> Query:
    """A query whose variables are types, but for those in ``classes``; COUNT(*) when it says nothing else."""
    parsed = parse_pattern(lexemes(text, 0), 0, len(text))
    known = {name: typed_class(name) for name in variables(parsed)} | (classes or {})
    named = tuple((name, known[name]) for name in variables(parsed))
    return Query(f"q {text}", parsed, named, aggregates or (COUNT,), window)
