"""Buckets of a stream, without Spark, against the enumerator on random pools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sparkext.planner.automata.automaton import AutomatonTooLargeError
from sparkext.planner.compiler.compile import compile_completions, compile_plan
from sparkext.planner.kernel_plan.event_form import EventForm
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.planner.patterns.query import Completion, Mark, Query, Shown, Side, Window
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.planner.totals.pane_rows import PANES_FROM
from sparkext.udfs.arrow.order_keys import as_int64
from sparkext.udfs.streams import bucket as bucket_module
from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.bucket_keys import bucket_keys
from sparkext.udfs.streams.packs import as_bytes, from_bytes, packed
from sparkext.udfs.streams.processor import OUTPUT, OutputRow, TrendProcessor
from sparkext.udfs.streams.stored import (
    FORMAT,
    NEVER,
    DamagedError,
    Header,
    Page,
    UnusableError,
    page_bytes,
    page_events,
    page_of,
)
from sparkext.udfs.streams.stream_plan import StreamPlan
from sparkext.udfs.streams.windows_of_events import in_order
from tests.support.completion_pools import NUMBER, as_found, disagreements, draw, events_of, final_together, source_of
from tests.support.enumerator import Event
from tests.support.pools import COUNT, query
from tests.support.streams import (
    END,
    Arrival,
    MemoryStore,
    arrivals,
    draw_page_sizes,
    in_time,
    stream_plan,
    stream_problems,
    written_rows,
)
from tests.support.tiers import first
from tests.support.workloads import Workload, typed_class, workload

MOST_TIME = 1 << 60

FLIPS = 1000
"""Bits that are turned, one at a time."""


def problems(drawn: Workload, seed: int) -> list[str]:
    """What differs between a stream of the events of a pool and the enumerator over those that are not late."""
    random = Random(seed)
    queries = tuple(query for query in drawn.queries if query.window is not None and query.span is None)
    events = [event for event in drawn.events() if event.time is not None and abs(event.time) < MOST_TIME]
    if not queries or not events:
        return []
    faults: list[str] = []
    for some in dict.fromkeys((queries[:1], queries)):
        try:
            template = template_of(some)
        except AutomatonTooLargeError:  # a shuffle that is refused
            continue
        panes_from = random.choice((0, PANES_FROM))
        plan = compile_plan(template, share_equal_prefixes(template), panes_from, fallback=random.random() < 0.5)
        faults += (f"seed {seed}, {problem}" for problem in stream_problems(plan, some, events, arrivals, random))
    return faults


@pytest.mark.parametrize("seed", first(1, range(12)))
def test_random_pools_as_streams(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the language but SPAN, cut into micro-batches, with late events and with keys that have the same hash."""
    draw_page_sizes(monkeypatch, seed)
    faults = [problem for at in range(60) for problem in problems(workload(Random(1000 * seed + at)), seed + at)]
    assert not faults, "\n".join(faults)


def absences(random: Random) -> tuple[list[Query], list[Event]]:
    """Queries of what must not follow for some time, and random events."""
    asked = Completion(True, (Shown(Mark(Side.LAST, None), NUMBER), Shown()))
    # Some are final together, which one pass then computes.
    windows = [Window(random.randint(2, 12), random.randint(1, 6)) for _ in range(random.choice((1, 3)))]
    waits = [random.randint(1, 9) for _ in range(random.choice((1, 3)))]
    lengths = [random.randint(1, 9) for _ in range(random.choice((1, 3)))]
    queries = [
        replace(query(text, window=random.choice(windows)), aggregates=(), completion=asked)
        for text in ("A NOT B", "A B? NOT C", "A+ NOT (B C)")
    ]
    spans = [replace(query, span=random.choice(lengths)) for query in queries]
    queries += spans + [replace(span, window=None) for span in spans]
    times = [random.randrange(30) for _ in range(random.randint(3, 25))]
    classes = {name: typed_class(name) for name in "ABC"}
    events = [
        Event((), (random.choice("xy"),), time, frozenset({classes[random.choice("ABC")]}), {NUMBER.text: number})
        for number, time in enumerate(times)
    ]
    return [replace(query, wait=random.choice(waits)) for query in queries], events


def asked_of_completions(seed: int) -> tuple[list[Query], list[Event]]:
    """Queries with windows, or with rows and a span, and events, which may have an order."""
    drawn, events = draw(Random(seed))
    in_range = [event for event in events if event.time is not None and abs(event.time) < MOST_TIME]
    return [query for query in drawn.queries if query.window is not None or may_do_without(query)], in_range


def may_do_without(asked: Query) -> bool:
    """Whether a query needs no window over a stream."""
    return asked.span is not None and asked.completion is not None and asked.completion.has_rows


def completion_problems(queries: Sequence[Query], events: Sequence[Event], seed: int) -> tuple[int, list[str]]:
    """How many rows a stream has written for queries that ask for completions, and what the enumerator has not.

    Queries that are final together go together.
    """
    random = Random(seed)
    total, faults = 0, []
    orders = max((len(event.order) for event in events), default=0)
    for asked in final_together(queries):
        plan = compile_completions(template_of(asked), orders, ())
        source, layout = source_of(plan, events, orders)
        if source is None:
            continue
        assert plan.completions is not None
        plan = replace(plan, completions=replace(plan.completions, keys=tuple(range(layout.keys))))
        times = as_int64(source.column(layout.keys)).tolist()
        micro_batches = arrivals(times, random)
        of_rows = events_of(plan, events)
        kept = [of_rows[index] for index in in_time(times, micro_batches)]
        written, late = written_rows(plan, asked, layout, source, micro_batches, random, orders)
        total += len(written)
        faults += [
            f"seed {seed}: {problem}" for problem in disagreements(asked, kept, *as_found(asked, plan, layout, written))
        ]
        if late != len(source) - len(kept):
            faults.append(f"seed {seed}, {[str(query.pattern) for query in asked]}: {late} events are late")
    return total, faults


def _rounded(value: Any) -> Any:
    """A value; of a sum, what does not depend on the order in which events of one time are added up."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


@pytest.mark.parametrize("seed", first(1, range(12)))
def test_random_completions_as_streams(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and counts, cut into micro-batches, are what the enumerator says of the events that are not late.

    With WITHIN, with SPAN, with both, and with more in ORDER BY than the time.
    """
    draw_page_sizes(monkeypatch, seed)
    seeds = range(1000 * seed, 1000 * seed + 100)
    outcomes = [completion_problems(*asked_of_completions(at), at) for at in seeds]
    outcomes += [completion_problems(*absences(Random(at)), at) for at in seeds]
    faults = [problem for _, problems in outcomes for problem in problems]
    assert not faults, "\n".join(faults)
    assert sum(rows for rows, _ in outcomes) > 100


EVENT = pa.schema({"hash": pa.int64(), "key": pa.int64(), "time": pa.timestamp("us", tz="UTC"), "classes": pa.int64()})


def plan_of(window: Window, buckets: int = 1, pattern: str = "A+") -> StreamPlan:
    asked = query(pattern, COUNT, window=window)
    template = template_of([asked])
    return stream_plan(compile_plan(template, share_equal_prefixes(template)), [asked], Layout(1, 0), EVENT, buckets)


def pack(*events: tuple[int, int], zone: str = "UTC", classes: int = 1) -> bytes:
    """Events as bytes, by key and time; those of the first class of a plan are of type A if there is no other."""
    keys, times = zip(*events, strict=True)
    columns = [
        pa.array(keys, pa.int64()),
        pa.array(keys, pa.int64()),
        pa.array(times, pa.timestamp("us", tz=zone)),
        pa.array([classes] * len(keys), pa.int64()),
    ]
    return as_bytes(pa.RecordBatch.from_arrays(columns, ["hash", "key", "time", "classes"]))


def step(of: StreamPlan, store: MemoryStore, watermark: int, *packs: bytes) -> tuple[list[tuple[int, int]], Bucket]:
    """Key and window of the rows that are written, and the bucket."""
    bucket = Bucket(of, store)
    rows = [row for batch in bucket.step(packs, watermark) for row in batch.to_pylist()]
    return sorted((row["c1"] if "c1" in row else row["key"], row["window"]) for row in rows), bucket


def test_a_window_is_written_once_when_the_watermark_reaches_its_end() -> None:
    of, store = plan_of(Window(10, 5)), MemoryStore()
    assert step(of, store, NEVER, pack((1, 7), (2, 3)))[0] == []
    assert step(of, store, 4)[0] == []
    assert step(of, store, 5)[0] == [(2, -1)]
    assert step(of, store, 10, pack((1, 9), (1, 12)))[0] == [(1, 0), (2, 0)]
    assert step(of, store, 10)[0] == []
    assert step(of, store, 14)[0] == []
    written, bucket = step(of, store, END)
    assert written == [(1, 1), (1, 2)]
    assert store.pages == {}
    assert bucket.counts.kept == 0


WINDOW = Window(10, 5)


def completion_plan(
    pattern: str, wait: int | None = None, window: Window | None = WINDOW, span: int | None = None
) -> StreamPlan:
    counted = query(pattern, COUNT, window=window)
    asked = replace(counted, aggregates=(), completion=Completion(True, (Shown(),)), wait=wait, span=span)
    return stream_plan(compile_completions(template_of([asked])), [asked], Layout(1, 0), EVENT)


def test_a_completion_is_written_once_when_the_watermark_has_passed_its_event() -> None:
    """In each of its windows, long before these end."""
    of, store = completion_plan("A+"), MemoryStore()
    assert step(of, store, NEVER, pack((1, 7), (2, 3)))[0] == []
    assert step(of, store, 3)[0] == []  # an event at that time may yet come
    assert step(of, store, 4)[0] == [(2, -1), (2, 0)]
    assert step(of, store, 4)[0] == []
    assert step(of, store, 8, pack((1, 6), (1, 9)))[0] == [(1, 0), (1, 0), (1, 1), (1, 1)]
    assert step(of, store, END)[0] == [(1, 0), (1, 1)]
    assert store.pages == {}


def test_what_a_not_at_the_end_forbids_is_waited_for() -> None:
    of, store = completion_plan("A NOT B"), MemoryStore()
    assert [event_class.type for event_class in of.plan.classes] == ["B", "A"]
    assert step(of, store, 9, pack((1, 7), classes=2))[0] == []
    assert step(of, store, 10, pack((1, 12), classes=1))[0] == [(1, 0)]
    assert step(of, store, END)[0] == []


def test_what_must_not_follow_for_some_time_is_waited_for_that_long() -> None:
    """And no longer than the window is open."""
    of, store = completion_plan("A NOT B", wait=4), MemoryStore()
    assert step(of, store, 9, pack((1, 7), (2, 7), classes=2), pack((2, 8)))[0] == []
    assert step(of, store, 10)[0] == [(1, 0)]  # it ends at 10, and the other is waited for until 11
    assert step(of, store, 11, pack((1, 11)))[0] == [(1, 1)]
    assert step(of, store, END)[0] == []


def test_events_of_a_span_before_the_watermark_are_kept() -> None:
    """And those of the time that completions wait, without any window; each row is written once."""
    of, store = completion_plan("A B", window=None, span=5), MemoryStore()
    assert [event_class.type for event_class in of.plan.classes] == ["A", "B"]
    assert step(of, store, NEVER, pack((1, 7), (2, 3)))[0] == []
    _, bucket = step(of, store, 8)
    assert [(page.first, page.last) for page in bucket.header.pages] == [(7, 7)]
    assert step(of, store, 11, pack((1, 11), (2, 8), classes=2))[0] == []  # another event at 11 may come
    assert step(of, store, 12)[0] == [(1, 0)]
    written, bucket = step(of, store, END)
    assert (written, bucket.counts.kept, store.pages) == ([], 0, {})
    of, store = completion_plan("A NOT B", 4, None, 3), MemoryStore()
    step(of, store, NEVER, pack((1, 7), (2, 7), classes=2), pack((2, 10)))
    assert step(of, store, 10)[0] == []
    assert step(of, store, 11)[0] == [(1, 0)]
    assert step(of, store, END)[0] == []


def test_state_of_a_span_does_not_grow_with_time() -> None:
    of, store = completion_plan("A+ NOT B", 30, None, 70), MemoryStore()
    kept, sizes, rows = [], [], 0
    for at in range(0, 4_000, 20):
        written, bucket = step(of, store, at - 10, pack(*((key, at + key) for key in range(10)), classes=2))
        kept.append(bucket.counts.kept)
        sizes.append(bucket.counts.size)
        rows += len(written)
    assert kept[20:] == [60] * len(kept[20:])
    assert max(sizes[100:]) <= max(sizes[20:40]) * 1.05
    assert len(store.pages) <= 3
    assert rows + len(step(of, store, END)[0]) == 2000
    assert store.pages == {}


def test_what_is_late_is_before_the_watermark_of_the_micro_batch_before() -> None:
    of, store = plan_of(Window(10, 10)), MemoryStore()
    step(of, store, 20, pack((1, 15)))
    _, bucket = step(of, store, 30, pack((1, 19), (1, 20), (1, 29), (1, 5)))
    assert (bucket.counts.events, bucket.counts.late, bucket.counts.kept) == (4, 2, 0)
    _, bucket = step(of, store, 25, pack((1, 29), (1, 30)))  # a watermark never goes back
    assert (bucket.counts.late, bucket.counts.kept) == (1, 1)
    assert bucket.header.until == 30


def test_what_is_counted_of_windows() -> None:
    """How late events are, how many windows with events have ended, and how often events are computed."""
    of, store = plan_of(Window(20, 10)), MemoryStore()
    _, bucket = step(of, store, NEVER, pack((1, 5), (1, 38), (1, 95)))
    assert (bucket.counts.windows, bucket.counts.computed, bucket.counts.kernel_seconds) == (0, 0, 0.0)
    rows, bucket = step(of, store, 50)
    assert [window for _, window in rows] == [-1, 0, 2, 3]
    assert (bucket.counts.windows, bucket.counts.computed) == (5, 2)  # window 1 has no events, between others
    assert bucket.counts.kernel_seconds > 0
    _, bucket = step(of, store, 1000, pack((1, 35), (2, 47), (2, 49), (2, 50)))
    assert (bucket.counts.late, bucket.counts.lateness) == (3, 15)
    assert (bucket.counts.windows, bucket.counts.computed) == (6, 2)
    _, bucket = step(of, store, 2000)
    assert (bucket.counts.windows, bucket.counts.computed, bucket.counts.lateness) == (0, 0, 0)


def test_events_between_windows_are_not_kept() -> None:
    of, store = plan_of(Window(2, 10)), MemoryStore()
    _, bucket = step(of, store, NEVER, pack((1, 1), (1, 2), (1, 9), (1, 10)))
    assert bucket.counts.kept == 2


@pytest.mark.long
def test_state_does_not_grow_with_time() -> None:
    """Pages are dropped as windows end, and small ones put together."""
    of, store = plan_of(Window(100, 50)), MemoryStore()
    sizes, pages = [], []
    for at in range(0, 40_000, 20):
        _, bucket = step(of, store, at - 10, pack(*((key, at + key) for key in range(10))))
        sizes.append(bucket.counts.size)
        pages.append(len(store.pages))
    assert max(pages[100:]) <= 3
    assert max(sizes[1000:]) <= max(sizes[100:300]) * 1.05
    _, bucket = step(of, store, END)
    assert store.pages == {}


def test_large_pages_stay_as_they_are_until_most_of_them_is_of_no_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_module, "SMALL_PAGE", 0)
    of, store = plan_of(Window(10, 10)), MemoryStore()
    step(of, store, NEVER, pack(*((1, time) for time in range(40))))
    assert [page.rows for page in Bucket(of, store).header.pages] == [40]
    step(of, store, 10)
    assert [page.rows for page in Bucket(of, store).header.pages] == [40]
    step(of, store, 30)
    assert [page.rows for page in Bucket(of, store).header.pages] == [10]
    assert step(of, store, END)[0] == [(1, 3)]


def test_a_session_may_be_in_another_time_zone_after_a_restart() -> None:
    of, store = plan_of(Window(10, 10)), MemoryStore()
    step(of, store, NEVER, pack((1, 1)))
    step(of, store, NEVER, pack((1, 2), zone="Europe/Berlin"))
    written, bucket = step(of, store, 10)
    assert written == [(1, 0)]
    assert bucket.counts.kept == 0


def test_other_states_are_told_apart() -> None:
    of, store = plan_of(Window(10, 10)), MemoryStore()
    step(of, store, NEVER, pack((1, 1)))
    with pytest.raises(UnusableError, match=r"it has 1 buckets, and spark.sparkext.stream.buckets is 2. Set it to 1"):
        Bucket(plan_of(Window(10, 10), 2), store)
    gone = r"it is that of other queries: A\+ .* is not there any more; B .* is new. Start with a new checkpoint"
    with pytest.raises(UnusableError, match=gone):
        Bucket(plan_of(Window(10, 10), pattern="B"), store)
    with pytest.raises(UnusableError, match=r"it is that of another query: the keys was g and is h\. Start with a new"):
        Bucket(replace(of, meaning={"the keys": "h"}), store)
    assert store.kept is not None
    with pytest.raises(UnusableError, match=rf"in format {FORMAT + 1} by another version of sparkext"):
        Bucket(of, MemoryStore(store.kept[:4] + (FORMAT + 1).to_bytes(2, "little") + store.kept[6:]))
    for wrong in (b"", b"TRN", b"XXXX" + store.kept[4:]):
        with pytest.raises(UnusableError, match="not written by sparkext"):
            Bucket(of, MemoryStore(wrong))
    assert step(of, store, 10)[0] == [(1, 0)]


def test_headers_and_pages_are_read_as_they_were_written() -> None:
    pages = [Page(3, 2, 100, -(1 << 62), 5, 0, 1), Page(7, 1, 1 << 31, 0, 1 << 62, (1 << 32) - 1, 0)]
    forms = [EventForm(("A", "B ü"), ()), EventForm(("A",), ("v int", "w double"))]
    needs, queries = {"A": NEVER, "v int": 7}, {"A+": 9}
    header = Header(
        32,
        {"the keys": "k ü"},
        forms,
        needs,
        queries,
        4,
        True,
        [1, None, 0],
        77,
        until=-5,
        tick=12,
        next_page=8,
        pages=pages,
    )
    assert Header.read(header.write()) == header
    assert header.forms == forms
    header.pages = pages[:1]
    assert Header.read(header.write()).forms == forms[1:]
    assert [page.form for page in header.pages] == [0]
    events = from_bytes(pack((1, 2), (3, 4)))
    data = page_bytes(events)
    page = page_of(3, data, np.array([2, 4]), 0)
    assert (page.number, page.rows, page.size, page.first, page.last) == (3, 2, len(data), 2, 4)
    assert page_events(page, data).equals(events)


def test_a_state_of_the_first_format_is_refused() -> None:
    """It has no sums, so nobody could say whether it is as it was written."""
    with pytest.raises(UnusableError, match="in format 1 by another version of sparkext"):
        Header.read(bytes.fromhex(FIRST_FORMAT))


FIRST_FORMAT = (
    "54524e440100"
    "02000000"
    "e803000000000000"
    "0200000000000000"
    "04000000"
    "11000000"
    "01000000"
    "7b225041545445524e223a2022412b227d"
    "03000000"
    "02000000"
    "64000000"
    "f9ffffffffffffff"
    "0500000000000000"
)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """A bucket of some pages, whose events are all in the first window."""
    monkeypatch.setattr(bucket_module, "MOST_ROWS", 300)
    store, random = MemoryStore(), Random(3)
    step(plan_of(Window(10_000, 10_000)), store, NEVER, pack(*((random.randrange(50), t) for t in range(1000))))
    assert len(store.pages) == 4
    return store


@dataclass
class StoreOfSpark:
    """What a processor asks of Spark: a bucket's store, timers, and the watermark."""

    kept: MemoryStore

    def getValueState(self, *of: str) -> StoreOfSpark:  # noqa: N802
        assert of
        return self

    getMapState = getValueState  # noqa: N815

    def get(self) -> tuple[bytes] | None:
        return None if self.kept.kept is None else (self.kept.kept,)

    def getValue(self, key: tuple[int]) -> tuple[bytes] | None:  # noqa: N802
        return (self.kept.pages[key[0]],) if key[0] in self.kept.pages else None

    def update(self, value: tuple[bytes]) -> None:
        self.kept.put_header(*value)

    def removeKey(self, key: tuple[int]) -> None:  # noqa: N802
        self.kept.drop_page(*key)

    def registerTimer(self, time: int) -> None:  # noqa: N802
        assert time == self.getCurrentWatermarkInMs() + 1

    def getCurrentWatermarkInMs(self) -> int:  # noqa: N802
        return 10


def processed(store: MemoryStore) -> list[OutputRow]:
    """What is written of a bucket when its window ends."""
    processor, spark = TrendProcessor(plan_of(Window(10_000, 10_000))), StoreOfSpark(store)
    processor.init(spark)
    return [*processor.handleInputRows((bucket_keys(1)[0],), [], spark)]


def test_a_wrong_bit_is_a_problem_and_never_a_row(stored: MemoryStore) -> None:
    random = Random(8)
    right = processed(deepcopy(stored))
    assert right[-1].problem is None
    assert len(from_bytes(right[0].results or b"")) == 50
    for at in range(FLIPS):
        store = deepcopy(stored)
        number = at % 5 - 1
        data = bytearray(store.kept or b"" if number < 0 else store.pages[number])
        bit = random.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        if number < 0:
            store.kept = bytes(data)
        else:
            store.pages[number] = bytes(data)
        (row,) = processed(store)
        assert row.results is None
        if number < 0:
            told = r"the header of bucket 0 is damaged\. Go on|not written by sparkext|in format \d+ by another version"
        else:
            told = rf"^page {number} of bucket 0 is damaged\. Go on from a backup of the checkpoint"
        assert re.search(told, row.problem or "")


def test_what_a_bucket_writes_of_itself(stored: MemoryStore) -> None:
    row = processed(stored)[-1]
    counted = {name: count for name, count in row.asDict().items() if name not in ("size", "micros", "kernel_micros")}
    read = {"events": 0, "late": 0, "lateness": 0, "kept": 0, "computed": 1000, "pages_read": 4, "pages_written": 0}
    assert counted == {"bucket": 0, "results": None, "problem": None, "windows": 1, "written": 50} | read
    assert (row.micros or 0) >= (row.kernel_micros or 0) > 0
    assert OUTPUT.replace(" ", ",").split(",")[::3] == [*OutputRow._fields]


def test_pages_that_are_missing_or_another_one_are_damage(stored: MemoryStore) -> None:
    lost, swapped = deepcopy(stored), deepcopy(stored)
    del lost.pages[1]
    swapped.pages[1] = swapped.pages[2]
    cut = deepcopy(stored)
    cut.kept = (cut.kept or b"")[:-1]
    of = plan_of(Window(10_000, 10_000))
    with pytest.raises(DamagedError, match="page 1"):
        step(of, swapped, 10_000)
    with pytest.raises(DamagedError, match="the header"):
        step(of, cut, 10_000)
    (row,) = processed(lost)
    assert (row.problem or "").startswith("page 1 of bucket 0 is damaged")


def test_buckets_are_dealt_out_to_tasks_in_turn() -> None:
    keys = bucket_keys(1000)
    assert [spark_hash(key) for key in keys] == [*range(1000)]
    assert (spark_hash(0), spark_hash(1), spark_hash(-1)) == (933211791, -559580957, -1604776387)  # as Spark's hash


def spark_hash(key: int) -> int:
    """`hash(key)` of Spark SQL, of an INT."""
    bits = 0xFFFFFFFF
    mixed = key * 0xCC9E2D51 & bits
    mixed = (mixed << 15 | mixed >> 17) * 0x1B873593 & bits
    hashed = 42 ^ mixed
    hashed = ((hashed << 13 | hashed >> 19) & bits) * 5 + 0xE6546B64 & bits
    hashed ^= 4
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & bits
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & bits
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed


@pytest.mark.parametrize("hashes", [1, 3, 1 << 62])
@pytest.mark.parametrize("span", [4, 1 << 30, 1 << 50, 1 << 62])
def test_events_are_ordered_by_key_and_time(hashes: int, span: int) -> None:
    """Whether a part of the hash has room beside the time, whether keys share it, or all of it."""
    random = Random(span)
    hash_of = {key: random.randrange(-hashes, hashes) << random.choice((0, 1)) for key in range(40)}
    keys = [random.randrange(40) for _ in range(500)]
    times = [random.randrange(-span, span) for _ in keys]
    columns = [pa.array([hash_of[key] for key in keys]), pa.array(keys), pa.array(times)]
    ordered = in_order(pa.RecordBatch.from_arrays(columns, ["hash", "key", "time"]), 1)
    events = zip(*(column.to_pylist() for column in ordered.columns[1:]), strict=True)
    runs = [(key, [time for _, time in of_key]) for key, of_key in groupby(events, itemgetter(0))]
    expected: dict[int, list[int]] = {}
    for key, time in sorted(zip(keys, times, strict=True)):
        expected.setdefault(key, []).append(time)
    assert dict(runs) == expected
    assert len(runs) == len(set(keys))


def test_keys_with_one_hash_are_told_apart() -> None:
    nan = float("nan")
    keys = pa.array([nan, 1.0, None, nan, None, 1.0], pa.float64())
    columns = [pa.array([7] * 6, pa.int64()), keys, pa.array([3, 2, 1, 1, 2, 1], pa.int64())]
    ordered = in_order(pa.RecordBatch.from_arrays(columns, ["hash", "key", "time"]), 1)
    events = zip(map(repr, ordered.column(1).to_pylist()), ordered.column(2).to_pylist(), strict=True)
    runs = [(key, [time for _, time in of_key]) for key, of_key in groupby(events, itemgetter(0))]
    assert sorted(runs) == [("1.0", [1, 2]), ("None", [1, 2]), ("nan", [1, 3])]


def test_packs_hold_the_events_of_a_bucket() -> None:
    events = pa.RecordBatch.from_arrays([pa.array([2, 0, 2, 0], pa.int32()), pa.array([1, 2, 3, 4])], ["bucket", "v"])
    rows = [row for batch in packed(3, lambda: True)(iter([events, events.slice(0, 0)])) for row in batch.to_pylist()]
    called = [row["bucket"] for row in rows if row["events"] is None]
    keys = bucket_keys(3)
    assert called == keys
    events_of_buckets = {
        row["bucket"]: from_bytes(row["events"]).to_pydict() for row in rows if row["events"] is not None
    }
    assert events_of_buckets == {keys[0]: {"v": [2, 4]}, keys[2]: {"v": [1, 3]}}
    assert list(packed(3, lambda: False)(iter([]))) == []


def test_late_events_by_the_rule() -> None:
    """Of the rule itself, which tests of random pools use."""
    micro_batches = [Arrival([0, 1], NEVER), Arrival([2, 3], 10), Arrival([4], 20), Arrival([5], 20)]
    assert in_time([5, 12, 3, 11, 10, 15], micro_batches) == [0, 1, 2, 3, 4]
