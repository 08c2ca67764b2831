"""A session of this machine alone, for commands that run a few statements and say what comes of them."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from sparkext.session import enable


def local_session(name: str, confs: Mapping[str, str]) -> SparkSession:
    """An enabled session that logs nothing and has no web interface.

    Args:
        name: Of the application.
        confs: Further settings, which have the last word.
    """
    # Spark logs errors in statements, besides raising them.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")
    builder = SparkSession.builder.master("local[*]").appName(name).config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    for conf, value in confs.items():
        builder = builder.config(conf, value)
    spark = enable(builder.getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    return spark
