"""Order keys: 128-bit integers (high signed, low unsigned bits in an int64) that sort as the values of a type do.

Integers, dates and timestamps are their own high word; doubles have their bits made monotone (NaN is
greatest, as in Spark); decimals use both words. For GREATEST the order is reversed.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sparkext.udfs.arrow.arrays import as_arrow, as_numbers, has_values
from sparkext.udfs.tables.program import NO_KEY, Ints

_MAGNITUDE = np.int64(np.iinfo(np.int64).max)


def encode(values: pa.Array, reverse: bool) -> tuple[Ints, Ints]:
    """Order keys of ``values``; those of NULLs mean nothing.

    Raises:
        TypeError: The type has no order keys.
    """
    kind = values.type
    if pa.types.is_decimal(kind):
        words = np.frombuffer(_decimal128(values).buffers()[1], np.int64).reshape(-1, 2)
        words = words[values.offset : values.offset + len(values)]
        high, low = words[:, 1].copy(), words[:, 0].copy()
        return (~high, ~low) if reverse else (high, low)
    if pa.types.is_floating(kind):
        numbers = as_numbers(values.cast(pa.float64()), np.float64) + 0.0
        bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)
        high = bits ^ ((bits >> 63) & _MAGNITUDE)
    elif pa.types.is_boolean(kind):
        high = as_int64(values.cast(pa.int8()))
    elif pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        high = as_int64(values)
    else:
        raise TypeError(f"no order keys for {kind}")
    return (~high if reverse else high), np.zeros(len(values), np.int64)


def encode_or_none(values: pa.Array, reverse: bool) -> tuple[Ints, Ints]:
    """Order keys of ``values``, those of NULLs `NO_KEY`, of which `decode` makes ``values`` again.

    Raises:
        TypeError: The type has no order keys.
    """
    high, low = encode(values, reverse)
    is_value = has_values(values)
    return np.where(is_value, high, NO_KEY[0]), np.where(is_value, low, NO_KEY[1])


def decode(high: Ints, low: Ints, kind: pa.DataType, reverse: bool) -> pa.Array:
    """Values of type ``kind`` that the order keys stand for; NULL for "no value"."""
    missing = (high == NO_KEY[0]) & (low == NO_KEY[1])
    if reverse:
        high = ~high
    if pa.types.is_decimal(kind):
        words = np.empty((len(high), 2), np.int64)
        words[:, 0] = ~low if reverse else low
        words[:, 1] = high
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little"))
        exact = pa.decimal128(kind.precision, kind.scale)
        return pa.Array.from_buffers(exact, len(high), [valid, pa.py_buffer(words)], int(missing.sum())).cast(kind)
    if pa.types.is_floating(kind):
        bits = high ^ ((high >> 63) & _MAGNITUDE)
        return as_arrow(bits.view(np.float64), ~missing).cast(kind)
    numbers = as_arrow(np.where(missing, 0, high), ~missing)
    return numbers.cast(pa.int32()).cast(kind) if pa.types.is_date32(kind) else numbers.cast(kind)


def as_int64(values: pa.Array) -> Ints:
    """Integers, dates (days) or timestamps (their own unit) as int64; 0 for NULL.

    They are copied, since numba compiles a kernel again for arrays that it must not write to.
    """
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    is_word = pa.types.is_timestamp(values.type) or pa.types.is_int64(values.type)
    numbers = as_numbers(values if is_word else values.cast(pa.int64()), np.int64)
    return np.where(has_values(values), numbers, 0) if values.null_count else numbers.copy()


def _decimal128(values: pa.Array) -> pa.Array:
    return values if pa.types.is_decimal128(values.type) else values.cast(pa.decimal128(38, values.type.scale))
