"""Rows of results as Arrow, with the columns of `planner.result_columns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from planner.kernel_plan import Arithmetic, Encoding, Field
from planner.result_columns import BEYOND, VALUE, WORD, field_column
from udfs.order_keys import decode
from udfs.program import FieldPlace, Output

BEYOND_TYPE = pa.map_(pa.int32(), pa.struct([(WORD, pa.int64()), (VALUE, pa.float64())]))


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
        columns |= zip(groups.schema.names, groups.take(pa.array(output.group[:rows])).columns, strict=True)
    columns["bank"] = pa.array(output.bank[:rows].astype(np.int32))
    columns["window"] = pa.array(output.window[:rows].copy())
    beyond = _Beyond(rows)
    for number, (field, place) in enumerate(zip(fields, places, strict=True)):
        word = np.ascontiguousarray(output.words[:rows, place.word])
        if field.arithmetic is Arithmetic.NUMBER:
            held = output.floats[:rows, place.float]
            beyond.add(number, word, held)
            column = pa.array(np.where(word == 0, held, 0.0))
        else:
            low = np.ascontiguousarray(output.words[:rows, place.word + 1])
            if field.arithmetic is Arithmetic.EXACT:
                beyond.add(number, word, None)
                column = pa.array(low)
            else:
                column = decode(word, low, types[str(field.type)], field.encoding is Encoding.GREATEST)
        columns[field_column(number, field)] = column
    columns[BEYOND] = beyond.column()
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


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
            pa.array(offsets, mask=np.append(counts == 0, False)),
            pa.array(np.concatenate(self._fields)[order]),
            pa.StructArray.from_arrays([pa.array(words), pa.array(values)], [WORD, VALUE]),
        )
