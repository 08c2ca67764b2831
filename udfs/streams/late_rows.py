"""Events that come too late, as rows among those of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.arrow.order_keys import as_int64

LATE = -(1 << 31)
"""In place of the number of a bank, which no bank has."""

LATE_BY = "late_by"
"""Name of the column behind those of the kernel: how long after the watermark an event came, NULL in rows of banks."""

_Kernel = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def late_rows(parts: Sequence[pa.RecordBatch], until: int, keys: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A row for each event that has come too late.

    Args:
        parts: The events, behind a hash of their keys.
        until: The watermark before which they are, in units of the event time.
        keys: How many keys they have, those of groups first.
        schema: Of the rows: groups, ``bank``, ``window``, which has the time here, values of the kernel, `LATE_BY`.
    """
    groups = schema.get_field_index("bank")
    for events in parts:
        size = events.num_rows
        times = as_int64(events.column(keys + 1))
        of_keys = [events.column(1 + index).cast(schema.types[index]) for index in range(groups)]
        banks = as_arrow(np.full(size, LATE, np.int32))
        nothing = [pa.nulls(size, kind) for kind in schema.types[groups + 2 : -1]]
        columns = [*of_keys, banks, as_arrow(times), *nothing, as_arrow(until - times)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def beside_late(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of the kernel, with the columns of those of late events."""
    return rows.append_column(LATE_BY, pa.nulls(rows.num_rows, pa.int64()))


def beside_combined(kernel: _Kernel, groups: int) -> _Kernel:
    """A kernel that adds rows up, for rows among which are those of late events, which stay as they are.

    Args:
        kernel: As `sparkext.udfs.streams.combined_rows.combined_rows` gives it.
        groups: How many columns stand before ``bank``.
    """

    def combine(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = []
        for batch in batches:
            is_late = as_numbers(batch.column(groups), np.int32) == LATE
            late, of_kernel = (batch.take(as_arrow(np.flatnonzero(which))) for which in (is_late, ~is_late))
            if late.num_rows:
                yield late
            parts.append(of_kernel.drop_columns([LATE_BY]))
        yield from map(beside_late, kernel(iter(parts)))

    return combine
