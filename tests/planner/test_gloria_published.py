"""The workloads that the GLORIA authors published. Times belong to `benchmarks.optimizer`."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.sharing.invalid import invalid
from tests.support.published import drawn, names

COSTS = {
    "SEQWorkload_40.txt": 335_820,
    "SEQWorkload_100.txt": 742_910,
    "SEQWorkload_200.txt": 1_838_723,
    "MixWorkload_12.txt": 101_884,
    "MixWorkload_60.txt": 494_432,
    "MixWorkload_120.txt": 559_117,
    "KleeneWorkload_kleeneLength_2.txt": 555_824,
    "KleeneWorkload_kleeneLength_10.txt": 466_082,
    "KleeneWorkload_KleeneLayers_3.txt": 460_212,
    "GloriaVSHamletWorkload_MixWorkload_100.txt": 2_425_878,
}
"""What has been reached with the paper's costs."""


def test_all_are_known() -> None:
    assert set(names()) == set(COSTS)


@pytest.mark.parametrize("name", COSTS)
def test_plans(name: str) -> None:
    """Valid, no dearer than what others find, and no dearer than before."""
    problem = drawn(name)
    planned = OPTIMIZERS["gloria"].plan(problem, PaperCosts())
    assert not list(invalid(problem.template, planned.plan))
    assert planned.published is not None
    other_costs = [OPTIMIZERS[name].plan(problem, PaperCosts()).cost for name in ("greedy", "none")]
    assert planned.cost <= min(planned.published, *other_costs, COSTS[name]) * (1 + 1e-9)


@pytest.mark.long
def test_memory() -> None:
    """Less than 50 MB for 200 queries, template not counted."""
    problem = drawn("SEQWorkload_200.txt")
    gc.collect()
    tracemalloc.start()
    try:
        OPTIMIZERS["gloria"].plan(problem, PaperCosts())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000
