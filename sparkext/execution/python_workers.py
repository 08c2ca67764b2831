"""The Python processes that Spark runs functions in, on one machine."""

from __future__ import annotations

import os
import shutil
import sys
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
    context = spark.sparkContext
    if (context.master or "").startswith("local"):
        _use_this_python(context)
        _start_quickly(spark)


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


def _start_quickly(spark: SparkSession) -> None:
    """Have `sparkext.udfs.workers.daemon` start the workers.

    Functions that have been registered before keep the path that they were registered with, on which the daemon
    may not be: then Spark's own stays.
    """
    if not has_temporary_functions(spark):
        set_missing_conf(spark.sparkContext, DAEMON, "sparkext.udfs.workers.daemon")
