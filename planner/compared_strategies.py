"""Comparison: what each optimizer makes of one workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sparkext.planner.budget import Budget
from sparkext.planner.optimizers import OPTIMIZERS, OptimizerResult, optimize
from sparkext.planner.problem.strategy import WorkloadTooLargeError
from sparkext.planner.sharing.not_planned import NotPlanned


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """What one optimizer makes of a workload.

    Attributes:
        optimizer: Its name.
        cost: Of its plan; None if the workload is too large for it.
        seconds: How long it took; None if the workload is too large for it.
        not_planned: Queries that it leaves alone.
        is_cut_short: Whether the plan is the best that was found before the budget was used up.
    """

    optimizer: str
    cost: float | None
    seconds: float | None
    not_planned: tuple[NotPlanned, ...] = ()
    is_cut_short: bool = False


def compared(planned: OptimizerResult, budget: Callable[[], Budget]) -> Iterator[StrategyResult]:
    """The result of each optimizer, in order, on the workload of a given plan.

    Args:
        planned: The plan, which stands for its optimizer.
        budget: Gives each of the others a budget of its own.
    """
    for optimizer in OPTIMIZERS:
        if optimizer == planned.optimizer:
            result = planned
        else:
            try:
                result = optimize(replace(planned.problem, budget=budget()), planned.model, optimizer)
            except WorkloadTooLargeError:
                yield StrategyResult(optimizer, None, None)
                continue
        yield StrategyResult(
            optimizer,
            result.plan_result.cost,
            result.seconds,
            result.plan_result.not_planned or (),
            result.is_cut_short,
        )
