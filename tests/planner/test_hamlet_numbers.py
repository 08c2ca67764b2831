"""The numbers of the HAMLET paper: counts over snapshots, costs of bursts, and who should share them."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from tests.support.hamlet_paper import Burst, by_theorems, cheapest


def choices(queries: int) -> list[tuple[int, ...]]:
    """All sets of queries that may share a burst: none, or two and more."""
    sizes = (0, *range(2, queries + 1))
    return [some for size in sizes for some in combinations(range(queries), size)]


def test_choices_of_four_queries() -> None:
    assert len(choices(4)) == 2**4 - 4 == 12
    assert sum({1, 3} <= set(some) for some in choices(4)) == 4


@pytest.mark.parametrize(
    ("burst", "created", "propagated", "costs"),
    [
        (Burst(4, 7, 4, 2), 1, 1, (44, 56, 12)),
        (Burst(4, 11, 8, 2), 1, 2, (120, 88, -32)),
        (Burst(4, 15, 4, 2), 1, 1, (76, 120, 44)),
    ],
    ids=["merge", "split", "merge again"],
)
def test_decisions(burst: Burst, created: int, propagated: int, costs: tuple[int, int, int]) -> None:
    decision = burst.shared(2, created, propagated), burst.alone(2), burst.benefit(2, created, propagated)
    assert decision == costs


def test_queries_without_snapshots_need_not_share() -> None:
    """Against Theorem 4.3."""
    burst, introduced = Burst(1, 12, 10, 2), (0, 0, 0)
    assert [burst.cost(introduced, range(size)) for size in (3, 2, 0)] == [72, 64, 36]
    assert by_theorems(burst, introduced) == (0, 1, 2)
    assert cheapest(burst, introduced) == ()


def test_a_query_may_pay_in_a_part_and_not_among_all() -> None:
    """Against Theorem 4.5."""
    burst, introduced = Burst(7, 16, 8, 3), (1, 3, 1, 2, 0)
    assert (burst.cost(introduced, range(5)), burst.cost(introduced, range(4))) == (1_856, 1_776)
    assert (burst.cost(introduced, (0, 2, 4)), burst.cost(introduced, (0, 2))) == (776, 816)


def test_the_first_of_sorted_queries_are_the_best_set() -> None:
    """As every set that there is says; the theorems are sometimes dearer."""
    random = Random(0)
    dearer = 0
    for _ in range(20_000):
        burst = Burst(random.randint(1, 10), random.randint(1, 40), random.randint(1, 10), random.randint(1, 4))
        introduced = [random.choice((0, 0, 1, 2, 3)) for _ in range(random.randint(2, 5))]
        least = min(burst.cost(introduced, some) for some in choices(len(introduced)))
        assert burst.cost(introduced, cheapest(burst, introduced)) == least, (burst, introduced)
        dearer += burst.cost(introduced, by_theorems(burst, introduced)) > least
    assert dearer > 0


def test_counts_over_snapshots() -> None:
    """Two A, one C, four B, two A, three C, one B: `A B+` and `C B+`, whose B have 1, 2, 4 and 8 of what has come."""
    coefficients: list[int] = []
    for _ in range(4):
        coefficients.append(1 + sum(coefficients))
    assert coefficients == [1, 2, 4, 8]
    come = {"A B+": (2, 2), "C B+": (1, 3)}
    counted = {
        text: ([first * coefficient for coefficient in coefficients], first + sum(coefficients) * first + later)
        for text, (first, later) in come.items()
    }
    assert counted == {"A B+": ([2, 4, 8, 16], 34), "C B+": ([1, 2, 4, 8], 19)}
