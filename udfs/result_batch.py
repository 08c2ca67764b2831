"""Rows of results as Arrow, with the columns of `planner.result_columns`, and as flat arrays again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from planner.kernel_plan import Arithmetic, Encoding, Field
from planner.result_columns import BEYOND, VALUE, WORD, field_column
from udfs.arrays import as_arrow, as_numbers
from udfs.order_keys import as_int64, decode, encode_or_none
from udfs.program import FieldPlace, Floats, Ints, Output

BEYOND_TYPE = pa.map_(pa.int32(), pa.struct([(WORD, pa.int64()), (VALUE, pa.float64())]))


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
    places: Sequence[FieldPlace],
    types: Mapping[str, pa.DataType],
) -> pa.RecordBatch:
    """The first rows of ``output``: group keys, ``bank`` (int32), ``window`` (int64), fields, and what does not fit.

    Args:
        output: Rows as the kernel writes them.
        rows: Their number.
        groups: Keys of the groups by number; None when there are no groups.
        fields: Output fields of the pool.
        places: Where they are in a row.
        types: Arrow types of attributes whose extremes are asked for, by their names in ``fields``.
    """
    columns: dict[str, pa.Array] = {}
    if groups is not None:
        columns |= zip(groups.schema.names, groups.take(as_arrow(output.group[:rows])).columns, strict=True)
    columns["bank"] = as_arrow(output.bank[:rows].astype(np.int32))
    columns["window"] = as_arrow(output.window[:rows].copy())
    values = []
    for field, place in zip(fields, places, strict=True):
        high = output.words[:rows, place.word].copy()
        if field.arithmetic is Arithmetic.NUMBER:
            values.append(FieldValues(high, numbers=output.floats[:rows, place.float].copy()))
        else:
            values.append(FieldValues(high, output.words[:rows, place.word + 1].copy()))
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
                beyond.add(number, high, numbers)
                column = as_arrow(np.where(high == 0, numbers, 0.0))
            case Arithmetic.EXACT:
                beyond.add(number, high, None)
                column = as_arrow(low)
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
        high = np.zeros(batch.num_rows, np.int64)
        high[beyond.rows[entries]] = beyond.words[entries]
        if field.arithmetic is Arithmetic.NUMBER:
            numbers = as_numbers(column, np.float64).copy()
            numbers[beyond.rows[entries]] = beyond.values[entries]
            values.append(FieldValues(high, numbers=numbers))
        else:
            values.append(FieldValues(high, as_int64(column)))
    return values


class _Entries(NamedTuple):
    """Entries of maps of what does not fit, by field: row, field, and value of each. All have shape (entries,)."""

    rows: Ints
    fields: Ints
    words: Ints
    values: Floats


def _entries(maps: pa.MapArray) -> _Entries:
    offsets = as_numbers(maps.offsets, np.int32)
    rows = np.repeat(np.arange(len(maps)), np.diff(offsets))
    held = maps.items.slice(offsets[0], len(rows))
    fields = as_int64(maps.keys.slice(offsets[0], len(rows)))
    order = np.argsort(fields, kind="stable")
    values = as_numbers(held.field(VALUE), np.float64)
    return _Entries(rows[order], fields[order], as_int64(held.field(WORD))[order], values[order])


class _Beyond:
    """The map of what does not fit, filled field by field."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._places: list[np.ndarray] = []
        self._fields: list[np.ndarray] = []
        self._words: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def add(self, field: int, words: np.ndarray, values: np.ndarray | None) -> None:
        """What a field has beyond its column: ``words`` that are not 0, and ``values`` there, 0 if None."""
        places = np.flatnonzero(words)
        if len(places):
            self._places.append(places)
            self._fields.append(np.full(len(places), field, np.int32))
            self._words.append(words[places])
            self._values.append(np.zeros(len(places)) if values is None else values[places])

    def column(self) -> pa.MapArray:
        if not self._places:
            return pa.nulls(self._rows, BEYOND_TYPE)
        places = np.concatenate(self._places)
        order = np.argsort(places, kind="stable")
        counts = np.bincount(places, minlength=self._rows)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        words, values = (np.concatenate(parts)[order] for parts in (self._words, self._values))
        return pa.MapArray.from_arrays(
            as_arrow(offsets, np.append(counts != 0, True)),
            as_arrow(np.concatenate(self._fields)[order]),
            pa.StructArray.from_arrays([as_arrow(words), as_arrow(values)], [WORD, VALUE]),
        )
