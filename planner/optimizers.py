"""The optimizers by name: from a workload, what is known of its events, and a cost model to a sharing plan."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from planner.gloria.costs import CostModel, plan_cost
from planner.gloria.exhaustive import exhaustive
from planner.gloria.gloria import Found, gloria, published
from planner.gloria.greedy import greedy
from planner.gloria.measured import Constants, MeasuredCosts
from planner.gloria.paper import PaperCosts
from planner.gloria.problem import Problem
from planner.prefixes import share_nothing
from planner.sharing import SharingPlan

MODELS: tuple[str, ...] = ("measured", "paper")
"""Cost models; the first is the default."""


MOST_PARTS = 10_000
"""Most parts of plans that ``exhaustive`` goes on with: some ten seconds of work."""


def cost_model(name: str, constants: Constants | None = None) -> CostModel:
    """The cost model of a name in `MODELS`.

    Args:
        name: The name.
        constants: Of the machine, for ``measured``.
    """
    return PaperCosts() if name == PaperCosts.name else MeasuredCosts(constants)


def _exhaustive(problem: Problem, model: CostModel) -> Found:
    known = gloria(problem, model)
    best = exhaustive(problem, model, MOST_PARTS, known.cost)
    plan = SharingPlan("exhaustive", known.plan.transitions) if best is None else best
    cost = plan_cost(problem, model, plan)
    return Found(plan, None, cost, bound=cost)


def _none(problem: Problem, model: CostModel) -> Found:
    plan = share_nothing(problem.template)
    return Found(plan, None, plan_cost(problem, model, plan))


OPTIMIZERS: Mapping[str, Callable[[Problem, CostModel], Found]] = {
    "gloria": gloria,
    "greedy": greedy,
    "exhaustive": _exhaustive,
    "none": _none,
    "published": published,
}
"""By name; the first is the default. ``exhaustive`` raises `WorkloadTooLargeError`."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimized:
    """What an optimizer found.

    Attributes:
        problem: What was optimized.
        model: With which costs.
        optimizer: By what.
        found: The result.
        seconds: How long the optimizer took.
    """

    problem: Problem
    model: CostModel
    optimizer: str
    found: Found
    seconds: float

    def cost_by(self, optimizer: str) -> float:
        """Cost of what another optimizer finds."""
        if optimizer == self.optimizer:
            return self.found.cost
        return OPTIMIZERS[optimizer](self.problem, self.model).cost


def optimize(problem: Problem, model: CostModel, optimizer: str) -> Optimized:
    """Plan a workload.

    Raises:
        WorkloadTooLargeError: ``exhaustive`` has too many plans to look at.
    """
    begin = time.perf_counter()
    with _no_collection():
        found = OPTIMIZERS[optimizer](problem, model)
    return Optimized(problem, model, optimizer, found, time.perf_counter() - begin)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without looking for garbage: what an optimizer makes lives until it is done, and looking takes a fifth of it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
