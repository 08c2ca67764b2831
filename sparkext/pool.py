"""A pool: queries on the same source, keys and time, computed together in one pass."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from planner.compile import compile_plan
from planner.kernel_plan import KernelPlan
from planner.prefixes import share_equal_prefixes
from planner.sharing import SharingPlan
from planner.template import Template, template
from sparkext import settings
from sparkext.binding import BoundQuery, Computation
from sparkext.pipeline import run_pool
from sparkext.source import names_alike

log = logging.getLogger(__name__)

KEPT = StorageLevel.MEMORY_AND_DISK
"""How the results of a pool are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Some queries of a pool, planned together.

    Attributes:
        queries: In the order of ``plan.results``.
        template: Of their patterns.
        sharing: What they share.
        plan: For the kernel.
        results: Of all of them; computed when something reads it.
        persisted: Whether the results are kept once computed.
        places: Numbers of the queries, by what is computed for them.
    """

    queries: tuple[BoundQuery, ...]
    template: Template
    sharing: SharingPlan
    plan: KernelPlan
    results: DataFrame
    persisted: bool
    places: dict[Computation, int]

    def place(self, query: BoundQuery) -> int | None:
        """Number of a query here that is computed as ``query`` is; None when there is none."""
        return self.places.get(query.computation)

    def is_computed(self) -> bool:
        """Whether the results have been computed and are still kept."""
        if not self.persisted:
            return False
        cached = self._cached()
        return not cached.isEmpty() and bool(
            cached.get().cachedRepresentation().cacheBuilder().isCachedColumnBuffersLoaded()
        )

    def keep(self) -> None:
        """Have the results kept, also after the user has cleared Spark's cache."""
        if self.persisted and self._cached().isEmpty():
            self.results.persist(KEPT)

    def _cached(self) -> Any:
        frame = self.results._jdf
        return frame.sparkSession().sharedState().cacheManager().lookupCachedData(frame)

    def release(self) -> None:
        """Give up what is kept."""
        if self.persisted:
            self.results.unpersist()


class Pool:
    """Runs over one source.

    A query is computed by the first run that holds it. Queries that no computed run holds are
    planned together, so that however views are created and read, each pass over the source serves
    all queries that are known when it starts.
    """

    def __init__(self, spark: SparkSession, first: BoundQuery) -> None:
        self._spark = spark
        self._source = first.source
        self._keyed = _keyed(first)
        self._shape = (len(first.groups), len(first.partitions))
        self.runs: list[Run] = []

    def takes(self, query: BoundQuery) -> bool:
        """Whether ``query`` has the source, keys and time of this pool."""
        if self._shape != (len(query.groups), len(query.partitions)) or not names_alike(self._source, query.source):
            return False
        return bool(self._keyed.sameSemantics(_keyed(query)))

    def find(self, query: BoundQuery, live: Sequence[BoundQuery]) -> Run | None:
        """The run that computes ``query``; None when one is yet to be made.

        Args:
            query: One of ``live``.
            live: All queries of the pool that something may still ask for.

        Raises:
            PlanningError: A setting has an unknown value.
        """
        computed, missing, keep = self._missing(query, live)
        for run in computed:
            if run.place(query) is not None:
                return run
        for run in self.runs:
            if run not in computed and run.persisted == keep and all(run.place(q) is not None for q in missing):
                run.keep()
                return run
        return None

    def make(self, query: BoundQuery, live: Sequence[BoundQuery]) -> Run:
        """A new run for ``query`` and all others that no computed run holds; it replaces runs not computed yet."""
        computed, missing, keep = self._missing(query, live)
        for run in self.runs:
            if run not in computed:
                run.release()
        self.runs = [*computed, self._plan(missing, keep)]
        return self.runs[-1]

    def _missing(self, query: BoundQuery, live: Sequence[BoundQuery]) -> tuple[list[Run], list[BoundQuery], bool]:
        """Runs that have been computed, queries that a new run would serve, and whether it would be kept."""
        caching = settings.choice(self._spark, settings.CACHE) == "auto"
        keep = caching and len(live) > 1
        computed = [run for run in self.runs if run.is_computed()] if caching else []
        missing = [q for q in live if all(run.place(q) is None for run in computed)] if keep else [query]
        return computed, missing, keep

    def keep_only(self, live: Sequence[BoundQuery]) -> None:
        """Release runs that none of ``live`` asks for."""
        for run in list(self.runs):
            if all(run.place(query) is None for query in live):
                run.release()
                self.runs.remove(run)

    def drop_results(self) -> None:
        """Release all runs."""
        self.keep_only(())

    def _plan(self, queries: Sequence[BoundQuery], keep: bool) -> Run:
        distinct = list({query.computation: query for query in reversed(queries)}.values())[::-1]
        machine = template([query.query for query in distinct])
        sharing = share_equal_prefixes(machine)
        plan = compile_plan(machine, sharing)
        log.info("planned %d queries: %d states, %d cells", len(distinct), len(machine.states), len(plan.cells))
        results = run_pool(self._spark, distinct, plan)
        if keep:
            results = results.persist(KEPT)
        places = {query.computation: place for place, query in enumerate(distinct)}
        return Run(tuple(distinct), machine, sharing, plan, results, keep, places)


def _keyed(query: BoundQuery) -> DataFrame:
    keys = [*query.sorted_groups, *query.sorted_partitions]
    return query.source.select(*(F.expr(key.text) for key in keys), F.expr(query.time))
