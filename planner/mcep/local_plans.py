"""Local plans: in which order, or by which tree, the matches of one pattern are built from its events.

The cheapest is found by dynamic programming over sets of positions; some sets may be given that must be among the
nodes. Sets are bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sparkext.planner.bits import bits, members

LONGEST_ORDERED = 8
"""Most events of a pattern whose orders are all looked at. Of longer ones, the event that adds fewest partial matches
comes next, which is best where no condition is about two events."""

Price: TypeAlias = Callable[[int], float]
"""What the partial matches at a set of positions cost."""


@dataclass(frozen=True, slots=True)
class LocalPlan:
    """How the matches of a pattern are built.

    Attributes:
        nodes: The sets of positions that are paid for, the whole pattern last.
        joins: Pairs of sets whose partial matches are put together, in order.
    """

    nodes: tuple[int, ...]
    joins: tuple[tuple[int, int], ...]


LocalBest: TypeAlias = Callable[[int, Price, Sequence[int]], LocalPlan]
"""The cheapest plan of so many positions, with some sets among its nodes."""


def order_plan(order: Sequence[int]) -> LocalPlan:
    """The plan that takes events in a given order; the sets of its first one, two and so on are paid for."""
    prefixes = [bits(order[:length]) for length in range(1, len(order) + 1)]
    joins = tuple((prefix, 1 << position) for prefix, position in zip(prefixes, order[1:], strict=False))
    return LocalPlan(tuple(prefixes), joins)


def best_order(length: int, price: Price, fixed: Sequence[int] = ()) -> LocalPlan:
    """The cheapest order of so many positions in which each of the ``fixed`` sets comes first, within the next."""
    if length > LONGEST_ORDERED:
        return order_plan(_by_least_added(length, price, fixed))
    cheapest: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for mask in range(1, 1 << length):
        if all(mask & fixed_set in (mask, fixed_set) for fixed_set in fixed):
            cost, last, order = min(
                (cheapest[rest][0], position, cheapest[rest][1])
                for position in members(mask)
                if (rest := mask & ~(1 << position)) in cheapest
            )
            cheapest[mask] = cost + price(mask), (*order, last)
    return order_plan(cheapest[(1 << length) - 1][1])


def _by_least_added(length: int, price: Price, fixed: Sequence[int]) -> list[int]:
    order: list[int] = []
    mask = 0
    for within in (*sorted(fixed, key=int.bit_count), (1 << length) - 1):
        while left := members(within & ~mask):
            position = min(left, key=lambda candidate: (price(mask | 1 << candidate), candidate))
            order.append(position)
            mask |= 1 << position
    return order


def best_tree(length: int, price: Price, fixed: Sequence[int] = ()) -> LocalPlan:
    """The cheapest binary tree over so many positions that has the ``fixed`` sets among its nodes, leaves included.

    Of any two of these, one is in the other, or they have nothing in common.
    """
    cheapest: dict[int, tuple[float, int]] = {}
    for mask in range(1, 1 << length):
        if not all(mask & fixed_set in (0, mask, fixed_set) for fixed_set in fixed):
            continue
        if mask & (mask - 1) == 0:
            cheapest[mask] = price(mask), 0
            continue
        ways = (half for half in _halves(mask) if half in cheapest and mask ^ half in cheapest)
        cost, half = min((cheapest[half][0] + cheapest[mask ^ half][0], half) for half in ways)
        cheapest[mask] = cost + price(mask), half
    nodes: list[int] = []
    joins: list[tuple[int, int]] = []
    todo = [(1 << length) - 1]
    while todo:
        mask = todo.pop()
        nodes.append(mask)
        half = cheapest[mask][1]
        if half:
            joins.append((half, mask ^ half))
            todo += (half, mask ^ half)
    return LocalPlan(tuple(reversed(nodes)), tuple(reversed(joins)))


def _halves(mask: int) -> Iterator[int]:
    """The proper subsets of a set that hold its lowest position, whose complements are sets of the same plans."""
    lowest = mask & -mask
    rest = mask ^ lowest
    half = rest
    while half:
        half = (half - 1) & rest
        yield half | lowest
