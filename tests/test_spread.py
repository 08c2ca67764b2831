"""Numbers are dealt out to partitions in turn."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from sparkext import spread as spread_module
from sparkext.spread import spread


def _sizes(spark: SparkSession, partitions: int) -> list[int]:
    """Sizes of partitions of 200 numbers, also negative ones."""
    numbers = spark.range(-100, 100).repartition(partitions, F.expr(spread(spark, "id", partitions)))
    found = Counter(row[0] for row in numbers.select(F.spark_partition_id()).collect())
    return [found[place] for place in range(partitions)]


@pytest.mark.parametrize("partitions", [1, 2, 3, 7, 50])
def test_even(spark: SparkSession, partitions: int) -> None:
    """No partition has more than one number more than another."""
    sizes = _sizes(spark, partitions)
    assert sum(sizes) == 200
    assert max(sizes) - min(sizes) <= 1


def test_without_a_number_for_each(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few draws, Spark's hash decides, and every number is somewhere."""
    monkeypatch.setattr(spread_module, "_DRAWS", 1)
    sizes = _sizes(spark, 7)
    assert sum(sizes) == 200
    assert max(sizes) - min(sizes) > 1
