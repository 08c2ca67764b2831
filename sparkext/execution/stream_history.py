"""Events from before a stream: the state that it begins with."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.expressions import NotConstantError, constant
from sparkext.jvm.frames import own_column
from sparkext.planner.errors import PlanningError
from sparkext.settings import STREAM_SINCE
from sparkext.sql.quoting import string


@dataclass(frozen=True, slots=True)
class StreamHistory:
    """Events from before a stream.

    Attributes:
        events: A relation that has all of them, with the columns of the relation before the clause.
        since: The moment at which the stream begins, in microseconds since 1970.
    """

    events: AnalysedFrame
    since: int

    @classmethod
    def of(cls, spark: SparkSession, relation: str, since: str) -> StreamHistory:
        """What the settings say.

        Args:
            spark: The session.
            relation: The value of ``spark.sparkext.stream.history``.
            since: That of ``spark.sparkext.stream.since``.

        Raises:
            PlanningError: ``TREND_UNKNOWN_SETTING``: the relation is a stream, or ``since`` is no moment.
        """
        try:
            moment = constant(spark.range(1).select(own_column(f"unix_micros(CAST({string(since)} AS TIMESTAMP))")))
        except (CapturedException, NotConstantError):
            moment = None
        if moment is None:
            problem = f"The setting {STREAM_SINCE} cannot be '{since}'"
            hint = "It is a moment such as 2026-01-31 12:00:00."
            raise PlanningError("TREND_UNKNOWN_SETTING", 0, 0, problem=problem, hint=hint)
        events = AnalysedFrame.of(spark.table(relation))
        if events.is_stream:
            problem = f"{relation} is a stream, and cannot be the history of one"
            raise PlanningError("TREND_UNKNOWN_SETTING", 0, 0, problem=problem, hint="Name a table or a view of one.")
        return cls(events, int(moment))
