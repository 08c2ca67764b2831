"""What jobs of passes have that others have not: names by which they appear in the Spark UI, and large batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pyspark.sql import SparkSession

from sparkext.execution.arrow_batches import BYTES_PER_BATCH, NO_LIMIT
from sparkext.jvm.application import DESCRIPTION, TAGS, JobProperties

OURS = "sparkext: "
"""Beginning of the descriptions of jobs that sparkext starts, or has Spark start."""

TAG = "sparkext-"
"""Beginning of the tags of jobs of passes."""

all_are_watched = threading.Event()
"""Whether somebody looks at jobs also of queries that no view holds, which are never shown once they are done."""


class _Lent(NamedTuple):
    """What a pass is lent: a name, if it has one, whether its jobs are shown at all, and how it is given rows."""

    name: str | None
    is_shown: bool
    is_narrow: bool


class LentProperties:
    """The description, the tags and the batches of a thread's jobs, lent to the passes that they are about to make.

    They belong to the thread that starts a job. What a statement plans is computed by jobs of its thread, later, so
    they have what the passes are lent until the tasks of these report. Groups of jobs stay as they are.

    For a limit of batches in bytes Spark adds up the sizes of all buffers after each row, which takes a quarter of a
    pass. Where all passes hand over narrow rows, batches are limited by their rows alone. If the session is given a
    limit before a statement is run, Spark has that in place of ours, and puts ours back when it has run.
    """

    def __init__(self, spark: SparkSession) -> None:
        """Of this thread, and so of the statement that it runs."""
        self._properties = JobProperties(spark.sparkContext)
        self._before: str | None = None
        self._shown: str | None = None
        self._has_named = False
        self._lent: dict[str, _Lent] = {}
        self._tags: frozenset[str] = frozenset()
        self._is_unlimited = False
        self._lock = threading.Lock()

    def lend(self, tag: str, name: str | None, is_shown: bool, is_narrow: bool) -> None:
        """Let the jobs have what a pass is lent, beside what others are.

        Args:
            tag: That no other pass has.
            name: None to leave the description as it is.
            is_shown: Whether they have the tag.
            is_narrow: Whether the rows that the pass hands over need no limit in bytes.
        """
        with self._lock:
            self._lent[tag] = _Lent(name, is_shown, is_narrow)
            self._show()

    def give_back(self, tag: str | None = None) -> None:
        """Take away what a pass has been lent, or all; the thread has its own description back with the last."""
        with self._lock:
            self._lent = {other: lent for other, lent in self._lent.items() if tag not in (None, other)}
            self._show()
            if tag is None and self._properties.get(BYTES_PER_BATCH) == NO_LIMIT:
                self._properties.set(BYTES_PER_BATCH, None)

    def _show(self) -> None:
        is_unlimited = bool(self._lent) and all(lent.is_narrow for lent in self._lent.values())
        if is_unlimited != self._is_unlimited:
            self._properties.set(BYTES_PER_BATCH, NO_LIMIT if is_unlimited else None)
            self._is_unlimited = is_unlimited
        shown = [tag for tag, lent in self._lent.items() if lent.is_shown]
        tags = frozenset(shown)
        if tags != self._tags:
            now = (self._properties.get(TAGS) or "").split(",")
            wanted = [*(tag for tag in now if tag and tag not in self._tags), *shown]
            self._properties.set(TAGS, ",".join(wanted) or None)
            self._tags = tags
        names = dict.fromkeys(lent.name for lent in self._lent.values() if lent.name is not None)
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
