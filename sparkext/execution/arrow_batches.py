"""How Spark hands rows to Python workers."""

from __future__ import annotations

from pyspark.sql import SparkSession

from sparkext.settings import Confs

BYTES_PER_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
"""Spark's limit of a batch that a Python worker is given, beside that of its rows."""

_NO_LIMIT = str((1 << 31) - 1)


def limit_by_rows(spark: SparkSession, confs: Confs) -> bool:
    """Let batches be limited by their rows alone, unless the user has said how many bytes one may have.

    For a limit in bytes Spark adds up the sizes of all buffers after each row, which takes it longer than to read,
    sort and write the row. What is handed over for a pass has few and narrow columns.

    Args:
        spark: The session.
        confs: That it has.

    Returns:
        Whether there was no limit by the user.
    """
    if BYTES_PER_BATCH in confs:
        return False
    spark.conf.set(BYTES_PER_BATCH, _NO_LIMIT)
    return True


def limit_by_bytes(spark: SparkSession) -> None:
    """Take back what `limit_by_rows` has set, unless the user has set something else since."""
    if spark.conf.get(BYTES_PER_BATCH, None) == _NO_LIMIT:
        spark.conf.unset(BYTES_PER_BATCH)
