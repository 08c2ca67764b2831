"""How Spark hands rows to Python workers."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession
from pyspark.sql.types import BinaryType, StringType

from sparkext.binding.bound_query import BoundQuery
from sparkext.planner.kernel_plan.kernel_plan import Encoding, KernelPlan

BYTES_PER_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
"""Spark's limit of a batch that a Python worker is given, beside that of its rows."""

_ROWS_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"

NARROW = 1 << 10
"""Bytes of the texts of a key up to which rows are narrow."""

_FEW_ROWS = 100_000
"""Rows up to which a batch of narrow rows is small: Spark gives one 10,000, unless it is told otherwise."""

NO_LIMIT = str((1 << 31) - 1)
"""Value of `BYTES_PER_BATCH` for which Spark does not look at the size of a batch."""

_ANY_LENGTH = ("string", "char", "binary", "array", "map", "struct", "variant", "interval")
"""Words in the texts of types whose values may be large; intervals are not, and nobody needs them to be fast."""


def has_limit_of_rows(spark: SparkSession) -> bool:
    """Whether batches have a limit of rows; PySpark makes no data frame of a table of Arrow's without one."""
    return int(str(spark.conf.get(_ROWS_PER_BATCH))) > 0


def may_be_limited_by_rows(confs: Mapping[str, str]) -> bool:
    """Whether batches of narrow rows need no other limit than that of their rows, and the user wants no other.

    Args:
        confs: Of the session.
    """
    return BYTES_PER_BATCH not in confs and 0 < int(confs.get(_ROWS_PER_BATCH, "10000")) <= _FEW_ROWS


def are_narrow(query: BoundQuery, plan: KernelPlan, widest: int | None) -> bool:
    """Whether the rows of a pass are so small that batches need no limit in bytes; see `may_be_limited_by_rows`.

    Args:
        query: One of the pass.
        plan: What is computed, and so what is handed over.
        widest: Most bytes of the texts of a key that have been seen in the source; None if nobody has looked.
    """
    if any(column.encoding is Encoding.IDENTITY for column in plan.columns):
        return False  # values of any length that PREV compares
    shown = () if plan.completions is None else plan.completions.shown
    orders = 0 if plan.completions is None else plan.completions.orders
    if orders or any(word in attribute.type for attribute, _ in shown for word in _ANY_LENGTH):
        return False
    has_texts = any(isinstance(key.type, StringType | BinaryType) for key in (*query.groups, *query.partitions))
    return not has_texts or (widest is not None and widest <= NARROW)
