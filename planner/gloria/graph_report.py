"""What there is to say of a GLORIA graph: its nodes, what became of them, and which of them are in the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparkext.planner.amounts import amount, count, unit
from sparkext.planner.gloria.graph import Graph, Node, Pool
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import Audience, Report
from sparkext.planner.sharing.sharing_plan import SharingPlan, qset_text, snapshot_name

TITLE = "GLORIA graph"

MAX_NODES = 60
"""Most nodes of a graph that the text shows; JSON has them all."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchedGraph:
    """How GLORIA found its plan.

    Attributes:
        graph: The graph that was searched, by the numbers of the problem as it was given.
    """

    graph: Graph

    @property
    def not_planned(self) -> None:
        """None, as all queries are planned."""
        return None

    def report(self, problem: Problem, model: CostModel, audience: Audience) -> Report:
        """The nodes of the graph; of the pools that concern the audience, as text."""
        del problem, model  # the graph has both
        return Report(tuple(_lines(self.graph, audience)), {"graph": _document(self.graph, audience.plan)})


def _lines(graph: Graph, audience: Audience) -> Iterator[str]:
    pruned = sum(node.pruned_by is not None for node in graph.all_nodes())
    yield (
        f"  {TITLE}: {count(graph.generated, 'node', 'nodes')}, {count(graph.edges, 'edge', 'edges')}; "
        f"pruned {count(pruned, 'node', 'nodes')}, {count(graph.pruned_edges, 'edge', 'edges')}; "
        f"costs in {unit(graph.model.name)}"
    )
    lines: list[str] = []
    for pool in graph.pools:
        if audience.concerns(pool.queries):
            lines += _nodes(graph, pool)
    yield from lines[:MAX_NODES]
    if len(lines) > MAX_NODES:
        yield f"    and {len(lines) - MAX_NODES} lines more, which EXPLAIN SHARING JSON has"


def _nodes(graph: Graph, pool: Pool) -> Iterator[str]:
    problem = graph.problem
    states = problem.template.states
    links = [problem.transitions[number] for number in pool.transitions]
    arrows = ", ".join(f"{states[link.source]} -> {states[link.target]}" for link in links)
    yield f"    {'around ' if pool.kleene else ''}{arrows}"
    for node in graph.nodes[pool.number]:
        end = graph.weight(node, None)
        behind = [before.name for edges in node.edges.values() for before in edges]
        yield (
            f"      {node.name} {node_text(problem, node)}: {amount(node.d_s)} to get here"
            + (f" from {', '.join(behind)}" if behind else "")
            + (f", {amount(end)} to the end" if end else "")
            + f"; {node.rule}"
            + (f", pruned by {node.pruned_by.name}" if node.pruned_by is not None else "")
        )


def node_text(problem: Problem, node: Node) -> str:
    """The Q-sets of a node."""
    return ", ".join(qset_text(problem.template, qset) for qset in node.qsets)


def _document(graph: Graph, plan: SharingPlan) -> dict[str, Any]:
    problem = graph.problem
    states = problem.template.states
    return {
        "nodes": graph.generated,
        "edges": graph.edges,
        "pruned_nodes": sum(node.pruned_by is not None for node in graph.all_nodes()),
        "pruned_edges": graph.pruned_edges,
        "trace": [
            {
                "node": node.name,
                "transitions": [
                    [str(states[problem.transitions[n].source]), str(states[problem.transitions[n].target])]
                    for n in graph.pools[node.pool].transitions
                ],
                "qsets": node_text(problem, node),
                "divided": [
                    {
                        "numbers": [query + 1 for query in qset.queries],
                        "snapshot": snapshot_name(problem.template, qset),
                    }
                    for qset in node.qsets
                ],
                "rule": node.rule,
                "d_s": node.d_s,
                "to_end": graph.weight(node, None),
                "from": [before.name for edges in node.edges.values() for before in edges],
                "weights": [weight for edges in node.edges.values() for weight in edges.values()],
                "in_plan": _is_in(plan, graph, node),
                "pruned_by": None if node.pruned_by is None else node.pruned_by.name,
            }
            for node in graph.all_nodes()
        ],
    }


def _is_in(plan: SharingPlan, graph: Graph, node: Node) -> bool:
    """Whether a plan shares on the transitions of a node as the node says."""
    as_node = {query: qset for qset in node.qsets for query in qset.queries}
    for number in graph.pools[node.pool].transitions:
        planned = {query: qset for qset in plan.transitions[number].qsets for query in qset.queries}
        for query, qset in planned.items():
            wanted = as_node[query]
            if qset.snapshot != wanted.snapshot:
                return False
            if qset.snapshot is not None and set(qset.queries) != set(wanted.queries) & set(planned):
                return False
    return True
