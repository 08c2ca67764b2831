"""The Python processes that Spark runs functions in, on one machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pyspark import SparkContext

_PACKAGES = Path(__file__).parents[2]

_FIRST = Path(__file__).parents[1] / "udfs" / "workers" / "path"
"""Where Python finds what it does before anything else."""


def prepare(context: SparkContext) -> None:
    """On one machine, let Spark's workers run this Python, find the packages that it runs, and start quickly.

    Left to itself Spark starts the ``python3`` of PATH, unless the user has said otherwise, and that one does not know
    what this process has put into ``sys.path``. Another Python that the user has named has packages of its own, which
    ours would hide. What the user has said counts. On a cluster nothing is done.

    Args:
        context: Of the application. Functions that have been registered before keep the path that they have.
    """
    if not (context.master or "").startswith("local"):
        return
    if "PYSPARK_PYTHON" not in os.environ and not context.getConf().contains("spark.pyspark.python"):
        context.pythonExec = sys.executable
    if os.path.abspath(shutil.which(context.pythonExec) or context.pythonExec) != os.path.abspath(sys.executable):
        return
    paths = [path for path in context.environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    context.environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([str(_FIRST), *paths, str(_PACKAGES)]))


def leave_folder_out(context: SparkContext) -> None:
    """On one machine, let workers not look for modules in the folder where Spark was started.

    For programs without Python of the user's: what lies there, such as a ``types.py``, is none of their modules.

    Args:
        context: Of the application. Functions that have been registered before keep the path that they have.
    """
    if (context.master or "").startswith("local"):
        context.environment["PYTHONSAFEPATH"] = "1"
