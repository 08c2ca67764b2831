"""What an event costs the buckets of a stream, without Spark, where it is in many windows: beside the batch kernel."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.kernel import COUNT, MINUTE, Stream, compiled, nanoseconds, query
from benchmarks.report import Result, Row, Target
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.udfs.arrow.arrays import as_arrow
from sparkext.udfs.arrow.order_keys import as_int64
from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.packs import as_bytes
from tests.support.streams import MemoryStore, stream_plan

PATTERNS = (
    "A B+ C",
    "A B+",
    "B+ C",
    "A+ B C",
    "A C+",
    "(A B)+ C",
    "A B+ C+",
    "C A+ B",
    "A+ C",
    "B A+ C",
)
MIX = {"A": 0.3, "B": 0.4, "C": 0.3}
TARGETS = {4: 3_000, 60: 4_000, 360: 6_000}
"""Nanoseconds an event of one query, by how many windows it is in."""


@dataclass(frozen=True, slots=True)
class Case:
    """A stream that is measured.

    Attributes:
        queries: How many.
        overlap: In how many windows an event is.
        keys: Among how many events are divided.
        events: That come in a slide.
        trigger: Slides in a micro-batch.
    """

    queries: int
    overlap: int
    keys: int = 100
    events: int = 1_000
    trigger: int = 1

    @property
    def phi(self) -> float:
        """How often an event is in a window that ends, or in one of several that end at once."""
        return (self.overlap + self.trigger) / self.trigger

    def pool(self) -> list[Query]:
        """The queries."""
        total = Aggregate(Function.SUM, "B", Attribute("vol", "bigint"))
        window = Window(self.overlap * MINUTE, MINUTE)
        return [query(text, text, COUNT, total, window=window) for text in PATTERNS[: self.queries]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a stream has taken once its windows were full.

    Attributes:
        nanoseconds: Of a processor, an event.
        computed: How often an event was given to the kernel.
        size: Of the state, bytes an event that is kept.
        slowest: Of all micro-batches, milliseconds.
    """

    nanoseconds: float
    computed: float
    size: float
    slowest: float


def measured(case: Case, batches: int) -> Measured:
    """Let micro-batches go through a bucket, after as many as fill its windows.

    Args:
        case: The stream.
        batches: How many.
    """
    queries = case.pool()
    plan = compiled(queries, is_stream=True)
    filling = -(-case.overlap // case.trigger) + 1
    packs, schema, step = _packs(case, plan, filling + batches)
    of = stream_plan(plan, queries, Layout(1, 1), schema)
    store = MemoryStore()
    taken, slowest, computed, size = 0.0, 0.0, 0, 0.0
    for number, pack in enumerate(packs):
        begin = time.process_time()
        bucket = Bucket(of, store)
        for rows in bucket.step([pack], number * step):
            as_bytes(rows)
        seconds = time.process_time() - begin
        if number >= filling:
            taken += seconds
            slowest = max(slowest, seconds)
            computed += bucket.counts.computed
            size = max(size, bucket.counts.size / max(1, bucket.counts.kept))
    events = batches * case.events * case.trigger
    return Measured(taken / events * 1e9, computed / events, size, slowest * 1e3)


def _packs(case: Case, plan: KernelPlan, batches: int) -> tuple[list[bytes], pa.Schema, int]:
    """Events by micro-batch, in the order of time, as a bucket is given them; and how long a micro-batch is."""
    events = batches * case.events * case.trigger
    step = case.trigger * MINUTE
    apart = batches * step // (events // case.keys)
    rows = Stream(events, case.keys, apart=apart, mix=MIX).rows(plan)
    times = as_int64(rows.column(2))
    hashes = np.random.default_rng(1).integers(-(1 << 63), 1 << 63, case.keys)[as_int64(rows.column(1))]
    whole = pa.RecordBatch.from_arrays(
        [as_arrow(hashes), *rows.columns[:2], rows.column(2).cast(pa.timestamp("us")), *rows.columns[3:]],
        ["hash", *rows.schema.names],
    )
    order = np.argsort(times, kind="stable")
    ends = np.searchsorted(times[order], np.arange(1, batches + 1) * step)
    begins = np.append(0, ends[:-1])
    packs = [
        as_bytes(whole.take(as_arrow(order[begin:end])))
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    return packs, whole.schema, step


def run(bench: Bench) -> Result:
    """One query and ten, by how many windows are open."""
    batches = bench.pick(720, 120, 4)
    events = bench.pick(1_000, 1_000, 20)
    overlaps: Sequence[int] = bench.pick((4, 60, 360), (4, 60, 360), (4, 12))
    rows = []
    for number in (1, 10):
        for overlap in overlaps:
            case = Case(number, overlap, events=events)
            plan = compiled(case.pool())
            stream = Stream(100 * events, case.keys, apart=case.keys * MINUTE // events, mix=MIX)
            alone = nanoseconds({"": (plan, stream)}, bench.pick(3, 1, 1))[""]
            found = measured(case, max(batches, overlap))
            what = f"{number} {'query' if number == 1 else 'queries'}, {overlap} windows, a trigger a slide"
            rows.append(Row(f"{what}, of the batch kernel", found.nanoseconds, "ns", "the batch kernel", alone))
            target = Target(TARGETS[overlap]) if number == 1 and overlap in TARGETS else None
            rows.append(Row(what, found.nanoseconds, "ns", target=target))
    about = f"{events:,} events a slide of {Case(1, 1).keys} keys, `A B+ C` and the like, `COUNT` and `SUM`"
    return Result(rows, about, "processor time, with the state in memory; micro-batches after the first windows")


BENCHMARK = Benchmark("stream-phi", "events of a stream that are in many windows, against the batch kernel", run)
