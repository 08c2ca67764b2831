"""Random small workloads for the optimizer, and the soak that holds it against the exhaustive one::

python -m tests.support.optimizer_workloads --workloads 20000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from sparkext.planner.costs.measured import Constants, MeasuredCosts
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.exhaustive.exhaustive import exhaustive
from sparkext.planner.gloria import prospects
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Aggregate, Function, Window
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import WorkloadTooLargeError
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.template import template_of
from tests.support.pools import COUNT, V, query

MODELS: dict[str, CostModel] = {"paper": PaperCosts(), "measured": MeasuredCosts()}
CHEAP_FORMS = MeasuredCosts(Constants(lane=50.0, multiply=0.1))
"""With which sharing pays more often."""

LARGEST = 4000
"""Most parts of plans that the exhaustive optimizer goes on with before a workload counts as too large."""


def problem(
    patterns: Sequence[str],
    events: Mapping[str, float],
    windows: Sequence[Window | None] = (),
    aggregates: Sequence[Sequence[Aggregate]] = (),
) -> Problem:
    """A problem whose event classes are types.

    Args:
        patterns: Per query.
        events: Per type, how many there are in a window.
        windows: Per query; unbounded ones when there are none.
        aggregates: Per query; COUNT(*) when there are none.
    """
    given = windows or [None] * len(patterns)
    asked = aggregates or [()] * len(patterns)
    drawn = zip(patterns, given, asked, strict=True)
    template = template_of([query(text, *aggregates_of, window=window) for text, window, aggregates_of in drawn])
    return Problem(template, tuple(float(events[str(state.event)]) for state in template.states))


def in_runs(random: Random, drawn: Problem) -> Problem:
    """The problem with events of which those of some classes come many in a row."""
    return replace(drawn, runs=tuple(number * random.choice((1.0, 0.3, 0.05)) for number in drawn.events))


def random_problem(random: Random) -> tuple[Problem, str]:
    """A problem of 2 to 5 queries over up to 6 types, many of which overlap, and what it is as text."""
    types = "ABCDEF"[: random.randint(3, 6)]
    base = [_pattern(random, types) for _ in range(2)]
    patterns: list[str] = []
    for _ in range(random.randint(2, 5)):
        kind = random.random()
        if kind < 0.3:
            patterns.append(base[0])
        elif kind < 0.45:
            patterns.append(f"{random.choice(types)} {base[0]}")
        elif kind < 0.55:
            patterns.append(f"{base[0]} {random.choice(types)}")
        else:
            patterns.append(base[1] if kind < 0.7 else _pattern(random, types))
    events = {name: float(random.choice((1, 2, 3, 5, 10, 12, 30, 100))) for name in types}
    windows = [random.choice((None, Window(60, 60), Window(60, 5), Window(60, 1))) for _ in patterns]
    aggregates = [_aggregates(random, text) for text in patterns]
    shown = [", ".join(map(str, aggregates_of)) for aggregates_of in aggregates]
    return problem(patterns, events, windows, aggregates), f"{patterns} {events} {windows} {shown}"


def _aggregates(random: Random, pattern: str) -> list[Aggregate]:
    variable = random.choice([letter for letter in pattern if letter.isalpha()])
    choices = (COUNT, Aggregate(Function.COUNT, variable), Aggregate(Function.SUM, variable, V))
    return [random.choice(choices) for _ in range(random.randint(1, 2))] if random.random() < 0.5 else [COUNT]


def _pattern(random: Random, types: str) -> str:
    kind = random.random()
    chosen = random.sample(types, random.randint(2, min(5, len(types))))
    if kind < 0.4:
        return " ".join(chosen)
    begin = random.randint(0, len(chosen) - 2)
    end = random.randint(begin + 1, len(chosen))
    before, inner, after = chosen[:begin], chosen[begin:end], chosen[end:]
    if kind < 0.8:
        return " ".join([*before, f"({' '.join(inner)})+", *after])
    if kind < 0.9 and len(inner) > 1:
        return " ".join([*before, f"({inner[0]} ({' '.join(inner[1:])})+)+", *after])
    return " ".join([*before, f"({' | '.join(inner)})", *after]) if len(inner) > 1 else " ".join(chosen)


def main() -> int:
    """Run the workloads and report; 1 when the optimizer was not optimal."""
    parser = argparse.ArgumentParser(description="GLORIA = exhaustive, on random small workloads.")
    parser.add_argument("--workloads", type=int, default=20000, help="that both optimizers can plan")
    parser.add_argument("--seed", type=int, default=0, help="number of the first workload")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--largest", type=int, default=LARGEST, help="most parts of plans to go on with")
    parser.add_argument("--known-from", type=int, default=0, help=f"in place of {prospects.KNOWN_FROM} transitions")
    arguments = parser.parse_args()
    prospects.KNOWN_FROM = arguments.known_from
    failures = 0
    for name in arguments.models:
        model = MODELS[name]
        begin = time.perf_counter()
        planned = too_large = shared = unproved = 0
        missed: list[float] = []
        seed = arguments.seed
        while planned < arguments.workloads:
            drawn, text = random_problem(Random(seed))
            seed += 1
            best_plan = OPTIMIZERS["gloria"].plan(drawn, model)
            try:
                truth = exhaustive(drawn, model, arguments.largest, best_plan.cost)
            except WorkloadTooLargeError:
                too_large += 1
                continue
            planned += 1
            shared += any(qset.snapshot is not None for t in best_plan.plan.transitions for qset in t.qsets)
            unproved += best_plan.bound is None or best_plan.bound < best_plan.cost * (1 - 1e-9)
            best = float("inf") if truth is None else plan_cost(drawn, model, truth)
            if abs(best - best_plan.cost) > 1e-9 * best_plan.cost or list(invalid(drawn.template, best_plan.plan)):
                failures += 1
                print(f"seed {seed - 1}, {name}: {best_plan.cost} but {best}; {text}", flush=True)
            if best_plan.published is not None and best_plan.published > best_plan.cost * (1 + 1e-9):
                missed.append(best_plan.published / best_plan.cost - 1)
        worst, mean = max(missed, default=0.0), sum(missed) / max(1, len(missed))
        print(
            f"{name}: {planned} workloads ({too_large} more were too large) in {time.perf_counter() - begin:.0f} s, "
            f"{shared} of them share something, {unproved} without proof; the published rules alone miss "
            f"{len(missed)}, by {mean:.1%} on average and {worst:.1%} at most; {failures} failures so far",
            flush=True,
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
