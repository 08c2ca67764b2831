"""The SHARON graph: candidates with their benefits, and which of them are in conflict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sparkext.planner.bits import members
from sparkext.planner.sharon.candidates import Candidate


@dataclass(frozen=True, slots=True)
class ConflictGraph:
    """An undirected graph with weights; sets of its vertices are bits.

    Attributes:
        weights: Per vertex, above zero.
        neighbours: Per vertex.
    """

    weights: tuple[float, ...]
    neighbours: tuple[int, ...]

    @property
    def all(self) -> int:
        """All vertices."""
        return (1 << len(self.weights)) - 1

    @property
    def conflicts(self) -> int:
        """Number of edges."""
        return sum(adjacent.bit_count() for adjacent in self.neighbours) // 2

    def weight(self, vertices: int) -> float:
        """The weight of a set of vertices."""
        return sum([self.weights[vertex] for vertex in members(vertices)])

    def is_independent(self, vertices: int) -> bool:
        """Whether there is no edge within a set."""
        return not any(self.neighbours[vertex] & vertices for vertex in members(vertices))

    def components(self, vertices: int) -> Iterator[int]:
        """The parts of a set between which there are no edges."""
        while vertices:
            part, fresh = 0, vertices & -vertices
            while fresh:
                part |= fresh
                reached = 0
                for vertex in members(fresh):
                    reached |= self.neighbours[vertex]
                fresh = reached & vertices & ~part
            vertices &= ~part
            yield part


def conflict_graph(candidates: Sequence[Candidate], weights: Iterable[float]) -> ConflictGraph:
    """Candidates are in conflict if some query has both, and they have a state of it in common.

    The paper's Definition 6, where a suffix of one pattern must be a prefix of the other, misses a pattern that lies
    inside another.

    Args:
        candidates: The vertices.
        weights: Their benefits.
    """
    having: dict[tuple[int, int], int] = {}
    for vertex, candidate in enumerate(candidates):
        for query in candidate.queries:
            for state in candidate.states:
                having[query, state] = having.get((query, state), 0) | 1 << vertex
    neighbours = []
    for vertex, candidate in enumerate(candidates):
        near = 0
        for query in candidate.queries:
            for state in candidate.states:
                near |= having[query, state]
        neighbours.append(near & ~(1 << vertex))
    return ConflictGraph(tuple(weights), tuple(neighbours))
