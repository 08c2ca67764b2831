"""How what sparkext does appears in the Spark UI."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from sparkext.jvm.application import DESCRIPTION, TAGS, JobProperties

OURS = "sparkext: "
"""Beginning of the descriptions of jobs that sparkext starts, or has Spark start."""

TAG = "sparkext-"
"""Beginning of the tags of jobs of passes."""

all_are_watched = threading.Event()
"""Whether somebody looks at jobs also of queries that no view holds, which are never shown once they are done."""


class LentNames:
    """The description and the tags of a thread's jobs, lent to the passes that they are about to make.

    They belong to the thread that starts a job. What a statement plans is computed by jobs of its thread, later, so
    they have the names and tags of the passes until the tasks of these report. Groups of jobs stay as they are.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Of this thread, and so of the statement that it runs."""
        self._properties = JobProperties(spark.sparkContext)
        self._before: str | None = None
        self._shown: str | None = None
        self._has_named = False
        self._lent: dict[str, str | None] = {}
        self._tags: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def lend(self, tag: str, name: str | None) -> None:
        """Let the jobs have a tag, and a name beside those that they have been lent.

        Args:
            tag: That no other pass has.
            name: None to leave the description as it is.
        """
        with self._lock:
            self._lent[tag] = name
            self._show()

    def give_back(self, tag: str | None = None) -> None:
        """Take a tag and its name away, or all of them; the thread has its own description back with the last."""
        with self._lock:
            self._lent = {other: name for other, name in self._lent.items() if tag not in (None, other)}
            self._show()

    def _show(self) -> None:
        tags = frozenset(self._lent)
        if tags != self._tags:
            now = (self._properties.get(TAGS) or "").split(",")
            wanted = [*(tag for tag in now if tag and tag not in self._tags), *self._lent]
            self._properties.set(TAGS, ",".join(wanted) or None)
            self._tags = tags
        names = dict.fromkeys(name for name in self._lent.values() if name is not None)
        if not names and not self._has_named:
            return
        if not self._has_named:
            self._has_named = True
            self._before = self._shown = self._properties.get(DESCRIPTION)
        description = "; ".join(names) or self._before
        if description == self._shown or self._properties.get(DESCRIPTION) != self._shown:
            return  # as it is, or the user has set another since
        self._properties.set(DESCRIPTION, description)
        self._shown = description


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
