"""Events reach the kernel key by key, whatever the keys are and whatever their hashes."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from sparkext.udfs.sorting.sorted_events import MOST_BYTES
from tests.support.sql_cases import fails, relation, settings, stream, trends, values


@pytest.fixture
def same_hash(spark: SparkSession) -> tuple[str, str]:
    """Two strings that Spark's hash takes for one."""
    spark.range(300_000).selectExpr(
        "CAST(id AS STRING) AS id", "hash(CAST(id AS STRING)) AS h"
    ).createOrReplaceTempView("hashed")
    pairs = spark.sql("SELECT min(id) AS a, max(id) AS b FROM hashed GROUP BY h HAVING count(*) > 1 ORDER BY a LIMIT 1")
    row = pairs.first()
    spark.catalog.dropTempView("hashed")
    assert row is not None, "numbers up to 300,000, written, have hashes of their own"
    return row.a, row.b


@pytest.mark.parametrize("sort", ["worker", "spark"])
def test_keys_of_one_hash_are_kept_apart(spark: SparkSession, same_hash: tuple[str, str], sort: str) -> None:
    first_key, second_key = same_hash
    relation(
        spark,
        "e",
        "k, t, ty",
        (f"'{key}', {t}, '{'A' if t % 2 else 'B'}'" for t in range(1, 7) for key in (first_key, second_key)),
    )
    with settings(spark, spark_sparkext_partitions="1", spark_sparkext_sort=sort):
        frame = spark.sql(trends("A B"))
        assert values(frame) == sorted([(first_key, 6), (second_key, 6)])
    assert ("Sort" in planned(frame)) == (sort == "spark")


@pytest.mark.parametrize("sort", ["worker", "spark"])
def test_groups_of_one_hash_are_one_row_each(spark: SparkSession, same_hash: tuple[str, str], sort: str) -> None:
    groups = sorted(same_hash)
    relation(
        spark,
        "e",
        "g, k, t, ty",
        (f"'{g}', {k}, {t}, '{ty}'" for g in groups for k in range(50) for t, ty in ((1, "A"), (2, "B"), (3, "B"))),
    )
    keys = "PARTITION BY k GROUP BY g ORDER BY t TYPE BY ty"
    with settings(spark, spark_sparkext_partitions="1", spark_sparkext_sort=sort):
        assert values(spark.sql(trends("A B+", keys=keys))) == [(g, 150) for g in groups]


@pytest.mark.parametrize("bytes_in_memory", [500, MOST_BYTES])
@pytest.mark.parametrize("partitions", ["1", "auto"])
def test_keys_that_are_null_nan_and_zeros(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, partitions: str, bytes_in_memory: int
) -> None:
    """NULL is a key, NaN is one, and so are both zeros; all of it as Spark sorts and groups."""
    monkeypatch.setattr("sparkext.execution.source_pass.MOST_BYTES", bytes_in_memory)
    doubles = ("NULL", "'NaN'", "'-NaN'", "'0.0'", "'-0.0'", "'1.5'", "'-Infinity'")
    rows = (
        f"CAST({v} AS DOUBLE), {b}, {t}, '{ty}'"
        for v in doubles
        for b in ("NULL", "X''", "X'00'", "X'FF00'")
        for t, ty in ((4, "B"), (1, "A"), (3, "B"), (2, "A"))
    )
    relation(spark, "e", "v, b, t, ty", rows)
    by_setting = {}
    for sort in ("spark", "worker"):
        with settings(spark, spark_sparkext_partitions=partitions, spark_sparkext_sort=sort):
            spark.sql("REFRESH SHARING")
            by_setting[sort] = [
                sorted(map(str, spark.sql(trends("A B+", keys=f"{keys} ORDER BY t TYPE BY ty")).collect()))
                for keys in ("PARTITION BY v", "PARTITION BY b GROUP BY v", "GROUP BY v, b", "PARTITION BY b")
            ]
    assert by_setting["worker"] == by_setting["spark"]
    assert [len(rows) for rows in by_setting["worker"]] == [5, 5, 20, 4]


def test_batches_of_one_row(spark: SparkSession) -> None:
    """And partitions of which some have no events at all."""
    stream(spark, dict.fromkeys("xyz", "b4 a1 b3 a2"))
    with settings(spark, spark_sql_execution_arrow_maxRecordsPerBatch="1", spark_sparkext_partitions="7"):
        assert values(spark.sql(trends("A B"))) == [(key, 4) for key in "xyz"]
        assert values(spark.sql(trends("A B", source="(SELECT * FROM e WHERE t > 9)"))) == []


@pytest.mark.parametrize(("order", "sorts_itself"), [("n", True), ("n COLLATE UNICODE_CI", False)])
def test_further_orders_that_only_spark_knows(spark: SparkSession, order: str, sorts_itself: bool) -> None:
    """Where the worker knows no order of a type, Spark sorts."""
    relation(spark, "e", "k, t, n, ty", ("1, 1, 'a', 'A'", "1, 1, 'B', 'B'", "1, 1, 'c', 'C'"))
    clause = f"""PARTITION BY k ORDER BY t, {order} TYPE BY ty MEASURES LAST(n) AS last
        ONE ROW PER COMPLETION PATTERN (A B C)"""
    frame = spark.sql(f"SELECT last FROM e MATCH_TREND ({clause})")
    assert values(frame) == ([] if sorts_itself else [("c",)])
    assert ("Sort" in planned(frame)) == (not sorts_itself)


def test_more_events_than_fit_into_memory(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a task go to disk, where nothing of them is left."""
    monkeypatch.setattr("sparkext.execution.source_pass.MOST_BYTES", 500)
    stream(spark, {key: " ".join(f"a{t}" for t in range(50)) for key in "xyz"})
    with settings(spark, spark_sparkext_partitions="1", spark_sql_execution_arrow_maxRecordsPerBatch="7"):
        assert values(spark.sql(trends("A A"))) == [(key, 50 * 49 // 2) for key in "xyz"]


def planned(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_strings_that_a_collation_takes_for_one(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 a3", "X": "b2 b4"})
    spark.sql("CREATE OR REPLACE TEMP VIEW c AS SELECT k COLLATE UTF8_LCASE AS k, t, ty FROM e")
    for section in ("PARTITION BY", "GROUP BY"):
        error = fails(
            spark, trends("A B", source="c", keys=f"{section} k ORDER BY t TYPE BY ty"), "TREND_KEY_COLLATION"
        )
        assert "lower(k) COLLATE UTF8_BINARY" in str(error)
    keys = "PARTITION BY lower(k) COLLATE UTF8_BINARY AS l ORDER BY t TYPE BY ty"
    assert values(spark.sql(trends("A B", source="c", keys=keys))) == [("x", 3)]
