"""What there is to say of a GLORIA graph: its nodes, what became of them, and which of them are in the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparkext.planner.amounts import amount, count, unit
from sparkext.planner.problem.strategy import Audience, Report
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan, qset_text, snapshot_name
from sparkext.planner.sharing.template import Template

TITLE = "GLORIA graph"

MAX_NODES = 60
"""Most nodes of a graph that the text shows; JSON has them all."""


@dataclass(frozen=True, slots=True)
class SearchedNode:
    """A candidate, and what became of it.

    Attributes:
        name: ``n`` and a number, in order of generation.
        shared: The Q-sets with snapshots, ordered; all other queries go alone.
        rule: What generated it first.
        cost: Least cost to get there.
        to_end: Cost from there to the end, for the queries that end.
        before: Names of the nodes that it may follow.
        weights: Of the edges from these.
        pruned_by: Name of the node that is better; None if there is none.
    """

    name: str
    shared: tuple[QSet, ...]
    rule: str
    cost: float
    to_end: float
    before: tuple[str, ...]
    weights: tuple[float, ...]
    pruned_by: str | None


@dataclass(frozen=True, slots=True)
class SearchedPool:
    """What was planned at once: a transition, or a Kleene sub-pattern.

    Attributes:
        transitions: By number in the template.
        queries: That have some of the transitions, ascending.
        kleene: Whether it is a Kleene sub-pattern.
        nodes: Its candidates.
    """

    transitions: tuple[int, ...]
    queries: tuple[int, ...]
    kleene: bool
    nodes: tuple[SearchedNode, ...]

    def qsets(self, node: SearchedNode) -> tuple[QSet, ...]:
        """All Q-sets of a node, ordered."""
        together = {query for qset in node.shared for query in qset.queries}
        alone = [QSet((query,), None) for query in self.queries if query not in together]
        return tuple(sorted((*node.shared, *alone), key=lambda qset: qset.queries))


@dataclass(frozen=True, slots=True)
class SearchedGraph:
    """How GLORIA found its plan: what it has seen of its graph, by the numbers of the problem as it was given.

    Attributes:
        pools: In topological order.
        generated: Number of nodes generated.
        edges: Number of edges generated.
        pruned_edges: Number of those pruned.
    """

    pools: tuple[SearchedPool, ...]
    generated: int
    edges: int
    pruned_edges: int

    @property
    def not_planned(self) -> None:
        """None, as all queries are planned."""
        return None

    @property
    def pruned_nodes(self) -> int:
        """Number of nodes pruned."""
        return sum(node.pruned_by is not None for pool in self.pools for node in pool.nodes)

    def report(self, template: Template, model: str, audience: Audience) -> Report:
        """The nodes of the graph; of the pools that concern the audience, as text."""
        return Report(
            tuple(_lines(self, template, model, audience)), {"graph": _document(self, template, audience.plan)}
        )


def _lines(graph: SearchedGraph, template: Template, model: str, audience: Audience) -> Iterator[str]:
    yield (
        f"  {TITLE}: {count(graph.generated, 'node', 'nodes')}, {count(graph.edges, 'edge', 'edges')}; "
        f"pruned {count(graph.pruned_nodes, 'node', 'nodes')}, {count(graph.pruned_edges, 'edge', 'edges')}; "
        f"costs in {unit(model)}"
    )
    lines: list[str] = []
    for pool in graph.pools:
        if audience.concerns(pool.queries):
            lines += _nodes(template, pool)
    yield from lines[:MAX_NODES]
    if len(lines) > MAX_NODES:
        yield f"    and {len(lines) - MAX_NODES} lines more, which EXPLAIN SHARING JSON has"


def _nodes(template: Template, pool: SearchedPool) -> Iterator[str]:
    arrows = ", ".join(f"{source} -> {target}" for source, target in _named(template, pool))
    yield f"    {'around ' if pool.kleene else ''}{arrows}"
    for node in pool.nodes:
        yield (
            f"      {node.name} {_qsets_text(template, pool.qsets(node))}: {amount(node.cost)} to get here"
            + (f" from {', '.join(node.before)}" if node.before else "")
            + (f", {amount(node.to_end)} to the end" if node.to_end else "")
            + f"; {node.rule}"
            + (f", pruned by {node.pruned_by}" if node.pruned_by is not None else "")
        )


def _named(template: Template, pool: SearchedPool) -> list[list[str]]:
    """The transitions of a pool, by the names of their states."""
    links = [template.transitions[number] for number in pool.transitions]
    return [[str(template.states[link.source]), str(template.states[link.target])] for link in links]


def _qsets_text(template: Template, qsets: tuple[QSet, ...]) -> str:
    return ", ".join(qset_text(template, qset) for qset in qsets)


def _document(graph: SearchedGraph, template: Template, plan: SharingPlan) -> dict[str, Any]:
    return {
        "nodes": graph.generated,
        "edges": graph.edges,
        "pruned_nodes": graph.pruned_nodes,
        "pruned_edges": graph.pruned_edges,
        "trace": [_node(template, plan, pool, node) for pool in graph.pools for node in pool.nodes],
    }


def _node(template: Template, plan: SharingPlan, pool: SearchedPool, node: SearchedNode) -> dict[str, Any]:
    qsets = pool.qsets(node)
    return {
        "node": node.name,
        "transitions": _named(template, pool),
        "qsets": _qsets_text(template, qsets),
        "divided": [
            {"numbers": [query + 1 for query in qset.queries], "snapshot": snapshot_name(template, qset)}
            for qset in qsets
        ],
        "rule": node.rule,
        "d_s": node.cost,
        "to_end": node.to_end,
        "from": list(node.before),
        "weights": list(node.weights),
        "in_plan": _is_in(plan, pool, qsets),
        "pruned_by": node.pruned_by,
    }


def _is_in(plan: SharingPlan, pool: SearchedPool, qsets: tuple[QSet, ...]) -> bool:
    """Whether a plan shares on the transitions of a node as the node says."""
    as_node = {query: qset for qset in qsets for query in qset.queries}
    for number in pool.transitions:
        planned = {query: qset for qset in plan.transitions[number].qsets for query in qset.queries}
        for query, qset in planned.items():
            wanted = as_node[query]
            if qset.snapshot != wanted.snapshot:
                return False
            if qset.snapshot is not None and set(qset.queries) != set(wanted.queries) & set(planned):
                return False
    return True
