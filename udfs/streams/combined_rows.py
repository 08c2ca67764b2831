"""Adding up rows of one group that come from several keys, where all of a micro-batch are in one task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import Field
from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.arrow.combined import combined


def combined_rows(fields: Sequence[Field], keys: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given: rows in any order in, one row for each key out.

    All rows of a window leave their buckets in one micro-batch. Spark does not sort within a task of a stream, so it
    is done here; the rows are few.

    Args:
        fields: Output fields of the pool.
        keys: How many columns are keys: groups, ``bank`` and ``window``.
    """
    kernel = combined(fields, keys)

    def combine(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.concat_batches(parts)
        numbers = [numbered(column) for column in rows.columns[:keys]]
        order = as_arrow(np.lexsort(numbers).astype(np.int64, copy=False))
        yield from kernel(iter([rows.take(order)]))

    return combine


def numbered(column: pa.Array) -> np.ndarray:
    """A number for each value, the same for equal ones; NULL and NaN equal themselves."""
    encoded = column.dictionary_encode(null_encoding="encode")
    return as_numbers(encoded.indices, np.int32)
