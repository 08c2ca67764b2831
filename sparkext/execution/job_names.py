"""How what sparkext does appears in the Spark UI."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from sparkext.jvm.application import DESCRIPTION, JobDescription

OURS = "sparkext: "
"""Beginning of the descriptions of jobs that sparkext starts, or has Spark start."""


class LentDescription:
    """The description of a thread's jobs, lent to the passes that they are about to make.

    Descriptions belong to the thread that starts a job. What a statement plans is computed by jobs of its thread,
    later, so they have the names of the passes until the tasks of these report. Groups of jobs stay as they are.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Of this thread, and so of the statement that it runs."""
        self._description = JobDescription(spark.sparkContext)
        self._before = self._description.get()
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
        if self._description.get() != self._shown:
            return  # the user has set another since
        self._description.set(wanted)
        self._shown = wanted


@contextmanager
def described(spark: SparkSession, description: str) -> Iterator[None]:
    """Give the Spark jobs that this thread starts a description, and the thread its own one back."""
    context = spark.sparkContext
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, description)
    try:
        yield
    finally:
        context.setLocalProperty(DESCRIPTION, before)  # type: ignore[arg-type] # None takes it away
