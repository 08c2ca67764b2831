"""Partition refinement, on which merging of states rests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def refine(keys: Iterable[object], neighbours: Sequence[tuple[tuple[object, int], ...]]) -> list[int]:
    """Coarsest partition in which nodes of a block have equal keys and neighbours in the same blocks.

    Blocks are split by the links that lead to one block after another, and of the parts of a block that has been
    split, the largest need not be looked at again, since its links are those of the whole less those of the others
    (Valmari and Franceschinis). So each link is looked at as often as the logarithm of the number of nodes.

    Args:
        keys: Per node, what tells it apart by itself; hashable.
        neighbours: Per node, the nodes that tell it apart further, each with what the link between them
            is; how many links of a kind lead to a block counts too.

    Returns:
        Per node, the number of its block; blocks are numbered in order of their first node.
    """
    numbers: dict[object, int] = {}
    block = [numbers.setdefault(key, len(numbers)) for key in keys]
    members: list[set[int]] = [set() for _ in numbers]
    for node, number in enumerate(block):
        members[number].add(node)
    kinds: dict[object, int] = {}
    # Per node the links that lead to it: where from, and of which kind.
    coming: list[list[tuple[int, int]]] = [[] for _ in block]
    for node, near in enumerate(neighbours):
        for link, neighbour in near:
            coming[neighbour].append((node, kinds.setdefault(link, len(kinds))))
    waiting = set(range(len(members)))
    while waiting:
        splitter = waiting.pop()
        leading: dict[int, list[int]] = {}
        for neighbour in members[splitter]:
            for node, kind in coming[neighbour]:
                if node in leading:
                    leading[node].append(kind)
                else:
                    leading[node] = [kind]
        touched: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for node, link_kinds in leading.items():
            if len(members[block[node]]) > 1:
                link_kinds.sort()
                touched.setdefault(block[node], {}).setdefault(tuple(link_kinds), []).append(node)
        for number, parts in touched.items():
            _split(number, list(parts.values()), block, members, waiting)
    numbers = {}
    return [numbers.setdefault(number, len(numbers)) for number in block]


def _split(number: int, parts: list[list[int]], block: list[int], members: list[set[int]], waiting: set[int]) -> None:
    """Split a block into parts, and what is left of it; all but the largest have to wait for their turn."""
    left = members[number]
    if sum(map(len, parts)) == len(left) and len(parts) == 1:
        return
    for part in parts:
        left.difference_update(part)
    largest = max(parts, key=len)
    if len(left) < len(largest):
        members[number] = set(largest)
        parts = [part for part in (*parts, list(left)) if part and part is not largest]
    for part in parts:
        waiting.add(len(members))
        for node in part:
            block[node] = len(members)
        members.append(set(part))
