"""The application: its confs, what it shows, and the threads of the JVM, of which each thread of Python has one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark import SparkContext

from sparkext.jvm.gateway import JvmError, java_class, java_gateway

DESCRIPTION = "spark.job.description"
TAGS = "spark.job.tags"
"""Of the jobs of a thread, with commas between."""

_MOST_STAGES = 50
"""How many of the stages that failed last are looked at."""


def shows_progress(context: SparkContext) -> bool:
    """Whether Spark shows the progress of jobs on the console."""
    return bool(context._jsc.sc().progressBar().isDefined())


def is_stopped(context: SparkContext) -> bool:
    """Whether the application has ended."""
    return bool(context._jsc.sc().isStopped())


def failures(context: SparkContext, description: str, since: float) -> list[str]:
    """Errors of stages that have failed, and were not cancelled.

    Args:
        context: Of the application.
        description: What that of their jobs holds.
        since: When the first of them may have begun, in seconds since 1970.
    """
    failed = java_class("java.util.ArrayList")()
    failed.add(java_class("org.apache.spark.status.api.v1.StageStatus").FAILED)
    java = java_gateway()
    no_doubles = java.new_array(java.jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(failed, False, False, no_doubles, None)  # the last one first
    reasons: list[str] = []
    for index in range(min(stages.size(), _MOST_STAGES)):
        stage = stages.apply(index)
        begun, said, reason = stage.submissionTime(), stage.description(), stage.failureReason()
        if begun.isEmpty() or said.isEmpty() or reason.isEmpty():
            continue
        text = str(reason.get())
        if begun.get().getTime() >= 1000 * since and description in said.get() and "cancelled" not in text:
            reasons.append(text)
    return reasons


@dataclass(frozen=True, slots=True)
class Jobs:
    """Some jobs of an application, as it remembers them.

    Attributes:
        began: When the first of them did, in seconds since 1970.
        ended: When the last of them did, likewise; None while one runs.
        rows: That they have read.
        bytes: That they have read.
    """

    began: float
    ended: float | None
    rows: int
    bytes: int


def jobs_with_tag(context: SparkContext, tag: str, since: float) -> Jobs | None:
    """The jobs with a tag; None if none is remembered, or the last of them has failed.

    Args:
        context: Of the application.
        tag: The tag.
        since: When the first of them may have begun, in seconds since 1970.
    """
    store = context._jsc.sc().statusStore()
    jobs = store.jobsList(None)  # the last one first
    began, rows, read = 0.0, 0, 0
    ended: list[float | None] = []
    for index in range(jobs.size()):
        job = jobs.apply(index)
        submitted = job.submissionTime()
        if submitted.isEmpty() or not job.jobTags().contains(tag):
            if not submitted.isEmpty() and submitted.get().getTime() < 1000 * since:
                break
            continue
        if not ended and job.status().toString() not in ("RUNNING", "SUCCEEDED"):
            return None
        began, done = submitted.get().getTime() / 1000, job.completionTime()
        ended.append(None if done.isEmpty() else done.get().getTime() / 1000)
        stages = job.stageIds()
        for at in range(stages.size()):
            try:
                stage = store.lastStageAttempt(stages.apply(at))
            except JvmError:  # it is not remembered any more
                continue
            rows, read = rows + stage.inputRecords(), read + stage.inputBytes()
    if not ended:
        return None
    over = [moment for moment in ended if moment is not None]
    return Jobs(began, max(over) if len(over) == len(ended) else None, rows, read)


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that runs.

    Attributes:
        tag: One that it has.
        description: Empty if it has none.
        began: When it did, in seconds since 1970.
        done: Tasks of it that are.
        tasks: That it has.
    """

    tag: str
    description: str
    began: float
    done: int
    tasks: int


def running_jobs(context: SparkContext, prefix: str) -> Iterator[RunningJob]:
    """The jobs that run and have a tag that begins so."""
    running = java_class("java.util.ArrayList")()
    running.add(java_class("org.apache.spark.JobExecutionStatus").RUNNING)
    jobs = context._jsc.sc().statusStore().jobsList(running)
    for index in range(jobs.size()):
        job = jobs.apply(index)
        tag = next((tag for tag in job.jobTags().mkString(",").split(",") if tag.startswith(prefix)), None)
        submitted, description = job.submissionTime(), job.description()
        if tag is not None and not submitted.isEmpty():
            said = "" if description.isEmpty() else str(description.get())
            began = submitted.get().getTime() / 1000
            yield RunningJob(tag, said, began, job.numCompletedTasks(), job.numTasks() - job.numSkippedTasks())


class JavaThread:
    """The thread of the JVM that serves this one.

    Attributes:
        number: By which the JVM knows it.
    """

    def __init__(self) -> None:
        """To be made by the thread of Python."""
        self._thread = java_class("java.lang.Thread").currentThread()
        self.number = int(self._thread.getId())

    def is_interrupted(self) -> bool:
        """Whether it has been told to end what it does."""
        return bool(self._thread.isInterrupted())

    def is_in(self, method: str) -> bool:
        """Whether it is in a method of that name, or in what that calls."""
        return any(frame.getMethodName() == method for frame in self._thread.getStackTrace())


class JobProperties:
    """Properties of the jobs that this thread starts, which other threads may change, too."""

    def __init__(self, context: SparkContext) -> None:
        """To be made by the thread that starts the jobs."""
        self._properties = context._jsc.sc().getLocalProperties()

    def get(self, name: str) -> str | None:
        """A property; None if there is none."""
        text: str | None = self._properties.getProperty(name)
        return text

    def set(self, name: str, text: str | None) -> None:
        """Change it, or take it away."""
        if text is None:
            self._properties.remove(name)
        else:
            self._properties.setProperty(name, text)
