"""Regions of a kernel plan as flat arrays, and the arrays that hold how far they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Sized
from typing import NamedTuple

import numpy as np

from sparkext.planner.compiler.kernel_plan import NO_EVENT, KernelPlan, Product
from sparkext.udfs.state.assemble import cell_offsets, counted
from sparkext.udfs.state.fresh import set_units
from sparkext.udfs.state.program import Flags, Ints, State


class Regions(NamedTuple):
    """Where linear forms are kept, and what is known of them.

    Attributes:
        due: Per class, whether its events change a base or read what is evaluated.
        moves: Regions whose bases events change. Ordered by event class.
        move_ends: Begin of each class in ``moves``, and the end. Shape (classes + 1,).
        feeds: Regions to whose forms events add. Ordered by event class.
        feed_ends: Likewise.
        views: Evaluations that events read. Ordered by event class.
        view_ends: Likewise.
        evaluations: Arithmetic, window, offset of the cell, offset of its view (-1: none), begin and end in
            ``products``, region. Ordered by region. Shape (evaluations, 7).
        ends: Begin of each region in ``evaluations``, and the end. Shape (regions + 1,).
        all: The numbers of all evaluations.
        products: Offset of the coefficient, offset of the base's cell (-1: the constant 1); for an extreme,
            arithmetic of the factor that is a count, and whether that is the total. Shape (products, 4).
        units: Offset of a coefficient that is 1 when its region has been rebased, and its arithmetic.
            Ordered by region. Shape (units, 2).
        unit_ends: Begin of each region in ``units``, and the end. Shape (regions + 1,).
        now: Per region: whether its forms have changed since it was rebased, whether something is pending
            in them, whether events at the latest time change its base, whether something is pending in the
            totals that are evaluated, how often these have changed. Shape (regions, 5).
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
    now: Ints
    seen: Ints
    unsettled: Flags


def new_regions(plan: KernelPlan, state: State) -> Regions:
    """Regions before the first event; their units are set in ``state``."""
    offsets = cell_offsets(plan)
    evaluations = [(number, e) for number, region in enumerate(plan.regions) for e in region.evaluations]
    view_of = {e.view: place for place, (_, e) in enumerate(evaluations) if e.view is not None}
    moves: list[set[int]] = [set() for _ in plan.classes]
    feeds: list[set[int]] = [set() for _ in plan.classes]
    views: list[set[int]] = [set() for _ in plan.classes]
    evaluated_in = {evaluation.cell: number for number, evaluation in evaluations}
    joined: set[tuple[int, int]] = set()
    for number, evaluation in evaluations:
        for product in evaluation.products:
            if product.base is not None and plan.cells[product.base].event != NO_EVENT:
                moves[plan.cells[product.base].event].add(number)
            other = number if product.base is None else evaluated_in.get(product.base, number)
            if other != number:
                joined |= {(other, number), (number, other)}
    of_regions = range(len(plan.windows), len(plan.windows) + len(plan.regions))
    for cell in plan.cells:
        if cell.event != NO_EVENT:
            views[cell.event] |= {view_of[source] for source in cell.sources if source in view_of}
            if cell.window in of_regions:
                feeds[cell.event].add(cell.window - len(plan.windows))
    # Where one region has totals of another in its base, only one of them has forms that have changed, at any time.
    for fed, moved in zip(feeds, moves, strict=True):
        moved |= {other for region, other in joined if region in fed}
    rows: list[list[int]] = []
    products: list[list[int]] = []
    for number, evaluation in evaluations:
        cell = plan.cells[evaluation.cell]
        view = -1 if evaluation.view is None else offsets[evaluation.view]
        begin = len(products)
        products += (_product(plan, product, offsets) for product in evaluation.products)
        where = [cell.arithmetic.value, cell.window, offsets[evaluation.cell], view]
        rows.append([*where, begin, len(products), number])
    units = [
        [[offsets[cell] + column, plan.cells[cell].arithmetic.value] for cell, column in region.units]
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
        ends=_ends([region.evaluations for region in plan.regions]),
        all=np.arange(len(evaluations)),
        products=np.array(products, np.int64).reshape(-1, 4),
        units=np.array([unit for some in units for unit in some], np.int64).reshape(-1, 2),
        unit_ends=_ends(units),
        now=np.zeros((len(plan.regions), 5), np.int64),
        seen=np.full(len(evaluations), -1, np.int64),
        unsettled=np.zeros(1, np.uint8),
    )
    set_units(state.totals, regions.units)
    return regions


def _product(plan: KernelPlan, product: Product, offsets: Sequence[int]) -> list[int]:
    base = -1 if product.base is None else offsets[product.base]
    return [offsets[product.form] + product.column, base, *counted(plan, product)]


def _flat(rows: Iterable[Collection[int]]) -> Ints:
    return np.array([item for row in rows for item in sorted(row)], np.int64)


def _ends(rows: Iterable[Sized]) -> Ints:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)
