"""Arrow arrays as numpy's and back, by their buffers.

Arrow's own conversions import pandas, of which nothing is needed here: half a second of processor time, and 40 MB, in
each worker that starts.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_Number = TypeVar("_Number", np.int32, np.int64, np.float64)

_TYPES = {np.dtype(np.int32): pa.int32(), np.dtype(np.int64): pa.int64(), np.dtype(np.float64): pa.float64()}


def as_numbers(array: pa.Array, kind: type[_Number]) -> NDArray[_Number]:
    """Values of an array of ``kind``; those of NULLs mean nothing. Shape (rows,), read-only, not copied."""
    if not len(array):
        return np.zeros(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * np.dtype(kind).itemsize)


def as_flags(array: pa.Array) -> NDArray[np.bool_]:
    """Values of an array of booleans; those of NULLs mean nothing. Shape (rows,)."""
    if not len(array):
        return np.zeros(0, np.bool_)
    packed = np.frombuffer(array.buffers()[1], np.uint8)
    bits = np.unpackbits(packed, count=array.offset + len(array), bitorder="little")
    return bits[array.offset :].view(np.bool_)


def has_values(array: pa.Array) -> NDArray[np.bool_]:
    """Where an array is not NULL. Shape (rows,)."""
    return as_flags(array.is_valid())


def as_arrow(values: NDArray[Any], is_value: NDArray[np.bool_] | None = None) -> pa.Array:
    """An array of int32, int64 or float64, which may share memory with ``values``.

    Args:
        values: Shape (rows,).
        is_value: Where it is not NULL; everywhere if left out. Shape (rows,).
    """
    valid = None if is_value is None else pa.py_buffer(np.packbits(is_value, bitorder="little"))
    buffers = [valid, pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(_TYPES[values.dtype], len(values), buffers)


def as_decimals(high: NDArray[np.int64], low: NDArray[np.int64], is_value: NDArray[np.bool_]) -> pa.Array:
    """An array of decimal128(38, 0), of whole numbers by their high and low words.

    Args:
        high, low: Shape (rows,).
        is_value: Where it is not NULL. Shape (rows,).
    """
    words = np.stack([low, high], axis=1)
    valid = pa.py_buffer(np.packbits(is_value, bitorder="little"))
    return pa.Array.from_buffers(pa.decimal128(38, 0), len(high), [valid, pa.py_buffer(words)])


def as_word_pairs(array: pa.Array) -> NDArray[np.int64]:
    """Low and high words of an array of decimal128; those of NULLs mean nothing. Shape (rows, 2), read-only."""
    if not len(array):
        return np.zeros((0, 2), np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, 2 * len(array), 16 * array.offset).reshape(-1, 2)


def as_binary(value: pa.Buffer | NDArray[Any], kind: pa.DataType) -> pa.Array:
    """An array of one value, of ``binary`` or ``large_binary``, which shares memory with ``value``."""
    data = pa.py_buffer(value)
    offsets = np.array([0, data.size], np.int64 if pa.types.is_large_binary(kind) else np.int32)
    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(offsets), data])
