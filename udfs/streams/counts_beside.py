"""What is counted once in a group and window, in the rows of its totals, where all of a micro-batch are in one task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.streams.combined_rows import numbered
from sparkext.udfs.tables.program import Ints


class CountBeside(NamedTuple):
    """A count that rows of other banks have as well.

    Attributes:
        name: Its column there.
        bank: Number of the bank that has it.
        column: Its column in that bank.
    """

    name: str
    bank: int
    column: str


def counts_beside(
    counts: Sequence[CountBeside], groups: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given: rows of the kernel in, the same rows with counts of their group and window out.

    All rows of a window leave their buckets in one micro-batch. Spark has no window functions over streams, so it is
    done here; the rows are few.

    Args:
        counts: What is counted.
        groups: How many columns stand before ``bank`` and ``window``.
    """

    def with_counts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if not parts:
            return
        rows = pa.concat_batches(parts)
        keys = np.stack([numbered(rows.column(index)) for index in (*range(groups), groups + 1)])
        key_of: Ints = np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1)  # of which numpy 2.0 has two axes
        banks = as_numbers(rows.column(groups), np.int32)
        added = rows
        for count in counts:
            has_it = np.flatnonzero(banks == count.bank)
            row_of = np.full(int(key_of.max()) + 1, -1, np.int64)
            row_of[key_of[has_it]] = has_it
            which = row_of[key_of]
            added = added.append_column(count.name, rows.column(count.column).take(as_arrow(which, which >= 0)))
        yield added

    return with_counts
