"""What buckets carry of windows that overlap much, without Spark, against the enumerator on random pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random

import pyarrow as pa
import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.planner.totals import pane_rows
from sparkext.udfs.streams import carried_pass, carrying
from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.carried_pass import CarriedPass
from sparkext.udfs.streams.packs import as_bytes, from_bytes
from sparkext.udfs.streams.stored import NEVER, DamagedError
from sparkext.udfs.streams.stream_plan import StreamPlan
from tests.streams import test_changed_queries as changed
from tests.streams.test_buckets import EVENT, pack
from tests.support.enumerator import Event
from tests.support.pools import COUNT, V, all_of, query
from tests.support.streams import Arrival, MemoryStore, stream_plan, stream_problems
from tests.support.tiers import first
from tests.support.workloads import typed_class

PATTERNS = "A+", "A B+ C", "A B+", "(A | B) C+", "B A? C", "(A B)+ C", "A+ B", "A{2} B"
OTHERS = "A NOT C B", "NOT A B", "A B NOT C"


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many passes have left a front, and gone on from one, where as much as can be is carried."""
    counted: Counter[str] = Counter()
    monkeypatch.setattr(carrying, "CARRIED_FROM", 0)
    monkeypatch.setattr(pane_rows, "LEAST_CARRIED", 0)
    made = CarriedPass.rows

    def rows(one: CarriedPass, *arguments: object) -> Iterator[object]:
        counted["begun" if any(each.begins for each in one._wanted.values()) else "gone on"] += 1
        return made(one, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(CarriedPass, "rows", rows)
    return counted


def drawn(random: Random) -> tuple[list[Query], list[Event]]:
    """Queries of which most are linear, in one to three kinds of windows, and events of keys some of which pause."""
    windows = [Window(random.randint(2, 14), random.randint(1, 3)) for _ in range(random.choice((1, 1, 2, 3)))]
    queries = []
    for _ in range(random.choice((1, 1, 2, 4))):
        text = random.choice(PATTERNS if random.random() < 0.85 else OTHERS)
        aggregates = random.choice(
            ((COUNT,), all_of("B" if "B" in text else "A"), (COUNT, Aggregate(Function.SUM, "A", V)))
        )
        if "A" not in text:
            aggregates = (COUNT,)
        queries.append(query(text, *aggregates, window=random.choice(windows)))
    classes = {name: typed_class(name) for name in "ABC"}
    begin = random.choice((0, -20, 1000))
    times = sorted(begin + random.randrange(random.choice((25, 60))) for _ in range(random.randint(5, 34)))
    large = random.choice((5, 1 << 30))
    grouped = random.random() < 0.3
    events = []
    for time in times:
        key = (random.choice(("x", "x", "y", None)),)
        group: tuple[object, ...] = (random.choice("gh"),) if grouped else ()
        value = random.choice((None, random.randrange(-large, large)))
        events.append(
            Event(
                key if grouped else (),
                group if grouped else key,
                time,
                frozenset({classes[random.choice("ABC")]}),
                {"v": value},
            )
        )
    return list(dict.fromkeys(queries)), events


def steady(times: Sequence[int], random: Random) -> list[Arrival]:
    """Micro-batches of some time each, with events that come later than others, and a watermark that follows."""
    trigger, disorder = random.choice((1, 1, 2, 5)), random.choice((0, 2))
    arrived, watermark = [], NEVER
    order = sorted(range(len(times)), key=lambda index: times[index] + random.uniform(0, disorder))
    delay = random.choice((0, disorder))
    at = 0
    for end in range(min(times) + trigger, max(times) + 40 + trigger, trigger):
        rows = []
        while at < len(order) and times[order[at]] < end:
            rows.append(order[at])
            at += 1
        arrived.append(Arrival(rows, watermark))
        watermark = max(watermark, end - delay)
    return [*arrived, Arrival(order[at:], watermark), Arrival([], 1 << 61), Arrival([], 1 << 61)]


def problems(seed: int) -> list[str]:
    """What differs between a stream, whose buckets begin anew with each micro-batch, and the enumerator."""
    random = Random(seed)
    queries, events = drawn(random)
    template = template_of(queries)
    sharing = share_equal_prefixes(template)
    plan = compile_plan(template, sharing, fallback=random.random() < 0.5, own_rows=True, is_stream=True)
    return [f"seed {seed}, {problem}" for problem in stream_problems(plan, queries, events, steady, random)]


@pytest.mark.parametrize("seed", first(1, range(12)))
def test_random_pools(seed: int, passes: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear patterns beside others, aggregates of all kinds, keys that come and go, several kinds of windows."""
    monkeypatch.setattr(carried_pass, "MOST_LEFT", Random(seed).choice((1, 64 << 20)))
    monkeypatch.setattr(carrying, "PAGE_BYTES", Random(seed).choice((1, 128 << 10)))
    faults = [problem for at in range(60) for problem in problems(1000 * seed + at)]
    assert not faults, "\n".join(faults)
    assert passes["begun"] > 60
    assert passes["gone on"] > 300


@pytest.mark.usefixtures("passes")
def test_a_damaged_page_is_never_read() -> None:
    """A page of what is carried has a checksum, as those of events have."""
    of, store, packs = _steady_stream()
    for number, one in enumerate(packs[:30]):
        list(Bucket(of, store).step([one], 10 * number))
    carried = Bucket(of, store).header.carried
    assert carried is not None
    assert {page.is_front for page in carried.pages} == {True, False}
    for page in carried.pages:
        data = store.pages[page.number]
        store.pages[page.number] = data[:-1] + bytes([data[-1] ^ 1])
    with pytest.raises(DamagedError, match="page"):
        list(Bucket(of, store).step([packs[30]], 300))


@pytest.mark.usefixtures("passes")
def test_what_is_carried_does_not_grow_and_events_are_computed_twice() -> None:
    """Over 300 micro-batches, with each of which a window ends."""
    of, store, packs = _steady_stream()
    sizes, pages, computed, events = [], [], 0, 0
    for number, one in enumerate(packs):
        bucket = Bucket(of, store)
        list(bucket.step([one], 10 * number))
        sizes.append(bucket.counts.size)
        pages.append(len(store.pages))
        computed += bucket.counts.computed
        events += bucket.counts.events
    assert max(sizes[200:]) <= 1.05 * max(sizes[50:200])
    assert max(pages[200:]) <= max(pages[50:200])
    assert computed <= 2.1 * events
    list(Bucket(of, store).step([], 1 << 61))
    assert store.pages == {}


@pytest.mark.usefixtures("passes")
def test_columns_without_null() -> None:
    """Spark may know that a column of the events has no NULL; keys that are carried without an event have one in it."""
    rows = []
    for is_nullable in (True, False):
        of, store, packs = _steady_stream()
        written: list[dict[str, object]] = []
        for number, one in enumerate(packs[:40]):
            events = from_bytes(one)
            known = events.cast(pa.schema([field.with_nullable(is_nullable) for field in events.schema]))
            for batch in Bucket(of, store).step([as_bytes(known)], 10 * number):
                written += batch.to_pylist()
        rows.append(written)
    assert rows[0] == rows[1]
    assert rows[0]


def _steady_stream() -> tuple[StreamPlan, MemoryStore, list[bytes]]:
    """A stream of windows of 20 slides, and its events by micro-batch."""
    random = Random(3)
    asked = query("A B+", COUNT, window=Window(200, 10))
    template = template_of([asked])
    plan = compile_plan(template, share_equal_prefixes(template), is_stream=True)
    packs = [
        pack(*((random.randrange(5), random.randrange(10 * at, 10 * at + 10)) for _ in range(20)), classes=1 + at % 2)
        for at in range(300)
    ]
    return stream_plan(plan, [asked], Layout(1, 0), EVENT), MemoryStore(), packs


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_changed_queries(seed: int, passes: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries that go on from what was carried for others: it is made anew of the events."""
    monkeypatch.setattr(changed, "compile_plan", partial(compile_plan, is_stream=True))
    outcomes = [changed.window_problems(1000 * seed + at) for at in range(80)]
    faults = [problem for _, problems in outcomes for problem in problems]
    assert not faults, "\n".join(faults)
    assert passes["begun"] > 10
