"""The order of rows by several columns, whose values are packed into words of 64 bits that numpy sorts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkext.udfs.arrow.arrays import as_numbers, has_values
from sparkext.udfs.arrow.key_changes import changes
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
        column: Of a type that `sparkext.udfs.arrow.order_keys.encode` knows, or of texts or bytes; or of structs or
            lists of such.
    """
    is_value = has_values(column)
    if pa.types.is_struct(column.type):
        return [
            digit(is_value.view(np.uint8)),
            *(digit_of_field for field in column.flatten() for digit_of_field in digits_of(field)),
        ]
    if _is_list(column.type):
        return [digit(_list_ranks(column))]
    if _has_any_length(column.type):
        encoded = column.dictionary_encode()
        ranks = np.append(ranks_of(encoded.dictionary), np.int32(0))  # the last is for the indexes of NULLs
        parts = [ranks[np.where(is_value, as_numbers(encoded.indices, np.int32), -1)]]
    else:
        high, low = encode(column, reverse=False)
        parts = [np.where(is_value, high, 0), np.where(is_value, low, 0).view(np.uint64)]
    return [digit(is_value.view(np.uint8)), *map(digit, parts)]


def moments(column: pa.Array) -> NDArray[np.bool_]:
    """Where the value of a column comes after that of the row before in the order of `digits_of`, not in the first row.

    Args:
        column: In order; NULL equals NULL, NaN equals NaN.
    """
    if not (pa.types.is_struct(column.type) or _is_list(column.type)):
        return changes(column)
    is_later = np.zeros(len(column), np.bool_)
    for digit in digits_of(column):
        is_later[1:] |= digit.values[1:] != digit.values[:-1]
    return is_later


def _list_ranks(column: pa.Array) -> Ints:
    """Ranks of lists, which are ordered by their first elements that differ, and begin with NULL. Shape (rows,)."""
    elements = column.flatten()
    of_elements = _ranks(digits_of(elements), len(elements)).tolist()
    lengths = as_numbers(pc.list_value_length(column).fill_null(0).cast(pa.int64()), np.int64)
    ends = np.cumsum(lengths)
    bounds = zip((ends - lengths).tolist(), ends.tolist(), has_values(column).tolist(), strict=True)
    lists = [tuple(of_elements[begin:end]) if is_value else None for begin, end, is_value in bounds]
    ranks: dict[tuple[int, ...] | None, int] = {None: 0}
    ranks |= {value: rank for rank, value in enumerate(sorted({key for key in lists if key is not None}), 1)}
    return np.array([ranks[key] for key in lists], np.int64)


def _ranks(digits: Sequence[Digit], rows: int) -> Ints:
    """Where rows are in their order, from 0 on; equal rows have one rank. Shape (rows,)."""
    order = row_order(digits, rows)
    is_new = np.zeros(rows, np.bool_)
    for digit in digits:
        in_order = digit.values[order]
        is_new[1:] |= in_order[1:] != in_order[:-1]
    ranks = np.empty(rows, np.int64)
    ranks[order] = np.cumsum(is_new)
    return ranks


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
    left = [digit for digit in digits if digit.bits]
    most = max(rows - 1, 0).bit_length()
    while sum(digit.bits for digit in left) > _WORD:
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
    for digit in digits:
        words <<= np.uint64(digit.bits % _WORD)
        words |= digit.values
    return words


def _ranked(words: Words | NDArray[np.uint32]) -> Digit:
    """Words in as few bits as can tell them apart in their order."""
    order = np.argsort(words)
    in_order = words[order]
    ranks = np.zeros(len(words), np.uint64)
    np.cumsum(in_order[1:] != in_order[:-1], out=ranks[1:])
    numbered = np.empty(len(words), np.uint64)
    numbered[order] = ranks
    return Digit(numbered, int(ranks[-1]).bit_length())


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _has_any_length(kind: pa.DataType) -> bool:
    """Whether values are texts or bytes."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)
