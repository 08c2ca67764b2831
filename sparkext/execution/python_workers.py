"""The Python processes that Spark runs functions in, on one machine."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from sparkext.jvm.analysis_context import has_temporary_functions
from sparkext.jvm.application import set_missing_conf

DAEMON = "spark.python.daemon.module"


def prepare(spark: SparkSession) -> None:
    """On one machine, let Spark's workers run this Python, find the packages that it runs, and start quickly.

    What the user has said about them counts. On a cluster nothing is done.

    Args:
        spark: A session of the application, as the user has made it.
    """
    # Functions that have been registered before keep the path that they were registered with, on which the daemon may
    # not be: then Spark's own stays.
    prepare_context(spark.sparkContext, lambda: not has_temporary_functions(spark))


def prepare_context(context: SparkContext, may_start_quickly: Callable[[], bool]) -> None:
    """As `prepare`, where no session may be asked.

    Args:
        context: Of the application.
        may_start_quickly: Whether all functions of the application's find the packages that this Python runs.
    """
    if (context.master or "").startswith("local"):
        _use_this_python(context)
        if may_start_quickly():
            set_missing_conf(context, DAEMON, "sparkext.udfs.workers.daemon")


def _use_this_python(context: SparkContext) -> None:
    """Left to itself Spark starts the ``python3`` of PATH, unless the user has said otherwise, and that one
    does not know what this process has put into ``sys.path``. Another Python that the user has named has packages of
    its own, which ours would hide.
    """
    if "PYSPARK_PYTHON" not in os.environ and not context.getConf().contains("spark.pyspark.python"):
        context.pythonExec = sys.executable
    if os.path.abspath(shutil.which(context.pythonExec) or context.pythonExec) != os.path.abspath(sys.executable):
        return
    paths = context.environment.get("PYTHONPATH", "").split(os.pathsep)
    ours = str(Path(__file__).parents[2])
    context.environment["PYTHONPATH"] = os.pathsep.join([*filter(None, paths), *([] if ours in paths else [ours])])
