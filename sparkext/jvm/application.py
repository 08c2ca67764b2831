"""The application: its confs, what it shows, and the threads of the JVM, of which each thread of Python has one."""

from __future__ import annotations

from pyspark import SparkContext

from sparkext.jvm.gateway import java_class, java_gateway

DESCRIPTION = "spark.job.description"

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


class JobDescription:
    """The description of the jobs that this thread starts, which other threads may change, too."""

    def __init__(self, context: SparkContext) -> None:
        """To be made by the thread that starts the jobs."""
        self._properties = context._jsc.sc().getLocalProperties()

    def get(self) -> str | None:
        """The description; None if there is none."""
        text: str | None = self._properties.getProperty(DESCRIPTION)
        return text

    def set(self, text: str | None) -> None:
        """Change it, or take it away."""
        if text is None:
            self._properties.remove(DESCRIPTION)
        else:
            self._properties.setProperty(DESCRIPTION, text)
