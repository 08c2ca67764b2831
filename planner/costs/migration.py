"""Migration: whether to change to another plan when statistics or the workload have changed."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import SharingPlan

PLANNING_SECONDS = 0.3
"""What a change costs beside the search: the kernel plan is compiled and sent to the tasks anew."""


@dataclass(frozen=True, slots=True)
class Migration:
    """What a change of plan costs and saves.

    Attributes:
        old: Cost of the present plan with the new statistics, per group and window.
        new: Cost of the best plan with them.
        saved: Seconds that the new plan saves in a pass; None when costs are not times.
        pays: Whether that is more than the change costs.
    """

    old: float
    new: float
    saved: float | None
    pays: bool


def migration(problem: Problem, model: CostModel, old: SharingPlan, new: SharingPlan, windows: float) -> Migration:
    """What it costs and saves to change from a plan to a better one, and whether that pays.

    Args:
        problem: The workload with its new statistics.
        model: Of costs; only those of ``measured`` are times.
        old: The present plan.
        new: The best plan.
        windows: Number of groups times windows in a pass.
    """
    costs = plan_cost(problem, model, old), plan_cost(problem, model, new)
    if model.name != "measured":
        return Migration(*costs, None, costs[1] < 0.9 * costs[0])
    saved = (costs[0] - costs[1]) * windows * 1e-9
    return Migration(*costs, saved, saved > PLANNING_SECONDS)
