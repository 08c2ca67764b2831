"""Random pools through ``spark.sql`` equal the enumerator."""

from __future__ import annotations

import os
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_harness import can_be_written, mismatches
from tests.support.tiers import first
from tests.support.workloads import workload

POOLS = int(os.environ.get("SPARKEXT_SQL_POOLS", "12"))


def seeds(first: int) -> list[int]:
    """Seeds of the pools that can be said in SQL."""
    drawn: list[int] = []
    while len(drawn) < POOLS:
        if can_be_written(workload(Random(first))):
            drawn.append(first)
        first += 1
    return drawn


@pytest.mark.parametrize("seed", first(5, seeds(20_000)))
def test_pools_equal_the_enumerator(spark: SparkSession, seed: int) -> None:
    assert mismatches(spark, seed) == []
