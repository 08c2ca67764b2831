"""Clauses over streams: their rows are those of a batch over the events that were not late."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from tests.support.live import BUCKETS, Event, Feed, able_to_stream, metrics
from tests.support.tiers import groups

PAIRS = (
    "SELECT k, unix_timestamp(window_start) - 1767225600 AS start, n FROM ev MATCH_TREND ("
    "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B) WITHIN INTERVAL 60 SECONDS)"
)


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark):
        yield Feed(spark, tmp_path)


SHOW = "SHOW TREND STREAMS"


def events_of(*events: tuple[int, float | None, str]) -> list[Event]:
    return [(k, "x", seconds, ty, 1) for k, seconds, ty in events]


def test_windows_are_written_once_when_the_watermark_passes_them(spark: SparkSession, feed: Feed) -> None:
    """With late events, idle keys, events out of order and without a time, no new files, and restarts.

    All rows together are those of a batch over the events that were not late.
    """
    feed.put(events_of((1, 0, "A"), (1, 5, "B"), (2, 3, "A"), (2, None, "B")))
    feed.stream().createOrReplaceTempView("ev")
    rows = spark.sql(PAIRS)
    assert rows.isStreaming
    rows_written: list[Any] = []

    def written(*events: tuple[int, float | None, str]) -> list[Any]:
        if events:
            feed.put(events_of(*events))
        query.processAllAvailable()
        taken, rows_written[:] = sorted(rows_written), []
        return taken

    query = feed.start(rows, rows_written.extend)
    assert written() == []
    assert written((3, 62, "A")) == []  # the watermark is 52
    assert written((1, 55, "B")) == []  # out of order, and in time
    assert written((3, 75, "Z")) == [(1, 0, 2)]  # 65: the window of keys that have no events is over
    assert metrics(query) == {"events": 5, "late": 0, "kept": 1}
    (shown,) = spark.sql(SHOW).collect()
    assert (shown.query, shown.id, shown.views) == (None, query.id, "A B")
    assert [shown.operator] == [*query.recentProgress[-1].observedMetrics]
    assert (shown.watermark.timestamp() - 1767225600, shown.kept) == (65, 1)
    assert shown.lag_seconds == pytest.approx(time.time() - shown.watermark.timestamp(), abs=60)
    query.stop()
    assert spark.sql(SHOW).collect() == []

    query = feed.start(spark.sql(PAIRS), rows_written.extend)
    assert written() == []
    assert written((1, 50, "B"), (2, 64, "B"), (2, 66, "A"), (2, 67, "B")) == []
    assert written((9, 20, "A"), (9, 21, "B")) == []  # late in a bucket that may never have had an event
    assert metrics(query)["late"] == 4
    assert written((3, 400, "A")) == [(2, 60, 1)]
    [observed] = query.recentProgress[-1].observedMetrics.values()
    closing = {name: observed[name] for name in ("events", "computed", "windows_closed", "rows", "pages_written")}
    assert closing == {"events": 0, "computed": 3, "windows_closed": 1, "rows": 1, "pages_written": 1}
    assert observed.milliseconds >= observed.largest_bucket_milliseconds
    query.stop()

    feed.put(events_of((4, 390, "A"), (4, 391, "B")))
    feed.put(events_of((4, 500, "A")))
    assert feed.all_now(spark.sql(PAIRS)) == [(4, 360, 1)]
    assert feed.all_now(spark.sql(PAIRS)) == []
    late = "k = 9 OR unix_timestamp(ts) - 1767225600 IN (50, 64)"
    feed.batch().where(f"NOT ({late}) OR ts IS NULL").createOrReplaceTempView("ev")
    assert sorted(map(tuple, spark.sql(PAIRS).collect())) == [(1, 0, 2), (2, 60, 1), (4, 360, 1)]


CLAUSES = {
    "sliding": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, SUM(B.v) AS b, AVG(A.v) AS c, "
    "MIN(B.v) AS d, MAX(A.v) AS e PATTERN (A B+) WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 20 SECONDS",
    "groups": "PARTITION BY k GROUP BY sub ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, MAX(A.v) AS b, "
    "AVG(B.v) AS c PATTERN (A (B | C)+) WITHIN INTERVAL 40 SECONDS SLIDE INTERVAL 20 SECONDS",
    "no keys": "ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a PATTERN (A B) WITHIN INTERVAL 7 SECONDS",
    "not": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, SUM(A.v) AS b PATTERN (A NOT C B) "
    "WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 20 SECONDS",
    "previous": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, COUNT(B) AS b PATTERN (A B+) "
    "DEFINE B AS v >= PREV(v) AND sub = PREV(sub) WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 30 SECONDS",
    "earlier": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a PATTERN (A B+ C) "
    "DEFINE C AS C.v > A.v WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 30 SECONDS",
    "next": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a PATTERN (A B+ C) "
    "WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 30 SECONDS SKIP TILL NEXT MATCH",
    "contiguous": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a PATTERN (A B+) "
    "WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 30 SECONDS CONTIGUOUS",
    "panes": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, SUM(B.v) AS b PATTERN (A B) "
    "WITHIN INTERVAL 120 SECONDS SLIDE INTERVAL 1 SECOND",
    "large": "PARTITION BY k ORDER BY ts MEASURES APPROX_COUNT(*) AS a, LOG10_COUNT(*) AS b, COUNT(*) AS c "
    "PATTERN (V+) DEFINE V AS v < 9 WITHIN INTERVAL 100 SECONDS SLIDE INTERVAL 50 SECONDS",
    "completions": "PARTITION BY k ORDER BY ts TYPE BY ty ONE ROW PER COMPLETION MEASURES CLASSIFIER() AS step, "
    "FIRST(A.ts) AS began, EVENTS(ts) AS evidence, COUNT(*) AS ways PATTERN (FUNNEL(A, B, C)) "
    "WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 30 SECONDS",
    "absent": "PARTITION BY k ORDER BY ts TYPE BY ty ONE ROW PER COMPLETION MEASURES LAST(ts) AS at "
    "PATTERN (A NOT B FOR INTERVAL 9 SECONDS) WITHIN INTERVAL 60 SECONDS",
    "span": "PARTITION BY k ORDER BY ts TYPE BY ty ONE ROW PER COMPLETION MEASURES CLASSIFIER() AS step, "
    "FIRST(A.ts) AS began, EVENTS(ts) AS evidence, COUNT(*) AS ways PATTERN (FUNNEL(A, B, C)) SPAN INTERVAL 40 SECONDS",
    "absent in a span": "PARTITION BY k ORDER BY ts TYPE BY ty ONE ROW PER COMPLETION MEASURES LAST(ts) AS at, "
    "FIRST(ts) AS began PATTERN (C A NOT B FOR INTERVAL 9 SECONDS) SPAN INTERVAL 20 SECONDS SKIP TILL NEXT MATCH",
    "counted in a span": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(DISTINCT LAST(*)) AS a, "
    "COUNT(DISTINCT k) AS b PATTERN (A NOT C B) WITHIN INTERVAL 60 SECONDS SPAN INTERVAL 90 SECONDS",
    "ordered": "PARTITION BY k ORDER BY ts, struct(v, array(sub)) TYPE BY ty ONE ROW PER COMPLETION "
    "MEASURES EVENTS(v) AS evidence, LAST(ts) AS at PATTERN (A (B | C)) SPAN INTERVAL 30 SECONDS",
    "counted": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(DISTINCT LAST(*)) AS a, COUNT(DISTINCT k) AS b "
    "PATTERN (A NOT C B) WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 20 SECONDS",
    "counted and added up": "PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, COUNT(DISTINCT k) AS b, "
    "COUNT(DISTINCT LAST(*)) AS c, SUM(B.v) AS d PATTERN (A B) WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 20 SECONDS",
    "counted in groups": "PARTITION BY k GROUP BY sub ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS a, "
    "COUNT(DISTINCT LAST(*)) AS b, COUNT(DISTINCT k) AS c PATTERN (A+ B) WITHIN INTERVAL 20 SECONDS",
}
"""Each kind of what is computed."""


def disordered(random: Random, files: int, events: int) -> list[list[Event]]:
    """Events of which each is up to ten seconds late, by file, and one far ahead at the end."""
    span = 20.0 * files * events
    times = sorted(random.uniform(0, span / 20) for _ in range(files * events))
    order = sorted(times, key=lambda time: time + random.uniform(0, 9.9))
    events_made: list[Event] = [
        (
            random.choice((1, 2, 3, None)),
            random.choice("xy"),
            round(time, 1),
            random.choice("ABC"),
            random.randint(0, 9),
        )
        for time in order
    ]
    return [
        *(events_made[at : at + events] for at in range(0, len(events_made), events)),
        [(1, "x", 1e6, "A", 1)],
        [(1, "x", 2e6, "A", 1)],
    ]


def check_against_batch(spark: SparkSession, feed: Feed, names: list[str], files: int) -> None:
    for part in disordered(Random(len(names[0])), files, 60):
        feed.put(part)
    feed.batch().createOrReplaceTempView("ev")
    wanted = {name: as_json(spark, name).collect() for name in names}
    feed.stream().createOrReplaceTempView("ev")
    streamed = feed.all_now(reduce(DataFrame.unionAll, (as_json(spark, name) for name in names)))
    for name in names:
        assert wanted[name], name
        assert sorted(row for row in streamed if row[0] == name) == sorted(map(tuple, wanted[name]))


def as_json(spark: SparkSession, name: str) -> DataFrame:
    """The name of a kind, and its rows, without those of the two events far ahead."""
    rows = spark.sql(f"SELECT '{name}' AS name, to_json(struct(*)) AS row FROM ({statement(name)})")
    return rows.where("NOT row RLIKE '2026-01-(12T13|24T03)'")


def statement(name: str) -> str:
    return f"SELECT * FROM ev MATCH_TREND ({CLAUSES[name]})"


def test_completions_are_written_when_the_watermark_has_passed_them(spark: SparkSession, feed: Feed) -> None:
    """With what they show, which waits in the checkpoint; an event out of order is in its place."""
    clause = (
        "PARTITION BY k ORDER BY ts TYPE BY ty ONE ROW PER COMPLETION MEASURES CLASSIFIER() AS step, "
        "EVENTS(named_struct('sub', sub, 'v', v)) AS evidence, timestampdiff(SECOND, FIRST(ts), LAST(ts)) AS took "
        "PATTERN (FUNNEL(A, B)) WITHIN INTERVAL 60 SECONDS"
    )
    statement = f"SELECT k, step, to_json(evidence), took FROM ev MATCH_TREND ({clause})"
    feed.put([(1, "long text", 3, "A", 7), (2, None, 5, "A", 2)])
    feed.stream().createOrReplaceTempView("ev")
    assert feed.all_now(spark.sql(statement)) == []
    feed.put([(1, "y", 18, "B", None), (2, "z", 4, "B", 1)])  # the watermark is 8, within the window
    assert sorted(feed.all_now(spark.sql(statement))) == [
        (1, "A", '[{"sub":"long text","v":7}]', 0),
        (2, "A", '[{"v":2}]', 0),
    ]
    feed.put([(1, "x", 1000, "A", 1)])
    assert feed.all_now(spark.sql(statement)) == [(1, "B", '[{"sub":"long text","v":7},{"sub":"y"}]', 15)]


def test_alerts_without_windows(spark: SparkSession, feed: Feed) -> None:
    """Each once, over restarts, in the order of a further column; another span is another query."""
    clause = (
        "PARTITION BY k ORDER BY ts, v TYPE BY ty ONE ROW PER COMPLETION MEASURES EVENTS(v) AS evidence "
        "PATTERN (A B) SPAN INTERVAL 20 SECONDS"
    )
    statement = f"SELECT * FROM ev MATCH_TREND ({clause})"
    feed.put([(1, "x", 3, "B", 8), (1, "x", 3, "A", 7), (2, "x", 3, "A", 5)])
    feed.stream().createOrReplaceTempView("ev")
    assert spark.sql(statement).columns == ["k", "evidence"]
    assert feed.all_now(spark.sql(statement)) == []
    feed.put([(1, "x", 3, "A", 2), (2, "x", 22, "B", 1), (2, "x", 23, "B", 4)])  # the watermark is 13
    assert feed.all_now(spark.sql(statement)) == [(1, [7, 8])]
    feed.put([(3, "x", 1000, "A", 1)])
    assert feed.all_now(spark.sql(statement)) == [(2, [5, 1])]
    assert feed.all_now(spark.sql(statement)) == []
    feed.put([(3, "x", 1001, "B", 1)])
    other_frame = spark.sql(statement.replace("20 SECONDS", "21 SECONDS"))
    writer = other_frame.writeStream.format("noop").option("checkpointLocation", feed.checkpoint())
    with pytest.raises(
        StreamingQueryException, match=r"A B SPAN 20 seconds .* is not there any more; A B SPAN 21 seconds .* is new"
    ):
        writer.trigger(availableNow=True).start().awaitTermination()


def test_rows_equal_those_of_a_batch(spark: SparkSession, feed: Feed) -> None:
    check_against_batch(spark, feed, ["groups", "counted in groups"], 1)


@pytest.mark.long
@pytest.mark.parametrize("names", groups(3, [*CLAUSES]))
def test_rows_of_each_kind_equal_those_of_a_batch(spark: SparkSession, feed: Feed, names: tuple[str, ...]) -> None:
    check_against_batch(spark, feed, [*names], 3)


@pytest.mark.long
def test_views_and_what_comes_after_a_clause(spark: SparkSession, feed: Feed) -> None:
    """A view of a stream is a stream, of which Spark aggregates on by the ends of the windows."""
    feed.put(events_of((1, 0, "A"), (1, 5, "B"), (2, 3, "A"), (2, 4, "B")))
    feed.put(events_of((1, 100, "A"), (1, 101, "B")))
    feed.put(events_of((9, 1000, "A")))
    feed.stream().createOrReplaceTempView("ev")
    spark.sql(f"CREATE TEMP VIEW pairs AS {PAIRS.replace(' AS start, n', ' AS start, n, window_end')}")
    assert spark.table("pairs").isStreaming
    (shown,) = spark.sql("SHOW TREND QUERIES").collect()
    assert shown.name == "pairs"
    (explained,) = spark.sql("EXPLAIN SHARING").collect()
    assert "A -> B" in explained[0]
    ends = spark.sql("SELECT window_end, sum(n) AS n FROM pairs GROUP BY window_end").select("n")
    assert sorted(feed.all_now(ends)) == [(1,), (2,)]
    spark.table("pairs").createOrReplaceTempView("of_frame")
    writer = spark.sql("SELECT k, n FROM of_frame WHERE k = 1").writeStream.outputMode("update")
    query = writer.format("memory").queryName("trends").trigger(availableNow=True).start()
    query.awaitTermination()
    assert sorted(map(tuple, spark.table("trends").collect())) == [(1, 1), (1, 1)]
    spark.sql("DROP VIEW trends")


@pytest.mark.long
def test_watermarks_in_sql(spark: SparkSession, feed: Feed) -> None:
    """Where Spark's parser has them, from 4.3 on."""
    feed.put(events_of((1, 0, "A"), (1, 5, "B")))
    feed.put(events_of((9, 1000, "A")))
    feed.stream(None).createOrReplaceTempView("raw")
    spark.conf.set("spark.sparkext.debug", "true")
    marked = PAIRS.replace("FROM ev", "FROM STREAM raw WATERMARK ts DELAY OF INTERVAL 10 SECONDS")
    filtered = PAIRS.replace(
        "FROM ev", "FROM (SELECT * FROM STREAM raw WATERMARK ts DELAY OF INTERVAL 1 SECOND WHERE k < 9)"
    )
    if tuple(map(int, spark.version.split(".")[:2])) >= (4, 3):
        assert feed.all_now(spark.sql(marked)) == [(1, 0, 1)]
        assert feed.all_now(spark.sql(filtered), "other") in ([], [(1, 0, 1)])


@pytest.mark.long
def test_checkpoints_of_something_else(spark: SparkSession, feed: Feed) -> None:
    """What differs is said, without a traceback; other measures go on, and so does the query as it was."""
    feed.put(events_of((1, 0, "A"), (1, 5, "B")))
    feed.stream().createOrReplaceTempView("ev")
    assert feed.all_now(spark.sql(PAIRS)) == []
    feed.put(events_of((9, 1000, "A")))
    other_pattern = PAIRS.replace("(A B)", "(A B+)")
    for statement, buckets, told in (
        (PAIRS, "4", "it has 3 buckets, and spark.sparkext.stream.buckets is 4. Set it to 3, or start with a new"),
        (
            other_pattern,
            "3",
            "it is that of other queries: A B WITHIN 1 minute SLIDE 1 minute (A is ty A, B is ty B) is not",
        ),
    ):
        spark.conf.set(BUCKETS, buckets)
        writer = spark.sql(statement).writeStream.format("noop").option("checkpointLocation", feed.checkpoint())
        with pytest.raises(StreamingQueryException) as error:
            writer.trigger(availableNow=True).start().awaitTermination()
        message = str(error.value)
        assert "[TREND_STREAM_CHECKPOINT] The state in the checkpoint cannot be used: " + told in message
        assert "Traceback" not in message
    measured = PAIRS.replace("COUNT(*) AS n", "COUNT(*) + 1 AS n")
    assert feed.all_now(spark.sql(measured)) == [(1, 0, 2)]


@pytest.mark.long
def test_two_clauses_of_a_statement_and_a_join(spark: SparkSession, feed: Feed) -> None:
    feed.put(events_of((1, 0, "A"), (1, 5, "B"), (2, 3, "A"), (2, 4, "B"), (1, 9, "C")))
    feed.put(events_of((9, 1000, "A")))
    feed.put(events_of((9, 1010, "A")))
    feed.stream().createOrReplaceTempView("ev")
    spark.sql(f"CREATE TEMP VIEW one AS {PAIRS.replace(' AS start, n', ' AS start, n, window_end')}")
    spark.sql(
        f"CREATE TEMP VIEW two AS {PAIRS.replace(' AS start, n', ' AS start, n, window_end').replace('A B', 'A C')}"
    )
    joined = "SELECT one.k, one.n, two.n FROM one JOIN two ON one.k = two.k AND one.window_end = two.window_end"
    assert feed.all_now(spark.sql(joined)) == [(1, 1, 1)]
    both = "SELECT k, n FROM one UNION ALL SELECT k, n FROM one"
    assert sorted(feed.all_now(spark.sql(both), "both")) == [(1, 1), (1, 1), (2, 1), (2, 1)]
    itself = "SELECT a.k, a.n, b.n FROM one AS a JOIN one AS b ON a.k = b.k AND a.window_end = b.window_end"
    assert sorted(feed.all_now(spark.sql(itself), "itself")) == [(1, 1, 1), (2, 1, 1)]
    frame = spark.table("one").select("k", "n")
    frames = frame.unionAll(frame).unionAll(spark.table("one").select("k", "n"))
    assert sorted(feed.all_now(frames, "frames")) == [*(3 * [(1, 1)]), *(3 * [(2, 1)])]


@pytest.mark.long
def test_complete_mode_is_refused_by_spark(spark: SparkSession, feed: Feed) -> None:
    feed.put(events_of((1, 0, "A")))
    feed.stream().createOrReplaceTempView("ev")
    writer = spark.sql(PAIRS).writeStream.outputMode("complete").format("memory").queryName("all_of_it")
    with pytest.raises(AnalysisException, match=r"[Cc]omplete"):
        writer.start()
