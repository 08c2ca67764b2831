"""GLORIA is never the worse choice: its plan costs no more than that of any other strategy for all queries."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.template import template_of
from tests.support.loop_workloads import random_loops
from tests.support.optimizer_workloads import CHEAP_FORMS, MODELS, in_runs, random_problem
from tests.support.sequence_workloads import random_sequences
from tests.support.tiers import first

PART = 25
"""Workloads of one test."""

OTHERS = ("none", "published", "greedy", "sharon", "hamlet")


def _sequences(random: Random) -> Problem:
    return random_sequences(random, random.choice((8, 20, 30)))[0]


def _loops(random: Random) -> Problem:
    return random_loops(random, random.choice((5, 12)))[0]


def _mixture(random: Random) -> Problem:
    """Sequences, loops and others in one pool, over the same types."""
    parts = [random_sequences(random, 8)[0], random_loops(random, 8)[0], random_problem(random)[0]]
    events = {state.event: n for part in parts for state, n in zip(part.template.states, part.events, strict=True)}
    template = template_of([query for part in parts for query in part.template.queries])
    return Problem(template, tuple(events[state.event] for state in template.states))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", [_sequences, _loops, _mixture], ids=["sequences", "loops", "mixture"])
@pytest.mark.parametrize("part", first(0, range(12)))
def test_random_workloads(kind: Callable[[Random], Problem], model: str, part: int) -> None:
    """Three hundred of each kind with each cost model."""
    _check(kind, model, range(part * PART, (part + 1) * PART))


@pytest.mark.parametrize("model", MODELS)
def test_sample(model: str) -> None:
    """A few of each kind."""
    for kind in (_sequences, _loops, _mixture):
        _check(kind, model, range(3))


def _check(kind: Callable[[Random], Problem], model: str, seeds: range) -> None:
    for seed in seeds:
        drawn = kind(Random(seed))
        drawn = in_runs(Random(seed), drawn) if seed % 3 == 0 else drawn
        costs = CHEAP_FORMS if model == "measured" and seed % 2 else MODELS[model]
        cost = OPTIMIZERS["gloria"].plan(drawn, costs).cost
        for name in OTHERS:
            planned = OPTIMIZERS[name].plan(Problem(drawn.template, drawn.events, runs=drawn.runs), costs).cost
            assert cost <= planned * (1 + 1e-9), (name, seed, [str(query.pattern) for query in drawn.template.queries])
