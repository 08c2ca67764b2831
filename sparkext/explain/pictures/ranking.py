"""The first steps of a layered drawing: which links go backwards, and in which layer each node is."""

from __future__ import annotations

from collections.abc import Sequence

Pairs = Sequence[tuple[int, int]]
"""Links from node to node."""

LARGEST = 200
"""Most nodes that are moved one by one."""


def parts(count: int, links: Pairs) -> list[list[int]]:
    """The nodes that hang together, part by part, each ascending and in order of its first node."""
    near: list[list[int]] = [[] for _ in range(count)]
    for source, target in links:
        near[source].append(target)
        near[target].append(source)
    seen: set[int] = set()
    connected: list[list[int]] = []
    for first in range(count):
        if first in seen:
            continue
        seen.add(first)
        part, todo = [first], [first]
        while todo:
            for node in near[todo.pop()]:
                if node not in seen:
                    seen.add(node)
                    part.append(node)
                    todo.append(node)
        connected.append(sorted(part))
    return connected


def backward(count: int, links: Pairs, weights: Sequence[float]) -> list[bool]:
    """Per link, whether it goes against the order of the nodes; without those that do, there are no cycles.

    The order has little weight going backwards: nodes are taken off the graph from both ends (Eades, Lin and
    Smyth), and then moved one by one as long as that helps.

    Args:
        count: Number of nodes.
        links: Those of a node with itself count as backward.
        weights: Of the links.
    """
    flow: list[dict[int, float]] = [{} for _ in range(count)]
    for (source, target), weight in zip(links, weights, strict=True):
        if source != target:
            flow[source][target] = flow[source].get(target, 0.0) + weight
    order = _taken_off(flow)
    if count <= LARGEST:
        _move_one_by_one(order, flow)
    position = {node: at for at, node in enumerate(order)}
    return [position[source] >= position[target] for source, target in links]


def _taken_off(flow: Sequence[dict[int, float]]) -> list[int]:
    """Nodes that nothing comes to first, those that nothing leaves last, and in between those that most leaves."""
    left = dict.fromkeys(range(len(flow)))
    front: list[int] = []
    back: list[int] = []
    while left:
        out = {node: sum(weight for target, weight in flow[node].items() if target in left) for node in left}
        into = dict.fromkeys(left, 0.0)
        for node in left:
            for target, weight in flow[node].items():
                if target in left:
                    into[target] += weight
        sinks = [node for node in left if not out[node] and into[node]]
        sources = [node for node in left if not into[node]]
        if sources:
            front += sources
        elif sinks:
            back = sinks + back
        else:
            front.append(max(left, key=lambda node: (out[node] - into[node], -node)))
            sources = front[-1:]
        for node in sources or sinks:
            del left[node]
    return front + back


def _move_one_by_one(order: list[int], flow: Sequence[dict[int, float]]) -> None:
    changed = True
    while changed:
        changed = False
        for node in sorted(order):
            start = order.index(node)
            best, gain, total = start, 0.0, 0.0
            for at in range(start - 1, -1, -1):
                total += flow[node].get(order[at], 0.0) - flow[order[at]].get(node, 0.0)
                if total > gain:
                    best, gain = at, total
            total = 0.0
            for at in range(start + 1, len(order)):
                total += flow[order[at]].get(node, 0.0) - flow[node].get(order[at], 0.0)
                if total > gain:
                    best, gain = at, total
            if best != start:
                order.insert(best, order.pop(start))
                changed = True


def ranks(count: int, links: Pairs) -> list[int]:
    """Per node its layer: each link goes to a later one, and nodes where nothing arrives are near what follows.

    Args:
        count: Number of nodes.
        links: Without cycles.
    """
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in links:
        after[source].append(target)
        waiting[target] += 1
    rank = [0] * count
    first = [node for node in range(count) if waiting[node] == 0]
    todo = list(first)
    while todo:
        node = todo.pop()
        for target in after[node]:
            rank[target] = max(rank[target], rank[node] + 1)
            waiting[target] -= 1
            if waiting[target] == 0:
                todo.append(target)
    for node in first:
        if after[node]:
            rank[node] = min(rank[target] for target in after[node]) - 1
    return rank
