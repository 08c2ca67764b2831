"""The workloads that the GLORIA authors published: trend queries on stock data, as texts.

``python -m tests.support.published`` plans them with the paper's costs, and prints processor times.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.optimizer import least
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.optimizers import OPTIMIZERS, optimize
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Query, Window
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult
from sparkext.planner.sharing.template import template_of

FOLDER = Path(__file__).parents[1] / "data" / "published"
"""The files, as their authors have published them."""

REPETITIONS = 5

_MINUTE = 60_000_000


def workload(name: str) -> list[Query]:
    """The queries of a file, whose types are tickers."""
    blocks = (FOLDER / name).read_text().strip().split("\n\n")
    return [_query(block) for block in blocks]


def names() -> list[str]:
    """Of the files."""
    return sorted(path.name for path in FOLDER.glob("*.txt"))


def drawn(name: str, seed: int = 1) -> Problem:
    """A workload with numbers of events drawn for its states, from 1 to 100."""
    template, random = template_of(workload(name)), Random(seed)
    return Problem(template, tuple(random.uniform(1, 100) for _ in template.states))


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
    match = re.fullmatch(r"(\w+)\((?:\*|(\w+)(?:\.(\w+))?)\)", text.strip())
    assert match is not None, text
    attribute = Attribute(match[3], "double") if match[3] else None
    return Aggregate(Function(match[1]), match[2], attribute)


def main() -> None:
    """What planning takes: all of it, the published rules alone, and greedy; and what the plans cost."""
    model, shown = PaperCosts(), ("gloria", "published", "greedy")
    print(f"| workload | {' | '.join(shown)} | cost, none = 1: {' | '.join(shown)} |")
    print("|---" * (1 + 2 * len(shown)) + "|")
    for name in names():
        problem = drawn(name)
        nothing = OPTIMIZERS["none"].plan(problem, model).cost
        cost_of = [least(partial(_planned, problem, model, optimizer), REPETITIONS) for optimizer in shown]
        times = " | ".join(f"{1000 * seconds:.0f} ms" for seconds, _ in cost_of)
        costs = " | ".join(f"{plan.cost / nothing:.3f}" for _, plan in cost_of)
        print(f"| {name.removesuffix('.txt')} | {times} | {costs} |", flush=True)


def _planned(problem: Problem, model: CostModel, optimizer: str) -> PlanResult:
    return optimize(Problem(problem.template, problem.events), model, optimizer).plan_result


if __name__ == "__main__":
    main()
