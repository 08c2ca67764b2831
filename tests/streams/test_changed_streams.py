"""Streams of Spark whose queries change: they go on from the checkpoint, and are those of a batch from then on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import PySparkValueError, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

import sparkext
from sparkext.cli.checkpoint_command import describe
from tests.streams.test_streams import disordered
from tests.support.live import Feed, able_to_stream

ON_CHANGE = "spark.sparkext.stream.onChange"

WITHIN = "WITHIN INTERVAL 60 SECONDS SLIDE INTERVAL 20 SECONDS"

VIEWS = {
    "trips": f"MEASURES COUNT(*) AS n, SUM(B.v) AS s PATTERN (A B+ C) {WITHIN}",
    "vain": f"MEASURES COUNT(*) AS n PATTERN (A NOT B C) {WITHIN}",
    "direct": f"MEASURES COUNT(*) AS n PATTERN (A C) {WITHIN}",
    "narrow": "MEASURES COUNT(*) AS n PATTERN (A B) WITHIN INTERVAL 30 SECONDS",
    "large": f"MEASURES COUNT(*) AS n, MAX(A.v) AS m PATTERN (A B) DEFINE B AS v > 4 {WITHIN}",
}
"""Clauses: of the second and the third all events are those of the first; of the last, they are not."""

SOON = "window_end < '2026-01-12'"


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark):
        yield Feed(spark, tmp_path)
        spark.conf.unset(ON_CHANGE)


def create(spark: SparkSession, events: DataFrame) -> None:
    events.createOrReplaceTempView("ev")
    for name, rest in VIEWS.items():
        clause = f"PARTITION BY k ORDER BY ts TYPE BY ty {rest}"
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM ev MATCH_TREND ({clause})")


def union(*names: str) -> str:
    return "\nUNION ALL ".join(
        f"SELECT '{name}' AS query, k, string(window_start) AS begun, string(window_end) AS ended, "
        f"to_json(struct(*)) AS row FROM {name} WHERE {SOON}"
        for name in names
    )


def in_order(rows: Iterable[Any]) -> list[Any]:
    return sorted(rows, key=str)


def refused(feed: Feed, rows: DataFrame) -> str:
    """What is said of rows that cannot go on from the checkpoint."""
    writer = rows.writeStream.format("noop").option("checkpointLocation", feed.checkpoint())
    with pytest.raises(StreamingQueryException) as error:
        writer.trigger(availableNow=True).start().awaitTermination()
    assert "Traceback" not in str(error.value)
    return str(error.value)


def test_queries_change_at_a_restart(spark: SparkSession, feed: Feed) -> None:
    """What goes on misses nothing; what is new is right from when on the list says; nothing is written twice."""
    parts = disordered(Random(5), 3, 60)
    for part in parts[:2]:
        feed.put(part)
    create(spark, feed.stream())
    before = feed.all_now(spark.sql(union("trips", "vain")))
    for part in parts[2:]:
        feed.put(part)
    after = "trips", "direct", "narrow", "large"
    told = refused(feed, spark.sql(union(*after)))
    assert "A NOT B C WITHIN 1 minute SLIDE 20 seconds (A is ty A, B is ty B, C is ty C) is not there any more" in told
    assert "or SET spark.sparkext.stream.onChange = list to see from when on" in told
    spark.sql(f"SET {ON_CHANGE} = list")
    told = refused(feed, spark.sql(union(*after)))
    since = {name: since_of(told, start) for name, start in STARTS.items()}
    assert since["trips"] == "any time"
    assert since["direct"] == since["narrow"] < since["large"]
    assert "and needs what was not kept: ty B[v > 4]" in told
    spark.sql(f"SET {ON_CHANGE} = allow")
    found = feed.all_now(spark.sql(union(*after)))
    kept = "\n".join(describe(spark, feed.checkpoint()))
    assert "Operator 0: 3 buckets, rows are written up to 2026-01-24 03:33:" in kept
    assert "  the keys k int; ORDER BY ts timestamp\n" in kept
    assert "    any time: A B+ C WITHIN 1 minute SLIDE 20 seconds (A is ty A, B is ty B, C is ty C; reads v int" in kept
    assert re.search(r"    2026-01-01 00:0\d:\S+ UTC: ty B\[v > 4\]", kept)
    create(spark, feed.batch())
    wanted = {name: in_order(map(tuple, spark.sql(union(name)).collect())) for name in VIEWS}
    closed = max(row[3] for row in before)
    assert in_order(row for row in [*before, *found] if row[0] == "trips") == wanted["trips"]
    assert in_order(row for row in before if row[0] == "vain") == [row for row in wanted["vain"] if row[3] <= closed]
    for name in after[1:]:
        rows = [row for row in wanted[name] if row[2] >= since[name] and row[3] > closed]
        assert rows
        assert in_order(row for row in found if row[0] == name) == rows


def test_counts_beside_totals_that_another_query_joins(spark: SparkSession, feed: Feed) -> None:
    """What goes on misses nothing, though the new query has the same windows, and needs what was not kept."""
    clause = f"PARTITION BY k ORDER BY ts TYPE BY ty MEASURES COUNT(*) AS n, COUNT(DISTINCT LAST(*)) AS c {{}} {WITHIN}"
    one = clause.format("PATTERN (A B)")
    other = clause.format("PATTERN (A B) DEFINE B AS v > 4")
    rows = "SELECT {} AS query, k, string(window_start) AS begun, n, c FROM ev MATCH_TREND ({}) WHERE n > 0"
    parts = disordered(Random(7), 2, 60)
    feed.put(parts[0])
    feed.stream().createOrReplaceTempView("ev")
    found = feed.all_now(spark.sql(rows.format(1, one)))
    for part in parts[1:]:
        feed.put(part)
    spark.sql(f"SET {ON_CHANGE} = allow")
    later = feed.all_now(spark.sql(f"{rows.format(1, one)} UNION ALL {rows.format(2, other)}"))
    assert {row[0] for row in later} == {1, 2}
    feed.batch().createOrReplaceTempView("ev")
    wanted = in_order(map(tuple, spark.sql(f"{rows.format(1, one)}").collect()))
    assert in_order(row for row in [*found, *later] if row[0] == 1) == wanted


STARTS = {"trips": "A B+ C WITHIN", "direct": "A C WITHIN", "narrow": "A B WITHIN 30", "large": "A B WITHIN 1 min"}
"""How the lines of what `VIEWS` compute begin."""


def since_of(told: str, start: str) -> str:
    """From when on a query is right, as a list of changes has it."""
    line = next(line for line in told.splitlines() if line.startswith(start))
    return re.sub(r"\.\d+ UTC$", "", line.rsplit(" | ", 1)[1].strip())


@pytest.mark.long
def test_what_cannot_change(spark: SparkSession, feed: Feed) -> None:
    """Keys, and anything else where more than one watermark is looked at."""
    feed.put([(1, "x", 0, "A", 1), (1, "x", 5, "B", 5)])
    create(spark, feed.stream())
    assert feed.all_now(spark.table("trips")) == []
    feed.put([(1, "x", 1000, "A", 1)])
    spark.sql(f"SET {ON_CHANGE} = allow")
    spark.sql(
        f"CREATE TEMP VIEW by_sub AS SELECT * FROM ev MATCH_TREND "
        f"(PARTITION BY sub ORDER BY ts TYPE BY ty {VIEWS['trips']})"
    )
    assert "the keys was k int and is sub string. Start with a new checkpoint" in refused(feed, spark.table("by_sub"))


@pytest.mark.long
def test_a_stream_that_is_altered(spark: SparkSession, feed: Feed, tmp_path: Path) -> None:
    """While it runs, with a table of all views; wrong names leave it running."""
    parts = disordered(Random(6), 3, 60)
    for part in parts[:2]:
        feed.put(part)
    create(spark, feed.stream())
    out = str(tmp_path / "out")

    def write(rows: DataFrame) -> DataStreamWriter:
        writer = rows.writeStream.partitionBy("query").format("parquet").option("path", out)
        return writer.option("checkpointLocation", feed.checkpoint())

    running = sparkext.TrendStream(["trips", "vain"], write)
    running.query.processAllAvailable()
    for wrong, told in (({"add": ["trips"]}, "trips is in the stream"), ({"drop": ["large"]}, "large is not in the")):
        with pytest.raises(PySparkValueError, match=told):
            running.alter(**wrong)
    assert running.query.isActive
    running.alter(add=["direct"], drop=["vain"])
    assert running.views == ("trips", "direct")
    assert spark.conf.get(ON_CHANGE, None) is None
    for part in parts[2:]:
        feed.put(part)
    running.query.processAllAvailable()
    running.query.stop()
    create(spark, feed.batch())
    names = sparkext.views_of(spark.read.option("mergeSchema", "true").parquet(out))
    assert sorted(names) == ["direct_rows", "trips_rows", "vain_rows"]
    for name in ("trips", "direct"):
        streamed, wanted = (
            sorted(map(tuple, spark.table(of).where(SOON).collect()), key=str) for of in (f"{name}_rows", name)
        )
        assert set(streamed) <= set(wanted)
        assert len(streamed) == len(set(streamed))
        if name == "trips":
            assert streamed == wanted
        assert streamed
