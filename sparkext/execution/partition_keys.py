"""Rows sent to the partitions that a caller chooses, where Spark would choose by the hash of a key."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

_DRAWS = 16


def part_of(number: str, cuts: Sequence[int], first: int = 0) -> str:
    """SQL of the part that a number is in, by as few comparisons as can be.

    Args:
        number: SQL of a BIGINT.
        cuts: The least number of each part but the first, ascending.
        first: What the first part is called; the others count on from it.
    """
    if not cuts:
        return f"{first}L"
    half = len(cuts) // 2
    below, above = part_of(number, cuts[:half], first), part_of(number, cuts[half + 1 :], first + half + 1)
    return f"CASE WHEN {number} < {cuts[half]}L THEN {below} ELSE {above} END"


def spread(spark: SparkSession, number: str, partitions: int) -> str:
    """SQL of what to repartition by, so that neighbouring numbers go to partitions in turn.

    Spark takes the hash of what it is given, which puts 63 chunks of time on two cores as 38 and 25. So each partition
    is known by a number whose hash leads there.

    Args:
        spark: The session.
        number: SQL of a BIGINT. Partition k has the numbers that are k modulo the number of partitions.
        partitions: How many there are.
    """
    leads_to: dict[int, int] = {}
    drawn = _DRAWS * partitions
    while len(leads_to) < partitions:
        row = spark.sql(f"SELECT transform(sequence(1, {drawn}), x -> pmod(hash(x), {partitions})) AS found").head()
        assert row is not None
        for value, partition in enumerate(row[0], 1):
            leads_to.setdefault(partition, value)
        drawn *= 2
    values = ", ".join(str(leads_to[partition]) for partition in range(partitions))
    return f"element_at(array({values}), CAST(pmod({number}, {partitions}L) AS INT) + 1)"
