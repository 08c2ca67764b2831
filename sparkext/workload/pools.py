"""The pools of a session, and the release of what they have computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.workload.collector import Collector
from sparkext.workload.pool import Pool, keyed
from sparkext.workload.registry import Registry
from sparkext.workload.releases import Releases
from sparkext.workload.run import Run
from sparkext.workload.shared_runs import shared_runs


class Pools:
    """Pools, which change while the registry is held."""

    def __init__(
        self, spark: SparkSession, registry: Registry, collector: Collector, announce: Callable[[Run], None]
    ) -> None:
        """None yet.

        Args:
            spark: The session.
            registry: Who asks for which query.
            collector: That looks, a while after a release, whether Spark has brought something back.
            announce: Called with each run that is made.
        """
        self._spark = spark
        self._registry = registry
        self._announce = announce
        self._shared = shared_runs(spark)
        self._pools: list[Pool] = []
        self._releases = Releases(collector)

    def __iter__(self) -> Iterator[Pool]:
        """The pools as they are now."""
        with self._registry.changing:
            return iter(list(self._pools))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._pools)

    def number_of_runs(self) -> int:
        """Runs of the pools, and those that have been released and are to be released once more."""
        return sum(len(pool.runs) for pool in self) + len(self._releases)

    def of(self, query: BoundQuery) -> Pool:
        """The pool that a query is in from now on; a new one if none takes it."""
        keyed_once = cache(partial(keyed, query))
        pool = next((pool for pool in self if pool.takes(query, keyed_once)), None)
        if pool is None:
            pool = Pool(self._spark, query, announce=self._announce, shared=self._shared)
            self.add(pool)
        return pool

    def add(self, pool: Pool) -> None:
        """Have a pool among those that are looked at, also if it has been forgotten meanwhile."""
        with self._registry.changing:
            if pool not in self._pools:
                self._pools.append(pool)

    def release_unused(self) -> None:
        """Release results that no query asks for, and forget pools that no query is in."""
        unused: list[Run] = []
        with self._registry.changing:
            asked = [*self._registry.views().values(), *self._registry.of_statements()]
            may_come = self._registry.recent()
            for pool in self:
                live = [query.bound for query in asked if query.pool is pool]
                recent = [query.bound for query in may_come if query.pool is pool]
                unused += pool.runs.take_unused(live, recent)
                if not live and not recent:
                    self._pools.remove(pool)
        self._releases.release(unused)

    def release_all(self) -> None:
        """Release all results, also those that sessions share, and plan anew together what has failed together."""
        for pool in self:
            pool.runs.forget_failures()
            self._releases.release(pool.runs.take_unused(()))
        self._shared.withdraw()

    def release_again(self) -> None:
        """Release once more what Spark was just computing anew when it was released."""
        self._releases.again()
