"""Random workloads of patterns with loops that several queries have, each coming to them in its own way."""

from __future__ import annotations

from random import Random

from sparkext.planner.patterns.query import Aggregate, Window
from sparkext.planner.problem.problem import Problem
from tests.support.optimizer_workloads import problem
from tests.support.pools import COUNT, all_of

_LOOPS = ("B+", "B+", "B+", "(B D)+", "(B+ D)+", "B+ D+", "D+ B+", "(B | D)+", "(B D?)+")


def random_loops(random: Random, most: int = 5) -> tuple[Problem, str]:
    """A problem of 2 to ``most`` queries with loops over B and D, and what it is as text."""
    patterns: list[str] = []
    loops_drawn = random.sample(_LOOPS, random.choice((1, 1, 2)))
    for _ in range(random.randint(2, most)):
        before = random.choice(("", "A", "C", "A C", "(A | C)", "A?", "E+"))
        after = random.choice(("", "", "F", "A", "F?", "E+"))
        patterns.append(f"{before} {random.choice(loops_drawn)} {after}".strip())
    events = {name: float(random.choice((1, 2, 3, 5, 10, 30, 100))) for name in "ABCDEF"}
    windows = [random.choice((None, Window(60, 60), Window(60, 6), Window(60, 12))) for _ in patterns]
    aggregates = [_aggregates(random) for _ in patterns]
    shown = [", ".join(map(str, aggregates_of)) for aggregates_of in aggregates]
    return problem(patterns, events, windows, aggregates), f"{patterns} {events} {windows} {shown}"


def _aggregates(random: Random) -> list[Aggregate]:
    return random.choice(([COUNT], [COUNT], random.sample(all_of("B"), random.randint(1, 3))))
