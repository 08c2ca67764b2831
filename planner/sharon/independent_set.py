"""The maximum weight independent set of a graph, by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.bits import lowest, members
from sparkext.planner.budget import Budget
from sparkext.planner.sharon.conflicts import ConflictGraph

MOST_NODES = 200_000
"""Most sets that are looked at in one search."""

MOST_WORK = 20_000_000
"""Most vertices of such sets: fewer sets are looked at in a graph of more than a hundred."""


@dataclass(frozen=True, slots=True)
class IndependentSet:
    """An independent set, with what is proved of it.

    Attributes:
        vertices: As bits.
        proven: Whether no independent set weighs more.
        looked_at: How many partial sets were looked at.
    """

    vertices: int
    proven: bool
    looked_at: int


def heaviest(
    graph: ConflictGraph, vertices: int, known: int, budget: Budget | None = None, most: int = MOST_NODES
) -> IndependentSet:
    """The independent set of most weight; where the search is cut short, the best so far.

    Components are searched one by one, the smallest first: the vertex with most neighbours is taken, or left out.

    Args:
        graph: The graph.
        vertices: Those to choose from, as bits.
        known: An independent set of them.
        budget: How long may be searched.
        most: Most partial sets that are looked at.
    """
    # A lower number is more weight, so that the first of a clique of the cover has most.
    order = sorted(members(vertices), key=lambda vertex: (-graph.weights[vertex], vertex))
    number_of = {vertex: number for number, vertex in enumerate(order)}
    chosen = sum(1 << number_of[vertex] for vertex in members(known & vertices))
    inner = ConflictGraph(
        tuple(graph.weights[vertex] for vertex in order),
        tuple(sum(1 << number_of[neighbour] for neighbour in members(graph.neighbours[v] & vertices)) for v in order),
    )
    search = _Search(inner, budget or Budget(), min(most, MOST_WORK // max(1, len(order))))
    heaviest_set = 0
    for component in sorted(inner.components(inner.all), key=int.bit_count):
        heaviest_set |= search.best(component, chosen & component)
    return IndependentSet(
        sum(1 << order[vertex] for vertex in members(heaviest_set)), not search.cut_short, search.looked_at
    )


class _Search:
    """Branch and bound in graphs whose vertices are in order of weight, the heaviest first."""

    def __init__(self, graph: ConflictGraph, budget: Budget, most: int) -> None:
        self._graph = graph
        self._budget = budget
        self._most = most
        self.looked_at = 0
        self.cut_short = False

    def best(self, component: int, start: int) -> int:
        """The heaviest independent set of some vertices."""
        weights, neighbours = self._graph.weights, self._graph.neighbours
        best, most = start, self._graph.weight(start)
        todo = [(component, 0, 0.0)]
        while todo:
            if self.looked_at >= self._most or self._budget.is_spent():
                self.cut_short = True
                return best
            self.looked_at += 1
            left, taken, weight = todo.pop()
            if weight + self._cover(left) <= most * (1 + 1e-12):
                continue
            inner = members(left)
            degrees = [(neighbours[vertex] & left).bit_count() for vertex in inner]
            degree = max(degrees, default=0)
            if degree == 0:
                best, most = taken | left, weight + self._graph.weight(left)
                continue
            vertex = inner[degrees.index(degree)]
            rest = left & ~(1 << vertex)
            todo.append((rest, taken, weight))
            todo.append((rest & ~neighbours[vertex], taken | 1 << vertex, weight + weights[vertex]))
        return best

    def _cover(self, left: int) -> float:
        """No independent set of some vertices weighs more: of each clique of a cover, it has one vertex at most."""
        weights, neighbours = self._graph.weights, self._graph.neighbours
        bound = 0.0
        while left:
            vertex = lowest(left)
            bound += weights[vertex]
            left &= ~(1 << vertex)
            adjacent = neighbours[vertex] & left
            while adjacent:
                neighbour = lowest(adjacent)
                left &= ~(1 << neighbour)
                adjacent &= neighbours[neighbour]
        return bound
