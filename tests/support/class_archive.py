"""Writes Spark's classes to a file, from which a JVM takes them as they are when they are loaded::

    python -m tests.support.class_archive

A session of Spark then starts in some 3 s in place of 6, and its first query takes half as long.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

FILE = Path(sys.prefix) / "classes.jsa"
"""Of this Python environment, whose Spark it is."""

SHORT_LIFE = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""For a JVM that runs a few minutes at most, beside others: what compiles and collects takes a third of it else. With
that compiler alone, it has room for 48 MB of code, which tests fill; what comes then is not compiled."""


def options() -> str:
    """Options for the JVMs that tests start. One that finds the file to be of another Java or Spark does without it."""
    archive = f" -XX:SharedArchiveFile={FILE} -Xlog:cds=off -Xlog:cds+dynamic=off" if FILE.exists() else ""
    return SHORT_LIFE + archive


def main() -> None:
    """Run a query, and let the JVM write its classes when it ends."""
    os.environ["SPARK_SUBMIT_OPTS"] = f"{SHORT_LIFE} -XX:ArchiveClassesAtExit={FILE} -Xlog:disable"
    from tests.support.sql_cases import stream, trends, values
    from tests.support.sql_harness import start_session

    FILE.unlink(missing_ok=True)
    spark = start_session()
    stream(spark, {"x": "a1 b2 a3 b4", "y": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    assert values(spark.table("v")) == [("x", 3), ("y", 1)]
    java = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    spark.stop()
    java.stdin.close()  # it ends then
    java.wait()


if __name__ == "__main__":
    main()
