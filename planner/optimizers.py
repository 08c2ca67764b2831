"""The optimizers by name: from a workload, what is known of its events, and a cost model to a sharing plan."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sparkext.planner.budget import Budget, BudgetSpentError
from sparkext.planner.costs.cost_model import CostModel, plan_cost
from sparkext.planner.costs.measured import Constants, MeasuredCosts
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.gloria.exhaustive import WorkloadTooLargeError, exhaustive
from sparkext.planner.gloria.gloria import PlanResult, gloria, published
from sparkext.planner.gloria.greedy import greedy
from sparkext.planner.gloria.problem import Problem
from sparkext.planner.hamlet.hamlet import hamlet
from sparkext.planner.mcep.mcep import mcep
from sparkext.planner.sharing.prefixes import share_equal_prefixes, share_nothing
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharon.sharon import sharon

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


def _exhaustive(problem: Problem, model: CostModel) -> PlanResult:
    known = gloria(problem, model)
    try:
        best = exhaustive(problem, model, MOST_PARTS, known.cost)
    except BudgetSpentError:
        raise WorkloadTooLargeError from None
    plan = SharingPlan("exhaustive", known.plan.transitions) if best is None else best
    cost = plan_cost(problem, model, plan)
    return PlanResult(plan, None, cost, bound=cost)


def _none(problem: Problem, model: CostModel) -> PlanResult:
    plan = share_nothing(problem.template)
    return PlanResult(plan, None, plan_cost(problem, model, plan))


OPTIMIZERS: Mapping[str, Callable[[Problem, CostModel], PlanResult]] = {
    "gloria": gloria,
    "greedy": greedy,
    "exhaustive": _exhaustive,
    "none": _none,
    "published": published,
    "sharon": sharon,
    "hamlet": hamlet,
    "mcep": mcep,
}
"""By name; the first is the default. All but ``exhaustive``, which raises `WorkloadTooLargeError`, have a plan when
the budget of the problem is used up."""


@dataclass(frozen=True, slots=True, eq=False)
class OptimizerResult:
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
    found: PlanResult
    seconds: float

    @property
    def is_cut_short(self) -> bool:
        """Whether the plan is the best that was found before the budget was used up."""
        return self.problem.budget.is_used_up

    def cost_by(self, optimizer: str, budget: Budget) -> float:
        """Cost of what another optimizer finds in a budget of its own."""
        if optimizer == self.optimizer:
            return self.found.cost
        return OPTIMIZERS[optimizer](replace(self.problem, budget=budget), self.model).cost


def optimize(problem: Problem, model: CostModel, optimizer: str) -> OptimizerResult:
    """Plan a workload.

    Raises:
        WorkloadTooLargeError: ``exhaustive`` has too many plans to look at.
        PlanningError: ``TREND_CANCELLED``.
    """
    begin = time.perf_counter()
    with _no_collection():
        found = OPTIMIZERS[optimizer](problem, model)
    return OptimizerResult(problem, model, optimizer, found, time.perf_counter() - begin)


def share_what_is_equal(problem: Problem, model: CostModel, optimizer: str) -> OptimizerResult:
    """What is planned of queries that an optimizer leaves alone: states with equal prefixes are one, and nothing else.

    Args:
        problem: The workload.
        model: Costs.
        optimizer: That has been asked for.
    """
    begin = time.perf_counter()
    plan = share_equal_prefixes(problem.template)
    found = PlanResult(plan, None, plan_cost(problem, model, plan))
    return OptimizerResult(problem, model, optimizer, found, time.perf_counter() - begin)


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
