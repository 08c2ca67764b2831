"""Sources that are partitioned by the keys already, in as many partitions as a pass has tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

TASKS = 4

CONFS = {
    "spark.sparkext.partitions": str(TASKS),
    "spark.sparkext.cache": "off",
    "spark.sql.files.maxPartitionBytes": "100k",
    "spark.sql.shuffle.partitions": str(TASKS),
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1k",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "0.1",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "10k",
}

SOURCES = {
    "bucketed": "bucketed",
    "repartitioned": f"(SELECT /*+ REPARTITION({TASKS}, k) */ * FROM plain)",
    "joined": "(SELECT plain.* FROM plain JOIN (SELECT id AS k FROM range(0, 50, 1, 2)) USING (k))",
    "distributed": "(SELECT * FROM plain DISTRIBUTE BY k)",
}

CLAUSE = (
    "SELECT k, n FROM {} MATCH_TREND (PARTITION BY k ORDER BY ts TYPE BY ty "
    "MEASURES COUNT(*) AS n PATTERN (A B) WITHIN INTERVAL 1 HOUR)"
)


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    events = spark.sql(
        "SELECT IF(id % 3 = 0, 0, id % 50) AS k, timestamp_micros(id * 1000000) AS ts, IF(id % 7 < 3, 'A', 'B') AS ty, "
        "repeat(string(hash(id)), 20) AS more FROM range(0, 20000, 1, 4)"
    )
    spark.sql("DROP TABLE IF EXISTS bucketed")
    events.write.bucketBy(TASKS, "k").saveAsTable("bucketed")
    events.createOrReplaceTempView("plain")
    before = {name: spark.conf.get(name, None) for name in CONFS}
    for name, value in CONFS.items():
        spark.conf.set(name, value)
    yield spark
    for name, old in before.items():
        if old is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, old)
    spark.sql("DROP TABLE bucketed")


def rows(spark: SparkSession, source: str) -> list[Any]:
    return sorted(map(tuple, spark.sql(CLAUSE.format(source)).collect()))


@pytest.mark.parametrize("is_adaptive", ["true", "false"])
def test_all_events_of_a_key_are_in_one_task(session: SparkSession, is_adaptive: str) -> None:
    """Spark leaves a shuffle out that the source has had, and then divides the source as it likes."""
    session.conf.set("spark.sparkext.partitions", "1")
    wanted = rows(session, "plain")
    session.conf.set("spark.sparkext.partitions", str(TASKS))
    session.conf.set("spark.sql.adaptive.enabled", is_adaptive)
    try:
        for name, source in SOURCES.items():
            assert rows(session, source) == wanted, name
    finally:
        session.conf.unset("spark.sql.adaptive.enabled")
