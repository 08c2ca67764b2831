"""The workloads that the GLORIA authors published: trend queries on stock data, as texts.

``python -m tests.published`` plans them with the paper's costs, and prints processor times.
"""

from __future__ import annotations

import gc
import os
import re
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.optimizer import least
from planner.attribute import Attribute
from planner.gloria.canonical import canonical
from planner.gloria.costs import CostModel, Pricer
from planner.gloria.gloria import Found, build
from planner.gloria.labels import plan_of
from planner.gloria.paper import PaperCosts
from planner.gloria.path_search import search_paths
from planner.gloria.problem import Problem
from planner.optimizers import OPTIMIZERS, optimize
from planner.pattern import variables
from planner.pattern_grammar import lexemes, parse_pattern
from planner.query import Aggregate, EventClass, Function, Query, Window
from planner.sharing import SharingPlan
from planner.template import template

FOLDER = Path(
    os.environ.get("SPARKEXT_WORKLOADS")
    or Path(__file__).parent.parent.parent / "shared" / "data" / "workloads" / "stock"
)
"""Where the files may be found; they are not part of this project. ``SPARKEXT_WORKLOADS`` may name the folder."""

REPETITIONS = 5

_MINUTE = 60_000_000


def workload(name: str) -> list[Query]:
    """The queries of a file, whose types are tickers."""
    blocks = (FOLDER / name).read_text().strip().split("\n\n")
    return [_query(block) for block in blocks]


def names() -> list[str]:
    """Of the files; none when they are not there."""
    return sorted(path.name for path in FOLDER.glob("*.txt"))


def drawn(name: str, seed: int = 1) -> Problem:
    """A workload with numbers of events drawn for its states, from 1 to 100."""
    machine, random = template(workload(name)), Random(seed)
    return Problem(machine, tuple(random.uniform(1, 100) for _ in machine.states))


def _query(block: str) -> Query:
    lines = dict(line.split(" ", 1) for line in block.splitlines()[1:])
    text = re.sub(r",", " ", lines["PATTERN"]).replace("SEQ", "")
    pattern = parse_pattern(lexemes(text, 0), 0, len(text))
    attribute = re.fullmatch(r"(\w+)\.(\w+) *> *(\d+)", lines["WHERE"].strip())
    assert attribute is not None
    classes = tuple(
        (name, EventClass("ticker", name, f"vol > {attribute[3]}" if name == attribute[1] else None))
        for name in variables(pattern)
    )
    within, slide = (int(number) * _MINUTE for number in re.findall(r"(\d+) min", lines["WITHIN"]))
    wanted = lines["RETURN"].split(", ")[1]
    return Query(block.splitlines()[0], pattern, classes, (_aggregate(wanted),), Window(within, slide))


def _aggregate(text: str) -> Aggregate:
    found = re.fullmatch(r"(\w+)\((?:\*|(\w+)(?:\.(\w+))?)\)", text.strip())
    assert found is not None, text
    attribute = Attribute(found[3], "double") if found[3] else None
    return Aggregate(Function(found[1]), found[2], attribute)


def main() -> None:
    """What planning takes: all of it, the published rules alone, and greedy; and what the plans cost."""
    model = PaperCosts()
    print("| workload | gloria | published rules alone | greedy | cost, none = 1: gloria | published rules | greedy |")
    print("|---|---|---|---|---|---|---|")
    for name in names():
        problem = drawn(name)
        runs = [partial(_planned, problem, model, optimizer) for optimizer in ("gloria", "greedy")]
        (all_of_it, found), (lightest, other) = (least(run, REPETITIONS) for run in runs)
        gc.disable()
        alone, _ = least(partial(_published_rules, problem, model), REPETITIONS)
        gc.enable()
        nothing = OPTIMIZERS["none"](problem, model).cost
        assert found.published is not None
        times = " | ".join(f"{1000 * seconds:.0f} ms" for seconds in (all_of_it, alone, lightest))
        costs = " | ".join(f"{cost / nothing:.3f}" for cost in (found.cost, found.published, other.cost))
        print(f"| {name.removesuffix('.txt')} | {times} | {costs} |")


def _planned(problem: Problem, model: CostModel, optimizer: str) -> Found:
    return optimize(Problem(problem.template, problem.events), model, optimizer).found


def _published_rules(problem: Problem, model: CostModel) -> SharingPlan:
    """From the problem to a plan, as the paper has it."""
    ordered = canonical(Problem(problem.template, problem.events))
    graph = build(ordered.problem, model)
    return ordered.plan(plan_of(ordered.problem, "gloria", search_paths(graph, Pricer(ordered.problem, model))))


if __name__ == "__main__":
    main()
