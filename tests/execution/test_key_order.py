"""Events reach the kernel key by key, whatever the keys are and whatever their hashes."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, relation, settings, stream, trends, values


@pytest.fixture
def same_hash(spark: SparkSession) -> tuple[str, str]:
    """Two strings that Spark's hash takes for one."""
    spark.range(300_000).selectExpr(
        "CAST(id AS STRING) AS id", "hash(CAST(id AS STRING)) AS h"
    ).createOrReplaceTempView("hashed")
    pairs = spark.sql("SELECT min(id) AS a, max(id) AS b FROM hashed GROUP BY h HAVING count(*) > 1 ORDER BY a LIMIT 1")
    found = pairs.first()
    spark.catalog.dropTempView("hashed")
    assert found is not None, "numbers up to 300,000, written, have hashes of their own"
    return found.a, found.b


def test_keys_of_one_hash_are_kept_apart(spark: SparkSession, same_hash: tuple[str, str]) -> None:
    one, other = same_hash
    relation(
        spark,
        "e",
        "k, t, ty",
        (f"'{key}', {t}, '{'A' if t % 2 else 'B'}'" for t in range(1, 7) for key in (one, other)),
    )
    with settings(spark, spark_sparkext_partitions="1"):
        assert values(spark.sql(trends("A B"))) == sorted([(one, 6), (other, 6)])


def test_groups_of_one_hash_are_one_row_each(spark: SparkSession, same_hash: tuple[str, str]) -> None:
    groups = sorted(same_hash)
    relation(
        spark,
        "e",
        "g, k, t, ty",
        (f"'{g}', {k}, {t}, '{ty}'" for g in groups for k in range(50) for t, ty in ((1, "A"), (2, "B"), (3, "B"))),
    )
    keys = "PARTITION BY k GROUP BY g ORDER BY t TYPE BY ty"
    with settings(spark, spark_sparkext_partitions="1"):
        assert values(spark.sql(trends("A B+", keys=keys))) == [(g, 150) for g in groups]


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
