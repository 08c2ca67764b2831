"""Events of a stream as bytes: in the shuffle, of which a bucket gets one row a task, and in the state of a bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparkext.udfs.arrow.arrays import as_arrow, as_numbers
from sparkext.udfs.streams.bucket_keys import bucket_keys

PACKED = "bucket INT, events BINARY"
"""Columns of packed events, as Spark writes a schema."""

MOST_ROWS = 1 << 19
"""Events that a task holds before it packs them."""

_Pack = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def as_bytes(rows: pa.RecordBatch) -> bytes:
    """Rows as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return bytes(sink.getvalue().to_pybytes())


def from_bytes(data: bytes | pa.Buffer) -> pa.RecordBatch:
    """What `as_bytes` was given."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


def packed(buckets: int, is_first: Callable[[], bool]) -> _Pack:
    """What `mapInArrow` is given: events in, of which the first column is the bucket; a row of `PACKED` for each out.

    There buckets have the keys of `sparkext.udfs.streams.bucket_keys.bucket_keys`.

    Args:
        buckets: How many there are.
        is_first: Whether this is the first task of its stage. It writes a row for each bucket, so that all see all
            micro-batches: what is late is then the same in each.
    """

    keys = np.array(bucket_keys(buckets), np.int32)

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if is_first():
            yield _rows(keys, [None] * buckets)
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            if batch.num_rows:
                waiting.append(batch)
            if sum(held.num_rows for held in waiting) >= MOST_ROWS:
                yield _by_bucket(pa.concat_batches(waiting), keys)
                waiting = []
        if waiting:
            yield _by_bucket(pa.concat_batches(waiting), keys)

    return pack


def _by_bucket(rows: pa.RecordBatch, keys: NDArray[np.int32]) -> pa.RecordBatch:
    numbers = as_numbers(rows.column(0), np.int32)
    order = np.argsort(numbers.astype(np.int16), kind="stable")  # in linear time for 16 bits
    numbers = numbers[order]
    events = rows.select(range(1, rows.num_columns)).take(as_arrow(order))
    begins = np.flatnonzero(np.diff(numbers, prepend=-1))
    sizes = np.diff(begins, append=len(numbers))
    packs = [as_bytes(events.slice(begin, size)) for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True)]
    return _rows(keys[numbers[begins]], packs)


def _rows(keys: NDArray[np.int32], packs: list[bytes] | list[None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([as_arrow(keys), pa.array(packs, pa.binary())], ["bucket", "events"])
