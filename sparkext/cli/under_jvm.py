"""Python as the child of a JVM that runs one of Spark's programs."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from sparkext.cli import connect_server, prompt, thrift_server
from sparkext.cli.submit import CONNECT_SERVER, SCRIPT, SPARK_SQL
from sparkext.execution.python_workers import leave_folder_out
from sparkext.jvm.gateway import JavaError, JvmGoneError, thrown_text
from sparkext.jvm.spark_programs import ErrorStream, connect, has_ended, log_as_prompt, program_session, use_session
from sparkext.session import enable

PACKAGE = "sparkext"
"""Name of the loggers of this package."""

_APPLICATION = "spark.app.name"


def main(arguments: Sequence[str]) -> int:
    """Run a program to its end.

    Args:
        arguments: The name of the program, ``--verbose`` if wanted, ``--``, and the program's own options.

    Returns:
        Exit status.
    """
    # The terminal sends Ctrl-C to the JVM, too, which knows what to do about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    at = arguments.index("--")
    (name, *verbose), options = arguments[:at], arguments[at + 1 :]
    connect()
    sys.stderr = ErrorStream()
    log_to(sys.stderr, bool(verbose))
    try:
        if name == CONNECT_SERVER.name:
            return connect_server.run(options, server_session)
        return (prompt.run if name == SPARK_SQL.name else thrift_server.run)(options, enabled_session)
    except JavaError as error:
        print(f"{PACKAGE} {name}: {thrown_text(error)}", file=sys.stderr)
        return 1
    except (JvmGoneError, OSError) as error:
        if has_ended():
            # The JVM has ended while it was being talked to, and with it what there was to do. Nobody is there to tell.
            os._exit(0)
        print(f"{PACKAGE} {name}: {error}", file=sys.stderr)
        return 1


def enabled_session() -> SparkSession:
    """The session that Spark's programs use, made as they make it, and enabled."""
    if SparkContext.getSystemProperty(_APPLICATION) == SCRIPT.name:
        # The user has given no name. By this one Spark's programs know it, and take another.
        SparkContext.setSystemProperty(_APPLICATION, SPARK_SQL.main_class)
    # Spark logs as it does at a prompt: warnings, unless the user wants more.
    session = _enabled(program_session(SPARK_SQL.main_class))
    use_session(session)
    return session


def server_session() -> SparkSession:
    """The session that those of Spark Connect's clients are made from, made as Spark's server makes it, and enabled."""
    if SparkContext.getSystemProperty(_APPLICATION) == SCRIPT.name:
        SparkContext.setSystemProperty(_APPLICATION, "Spark Connect server")
    log_as_prompt(SPARK_SQL.main_class)
    return _enabled(SparkSession.builder.getOrCreate())


def _enabled(session: SparkSession) -> SparkSession:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # SparkContext has taken it
    leave_folder_out(session.sparkContext)
    return enable(session)


def log_to(stream: Any, verbose: bool) -> None:
    """Let Python's log go to ``stream``: warnings, and what this package does and why if ``verbose``."""
    logging.basicConfig(stream=stream, level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger(PACKAGE).setLevel(logging.INFO if verbose else logging.WARNING)
