"""What a statement looks at, each thing once, however many clauses it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from sparkext.bound_query import BoundQuery
from sparkext.files import Listing, listings
from sparkext.results import check_measures, unplanned_sql
from sparkext.source_filter import Filtered, filtered
from sparkext.use import Use


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """What a relation was when a statement looked at it.

    Attributes:
        source: The relation.
        part: What it is a part of, if it is.
        files: Of the relation.
    """

    source: DataFrame
    part: Filtered | None
    files: tuple[Listing, ...]


class Looks:
    """What one statement has looked at, as long as it is under way."""

    def __init__(self, spark: SparkSession, unplanned: dict[str, DataFrame]) -> None:
        """Of a session.

        Args:
            spark: The session.
            unplanned: Frames that have been made before, by their texts; they do not depend on what there is.
        """
        self._spark = spark
        self._relations: dict[str, Looked] = {}
        self._unplanned = unplanned

    def relation(self, use: Use, files: Callable[[DataFrame], tuple[Listing, ...]] = listings) -> Looked:
        """The relation that a clause reads, as it is now.

        Args:
            use: The clause.
            files: Says which files a relation is made of.

        Raises:
            PlanningError: There is none, or it cannot be read.
        """
        known = self._relations.get(use.source)
        if known is None:
            source = use.read(self._spark)
            known = self._relations[use.source] = Looked(source, filtered(source), files(source))
        return known

    def unplanned(self, query: BoundQuery) -> DataFrame:
        """Rows as those that the measures of ``query`` are evaluated over, which fail when they are read.

        Raises:
            PlanningError: A measure is no scalar expression over aggregates and result columns.
        """
        text = unplanned_sql(query)
        if text not in self._unplanned:
            self._unplanned[text] = self._spark.sql(text)
        check_measures(self._unplanned[text], query)
        return self._unplanned[text]
