"""What a statement looks at, each thing once, however many clauses it has."""

from __future__ import annotations

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
    """

    source: DataFrame
    part: Filtered | None


class Looks:
    """What one statement has looked at, as long as it is under way."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._relations: dict[str, Looked] = {}
        self._files: dict[str, tuple[Listing, ...]] = {}
        self._unplanned: dict[str, DataFrame] = {}

    def relation(self, use: Use) -> Looked:
        """The relation that a clause reads, as it is now.

        Raises:
            PlanningError: There is none, or it cannot be read.
        """
        known = self._relations.get(use.source)
        if known is None:
            source = use.read(self._spark)
            known = self._relations[use.source] = Looked(source, filtered(source))
        return known

    def files(self, use: Use) -> tuple[Listing, ...]:
        """The files of that relation, as they are now.

        Raises:
            PlanningError: There is no such relation, or it cannot be read.
        """
        known = self._files.get(use.source)
        if known is None:
            known = self._files[use.source] = listings(self.relation(use).source)
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
