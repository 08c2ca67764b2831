"""Rows dealt out to partitions evenly, where Spark would throw dice."""

from __future__ import annotations

from pyspark.sql import SparkSession

_DRAWS = 16


def spread(spark: SparkSession, number: str, partitions: int) -> str:
    """SQL of what to repartition by, so that neighbouring numbers go to partitions in turn.

    Spark takes the hash of what it is given, which puts 63 chunks of time on two cores as 38 and 25. So each partition
    is known by a number whose hash leads there; should none be found for one of them, which has a probability of some
    ``partitions`` in nine million, the hash decides as ever.

    Args:
        spark: The session.
        number: SQL of a BIGINT.
        partitions: How many there are.
    """
    drawn = spark.sql(
        f"SELECT transform(sequence(1, {_DRAWS * partitions}), x -> pmod(hash(x), {partitions})) AS places"
    )
    leads_to: dict[int, int] = {}
    for value, place in enumerate(drawn.head()[0], 1):  # type: ignore[index]
        leads_to.setdefault(place, value)
    if len(leads_to) < partitions:
        return number
    values = ", ".join(str(leads_to[place]) for place in range(partitions))
    return f"element_at(array({values}), CAST(pmod({number}, {partitions}L) AS INT) + 1)"
