"""What Spark calls with the events of a bucket, and when its timer is due."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.bucket_keys import bucket_keys
from sparkext.udfs.streams.packs import as_bytes, from_bytes
from sparkext.udfs.streams.stored import NEVER, DamagedError, UnusableError
from sparkext.udfs.streams.stream_plan import StreamPlan

UNITS_PER_MILLISECOND = 1000
"""Watermarks are in milliseconds, event times in microseconds."""

OUTPUT = (
    "bucket INT, results BINARY, problem STRING, events BIGINT, late BIGINT, kept BIGINT, size BIGINT, "
    "lateness BIGINT, computed BIGINT, windows BIGINT, written BIGINT, pages_read BIGINT, pages_written BIGINT, "
    "micros BIGINT, kernel_micros BIGINT"
)
"""Columns of what a bucket writes, as Spark writes a schema."""


class OutputRow(NamedTuple):
    """A row of `OUTPUT`: some results, or what is wrong, or at the end what has been counted."""

    bucket: int
    results: bytes | None = None
    problem: str | None = None
    events: int | None = None
    late: int | None = None
    kept: int | None = None
    size: int | None = None
    lateness: int | None = None
    computed: int | None = None
    windows: int | None = None
    written: int | None = None
    pages_read: int | None = None
    pages_written: int | None = None
    micros: int | None = None
    kernel_micros: int | None = None

    def asDict(self, recursive: bool = False) -> dict[str, Any]:  # noqa: N802
        """By column: Spark asks for it, as of a Row of its own."""
        del recursive
        return self._asdict()


class _SparkStore:
    """Keeps the bytes of a bucket in Spark's state store.

    Attributes:
        pages_read: How many pages have been read.
        pages_written: How many have been written.
    """

    def __init__(self, handle: Any) -> None:
        self.pages_read = self.pages_written = 0
        self._header = handle.getValueState("bucket", "data BINARY")
        self._pages = handle.getMapState("pages", "page INT", "data BINARY")

    def header(self) -> bytes | None:
        row = self._header.get()
        return None if row is None else bytes(row[0])

    def put_header(self, data: bytes) -> None:
        self._header.update((data,))

    def page(self, number: int) -> bytes | None:
        self.pages_read += 1
        row = self._pages.getValue((number,))
        return None if row is None else bytes(row[0])

    def put_page(self, number: int, data: bytes) -> None:
        self.pages_written += 1
        self._pages.updateValue((number,), (data,))

    def drop_page(self, number: int) -> None:
        self._pages.removeKey((number,))


class TrendProcessor:
    """A stateful processor of Spark's, whose groups are buckets. Spark asks for methods, and not for a base class.

    Args:
        of: What is computed.
    """

    def __init__(self, of: StreamPlan) -> None:
        self._of = of
        self._numbers = {key: number for number, key in enumerate(bucket_keys(of.buckets))}

    def init(self, handle: Any) -> None:
        """Take what keeps the state."""
        self._handle = handle
        self._store = _SparkStore(handle)

    def handleInputRows(self, key: Any, rows: Iterable[Any], timerValues: Any) -> Iterator[OutputRow]:  # noqa: N802, N803
        """Events of a bucket, or a call without any, which each bucket gets in each micro-batch."""
        packs = [bytes(row[1]) for row in rows if row[1] is not None]
        return self._stepped(self._number(key), packs, timerValues.getCurrentWatermarkInMs(), is_due=False)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[OutputRow]:  # noqa: N802, N803
        """The watermark has moved without rows."""
        del expiredTimerInfo
        return self._stepped(self._number(key), [], timerValues.getCurrentWatermarkInMs(), is_due=True)

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Events from before the stream; a bucket may have some of each task that has read them, or none."""
        del timerValues
        del key
        pack = initialState[1]
        Bucket(self._of, self._store).begin([] if pack is None else [bytes(pack)])

    def close(self) -> None:
        """There is nothing to close."""

    def _number(self, key: Any) -> int:
        """Number of a bucket; those that only a checkpoint has, of other buckets, are called by their keys."""
        return self._numbers.get(int(key[0]), int(key[0]))

    def _stepped(self, number: int, packs: list[bytes], watermark: int, is_due: bool) -> Iterator[OutputRow]:
        try:
            yield from self._rows(number, packs, watermark, is_due)
        except UnusableError as error:
            yield OutputRow(number, problem=str(error))
        except DamagedError as error:
            remedy = "Go on from a backup of the checkpoint, or start with a new one"
            yield OutputRow(number, problem=f"{error} of bucket {number} is damaged. {remedy}")

    def _rows(self, number: int, packs: list[bytes], watermark: int, is_due: bool) -> Iterator[OutputRow]:
        began, store, written = time.perf_counter(), self._store, 0
        pages_read, pages_written = store.pages_read, store.pages_written
        bucket = Bucket(self._of, store)
        # A timer at the watermark itself would fire in this micro-batch, and be gone.
        tick, was = watermark + 1, bucket.header.tick
        if is_due and was > watermark:
            return  # rows have called it in this micro-batch
        if was != tick:
            if was >= 0 and not is_due:
                self._handle.deleteTimer(was)
            self._handle.registerTimer(tick)
            bucket.header.tick = tick
        for rows in bucket.step(packs, UNITS_PER_MILLISECOND * watermark if watermark > 0 else NEVER):
            written += rows.num_rows
            yield OutputRow(number, as_bytes(rows))
        counts = bucket.counts
        yield OutputRow(
            number,
            events=counts.events,
            late=counts.late,
            kept=counts.kept,
            size=counts.size,
            lateness=counts.lateness,
            computed=counts.computed,
            windows=counts.windows,
            written=written,
            pages_read=store.pages_read - pages_read,
            pages_written=store.pages_written - pages_written,
            micros=int(1e6 * (time.perf_counter() - began)),
            kernel_micros=int(1e6 * counts.kernel_seconds),
        )


def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What `mapInArrow` is given: results of buckets in, their rows out."""
    for batch in batches:
        for results in batch.column(0):
            if results.is_valid:
                yield from_bytes(results.as_buffer())
