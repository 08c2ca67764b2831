"""What a prompt says of passes that take long: a line after five seconds, and after each twice as long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

from pyspark import SparkContext

from sparkext.execution.job_names import OURS, TAG, all_are_watched
from sparkext.jvm.application import RunningJob, running_jobs, shows_progress
from sparkext.jvm.gateway import JvmGoneError
from sparkext.jvm.spark_programs import is_at_terminal
from sparkext.planner.amounts import count
from sparkext.sql.quoting import one_line

FIRST = 5.0
"""Seconds after which a pass is mentioned for the first time."""

EVERY = 1.0
"""Seconds after which is looked again."""


def say_progress(context: SparkContext) -> None:
    """From now on, say how far passes are that take long, if the standard error of the JVM is a terminal.

    Where Spark shows bars of its own, that is left to them.
    """
    threading.Thread(target=_watch, args=(context,), name="sparkext-progress", daemon=True).start()


def _watch(context: SparkContext) -> None:
    try:
        if shows_progress(context) or not is_at_terminal():
            return
        all_are_watched.set()
        progress = Progress()
        while True:
            time.sleep(EVERY)
            for line in progress.lines(running_jobs(context, TAG), time.time()):
                print(line, file=sys.stderr, flush=True)
    except (JvmGoneError, OSError):
        pass  # the JVM has ended


class Progress:
    """Which passes run, since when, and when to mention them next."""

    def __init__(self) -> None:
        """None as yet."""
        self._passes: dict[str, tuple[float, float]] = {}

    def lines(self, jobs: Iterable[RunningJob], now: float) -> Iterator[str]:
        """What is to be said.

        Args:
            jobs: That run now; those with the same tag are of one pass.
            now: In seconds since 1970.
        """
        by_tag: dict[str, list[RunningJob]] = {}
        for job in jobs:
            by_tag.setdefault(job.tag, []).append(job)
        passes: dict[str, tuple[float, float]] = {}
        for tag, its in by_tag.items():
            began, due = self._passes.get(tag, (min(job.began for job in its), FIRST))
            if now - began >= due:
                yield _line(its, now - began)
                while due <= now - began:
                    due *= 2
            passes[tag] = began, due
        self._passes = passes


def _line(jobs: Sequence[RunningJob], seconds: float) -> str:
    name = next((job.description for job in jobs if job.description.startswith(OURS)), f"{OURS}a query by itself")
    done, tasks = sum(job.done for job in jobs), sum(job.tasks for job in jobs)
    return f"{one_line(name)}: {seconds:.0f} s, {done:,} of {count(tasks, 'task', 'tasks')} done"
