"""The optimizer alone, without Spark: planning time, size of the graph, memory, and cost of the plans.

Workloads are those of `benchmarks.stock`. Times are of the processor, from a template that is ready; the least of
several runs counts. Costs are parts of the cost when nothing is shared.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from benchmarks.bench import Bench, Benchmark
from benchmarks.kernel import query
from benchmarks.plots import Lines
from benchmarks.report import Result, Table
from benchmarks.stock import kleene, mixed, sequences
from sparkext.planner.gloria.generation import generate
from sparkext.planner.gloria.gloria import RULES, build
from sparkext.planner.gloria.graph_report import SearchedGraph
from sparkext.planner.gloria.kleene import plan_components
from sparkext.planner.gloria.node_pruning import prune_nodes
from sparkext.planner.gloria.path_search import search_paths
from sparkext.planner.optimizers import MODELS, OPTIMIZERS, cost_model, optimize
from sparkext.planner.problem.pricer import Pricer
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult, WorkloadTooLargeError
from sparkext.planner.sharing.template import template_of

SIZES = (20, 50, 100, 200, 500, 1000)
LENGTHS = (2, 4, 6, 8, 10)
LAYERS = (1, 2, 3)
KLEENE_QUERIES = 50


def problem(patterns: Sequence[str], seed: int = 1) -> Problem:
    """With numbers of events drawn for the states, from 1 to 100."""
    template = template_of([query(f"q{number}", text, window=None) for number, text in enumerate(patterns)])
    random = Random(seed)
    return Problem(template, tuple(random.uniform(1, 100) for _ in template.states))


def planned(workload: Problem, model: str, optimizer: str, repetitions: int, memory: bool = False) -> dict[str, Any]:
    """What an optimizer takes for a workload, and what comes out."""
    run = partial(_run, workload, optimizer, model)
    seconds, found = least(run, repetitions)
    nothing = OPTIMIZERS["none"].plan(workload, cost_model(model)).cost
    graph = found.search if isinstance(found.search, SearchedGraph) else None
    figures = {
        "model": model,
        "optimizer": optimizer,
        "queries": len(workload.template.queries),
        "states": len(workload.template.states),
        "transitions": len(workload.transitions),
        "ms": round(1000 * seconds, 2) or 0.01,
        "nodes": graph.generated if graph else None,
        "edges": graph.edges if graph else None,
        "cost": found.cost / nothing,
        "published_rules": None if found.published is None else found.published / nothing,
        "mb": None,
    }
    if memory:
        gc.collect()
        tracemalloc.start()
        run()
        figures["mb"] = round(tracemalloc.get_traced_memory()[1] / 1e6, 1)
        tracemalloc.stop()
    return figures


def least(run: Callable[[], PlanResult], repetitions: int) -> tuple[float, PlanResult]:
    """Least seconds of several runs, and what the last one returned."""
    best = float("inf")
    for _ in range(repetitions):
        gc.collect()
        begin = time.process_time()
        found = run()
        best = min(best, time.process_time() - begin)
    return best, found


def _run(workload: Problem, optimizer: str, model: str) -> PlanResult:
    return optimize(_fresh(workload), cost_model(model), optimizer).plan_result


def _fresh(workload: Problem) -> Problem:
    """Nothing remembered from the run before."""
    return Problem(workload.template, workload.events)


@dataclass(frozen=True, slots=True)
class Selection:
    """What to measure.

    Attributes:
        repetitions: Of each measurement, the least of which counts.
        largest: Most queries of a workload.
        models: Cost models.
        small: Workloads that the exhaustive optimizer plans too.
    """

    repetitions: int
    largest: int
    models: Sequence[str]
    small: int


def queries(asked: Selection) -> Iterator[dict[str, Any]]:
    """Against the number of queries."""
    for kind, draw in (("sequences", sequences), ("mixed", mixed)):
        for size in (size for size in SIZES if size <= asked.largest):
            workload = problem(draw(size, Random(size)))
            for model in asked.models:
                if model == "measured" and size > 200:
                    continue
                for optimizer in ("gloria", "published", "greedy"):
                    memory = optimizer == "gloria" and model == "paper"
                    yield {"kind": kind, **planned(workload, model, optimizer, asked.repetitions, memory)}


def kleene_parts(asked: Selection) -> Iterator[dict[str, Any]]:
    """Against the length of Kleene parts, and how deep they are nested."""
    count = min(KLEENE_QUERIES, asked.largest)
    shapes = [(length, 1) for length in LENGTHS] + [(6, layers) for layers in LAYERS[1:]]
    for length, layers in shapes:
        workload = problem(kleene(count, length, layers, Random(length)))
        for model in asked.models:
            for optimizer in ("gloria", "greedy"):
                found = planned(workload, model, optimizer, asked.repetitions)
                yield {"kind": "kleene", "length": length, "layers": layers, **found}


def pruning(asked: Selection) -> Iterator[dict[str, Any]]:
    """The graph with and without rules 3 and 4, and the cost of the path found; without rule 3 there is none."""
    ways = {
        "all rules": RULES,
        "no node pruning": tuple(rule for rule in RULES if rule is not prune_nodes),
        "no pruning": (generate, plan_components),
    }
    for kind, draw in (("sequences", sequences), ("mixed", mixed)):
        for size in (size for size in SIZES if size <= min(200, asked.largest)):
            workload, model = problem(draw(size, Random(size))), cost_model("paper")
            nothing = OPTIMIZERS["none"].plan(workload, model).cost
            for name, rules in ways.items():
                best = float("inf")
                for _ in range(asked.repetitions):
                    begin = time.process_time()
                    graph = build(Pricer(_fresh(workload), model), rules)
                    best = min(best, time.process_time() - begin)
                cost = None
                if name != "no pruning":
                    cost = graph.pricer.cost(search_paths(graph)) / nothing
                yield {
                    "kind": kind,
                    "rules": name,
                    "queries": size,
                    "ms": round(1000 * best, 2),
                    "nodes": graph.generated,
                    "edges": graph.edges,
                    "cost": cost,
                }


def small(asked: Selection) -> Iterator[dict[str, Any]]:
    """Cost and time of all optimizers where the exhaustive one is feasible: means over many workloads."""
    for model in asked.models:
        costs = cost_model(model)
        sums = {name: [0.0, 0.0] for name in OPTIMIZERS}
        many = 0
        for seed in range(asked.small):
            workload = problem(_few(Random(seed), min(3, asked.largest)), seed)
            try:
                least_cost = OPTIMIZERS["exhaustive"].plan(workload, costs).cost
            except WorkloadTooLargeError:
                continue
            many += 1
            for name in OPTIMIZERS:
                seconds, found = least(partial(_run, workload, name, model), asked.repetitions)
                sums[name][0] += found.cost / least_cost
                sums[name][1] += seconds
        for name, (cost, seconds) in sums.items():
            yield {
                "model": model,
                "optimizer": name,
                "workloads": many,
                "to_optimum": round(cost / many, 4),
                "ms": round(1000 * seconds / many, 2),
            }


def _few(random: Random, most: int) -> list[str]:
    """Two or more queries with the same middle, which every other time is a Kleene part."""
    types = random.sample("ABCDE", 4)
    middle = random.choice((f"({types[0]} {types[1]})+", f"{types[0]} {types[1]}"))
    return [
        " ".join((*random.sample("XY", random.randint(0, 1)), middle, random.choice(types[2:])))
        for _ in range(random.randint(2, most))
    ]


MEASUREMENTS: dict[str, Callable[[Selection], Iterator[dict[str, Any]]]] = {
    "queries": queries,
    "kleene": kleene_parts,
    "pruning": pruning,
    "small": small,
}


def run(bench: Bench) -> Result:
    """All measurements, and a plot of planning time with the costs of the paper."""
    asked = Selection(
        repetitions=bench.pick(2, 1, 1),
        largest=bench.pick(500, 20, 20),
        models=bench.pick(MODELS, ("paper",), ("paper",)),
        small=bench.pick(40, 3, 2),
    )
    found = {name: list(measurement(asked)) for name, measurement in MEASUREMENTS.items()}
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in found["queries"]:
        if row["model"] == "paper":
            lines.setdefault(f"{row['optimizer']}, {row['kind']}", []).append((row["queries"], row["ms"]))
    plot = Lines("Planning time, ms of processor time", "queries", lines)
    about = "workloads of the shape of published ones (`benchmarks/stock.py`), numbers of events drawn from 1 to 100"
    method = f"processor time, least of {asked.repetitions} runs; costs in parts of the cost when nothing is shared"
    titles = {
        "queries": "Against the number of queries",
        "kleene": "Against the length of Kleene parts, and how deep they are nested",
        "pruning": "What pruning is worth",
        "small": "Where the exhaustive optimizer is feasible: means over many workloads",
    }
    tables = [Table(titles[name], rows) for name, rows in found.items()]
    return Result([], about, method, tables, {"optimizer": plot})


BENCHMARK = Benchmark("optimizer", "Planning time, and what plans cost", run)
