"""Matches in the kernel plan: what is built, and what a match of each query adds to its bank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sparkext.planner.kernel_plan.kernel_plan import (
    Column,
    KernelPlan,
    MatchContribution,
    Matches,
    MatchRoot,
    MatchStep,
    QueryResult,
)
from sparkext.planner.patterns.query import EventClass, Query
from sparkext.planner.sharing.match_plan import MatchPlan, Root
from sparkext.planner.totals.components import Component, components


def with_matches(plan: KernelPlan, queries: Sequence[Query], matches: MatchPlan, most: int) -> KernelPlan:
    """A kernel plan that also builds the matches of some queries, for which it has banks that nothing adds to.

    Args:
        plan: The plan.
        queries: Of the pool.
        matches: How matches are built.
        most: Most partial matches of a step in a key and window.
    """
    classes: dict[EventClass, int] = {event: number for number, event in enumerate(plan.classes)}
    columns: dict[Column, int] = {column: number for number, column in enumerate(plan.columns)}
    steps = tuple(
        MatchStep(tuple(classes.setdefault(event, len(classes)) for event in node.classes), node.children, node.indexes)
        for node in matches.nodes
    )
    roots = tuple(
        MatchRoot(
            root.node,
            plan.results[root.query].bank,
            queries[root.query].window,
            tuple(dict.fromkeys(_added(queries[root.query], plan.results[root.query], root, columns))),
        )
        for root in matches.roots
    )
    built = matches.queries
    return replace(
        plan,
        classes=tuple(classes),
        columns=tuple(columns),
        results=tuple(
            replace(result, most_matches=most) if query in built else result
            for query, result in enumerate(plan.results)
        ),
        matches=Matches(steps, roots, most),
    )


def _added(query: Query, result: QueryResult, root: Root, columns: dict[Column, int]) -> Iterator[MatchContribution]:
    """What a match adds to the fields of a query."""
    presence, values = components(query)
    of_fields: list[tuple[int, Component]] = [(result.presence, presence)]
    for fields, own_values in zip(result.values, values, strict=True):
        of_fields += zip(fields, own_values, strict=True)
    for field, component in of_fields:
        positions = tuple(position for position, label in enumerate(root.labels) if label == component.variable)
        column = None if component.column is None else columns.setdefault(component.column, len(columns))
        yield MatchContribution(field, None if component.is_count else positions, column, component.weighted)
