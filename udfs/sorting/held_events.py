"""Events in memory, of which the values of keys are held once each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers, has_values
from sparkext.udfs.arrow.order_keys import as_int64
from sparkext.udfs.sorting.row_order import Codes, Digit, digit, digits_of, ranks_of, row_order
from sparkext.udfs.tables.program import Ints


class KeyColumn:
    """A column of keys, as numbers of its distinct values.

    Attributes:
        distinct: The different values, of which the first has number 1; None before there is any. NULL is number 0.
        codes: Numbers of the rows, in pieces.
    """

    def __init__(self) -> None:
        self.distinct: pa.Array | None = None
        self.codes: list[Codes] = []

    def add(self, column: pa.Array) -> None:
        """Take in the values of further rows."""
        self.codes.append(self._numbers(column))

    def all_codes(self) -> Codes:
        """Numbers of all rows."""
        if len(self.codes) != 1:
            self.codes = [np.concatenate(self.codes or [np.zeros(0, np.int32)])]
        return self.codes[0]

    @property
    def nbytes(self) -> int:
        """Size of the distinct values."""
        return 0 if self.distinct is None else self.distinct.nbytes

    def _numbers(self, column: pa.Array) -> Codes:
        is_value = has_values(column)
        if pa.types.is_dictionary(column.type):
            of_values = self._numbers(column.dictionary)
            indexes = as_numbers(column.indices, np.int32)
            return _of_values(of_values[np.where(is_value, indexes, 0)] if len(of_values) else indexes, is_value)
        if self.distinct is None:
            self.distinct = column.slice(0, 0)
        # Values that are known come first, each of which has then the number that it had.
        encoded = pa.concat_arrays([self.distinct, column]).dictionary_encode()
        indexes = as_numbers(encoded.indices, np.int32)[len(self.distinct) :]
        self.distinct = encoded.dictionary
        return _of_values(indexes + np.int32(1), is_value)


def _of_values(codes: Codes, is_value: NDArray[np.bool_]) -> Codes:
    """Numbers of rows, 0 where there is no value."""
    return np.where(is_value, codes, np.int32(0))


class HeldEvents:
    """Events that have come so far, in any order.

    Args:
        layout: Of the events.
        orders: Numbers of the columns by which events of one time are ordered.
    """

    def __init__(self, layout: Layout, orders: Sequence[int] = ()) -> None:
        self._layout = layout
        self._orders = orders
        self._key_count = layout.group_keys + layout.other_keys
        self.clear()

    def clear(self) -> None:
        """Forget all events."""
        self._keys = [KeyColumn() for _ in range(self._key_count)]
        self._others: list[list[pa.Array]] = []
        self._schema: pa.Schema | None = None
        self.rows = 0
        self.nbytes = 0

    @property
    def key_bytes(self) -> int:
        """Size of the distinct values of keys."""
        return sum(key.nbytes for key in self._keys)

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in a batch, of which memory is shared for all columns but keys. Keys may be encoded."""
        before = self.key_bytes
        if self._schema is None:
            self._schema = batch.schema
            self._others = [[] for _ in range(batch.num_columns - self._key_count)]
        for key, column in zip(self._keys, batch.columns, strict=False):
            key.add(column)
        for pieces, column in zip(self._others, batch.columns[self._key_count :], strict=True):
            pieces.append(column)
            self.nbytes += column.nbytes
        self.nbytes += 4 * batch.num_rows * self._key_count + self.key_bytes - before
        self.rows += batch.num_rows

    def order(self, by_value: bool) -> Ints:
        """Numbers of the rows in order: by group, key, chunk, time, and the further columns.

        Args:
            by_value: Whether keys are ordered by their values, as those of other events are, too; else in any way.
        """
        return row_order(self._digits(by_value), self.rows)

    def _digits(self, by_value: bool) -> Iterator[Digit]:
        for key in self._keys:
            codes = key.all_codes()
            if by_value and key.distinct is not None:
                codes = np.append(np.int32(0), ranks_of(key.distinct) + np.int32(1))[codes]
            yield digit(codes)
        if self._layout.chunk is not None:
            yield digit(as_int64(self._column(self._layout.keys - 1)))
        yield digit(as_int64(self._column(self._layout.keys)))
        for number in self._orders:
            yield from digits_of(self._column(number))

    def take(self, order: Ints) -> pa.RecordBatch:
        """Some rows, with keys encoded by all values that they have.

        Args:
            order: Numbers of the rows.
        """
        assert self._schema is not None
        indexes = as_arrow(order)
        columns: list[pa.Array] = []
        for key in self._keys:
            codes = key.all_codes()[order]
            columns.append(_encoded(codes, key.distinct))
        columns += [self._column(self._key_count + number).take(indexes) for number in range(len(self._others))]
        return pa.RecordBatch.from_arrays(columns, self._schema.names)

    def in_batches(self, order: Ints, rows: int) -> Iterator[pa.RecordBatch]:
        """The rows in an order, so many at once."""
        for at in range(0, len(order), rows):
            yield self.take(order[at : at + rows])

    def _column(self, number: int) -> pa.Array:
        """All of a column that is no key; its pieces are put together when it is first asked for."""
        pieces = self._others[number - self._key_count]
        if len(pieces) > 1:
            pieces[:] = [pa.concat_arrays(pieces)]
        return pieces[0]


def _encoded(codes: Codes, values: pa.Array) -> pa.DictionaryArray:
    """Values by their numbers."""
    is_value = codes != 0
    indexes = as_arrow(codes - np.int32(1), None if is_value.all() else is_value)
    return pa.DictionaryArray.from_arrays(indexes, values, safe=False)


def with_own_keys(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch whose encoded columns know no other values than they have."""
    columns = list(batch.columns)
    for number, column in enumerate(columns):
        if pa.types.is_dictionary(column.type):
            is_value = has_values(column)
            indexes = as_numbers(column.indices, np.int32)
            used, numbers = np.unique(indexes[is_value], return_inverse=True)
            codes = np.zeros(len(column), np.int32)
            codes[is_value] = numbers + 1
            columns[number] = _encoded(codes, column.dictionary.take(as_arrow(used)))
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
