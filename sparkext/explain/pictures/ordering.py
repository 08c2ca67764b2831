"""The order of the nodes in each layer, with few crossings of the links between neighbouring layers."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

SWEEPS = 12
LARGEST = 40
"""Most nodes of a layer in which neighbours are tried the other way round."""

Layers = list[list[int]]


def ordered(layers: Sequence[Sequence[int]], links: Sequence[tuple[int, int]]) -> Layers:
    """The layers with their nodes from top to bottom.

    Nodes are put at the mean position of those that they are linked with, layer by layer down and up (Sugiyama);
    then neighbours are swapped as long as there are fewer crossings for it.

    Args:
        layers: The nodes of each, in an order that decides between equals.
        links: Each from a layer to the next.
    """
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for source, target in links:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    current = [list(layer) for layer in layers]
    best, fewest = [list(layer) for layer in current], crossings(current, after)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        near = before if sweep % 2 == 0 else after
        numbers = range(1, len(current)) if sweep % 2 == 0 else range(len(current) - 2, -1, -1)
        for number in numbers:
            fixed = current[number - 1 if sweep % 2 == 0 else number + 1]
            current[number] = _by_means(current[number], fixed, near)
        for number in range(len(current)):
            _swap_neighbours(current, number, before, after)
        count = crossings(current, after)
        if count < fewest:
            best, fewest = [list(layer) for layer in current], count
    return best


def crossings(layers: Layers, after: dict[int, list[int]]) -> int:
    """How many pairs of links cross."""
    total = 0
    for layer, following in pairwise(layers):
        position = {node: at for at, node in enumerate(following)}
        passed: list[int] = []
        for node in layer:
            ends = sorted(position[target] for target in after.get(node, ()))
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _by_means(layer: list[int], fixed: list[int], near: dict[int, list[int]]) -> list[int]:
    position = {node: at for at, node in enumerate(fixed)}
    scale = len(fixed) / max(len(layer), 1)

    def mean(at: int) -> float:
        ends = [position[neighbour] for neighbour in near.get(layer[at], ())]
        return sum(ends) / len(ends) if ends else at * scale

    return [layer[at] for at in sorted(range(len(layer)), key=lambda at: (mean(at), at))]


def _swap_neighbours(layers: Layers, number: int, before: dict[int, list[int]], after: dict[int, list[int]]) -> None:
    layer = layers[number]
    if len(layer) > LARGEST:
        return
    position = {
        node: at
        for beside in (number - 1, number + 1)
        if 0 <= beside < len(layers)
        for at, node in enumerate(layers[beside])
    }

    def crossed(upper: int, lower: int) -> int:
        return sum(
            position[a] > position[b]
            for near in (before, after)
            for a in near.get(upper, ())
            for b in near.get(lower, ())
        )

    changed = True
    while changed:
        changed = False
        for at in range(len(layer) - 1):
            upper, lower = layer[at], layer[at + 1]
            if crossed(lower, upper) < crossed(upper, lower):
                layer[at], layer[at + 1] = lower, upper
                changed = True
