"""Parts: of what events of a class do, what they do for a region whose bursts are shared or not, each as it turns out.

A part is like one more class, numbered on from those of the plan, that an event is of as well while the region is in
that mode.
"""

from __future__ import annotations

from typing import NamedTuple

from sparkext.planner.kernel_plan.kernel_plan import NO_EVENT, Cell, KernelPlan


class Update(NamedTuple):
    """What events do to a cell.

    Attributes:
        part: The class of the events, or the part of what they do.
        number: Of the cell.
        cell: What they add to it.
    """

    part: int
    number: int
    cell: Cell


class Choice(NamedTuple):
    """What events of a class do for a region, by the mode that it is in.

    Attributes:
        event: Number of the class.
        region: Number of the region.
        shared: The part that adds to forms.
        alone: The part that adds to the totals that are made from forms.
    """

    event: int
    region: int
    shared: int
    alone: int


def choices(plan: KernelPlan) -> list[Choice]:
    """All choices, ordered by class."""
    pairs = {
        (cell.event, number)
        for number, region in enumerate(plan.regions)
        if region.has_choice
        for _, cell in region.alone
    }
    first = len(plan.classes)
    return [Choice(*pair, first + 2 * index, first + 2 * index + 1) for index, pair in enumerate(sorted(pairs))]


def number_of_parts(plan: KernelPlan) -> int:
    """How many classes and parts there are."""
    return len(plan.classes) + 2 * len(choices(plan))


def updates(plan: KernelPlan) -> list[Update]:
    """What events do to cells: a row of ``Program.updates`` for each, in their order."""
    chosen = {(choice.event, plan.regions[choice.region].space.number): choice for choice in choices(plan)}
    rows: list[Update] = []
    for number, cell in enumerate(plan.cells):
        if cell.event != NO_EVENT and cell.anchor is None:
            choice = chosen.get((cell.event, cell.window))
            rows.append(Update(cell.event if choice is None else choice.shared, number, cell))
    for burst_choice in chosen.values():
        alone = plan.regions[burst_choice.region].alone
        rows += (Update(burst_choice.alone, number, cell) for number, cell in alone if cell.event == burst_choice.event)
    return sorted(rows, key=lambda update: (update.part, update.number))
