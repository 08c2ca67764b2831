"""Compiles the kernels that tests need, once, before several processes run tests::

    python -m tests.support.compile_kernels

There are three, of which the full one is compiled by a process of its own, the lean ones by another. Those that have
been compiled before are only loaded.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from functools import partial
from random import Random

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.compiler.kernel_plan import KernelPlan
from sparkext.planner.compiler.panes import may_be_stretched
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template
from sparkext.udfs.state.machine import is_lean
from tests.support.kernel_harness import kernel_rows, pool_partials, sorted_rows, stretched_partials
from tests.support.sharing_plans import draw_plan
from tests.support.workloads import workload

POOLS = 20
"""Random pools, among which there are plans of all kernels, with and without comparisons and stretches."""


def plans(lean: bool) -> Iterator[tuple[int, KernelPlan]]:
    """Plans of lean kernels or of the full one, each with the seed of its workload."""
    for seed in range(POOLS):
        machine = template(workload(Random(seed)).queries)
        for planner in (share_equal_prefixes, partial(draw_plan, Random(seed))):
            plan = compile_plan(machine, planner(machine), stretched=may_be_stretched(machine))
            if is_lean(plan) == lean:
                yield seed, plan


def compile_kernels(lean: bool) -> None:
    """Run plans, for which what they need is compiled."""
    for seed, plan in plans(lean):
        rows = sorted_rows(kernel_rows(plan, workload(Random(seed)).events()))
        pool_partials(plan, rows)
        if plan.is_stretched:
            stretched_partials(plan, rows, Random(seed))


def main() -> None:
    """Compile all kernels."""
    started = [multiprocessing.Process(target=compile_kernels, args=(lean,)) for lean in (False, True)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    if any(process.exitcode for process in started):
        raise SystemExit("a kernel could not be compiled")


if __name__ == "__main__":
    main()
