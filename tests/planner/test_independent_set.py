"""Independent sets of most weight, against all sets there are."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.bits import bits
from sparkext.planner.budget import Budget
from sparkext.planner.sharon.conflicts import ConflictGraph
from sparkext.planner.sharon.gwmin import guarantee, gwmin
from sparkext.planner.sharon.independent_set import heaviest
from sparkext.planner.sharon.reduction import reduced
from tests.support.tiers import first

PART = 500
"""Graphs of one test."""


def drawn(random: Random, most: int = 14) -> ConflictGraph:
    """A graph of up to ``most`` vertices with any number of edges; in half of them many weights are equal."""
    count, density = random.randint(0, most), random.random()
    neighbours = [0] * count
    for vertex in range(count):
        for earlier in range(vertex):
            if random.random() < density:
                neighbours[vertex] |= 1 << earlier
                neighbours[earlier] |= 1 << vertex
    whole = random.random() < 0.5
    weights = [float(random.randint(1, 9)) if whole else random.uniform(0.01, 100) for _ in range(count)]
    return ConflictGraph(tuple(weights), tuple(neighbours))


def most_weight(graph: ConflictGraph) -> float:
    """Of all independent sets: each vertex is left out, or taken where none of those before it is in its way."""
    sets = {0: 0.0}
    for vertex, (weight, near) in enumerate(zip(graph.weights, graph.neighbours, strict=True)):
        sets.update({some | 1 << vertex: weight_of + weight for some, weight_of in sets.items() if not some & near})
    return max(sets.values())


@pytest.mark.parametrize("part", first(2, range(20)))
def test_random_graphs(part: int) -> None:
    for seed in range(part * PART, (part + 1) * PART):
        graph = drawn(Random(seed))
        truth = most_weight(graph)
        greedy = gwmin(graph)
        assert graph.is_independent(greedy), seed
        assert graph.weight(greedy) >= guarantee(graph) * (1 - 1e-9), seed
        whole = heaviest(graph, graph.all, greedy)
        reduction = reduced(graph, graph.weight(greedy))
        rest = heaviest(graph, reduction.left, greedy & reduction.left)
        for vertices in (whole.vertices, rest.vertices | reduction.free):
            assert graph.is_independent(vertices), seed
            assert graph.weight(vertices) == pytest.approx(truth), seed
        assert whole.proven, seed
        assert rest.proven, seed


def test_a_search_that_is_cut_short_has_what_was_known() -> None:
    graph = drawn(Random(3), 60)
    greedy = gwmin(graph)
    for cut_short in (heaviest(graph, graph.all, greedy, Budget(0.0)), heaviest(graph, graph.all, greedy, most=0)):
        assert (cut_short.vertices, cut_short.proven) == (greedy, False)
    whole = heaviest(graph, graph.all, greedy)
    assert whole.proven
    assert graph.weight(whole.vertices) >= graph.weight(greedy)


def test_components() -> None:
    graph = ConflictGraph((1.0, 2.0, 3.0, 4.0), (0b0100, 0, 0b0001, 0))
    assert list(graph.components(graph.all)) == [0b0101, 0b0010, 0b1000]
    assert list(graph.components(bits((0, 1)))) == [1, 2]
