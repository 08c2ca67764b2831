"""Batches of rows for Python workers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import sparkext
from sparkext.execution.arrow_batches import BYTES_PER_BATCH
from tests.support.sql_cases import stream, trends, values


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with events, as it is before its first query, in which nothing is said of batches."""
    sparkext.disable(spark)
    sparkext.enable(spark)
    spark.conf.unset(BYTES_PER_BATCH)
    stream(spark, {"x": "a1 b2"})
    yield spark
    spark.conf.unset(BYTES_PER_BATCH)
    sparkext.enable(spark)


@pytest.mark.long
def test_no_limit_in_bytes(session: SparkSession) -> None:
    """There is none from the first query on, and Spark's own when all is switched off."""
    assert values(session.sql("SELECT count(*) FROM e")) == [(2,)]
    assert session.conf.get(BYTES_PER_BATCH, None) is None
    assert values(session.sql(trends("A B"))) == [("x", 1)]

    def sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": pa.array([batch.num_rows], pa.int64())})

    wide = session.range(0, 20, 1, 1).selectExpr("repeat('x', 8 << 20) AS text")
    assert [rows for (rows,) in values(wide.mapInArrow(sizes, "rows long"))] == [20]
    sparkext.disable(session)
    assert session.conf.get(BYTES_PER_BATCH, None) is None


def test_the_limit_of_the_user(session: SparkSession) -> None:
    """What the user has set stays, whether before or after the first query."""
    session.conf.set(BYTES_PER_BATCH, "1m")
    assert values(session.sql(trends("A B"))) == [("x", 1)]
    assert session.conf.get(BYTES_PER_BATCH) == "1m"
    session.conf.unset(BYTES_PER_BATCH)
    assert values(session.sql(trends("A+"))) == [("x", 1)]
    session.conf.set(BYTES_PER_BATCH, "2m")
    sparkext.disable(session)
    assert session.conf.get(BYTES_PER_BATCH) == "2m"
