"""Arrow batches of events as flat arrays, and where keys change."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import Column, Encoding, KernelPlan, Layout, class_words
from sparkext.udfs.arrow.arrays import as_arrow, as_flags, as_numbers, has_values
from sparkext.udfs.arrow.difference_keys import encode_part
from sparkext.udfs.arrow.key_changes import changes, same
from sparkext.udfs.arrow.order_keys import as_int64, encode
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Flags, Floats, Ints


def rows_of(batch: Batch, begin: int, end: int) -> Batch:
    """The events of a batch from ``begin`` to ``end``; all of them are the batch itself."""
    if begin == 0 and end == len(batch.time):
        return batch
    return Batch(
        time=batch.time[begin:end],
        chunk=batch.chunk[begin:end],
        new_key=batch.new_key[begin:end],
        new_group=batch.new_group[begin:end],
        classes=batch.classes[begin:end],
        valid=np.ascontiguousarray(batch.valid[:, begin:end]),
        numbers=np.ascontiguousarray(batch.numbers[:, begin:end]),
        key_high=np.ascontiguousarray(batch.key_high[:, begin:end]),
        key_low=np.ascontiguousarray(batch.key_low[:, begin:end]),
    )


def keys_at(batch: pa.RecordBatch, keys: int, rows: Ints) -> pa.RecordBatch:
    """Keys of some rows of a batch, decoded if they are encoded there.

    Args:
        batch: Whose first columns are keys.
        keys: How many of these are wanted.
        rows: Numbers of the rows.
    """
    taken = batch.select(range(keys)).take(as_arrow(rows))
    for number, column in enumerate(taken.columns):
        if pa.types.is_dictionary(column.type):
            taken = taken.set_column(number, taken.schema.names[number], column.dictionary_decode())
    return taken


class BatchReader:
    """Reads batches of one sorted stream; remembers the last row to see whether the next has its key."""

    def __init__(self, plan: KernelPlan, layout: Layout) -> None:
        self._plan = plan
        self._layout = layout
        self._last: list[pa.Scalar] | None = None
        self._identities: dict[object, int] = {}
        self._origins: dict[str | None, float] = {}

    def read(self, batch: pa.RecordBatch) -> Batch:
        """The arrays of a batch that is not empty."""
        rows, columns = batch.num_rows, batch.columns
        groups, keys = self._layout.group_keys, self._layout.keys
        new_group = np.zeros(rows, np.bool_)
        new_key = np.zeros(rows, np.bool_)
        for index in range(keys):
            differs = self._changes(columns[index], index)
            new_key |= differs
            if index < groups:
                new_group |= differs
        if self._last is None:
            new_key[0] = new_group[0] = True
        self._last = [column[rows - 1] for column in columns[:keys]]

        words = class_words(len(self._plan.classes))
        attributes = columns[keys + 1 + words :]
        if new_key[0]:
            self._identities.clear()  # only events of one key are compared
        valid, numbers, key_high, key_low = self._attributes(attributes, rows)
        return Batch(
            time=as_int64(columns[keys]),
            chunk=np.zeros(0, np.int64) if self._layout.chunk is None else as_int64(columns[keys - 1]),
            new_key=new_key.view(np.uint8),
            new_group=new_group.view(np.uint8),
            classes=np.column_stack([as_int64(column) for column in columns[keys + 1 : keys + 1 + words]]),
            valid=valid,
            numbers=numbers,
            key_high=key_high,
            key_low=key_low,
        )

    def _changes(self, column: pa.Array, index: int) -> NDArray[np.bool_]:
        """Where a key column differs from the row before, of the batch before if need be."""
        is_changed = changes(column)
        is_changed[0] = self._last is not None and not same(self._last[index], column[0])
        return is_changed

    def _attributes(self, arrays: list[pa.Array], rows: int) -> tuple[Flags, Floats, Ints, Ints]:
        plan = self._plan.columns
        valid = np.empty((len(plan), rows), np.uint8)
        numbers = np.empty((len(plan), rows), np.float64)
        keyed = any(column.encoding not in (Encoding.NUMBER, Encoding.PRESENT) for column in plan)
        key_high = np.empty((len(plan) if keyed else 0, rows), np.int64)
        key_low = np.empty((len(plan) if keyed else 0, rows), np.int64)
        for index, (column, array) in enumerate(zip(plan, arrays, strict=True)):
            match column.encoding:
                case Encoding.PRESENT:
                    valid[index] = as_flags(array) & has_values(array)
                case Encoding.NUMBER:
                    valid[index] = has_values(array)
                    numbers[index] = as_numbers(array, np.float64)
                case Encoding.AFTER | Encoding.BEFORE:
                    valid[index] = has_values(array)
                    later = as_numbers(array, np.float64)
                    later = later - self._origin(column, later[valid[index].view(np.bool_)])
                    numbers[index] = later if column.encoding is Encoding.AFTER else -later
                case Encoding.LEAST | Encoding.GREATEST:
                    valid[index] = has_values(array)
                    key_high[index], key_low[index] = encode(array, column.encoding is Encoding.GREATEST)
                case Encoding.LEAST_DIFFERENCE | Encoding.GREATEST_DIFFERENCE:
                    valid[index] = has_values(array)
                    key_high[index], key_low[index], numbers[index] = encode_part(array, column)
                    if column.is_beside:
                        valid[index] &= (numbers[index] == -np.inf) == (column.encoding is Encoding.GREATEST_DIFFERENCE)
                case Encoding.IDENTITY:
                    valid[index] = has_values(array)
                    key_high[index], key_low[index] = self._identity(array), 0
        return valid, numbers, key_high, key_low

    def _origin(self, column: Column, values: Floats) -> float:
        """The first value that columns of one origin have had, so that what is added up are small numbers."""
        if column.origin not in self._origins:
            finite = values[np.isfinite(values)]
            if not len(finite):
                return 0.0
            self._origins[column.origin] = float(finite[0])
        return self._origins[column.origin]

    def _identity(self, array: pa.Array) -> Ints:
        """A number for each value, the same for equal ones; that of NULL means nothing."""
        encoded = array.dictionary_encode()
        identities = self._identities
        values = encoded.dictionary.cast(pa.large_binary()).to_pylist()  # a string of Spark's may be any bytes
        numbers = np.array([identities.setdefault(value, len(identities)) for value in values], np.int64)
        if not len(numbers):
            return np.zeros(len(array), np.int64)
        return numbers[np.where(has_values(array), as_numbers(encoded.indices, np.int32), 0)]
