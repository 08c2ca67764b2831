"""Starting ``sparkext`` as its own process, and what the tests of its programs have in common."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
IN_MEMORY = (
    *("--master", "local[2]"),
    *("--conf", "spark.sql.shuffle.partitions=2"),
    *("--conf", "spark.sql.catalogImplementation=in-memory"),
)
"""Options for a small Spark on this machine without a metastore."""

CLAUSE = "ORDER BY t TYPE BY kind MEASURES COUNT(*) AS n PATTERN (A B)"
"""A query that finds three trends in `EVENTS`."""

EVENTS = "CREATE TEMP VIEW events AS SELECT * FROM VALUES (1, 'A'), (2, 'B'), (3, 'A'), (4, 'B') AS e(t, kind);\n"

ENDLESS = (
    "SELECT * FROM (SELECT id AS t, IF(id % 1000000 = 0, 'A', 'x') AS kind FROM range(0, 1000000000000, 1, 2)) "
    f"MATCH_TREND ({CLAUSE});\n"
)
"""A query that runs for hours."""


def put_modules_that_end_python(folder: Path) -> None:
    """Files of a user's that have the names of modules which Python, PySpark or sparkext import."""
    for name in ("types", "random", "numbers", "pandas", "numpy", "runpy"):
        (folder / f"{name}.py").write_text("raise SystemExit(3)\n")


def command(*options: str) -> list[str]:
    """``sparkext`` with some options."""
    return [sys.executable, "-m", "sparkext", *options]


def variables() -> dict[str, str]:
    """The environment for it."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TERM": "xterm", "SPARK_LOCAL_IP": "127.0.0.1"}


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def eventually(holds: Callable[[], bool], seconds: float = 120, every: float = 0.2) -> None:
    """Wait for something, and look for it ``every`` so many seconds.

    Raises:
        AssertionError: It did not come true in time.
    """
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(every)
