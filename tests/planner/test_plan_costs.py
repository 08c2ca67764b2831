"""What the parts of a plan cost adds up to what the plan costs."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.optimizers import optimize
from sparkext.planner.problem.plan_cost import part_costs, plan_cost
from sparkext.planner.sharing.sharing_plan import QSet
from tests.support.optimizer_workloads import MODELS, problem, random_problem


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("optimizer", ["gloria", "greedy", "none", "sharon", "hamlet"])
def test_parts_are_the_whole(model: str, optimizer: str) -> None:
    random = Random(7)
    for _ in range(40):
        drawn, _ = random_problem(random)
        plan = optimize(drawn, MODELS[model], optimizer).plan_result.plan
        parts = part_costs(drawn, MODELS[model], plan)
        total = sum(parts.qsets.values()) + sum(parts.states)
        assert total == pytest.approx(plan_cost(drawn, MODELS[model], plan))


def test_published_example() -> None:
    """Of the plan of Table 3 of the GLORIA paper: ten F and A pairs, a coefficient for each B, C and D after A."""
    events = {"F": 10, "A": 5, "B": 10, "C": 12, "D": 4, "E": 3}
    published = problem(["F A B C D", "A B C D", "E C D"], events)
    plan = optimize(published, MODELS["paper"], "gloria").plan_result.plan
    parts = part_costs(published, MODELS["paper"], plan)
    names = [str(state) for state in published.template.states]
    costs = {(names[source], names[target], qset): cost for (source, target, qset), cost in parts.qsets.items()}
    shared = QSet((0, 1), names.index("A"))
    assert costs["F", "A", QSet((0,), None)] == 50
    assert costs["C", "D", QSet((2,), None)] == 144 / 3
    assert {ends[:2] for ends in costs if ends[2] == shared} == {("A", "B"), ("B", "C"), ("C", "D")}
