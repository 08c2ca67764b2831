"""What is shown of events, kept for as long as a node names them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.tables.program import Ints

ROWS = 1 << 12
"""Rows from which on those are dropped that no node names."""


class KeptRows:
    """Columns of rows that are numbered through a run.

    Args:
        columns: Number of columns; without any, nothing is kept.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._batches: list[pa.RecordBatch] = []
        self._before: Ints = np.zeros(0, np.int64)
        self._base = self._end = 0
        self._worth = ROWS

    def add(self, batch: pa.RecordBatch, base: int) -> None:
        """Keep the rows of a batch, which are numbered from ``base`` on, where the batch before has ended."""
        if not self._columns:
            return
        if self._base == self._end:
            self._base = base
        self._batches.append(batch)
        self._end = base + batch.num_rows

    def is_large(self) -> bool:
        """Whether it is time to drop some."""
        return len(self._before) + self._end - self._base > self._worth

    def keep(self, numbers: Ints) -> None:
        """Drop all rows but those with some ``numbers``, ascending and distinct."""
        if not self._columns:
            return
        self._batches = [self._whole().take(as_arrow(self._indexes(numbers)))]
        self._before, self._base = numbers, self._end
        self._worth = max(ROWS, 2 * len(numbers))

    def take(self, column: int, numbers: Ints) -> pa.Array:
        """Values of a column in rows with some ``numbers``; NULL for -1."""
        missing = numbers < 0
        if not missing.any():
            return self._whole().column(column).take(as_arrow(self._indexes(numbers)))
        indexes = self._indexes(np.where(missing, self._base, numbers))
        return self._whole().column(column).take(as_arrow(indexes, ~missing))

    def _whole(self) -> pa.RecordBatch:
        if len(self._batches) > 1:
            self._batches = [pa.concat_batches(self._batches)]
        return self._batches[0]

    def _indexes(self, numbers: Ints) -> Ints:
        """Where rows are: those that were kept come first, then all since."""
        indexes: Ints = numbers - (self._base - len(self._before))
        is_older = numbers < self._base
        if is_older.any():
            indexes[is_older] = np.searchsorted(self._before, numbers[is_older])
        return indexes
