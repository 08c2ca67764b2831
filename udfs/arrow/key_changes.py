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
    is_changed = np.zeros(len(column), np.bool_)
    missing = as_flags(column.is_null(nan_is_null=pa.types.is_floating(column.type)))
    differs = as_flags(pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)))
    is_changed[1:] = differs & ~(missing[1:] | missing[:-1])
    is_changed[1:] |= missing[1:] != missing[:-1]
    if pa.types.is_floating(column.type) and column.null_count:
        null = as_flags(column.is_null())
        is_changed[1:] |= null[1:] != null[:-1]
    return is_changed


def same(left: pa.Scalar, right: pa.Scalar) -> bool:
    """Whether two values of keys are the same."""
    if not left.is_valid or not right.is_valid:
        return bool(left.is_valid == right.is_valid)
    left_value, right_value = left.as_py(), right.as_py()
    return bool(left_value == right_value or (left_value != left_value and right_value != right_value))
