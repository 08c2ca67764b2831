"""A stream below Spark: micro-batches of events, a watermark that follows them, and buckets with their states."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sparkext.planner.compiler.compile import compile_completions, compile_plan
from sparkext.planner.kernel_plan.event_form import event_form, needs_of
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout, too_many
from sparkext.planner.patterns.query import Query
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.streams import bucket as bucket_module
from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.packs import as_bytes
from sparkext.udfs.streams.stored import NEVER
from sparkext.udfs.streams.stream_plan import StreamPlan, StreamQuery
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import Partials, combined, difference, kernel_rows, query_results, source_batch
from tests.support.kernel_twin import KernelRow
from tests.support.prev_conditions import MEANINGS

END = 1 << 61
"""A watermark that is after all events."""


def draw_page_sizes(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let pages be put together as usual, or never, and hold many events, or two."""
    random = Random(seed)
    monkeypatch.setattr(bucket_module, "SMALL_PAGE", random.choice((0, bucket_module.SMALL_PAGE)))
    monkeypatch.setattr(bucket_module, "MOST_ROWS", random.choice((2, bucket_module.MOST_ROWS)))


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


def stream_plan(
    plan: KernelPlan,
    queries: Sequence[Query],
    layout: Layout,
    events: pa.Schema,
    buckets: int = 1,
    orders: int = 0,
    ahead: int | None = 0,
    on_change: str = "refuse",
) -> StreamPlan:
    """What is computed of a stream.

    Args:
        plan: Of the queries.
        queries: In the order of its results.
        layout: Of events.
        events: Their schema, with a hash of keys.
        buckets: How many there are.
        orders: Number of expressions of ORDER BY beside the time.
        ahead: See `StreamPlan`.
        on_change: Likewise.
    """
    names = [f"o{number}" for number in range(orders)]
    asked = []
    for query, result in zip(queries, plan.results, strict=True):
        of_query = template_of([query])
        if query.completion is None:
            own = compile_plan(of_query, share_equal_prefixes(of_query))
        else:
            own = compile_completions(of_query, orders, ())
        banks = [bank for bank in (result.bank, result.counted_in) if bank is not None]
        slide = None if query.window is None else query.window.slide
        needs = needs_of(own, names)
        assert set(needs_of(plan, names)).issuperset(needs)
        asked.append(
            StreamQuery(
                f"{_text(query)} {event_form(own, names).columns}", needs, (*banks, *map(too_many, banks)), slide
            )
        )
    form, needs = event_form(plan, names), needs_of(plan, names)
    return StreamPlan(plan, layout, buckets, {"the keys": "g"}, tuple(asked), form, needs, events, ahead, on_change)


def _text(query: Query) -> str:
    completion = query.completion
    kind = None if completion is None else completion.has_rows
    parts = query.pattern, query.selection, query.window, query.span, query.wait, kind, query.classes, query.steps
    return " ".join(map(str, parts))


def streamed(
    plan: KernelPlan,
    queries: Sequence[Query],
    rows: Sequence[KernelRow],
    micro_batches: Sequence[Arrival],
    random: Random,
) -> tuple[Partials, int]:
    """The rows that buckets write, and how many events they find late. Nothing must be left in the states."""
    layout = Layout(len(rows[0].group), len(rows[0].other))
    written, late = written_rows(plan, queries, layout, source_batch(plan, rows), micro_batches, random)
    return combined(plan, layout, written), late


def stream_problems(
    plan: KernelPlan,
    queries: Sequence[Query],
    events: Sequence[Event],
    cut: Callable[[Sequence[int], Random], list[Arrival]],
    random: Random,
) -> list[str]:
    """What differs between a stream of events and the enumerator over those that are not late.

    Args:
        plan: Of the queries.
        queries: With windows.
        events: In any order.
        cut: Gives the micro-batches of events of some times.
        random: What else is drawn.
    """
    rows = kernel_rows(plan, events, keep_unmatched=True)
    times = [row.time for row in rows]
    micro_batches = cut(times, random)
    kept = in_time(times, micro_batches)
    partials, late = streamed(plan, queries, rows, micro_batches, random)
    faults = []
    if late != len(rows) - len(kept):
        faults.append(f"{late} events are late, and should be {len(rows) - len(kept)}")
    for asked, result in zip(queries, plan.results, strict=True):
        expected = enumerate_results(asked, [events[index] for index in kept], MEANINGS)
        problem = difference(expected, query_results(asked, result, partials))
        if problem is not None:
            faults.append(f"{asked.pattern}, {asked.window}: {problem}")
    return faults


def written_rows(
    plan: KernelPlan,
    queries: Sequence[Query],
    layout: Layout,
    events: pa.RecordBatch,
    micro_batches: Sequence[Arrival],
    random: Random,
    orders: int = 0,
) -> tuple[list[dict[str, Any]], int]:
    """What `streamed` gives, as rows, of events as a batch pass is given them."""
    source = Source.of(events, layout)
    of = stream_plan(plan, queries, layout, source.events.schema, random.choice((1, 2, 3)), orders)
    stores = [MemoryStore() for _ in range(of.buckets)]
    written: list[dict[str, Any]] = []
    late = 0
    for micro_batch in micro_batches:
        rows, more = source.step(of, stores, micro_batch, random)
        written += rows
        late += more
    for store in stores:
        assert not store.pages
        assert Bucket(of, store).header.pages == []
    return written, late


@dataclass(frozen=True)
class Source:
    """Events of a stream, with hashes of their keys; these are few, so that different keys have one."""

    events: pa.RecordBatch
    hashes: list[int]

    @classmethod
    def of(cls, events: pa.RecordBatch, layout: Layout) -> Source:
        """Of events as a batch pass is given them."""
        keys = [tuple(row.values()) for row in events.select(range(layout.keys)).to_pylist()]
        hashes = [zlib.crc32(repr(keys[row] if keys else ()).encode()) % 5 for row in range(len(events))]
        arrays = [pa.array(hashes, pa.int64()), *events.columns]
        return cls(pa.RecordBatch.from_arrays(arrays, ["hash", *events.schema.names]), hashes)

    def step(
        self, of: StreamPlan, stores: Sequence[MemoryStore], micro_batch: Arrival, random: Random
    ) -> tuple[list[dict[str, Any]], int]:
        """The rows that buckets write in a micro-batch, and how many events they find late."""
        written: list[dict[str, Any]] = []
        late = 0
        for number, store in enumerate(stores):
            of_bucket = [index for index in micro_batch.rows if self.hashes[index] % of.buckets == number]
            cut = random.randint(0, len(of_bucket))
            parts = [part for part in (of_bucket[:cut], of_bucket[cut:]) if part]
            packs = [as_bytes(self.events.take(pa.array(part, pa.int64()))) for part in parts]
            bucket = Bucket(of, store)
            written += [row for batch in bucket.step(packs, micro_batch.watermark) for row in batch.to_pylist()]
            late += bucket.counts.late
        return written, late
