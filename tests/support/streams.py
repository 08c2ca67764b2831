"""A stream below Spark: micro-batches of events, a watermark that follows them, and buckets with their states."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.udfs.streams.bucket import Bucket, StreamPlan
from sparkext.udfs.streams.packs import as_bytes
from sparkext.udfs.streams.stored import NEVER
from tests.support.kernel_harness import Partials, combined, source_batch
from tests.support.kernel_twin import KernelRow

END = 1 << 61
"""A watermark that is after all events."""


@dataclass
class MemoryStore:
    """Keeps a bucket in dictionaries."""

    kept: bytes | None = None
    pages: dict[int, bytes] = field(default_factory=dict)

    def header(self) -> bytes | None:
        return self.kept

    def put_header(self, data: bytes) -> None:
        self.kept = data

    def page(self, number: int) -> bytes:
        return self.pages[number]

    def put_page(self, number: int, data: bytes) -> None:
        assert number not in self.pages
        self.pages[number] = data

    def drop_page(self, number: int) -> None:
        del self.pages[number]


@dataclass(frozen=True)
class Arrival:
    """A micro-batch: numbers of the events that come in it, and the watermark at its start."""

    rows: list[int]
    watermark: int


def arrivals(times: Sequence[int], random: Random) -> list[Arrival]:
    """Micro-batches in which events come in a random order; after the last, the watermark passes all of them."""
    span = max(times) - min(times) + 1 if times else 1
    disorder = random.choice((0, 1, 3, span))
    delay = random.choice((0, disorder // 2, disorder))
    order = sorted(range(len(times)), key=lambda index: times[index] + random.uniform(0, disorder))
    arrived: list[Arrival] = []
    watermark, latest, at = NEVER, NEVER, 0
    while at < len(order):
        rows = order[at : at + random.choice((0, 1, 2, 5, len(order)))]
        arrived.append(Arrival(rows, watermark))
        at += len(rows)
        latest = max([latest, *(times[index] for index in rows)])
        watermark = max(watermark, latest - delay)
    return [*arrived, Arrival([], watermark), Arrival([], END), Arrival([], END)]


def in_time(times: Sequence[int], micro_batches: Sequence[Arrival]) -> list[int]:
    """Numbers of the events that are not late: of a time before the watermark of the micro-batch before."""
    indexes: list[int] = []
    before = NEVER
    for arrival in micro_batches:
        indexes += [index for index in arrival.rows if times[index] >= before]
        before = arrival.watermark
    return sorted(indexes)


def streamed(
    plan: KernelPlan, rows: Sequence[KernelRow], micro_batches: Sequence[Arrival], random: Random
) -> tuple[Partials, int]:
    """The rows that buckets write, and how many events they find late.

    Hashes of keys are few, so that different keys have one. Nothing must be left in the states at the end.
    """
    layout = Layout(len(rows[0].group), len(rows[0].other))
    written, late = written_rows(plan, layout, source_batch(plan, rows), micro_batches, random)
    return combined(plan, layout, written), late


def written_rows(
    plan: KernelPlan, layout: Layout, events: pa.RecordBatch, micro_batches: Sequence[Arrival], random: Random
) -> tuple[list[dict[str, Any]], int]:
    """What `streamed` gives, as rows, of events as a batch pass is given them."""
    of = StreamPlan(plan, layout, random.choice((1, 2, 3)), {"PATTERN": "A"})
    keys = [tuple(row.values()) for row in events.select(range(layout.keys)).to_pylist()]
    hashes = np.array(
        [zlib.crc32(repr(keys[row] if keys else ()).encode()) % 5 for row in range(len(events))], np.int64
    )
    with_hash = pa.RecordBatch.from_arrays([pa.array(hashes), *events.columns], ["hash", *events.schema.names])
    stores = [MemoryStore() for _ in range(of.buckets)]
    written: list[pa.RecordBatch] = []
    late = 0
    for micro_batch in micro_batches:
        for number, store in enumerate(stores):
            of_bucket = [index for index in micro_batch.rows if hashes[index] % of.buckets == number]
            cut = random.randint(0, len(of_bucket))
            parts = [part for part in (of_bucket[:cut], of_bucket[cut:]) if part]
            packs = [as_bytes(with_hash.take(pa.array(part, pa.int64()))) for part in parts]
            bucket = Bucket(of, store)
            written += bucket.step(packs, micro_batch.watermark)
            late += bucket.counts.late
    for store in stores:
        assert not store.pages
        assert Bucket(of, store).header.pages == []
    return [row for batch in written for row in batch.to_pylist()], late
