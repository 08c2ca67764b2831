"""Batches of rows for Python workers."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from sparkext.execution.arrow_batches import BYTES_PER_BATCH, NO_LIMIT
from tests.support.sql_cases import stream, trends, values


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session with events, in which nothing is said of batches."""
    spark.conf.unset(BYTES_PER_BATCH)
    stream(spark, {"x": "a1 b2"})
    yield spark
    spark.conf.unset(BYTES_PER_BATCH)


def batches(spark: SparkSession) -> list[int]:
    """Rows of the batches in which functions of the user's get 20 rows of 8 MB."""

    def sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": pa.array([batch.num_rows], pa.int64())})

    wide = spark.range(0, 20, 1, 1).selectExpr("repeat('x', 8 << 20) AS text")
    return [rows for (rows,) in values(wide.mapInArrow(sizes, "rows long"))]


def test_functions_of_the_user_keep_their_limit(session: SparkSession) -> None:
    """Trend queries, kept or not, change nothing for what else the session runs."""
    before = batches(session)
    for name, pattern in (("one", "A B"), ("two", "A+ B")):
        session.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {trends(pattern)}")
    assert values(session.sql("SELECT * FROM one")) == [("x", 1)]
    assert values(session.sql(trends("A B"))) == [("x", 1)]
    assert session.conf.get(BYTES_PER_BATCH, None) is None
    assert batches(session) == before
    assert len(before) > 1 or session.version < "4.1"  # before, there is no limit


def limits(spark: SparkSession, text: str) -> set[str | None]:
    """The limit of batches in bytes that jobs of a statement have, as a function of the user's sees it."""

    def limit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = TaskContext.get().getLocalProperty(BYTES_PER_BATCH)  # type: ignore[union-attr]
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"limit": pa.array([found] * batch.num_rows, pa.string())})

    return {found for (found,) in values(spark.sql(text).mapInArrow(limit, "limit string"))}


@pytest.mark.parametrize("is_kept", [False, True])
def test_passes_over_narrow_rows_have_no_limit_in_bytes(session: SparkSession, is_kept: bool) -> None:
    """Texts whose lengths nobody has looked at have one, and so have all statements after the pass."""
    clause = "SELECT * FROM {} MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n PATTERN (A B))"
    session.sql(
        "CREATE OR REPLACE TEMP VIEW numbers AS SELECT id % 3 AS k, id AS t, IF(id < 9, 'A', 'B') AS ty "
        "FROM range(0, 20, 1, 1)"
    )
    session.sql("CREATE OR REPLACE TEMP VIEW texts AS SELECT repeat(string(k), 2000) AS k, t, ty FROM numbers")
    for source, wanted in (("numbers", NO_LIMIT), ("texts", None)):
        text = clause.format(source)
        if is_kept:
            for view in ("one", "two"):
                session.sql(
                    f"CREATE OR REPLACE TEMP VIEW {view} AS {text.replace('A B', 'A B' if view == 'one' else 'A+ B')}"
                )
            text = "SELECT * FROM one"
        rows = session.sql(text)
        assert session.sparkContext.getLocalProperty(BYTES_PER_BATCH) == wanted
        assert values(rows)
        assert limits(session, "SELECT 1") == {None}
        if not is_kept:  # else the function may run in a later job than the pass
            assert limits(session, text) == {wanted}
        session.sql(text)
        assert limits(session, "SELECT 1") == {None}
        session.sql("REFRESH SHARING")
        rows = session.sql(text)
        session.conf.set(BYTES_PER_BATCH, "1m")
        assert values(rows)
        assert limits(session, text) == {"1m"}
        session.conf.unset(BYTES_PER_BATCH)
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "0")
    assert limits(session, clause.format("numbers").replace("A B", "A A B")) == {None}
    session.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_wide_keys_come_in_small_batches(session: SparkSession) -> None:
    """Batches of thousands of keys of a megabyte would be gigabytes."""
    session.sql(
        "CREATE OR REPLACE TEMP VIEW wide AS SELECT repeat(string(id % 4), 1000000) AS k, id AS t, "
        "IF(id < 100, 'A', 'B') AS ty FROM range(0, 200, 1, 1)"
    )
    text = "SELECT length(k), n FROM wide MATCH_TREND (PARTITION BY k ORDER BY t TYPE BY ty MEASURES COUNT(*) AS n {})"
    wanted = [(1_000_000, 625)] * 4
    assert values(session.sql(text.format("PATTERN (A B)"))) == wanted
    for name, pattern in (("one", "A B"), ("two", "A+ B")):
        session.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {text.format(f'PATTERN ({pattern})')}")
    assert values(session.sql("SELECT * FROM one")) == wanted


def test_the_limit_of_the_user(session: SparkSession) -> None:
    """What the user has set stays, whether before or after the first query."""
    session.conf.set(BYTES_PER_BATCH, "1m")
    assert values(session.sql(trends("A B"))) == [("x", 1)]
    assert session.conf.get(BYTES_PER_BATCH) == "1m"
