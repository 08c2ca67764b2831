"""Compiles the kernels that tests need, once, before several processes run tests::

    python -m tests.support.compile_kernels

A kernel is compiled for each kind of plan. Those that have been compiled before are only loaded.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.compiler.kernel_plan import KernelPlan
from sparkext.planner.compiler.panes import may_be_stretched
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template
from tests.support.kernel_harness import (
    kernel_rows,
    pool_partials,
    sorted_rows,
    split_randomly,
    stretched_partials,
)
from tests.support.kernel_twin import KernelRow
from tests.support.sharing_plans import draw_plan
from tests.support.workloads import workload

PROCESSES = 2
POOLS = 60
"""Random pools among which there are plans of all kinds."""

Kind = tuple[bool, ...]


def kinds() -> Iterator[tuple[Kind, KernelPlan, list[KernelRow]]]:
    """For each kind of plan one that is of it, with rows."""
    known: set[Kind] = set()
    for seed in range(POOLS):
        drawn = workload(Random(seed))
        machine = template(drawn.queries)
        for planner in (share_equal_prefixes, split_randomly(Random(seed)), partial(draw_plan, Random(seed))):
            stretched = may_be_stretched(machine)
            plan = compile_plan(machine, planner(machine), stretched=stretched)
            guarded = bool(plan.guard_states) or plan.is_cut
            kind = guarded, bool(plan.comparisons), bool(plan.regions), bool(plan.spans), bool(plan.panes), stretched
            if kind not in known:
                known.add(kind)
                yield kind, plan, sorted_rows(kernel_rows(plan, drawn.events()))


def compile_each(plans: Sequence[tuple[KernelPlan, list[KernelRow]]]) -> None:
    """Run plans, for which their kernels are compiled."""
    for seed, (plan, rows) in enumerate(plans):
        pool_partials(plan, rows)
        if plan.is_stretched:
            stretched_partials(plan, rows, Random(seed))


def main() -> None:
    """Compile what the plans of each process need, those with the same kernel in the same process."""
    parts: list[list[tuple[KernelPlan, list[KernelRow]]]] = [[] for _ in range(PROCESSES)]
    place: dict[Kind, int] = {}
    for kind, plan, rows in sorted(kinds(), key=lambda one: one[0], reverse=True):
        parts[place.setdefault(kind[:5], len(place) % PROCESSES)].append((plan, rows))
    started = [multiprocessing.Process(target=compile_each, args=(part,)) for part in parts]
    for process in started:
        process.start()
    for process in started:
        process.join()
    if any(process.exitcode for process in started):
        raise SystemExit("a kernel could not be compiled")


if __name__ == "__main__":
    main()
