"""Numbers of the GLORIA paper, or what its equations give where it prints something else."""

from __future__ import annotations

from itertools import islice

import pytest

from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.gloria.edge_pruning import prune_edges
from sparkext.planner.gloria.generation import generate
from sparkext.planner.gloria.gloria import RULES, build
from sparkext.planner.gloria.graph import Graph, Node
from sparkext.planner.gloria.kleene import plan_components
from sparkext.planner.gloria.node_pruning import prune_nodes
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.plan_completion.options import all_labels
from sparkext.planner.problem.labels import forms, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.invalid import invalid
from tests.support.gloria_texts import node_text, plan_text
from tests.support.optimizer_workloads import problem

PAPER = PaperCosts()
TABLE_3 = problem(["F A B C D", "A B C D", "E C D"], {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3})


def nodes(graph: Graph) -> dict[tuple[str, str], Node]:
    """By transition and Q-sets, as the paper writes them."""
    states = graph.problem.template.states
    return {
        (
            " ".join(
                f"{states[graph.problem.transitions[number].source]}{states[graph.problem.transitions[number].target]}"
                for number in pool.transitions
            ),
            node_text(graph.problem, node.qsets),
        ): node
        for pool in graph.pools
        for node in graph.nodes[pool.number]
    }


def test_table_3_nodes() -> None:
    """Every node with what it costs to get there, and what pruned it; n9 is never built."""
    graph = build(Pricer(TABLE_3, PAPER))
    names = {name: node.name for name, node in nodes(graph).items()}
    pruned = {node.name: None if node.pruned_by is None else node.pruned_by.name for node in graph.all_nodes()}
    costs = {name: node.d_s for name, node in nodes(graph).items()}
    assert costs == {
        ("FA", "(1)"): 10,
        ("AB", "(1,2)^A"): 65,
        ("AB", "(1),(2)"): 65,
        ("BC", "(1,2)^A"): 70,
        ("BC", "(1,2)^B"): 165,
        ("BC", "(1),(2)"): 165,
        ("EC", "(3)"): 3,
        ("CD", "(1,2)^A,(3)"): 159,
        ("CD", "(1,2)^C,(3)"): 279,
        ("CD", "(1),(2),(3)"): 444,
        ("CD", "(1,2,3)^C"): 279,
    }
    by = {name: pruned[names[name]] for name in names}
    assert {name: by[name] for name in by if by[name] is not None} == {
        ("BC", "(1,2)^B"): names["BC", "(1,2)^A"],
        ("CD", "(1,2)^C,(3)"): names["CD", "(1,2)^A,(3)"],
    }


def test_table_3_without_pruning() -> None:
    """n9 is built, and there are two ways to n5, one of which costs 170."""
    all_nodes = nodes(build(Pricer(TABLE_3, PAPER), (generate, plan_components)))
    assert ("CD", "(1,2)^B,(3)") in all_nodes
    n2, n3, n5 = all_nodes["AB", "(1,2)^A"], all_nodes["AB", "(1),(2)"], all_nodes["BC", "(1,2)^B"]
    (edges,) = n5.edges.values()
    assert {before: 65 + weight for before, weight in edges.items()} == {n2: 170, n3: 165}


def test_table_3_weights_to_the_end() -> None:
    graph = build(Pricer(TABLE_3, PAPER), (generate, plan_components))
    all_nodes = nodes(graph)
    assert {text: graph.weight(node, None) for (link, text), node in all_nodes.items() if link == "CD"} == {
        "(1,2)^A,(3)": 148,
        "(1,2)^B,(3)": 248,
        "(1,2)^C,(3)": 156,
        "(1,2,3)^C": 156,
        "(1),(2),(3)": 144,
    }


def test_table_3_plan() -> None:
    planned = OPTIMIZERS["gloria"].plan(TABLE_3, PAPER)
    assert planned.cost == planned.published == planned.bound == 307
    assert plan_text(TABLE_3, planned.plan) == "EC:(3) FA:(1) AB:(1,2)^A BC:(1,2)^A CD:(1,2)^A,(3)"


def kleene(workload: Problem) -> dict[str, float]:
    """Per node of a workload that is one Kleene sub-pattern, what it costs to get there."""
    graph = build(Pricer(workload, PAPER), (generate, plan_components, prune_edges))
    return {node_text(workload, node.qsets): node.d_s for node in graph.all_nodes()}


def test_flat_kleene() -> None:
    """The paper prints 120 for the last; it is pruned either way."""
    workload = problem(["(A B)+", "(A B)+"], {"A": 5, "B": 10})
    assert kleene(workload) == {"(1,2)^A": 115, "(1),(2)": 210, "(1,2)^B": 270}
    (node,) = [node for node in build(Pricer(workload, PAPER)).all_nodes() if node.qsets[0].snapshot == 1]
    assert node.pruned_by is not None


def test_nested_kleene() -> None:
    """Without starts, which are 12 for each query."""
    kleene_nodes = kleene(problem(["(C (A B)+ D)+"] * 4, {"A": 5, "B": 10, "C": 12, "D": 4}))
    assert {text: cost - 4 * 12 for text, cost in kleene_nodes.items()} == {
        "(1,2,3,4)^C": 936,
        "(1,2,3,4)^A": 285,
        "(1,2,3,4)^B": 630,
        "(1,2,3,4)^D": 216,
        "(1),(2),(3),(4)": 992,
    }


@pytest.mark.parametrize("sharing", [{0, 1, 2}, {1, 2}, {0, 1}])
def test_figure_1(sharing: set[int]) -> None:
    """Queries share the Kleene part with snapshots of P, whichever they are."""
    workload = problem(
        ["R (P T)+ D", "A R (P T)+ D", "A R (P T)+ C"], {"R": 5, "P": 20, "T": 20, "D": 3, "A": 2, "C": 3}
    )
    states = [str(state) for state in workload.template.states]
    p = states.index("P")
    inner = {n for n, t in enumerate(workload.transitions) if {states[t.source], states[t.target]} == {"P", "T"}}
    labels = []
    for query, transitions in enumerate(workload.transitions_of):
        wanted = {number: p if query in sharing and number in inner else None for number in transitions}
        assert forms(workload, query, wanted) is not None
        assert wanted in [labels for labels, _ in islice(all_labels(workload, PAPER.fewest, query), 10_000)]
        labels.append(wanted)
    plan = plan_of(workload, "by hand", labels)
    assert not list(invalid(workload.template, plan))
    shown = ",".join(str(query + 1) for query in sorted(sharing))
    for number in inner:
        assert f"({shown})^P" in node_text(workload, plan.transitions[number].qsets)
    assert OPTIMIZERS["gloria"].plan(workload, PAPER).cost <= plan_cost(workload, PAPER, plan)


def test_rules_in_order() -> None:
    assert (generate, plan_components, prune_edges, prune_nodes) == RULES
