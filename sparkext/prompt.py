"""``sparkext spark-sql``: Spark's own prompt, in this JVM, with an enabled session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    jvm.org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver.main(options)
    return 0


def hive_settings(options: Sequence[str]) -> dict[str, str]:
    """What ``--hiveconf name=value`` sets."""
    given = [option.removeprefix("--hiveconf=") for option in options if option.startswith("--hiveconf=")]
    given += [value for option, value in zip(options, options[1:], strict=False) if option == "--hiveconf"]
    return {name: value for name, _, value in (text.partition("=") for text in given)}
