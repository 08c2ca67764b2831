"""The same views and events, run in each way that there is, have the same rows.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/streams/test_golden.py -k batch`` writes the rows anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from sparkext.cli.sql_file import statements
from tests.streams.test_pooled_streams import SOON, operators
from tests.streams.test_streams import disordered
from tests.support.live import Feed, able_to_stream
from tests.support.sql_cases import settings

GOLDEN = Path(__file__).parents[1] / "golden"
VIEWS = "trips", "vain", "rising", "direct"
FILES = 3


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    with able_to_stream(spark):
        yield Feed(spark, tmp_path)


def create(spark: SparkSession, events: DataFrame) -> None:
    """The views over events."""
    events.createOrReplaceTempView("ev")
    for statement in statements((GOLDEN / "streams.sql").read_text()):
        spark.sql(statement.sql)


def text_of(view: str) -> str:
    """A statement for the rows of a view as texts."""
    return f"SELECT '{view}' AS view, to_json(struct(*)) AS row FROM {view} WHERE {SOON}"


def apart(spark: SparkSession) -> DataFrame:
    """The rows of all views, of which each has an operator of its own over a stream."""
    return reduce(DataFrame.unionAll, (spark.sql(text_of(view)) for view in VIEWS))


def pooled(spark: SparkSession) -> DataFrame:
    """Likewise, of which each has three neighbours in its operator."""
    rows = spark.sql(" UNION ALL ".join(map(text_of, VIEWS)))
    assert operators(rows) == 1
    return rows


def check(rows: Iterable[tuple[str, str]]) -> None:
    lines = sorted(f"{view} {row}" for view, row in rows)
    golden = GOLDEN / "streams.txt"
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        golden.write_text("\n".join([*lines, ""]))
    assert lines == golden.read_text().splitlines()


def put_all(feed: Feed) -> None:
    for part in disordered(Random(11), FILES, 50):
        feed.put(part)


def restarted(spark: SparkSession, feed: Feed, rows: Callable[[SparkSession], DataFrame]) -> Iterator[tuple[str, str]]:
    """The rows of a stream that is stopped after each file, and made anew from its text."""
    for part in disordered(Random(11), FILES, 50):
        feed.put(part)
        create(spark, feed.stream())
        yield from feed.all_now(rows(spark))


def test_as_a_batch(spark: SparkSession, feed: Feed) -> None:
    put_all(feed)
    create(spark, feed.batch())
    check(tuple(row) for row in apart(spark).collect())


@pytest.mark.long
def test_without_a_stop(spark: SparkSession, feed: Feed) -> None:
    put_all(feed)
    create(spark, feed.stream())
    rows = apart(spark)
    assert operators(rows) == len(VIEWS)
    check(feed.all_now(rows))


@pytest.mark.long
def test_with_a_restart_after_each_micro_batch(spark: SparkSession, feed: Feed) -> None:
    check(restarted(spark, feed, apart))


def test_in_one_operator_with_a_restart_after_each_micro_batch(spark: SparkSession, feed: Feed) -> None:
    check(restarted(spark, feed, pooled))


@pytest.mark.long
def test_with_other_parallelism_at_each_start(spark: SparkSession, feed: Feed) -> None:
    """Spark takes the number of tasks with a state from the checkpoint, and all others from the session."""
    numbers = iter((1, 3, 2, 5, 4))

    def rows(spark: SparkSession) -> DataFrame:
        spark.conf.set("spark.sql.shuffle.partitions", str(next(numbers)))
        return pooled(spark)

    with settings(spark, spark_sql_shuffle_partitions="2", spark_sql_files_maxPartitionBytes="2000"):
        check(restarted(spark, feed, rows))
