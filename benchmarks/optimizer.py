"""The optimizer alone, without Spark: planning time, size of the graph, memory, and cost of the plans::

    python -m benchmarks.optimizer --json docs/optimizer.json --svg docs/optimizer.svg

Workloads are drawn to look like those that the GLORIA authors published: queries with beginnings and ends of
their own round a middle that some share, or round a nested Kleene part. Times are of the processor, from a
template that is ready; the least of several runs counts. Costs are parts of the cost when nothing is shared.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.kernel import query
from planner.gloria.costs import Pricer
from planner.gloria.exhaustive import WorkloadTooLargeError
from planner.gloria.generation import generate
from planner.gloria.gloria import RULES, Found, build
from planner.gloria.kleene import plan_components
from planner.gloria.node_pruning import prune_nodes
from planner.gloria.path_search import search_paths
from planner.gloria.problem import Problem
from planner.optimizers import MODELS, OPTIMIZERS, cost_model
from planner.template import template

SIZES = (20, 50, 100, 200, 500, 1000)
LENGTHS = (2, 4, 6, 8, 10)
LAYERS = (1, 2, 3)
KLEENE_QUERIES = 50
SMALL = 40
"""Workloads that the exhaustive optimizer can plan too."""
OTHERS = [f"T{number}" for number in range(80)]
"""Types that queries begin and end with."""


def sequences(queries: int, random: Random) -> list[str]:
    """Six types: two of the query's own at the ends, and a middle that one query in twenty has too."""
    middles = [f"M{2 * number} M{2 * number + 1}" for number in range(max(1, min(20, queries // 5)))]
    return [" ".join((before, "S", random.choice(middles), "L", after)) for before, after in _ends(queries, random)]


def mixed(queries: int, random: Random) -> list[str]:
    """One query in six has a nested Kleene part, all others a window of five from the same chain of types."""
    chain = [f"M{number}" for number in range(24)]
    patterns = []
    for number, (before, after) in enumerate(_ends(queries, random)):
        if number % 6:
            place = random.randrange(len(chain) - 3)
            patterns.append(" ".join((before, "S", *chain[place : place + 3], after)))
        else:
            place = random.randrange(len(chain) - 11)
            inner = chain[place : place + 8]
            patterns.append(f"(S ({' '.join(inner)})+ {chain[place + 8]})+ {chain[place + 9]} {after}")
    return patterns


def kleene(queries: int, length: int, layers: int, random: Random) -> list[str]:
    """Nested Kleene parts with so many types innermost; five queries have the same."""
    parts = []
    for number in range(max(1, queries // 5)):
        text = f"({' '.join(f'K{number}_{place}' for place in range(length))})+"
        for layer in range(1, layers):
            text = f"(B{number}_{layer} {text} A{number}_{layer})+"
        parts.append(text)
    return [f"S {random.choice(parts)} {after}" for _, after in _ends(queries, random)]


def _ends(queries: int, random: Random) -> Iterator[tuple[str, str]]:
    for _ in range(queries):
        before, after = random.sample(OTHERS, 2)
        yield before, after


def problem(patterns: Sequence[str], seed: int = 1) -> Problem:
    """With numbers of events drawn for the states, from 1 to 100."""
    machine = template([query(f"q{number}", text, window=None) for number, text in enumerate(patterns)])
    random = Random(seed)
    return Problem(machine, tuple(random.uniform(1, 100) for _ in machine.states))


def planned(workload: Problem, model: str, optimizer: str, repetitions: int, memory: bool = False) -> dict[str, Any]:
    """What an optimizer takes for a workload, and what comes out."""
    run = partial(_run, workload, optimizer, model)
    seconds, found = least(run, repetitions)
    nothing = OPTIMIZERS["none"](workload, cost_model(model)).cost
    figures = {
        "model": model,
        "optimizer": optimizer,
        "queries": len(workload.template.queries),
        "states": len(workload.template.states),
        "transitions": len(workload.transitions),
        "ms": round(1000 * seconds, 2),
        "nodes": found.graph.generated if found.graph else None,
        "edges": found.graph.edges if found.graph else None,
        "cost": found.cost / nothing,
        "published_rules": None if found.published is None else found.published / nothing,
    }
    if memory:
        gc.collect()
        tracemalloc.start()
        run()
        figures["mb"] = round(tracemalloc.get_traced_memory()[1] / 1e6, 1)
        tracemalloc.stop()
    return figures


def least(run: Callable[[], Found], repetitions: int) -> tuple[float, Found]:
    """Least seconds of several runs, and what the last one returned."""
    best = float("inf")
    for _ in range(repetitions):
        gc.collect()
        begin = time.process_time()
        found = run()
        best = min(best, time.process_time() - begin)
    return best, found


def _run(workload: Problem, optimizer: str, model: str) -> Found:
    return OPTIMIZERS[optimizer](_fresh(workload), cost_model(model))


def _fresh(workload: Problem) -> Problem:
    """Nothing remembered from the run before."""
    return Problem(workload.template, workload.events)


@dataclass(frozen=True, slots=True)
class Asked:
    """What to measure.

    Attributes:
        repetitions: Of each measurement, the least of which counts.
        largest: Most queries of a workload.
        models: Cost models.
    """

    repetitions: int
    largest: int
    models: Sequence[str]


def queries(asked: Asked) -> Iterator[dict[str, Any]]:
    """Against the number of queries."""
    for kind, draw in (("sequences", sequences), ("mixed", mixed)):
        for size in (size for size in SIZES if size <= asked.largest):
            workload = problem(draw(size, Random(size)))
            for model in asked.models:
                if model == "measured" and size > 200:
                    continue
                for optimizer in ("gloria", "greedy"):
                    memory = optimizer == "gloria" and model == "paper"
                    yield {"kind": kind, **planned(workload, model, optimizer, asked.repetitions, memory)}


def kleene_parts(asked: Asked) -> Iterator[dict[str, Any]]:
    """Against the length of Kleene parts, and how deep they are nested."""
    count = min(KLEENE_QUERIES, asked.largest)
    shapes = [(length, 1) for length in LENGTHS] + [(6, layers) for layers in LAYERS[1:]]
    for length, layers in shapes:
        workload = problem(kleene(count, length, layers, Random(length)))
        for model in asked.models:
            for optimizer in ("gloria", "greedy"):
                found = planned(workload, model, optimizer, asked.repetitions)
                yield {"kind": "kleene", "length": length, "layers": layers, **found}


def pruning(asked: Asked) -> Iterator[dict[str, Any]]:
    """The graph with and without rules 3 and 4, and the cost of the path found; without rule 3 there is none."""
    ways = {
        "all rules": RULES,
        "no node pruning": tuple(rule for rule in RULES if rule is not prune_nodes),
        "no pruning": (generate, plan_components),
    }
    for kind, draw in (("sequences", sequences), ("mixed", mixed)):
        for size in (size for size in SIZES if size <= min(200, asked.largest)):
            workload, model = problem(draw(size, Random(size))), cost_model("paper")
            nothing = OPTIMIZERS["none"](workload, model).cost
            for name, rules in ways.items():
                best = float("inf")
                for _ in range(asked.repetitions):
                    begin = time.process_time()
                    graph = build(_fresh(workload), model, rules)
                    best = min(best, time.process_time() - begin)
                cost = None
                if name != "no pruning":
                    pricer = Pricer(graph.problem, model)
                    cost = pricer.cost(search_paths(graph, pricer)) / nothing
                yield {
                    "kind": kind,
                    "rules": name,
                    "queries": size,
                    "ms": round(1000 * best, 2),
                    "nodes": graph.generated,
                    "edges": graph.edges,
                    "cost": cost,
                }


def small(asked: Asked) -> Iterator[dict[str, Any]]:
    """Cost and time of all optimizers where the exhaustive one is feasible: means over many workloads."""
    for model in asked.models:
        costs = cost_model(model)
        sums = {name: [0.0, 0.0] for name in ("exhaustive", "gloria", "published rules", "greedy", "none")}
        many = 0
        for seed in range(SMALL):
            workload = problem(_few(Random(seed), min(3, asked.largest)), seed)
            try:
                least_cost = OPTIMIZERS["exhaustive"](workload, costs).cost
            except WorkloadTooLargeError:
                continue
            many += 1
            for name in OPTIMIZERS:
                seconds, found = least(partial(_run, workload, name, model), asked.repetitions)
                sums[name][0] += found.cost / least_cost
                sums[name][1] += seconds
                if found.published is not None and name == "gloria":
                    sums["published rules"][0] += found.published / least_cost
        for name, (cost, seconds) in sums.items():
            yield {
                "model": model,
                "optimizer": name,
                "workloads": many,
                "to_optimum": round(cost / many, 4),
                "ms": None if name == "published rules" else round(1000 * seconds / many, 2),
            }


def _few(random: Random, most: int) -> list[str]:
    """Two or more queries with the same middle, which every other time is a Kleene part."""
    types = random.sample("ABCDE", 4)
    middle = random.choice((f"({types[0]} {types[1]})+", f"{types[0]} {types[1]}"))
    return [
        " ".join((*random.sample("XY", random.randint(0, 1)), middle, random.choice(types[2:])))
        for _ in range(random.randint(2, most))
    ]


MEASUREMENTS: dict[str, Callable[[Asked], Iterator[dict[str, Any]]]] = {
    "queries": queries,
    "kleene": kleene_parts,
    "pruning": pruning,
    "small": small,
}

COLORS = {"gloria": "#1f6feb", "greedy": "#d97706"}
DASHES = {"sequences": "", "mixed": "6 4"}


def plot(figures: Sequence[dict[str, Any]]) -> str:
    """Planning time against the number of queries, both axes logarithmic, as SVG; with the paper's costs."""
    shown = [f for f in figures if f["model"] == "paper"]
    width, height, left, bottom, top = 640, 400, 70, 50, 30
    across = (min(SIZES), max(f["queries"] for f in shown))
    up = (1.0, 10 ** len(str(int(max(f["ms"] for f in shown)))))

    def x(queries: float) -> float:
        return left + (width - left - 150) * _log(queries, *across)

    def y(ms: float) -> float:
        return height - bottom - (height - bottom - top) * _log(max(ms, up[0]), *up)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{left}" y="18">Planning time, ms of processor time</text>',
        f'<text x="{x(across[0])}" y="{height - 10}">queries</text>',
    ]
    for size in sorted({f["queries"] for f in shown}):
        parts.append(f'<text x="{x(size):.1f}" y="{height - bottom + 18}" text-anchor="middle">{size}</text>')
    ms = up[0]
    while ms <= up[1]:
        parts.append(f'<line x1="{left}" x2="{width - 150}" y1="{y(ms):.1f}" y2="{y(ms):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{y(ms) + 4:.1f}" text-anchor="end">{ms:g}</text>')
        ms *= 10
    for kind, dash in DASHES.items():
        for optimizer, color in COLORS.items():
            line = [f for f in shown if f["kind"] == kind and f["optimizer"] == optimizer]
            points = " ".join(f"{x(f['queries']):.1f},{y(f['ms']):.1f}" for f in line)
            style = f'fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"'
            parts.append(f'<polyline points="{points}" {style}/>')
            last = line[-1]
            where = f'x="{x(last["queries"]) + 8:.1f}" y="{y(last["ms"]) + 4:.1f}"'
            parts.append(f'<text {where} fill="{color}">{optimizer}, {kind}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _log(value: float, low: float, high: float) -> float:
    return log(value / low) / log(high / low)


def main() -> None:
    """Measure, print tables; with ``--json`` and ``--svg`` also write the figures and a plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=sorted(MEASUREMENTS), default=list(MEASUREMENTS))
    parser.add_argument("--repetitions", type=int, default=3, help="of each measurement, the least of which counts")
    parser.add_argument("--largest", type=int, default=max(SIZES), help="most queries of a workload")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path, help="needs the measurement of queries")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    asked = parser.parse_args()
    what = Asked(asked.repetitions, asked.largest, asked.models)
    figures: dict[str, list[dict[str, Any]]] = {}
    for name in asked.only:
        figures[name] = []
        for row in MEASUREMENTS[name](what):
            if not figures[name]:
                print(f"\n{name}\n" + " ".join(f"{column:>12}" for column in row))
            figures[name].append(row)
            print(" ".join(f"{_shown(value):>12}" for value in row.values()), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n")
    if asked.svg:
        asked.svg.write_text(plot(figures["queries"]))


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
