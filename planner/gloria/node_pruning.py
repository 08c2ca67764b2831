"""Rule 4, node pruning: a node goes when another with the same Q-sets is cheaper and has rarer snapshots.

This is Lemma 5.2 of the paper, which is proved for equal snapshot types only. Where it loses the best plan,
`sparkext.planner.plan_completion.completed_plan` finds it again.
"""

from __future__ import annotations

from sparkext.planner.gloria.graph import Graph, Node, Pool


def prune_nodes(graph: Graph, pool: Pool) -> None:
    """Prune nodes of a pool."""
    nodes = graph.nodes[pool.number]
    for node in nodes:
        for rival in nodes:
            if rival is not node and rival.pruned_by is None and _is_better(graph, rival, node):
                node.pruned_by = rival
                break


def _is_better(graph: Graph, node: Node, than: Node) -> bool:
    if node.d_s > than.d_s or [queries for queries, _ in node.sets] != [queries for queries, _ in than.sets]:
        return False
    events = graph.problem.events
    pairs = zip(node.sets, than.sets, strict=True)
    return all(events[state] <= events[than_state] for (_, state), (_, than_state) in pairs)
