"""Numbers are dealt out to partitions in turn."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from sparkext.execution import partition_keys as spread_module
from sparkext.execution.partition_keys import part_of, spread


@pytest.mark.parametrize(("partitions", "draws"), [(1, 16), (2, 16), (3, 16), (7, 1), (50, 16)])
def test_even(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, partitions: int, draws: int) -> None:
    """Each number is in the partition that it is modulo their number, however many draws it takes to find them."""
    monkeypatch.setattr(spread_module, "_DRAWS", draws)
    dealt = spark.range(-100, 100).repartition(partitions, F.expr(spread(spark, "id", partitions)))
    rows = dealt.select("id", F.spark_partition_id()).collect()
    assert sorted(row[0] for row in rows) == list(range(-100, 100))
    assert all(row[1] == row[0] % partitions for row in rows)


@pytest.mark.parametrize("cuts", [(), (5,), (-(1 << 63) + 1, -3, 0, 4, (1 << 63) - 1), tuple(range(-40, 40, 7))])
def test_parts(spark: SparkSession, cuts: tuple[int, ...]) -> None:
    """Each number is in the part whose least number is the greatest that it reaches."""
    numbers = sorted({*range(-50, 50), -(1 << 63), (1 << 63) - 1})
    rows = spark.createDataFrame([(number,) for number in numbers], "id BIGINT")
    for number, part in rows.selectExpr("id", part_of("id", cuts)).collect():
        assert part == sum(cut <= number for cut in cuts)
