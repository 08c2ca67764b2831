"""Parts: of what events of a class do, what they do for a region whose bursts are shared or not, each as it turns out.

A part is like one more class, numbered on from those of the plan, that an event is of as well while the region is in
that mode.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Group(NamedTuple):
    """Cells of one part that hold trends at the same times, whatever they hold of them.

    Attributes:
        part: Of all of them.
        updates: What events do to each.
        starts: Whether trends begin there, or may come from anywhere.
        sources: Numbers of the groups whose trends go on in this one.
    """

    part: int
    updates: list[Update]
    starts: bool
    sources: tuple[int, ...]


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
    """What events do to cells: a row of ``Program.updates`` for each, ordered by part and then space."""
    chosen = {(choice.event, plan.regions[choice.region].space.number): choice for choice in choices(plan)}
    rows: list[Update] = []
    for number, cell in enumerate(plan.cells):
        if cell.event != NO_EVENT and cell.anchor is None:
            choice = chosen.get((cell.event, cell.window))
            rows.append(Update(cell.event if choice is None else choice.shared, number, cell))
    for burst_choice in chosen.values():
        alone = plan.regions[burst_choice.region].alone
        rows += (Update(burst_choice.alone, number, cell) for number, cell in alone if cell.event == burst_choice.event)
    return sorted(rows, key=lambda update: (update.part, *_order(update)))


def _order(update: Update) -> tuple[int, int]:
    """What updates of a group are ordered by. A count comes before what counts with it, which is of its space."""
    return update.cell.window, update.number


def is_lean(plan: KernelPlan) -> bool:
    """Whether the plan does with a lean kernel: nothing is forbidden, looks back, adds to extremes, or spans windows
    beside linear forms.

    See `sparkext.udfs.workers.variants.FULL`.
    """
    spans_forms = plan.spans and plan.regions
    return not (plan.guard_states or plan.is_cut or plan.comparisons or spans_forms or plan.has_addends)


def groups(plan: KernelPlan) -> list[Group]:
    """The groups of all updates, ordered by part, and states before those that they go on from, as far as can be.

    Where totals may come from elsewhere, there is one for each part.
    """
    rows = updates(plan)
    if plan.regions or not is_lean(plan):
        return [
            Group(part, [row for row in rows if row.part == part], True, ()) for part in sorted({r.part for r in rows})
        ]
    # What counts comes with its count, which is earlier in the plan.
    leader: dict[int, int] = {}
    for row in sorted(rows, key=lambda row: row.number):
        leader[row.number] = row.number if row.cell.count is None else leader[row.cell.count]
    together: dict[int, list[Update]] = {}
    for row in rows:
        together.setdefault(leader[row.number], []).append(row)
    before = {of: [source for row in members for source in row.cell.sources] for of, members in together.items()}
    starts = {
        of: any(row.cell.start for row in members) or any(plan.cells[source].event == NO_EVENT for source in before[of])
        for of, members in together.items()
    }
    label = _numbered([(members[0].part, starts[of]) for of, members in together.items()])
    group_of = dict(zip(together, label, strict=True))
    while True:
        sources = {of: {group_of[leader[s]] for s in before[of] if s in leader} for of in together}
        label = _numbered([(group_of[of], tuple(sorted(sources[of]))) for of in together])
        if len(set(label)) == len(set(group_of.values())):
            break
        group_of = dict(zip(together, label, strict=True))
    members_of: dict[int, list[int]] = {}
    for of, number in group_of.items():
        members_of.setdefault(number, []).append(of)
    found = [
        Group(
            together[all_of[0]][0].part,
            sorted((row for of in all_of for row in together[of]), key=_order),
            starts[all_of[0]],
            tuple(sorted(sources[all_of[0]])),
        )
        for all_of in members_of.values()
    ]
    order = sorted(range(len(found)), key=lambda number: (found[number].part, -number))
    place = {number: at for at, number in enumerate(order)}
    numbers = {label: place[index] for index, label in enumerate(members_of)}
    return [found[index]._replace(sources=tuple(numbers[source] for source in found[index].sources)) for index in order]


def _numbered(values: Sequence[object]) -> list[int]:
    """Values as numbers, the same for equal ones."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]
