"""``sparkext spark-sql``: Spark's own prompt, in this JVM, with an enabled session."""

from __future__ import annotations

import fcntl
import os
import sys
import termios
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from pyspark import SparkContext
from pyspark.sql import SparkSession

from sparkext.cli.progress import say_progress
from sparkext.cli.script import Script, script_of
from sparkext.jvm.application import JavaThread
from sparkext.jvm.gateway import JvmGoneError
from sparkext.jvm.spark_programs import (
    at_end,
    check_prompt_options,
    has_terminal,
    leave_prompt,
    on_interrupt,
    run_prompt,
)
from sparkext.parser.trend_parser import TrendParser
from sparkext.session import parsers_of
from sparkext.workload.cancellation import cancelled

_HADOOP = "spark.hadoop."
_NOT_PASSED_ON = "javax.jdo.option.ConnectionURL"
_RUNS_STATEMENTS = "processLine"
_CLEAR_AND_END = b"\x05\x15;\r"
"""Keys: to the end of the line, delete it to its beginning, a semicolon, return."""

SECONDS = 0.2
"""How often the jobs of a statement are cancelled that is to end."""


def run(options: Sequence[str], start: Callable[[], SparkSession]) -> int:
    """Run the prompt, a file or statements, until the JVM ends.

    Args:
        options: Of the prompt.
        start: Makes the session.

    Returns:
        Exit status, when the prompt could not be started.
    """
    if not check_prompt_options(options):
        return 1
    # The prompt does this before it makes a session, which is made before it here.
    for name, value in hive_settings(options).items():
        if name != _NOT_PASSED_ON and SparkContext.getSystemProperty(_HADOOP + name) is None:
            SparkContext.setSystemProperty(_HADOOP + name, value)
    session = start()
    [parser] = parsers_of(session)
    if has_terminal() and not any(option.startswith(("-e", "-f")) for option in options):
        on_interrupt(partial(stay_at_prompt, parser), StatementCanceller(session, parser).start)
    if (divided := script_of(options, leave)) is not None:
        script, options = divided
        parser.watch = script.begin
        at_end(partial(say_where_it_ended, script))
    say_progress(session.sparkContext)
    run_prompt(options)
    return 0


def leave() -> None:
    """End with the exit status of a file whose statements all were right."""
    try:
        leave_prompt()
    finally:
        os._exit(0)  # the JVM is gone, and would be asked for more


def say_where_it_ended(script: Script) -> None:
    """Say at which statement a script has ended, if not behind the last one; what was wrong has been said."""
    script.remove_copy()
    if (where := script.failed()) is not None:
        print(where, file=sys.stderr)


def stay_at_prompt(parser: TrendParser) -> None:
    """What the JVM does on Ctrl-C while no statement runs: it says how to leave, and gives up what is half typed.

    Spark's own prompt would end, and with it the session. It keeps the lines of a statement to itself until one ends
    with a semicolon. So that is typed for the user, and the statement that it ends is not run.
    """
    print("\nNothing is running. Ctrl-D or quit; leaves.", file=sys.stderr)
    parser.give_up_next()
    if not type_at_terminal(_CLEAR_AND_END):
        parser.give_up_next(False)
        print("A line with a semicolon ends the statement that is half typed.", file=sys.stderr)


def type_at_terminal(keys: bytes) -> bool:
    """Type ``keys`` as if the user had; returns whether the terminal allows that."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            for key in keys:
                fcntl.ioctl(terminal, termios.TIOCSTI, bytes((key,)))
    except OSError:
        return False
    return True


class StatementCanceller:
    """What Ctrl-C does while a statement runs, beside what Spark's own prompt does: cancel the jobs that run just then.

    While a statement is planned, and between two of its jobs, there is none. So planning is told of it, and jobs are
    cancelled until the statement is over.
    """

    def __init__(self, session: SparkSession, parser: TrendParser) -> None:
        """To be made by the thread that is to run the prompt."""
        self._context = session.sparkContext
        self._workload = parser.workload
        self._prompt = JavaThread()

    def start(self) -> None:
        """Go on cancelling. Returns at once: Spark's own prompt is waiting for its turn."""
        asked = (self._workload.statements,)
        threading.Thread(target=self._cancel, args=asked, name="sparkext-cancel", daemon=True).start()

    def _cancel(self, statement: int) -> None:
        def goes_on() -> bool:
            return self._workload.statements == statement

        try:
            with cancelled(self._prompt, goes_on):
                while goes_on() and self._prompt.is_in(_RUNS_STATEMENTS):
                    self._context.cancelAllJobs()
                    time.sleep(SECONDS)
        except (JvmGoneError, OSError):
            pass  # the JVM has ended, by a second Ctrl-C


def hive_settings(options: Sequence[str]) -> dict[str, str]:
    """What ``--hiveconf name=value`` sets."""
    given = [option.removeprefix("--hiveconf=") for option in options if option.startswith("--hiveconf=")]
    given += [value for option, value in pairwise(options) if option == "--hiveconf"]
    return {name: value for name, _, value in (text.partition("=") for text in given)}
