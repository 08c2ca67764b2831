"""Rule 1, node generation: the candidates of a transition, from those of the pools before.

- *Reuse*: a Q-set goes on with the snapshots it has.
- *Local*: a Q-set goes on with snapshots of the state that the transition leaves.
- *Merge*: what takes new snapshots and what went alone are put together in one Q-set.
- *Not shared* follows from not shared.

A Q-set that is left with too few queries, or must not share the step, goes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from sparkext.planner.bits import bits
from sparkext.planner.gloria.graph import Graph, Node, Pool, Sharing
from sparkext.planner.sharing.sharing_plan import QSet

MAX_COMBINATIONS = 32
"""Most combinations of nodes of several preceding pools, and of what becomes of their Q-sets, that are tried."""


MAX_NODES = 32
"""Most nodes of a pool; what they leave out is left to completion."""


def generate(graph: Graph, pool: Pool) -> None:
    """Nodes and edges of a pool that is one transition."""
    if pool.kleene:
        return
    (number,) = pool.transitions
    problem = graph.problem
    if len(problem.plain[number]) < graph.model.fewest:
        share_nothing(graph, pool)
        return
    state = problem.transitions[number].source
    plain = bits(problem.plain[number])
    ways: dict[tuple[int, ...], int] = {}
    for query, sources in arrivals(graph, pool).items():
        if query in problem.plain[number] and state in problem.passing[query] and state in sources:
            ways[tuple(sources[state])] = ways.get(tuple(sources[state]), 0) | 1 << query
    for before in combinations(graph, pool):
        parts = _parts(graph, state, before, ways)
        for rule, shared in _divisions(graph, pool, state, plain, parts):
            if graph.nodes[pool.number] and problem.budget.is_spent(graph.part):
                return
            connect(graph, pool, rule, shared, before)


def share_nothing(graph: Graph, pool: Pool) -> None:
    """A node in which nothing is shared, behind all others."""
    connect(graph, pool, "not shared", (), [graph.kept(number) for number in pool.preceding])


def combinations(graph: Graph, pool: Pool) -> Iterator[tuple[tuple[Node, ...], ...]]:
    """Per preceding pool nodes that look the same to ``pool``: every combination, or the most promising ones."""
    choices: list[list[tuple[Node, ...]]] = []
    wanted = bits(pool.queries)
    for before in pool.preceding:
        alike: dict[tuple[Sharing, ...], list[Node]] = {}
        for node in graph.kept(before):
            seen = tuple([(queries & wanted, snapshot) for queries, snapshot in node.sets if queries & wanted])
            alike.setdefault(seen, []).append(node)
        choices.append([tuple(nodes) for nodes in alike.values()])
    count = 1
    for choice in choices:
        count *= len(choice)
    if count <= MAX_COMBINATIONS:
        yield from product(*choices)
        return
    for index in range(max(map(len, choices))):
        yield tuple(choice[min(index, len(choice) - 1)] for choice in choices)
        yield tuple(choice[max(len(choice) - 1 - index, 0)] for choice in choices)


def arrivals(graph: Graph, pool: Pool) -> dict[int, dict[int, list[int]]]:
    """Per query and state that transitions of a pool leave, from which of the preceding pools it comes there."""
    transitions = graph.problem.transitions
    preceding: dict[int, dict[int, list[int]]] = {query: {} for query in pool.queries}
    states = {transitions[number].source for number in pool.transitions}
    for index, number in enumerate(pool.preceding):
        for link in (transitions[before] for before in graph.pools[number].transitions):
            if link.target not in states:
                continue
            for query in link.queries:
                if query in preceding and index not in preceding[query].setdefault(link.target, []):
                    preceding[query][link.target].append(index)
    return preceding


def connect(graph: Graph, pool: Pool, rule: str, shared: Iterable[Sharing], before: Sequence[Sequence[Node]]) -> None:
    """A node, made unless there is one or too many, and its edges from the preceding pools.

    Args:
        graph: To which it is added.
        pool: Of the node.
        rule: What has generated it.
        shared: Its Q-sets with snapshots; all other queries go alone.
        before: Per preceding pool the nodes that it may follow.
    """
    ordered = tuple(sorted(shared, key=_first))
    nodes = graph.nodes[pool.number]
    node = graph.node_of.get((pool.number, ordered))
    if node is None:
        if len(nodes) == MAX_NODES:
            return
        graph.generated += 1
        qsets = tuple(QSet(graph.numbers(queries), snapshot) for queries, snapshot in ordered)
        node = Node(f"n{graph.generated}", pool.number, pool.queries, qsets, rule)
        graph.node_of[pool.number, ordered] = node
        nodes.append(node)
    for number, sources in zip(pool.preceding, before, strict=True):
        edges = node.edges.setdefault(number, {})
        for source in sources:
            if source not in edges:
                edges[source] = graph.weight(source, node)
                graph.edges += 1


def _first(sharing: Sharing) -> int:
    """The first query of a Q-set, as a bit."""
    return sharing[0] & -sharing[0]


def _parts(
    graph: Graph, state: int, before: Sequence[Sequence[Node]], ways: Mapping[tuple[int, ...], int]
) -> list[Sharing]:
    """The queries that come to the state a transition leaves in the same form, which may be passed on.

    Args:
        graph: With the problem.
        state: Which the transition leaves.
        before: Per preceding pool nodes that look the same from here.
        ways: By the preceding pools from which queries come, those that may pass on forms, as bits.
    """
    begun = bits(graph.problem.template.starts[state])
    parts: list[Sharing] = []
    for indexes, queries in ways.items():
        first, *later = [before[index][0] for index in indexes]
        alike = [(queries & sharing, snapshot) for sharing, snapshot in first.sets]
        for node in later:
            alike = [(sharing & more, own) for sharing, own in alike for more, snapshot in node.sets if own == snapshot]
        parts += [(part, snapshot) for sharing, snapshot in alike for part in (sharing & begun, sharing & ~begun)]
    fewest = graph.model.fewest
    return sorted([part for part in parts if part[0] and part[0].bit_count() >= fewest], key=_first)


def _divisions(
    graph: Graph, pool: Pool, state: int, plain: int, parts: Sequence[Sharing]
) -> Iterator[tuple[str, list[Sharing]]]:
    """What may become of the parts and of queries that come alone, each with the name of the rule."""
    fewest = graph.model.fewest
    alone = bits(pool.queries)
    for queries, _ in parts:
        alone ^= queries
    ways: Iterable[tuple[bool, ...]] = product((False, True), repeat=len(parts))
    if 1 << len(parts) > MAX_COMBINATIONS:
        ways = ((False,) * len(parts), (True,) * len(parts))
    for fresh in ways:
        reused = [part for part, new in zip(parts, fresh, strict=True) if not new]
        local = [(queries, state) for (queries, _), new in zip(parts, fresh, strict=True) if new]
        yield ("local" if local else "reuse" if reused else "not shared"), [*reused, *local]
        joined = alone & plain
        for queries, _ in local:
            joined |= queries
        many = joined.bit_count()
        if (many >= fewest and len(local) + alone.bit_count() > 1) or (fewest == 1 and not local and many == 1):
            yield "merge", [*reused, (joined, state)]
