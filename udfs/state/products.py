"""Products of coefficients and totals, of which linear forms are the sums: one table for regions, panes and spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import Arithmetic, KernelPlan, Product
from sparkext.udfs.tables.columns import PRODUCT_COLUMNS
from sparkext.udfs.tables.program import Ints


def product_row(plan: KernelPlan, product: Product, offsets: Sequence[int], base: int, place: int = -1) -> list[int]:
    """A row: offset of the coefficient, the total; of an extreme what the factors are; place of the coefficient.

    Of the two factors of an extreme, the columns say which arithmetic the one has that is a count, and whether that
    is the total.

    Args:
        plan: The plan.
        product: What the row is about.
        offsets: Per cell, the offset of its lane 0.
        base: Where the total is found, which its table says; -1 for the constant 1.
        place: Where the coefficient is in a matrix that is kept; -1 when none is.
    """
    of_total = plan.cells[product.form].arithmetic is Arithmetic.EXTREME
    count = product.base if of_total else product.form
    kind = Arithmetic.EXACT if count is None else plan.cells[count].arithmetic
    return [offsets[product.form] + product.column, base, kind.value, int(of_total), place]


def product_table(rows: Iterable[Sequence[int]]) -> Ints:
    """The rows as an array."""
    return np.array(list(rows), np.int64).reshape(-1, PRODUCT_COLUMNS)
