"""From how many events on a burst had better be shared, by what the parts of the kernel's work take.

To share a burst costs an update of coefficients at each of its events, and to evaluate all totals of the loop once,
when it has ended. Not to share it costs an update of each of these totals at each event, lane by lane. So for k queries
with C totals of L lanes at the state of a loop, and forms with c coefficients, sharing pays from

    k·C·(evaluate + L·c·multiply) / (k·C·(update + 2·L·wide) - form - C·(update + 2·c·lane))

events on, in the terms of `sparkext.planner.costs.measured.Constants`; never if what stands below is not positive. Here
totals are those of the kernel plan, so those that are equal count once, and each has the lanes of its own windows.

To choose takes time at each event, too. With bursts of m events on average, geometrically distributed, one in m is of
any length that is much shorter. So a burst for which sharing pays from b events on, and saves s for each of them, loses
some s·b²/2m where it had better not be shared, and the choice costs m·choose: all bursts are shared if that is more.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, inf

from sparkext.planner.costs.measured import Constants
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Region
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.sharing_plan import BURST, SharingPlan


def with_choices(plan: KernelPlan, constants: Constants, mean: float) -> KernelPlan:
    """The plan with a choice for each burst of a loop that is shared by bursts, if it pays.

    Args:
        plan: A kernel plan.
        constants: What the parts of the work take.
        mean: Number of events of a burst, on average.
    """
    regions = []
    for number, region in enumerate(plan.regions):
        evaluated, saved = _per_burst(plan, number, constants) if region.alone else (0.0, 1.0)
        least = evaluated / saved if saved > 0 else inf
        if least < mean and saved * least**2 / 2 < mean**2 * constants.choose:
            least = 0.0
        regions.append(replace(region, shares_from=None if least == inf else ceil(least - 1e-9)))
    return replace(plan, regions=tuple(regions))


def break_even(plan: KernelPlan, number: int, constants: Constants) -> float:
    """From how many events on it pays to share a burst of a region; infinite if it never does.

    Args:
        plan: A kernel plan.
        number: Of the region, which is one of a loop.
        constants: What the parts of the work take.
    """
    evaluated, saved = _per_burst(plan, number, constants)
    return evaluated / saved if saved > 0 else inf


def mean_burst(problem: Problem, plan: SharingPlan) -> float:
    """Events of a burst, on average, of the loop that is shared by the shortest bursts; infinite if there is none."""
    means = [inf]
    numbers = {(t.source, t.target): number for number, t in enumerate(problem.transitions)}
    for transition in plan.transitions:
        number = numbers[transition.source, transition.target]
        for shared in (qset.queries for qset in transition.qsets if qset.snapshot == BURST):
            loops = [problem.loop_of[query][number] for query in shared]
            ends = problem.changes(frozenset().union(*(loop.before for loop in loops)), loops[0].states)
            means.append(sum(problem.events[state] for state in loops[0].states) / ends if ends else inf)
    return min(means)


def _per_burst(plan: KernelPlan, number: int, constants: Constants) -> tuple[float, float]:
    """What it costs to share a burst of a region, and what it saves for each event."""
    c, region = constants, plan.regions[number]
    lanes = _lanes(plan)
    classes = len({cell.event for _, cell in region.alone})
    alone = sum(c.update + 2 * lanes[cell.window] * c.wide for _, cell in region.alone) / classes
    updated = (c.update + 2 * region.space.lanes * c.lane for _ in range(_forms(plan, region)))
    evaluated = sum(
        c.evaluate + lanes[plan.cells[form.cell].window] * region.space.lanes * c.multiply
        for form in region.space.forms
    )
    return evaluated, alone - c.form - sum(updated) / classes


def _forms(plan: KernelPlan, region: Region) -> int:
    """How many forms of a region events add to."""
    events = {cell.event for _, cell in region.alone}
    return sum(cell.window == region.space.number and cell.event in events for cell in plan.cells)


def _lanes(plan: KernelPlan) -> list[float]:
    """Per window, how many lanes are in use: one for each that is open at a time, or two for each row of a pane."""
    rows = {space.number: space.lanes for space in plan.panes}
    return [
        2.0 * rows[number] if number in rows else 1.0 if window is None else window.within / window.slide
        for number, window in enumerate(plan.windows)
    ]
