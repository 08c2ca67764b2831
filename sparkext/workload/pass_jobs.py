"""The jobs by which a run is computed, which Spark remembers for some time."""

from __future__ import annotations

import itertools
import os
import time
import weakref
from functools import partial

from pyspark import SparkContext

from sparkext.execution.job_names import TAG
from sparkext.jvm.application import Jobs, jobs_with_tag
from sparkext.workload.soon import soon

_numbers = itertools.count(1)


class PassJobs:
    """The jobs by which a run has been computed last: those that have its tag, since something has asked for that.

    Attributes:
        tag: That the jobs of no other run have.
        events_before: How many events earlier ones have processed.
    """

    def __init__(self) -> None:
        """None as yet."""
        self.tag = f"{TAG}{os.getpid()}-{next(_numbers)}"
        self._since: float | None = None
        self._known: Jobs | None = None
        self._is_expected = False
        self.events_before = 0

    def begin(self, events: int) -> None:
        """Note that the run is about to be computed, after so many events have been processed for it."""
        self.events_before = events
        self._since, self._known, self._is_expected = time.time(), None, False

    def look(self, context: SparkContext) -> Jobs | None:
        """The jobs; None if Spark does not remember them."""
        since = self._since
        if self._known is not None or since is None:
            return self._known
        jobs = jobs_with_tag(context, self.tag, since)
        if jobs is not None and jobs.ended is not None and since == self._since:
            self._known = jobs
        return jobs

    def expect_end(self, context: SparkContext) -> None:
        """Look for them once they have ended, before Spark forgets them. Returns at once."""
        if not self._is_expected:
            self._is_expected = True
            soon(partial(_look, weakref.ref(self), context))


def _look(known: weakref.ref[PassJobs], context: SparkContext) -> None:
    jobs = known()
    if jobs is not None and (found := jobs.look(context)) is not None and found.ended is None:
        soon(partial(_look, known, context))
