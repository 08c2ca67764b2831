"""Whether a clause can be evaluated over a stream."""

from __future__ import annotations

from importlib import import_module

from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.column_metadata import DELAY
from sparkext.binding.orders import has_known_order
from sparkext.binding.type_text import type_text
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import own_column
from sparkext.planner.errors import PlanningError
from sparkext.sql.clause import Clause
from sparkext.sql.quoting import alone, identifier

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""The setting of Spark that says which state store it has, and the one that streams need."""

_MESSAGES = "pyspark.sql.streaming.proto.StateMessage_pb2"
"""By which a worker talks to Spark's state store; it needs protobuf."""


def check_stream(source: AnalysedFrame, clause: Clause, source_at: tuple[int, int], bound: BoundQuery) -> None:
    """Refuse a clause over a stream whose results would never be final, and one that Spark here cannot keep state for.

    Args:
        source: The stream.
        clause: The clause.
        source_at: Where the stream stands in the statement.
        bound: What it asks for.

    Raises:
        PlanningError: ``TREND_STREAM_WINDOW``, ``TREND_SPAN_COMBINED``, ``TREND_COMPLETION_COMBINED``,
            ``TREND_STREAM_WATERMARK``, ``TREND_STREAM_TIME`` or ``TREND_STREAM_REQUIREMENT``.
    """
    if clause.within is None and not (clause.has_rows and clause.span is not None):
        raise PlanningError("TREND_STREAM_WINDOW", *clause.pattern_at)
    if clause.span is not None and bound.query.completion is None:  # its totals are of windows
        also = "aggregates over all trends of a stream"
        raise PlanningError("TREND_SPAN_COMBINED", clause.span.start, clause.span.end, also=also)
    for asked, (_, text) in zip(clause.further_order, bound.further_order, strict=True):
        kind = source.select(own_column(alone(text))).schema.fields[0].dataType
        if not has_known_order(kind):
            also = f"an order by {type_text(kind)}, over a stream"
            raise PlanningError("TREND_COMPLETION_COMBINED", asked.start, asked.end, also=also)
    marked = [field.name for field in source.schema.fields if DELAY in field.metadata]
    if not marked:
        raise PlanningError("TREND_STREAM_WATERMARK", *source_at)
    ordered = source.select(own_column(alone(bound.time))).schema.fields[0]
    if DELAY not in ordered.metadata:
        columns = " or ".join(map(identifier, marked))
        raise PlanningError("TREND_STREAM_TIME", clause.order_by.start, clause.order_by.end, columns=columns)
    check_requirements(source.sparkSession, source_at)


def check_requirements(spark: SparkSession, source_at: tuple[int, int]) -> None:
    """Refuse to start what Spark would end with no reason that helps.

    Raises:
        PlanningError: ``TREND_STREAM_REQUIREMENT``.
    """
    if tuple(map(int, spark.version.split(".")[:2])) < (4, 1):
        problem, hint = "PySpark 4.1 or later", "PySpark 4.0 cannot keep the state of a stream row by row."
    elif not str(spark.conf.get(PROVIDER)).endswith(ROCKSDB.rpartition(".")[2]):
        problem, hint = "RocksDB as the state store", f"SET {PROVIDER} = {ROCKSDB}"
    elif not _has_protobuf():
        problem, hint = "protobuf, on all machines", "pip install 'sparkext[streaming]'"
    else:
        return
    raise PlanningError("TREND_STREAM_REQUIREMENT", *source_at, what=problem, hint=hint)


def _has_protobuf() -> bool:
    try:
        import_module(_MESSAGES)
    except ImportError:
        return False
    return True
