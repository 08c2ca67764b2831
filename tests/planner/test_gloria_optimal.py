"""GLORIA finds what the exhaustive optimizer finds, also where the published rules do not."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.costs.measured import MeasuredCosts
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.exhaustive.exhaustive import exhaustive
from sparkext.planner.gloria import prospects
from sparkext.planner.gloria.prospects import KNOWN_FROM
from sparkext.planner.optimizers import OPTIMIZERS, share_what_is_equal
from sparkext.planner.patterns.query import Window
from sparkext.planner.plan_completion.options import all_labels
from sparkext.planner.problem.burst_labels import is_burst
from sparkext.planner.problem.labels import ALONE, labels_of, plan_of
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import WorkloadTooLargeError
from sparkext.planner.sharing.invalid import invalid
from tests.support.gloria_texts import plan_text
from tests.support.optimizer_workloads import CHEAP_FORMS, MODELS, in_runs, problem, random_problem
from tests.support.tiers import EXAMPLES

PAPER = PaperCosts()


@pytest.mark.parametrize(
    ("model", "workloads", "largest"), [("paper", EXAMPLES // 2, 600), ("measured", EXAMPLES // 8, 150)]
)
@pytest.mark.parametrize("known_from", [0, KNOWN_FROM])
def test_random_workloads(
    model: str, workloads: int, largest: int, known_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As good as all plans there are, with proof; `tests.support.optimizer_workloads` draws many more."""
    monkeypatch.setattr(prospects, "KNOWN_FROM", known_from)
    costs, planned, seed = MODELS[model], 0, 0
    while planned < workloads:
        workload, text = random_problem(Random(seed))
        seed += 1
        best = OPTIMIZERS["gloria"].plan(workload, costs)
        try:
            truth = exhaustive(workload, costs, largest, best.cost)
        except WorkloadTooLargeError:
            continue
        planned += 1
        assert truth is not None, text
        assert best.cost == pytest.approx(plan_cost(workload, costs, truth), rel=1e-9), text
        assert best.bound == pytest.approx(best.cost, rel=1e-9), text


@pytest.mark.parametrize("model", MODELS)
def test_optimizers_agree_on_what_is_a_plan(model: str) -> None:
    """Valid, with the cost that they say, and none is better than GLORIA."""
    for seed in range(60):
        workload, text = random_problem(Random(seed))
        costs = {}
        for name in ("gloria", "published", "greedy", "none", "sharon", "hamlet"):
            planned = OPTIMIZERS[name].plan(workload, MODELS[model])
            assert not list(invalid(workload.template, planned.plan)), (name, text)
            assert planned.cost == pytest.approx(plan_cost(workload, MODELS[model], planned.plan), rel=1e-9)
            costs[name] = planned.cost
        assert costs["gloria"] <= min(costs.values()) * (1 + 1e-9), text


@pytest.mark.parametrize("model", MODELS)
def test_charges_of_labels_are_the_cost_of_their_plan(model: str) -> None:
    """Any valid labels, also such as no optimizer would choose."""
    costs = MODELS[model]
    for seed in range(40):
        random = Random(seed)
        workload, text = random_problem(random)
        every = [
            [labels for labels, _ in all_labels(workload, costs.fewest, q)] for q in range(len(workload.transitions_of))
        ]
        for _ in range(4):
            labels = [random.choice(labels_of_query) for labels_of_query in every]
            plan = plan_of(workload, "drawn", labels)
            assert not list(invalid(workload.template, plan)), text
            pricer, cost = Pricer(workload, costs), plan_cost(workload, costs, plan)
            # A label may name more that ends its bursts than those that have it need; those of a plan do not.
            exact = labels_of(workload, plan)
            assert pricer.cost(exact) == pytest.approx(plan_cost(workload, costs, plan_of(workload, "same", exact)))
            assert pricer.cost(labels) >= cost * (1 - 1e-9), text
            if not any(is_burst(label) for labels_of_query in labels for label in labels_of_query.values()):
                assert pricer.cost(labels) == pytest.approx(cost), text


@pytest.mark.parametrize("costs", [MODELS["measured"], CHEAP_FORMS], ids=["measured", "cheap forms"])
def test_no_plan_gets_dearer_without_those_who_gain_nothing(costs: MeasuredCosts) -> None:
    """Whatever labels they have, and whatever others share."""
    found = 0
    for seed in range(150):
        random = Random(seed)
        workload, text = random_problem(random)
        workload = in_runs(random, workload) if seed % 3 == 0 else workload
        gain_nothing = costs.gain_nothing(workload)
        found += len(gain_nothing) > 0
        every = [
            [labels for labels, _ in all_labels(workload, costs.fewest, q)] for q in range(len(workload.transitions_of))
        ]
        pricer = Pricer(workload, costs)
        for _ in range(10):
            labels = [random.choice(labels_of_query) for labels_of_query in every]
            fewer = [dict.fromkeys(own, ALONE) if query in gain_nothing else own for query, own in enumerate(labels)]
            assert pricer.cost(fewer) <= pricer.cost(labels) * (1 + 1e-9), text
    assert found > 5


def test_sparse_events_of_many_windows_are_not_searched() -> None:
    """Rows are asked for nearly as often as there are events, and each takes longer than an update."""
    patterns = [f"{before} (P T)+ {after}" for before in ("R", "A R", "C R") for after in ("D", "C", "D R", "T D")]
    windows = [Window(120, 30), Window(60, 10), Window(20, 5)]
    events = {"R": 0.8, "A": 0.5, "P": 0.7, "T": 2.0, "D": 0.6, "C": 0.4}
    pool = problem(patterns * 3, events, [window for window in windows for _ in patterns])
    planned = OPTIMIZERS["gloria"].plan(pool, MODELS["measured"])
    assert planned.search is None
    assert (
        planned.bound
        == planned.cost
        == pytest.approx(share_what_is_equal(pool, MODELS["measured"], "").plan_result.cost)
    )
    many = problem(patterns * 3, {**events, "P": 70.0, "T": 200.0}, [window for window in windows for _ in patterns])
    assert OPTIMIZERS["gloria"].plan(many, MODELS["measured"]).search is not None


COUNTEREXAMPLES = {
    "Lemma 5.2 prunes snapshots that are more frequent, and need not be turned into values at the end": (
        ["(A C)+", "(A C)+"],
        {"A": 4, "C": 5},
        88,
        83,
        "AC:(1,2)^C CA:(1,2)^C",
    ),
    "all or none in a Kleene part of which two queries have only the middle in common": (
        ["(C (A B)+ D)+", "(C (A B)+ E)+"],
        {"A": 30, "B": 30, "C": 2, "D": 2, "E": 2},
        3852,
        374,
        "CA:(1,2)^C AB:(1,2)^C BA:(1,2)^C BD:(1) BE:(2) DC:(1) EC:(2)",
    ),
    "a Q-set is split": (
        ["B C A G", "E B C A H", "E B C A G", "E B C A"],
        {"A": 10, "B": 5, "C": 1, "E": 1, "G": 8, "H": 2},
        240,
        88,
        "EB:(2,3,4)^E BC:(1),(2,3,4)^E CA:(1,3)^C,(2,4)^E AH:(2) AG:(1,3)^C",
    ),
    "one query is left out of a merge": (
        ["E A B", "E A B H", "E A B H"],
        {"A": 10, "B": 20, "E": 20, "H": 5},
        1280,
        1170,
        "EA:(1,2,3) AB:(1),(2,3)^A BH:(2,3)^A",
    ),
    "a query that ends early makes sharing too dear for both": (
        ["(D A)+ H", "(D A)+"],
        {"A": 3, "D": 2, "H": 2},
        38,
        34,
        "AD:(1,2) DA:(1,2) AH:(1)",
    ),
}


@pytest.mark.parametrize("what", COUNTEREXAMPLES)
def test_published_rules_miss(what: str) -> None:
    patterns, events, published, cost, plan = COUNTEREXAMPLES[what]
    workload = problem(patterns, {name: float(number) for name, number in events.items()})
    planned = OPTIMIZERS["gloria"].plan(workload, PAPER)
    truth = exhaustive(workload, PAPER)
    assert truth is not None
    assert plan_cost(workload, PAPER, truth) == cost
    assert (planned.published, planned.cost, planned.bound) == (published, cost, cost)
    assert sorted(plan_text(workload, planned.plan).split()) == sorted(plan.split())


OVERLAPPING = [
    ["(A B)+", "(A B C)+"],
    ["(A B)+ D", "(A B C)+ D"],
    ["D (A B)+", "D (A B C)+", "D (A B)+"],
    ["(A B)+", "(C (A B)+)+"],
    ["(C (A B)+ D)+", "(A B)+ D", "(C A B D)+"],
    ["E (A B)+ C", "E (A (B C)+)+"],
    ["(A B)+", "(B A)+", "A B"],
    ["(A+ B)+", "(A B+)+"],
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("patterns", OVERLAPPING, ids=str)
def test_overlapping_kleene_sub_patterns(patterns: list[str], model: str) -> None:
    """Which the paper leaves as future work: valid, and optimal with any numbers of events."""
    costs, random = MODELS[model], Random(len(patterns))
    for _ in range(3):
        workload: Problem = problem(patterns, {name: float(random.choice((1, 3, 10, 40))) for name in "ABCDE"})
        planned = OPTIMIZERS["gloria"].plan(workload, costs)
        assert not list(invalid(workload.template, planned.plan))
        assert planned.bound == pytest.approx(planned.cost, rel=1e-9)
        try:
            truth = exhaustive(workload, costs, 1500, planned.cost)
        except WorkloadTooLargeError:
            continue
        assert truth is not None
        assert plan_cost(workload, costs, truth) == pytest.approx(planned.cost, rel=1e-9)


def test_overlapping_kleene_sub_patterns_share_what_they_have_in_common() -> None:
    workload = problem(["D (A B)+ E", "D (A B)+ C", "D (A B C)+ E"], {"A": 30, "B": 30, "C": 2, "D": 2, "E": 2})
    planned = OPTIMIZERS["gloria"].plan(workload, PAPER)
    assert plan_text(workload, planned.plan) == (
        "DA:(1,2)^D,(3) AB:(1,2)^D,(3) BA:(1,2)^D BE:(1) BC:(2),(3) CA:(3) CE:(3)"
    )
    assert (planned.cost, planned.bound, OPTIMIZERS["none"].plan(workload, PAPER).cost) == (1452, 1452, 4930)


@pytest.mark.parametrize(
    ("patterns", "events", "cost"),
    [
        (
            ["(B (E D)+)+ F", "(E A C)+ F", "E A C F", "B F D A E", "F D A E"],
            {"A": 10, "B": 10, "C": 2, "D": 12, "E": 30, "F": 30},
            4100,
        ),
        (["E D E", "(A E B D)+ C", "B D E", "E B D A"], {"A": 12, "B": 2, "C": 10, "D": 2, "E": 1}, 89),
    ],
    ids=["E A C", "E B D"],
)
def test_one_goes_round_where_another_passes_once(patterns: list[str], events: dict[str, float], cost: float) -> None:
    """A form is the same whether it has come by a way that goes on in a cycle or not."""
    workload = problem(patterns, events)
    best, truth = OPTIMIZERS["gloria"].plan(workload, PAPER), exhaustive(workload, PAPER)
    assert truth is not None
    assert (best.cost, best.bound, plan_cost(workload, PAPER, truth)) == (cost, cost, cost)


def test_workloads_without_transitions() -> None:
    """In canonical order or not."""
    for patterns in (["A", "B | C", "A"], ["B | C", "A"]):
        workload = problem(patterns, {"A": 2, "B": 3, "C": 4})
        for optimizer in OPTIMIZERS.values():
            assert optimizer.plan(workload, PAPER).plan.transitions == ()
