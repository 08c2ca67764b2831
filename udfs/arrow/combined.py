"""Adding up partial results of one group that come from different partition keys and tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import SCALE_BITS, STUCK_HIGH, Arithmetic, Field
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.key_changes import changes
from sparkext.udfs.arrow.result_batch import FieldValues, extreme_types, field_columns, field_values
from sparkext.udfs.tables.program import Floats, Ints

_HALF = 32
_LOW_HALF = (1 << _HALF) - 1
_NO_SCALE = -(1 << 62)


def combined(fields: Sequence[Field], keys: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given: rows of results sorted by their keys in, one row for each key out.

    The columns stay as they are: the keys, then those of `sparkext.udfs.arrow.result_batch.field_columns`.

    Args:
        fields: Output fields of the pool.
        keys: How many columns are keys: groups, ``bank`` and ``window``.
    """

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        last: pa.RecordBatch | None = None
        for batch in batches:
            if batch.num_rows:
                totals = by_key(fields, keys, batch if last is None else placed_after(last, batch))
                last = totals.slice(totals.num_rows - 1)  # the next batch may go on with its key
                if totals.num_rows > 1:
                    yield totals.slice(0, totals.num_rows - 1)
        if last is not None:
            yield last

    return kernel


def placed_after(row: pa.RecordBatch, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A row in front of a batch, whose types Spark may have given other names within."""
    return pa.concat_batches([row.cast(batch.schema), batch])


def by_key(fields: Sequence[Field], keys: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Sums and extremes of ``rows`` that have the same keys, which are next to each other."""
    begins_key = np.zeros(rows.num_rows, np.bool_)
    begins_key[0] = True
    for column in rows.columns[:keys]:
        begins_key |= changes(column)
    begins = np.flatnonzero(begins_key)
    held = field_values(fields, rows)
    totals = [added_up(field.arithmetic, values, begins) for field, values in zip(fields, held, strict=True)]
    of_keys = rows.select(range(keys)).take(as_arrow(begins))
    columns = dict(zip(of_keys.schema.names, of_keys.columns, strict=True))
    columns |= field_columns(fields, totals, extreme_types(fields, rows.schema), len(begins))
    return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


def added_up(arithmetic: Arithmetic, values: FieldValues, begins: Ints) -> FieldValues:
    """Sums or extremes of a field.

    Args:
        arithmetic: Of the field.
        values: Shape (rows,).
        begins: Rows from which on values go into another total, the first of all included.
    """
    match arithmetic:
        case Arithmetic.EXACT:
            return _counts(values, begins)
        case Arithmetic.NUMBER:
            return _numbers(values, begins)
        case Arithmetic.EXTREME:
            return _least(values, begins)


def _counts(values: FieldValues, begins: Ints) -> FieldValues:
    """Sums of counts, by halves of their words, which cannot overflow for fewer than 2^31 rows.

    High words go no further than `STUCK_HIGH`.
    """
    words = values.low.view(np.uint64)
    lower = np.add.reduceat(words & np.uint64(_LOW_HALF), begins)
    upper = np.add.reduceat(words >> np.uint64(_HALF), begins) + (lower >> np.uint64(_HALF))
    low = ((upper << np.uint64(_HALF)) | (lower & np.uint64(_LOW_HALF))).view(np.int64)
    lower_high = np.add.reduceat(values.high & _LOW_HALF, begins) + (upper >> np.uint64(_HALF)).view(np.int64)
    upper_high = np.add.reduceat(values.high >> _HALF, begins) + (lower_high >> _HALF)
    is_stuck = upper_high > STUCK_HIGH >> _HALF
    high = (np.where(is_stuck, 0, upper_high) << _HALF) | (lower_high & _LOW_HALF)
    return FieldValues(np.where(is_stuck, STUCK_HIGH, np.minimum(high, STUCK_HIGH)), low)


def _numbers(values: FieldValues, begins: Ints) -> FieldValues:
    """Sums of scaled doubles, relative to the greatest scale of a number that is not 0."""
    scales, numbers = values.high, values.numbers
    if not scales.any():
        return FieldValues(np.zeros(len(begins), np.int64), numbers=np.add.reduceat(numbers, begins))
    scales = np.where(numbers == 0, _NO_SCALE, scales)
    tops = np.maximum.reduceat(scales, begins)
    # What is further away than three steps is nothing beside the greatest.
    steps = np.maximum(scales - _by_row(tops, begins, len(scales)), -3)
    shifted: Floats = np.ldexp(numbers, SCALE_BITS * steps)
    return FieldValues(np.where(tops == _NO_SCALE, 0, tops), numbers=np.add.reduceat(shifted, begins))


def _least(values: FieldValues, begins: Ints) -> FieldValues:
    """The least order keys."""
    high = np.minimum.reduceat(values.high, begins)
    low = values.low.view(np.uint64)
    low = np.where(values.high == _by_row(high, begins, len(values.high)), low, np.uint64(np.iinfo(np.uint64).max))
    return FieldValues(high, np.minimum.reduceat(low, begins).view(np.int64))


def _by_row(totals: Ints, begins: Ints, rows: int) -> Ints:
    """For each row the total of its key."""
    return np.repeat(totals, np.diff(begins, append=rows))
