"""Parts of differences as order keys that can be added: 128-bit whole numbers, or doubles."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import Column, Encoding, Field
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers, has_values
from sparkext.udfs.arrow.order_keys import as_int64, encode
from sparkext.udfs.tables.program import Floats, Ints

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")


def difference_types(fields: Iterable[Field]) -> dict[str, pa.DataType]:
    """Arrow types of the fields that differences may be in, decimals and doubles, by their names."""
    types: dict[str, pa.DataType] = {}
    for name in {str(field.type) for field in fields}:
        if name == "double":
            types[name] = pa.float64()
        elif digits := _DECIMAL.fullmatch(name):
            types[name] = pa.decimal128(int(digits[1]), int(digits[2]))
    return types


def encode_part(values: pa.Array, column: Column) -> tuple[Ints, Ints, Floats]:
    """Order keys of the parts of a difference, and doubles themselves; those of NULLs mean nothing.

    Whole numbers and decimals are their own keys, of both words, so that the sum of two keys is that of their sum.

    Args:
        values: 64-bit integers, decimals or doubles.
        column: Whether they are taken away, and whether the least or the greatest difference is wanted.
    """
    reverse = column.encoding is Encoding.GREATEST_DIFFERENCE
    if pa.types.is_floating(values.type):
        numbers = as_numbers(values, np.float64) * (-1.0 if column.is_taken else 1.0)
        return *encode(as_arrow(numbers, has_values(values)), reverse), numbers
    if pa.types.is_decimal(values.type):
        high, low = encode(values, reverse=False)
    else:
        low = as_int64(values)
        high = low >> 63
    if column.is_taken:
        high, low = ~high + (low == 0), -low
    return *((~high, ~low) if reverse else (high, low)), np.zeros(len(values))
