"""Many views over a stream as one frame, from Python, and their rows apart again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.errors import PySparkTypeError, PySparkValueError, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import sparkext
from examples import deliveries_stream
from sparkext.stream_views import Sink
from tests.streams.test_pooled_streams import SOON, create, operators, rows_of
from tests.streams.test_streams import disordered
from tests.support.live import Feed, able_to_stream

VIEWS = ["v_sliding", "v_not", "v_next"]
NAMES = ["sliding", "not", "next"]


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark):
        yield Feed(spark, tmp_path)


def test_the_frame_of_many_views(spark: SparkSession, feed: Feed) -> None:
    feed.put([(1, "x", 0, "A", 1)])
    create(spark, [*NAMES, "no keys", "span"], feed.stream())
    rows = sparkext.stream(VIEWS)
    assert operators(rows) == 1
    assert rows.isStreaming
    assert rows.columns == ["query", "k", "window_start", "window_end", *VIEWS]
    own = {field.name: field for field in rows.schema.fields}
    assert own["v_not"].nullable
    assert own["v_not"].dataType.simpleString() == "struct<a:decimal(38,0),b:double>"
    explained = spark.sql("EXPLAIN SHARING").collect()[0][0]
    assert "Pass 1 over a stream (one operator, with one state)" in explained
    batch = spark.range(3).withColumnRenamed("id", "k")
    batch.createOrReplaceTempView("batch")
    for views, told in (
        (["v_sliding", "v_no keys"], "the columns before window_start are k in v_sliding, and none in v_no keys"),
        (["v_span"], "v_span has the columns k, step, began, evidence, ways; there must be keys, window_start"),
        (["v_not", "v_not"], "two columns would be called v_not"),
        (["batch"], "batch is no stream"),
        ([], "one view at least"),
    ):
        with pytest.raises(PySparkValueError, match=told):
            sparkext.stream(views)
    with pytest.raises(PySparkTypeError, match="list of names"):
        sparkext.stream("v_not")
    with pytest.raises(PySparkTypeError, match="the sink of v_not must be the name of a table"):
        sparkext.split({"v_not": 3})  # type: ignore[dict-item]
    with pytest.raises(PySparkValueError, match=r"the columns are k; those of sparkext.stream are query"):
        sparkext.views_of("batch")


def has_ended(query: StreamingQuery) -> bool:
    """Whether a stream comes to its end, and does not fail."""
    try:
        query.awaitTermination()
    except StreamingQueryException:
        return False
    return True


def wanted_rows(spark: SparkSession, feed: Feed) -> dict[str, list[tuple[object, ...]]]:
    """What a batch has of each view."""
    create(spark, NAMES, feed.batch())
    return {view: rows_of(spark.table(view).where(SOON)) for view in VIEWS}


@pytest.mark.long
def test_a_table_of_many_views(spark: SparkSession, feed: Feed, tmp_path: Path) -> None:
    """Written by restarts, read as a batch and as a stream."""
    for part in disordered(Random(4), 2, 60):
        feed.put(part)
        create(spark, NAMES, feed.stream())
        writer = sparkext.stream(VIEWS).writeStream.option("checkpointLocation", feed.checkpoint())
        files = writer.partitionBy("query").option("path", str(tmp_path / "trends")).trigger(availableNow=True)
        files.toTable("trends").awaitTermination()
    wanted = wanted_rows(spark, feed)
    try:
        assert sparkext.views_of("trends") == [f"{view}_rows" for view in VIEWS]
        for view in VIEWS:
            assert spark.table(f"{view}_rows").columns == spark.table(view).columns
            assert rows_of(spark.table(f"{view}_rows").where(SOON)) == wanted[view]
        sparkext.views_of(spark.readStream.table("trends"))
        read = feed.all_now(spark.table("v_not_rows").where(SOON), "read")
        assert sorted(read, key=str) == wanted["v_not"]
    finally:
        spark.sql("DROP TABLE trends")


@pytest.mark.long
def test_several_sinks(spark: SparkSession, feed: Feed, tmp_path: Path) -> None:
    """A micro-batch that fails in the last of them is repeated, and no row is twice where that can be helped."""
    found: dict[int, list[tuple[object, ...]]] = {}
    failures = [True, False, True]

    def handler(rows: DataFrame, number: int) -> None:
        found[number] = rows_of(rows.where(SOON))
        if failures and failures.pop():
            raise ArithmeticError("on purpose")

    sinks: dict[str, Sink] = {
        "v_sliding": tmp_path / "sliding",
        "v_next": "next_rows",
        "v_not": handler,
    }
    try:
        for part in disordered(Random(5), 2, 60):
            feed.put(part)
            create(spark, NAMES, feed.stream())
            for _ in range(3):
                writer = sparkext.stream(VIEWS).writeStream.option("checkpointLocation", feed.checkpoint())
                query = writer.foreachBatch(sparkext.split(sinks)).trigger(availableNow=True).start()
                if has_ended(query):
                    break
        rows = sparkext.stream(VIEWS)
        with pytest.raises(PySparkValueError, match="there is no view nothing in the stream; it has v_sliding"):
            sparkext.split({"nothing": "t"})(rows, 0)
        wanted = wanted_rows(spark, feed)
        assert not failures
        files = spark.read.parquet(str(tmp_path / "sliding")).drop("batch").where(SOON)
        assert rows_of(files) == wanted["v_sliding"]
        assert sorted((row for rows in found.values() for row in rows), key=str) == wanted["v_not"]
        table = set(rows_of(spark.table("next_rows").where(SOON)))
        assert table == set(wanted["v_next"])
    finally:
        spark.sql("DROP TABLE IF EXISTS next_rows")


@pytest.mark.long
def test_the_example(spark: SparkSession) -> None:
    with able_to_stream(spark):
        found = deliveries_stream.main(files=2, events=300, couriers=5, spark=spark)
    assert found.keys() == deliveries_stream.PATTERNS.keys()
    assert all(found.values())
