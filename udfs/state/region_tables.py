"""Regions of a kernel plan as flat arrays, and the arrays that hold how far they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sized
from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD, NO_EVENT, KernelPlan, class_words
from sparkext.udfs.state.assemble import cell_offsets
from sparkext.udfs.state.fresh import set_units
from sparkext.udfs.state.parts import Choice, choices, number_of_parts, updates
from sparkext.udfs.state.products import product_row, product_table
from sparkext.udfs.tables.columns import ENDING, FEEDING
from sparkext.udfs.tables.program import Flags, Ints, State

NEVER = np.iinfo(np.int64).max
"""From how many events on a burst is shared, if none is."""


class Regions(NamedTuple):
    """Where linear forms are kept, and what is known of them.

    Attributes:
        due: Per class and part, see `sparkext.udfs.state.parts`, whether its events change a base or read what is
            evaluated.
        moves: Regions whose bases events change. Ordered by class and part.
        move_ends: Begin of each class and part in ``moves``, and the end. Shape (classes + parts + 1,).
        feeds: Regions to whose forms events add. Ordered by class and part.
        feed_ends: Likewise.
        views: Evaluations that events read. Ordered by class and part.
        view_ends: Likewise.
        evaluations: Arithmetic, window, offset of the cell, offset of its view (-1: none), begin and end in
            ``products``, region. Ordered by region. Shape (evaluations, 7).
        ends: Begin of each region in ``evaluations``, and the end. Shape (regions + 1,).
        all: The numbers of all evaluations.
        products: See `sparkext.udfs.state.products`. A total is the offset of a cell; there are no places.
        units: Offset of a coefficient that is 1 when its region has been rebased, and its arithmetic.
            Ordered by region. Shape (units, 2).
        unit_ends: Begin of each region in ``units``, and the end. Shape (regions + 1,).
        choices: Of regions whose bursts are shared or not: region, the parts that events are of as well if they are
            and if they are not, from how many events on they are, and whether the part is all that events of the class
            do. Ordered by event class. Shape (choices, 5); see `CHOICE_REGION` and so on.
        choice_ends: Begin of each class in ``choices``, and the end. Shape (classes + 1,).
        ended: Regions whose bursts events end. Ordered by event class.
        ended_ends: Likewise.
        masks: Per region that has choices, the bits of the classes that feed it, and of those that end its bursts.
            Shape (regions, 2, words of class bits); see `FEEDING` and so on.
        now: Per region: whether its forms have changed since it was rebased, whether something is pending
            in them, whether events at the latest time change its base, whether something is pending in the
            totals that are evaluated, how often these have changed; then what the burst under way does, see
            `sparkext.udfs.kernels.burst_choice`, bursts so far, how many of them were shared, and the events of these,
            one of several classes of a loop for each. Shape (regions, 9); see `REGION_DIRTY` and so on.
        seen: Per evaluation, how often its region had changed when its view was made.
        unsettled: Whether events at the latest time have changed any base, or are pending in forms. Shape (1,).
    """

    due: Flags
    moves: Ints
    move_ends: Ints
    feeds: Ints
    feed_ends: Ints
    views: Ints
    view_ends: Ints
    evaluations: Ints
    ends: Ints
    all: Ints
    products: Ints
    units: Ints
    unit_ends: Ints
    choices: Ints
    choice_ends: Ints
    ended: Ints
    ended_ends: Ints
    masks: Ints
    now: Ints
    seen: Ints
    unsettled: Flags


def new_regions(plan: KernelPlan, state: State) -> Regions:
    """Regions before the first event; their units are set in ``state``."""
    offsets = cell_offsets(plan)
    evaluations = [(number, e) for number, region in enumerate(plan.regions) for e in region.space.forms]
    view_of = {e.view: index for index, (_, e) in enumerate(evaluations) if e.view is not None}
    parts = range(number_of_parts(plan))
    moves: list[set[int]] = [set() for _ in parts]
    feeds: list[set[int]] = [set() for _ in parts]
    views: list[set[int]] = [set() for _ in parts]
    evaluated_in = {evaluation.cell: number for number, evaluation in evaluations}
    joined: set[tuple[int, int]] = set()
    for number, evaluation in evaluations:
        for product in evaluation.products:
            if product.base is not None and plan.cells[product.base].event != NO_EVENT:
                moves[plan.cells[product.base].event].add(number)
            joining = number if product.base is None else evaluated_in.get(product.base, number)
            if joining != number:
                joined |= {(joining, number), (number, joining)}
    of_regions = plan.numbering.of_regions
    for part, _, cell in updates(plan):
        views[part] |= {view_of[source] for source in cell.sources if source in view_of}
        if cell.window in of_regions:
            feeds[part].add(of_regions.index(cell.window))
    chosen = choices(plan)
    changed = [set(fed) for fed in feeds]
    for choice in chosen:
        # What is added to totals that would be made from forms is in the base of these.
        moves[choice.alone].add(choice.region)
        changed[choice.alone].add(choice.region)
    # Where one region has totals of another in its base, only one of them has forms that have changed, at any time.
    for changing, moved in zip(changed, moves, strict=True):
        moved |= {joining for region, joining in joined if region in changing}
    ended = [set(moved) for moved in moves[: len(plan.classes)]]
    for choice in chosen:
        ended[choice.event] |= {joining for region, joining in joined if region == choice.region}
    # Classes of which events do something whichever part they are of, or are of parts of several regions.
    busy = {update.part for update in updates(plan)} | {event for event, moved in enumerate(moves) if moved}
    busy |= {event for event, count in Counter(choice.event for choice in chosen).items() if count > 1}
    rows: list[list[int]] = []
    products: list[list[int]] = []
    for number, evaluation in evaluations:
        cell = plan.cells[evaluation.cell]
        view = -1 if evaluation.view is None else offsets[evaluation.view]
        begin = len(products)
        for product in evaluation.products:
            base = -1 if product.base is None else offsets[product.base]
            products.append(product_row(plan, product, offsets, base))
        where = [cell.arithmetic.value, cell.window, offsets[evaluation.cell], view]
        rows.append([*where, begin, len(products), number])
    units = [
        [[offsets[cell] + column, plan.cells[cell].arithmetic.value] for cell, column in region.space.units]
        for region in plan.regions
    ]
    regions = Regions(
        due=np.array([bool(m or v) for m, v in zip(moves, views, strict=True)], np.uint8),
        moves=_flat(moves),
        move_ends=_ends(moves),
        feeds=_flat(feeds),
        feed_ends=_ends(feeds),
        views=_flat(views),
        view_ends=_ends(views),
        evaluations=np.array(rows, np.int64).reshape(-1, 7),
        ends=_ends([region.space.forms for region in plan.regions]),
        all=np.arange(len(evaluations)),
        products=product_table(products),
        units=np.array([unit for some in units for unit in some], np.int64).reshape(-1, 2),
        unit_ends=_ends(units),
        choices=np.array([[*_choice(plan, choice), choice.event not in busy] for choice in chosen], np.int64).reshape(
            -1, 5
        ),
        choice_ends=_ends(
            [[choice for choice in chosen if choice.event == event] for event in range(len(plan.classes))]
        ),
        ended=_flat(ended),
        ended_ends=_ends(ended),
        masks=_masks(plan, chosen, ended),
        now=np.zeros((len(plan.regions), 9), np.int64),
        seen=np.full(len(evaluations), -1, np.int64),
        unsettled=np.zeros(1, np.uint8),
    )
    set_units(state.totals, regions.units)
    return regions


def _choice(plan: KernelPlan, choice: Choice) -> list[int]:
    least = plan.regions[choice.region].shares_from
    return [choice.region, choice.shared, choice.alone, NEVER if least is None else least]


def _masks(plan: KernelPlan, chosen: Iterable[Choice], ended: Iterable[Iterable[int]]) -> Ints:
    masks = np.zeros((len(plan.regions), 2, class_words(len(plan.classes))), np.int64)
    feeding = ((choice.region, FEEDING, choice.event) for choice in chosen)
    ending = ((region, ENDING, event) for event, regions in enumerate(ended) for region in regions)
    for region, purpose, event in (*feeding, *ending):
        masks[region, purpose, event // CLASSES_PER_WORD] |= 1 << event % CLASSES_PER_WORD
    return masks


def _flat(rows: Iterable[Collection[int]]) -> Ints:
    return np.array([item for row in rows for item in sorted(row)], np.int64)


def _ends(rows: Iterable[Sized]) -> Ints:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)
