"""Plans and nodes as the GLORIA paper writes them; the first query is 1."""

from __future__ import annotations

from collections.abc import Iterable

from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan, snapshot_name


def node_text(problem: Problem, qsets: Iterable[QSet]) -> str:
    """For example ``(1,2)^A,(3)``."""
    return ",".join(
        f"({','.join(str(query + 1) for query in qset.queries)})" + (f"^{name}" if name is not None else "")
        for qset in qsets
        for name in [snapshot_name(problem.template, qset)]
    )


def plan_text(problem: Problem, plan: SharingPlan) -> str:
    """Transitions with their Q-sets, those before first."""
    states = problem.template.states
    order = sorted(plan.transitions, key=lambda t: (problem.rank[t.source], str(states[t.source]), t.target))
    return " ".join(f"{states[t.source]}{states[t.target]}:{node_text(problem, t.qsets)}" for t in order)
