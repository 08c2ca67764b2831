"""How Spark hands rows to Python workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession
from pyspark.sql.types import BinaryType, DataType, StringType

from sparkext.binding.bound_query import BoundQuery
from sparkext.planner.kernel_plan.kernel_plan import Encoding, KernelPlan

BYTES_PER_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
"""Spark's limit of a batch that a Python worker is given, beside that of its rows."""

_ROWS_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

NARROW = 1 << 10
"""Bytes of the texts of a key up to which batches are small whatever they hold: Spark gives one 10,000 rows."""

_NO_LIMIT = str((1 << 31) - 1)
_ANY_LENGTH: tuple[type[DataType], ...] = (StringType, BinaryType)


def has_limit_of_rows(spark: SparkSession) -> bool:
    """Whether batches have a limit of rows; PySpark makes no data frame of a table of Arrow's without one."""
    return int(str(spark.conf.get(_ROWS_PER_BATCH))) > 0


def are_narrow(query: BoundQuery, plan: KernelPlan, widest: int | None) -> bool:
    """Whether the rows of a pass need no limit in bytes.

    Args:
        query: One of the pass.
        plan: What is computed, and so what is handed over.
        widest: Most bytes of the texts of a key that have been seen in the source; None if nobody has looked.
    """
    if any(column.encoding is Encoding.IDENTITY for column in plan.columns):
        return False  # values of any length that PREV compares
    has_texts = any(isinstance(key.type, _ANY_LENGTH) for key in (*query.groups, *query.partitions))
    return not has_texts or (widest is not None and widest <= NARROW)


@contextmanager
def limited_by_rows(spark: SparkSession) -> Iterator[None]:
    """Let batches of what is kept meanwhile be limited by their rows alone, unless the user has set another limit.

    For a limit in bytes Spark adds up the sizes of all buffers after each row, which takes a fifth of a pass. What it
    keeps it computes by the confs that the session has when it is told to keep it; all else has the limit.
    """
    if spark.conf.get(BYTES_PER_BATCH, None) is not None:
        yield
        return
    spark.conf.set(BYTES_PER_BATCH, _NO_LIMIT)
    try:
        yield
    finally:
        spark.conf.unset(BYTES_PER_BATCH)
