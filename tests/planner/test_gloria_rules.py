"""The rules of the optimizer one by one, with the paper's costs unless said otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sparkext.planner.costs.measured import MeasuredCosts
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.exhaustive.exhaustive import exhaustive
from sparkext.planner.gloria.edge_pruning import prune_edges
from sparkext.planner.gloria.generation import generate
from sparkext.planner.gloria.gloria import build
from sparkext.planner.gloria.graph import Graph, Pool
from sparkext.planner.gloria.graph_pools import pools
from sparkext.planner.gloria.kleene import plan_components
from sparkext.planner.gloria.node_pruning import prune_nodes
from sparkext.planner.gloria.path_search import search_paths
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.plan_completion.completed_plan import Effort, complete
from sparkext.planner.plan_completion.options import all_labels, some_labels
from sparkext.planner.problem.labels import ALONE, Labelling, forms, plan_of
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import WorkloadTooLargeError
from sparkext.planner.sharing.template import template_of
from tests.support.gloria_texts import node_text, plan_text
from tests.support.optimizer_workloads import problem
from tests.support.pools import query

PAPER = PaperCosts()
CANDIDATES = (generate, plan_components)
EVENTS = dict.fromkeys("ABCDEFGH", 10.0)


def candidates(
    patterns: Sequence[str], link: str, rules: tuple[Callable[[Graph, Pool], None], ...] = CANDIDATES
) -> dict[str, str]:
    """The nodes of a transition, or of the Kleene sub-pattern it is in, each with the rule that made it first."""
    workload = problem(patterns, EVENTS)
    graph = build(Pricer(workload, PAPER), rules)
    states = [str(state) for state in workload.template.states]
    (pool,) = [
        pool
        for pool in graph.pools
        for number in pool.transitions
        if states[workload.transitions[number].source] + states[workload.transitions[number].target] == link
    ]
    return {node_text(workload, node.qsets): node.rule for node in graph.nodes[pool.number]}


# Pools


def test_kleene_pools_are_what_a_query_goes_round() -> None:
    """``A B`` and ``B A`` make a cycle of the template, and no query goes round it."""
    assert not any(pool.kleene for pool in pools(problem(["A B", "B A"], EVENTS)))
    (pool,) = pools(problem(["(A B)+", "B A"], EVENTS))
    assert pool.kleene
    assert pool.queries == (0, 1)


def test_overlapping_kleene_sub_patterns_are_one_pool() -> None:
    (pool,) = pools(problem(["(A B)+", "(A B C)+"], EVENTS))
    assert pool.kleene
    assert len(pool.transitions) == 4


def test_pools_before_come_first() -> None:
    of_problem = pools(problem(["A (B C)+ D", "E (B C)+ D"], EVENTS))
    assert [pool.kleene for pool in of_problem] == [False, False, True, False]
    assert all(before < pool.number for pool in of_problem for before in pool.preceding)


# Rule 1, node generation


def test_start_of_two_queries() -> None:
    assert candidates(["A B", "A B"], "AB") == {"(1),(2)": "not shared", "(1,2)^A": "merge"}


def test_reuse_local_and_not_shared() -> None:
    nodes_of_pool = candidates(["A B C", "A B C"], "BC")
    assert nodes_of_pool == {"(1),(2)": "not shared", "(1,2)^B": "merge", "(1,2)^A": "reuse"}


def test_merge_of_a_qset_with_a_query_that_comes_alone() -> None:
    nodes_of_pool = candidates(["A B C", "A B C", "D B C"], "BC")
    assert nodes_of_pool == {
        "(1),(2),(3)": "not shared",
        "(1,2,3)^B": "merge",
        "(1,2)^A,(3)": "reuse",
        "(1,2)^B,(3)": "local",
    }


def test_a_qset_is_never_split() -> None:
    assert not any("(1,2)" in text for text in candidates(["A B C", "A B C", "A B C"], "BC"))


def test_a_query_that_starts_there_does_not_go_on_with_the_others() -> None:
    assert "(1,2)^A" not in candidates(["A B C", "A? B C"], "BC")


def test_too_few_queries_for_a_qset() -> None:
    assert candidates(["A B C", "A B D"], "BC") == {"(1)": "not shared"}


def test_one_query_may_have_a_form_where_that_is_faster() -> None:
    workload = problem(["A B+"], EVENTS)
    graph = build(Pricer(workload, MeasuredCosts()), CANDIDATES)
    assert {node_text(workload, node.qsets) for node in graph.all_nodes()} >= {"(1)", "(1)^A", "(1)^B"}


def test_guarded_steps_are_not_shared() -> None:
    """Neither are forms passed on where a query has a guard, which some other has not."""
    assert candidates(["A NOT D B C", "A NOT D B C"], "AB") == {"(1),(2)": "not shared"}
    assert "(1,2)^A" not in candidates(["A B NOT D C", "A B NOT D C"], "BC")


# Rule 2, Kleene sub-patterns


def test_all_of_a_kleene_sub_pattern_or_nothing() -> None:
    assert candidates(["(A B)+"] * 2, "AB") == {"(1),(2)": "not shared", "(1,2)^A": "Kleene", "(1,2)^B": "Kleene"}


def test_a_kleene_sub_pattern_goes_on_with_what_comes() -> None:
    """Beyond the paper; only snapshots of C can be had where it is entered elsewhere."""
    nodes_of_pool = candidates(["C (A B)+", "C (A B)+"], "AB")
    assert nodes_of_pool == {"(1),(2)": "not shared", "(1,2)^A": "Kleene", "(1,2)^C": "reuse"}


def test_whoever_cannot_is_left_out() -> None:
    """Query 3 enters at B, with values of its own."""
    assert "(1,2)^A,(3)" in candidates(["(A B)+", "(A B)+", "D B (A B)+"], "AB")


# Rule 3, edge pruning


def test_one_edge_is_left_for_each_preceding_pool() -> None:
    workload = problem(["A C D", "A C D", "B C D"], EVENTS)
    graph = build(Pricer(workload, PAPER), (*CANDIDATES, prune_edges))
    everything = build(Pricer(workload, PAPER), CANDIDATES)
    for node in graph.all_nodes():
        assert all(len(edges) == 1 for edges in node.edges.values())
    assert graph.edges == everything.edges
    assert graph.pruned_edges == graph.edges - sum(len(edges) for n in graph.all_nodes() for edges in n.edges.values())
    assert graph.pruned_edges > 0


def test_cost_to_a_node_is_the_sum_of_the_lightest_edges() -> None:
    workload = problem(["A C D", "A C D", "B C D"], EVENTS)
    graph = build(Pricer(workload, PAPER), (*CANDIDATES, prune_edges))
    for pool in graph.pools:
        for node in graph.nodes[pool.number]:
            kept = [(before.d_s + weight) for edges in node.edges.values() for before, weight in edges.items()]
            assert node.d_s == graph.starts(pool) + sum(kept)


# Rule 4, node pruning


def test_dearer_node_with_more_frequent_snapshots_goes() -> None:
    workload = problem(["(A B)+", "(A B)+"], {"A": 5, "B": 10})
    graph = build(Pricer(workload, PAPER), (*CANDIDATES, prune_edges, prune_nodes))
    pruned = {node_text(workload, node.qsets): node.pruned_by for node in graph.all_nodes() if node.pruned_by}
    assert {text: by.rule for text, by in pruned.items()} == {"(1,2)^B": "Kleene"}


def test_dearer_node_with_rarer_snapshots_stays() -> None:
    workload = problem(["A B C", "A B C"], {"A": 100, "B": 1, "C": 10})
    graph = build(Pricer(workload, PAPER))
    assert {node_text(workload, n.qsets) for n in graph.kept(1)} == {"(1),(2)", "(1,2)^A", "(1,2)^B"}


# Rule 5, path search


@pytest.mark.parametrize(
    "patterns",
    [
        ["A B C", "A B C"],
        ["F A B C D", "A B C D"],
        ["F A B C D", "A B C D", "A B C D"],
        ["A (B C)+ D", "A (B C)+ D"],
        ["(A B)+", "(A B)+"],
    ],
)
def test_weight_of_the_path_is_the_cost_of_its_plan(patterns: list[str]) -> None:
    """Where there is one end and what a pool brings goes to one other."""
    events = {"A": 5, "B": 10, "C": 12, "D": 4, "F": 10}
    workload = problem(patterns, events)
    graph = build(Pricer(workload, PAPER))
    labels = search_paths(graph)
    last = min(node.d_s + graph.weight(node, None) for node in graph.kept(len(graph.pools) - 1))
    assert last == pytest.approx(graph.pricer.cost(labels))


def test_branches() -> None:
    """Where queries part, the plans through the best nodes of some pools are compared."""
    workload = problem(["A B C D", "A B C E", "A B C F"], {"A": 3, "B": 9, "C": 20, "D": 2, "E": 2, "F": 2})
    graph = build(Pricer(workload, PAPER))
    labels = search_paths(graph)
    assert plan_text(workload, plan_of(workload, "x", labels)) == ("AB:(1,2,3)^A BC:(1,2,3)^A CD:(1) CE:(2) CF:(3)")
    assert all(node.d_e >= 0 for node in graph.all_nodes())


def test_a_node_without_a_way_on_is_not_cheap() -> None:
    """Five times the same Kleene part behind one transition: sharing it pays, whatever its ends are."""
    workload = problem([f"H (A B)+ {end}" for end in "CDEFG"], EVENTS)
    assert OPTIMIZERS["gloria"].plan(workload, PAPER).published == OPTIMIZERS["gloria"].plan(workload, PAPER).cost


def test_what_comes_together_from_two_pools() -> None:
    """Nodes of different pools on one path fit together, or the queries concerned share nothing."""
    workload = problem(["(A | B) C D", "(A | B) C D"], EVENTS)
    labels = search_paths(build(Pricer(workload, PAPER)))
    for number, labels_of_query in enumerate(labels):
        assert forms(workload, number, labels_of_query) is not None


# Rule 6, completion


def completed(workload: Problem, effort: Effort) -> tuple[float, float | None]:
    pricer = Pricer(workload, PAPER)
    alone = [dict.fromkeys(transitions, ALONE) for transitions in workload.transitions_of]
    complete_plan = complete(workload, PAPER, pricer, alone, effort)
    return pricer.cost(complete_plan.labels), complete_plan.bound


def test_completion_needs_no_good_beginning() -> None:
    workload = problem(["F A B C D", "A B C D", "E C D"], {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3})
    assert completed(workload, Effort()) == (307, 307)


def test_completion_of_a_workload_that_is_too_large_for_a_proof() -> None:
    workload = problem(["F A B C D", "A B C D", "E C D"], {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3})
    assert completed(workload, Effort(queries=2)) == (307, None)


def test_bound_without_effort_is_no_more_than_the_optimum() -> None:
    workload = problem(["F A B C D", "A B C D", "E C D"], {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3})
    cost, bound = completed(workload, Effort(rounds=1, looks=0))
    assert bound is not None
    assert bound <= 307 <= cost


@pytest.mark.parametrize("pattern", ["A B C D", "A (B C)+ D", "(A (B C)+)+", "(A | B) C+ D"])
def test_some_labels_are_labels(pattern: str) -> None:
    workload = problem([pattern, pattern], EVENTS)
    everything = [labels for labels, _ in all_labels(workload, 2, 0)]
    some = [labels for labels, _ in some_labels(workload, 2, 0)]
    assert all(labels in everything for labels in some)
    assert len(some) == len({tuple(labels.items()) for labels in some})


def test_some_labels_go_round_cycles_in_any_order() -> None:
    """Snapshots before a long cycle are passed on all the way round, however its states are numbered."""
    workload = problem(["E D C B A", "F (A B C D E)+ G", "F (A B C D E)+ G"], EVENTS)
    states = [str(state) for state in workload.template.states]
    f = states.index("F")
    far = max(some_labels(workload, 2, 1), key=lambda option: sum(label == f for label in option[0].values()))[0]
    assert [label for number, label in far.items() if number in workload.transitions_of[1]] == [f] * len(far)


def test_totals_behind_different_forms_are_not_paid_for_once() -> None:
    """Two equal queries come to B C by different ways of sharing, so each goes on by itself."""
    workload = problem(["E B C", "E B C", "A E B C"], EVENTS)
    model = MeasuredCosts()
    pricer = Pricer(workload, model)
    first: Labelling = dict.fromkeys(workload.transitions_of[0], ALONE)
    e = [str(state) for state in workload.template.states].index("E")
    number = workload.departures[0][e][0]
    third: Labelling = dict.fromkeys(workload.transitions_of[2], ALONE)
    labels = [first, {**first, number: e}, third]
    both = pricer.cost([first, first, third])
    together = pricer.cost(labels)
    last = next(n for n in workload.transitions_of[0] if n != number)
    charged = dict(model.alone(workload, 0, last))
    assert together >= both + sum(charged.values())


# Greedy and exhaustive


def test_exhaustive_says_when_it_is_too_much() -> None:
    with pytest.raises(WorkloadTooLargeError):
        exhaustive(problem(["A B C D E"] * 5, EVENTS), PAPER, most=50)


def test_exhaustive_knows_a_better_plan() -> None:
    workload = problem(["A B C"] * 2, EVENTS)
    assert exhaustive(workload, PAPER, known_cost=1.0) is None
    assert exhaustive(workload, PAPER, known_cost=OPTIMIZERS["gloria"].plan(workload, PAPER).cost) is not None


def test_conditions_tell_classes_apart() -> None:
    """Events of one type under different conditions are different states, and nothing is shared."""
    cheap = {"A": EventClass("kind", "A", "price < 10")}
    template = template_of([query("A B"), query("A B", classes=cheap)])
    workload = Problem(template, tuple(10.0 for _ in template.states))
    assert plan_text(workload, OPTIMIZERS["gloria"].plan(workload, PAPER).plan) == "A[price < 10]B:(2) AB:(1)"


def test_completion_looks_at_the_simplest_labels_of_many() -> None:
    """With hundreds of queries not all of their labels are looked at; what is found is what a few snapshots give."""
    types = "ABCDEFGH"
    workload = problem([" ".join(types)] * 3 + [" ".join(types[1:])], dict.fromkeys(types, 10.0))
    every = [labels for labels, _ in some_labels(workload, PAPER.fewest, 0)]
    simplest = some_labels(workload, PAPER.fewest, 0, 16)
    assert len(simplest) == 16 < len(every)
    assert all(len({*labels.values()} - {ALONE}) == 1 for labels, _ in simplest)
    assert all(labels in every for labels, _ in simplest)
    shared = [len(forms) for _, forms in simplest]
    assert shared == sorted(shared, reverse=True)
    more = some_labels(workload, PAPER.fewest, 0, 40)
    assert len(more) == 40
    assert {len({*labels.values()} - {ALONE}) for labels, _ in more} == {1, 2}
    few, _ = completed(workload, Effort(queries=2, labels=1))
    many, _ = completed(workload, Effort(queries=2))
    assert (
        many
        <= few
        < Pricer(workload, PAPER).cost([dict.fromkeys(transitions, ALONE) for transitions in workload.transitions_of])
    )
