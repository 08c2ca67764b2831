"""Python as the child of a JVM that runs one of Spark's programs."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from sparkext import prompt, thrift_server
from sparkext.session import enable
from sparkext.submit import SCRIPT, SPARK_SQL

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
    gateway = launch_gateway()  # type: ignore[no-untyped-call]
    sys.stderr = JvmErrors(gateway.jvm)
    log_to(sys.stderr, bool(verbose))
    run = prompt.run if name == SPARK_SQL.name else thrift_server.run
    texts = gateway.new_array(gateway.jvm.java.lang.String, len(options))
    for place, option in enumerate(options):
        texts[place] = option
    try:
        return run(gateway.jvm, texts, lambda: enabled_session(gateway))
    except Py4JJavaError as error:
        print(f"{PACKAGE} {name}: {error.java_exception.toString()}", file=sys.stderr)
        return 1
    except (Py4JNetworkError, OSError):
        # The JVM has ended while it was being talked to, and with it what there was to do. There is nobody to tell.
        os._exit(0)


def enabled_session(gateway: Any) -> SparkSession:
    """The session that Spark's programs use, made as they make it, and enabled."""
    jvm = gateway.jvm
    environment = jvm.org.apache.spark.sql.hive.thriftserver.SparkSQLEnv
    # Loading the prompt's class makes Spark log as it does at a prompt: warnings, unless the user wants more.
    jvm.java.lang.Class.forName(SPARK_SQL.main_class + "$")
    if jvm.java.lang.System.getProperty(_APPLICATION) == SCRIPT.name:
        # The user has given no name. By this one Spark's programs know it, and take another.
        jvm.java.lang.System.setProperty(_APPLICATION, SPARK_SQL.main_class)
    environment.init()
    java_context = jvm.JavaSparkContext(environment.sparkContext())
    conf = SparkConf(_jvm=jvm, _jconf=java_context.getConf())
    context = SparkContext(conf=conf, gateway=gateway, jsc=java_context)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # SparkContext has taken it
    session = enable(SparkSession(context, environment.sparkSession()))
    getattr(environment, "sparkSession_$eq")(session._jsparkSession)
    return session


def log_to(stream: Any, verbose: bool) -> None:
    """Let Python's log go to ``stream``: warnings, and what this package does and why if ``verbose``."""
    logging.basicConfig(stream=stream, level=logging.WARNING, format="%(name)s: %(message)s")
    logging.getLogger(PACKAGE).setLevel(logging.INFO if verbose else logging.WARNING)


class JvmErrors(io.TextIOBase):
    """The standard error of the JVM; that of this process is the JVM's standard output."""

    def __init__(self, jvm: Any) -> None:
        super().__init__()
        self._jvm = jvm

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._jvm.java.lang.System.err.print(text)
        return len(text)

    def flush(self) -> None:
        self._jvm.java.lang.System.err.flush()
