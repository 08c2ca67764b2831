"""Rows of results as Arrow, with the columns of `result_columns`, and as flat arrays again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import COUNT_LIMIT, SCALE_BITS, STUCK_HIGH, Arithmetic, Encoding, Field
from sparkext.planner.kernel_plan.result_columns import BEYOND, DOUBLE, EXACT, NUMBER, SCALE, field_column
from sparkext.udfs.arrow.arrays import as_arrow, as_decimals, as_numbers, as_word_pairs, has_values
from sparkext.udfs.arrow.order_keys import as_int64, decode, encode_or_none
from sparkext.udfs.tables.field_indexes import FieldIndexes
from sparkext.udfs.tables.program import Floats, Ints, Output

_PARTS = [(EXACT, pa.decimal128(38, 0)), (DOUBLE, pa.float64()), (NUMBER, pa.float64()), (SCALE, pa.int64())]
Flags: TypeAlias = NDArray[np.bool_]
BEYOND_TYPE = pa.map_(pa.int32(), pa.struct(_PARTS))
_LIMIT_HIGH, _LIMIT_LOW = divmod(COUNT_LIMIT, 1 << 64)
_MOST_BITS = 5000
"""Of the exponent of a double, from which on nothing changes."""


class FieldValues(NamedTuple):
    """What one field is in some rows. All have shape (rows,).

    Attributes:
        high: High words of counts (EXACT) or of order keys (EXTREME), or scales (NUMBER).
        low: Their low words; nothing for NUMBER.
        numbers: The numbers; nothing for others.
    """

    high: Ints
    low: Ints = np.zeros(0, np.int64)
    numbers: Floats = np.zeros(0)


def result_batch(
    output: Output,
    rows: int,
    groups: pa.RecordBatch | None,
    fields: Sequence[Field],
    indexes: Sequence[FieldIndexes],
    types: Mapping[str, pa.DataType],
) -> pa.RecordBatch:
    """The first rows of ``output``: group keys, ``bank`` (int32), ``window`` (int64), fields, and what does not fit.

    Args:
        output: Rows as the kernel writes them.
        rows: Their number.
        groups: Keys of the groups by number; None when there are no groups.
        fields: Output fields of the pool.
        indexes: Where they are in a row.
        types: Arrow types of attributes whose extremes are asked for, by their names in ``fields``.
    """
    columns: dict[str, pa.Array] = {}
    if groups is not None:
        columns |= zip(groups.schema.names, groups.take(as_arrow(output.group[:rows])).columns, strict=True)
    columns["bank"] = as_arrow(output.bank[:rows].astype(np.int32))
    columns["window"] = as_arrow(output.window[:rows].copy())
    values = []
    for field, index in zip(fields, indexes, strict=True):
        high = output.words[:rows, index.word].copy()
        if field.arithmetic is Arithmetic.NUMBER:
            values.append(FieldValues(high, numbers=output.floats[:rows, index.float].copy()))
        else:
            values.append(FieldValues(high, output.words[:rows, index.word + 1].copy()))
    columns |= field_columns(fields, values, types, rows)
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def field_columns(
    fields: Sequence[Field], values: Sequence[FieldValues], types: Mapping[str, pa.DataType], rows: int
) -> dict[str, pa.Array]:
    """Columns of fields, and of what does not fit, by name.

    Args:
        fields: Output fields of the pool.
        values: Of each.
        types: Arrow types of attributes whose extremes are asked for, by their names in ``fields``.
        rows: How many there are.
    """
    columns: dict[str, pa.Array] = {}
    beyond = _Beyond(rows)
    for number, (field, (high, low, numbers)) in enumerate(zip(fields, values, strict=True)):
        match field.arithmetic:
            case Arithmetic.NUMBER:
                column = as_arrow(numbers, beyond.add_numbers(number, high, numbers))
            case Arithmetic.EXACT:
                column = as_arrow(low, beyond.add_counts(number, high, low))
            case Arithmetic.EXTREME:
                column = decode(high, low, types[str(field.type)], field.encoding is Encoding.GREATEST)
        columns[field_column(number, field)] = column
    columns[BEYOND] = beyond.column()
    return columns


def extreme_types(fields: Sequence[Field], schema: pa.Schema) -> dict[str, pa.DataType]:
    """Arrow types of attributes whose extremes are asked for, by their names in ``fields``, as columns of results."""
    return {
        str(field.type): schema.field(field_column(number, field)).type
        for number, field in enumerate(fields)
        if field.arithmetic is Arithmetic.EXTREME
    }


def field_values(fields: Sequence[Field], batch: pa.RecordBatch) -> list[FieldValues]:
    """Values of each field in a batch with the columns of `field_columns`."""
    beyond = _entries(batch.column(BEYOND))
    values = []
    for number, field in enumerate(fields):
        column = batch.column(field_column(number, field))
        if field.arithmetic is Arithmetic.EXTREME:
            values.append(FieldValues(*encode_or_none(column, field.encoding is Encoding.GREATEST)))
            continue
        entries = slice(*np.searchsorted(beyond.fields, (number, number + 1)))
        rows = beyond.rows[entries]
        high = np.zeros(batch.num_rows, np.int64)
        if field.arithmetic is Arithmetic.NUMBER:
            numbers = as_numbers(column, np.float64).copy()
            high[rows], numbers[rows] = beyond.scales[entries], beyond.numbers[entries]
            values.append(FieldValues(high, numbers=numbers))
        else:
            low = as_int64(column).copy()
            high[rows], low[rows] = beyond.high[entries], beyond.low[entries]
            values.append(FieldValues(high, low))
    return values


class _Entries(NamedTuple):
    """Entries of maps of what does not fit, by field: row, field, and value of each. All have shape (entries,)."""

    rows: Ints
    fields: Ints
    high: Ints
    low: Ints
    numbers: Floats
    scales: Ints


def _entries(maps: pa.MapArray) -> _Entries:
    offsets = as_numbers(maps.offsets, np.int32)
    rows = np.repeat(np.arange(len(maps)), np.diff(offsets))
    held = maps.items.slice(offsets[0], len(rows))
    fields = as_int64(maps.keys.slice(offsets[0], len(rows)))
    order = np.argsort(fields, kind="stable")
    exact = held.field(EXACT)
    low, high = as_word_pairs(exact).T[:, order]
    has_digits = has_values(exact)[order]
    numbers = as_numbers(held.field(NUMBER), np.float64)[order]
    scales = as_int64(held.field(SCALE))[order]
    return _Entries(
        rows[order],
        fields[order],
        np.where(has_digits, high, STUCK_HIGH),
        np.where(has_digits, low, 0),
        numbers,
        scales,
    )


class _Some(NamedTuple):
    """What does not fit of one field. All have shape (entries,)."""

    rows: Ints
    field: NDArray[np.int32]
    is_count: Flags
    high: Ints
    low: Ints
    numbers: Floats
    scales: Ints


class _Beyond:
    """The map of what does not fit, filled field by field."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._some: list[_Some] = []

    def add_counts(self, field: int, high: Ints, low: Ints) -> Flags | None:
        """Take the counts of a field that do not fit; returns where they do, None for everywhere."""
        beyond: Flags = (high != 0) | (low < 0)
        rows = np.flatnonzero(beyond)
        if not len(rows):
            return None
        nothing = np.zeros(len(rows), np.int64)
        self._add(field, rows, True, high[rows], low[rows], np.zeros(len(rows)), nothing)
        fits: Flags = ~beyond
        return fits

    def add_numbers(self, field: int, scales: Ints, numbers: Floats) -> Flags | None:
        """Take the numbers of a field whose scale is not 0; returns where it is, None for everywhere."""
        rows = np.flatnonzero(scales)
        if not len(rows):
            return None
        nothing = np.zeros(len(rows), np.int64)
        self._add(field, rows, False, nothing, nothing, numbers[rows], scales[rows])
        fits: Flags = scales == 0
        return fits

    def _add(
        self, field: int, rows: Ints, is_count: bool, high: Ints, low: Ints, numbers: Floats, scales: Ints
    ) -> None:
        of_field, flags = np.full(len(rows), field, np.int32), np.full(len(rows), is_count)
        self._some.append(_Some(rows, of_field, flags, high, low, numbers, scales))

    def column(self) -> pa.MapArray:
        if not self._some:
            return pa.nulls(self._rows, BEYOND_TYPE)
        rows = np.concatenate([some.rows for some in self._some])
        order = np.argsort(rows, kind="stable")
        _, fields, is_count, high, low, numbers, scales = (
            np.concatenate(parts)[order] for parts in zip(*self._some, strict=True)
        )
        counts = np.bincount(rows, minlength=self._rows)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        is_number = ~is_count
        parts = [
            as_decimals(high, low, is_count & _has_38_digits(high, low)),
            as_arrow(_doubles(numbers, scales), is_number),
            as_arrow(numbers, is_number),
            as_arrow(scales, is_number),
        ]
        return pa.MapArray.from_arrays(
            as_arrow(offsets, np.append(counts != 0, True)),
            as_arrow(fields),
            pa.StructArray.from_arrays(parts, [name for name, _ in _PARTS]),
        )


def _has_38_digits(high: Ints, low: Ints) -> Flags:
    """Whether counts are below `COUNT_LIMIT`, by their high and low words."""
    is_below: Flags = low.view(np.uint64) < np.uint64(_LIMIT_LOW)
    has: Flags = (high < _LIMIT_HIGH) | ((high == _LIMIT_HIGH) & is_below)
    return has


def _doubles(numbers: Floats, scales: Ints) -> Floats:
    """Scaled doubles as doubles: infinite, or zero, where they are none."""
    bits = np.clip(scales, -_MOST_BITS // SCALE_BITS, _MOST_BITS // SCALE_BITS) * SCALE_BITS
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(numbers, bits)
