"""Temporary views that sparkext makes for itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

_numbers = itertools.count(1)


@contextmanager
def named(frame: DataFrame) -> Iterator[str]:
    """Give a frame a name by which statements can read it, as long as they are written."""
    name = f"sparkext_results_{next(_numbers)}"
    frame.createOrReplaceTempView(name)
    try:
        yield name
    finally:
        drop_view(frame.sparkSession, name)


def drop_view(spark: SparkSession, name: str) -> None:
    """Drop a temporary view if there is one, but not as users do: Spark would parse what it holds, here, in another
    thread, and would no longer keep the rows of a data frame that is kept and also has this name.
    """
    spark._jsparkSession.sessionState().catalog().dropTempView(name)
