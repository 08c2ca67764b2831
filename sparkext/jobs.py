"""How what sparkext does appears in the Spark UI."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

_DESCRIPTION = "spark.job.description"


class Lent:
    """The description of a thread's jobs, lent to the passes that they are about to make.

    Descriptions belong to the thread that starts a job. What a statement plans is computed by jobs of its thread,
    later, so they have the names of the passes until the tasks of these report. Groups of jobs stay as they are.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Of this thread, and so of the statement that it runs."""
        self._properties = spark.sparkContext._jsc.sc().getLocalProperties()
        self._before: str | None = self._properties.getProperty(_DESCRIPTION)
        self._shown = self._before
        self._names: list[str] = []
        self._lock = threading.Lock()

    def lend(self, name: str) -> None:
        """Let the jobs have a name, beside those that they have been lent."""
        with self._lock:
            self._names += [] if name in self._names else [name]
            self._show()

    def give_back(self, name: str | None = None) -> None:
        """Take a name away, or all of them; the thread has its own description back with the last."""
        with self._lock:
            self._names = [other for other in self._names if name not in (None, other)]
            self._show()

    def _show(self) -> None:
        wanted = "; ".join(self._names) or self._before
        if self._properties.getProperty(_DESCRIPTION) != self._shown:
            return  # the user has set another since
        if wanted is None:
            self._properties.remove(_DESCRIPTION)
        else:
            self._properties.setProperty(_DESCRIPTION, wanted)
        self._shown = wanted


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
