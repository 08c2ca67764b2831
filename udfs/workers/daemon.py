"""Spark's Python daemon, with PySpark as it is installed instead of the archive that comes with it.

Spark starts Python with ``pyspark.zip`` in front of its path. What is imported from there is compiled by each new
daemon, as an archive keeps nothing that is compiled: a second, most of what the first Python function of a
session waits for. Where the archive belongs to an installed PySpark, that one is taken, from the files next to it.

Run as Spark's setting ``spark.python.daemon.module``.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

ARCHIVE = "pyspark.zip"


def without_archive(path: Sequence[str]) -> list[str]:
    """A path for imports that finds the same PySpark as files.

    Args:
        path: As Spark has made it.

    Returns:
        The entries of ``path`` but for the archive, when one of the others has the PySpark that it belongs to.
    """
    left = [entry for entry in path if Path(entry).name != ARCHIVE]
    spec = PathFinder.find_spec("pyspark", left)
    homes = {Path(entry).resolve().parents[2] for entry in path if Path(entry).name == ARCHIVE}
    if spec is None or spec.origin is None or homes != {Path(spec.origin).resolve().parent}:
        return list(path)
    return left


if __name__ == "__main__":
    sys.path[:] = without_archive(sys.path)
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
