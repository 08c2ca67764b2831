"""``sparkext spark-sql``: Spark's own prompt, in this JVM, with an enabled session."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from pyspark.sql import SparkSession

_HADOOP = "spark.hadoop."
_NOT_PASSED_ON = "javax.jdo.option.ConnectionURL"


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
    start()
    if _is_somebody_there(jvm, list(options)):
        signal = jvm.sun.misc.Signal
        signal.handle(signal("INT"), StayAtPrompt())
    jvm.org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver.main(options)
    return 0


class StayAtPrompt:
    """What the JVM does on Ctrl-C while no statement runs. Spark's own prompt would end, and with it the session."""

    def handle(self, _: Any) -> None:
        """Say how to leave."""
        print("\nNothing is running. Ctrl-D or quit; leaves.", file=sys.stderr)

    class Java:
        implements = ("sun.misc.SignalHandler",)


def _is_somebody_there(jvm: Any, options: Sequence[str]) -> bool:
    """Whether statements are typed at a terminal."""
    return jvm.java.lang.System.console() is not None and not any(o.startswith(("-e", "-f")) for o in options)


def hive_settings(options: Sequence[str]) -> dict[str, str]:
    """What ``--hiveconf name=value`` sets."""
    given = [option.removeprefix("--hiveconf=") for option in options if option.startswith("--hiveconf=")]
    given += [value for option, value in pairwise(options) if option == "--hiveconf"]
    return {name: value for name, _, value in (text.partition("=") for text in given)}
