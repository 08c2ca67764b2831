"""GWMIN: an independent set whose weight has a guarantee (Sakai, Togasaki, Yamazaki; the SHARON paper's Algorithm 8).

The text of the SHARON paper says that the largest benefit is taken first, its algorithm takes the largest ratio, and
only for that the guarantee holds.
"""

from __future__ import annotations

from sparkext.planner.bits import members
from sparkext.planner.sharon.conflicts import ConflictGraph


def gwmin(graph: ConflictGraph) -> int:
    """An independent set: again and again the vertex with most weight for its degree + 1 in what is left.

    Returns:
        The set, as bits; of equal ratios, the first vertex is taken.
    """
    independent, left = 0, graph.all
    while left:
        # All without neighbours go at once: none of them has a part in what becomes of others.
        free = [v for v in members(left) if not graph.neighbours[v] & left]
        for vertex in free:
            independent |= 1 << vertex
            left &= ~(1 << vertex)
        if left:
            best = max(members(left), key=lambda v: graph.weights[v] / ((graph.neighbours[v] & left).bit_count() + 1))
            independent |= 1 << best
            left &= ~(graph.neighbours[best] | 1 << best)
    return independent


def guarantee(graph: ConflictGraph) -> float:
    """What the set of GWMIN weighs at least: the sum of weight / (degree + 1)."""
    degrees = [near.bit_count() for near in graph.neighbours]
    return sum([weight / (degree + 1) for weight, degree in zip(graph.weights, degrees, strict=True)])
