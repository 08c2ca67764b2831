"""The graph in which a plan was searched for, read from what programs get of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparkext.explain.report import QSet


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node of the graph in which a plan was searched for: how the queries of some transitions might be divided.

    Attributes:
        name: ``n`` and a number.
        transitions: Names of states, from and to.
        qsets: The division.
        rule: What generated it.
        cost: Least cost to get there.
        to_end: Cost from there to the end, for the queries that end.
        before: Candidates that it may follow, with the cost of doing so.
        in_plan: Whether the plan divides the queries like this.
        pruned_by: The candidate that is better.
    """

    name: str
    transitions: tuple[tuple[str, str], ...]
    qsets: tuple[QSet, ...]
    rule: str
    cost: float
    to_end: float
    before: tuple[tuple[str, float], ...]
    in_plan: bool
    pruned_by: str | None


def candidates(graph: dict[str, Any]) -> tuple[Candidate, ...]:
    """The nodes of a graph, in order of generation."""
    return tuple(map(_candidate, graph["trace"]))


def _candidate(node: dict[str, Any]) -> Candidate:
    return Candidate(
        name=node["node"],
        transitions=tuple((source, target) for source, target in node["transitions"]),
        qsets=tuple(QSet(tuple(part["numbers"]), part["snapshot"]) for part in node["divided"]),
        rule=node["rule"],
        cost=node["d_s"],
        to_end=node["to_end"],
        before=tuple(zip(node["from"], node["weights"], strict=True)),
        in_plan=node["in_plan"],
        pruned_by=node["pruned_by"],
    )
