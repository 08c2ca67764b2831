"""How what sparkext does appears in the Spark UI."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

_DESCRIPTION = "spark.job.description"


@contextmanager
def described(spark: SparkSession, description: str) -> Iterator[None]:
    """Give the Spark jobs that this thread starts a description, and the thread its own one back."""
    context = spark.sparkContext
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, description)
    try:
        yield
    finally:
        context.setLocalProperty(_DESCRIPTION, before)  # type: ignore[arg-type] # None takes it away


def keep(rows: DataFrame, name: str, level: StorageLevel) -> None:
    """As ``rows.persist(level)``, with a name by which plans and the page of what is stored call it."""
    frame = rows._jdf
    context = rows.sparkSession.sparkContext
    assert context._jvm is not None
    shown = context._jvm.scala.Option.apply(name)
    manager = frame.sparkSession().sharedState().cacheManager()
    manager.cacheQuery(frame, shown, context._getJavaStorageLevel(level))
    rows.is_cached = True
