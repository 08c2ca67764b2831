"""Stretches of time: how the events of keys without windows are divided among tasks.

What the events of a stretch do is a matrix, and those of a key are multiplied in the order of time
(`udfs.stretches`). So each task has one stretch of the order by key and time.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sparkext.event_time import TimeKind, in_units
from sparkext.spread import spread

SAMPLED_BYTES = 4 << 20
"""How much of a source is looked at to cut its times into even stretches."""

_UNKNOWN = 0.01
"""Which part of a source is looked at whose size is not known."""

_ACCURACY = 1000


def sampled(source: DataFrame, size: int) -> DataFrame:
    """A part of a source, of ``size`` bytes, that its times are cut by."""
    return source.sample(min(1.0, SAMPLED_BYTES / size) if size < 1 << 62 else _UNKNOWN)


def in_stretches(
    events: DataFrame, some: DataFrame, keys: Sequence[str], time: str, kind: TimeKind, tasks: int
) -> DataFrame:
    """Events as one stretch for each task, in order.

    With keys Spark cuts them, which reads the source twice. Times alone are cut at quantiles of a sample, for which
    Spark reads few columns, when the result is asked for.

    Args:
        events: Those of a pool.
        some: A part of them, of rows that are `sampled`.
        keys: Their key columns.
        time: Column of the event time.
        kind: Of the event time.
        tasks: How many there are.
    """
    if keys:
        return events.repartitionByRange(tasks, *keys, time).sortWithinPartitions(*keys, time)
    number = F.expr(in_units(time, kind))
    shares = [share / tasks for share in range(1, tasks)]
    cuts = some.select(F.percentile_approx(number, shares or [0.5], _ACCURACY)).scalar()
    placed = events.withColumn("stretch", _place(number, cuts, 0, tasks - 1).cast("bigint"))
    spread_out = placed.repartition(tasks, F.expr(spread(events.sparkSession, "stretch", tasks)))
    return spread_out.drop("stretch").sortWithinPartitions(time)


def _place(number: Column, cuts: Column, first: int, last: int) -> Column:
    """Which stretch, of those from the ``first`` to the ``last``, a number is in; where there are no cuts, the last."""
    if first == last:
        return F.lit(first)
    middle = (first + last + 1) // 2
    before = number < F.get(cuts, F.lit(middle - 1))
    return F.when(before, _place(number, cuts, first, middle - 1)).otherwise(_place(number, cuts, middle, last))
