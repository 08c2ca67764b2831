"""Where keys of sorted rows change."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkext.udfs.arrow.arrays import as_flags


def changes(column: pa.Array) -> NDArray[np.bool_]:
    """Where a column differs from the row before, not in the first row; NULL equals NULL, NaN equals NaN.

    Args:
        column: Of plain values, or encoded, with no value twice among those that it knows.
    """
    if pa.types.is_dictionary(column.type):
        column = column.indices
    found = np.zeros(len(column), np.bool_)
    missing = as_flags(column.is_null(nan_is_null=pa.types.is_floating(column.type)))
    differs = as_flags(pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)))
    found[1:] = differs & ~(missing[1:] | missing[:-1])
    found[1:] |= missing[1:] != missing[:-1]
    if pa.types.is_floating(column.type) and column.null_count:
        null = as_flags(column.is_null())
        found[1:] |= null[1:] != null[:-1]
    return found


def same(one: pa.Scalar, other: pa.Scalar) -> bool:
    """Whether two values of keys are the same."""
    if not one.is_valid or not other.is_valid:
        return bool(one.is_valid == other.is_valid)
    a, b = one.as_py(), other.as_py()
    return bool(a == b or (a != a and b != b))
