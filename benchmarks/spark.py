"""The Spark session of the benchmarks, and what is done with frames."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

import sparkext


def start(cores: int | None) -> SparkSession:
    """An enabled session on so many cores of this machine, all if None.

    Shuffles have four partitions a core, which helps those who leave the number to Spark.
    """
    plain = (
        SparkSession.builder.master("local[*]" if cores is None else f"local[{cores}]")
        .appName("sparkext benchmarks")
        .config("spark.driver.memory", "8g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    plain.sparkContext.setLogLevel("ERROR")
    spark = sparkext.enable(plain)
    spark.conf.set("spark.sql.shuffle.partitions", 4 * spark.sparkContext.defaultParallelism)
    return spark


def stop(spark: SparkSession) -> None:
    """Stop a session, with its Python workers."""
    sparkext.disable(spark)
    spark.stop()


def discard(*frames: DataFrame) -> None:
    """Compute all rows of each frame and keep none."""
    for frame in frames:
        frame.write.format("noop").mode("overwrite").save()
