"""Partition refinement, on which merging of states rests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def refine(keys: Iterable[object], neighbours: Sequence[tuple[tuple[object, int], ...]]) -> list[int]:
    """Coarsest partition in which nodes of a block have equal keys and neighbours in the same blocks.

    Args:
        keys: Per node, what tells it apart by itself; hashable.
        neighbours: Per node, the nodes that tell it apart further, each with what the link between them
            is; how many links of a kind lead to a block counts too.

    Returns:
        Per node, the number of its block; blocks are numbered in order of their first node.
    """
    numbers: dict[object, int] = {}
    block = [numbers.setdefault(key, len(numbers)) for key in keys]
    kinds: dict[object, int] = {}
    nodes = len(block)
    links = [[(kinds.setdefault(link, len(kinds)) * nodes, other) for link, other in near] for near in neighbours]
    while True:
        numbers = {}
        finer = [
            numbers.setdefault((block[node], tuple(sorted(kind + block[other] for kind, other in near))), len(numbers))
            for node, near in enumerate(links)
        ]
        if finer == block:
            return block
        block = finer
