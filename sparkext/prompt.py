"""``sparkext spark-sql``: Spark's own prompt, in this JVM, with an enabled session."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from sparkext.session import parsers_of

_HADOOP = "spark.hadoop."
_NOT_PASSED_ON = "javax.jdo.option.ConnectionURL"
_RUNS_STATEMENTS = "processLine"

SECONDS = 0.2
"""How often the jobs of a statement are cancelled that is to end."""


def run(jvm: Any, options: Any, start: Callable[[], SparkSession]) -> int:
    """Run the prompt, a file or statements, until the JVM ends.

    Args:
        jvm: Where to.
        options: Of the prompt; an array of Java's.
        start: Makes the session.

    Returns:
        Exit status, when the prompt could not be started.
    """
    if not jvm.org.apache.hadoop.hive.cli.OptionsProcessor().process_stage1(options):
        return 1
    # The prompt does this before it makes a session, which is made before it here.
    for name, value in hive_settings(list(options)).items():
        if name != _NOT_PASSED_ON and jvm.java.lang.System.getProperty(_HADOOP + name) is None:
            jvm.java.lang.System.setProperty(_HADOOP + name, value)
    session = start()
    if _is_somebody_there(jvm, list(options)):
        signal = jvm.sun.misc.Signal
        signal.handle(signal("INT"), StayAtPrompt())
        jvm.org.apache.hadoop.hive.common.HiveInterruptUtils.add(CancelStatement(session, jvm))
    jvm.org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver.main(options)
    return 0


class StayAtPrompt:
    """What the JVM does on Ctrl-C while no statement runs. Spark's own prompt would end, and with it the session."""

    def handle(self, _: Any) -> None:
        """Say how to leave."""
        print("\nNothing is running. Ctrl-D or quit; leaves.", file=sys.stderr)

    class Java:
        implements = ("sun.misc.SignalHandler",)


class CancelStatement:
    """What Ctrl-C does while a statement runs, beside what Spark's own prompt does: cancel the jobs that run just then.

    While a statement is planned, and between two of its jobs, there is none. So jobs are cancelled until it is over.
    """

    def __init__(self, session: SparkSession, jvm: Any) -> None:
        """To be made by the thread that is to run the prompt."""
        self._context = session.sparkContext
        [parser] = parsers_of(session)
        self._workload = parser.workload
        self._prompt = jvm.java.lang.Thread.currentThread()

    def interrupt(self) -> None:
        """Go on cancelling. Returns at once: Spark's own prompt is waiting for its turn."""
        asked = (self._workload.statements,)
        threading.Thread(target=self._cancel, args=asked, name="sparkext-cancel", daemon=True).start()

    def _cancel(self, statement: int) -> None:
        try:
            while self._workload.statements == statement and self._is_in_statement():
                self._context.cancelAllJobs()
                time.sleep(SECONDS)
        except (Py4JNetworkError, OSError):
            pass  # the JVM has ended, by a second Ctrl-C

    def _is_in_statement(self) -> bool:
        return any(frame.getMethodName() == _RUNS_STATEMENTS for frame in self._prompt.getStackTrace())

    class Java:
        implements = ("org.apache.hadoop.hive.common.HiveInterruptCallback",)


def _is_somebody_there(jvm: Any, options: Sequence[str]) -> bool:
    """Whether statements are typed at a terminal."""
    return jvm.java.lang.System.console() is not None and not any(o.startswith(("-e", "-f")) for o in options)


def hive_settings(options: Sequence[str]) -> dict[str, str]:
    """What ``--hiveconf name=value`` sets."""
    given = [option.removeprefix("--hiveconf=") for option in options if option.startswith("--hiveconf=")]
    given += [value for option, value in pairwise(options) if option == "--hiveconf"]
    return {name: value for name, _, value in (text.partition("=") for text in given)}
