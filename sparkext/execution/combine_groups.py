"""One row for each group of a pool, bank and window, out of those that its partition keys and tasks have."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import sorted_within_partitions
from sparkext.jvm.python_functions import map_in_arrow
from sparkext.planner.kernel_plan.kernel_plan import Field
from sparkext.udfs.arrow.combined import combined


def combine_groups(
    partial: DataFrame, groups: Sequence[str], fields: Sequence[Field], parts: int | None
) -> AnalysedFrame:
    """One row per group, bank and window, with the same columns as ``partial``.

    Spark's own aggregation of hundreds of columns takes longer to be planned and compiled than to run, and does not
    compile what collects maps.

    Args:
        partial: At most one row per group, bank, window and flush of a task.
        groups: Names of the group columns.
        fields: Output fields of the pool.
        parts: Number of partitions of the result. It is kept and read as often as there are views, so
            Spark's default of 200 would make every read start 200 tasks. None where all of a group is in one task.
    """
    keys = [*groups, "bank", "`window`"]
    together = partial.repartition(parts, *keys) if parts is not None else partial
    return map_in_arrow(sorted_within_partitions(together, keys), combined(fields, len(keys)), partial.schema)
