"""A clause where a statement uses it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from sparkext.binding import bind
from sparkext.bound_query import BoundQuery
from sparkext.clause import Clause
from sparkext.source import read_source
from sparkext.source_filter import Filtered


@dataclass(frozen=True, slots=True)
class Use:
    """A clause in a statement of the user's.

    Attributes:
        sql: The statement.
        clause: Parsed from it.
        text: Of the clause.
        source: A complete query for the relation before the clause.
        source_at: Where that relation stands in the statement.
        relation: Its name or alias, if it has one.
    """

    sql: str
    clause: Clause
    text: str
    source: str
    source_at: tuple[int, int]
    relation: str | None

    def read(self, spark: SparkSession) -> DataFrame:
        """The relation before the clause, as it is now; nothing is run.

        Raises:
            PlanningError: ``TREND_SOURCE`` or ``TREND_STREAMING_SOURCE``.
        """
        return read_source(spark, self.source, *self.source_at)

    def bind(self, source: DataFrame, part: Filtered | None, name: str) -> BoundQuery:
        """The query called ``name`` that the clause is over ``source``, which is ``part`` of another relation.

        Raises:
            PlanningError: With the place of what is wrong.
        """
        return bind(self.sql, self.clause, source, part, self.relation, name)
