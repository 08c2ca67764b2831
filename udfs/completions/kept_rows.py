"""What is shown of events, kept for as long as a node names them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.state.program import Ints

ROWS = 1 << 17
"""Rows from which on those are dropped that no node names."""


class KeptRows:
    """Columns of rows that are numbered through a run.

    Args:
        columns: Number of columns; without any, nothing is kept.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._batches: list[pa.RecordBatch] = []
        self._numbers: list[Ints] = []
        self._rows = 0
        self._worth = ROWS

    def add(self, batch: pa.RecordBatch, base: int) -> None:
        """Keep the rows of a batch, which are numbered from ``base`` on."""
        if self._columns:
            self._batches.append(batch)
            self._numbers.append(np.arange(base, base + batch.num_rows))
            self._rows += batch.num_rows

    def is_large(self) -> bool:
        """Whether it is time to drop some."""
        return self._rows > self._worth

    def keep(self, numbers: Ints) -> None:
        """Drop all rows but those with some ``numbers``, ascending and distinct."""
        if not self._columns:
            return
        known = np.concatenate(self._numbers)
        indexes = as_arrow(np.searchsorted(known, numbers))
        table = pa.Table.from_batches(self._batches).take(indexes).combine_chunks()
        self._batches = table.to_batches() or [self._batches[0].slice(0, 0)]
        self._numbers, self._rows = [numbers], len(numbers)
        self._worth = max(ROWS, 2 * len(numbers))

    def take(self, column: int, numbers: Ints) -> pa.Array:
        """Values of a column in rows with some ``numbers``; NULL for -1."""
        known = np.concatenate(self._numbers)
        indexes = np.searchsorted(known, numbers)
        chunks = pa.chunked_array([batch.column(column) for batch in self._batches])
        found = chunks.take(as_arrow(np.where(numbers < 0, 0, indexes), numbers >= 0))
        return found.combine_chunks() if found.num_chunks != 1 else found.chunk(0)
