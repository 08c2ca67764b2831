"""Rule 1, node generation: the candidates of a transition, from those of the pools before.

- *Reuse*: a Q-set goes on with the snapshots it has.
- *Local*: a Q-set goes on with snapshots of the state that the transition leaves.
- *Merge*: what takes new snapshots and what went alone are put together in one Q-set.
- *Not shared* follows from not shared.

A Q-set that is left with too few queries, or must not share the step, goes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from planner.gloria.graph import Graph, Node, Pool
from planner.sharing import QSet

MAX_COMBINATIONS = 32
"""Most combinations of nodes of several preceding pools, and of what becomes of their Q-sets, that are tried."""


MAX_NODES = 32
"""Most nodes of a pool; what they leave out is left to completion."""


@dataclass(frozen=True, slots=True)
class Part:
    """Queries that come to a state alike.

    Attributes:
        queries: Ascending.
        snapshot: What their form is over; None when each comes with values of its own.
    """

    queries: tuple[int, ...]
    snapshot: int | None


def generate(graph: Graph, pool: Pool) -> None:
    """Nodes and edges of a pool that is one transition."""
    if pool.kleene:
        return
    state = graph.problem.transitions[pool.transitions[0]].source
    if len(graph.problem.plain[pool.transitions[0]]) < graph.model.fewest:
        everything = [graph.kept(number) for number in pool.preceding]
        connect(graph, pool, "not shared", [QSet((query,), None) for query in pool.queries], everything)
        return
    coming = {query: found.get(state, []) for query, found in arrivals(graph, pool).items()}
    for before in combinations(graph, pool):
        parts = _parts(graph, pool, state, before, coming)
        for rule, qsets in _divisions(graph, pool, state, parts):
            connect(graph, pool, rule, qsets, before)


def combinations(graph: Graph, pool: Pool) -> Iterator[tuple[tuple[Node, ...], ...]]:
    """Per preceding pool nodes that look the same to ``pool``: every combination, or the most promising ones."""
    choices: list[list[tuple[Node, ...]]] = []
    wanted = set(pool.queries)
    for before in pool.preceding:
        alike: dict[tuple[QSet, ...], list[Node]] = {}
        for node in graph.kept(before):
            seen = tuple(
                QSet(mine, qset.snapshot)
                for qset in node.qsets
                if (mine := tuple(query for query in qset.queries if query in wanted))
            )
            alike.setdefault(seen, []).append(node)
        choices.append([tuple(nodes) for nodes in alike.values()])
    count = 1
    for choice in choices:
        count *= len(choice)
    if count <= MAX_COMBINATIONS:
        yield from product(*choices)
        return
    for place in range(max(map(len, choices))):
        yield tuple(choice[min(place, len(choice) - 1)] for choice in choices)
        yield tuple(choice[max(len(choice) - 1 - place, 0)] for choice in choices)


def arrivals(graph: Graph, pool: Pool) -> dict[int, dict[int, list[int]]]:
    """Per query and state that transitions of a pool leave, from which of the preceding pools it comes there."""
    transitions = graph.problem.transitions
    found: dict[int, dict[int, list[int]]] = {query: {} for query in pool.queries}
    states = {transitions[number].source for number in pool.transitions}
    for place, number in enumerate(pool.preceding):
        for link in (transitions[before] for before in graph.pools[number].transitions):
            if link.target not in states:
                continue
            for query in link.queries:
                if query in found and place not in found[query].setdefault(link.target, []):
                    found[query][link.target].append(place)
    return found


def connect(graph: Graph, pool: Pool, rule: str, qsets: Iterable[QSet], before: Sequence[Sequence[Node]]) -> None:
    """A node with these Q-sets, made unless there is one or too many, and its edges from the preceding pools."""
    ordered = tuple(sorted(qsets, key=lambda qset: qset.queries))
    nodes = graph.nodes[pool.number]
    key = (pool.number, *((qset.queries, qset.snapshot) for qset in ordered))
    node = graph.known.get(key)
    if node is None:
        if len(nodes) == MAX_NODES:
            return
        graph.generated += 1
        node = graph.known[key] = Node(f"n{graph.generated}", pool.number, ordered, rule)
        nodes.append(node)
    for number, sources in zip(pool.preceding, before, strict=True):
        edges = node.edges.setdefault(number, {})
        for source in sources:
            if source not in edges:
                edges[source] = graph.weight(source, node)
                graph.edges += 1


def _parts(
    graph: Graph, pool: Pool, state: int, before: Sequence[Sequence[Node]], coming: Mapping[int, Sequence[int]]
) -> list[Part]:
    """The queries of a transition, by how they come to the state it leaves."""
    problem = graph.problem
    alike: dict[object, list[int]] = {}
    for query in pool.queries:
        places = coming[query]
        snapshots = {before[place][0].label(query) for place in places}
        plain = query in problem.plain[pool.transitions[0]]
        key: object = (query,)
        if plain and len(snapshots) == 1 and None not in snapshots and state in problem.passing[query]:
            sets = tuple(before[place][0].qset_of[query].queries for place in places)
            key = (*snapshots, sets, tuple(places), state in problem.starts[query])
        alike.setdefault(key, []).append(query)
    fewest = graph.model.fewest
    parts: list[Part] = []
    for key, queries in alike.items():
        assert isinstance(key, tuple)
        if len(key) > 1 and len(queries) >= fewest:
            parts.append(Part(tuple(queries), key[0]))
        else:
            parts += (Part((query,), None) for query in queries)
    return parts


def _divisions(graph: Graph, pool: Pool, state: int, parts: Sequence[Part]) -> Iterator[tuple[str, list[QSet]]]:
    """What may become of the parts, each with the name of the rule."""
    plain, fewest = graph.problem.plain[pool.transitions[0]], graph.model.fewest
    shared = [part for part in parts if part.snapshot is not None]
    alone = [QSet(part.queries, None) for part in parts if part.snapshot is None]
    ways: Iterable[tuple[bool, ...]] = product((False, True), repeat=len(shared))
    if 1 << len(shared) > MAX_COMBINATIONS:
        ways = ((False,) * len(shared), (True,) * len(shared))
    for fresh in ways:
        reused = [QSet(p.queries, p.snapshot) for p, new in zip(shared, fresh, strict=True) if not new]
        local = [QSet(p.queries, state) for p, new in zip(shared, fresh, strict=True) if new]
        yield ("local" if local else "reuse" if reused else "not shared"), [*reused, *local, *alone]
        joined = sorted(q for qset in (*local, *alone) for q in qset.queries if q in plain)
        if len(joined) >= fewest and len(local) + len(alone) > 1:
            left = [qset for qset in alone if qset.queries[0] not in plain]
            yield "merge", [*reused, QSet(tuple(joined), state), *left]
        elif fewest == 1 and not local and len(joined) == 1:
            yield "merge", [*reused, QSet(tuple(joined), state)]
