"""Where events add their part of a difference to extremes, as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import Column, Encoding, KernelPlan
from sparkext.udfs.state.assemble import anchored_cells
from sparkext.udfs.state.parts import updates
from sparkext.udfs.tables.columns import DOUBLE, WHOLE
from sparkext.udfs.tables.program import Ints


class Differences(NamedTuple):
    """What is added to what comes to cells, by the rows that these have in tables of `Program`.

    Attributes:
        of: Per row of ``updates``, column (-1: nothing is added), whether keys are of whole numbers or of doubles, and
            whether the greatest difference is wanted. Shape (cells, 3); see `ADDED_COLUMN` and so on.
        anchored: Likewise per row of ``anchored``.
    """

    of: Ints
    anchored: Ints


def new_differences(plan: KernelPlan) -> Differences:
    """The differences of a plan."""
    cells = [update.cell for update in updates(plan)], [plan.cells[number] for number in anchored_cells(plan)]
    rows = ([part_row(plan.columns, cell.addend) for cell in cells_of_kind] for cells_of_kind in cells)
    return Differences(*(np.array(cells_of_kind, np.int64).reshape(-1, 3) for cells_of_kind in rows))


def part_row(columns: Sequence[Column], addend: int | None) -> tuple[int, int, int]:
    """What an event adds to an extreme, as a row of such a table.

    Args:
        columns: Of the plan.
        addend: Which of them is added; None for nothing.
    """
    if addend is None:
        return -1, 0, 0
    column = columns[addend]
    return addend, DOUBLE if column.unit == "double" else WHOLE, column.encoding is Encoding.GREATEST_DIFFERENCE
