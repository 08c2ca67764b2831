"""The order of rows by several columns, whose values are packed into words of 64 bits that numpy sorts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkext.udfs.arrow.arrays import as_numbers, has_values
from sparkext.udfs.arrow.order_keys import encode
from sparkext.udfs.tables.program import Ints

_WORD = 64

Words = NDArray[np.uint64]
Codes = NDArray[np.int32]


class Digit(NamedTuple):
    """What rows are ordered by, beside other digits.

    Attributes:
        values: Of the rows, none of which is negative. Shape (rows,).
        bits: How many the greatest of them has.
    """

    values: Words | NDArray[np.uint32]
    bits: int


def digit(values: NDArray[Any]) -> Digit:
    """Integers as a digit, in as few bits as their range has.

    Args:
        values: Integers of up to 64 bits. Shape (rows,).
    """
    if not len(values):
        return Digit(np.zeros(0, np.uint64), 0)
    least, greatest = int(values.min()), int(values.max())
    bits = (greatest - least).bit_length()
    if bits < 32 and values.dtype == np.int32:
        return Digit((values - np.int32(least)).view(np.uint32), bits)
    wide = values.astype(np.uint64) if values.dtype != np.int64 else values.view(np.uint64)
    return Digit(wide - np.uint64(least % (1 << _WORD)), bits)


def digits_of(column: pa.Array) -> list[Digit]:
    """Digits by which rows are ordered as Spark orders values of a column, ascending: NULLs first, NaN last.

    Args:
        column: Of a type that `sparkext.udfs.arrow.order_keys.encode` knows, or of texts or bytes.
    """
    is_value = has_values(column)
    if _has_any_length(column.type):
        encoded = column.dictionary_encode()
        ranks = np.append(ranks_of(encoded.dictionary), np.int32(0))  # the last is for the indexes of NULLs
        parts = [ranks[np.where(is_value, as_numbers(encoded.indices, np.int32), -1)]]
    else:
        high, low = encode(column, reverse=False)
        parts = [np.where(is_value, high, 0), np.where(is_value, low, 0).view(np.uint64)]
    return [digit(is_value.view(np.uint8)), *map(digit, parts)]


def ranks_of(distinct: pa.Array) -> Codes:
    """Where each of some distinct values is in their order, from 0 on. Shape (values,)."""
    ranks = np.empty(len(distinct), np.int32)
    ranks[as_numbers(pc.array_sort_indices(distinct), np.int64)] = np.arange(len(distinct), dtype=np.int32)
    return ranks


def row_order(digits: Iterable[Digit], rows: int) -> Ints:
    """Numbers of the rows in their order; rows that are equal come in any.

    Args:
        digits: What they are ordered by, the most significant first.
        rows: How many there are.
    """
    left = [one for one in digits if one.bits]
    most = max(rows - 1, 0).bit_length()
    while sum(one.bits for one in left) > _WORD:
        widest = max(range(len(left)), key=lambda at: left[at].bits)
        if left[widest].bits > most:
            left[widest] = _ranked(left[widest].values)
        else:
            left[-2:] = [_ranked(_packed(left[-2:]))]
    if not left:
        return np.arange(rows)
    words = _packed(left)
    left.clear()  # numpy needs room for the order as well
    return np.argsort(words)


def _packed(digits: Sequence[Digit]) -> Words:
    """Words of the digits, which are of no more bits than a word has."""
    words = np.zeros(len(digits[0].values), np.uint64)
    for one in digits:
        words <<= np.uint64(one.bits % _WORD)
        words |= one.values
    return words


def _ranked(words: Words | NDArray[np.uint32]) -> Digit:
    """Words in as few bits as can tell them apart in their order."""
    order = np.argsort(words)
    in_order = words[order]
    ranks = np.zeros(len(words), np.uint64)
    np.cumsum(in_order[1:] != in_order[:-1], out=ranks[1:])
    found = np.empty(len(words), np.uint64)
    found[order] = ranks
    return Digit(found, int(ranks[-1]).bit_length())


def _has_any_length(kind: pa.DataType) -> bool:
    """Whether values are texts or bytes."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)
