"""What the optimizers find depends neither on the order of registration nor on hashes of texts."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType

import pytest

from sparkext.planner.budget import Budget
from sparkext.planner.gloria.graph import Graph, Node, Pool
from sparkext.planner.gloria.graph_report import SearchedGraph
from sparkext.planner.optimizers import OPTIMIZERS, optimize
from sparkext.planner.problem.canonical import Canonical, canonical
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import SharingPlan, Steps, snapshot_name
from sparkext.planner.sharing.template import Template, template_of
from tests.support.optimizer_workloads import MODELS, problem, random_problem

Found = dict[tuple[str, str], set[tuple[tuple[int, ...], str]]]


def shown(workload: Problem, plan: SharingPlan, numbers: list[int]) -> Found:
    """A plan by the texts of states, its queries with the numbers given."""
    states = workload.template.states
    return {
        (str(states[t.source]), str(states[t.target])): {
            (
                tuple(sorted(numbers[query] for query in qset.queries)),
                snapshot_name(workload.template, qset) or "",
            )
            for qset in t.qsets
        }
        for t in plan.transitions
    }


def shuffled(workload: Problem, random: Random) -> tuple[Problem, list[int]]:
    """The same queries in another order, and the number that each has in the first."""
    queries = workload.template.queries
    order = list(range(len(queries)))
    random.shuffle(order)
    events = dict(zip(workload.template.states, workload.events, strict=True))
    template = template_of([queries[query] for query in order])
    return Problem(template, tuple(events[state] for state in template.states)), order


def among_equals(workload: Problem) -> list[int]:
    """Per query the first that is the same but for its name."""
    seen: dict[object, int] = {}
    return [
        seen.setdefault((str(query.pattern), query.classes, query.window), number)
        for number, query in enumerate(workload.template.queries)
    ]


@pytest.mark.parametrize("optimizer", ["gloria", "published", "greedy", "sharon", "hamlet"])
@pytest.mark.parametrize("model", MODELS)
def test_order_of_registration(model: str, optimizer: str) -> None:
    """Equal queries may change places."""
    for seed in range(25):
        random = Random(seed)
        workload, _ = random_problem(random)
        reordered, order = shuffled(workload, random)
        first = OPTIMIZERS[optimizer].plan(workload, MODELS[model])
        second = OPTIMIZERS[optimizer].plan(reordered, MODELS[model])
        equals = among_equals(workload)
        assert first.cost == second.cost, seed
        assert first.published == second.published, seed
        assert shown(workload, first.plan, equals) == shown(reordered, second.plan, [equals[q] for q in order]), seed


def test_longest_first() -> None:
    """As the paper has them in its examples, so that nodes have the numbers they have there."""
    events = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6}
    workload = problem(["E C D", "F A B C D", "A B C D"], events)
    ordered = canonical(workload)
    assert ordered.queries == (1, 2, 0)
    assert [str(query.pattern) for query in ordered.problem.template.queries] == ["F A B C D", "A B C D", "E C D"]
    assert ordered.problem.events == (6, 1, 2, 3, 4, 5)
    assert canonical(ordered.problem).problem is ordered.problem


def test_graph_is_of_the_given_problem() -> None:
    workload = problem(["E C D", "F A B C D", "A B C D"], {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3})
    for optimizer in ("gloria", "published", "greedy"):
        search = OPTIMIZERS[optimizer].plan(workload, MODELS["paper"]).search
        assert isinstance(search, SearchedGraph)
        for pool in search.pools:
            having = {query for number in pool.transitions for query in workload.transitions[number].queries}
            assert set(pool.queries) == having
            for node in pool.nodes:
                assert sorted(query for qset in pool.qsets(node) for query in qset.queries) == list(pool.queries)
                assert node.to_end >= 0


SCRIPT = """
from random import Random
from sparkext.planner.gloria.graph_report import SearchedGraph
from sparkext.planner.optimizers import OPTIMIZERS
from tests.support.optimizer_workloads import MODELS, random_problem
for seed in range(12):
    workload, _ = random_problem(Random(seed))
    for model in MODELS.values():
        for optimizer in ("gloria", "published", "greedy", "sharon", "hamlet"):
            found = OPTIMIZERS[optimizer].plan(workload, model)
            search = found.search if isinstance(found.search, SearchedGraph) else None
            print(repr(found.cost), found.plan, search)
"""


def test_hashes() -> None:
    """The same with any seed of Python's hashes."""
    root = Path(__file__).parents[2]
    printed = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            check=True,
            capture_output=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(printed) == 1


def test_what_is_kept_has_no_graph() -> None:
    """What a run keeps of its plan leads to nothing that the search has made, and prices plans as before."""
    workload = problem(["A B C D", "F A B C D", "E C D"], {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3})
    optimized = optimize(replace(workload, budget=Budget(9.0, lambda: False)), MODELS["paper"], "gloria")
    assert optimized.problem.transitions  # worked out, and remembered there
    kept = optimized.kept()
    assert isinstance(kept.plan_result.search, SearchedGraph)
    assert sum(len(pool.nodes) for pool in kept.plan_result.search.pools) == kept.plan_result.search.generated
    kinds = [type(value) for value in reachable(kept)]
    assert Template in kinds
    assert not {Graph, Node, Pool, Pricer, Canonical, Steps, FunctionType}.intersection(kinds)
    assert "transitions" not in vars(kept.problem)
    assert kept.cost_by("none", Budget()) == optimized.cost_by("none", Budget()) > kept.cost_by("gloria", Budget())


def reachable(root: object) -> list[object]:
    """All values that a value leads to, but for modules and classes with what they define."""
    seen: dict[int, object] = {}
    ahead = [root]
    while ahead:
        value = ahead.pop()
        if id(value) not in seen and not isinstance(value, type | ModuleType):
            seen[id(value)] = value
            ahead += gc.get_referents(value)
    return list(seen.values())
