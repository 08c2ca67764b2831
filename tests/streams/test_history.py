"""Streams that begin with events from before, without Spark against the enumerator, and in Spark against a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import ParseException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

import sparkext
from sparkext.planner.automata.automaton import AutomatonTooLargeError
from sparkext.planner.patterns.query import Query
from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.packs import as_bytes
from sparkext.udfs.streams.windows_of_events import last_ended
from tests.streams.test_buckets import absences, asked_of_completions
from tests.streams.test_changed_queries import (
    Pool,
    completion_pool,
    drawn_windows,
    final_at,
    pool_of,
)
from tests.streams.test_changed_streams import SOON, create, in_order
from tests.streams.test_streams import disordered
from tests.support.completion_pools import as_found, difference, final_together
from tests.support.completions import enumerate_completions
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import combined, query_results
from tests.support.kernel_harness import difference as result_difference
from tests.support.live import SCHEMA, START, Feed, able_to_stream
from tests.support.prev_conditions import MEANINGS
from tests.support.streams import MemoryStore, arrivals, draw_page_sizes, in_time
from tests.support.tiers import first


@dataclass(frozen=True)
class Begun:
    """What a stream has written that began with a history: its rows, and numbers of the events that it knew."""

    rows: list[dict[str, Any]]
    kept: list[int]
    since: int


def begun(pool: Pool, times: Sequence[int], random: Random) -> Begun:
    """Run a stream of the events from a random moment on; those before are its history, in parts."""
    since = random.choice(times)
    later = [number for number, time in enumerate(times) if time >= since]
    earlier = [number for number, time in enumerate(times) if time < since]
    micro_batches = arrivals([times[number] for number in later], random)
    of = pool.planned(random.choice((1, 2, 3)), 0, begins_at=since)
    needed = [number for number in earlier if times[number] >= of.needed_from(since) and number in pool.rows]
    stores = [MemoryStore() for _ in range(of.buckets)]
    for number, store in enumerate(stores):
        own = [pool.rows[event] for event in needed if pool.source.hashes[pool.rows[event]] % of.buckets == number]
        cut = random.randint(0, len(own))
        parts = [part for part in (own[:cut], own[cut:]) if part]
        packs = [as_bytes(pool.source.events.take(pa.array(part, pa.int64()))) for part in parts]
        for some in (packs[:1], packs[1:]):
            Bucket(of, store).begin(some)
    rows: list[dict[str, Any]] = []
    for arrival in micro_batches:
        read = [pool.rows[later[index]] for index in arrival.rows if later[index] in pool.rows]
        rows += pool.source.step(of, stores, type(arrival)(read, arrival.watermark), random)[0]
    assert not any(store.pages for store in stores)
    in_stream = in_time([times[number] for number in later], micro_batches)
    return Begun(rows, sorted([*earlier, *(later[index] for index in in_stream)]), since)


def window_problems(seed: int) -> tuple[int, list[str]]:
    """How many rows a stream of a random pool wrote, and what differs from the enumerator."""
    random = Random(seed)
    queries, events = drawn_windows(random)
    if not queries or not events:
        return 0, []
    try:
        pool = pool_of(queries, events)
    except AutomatonTooLargeError:  # a shuffle that is refused
        return 0, []
    run = begun(pool, [event.time or 0 for event in events], random)
    kept = [events[index] for index in run.kept]
    partials = combined(pool.plan, pool.layout, run.rows)
    faults = []
    for asked, result in zip(queries, pool.plan.results, strict=True):
        assert asked.window is not None
        closed = last_ended(asked.window, run.since)
        expected = {at: value for at, value in enumerate_results(asked, kept, MEANINGS).items() if at[1] > closed}
        problem = result_difference(expected, query_results(asked, result, partials))
        if problem is not None:
            faults.append(f"seed {seed}, {asked.pattern}: {problem}")
    return len(run.rows), faults


def completion_problems(queries: Sequence[Query], events: Sequence[Event], seed: int) -> tuple[int, list[str]]:
    """As `window_problems`, of rows of completions."""
    random = Random(seed)
    orders = max((len(event.order) for event in events), default=0)
    together = final_together(asking for asking in queries if asking.has_rows)
    pools = [pool for some in together if (pool := completion_pool(some, events, orders)) is not None]
    if not pools:
        return 0, []
    pool = random.choice(pools)
    run = begun(pool, [event.time or 0 for event in events], random)
    kept = [events[index] for index in run.kept]
    rows, _ = as_found(pool.queries, pool.plan, pool.layout, run.rows)
    of = pool.planned(1, 0)
    faults = []
    for number, asked in enumerate(pool.queries):
        found = enumerate_completions(asked, kept, MEANINGS)
        truth = [completion for completion in found if final_at(of, asked, completion) > run.since]
        assert asked.completion is not None
        problem = difference(truth, rows[number], asked.completion)
        if problem is not None:
            faults.append(f"seed {seed}, {asked.pattern} {asked.span} {asked.wait}: {problem}")
    return len(run.rows), faults


@pytest.mark.parametrize("seed", first(1, range(12)))
def test_random_pools_with_a_history(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is final after the stream has begun is that of a batch over its history and its events."""
    draw_page_sizes(monkeypatch, seed)
    outcomes = [window_problems(1000 * seed + at) for at in range(60)]
    outcomes += [completion_problems(*asked_of_completions(at), at) for at in range(1000 * seed, 1000 * seed + 60)]
    outcomes += [completion_problems(*absences(Random(at)), at) for at in range(1000 * seed, 1000 * seed + 60)]
    faults = [problem for _, problems in outcomes for problem in problems]
    assert not faults, "\n".join(faults)
    assert sum(rows for rows, _ in outcomes) > 100


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark):
        yield Feed(spark, tmp_path)


def test_a_stream_with_a_history(spark: SparkSession, feed: Feed) -> None:
    """It goes on from the checkpoint without it, and events of the stream from before it began are left out."""
    since = START.replace(minute=1)
    parts = disordered(Random(8), 3, 60)
    for part in parts[:2]:
        feed.put(part)
    create(spark, feed.batch())
    before = spark.table("ev").where(f"ts < TIMESTAMP '{since:%Y-%m-%d %H:%M:%S} UTC'")
    history = spark.createDataFrame(before.collect(), before.schema)
    create(spark, feed.stream())
    views = ["trips", "vain"]
    with pytest.raises(PySparkValueError, match="history and since are given together"):
        sparkext.stream(views, history=history)
    with pytest.raises(ParseException, match=r"The setting spark.sparkext.stream.since cannot be 'soon'"):
        sparkext.stream(views, history=history, since="soon")
    with pytest.raises(ParseException, match="sparkext_history is a stream, and cannot be the history of one"):
        sparkext.stream(views, history=feed.stream(), since=since)
    found = feed.all_now(sparkext.stream(views, history=history, since=since).where(SOON))
    for part in parts[2:]:
        feed.put(part)
    found += feed.all_now(sparkext.stream(views).where(SOON))
    create(spark, feed.batch())
    for at, view in enumerate(views):
        streamed = in_order((*row[1:4], *row[4 + at]) for row in found if row[0] == view)
        wanted = spark.table(view).where(f"{SOON} AND window_end > '{since:%Y-%m-%d %H:%M:%S}'")
        assert streamed == in_order(map(tuple, wanted.collect()))
        assert streamed


def test_a_history_of_a_stream_that_is_altered_before_it_begins(spark: SparkSession, feed: Feed) -> None:
    """There has been no event yet, so the views as they are then begin with the history."""
    clause = "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS n PATTERN ({}) WITHIN INTERVAL 60 SECONDS"
    feed.stream().createOrReplaceTempView("ev")
    for name, pattern in (("pairs", "A B"), ("runs", "A+ B")):
        spark.sql(f"CREATE TEMP VIEW {name} AS SELECT * FROM ev MATCH_TREND ({clause.format(pattern)})")
    history = spark.createDataFrame([(1, "x", START.replace(second=1), "A", 1)], SCHEMA)
    found: list[tuple[Any, ...]] = []

    def write(rows: DataFrame) -> DataStreamWriter:
        writer = rows.selectExpr("query", f"coalesce({', '.join(f'{name}.n' for name in rows.columns[4:])}) AS n")
        return writer.writeStream.option("checkpointLocation", feed.checkpoint()).foreachBatch(
            lambda batch, _: found.extend(map(tuple, batch.collect()))
        )

    running = sparkext.TrendStream(["pairs"], write, history=history, since=START.replace(second=2))
    running.alter(add=["runs"])
    feed.put([(1, "x", 3, "A", 1), (1, "x", 5, "B", 1)])
    feed.put([(2, "x", 1000, "A", 1)])
    running.query.processAllAvailable()
    running.query.stop()
    assert sorted(found) == [("pairs", 2), ("runs", 3)]
