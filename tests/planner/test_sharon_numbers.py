"""The example of the SHARON paper: traffic patterns, their benefits, conflicts, and the best of their plans."""

from __future__ import annotations

import pytest

from sparkext.planner.bits import bits, members
from sparkext.planner.sharon.candidates import Candidate, candidates
from sparkext.planner.sharon.chains import chains
from sparkext.planner.sharon.conflicts import ConflictGraph, conflict_graph
from sparkext.planner.sharon.gwmin import guarantee, gwmin
from sparkext.planner.sharon.independent_set import heaviest
from sparkext.planner.sharon.reduction import reduced
from tests.support.optimizer_workloads import problem
from tests.support.sharon_paper import bvalue, options

QUERIES = [
    "Oak Main State",
    "Oak Main West",
    "Park Oak Main",
    "Park Oak Main West",
    "Main State",
    "Elm Park",
    "Elm Park",
]

TABLE = {
    "Oak Main": ((1, 2, 3, 4), 25, 5, (2, 3, 4, 5, 6), 43),
    "Park Oak": ((3, 4), 9, 3, (1, 3, 5), 50),
    "Park Oak Main": ((3, 4), 12, 4, (1, 2, 4, 5), 38),
    "Main West": ((2, 4), 15, 3, (1, 3, 5), 50),
    "Oak Main West": ((2, 4), 20, 4, (1, 2, 3, 4), 46),
    "Main State": ((1, 5), 8, 1, (1,), 82),
    "Elm Park": ((6, 7), 18, 0, (), 107),
}
"""p1 to p7 of the paper: queries, weight, degree, those in conflict, the most that a plan with it weighs."""


@pytest.fixture(scope="module")
def candidates_found() -> list[Candidate]:
    """In the order of the paper; there are no others."""
    workload = problem(QUERIES, dict.fromkeys(("Oak", "Main", "State", "West", "Park", "Elm"), 1.0))
    names = {str(index): name for index, name in enumerate(workload.template.states)}
    by_name = {
        " ".join(str(names[str(state)]) for state in candidate.states): candidate
        for candidate in candidates(workload, chains(workload)[0])
    }
    assert set(by_name) == set(TABLE)
    return [by_name[name] for name in TABLE]


@pytest.fixture(scope="module")
def graph(candidates_found: list[Candidate]) -> ConflictGraph:
    return conflict_graph(candidates_found, [float(weight) for _, weight, *_ in TABLE.values()])


def test_candidates_and_conflicts(candidates_found: list[Candidate], graph: ConflictGraph) -> None:
    for index, (queries, _, degree, near, most) in enumerate(TABLE.values()):
        assert [query + 1 for query in candidates_found[index].queries] == list(queries)
        assert [neighbour + 1 for neighbour in members(graph.neighbours[index])] == list(near)
        assert len(near) == degree
        assert graph.weight(graph.all & ~graph.neighbours[index]) == most
    assert graph.conflicts == 10


def test_plans(graph: ConflictGraph) -> None:
    assert guarantee(graph) == pytest.approx(1157 / 30)
    greedy = gwmin(graph)
    assert (greedy, graph.weight(greedy)) == (bits((0, 6)), 43)
    best = heaviest(graph, graph.all, greedy)
    assert (members(best.vertices), graph.weight(best.vertices), best.proven) == ((1, 3, 5, 6), 50, True)
    assert (graph.weight(bits((1, 3))), graph.weight(bits((0,)))) == (24, 25)


@pytest.mark.parametrize("by_guarantee", [True, False])
def test_reduction(graph: ConflictGraph, by_guarantee: bool) -> None:
    """The third is ridden by conflicts, the seventh has none, and the best plan is left."""
    reduction = reduced(graph, guarantee(graph) if by_guarantee else graph.weight(gwmin(graph)))
    assert members(reduction.free) == (6,)
    assert reduction.ridden == {2: 38}
    left = heaviest(graph, reduction.left, 0)
    assert members(left.vertices | reduction.free) == (1, 3, 5, 6)


def test_sets(graph: ConflictGraph) -> None:
    """How many sets the reduction spares the paper's plan finder to look at."""
    every = range(1, 1 << 7)
    reduction = reduced(graph, guarantee(graph))
    searched = [some for some in every if some & ~reduction.left == 0]
    valid = [some for some in searched if graph.is_independent(some)]
    assert (len(every), len(every) - len(searched), len(valid), len(searched) - len(valid)) == (127, 96, 10, 21)
    assert sum(graph.is_independent(some) for some in every) == 25


def test_the_printed_reduction_loses_the_best_plan(graph: ConflictGraph) -> None:
    """It does not count what it has set aside as free of conflicts, and then takes three others for ridden by them."""
    bound, free, left = guarantee(graph), 0, graph.all
    before = -1
    while left != before:
        before = left
        for vertex in members(left):
            near = graph.neighbours[vertex] & left
            if not near:
                free |= 1 << vertex
            elif graph.weight(left & ~near) >= bound:
                continue
            left &= ~(1 << vertex)
    best = heaviest(graph, left, 0)
    assert graph.weight(best.vertices | free) == 46


def test_options_of_candidates(candidates_found: list[Candidate]) -> None:
    ways = [{tuple(query + 1 for query in option) for option in options(candidates_found, index)} for index in range(7)]
    assert ways[0] == {(1, 2, 3, 4), (2, 3, 4), (1, 2), (1, 3)}
    assert [len(way) for way in ways] == [4, 1, 1, 1, 1, 1, 1]


def test_published_benefit() -> None:
    """With equal rates r and both parts around it, sharing saves something if r < |p|·(k - 1)/k."""
    queries = [(0, 2, 3, 4, 5), (1, 2, 3, 4, 6)]
    for rate, saves in ((1.4, True), (1.5, False), (1.6, False)):
        rates = dict.fromkeys(range(7), rate)
        assert (bvalue(rates, (2, 3, 4), queries) > 1e-9) is saves
    # Alone 2·5·r², shared 3·r² + 2·(r² + r²), and combining 2·r³.
    assert bvalue(dict.fromkeys(range(7), 1.4), (2, 3, 4), queries) == pytest.approx(3 * 1.4**2 - 2 * 1.4**3)
    # A query that is nothing but the pattern has nothing to combine.
    assert bvalue({0: 2.0, 1: 3.0}, (0, 1), [(0, 1), (0, 1)]) == 2 * (2 + 3)
