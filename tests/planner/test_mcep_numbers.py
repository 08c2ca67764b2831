"""The examples of the MCEP paper, which prints structures, and costs of an example of our own."""

from __future__ import annotations

from itertools import product

import pytest

from sparkext.planner.budget import Budget
from sparkext.planner.mcep.annealing import TargetPattern, anneal, total
from sparkext.planner.mcep.common import common
from sparkext.planner.mcep.local_plans import LocalPlan, best_order, best_tree, order_plan
from sparkext.planner.mcep.partial_matches import PartialMatches
from tests.support.match_plans import all_orders

RATES = PartialMatches({"A": 10.0, "B": 20.0, "C": 5.0, "D": 40.0}, {frozenset("AC"): 0.1}, are_ordered=False)
"""W = 10, and 1, 2, 0.5 and 4 events in a unit of time."""

TENS = PartialMatches(dict.fromkeys("ABCDEFGH", 10.0), are_ordered=False)


def sought(*patterns: str) -> list[TargetPattern]:
    return [TargetPattern(tuple(pattern)) for pattern in patterns]


def in_order(pattern: TargetPattern, order: str) -> LocalPlan:
    return order_plan([pattern.kinds.index(kind) for kind in order])


def nodes(patterns: list[TargetPattern], plans: list[LocalPlan]) -> set[tuple[object, ...]]:
    return {p.node(indexes) for p, plan in zip(patterns, plans, strict=True) for indexes in plan.nodes}


@pytest.mark.parametrize(
    ("orders", "count", "cost"),
    [(("ABC", "ABD"), 4, 8310), (("BCA", "BAD"), 5, 8420), (("CBA", "ADB"), 6, 8615)],
)
def test_trees_of_two_orders(orders: tuple[str, str], count: int, cost: float) -> None:
    """The multi-pattern trees of `A B C` and `A B D`."""
    patterns = sought("ABC", "ABD")
    plans = [in_order(pattern, order) for pattern, order in zip(patterns, orders, strict=True)]
    assert len(nodes(patterns, plans)) == count
    assert total(patterns, plans, RATES) == pytest.approx(cost)


def test_patterns_that_come_and_go() -> None:
    """`A C E` by its own order, added to the first tree; then `A B C` is removed."""
    patterns = sought("ABC", "ABD", "ACE")
    plans = [in_order(pattern, "".join(map(str, pattern.kinds))) for pattern in patterns]
    assert len(nodes(patterns, plans)) == 6
    assert len(nodes(patterns[1:], plans[1:])) == 5


def test_common_sub_patterns() -> None:
    assert maximal("ABCD", "AECD") == {"ACD"}
    assert len(common(tuple("ABCD"), tuple("AECD"))) == 7
    assert maximal("ABC", "ACB") == {"AB", "AC"}
    assert common(tuple("AB"), tuple("CD")) == ()
    assert maximal("ABA", "BAB") == {"AB", "BA"}


def maximal(left: str, right: str) -> set[str]:
    """The common sub-patterns that are part of no other."""
    positions = {in_left for in_left, _ in common(tuple(left), tuple(right))}
    largest = {
        position_set
        for position_set in positions
        if not any(position_set & more == position_set for more in positions - {position_set})
    }
    return {"".join(map(str, TargetPattern(tuple(left)).node(position_set))) for position_set in largest}


def test_best_order_by_itself_is_not_best_together() -> None:
    """`A B C` begins with C and A by itself; with `A B D`, both begin with A and B."""
    patterns = sought("ABC", "ABD")
    own = best_order(3, lambda indexes: RATES(patterns[0].node(indexes)), ())
    assert own == in_order(patterns[0], "CAB")
    assert total(patterns[:1], [own], RATES) == pytest.approx(110)
    annealed = anneal(patterns, best_order, RATES, Budget())
    assert annealed.start == pytest.approx(8320)
    assert annealed.cost == pytest.approx(8310)
    everything = list(product(*(all_orders(pattern) for pattern in patterns)))
    assert len(everything) == 36
    assert min(total(patterns, plans, RATES) for plans in everything) == pytest.approx(8310)


def test_trees_that_share() -> None:
    """(A, C) and (B, D) are subtrees of two patterns each: 7 inner nodes instead of 9."""
    patterns = sought("ABCD", "AECF", "GBHD")
    annealed = anneal(patterns, best_tree, TENS, Budget())
    inner = {node for node in nodes(patterns, list(annealed.plans)) if len(node) > 1}
    assert len(inner) == 7
    assert annealed.cost == pytest.approx(30_480)
    apart = [tree(pattern) for pattern in patterns]
    given = [tree(pattern, *pair) for pattern, pair in zip(patterns, PAIRS, strict=True)]
    assert len({node for node in nodes(patterns, given) if len(node) > 1}) == 9
    assert total(patterns, given, TENS) == pytest.approx(30_680)
    assert total(patterns, apart, TENS) == pytest.approx(annealed.start)


def tree(pattern: TargetPattern, *fixed: int) -> LocalPlan:
    """The best tree of a pattern by itself."""
    return best_tree(len(pattern.kinds), lambda indexes: TENS(pattern.node(indexes)), fixed)


PAIRS = ((0b0011, 0b1100), (0b0101, 0b1010), (0b0011, 0b1100))
"""Subtrees with which no two patterns have an inner node in common."""


def test_order_is_a_condition() -> None:
    """Of thirty events of each of three types, 4,493 triples were in order; the paper's formula says 27,000."""
    events = dict.fromkeys("ABC", 30.0)
    assert PartialMatches(events, are_ordered=False)(tuple("ABC")) == 27_000
    assert PartialMatches(events)(tuple("ABC")) == pytest.approx(4_500)
    assert PartialMatches(events)(tuple("ABC"), 0.5) == pytest.approx(562.5)
