"""Reduction: candidates that are in a best set, or in none, are set aside before it is searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkext.planner.bits import members
from sparkext.planner.sharon.conflicts import ConflictGraph


@dataclass(frozen=True, slots=True)
class Reduction:
    """A conflict graph, of which vertices are set aside that need no search.

    Attributes:
        free: Vertices without neighbours in what is left: in every best set of that. As bits.
        ridden: By vertex in no best set, the most that a set with it can weigh: too much of it is in conflict.
        left: All others, as bits.
    """

    free: int
    ridden: Mapping[int, float]
    left: int


def reduced(graph: ConflictGraph, bound: float) -> Reduction:
    """The graph without vertices that are surely in the best set, or surely not in it.

    The paper's Algorithm 3 compares a vertex with the bound without the weight of the free ones that were set aside
    before it, and so loses the best set of the paper's own example.

    Args:
        graph: The graph.
        bound: Weight of a known independent set.
    """
    free, left, weight_free = 0, graph.all, 0.0
    ridden: dict[int, float] = {}
    weight_left = graph.weight(left)
    least = bound * (1 - 1e-12)
    changed = True
    while changed:
        changed = False
        for vertex in members(left):
            near = graph.neighbours[vertex] & left
            most = weight_free + weight_left - graph.weight(near)
            if not near:
                free |= 1 << vertex
                weight_free += graph.weights[vertex]
            elif most < least:
                ridden[vertex] = most
            else:
                continue
            left &= ~(1 << vertex)
            weight_left -= graph.weights[vertex]
            changed = True
    return Reduction(free, ridden, left)
