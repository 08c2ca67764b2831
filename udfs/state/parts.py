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
    """Of which ``Program.updates`` has a row, in their order."""
    chosen = {(one.event, plan.regions[one.region].space.number): one for one in choices(plan)}
    found: list[Update] = []
    for number, cell in enumerate(plan.cells):
        if cell.event != NO_EVENT and cell.anchor is None:
            choice = chosen.get((cell.event, cell.window))
            found.append(Update(cell.event if choice is None else choice.shared, number, cell))
    for one in chosen.values():
        mine = plan.regions[one.region].alone
        found += (Update(one.alone, number, cell) for number, cell in mine if cell.event == one.event)
    return sorted(found, key=lambda one: (one.part, one.number))
