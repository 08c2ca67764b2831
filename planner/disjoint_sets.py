"""Disjoint sets: things that are linked, directly or through others, are put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def put_together(count: int, linked: Iterable[Sequence[int]]) -> list[list[int]]:
    """The sets of numbers below ``count`` that belong together; each ascending, in order of their first members.

    Args:
        count: How many numbers there are.
        linked: Numbers that belong together.
    """
    above = list(range(count))

    def root(number: int) -> int:
        while above[number] != number:
            above[number] = above[above[number]]
            number = above[number]
        return number

    for numbers in linked:
        for number in numbers[1:]:
            above[root(number)] = root(numbers[0])
    members: dict[int, list[int]] = {}
    for number in range(count):
        members.setdefault(root(number), []).append(number)
    return list(members.values())
