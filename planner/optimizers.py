"""The optimizers by name: from a workload, what is known of its events, and a cost model to a sharing plan."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sparkext.planner.budget import Budget
from sparkext.planner.costs.measured import Constants, MeasuredCosts
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.exhaustive.exhaustive import Exhaustive
from sparkext.planner.gloria.gloria import Gloria, Greedy, Published, lightest_labels
from sparkext.planner.gloria.graph_report import TITLE
from sparkext.planner.hamlet.hamlet import Hamlet, loop_labels
from sparkext.planner.mcep.mcep import Mcep
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult, Strategy
from sparkext.planner.sharing.prefixes import share_equal_prefixes, share_nothing
from sparkext.planner.sharon.sharon import Sharon, sequence_labels

MODELS: tuple[str, ...] = ("measured", "paper")
"""Cost models; the first is the default."""


def cost_model(name: str, constants: Constants | None = None) -> CostModel:
    """The cost model of a name in `MODELS`.

    Args:
        name: The name.
        constants: Of the machine, for ``measured``.
    """
    return PaperCosts() if name == PaperCosts.name else MeasuredCosts(constants)


@dataclass(frozen=True, slots=True)
class Nothing:
    """The strategy that shares nothing."""

    name: str = "none"

    def plan(self, problem: Problem, model: CostModel) -> PlanResult:
        """The plan in which nothing is shared."""
        plan = share_nothing(problem.template)
        return PlanResult(plan, plan_cost(problem, model, plan))


_BEST = Gloria((sequence_labels, lightest_labels, loop_labels))

STRATEGIES: tuple[Strategy, ...] = (
    _BEST,
    Greedy(),
    Exhaustive(_BEST),
    Nothing(),
    Published(),
    Sharon(),
    Hamlet(),
    Mcep(),
)

OPTIMIZERS: Mapping[str, Strategy] = {strategy.name: strategy for strategy in STRATEGIES}
"""By name; the first is the default. All but ``exhaustive``, which raises `WorkloadTooLargeError`, have a plan when
the budget of the problem is used up."""

DEFAULT = STRATEGIES[0].name
"""What is used where a user does not say."""

NOTHING, QUICK = Nothing().name, Greedy().name
"""What plans are compared with: nothing shared, and what is found in next to no time."""

GRAPH_TITLE = TITLE
"""What the graph is called in which the default looks for a plan."""


@dataclass(frozen=True, slots=True, eq=False)
class OptimizerResult:
    """What an optimizer has planned for a workload.

    Attributes:
        problem: What was optimized.
        model: With which costs.
        optimizer: By what.
        plan_result: The plan, its cost, and how it was found.
        seconds: How long the optimizer took.
        is_cut_short: Whether the plan is the best that was found before the budget was used up.
    """

    problem: Problem
    model: CostModel
    optimizer: str
    plan_result: PlanResult
    seconds: float
    is_cut_short: bool

    def kept(self) -> OptimizerResult:
        """A copy for runs to keep, without what has been worked out of the problem."""
        return replace(self, problem=replace(self.problem, budget=Budget()))

    def cost_by(self, optimizer: str, budget: Budget) -> float:
        """Cost of what another optimizer finds in a budget of its own."""
        if optimizer == self.optimizer:
            return self.plan_result.cost
        return OPTIMIZERS[optimizer].plan(replace(self.problem, budget=budget), self.model).cost


def optimize(problem: Problem, model: CostModel, optimizer: str) -> OptimizerResult:
    """The plan that an optimizer finds for a workload.

    Raises:
        WorkloadTooLargeError: ``exhaustive`` has too many plans to look at.
        PlanningError: ``TREND_CANCELLED``.
    """
    begin = time.perf_counter()
    with _no_collection():
        result = OPTIMIZERS[optimizer].plan(problem, model)
    seconds = time.perf_counter() - begin
    return OptimizerResult(problem, model, optimizer, result, seconds, problem.budget.is_used_up)


def share_what_is_equal(problem: Problem, model: CostModel, optimizer: str) -> OptimizerResult:
    """What is planned of queries that an optimizer leaves alone: states with equal prefixes are one, and nothing else.

    Args:
        problem: The workload.
        model: Costs.
        optimizer: That has been asked for.
    """
    begin = time.perf_counter()
    plan = share_equal_prefixes(problem.template)
    result = PlanResult(plan, plan_cost(problem, model, plan))
    seconds = time.perf_counter() - begin
    return OptimizerResult(problem, model, optimizer, result, seconds, problem.budget.is_used_up)


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
