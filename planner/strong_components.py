"""Strongly connected components of a graph."""

from __future__ import annotations

from collections.abc import Iterable


def strong_components(nodes: Iterable[int], edges: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Strongly connected components of a graph in topological order (Tarjan), each ascending."""
    after: dict[int, list[int]] = {node: [] for node in nodes}
    for source, target in edges:
        after[source].append(target)
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    components: list[tuple[int, ...]] = []
    for root in after:
        path = [(root, iter(after[root]))] if root not in index else []
        while path:
            node, rest = path[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                waiting.add(node)
            for neighbour in rest:
                if neighbour not in index:
                    path.append((neighbour, iter(after[neighbour])))
                    break
                if neighbour in waiting:
                    low[node] = min(low[node], index[neighbour])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                    waiting.difference_update(component)
                    components.append(tuple(sorted(component)))
    return components[::-1]
