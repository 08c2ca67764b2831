"""Rows of late events beside those of views over a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import ParseException
from pyspark.sql import Row, SparkSession

import sparkext
from sparkext.confs_for import confs_for
from sparkext.settings import STREAM_LATE_ROWS
from tests.streams.test_pooled_streams import SOON, create, operators, rows_of
from tests.streams.test_streams import disordered
from tests.support.live import START, Event, Feed, able_to_stream, metrics


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark), confs_for(spark, {STREAM_LATE_ROWS: "true"}):
        yield Feed(spark, tmp_path)


def check(spark: SparkSession, feed: Feed, names: list[str], key: str, files: int) -> None:
    """Hold rows of views against those of a batch over all events but those of which there are rows as late ones."""
    parts = disordered(Random(str(names)), files, 60)
    counted = 0
    for part in parts:
        feed.put(part)
        create(spark, names, feed.stream("0 seconds"))
        rows = sparkext.stream([f"v_{name}" for name in names])
        assert operators(rows) == 1
        writer = rows.writeStream.partitionBy("query").option("checkpointLocation", feed.checkpoint())
        query = writer.trigger(availableNow=True).start(feed.checkpoint("out"))
        query.awaitTermination()
        counted += metrics(query)["late"]
    written = spark.read.schema(rows.schema).parquet(feed.checkpoint("out"))
    assert sparkext.views_of(written) == [*(f"v_{name}_rows" for name in names), "late_rows"]
    late = spark.table("late_rows").collect()
    assert counted == len(late) > 0
    assert all(row.window_start is None and row.window_end is None for row in late)
    assert all(0 <= row.late_by_milliseconds < 10_000 for row in late)
    in_time = without([event for part in parts for event in part], late, key)
    (folder := Path(feed.checkpoint("in time"))).mkdir()
    (other := Feed(spark, folder)).put(in_time)
    create(spark, names, other.batch())
    for name in names:
        wanted = rows_of(spark.table(f"v_{name}").where(SOON))
        assert rows_of(spark.table(f"v_{name}_rows").where(SOON)) == wanted
        assert wanted


def without(events: Sequence[Event], late: Sequence[Row], key: str) -> list[Event]:
    """Events without the late ones, each of which there must be. Of several at one time, which have one key, the first.

    Such events differ in what they count for: there must be no two of them.
    """
    left = list(events)
    for row in late:
        when = [
            index
            for index, (k, sub, seconds, *_) in enumerate(left)
            if (k if key == "k" else sub) == row[key]
            and seconds is not None
            and (START + timedelta(seconds=seconds)).replace(tzinfo=None) == row.event_time
        ]
        assert len(when) == 1
        del left[when[0]]
    return left


def test_late_rows_beside_those_of_views(spark: SparkSession, feed: Feed) -> None:
    check(spark, feed, ["sliding", "not"], "k", files=2)


@pytest.mark.long
@pytest.mark.parametrize(("names", "key"), [(["groups"], "sub"), (["completions"], "k")])
def test_late_rows_of_each_kind(spark: SparkSession, feed: Feed, names: list[str], key: str) -> None:
    """Those of one view, of keys that are finer than groups, and of completions."""
    check(spark, feed, names, key, files=2)


def test_late_rows_in_sql(spark: SparkSession, feed: Feed) -> None:
    """A UNION ALL has them that has a column for them; others are as they were."""
    feed.put([(1, "x", 0, "A", 1)])
    create(spark, ["sliding", "not"], feed.stream())
    late = "CAST(NULL AS STRUCT<event_time: TIMESTAMP, late_by_milliseconds: BIGINT>) AS late"
    branches = "SELECT {} AS view, k, a, {} FROM v_sliding UNION ALL SELECT {} AS view, k, a, {} FROM v_not"
    plain = spark.sql(branches.format("'one'", "a AS b", "'two'", "a AS b"))
    assert plain.schema == spark.sql("SELECT 'one' AS view, k, a, a AS b FROM v_not").schema
    with pytest.raises(ParseException, match=r"(?s)have NULL in view.*Write nullif\(`view`, NULL\)"):
        spark.sql(branches.format("'one'", late, "'two'", late))
    rows = spark.sql(branches.format("nullif('one', NULL)", late, "'two'", late))
    assert operators(rows) == 1
    assert rows.schema["view"].nullable
