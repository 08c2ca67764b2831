"""Random workloads of sequences for SHARON, many of whose parts are in several of them."""

from __future__ import annotations

from random import Random

from sparkext.planner.patterns.query import Aggregate, Function, Window
from sparkext.planner.problem.problem import Problem
from tests.support.optimizer_workloads import problem
from tests.support.pools import COUNT, V


def random_sequences(random: Random, most: int = 8) -> tuple[Problem, str]:
    """A problem of 2 to ``most`` sequences over up to 8 types, some of which occur twice, and what it is as text."""
    types = "ABCDEFGH"[: random.randint(3, 8)]
    base = [_sequence(random, types) for _ in range(2)]
    patterns: list[str] = []
    for _ in range(random.randint(2, most)):
        chosen = list(random.choice(base) if random.random() < 0.7 else _sequence(random, types))
        if random.random() < 0.6:
            index = random.randrange(len(chosen))
            chosen[index : index + random.randint(0, 2)] = random.choices(types, k=random.randint(0, 2)) or ["A"]
        patterns.append(" ".join(chosen))
    events = {name: float(random.choice((1, 2, 3, 5, 10, 12, 30, 100))) for name in types}
    windows = [random.choice((None, Window(60, 60), Window(60, 5), Window(60, 1))) for _ in patterns]
    aggregates = [_aggregates(random, text) for text in patterns]
    shown = [", ".join(map(str, aggregates_of)) for aggregates_of in aggregates]
    return problem(patterns, events, windows, aggregates), f"{patterns} {events} {windows} {shown}"


def _sequence(random: Random, types: str) -> list[str]:
    return random.choices(types, k=random.randint(2, 7))


def _aggregates(random: Random, pattern: str) -> list[Aggregate]:
    choices = (COUNT, Aggregate(Function.COUNT, pattern[0]), Aggregate(Function.SUM, pattern[-1], V))
    return [random.choice(choices) for _ in range(random.randint(1, 2))]
