"""A pool: queries on the same source, keys and time, computed together in one pass."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from planner.compile import compile_plan
from planner.errors import PlanningError
from planner.gloria.exhaustive import WorkloadTooLargeError
from planner.gloria.problem import Problem
from planner.kernel_plan import KernelPlan
from planner.migration import Migration, migration
from planner.optimizers import Optimized, cost_model, optimize
from planner.panes import may_be_stretched
from planner.query import EventClass
from planner.sharing import SharingPlan
from planner.statistics import Expected, Seen, expectations, longest_window
from planner.template import Template, template
from sparkext import jobs, settings
from sparkext.bound_query import BoundQuery, Computation
from sparkext.calibration import constants
from sparkext.files import Listing, not_followed
from sparkext.pipeline import Division, run_pool
from sparkext.sampling import Counted, sample, time_cuts
from sparkext.source import names_alike
from sparkext.tasks import BYTES_PER_TASK, number_of_tasks, source_bytes

log = logging.getLogger(__name__)

KEPT = StorageLevel.MEMORY_AND_DISK
"""How the results of a pool are kept."""

LARGE_BYTES = 128 << 20
"""Size of a source from which on it matters whether one key has most of it."""

STRETCHED_BYTES = BYTES_PER_TASK
"""Size of a source from which on a key without windows is computed in stretches, for which Spark reads it twice."""

MANY_LANES = 16
"""Live windows of a query from which on its own forms may pay."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user has set that a plan depends on."""

    optimizer: str
    cost_model: str
    statistics: tuple[tuple[str, float], ...]
    sample_rows: int
    chunks: str
    partitions: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Some queries of a pool, planned together.

    Attributes:
        name: For people who look at the Spark UI.
        queries: In the order of ``plan.results``.
        settings: With which they were planned.
        expected: Statistics that they were planned with.
        optimized: What they share, and how that was found.
        migration: The change of plan that made the run, if one did.
        plan: For the kernel.
        counted: What the tasks count.
        results: Of all of them; computed when something reads it.
        persisted: Whether the results are kept once computed.
        places: Numbers of the queries, by what is computed for them.
        files: Of the source when they were planned.
        costs: Of the plans that other optimizers find, as far as they have been asked for.
    """

    name: str
    queries: tuple[BoundQuery, ...]
    settings: Settings
    expected: dict[EventClass, Expected]
    optimized: Optimized
    migration: Migration | None
    plan: KernelPlan
    counted: Counted
    results: DataFrame
    persisted: bool
    places: dict[Computation, int]
    files: tuple[Listing, ...]
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def template(self) -> Template:
        """Of the patterns."""
        return self.optimized.problem.template

    @property
    def sharing(self) -> SharingPlan:
        """What the queries share."""
        return self.optimized.found.plan

    def cost_by(self, optimizer: str) -> float:
        """Cost of what an optimizer finds for these queries."""
        if optimizer not in self.costs:
            self.costs[optimizer] = self.optimized.cost_by(optimizer)
        return self.costs[optimizer]

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

    def lend_name(self, lent: jobs.Lent) -> None:
        """Let the jobs that compute the results have the name of the run, if that is to come."""
        if self.persisted and not self.is_computed():
            lent.lend(self.name)
            self.counted.when_heard(lambda: lent.give_back(self.name))

    def keep(self) -> None:
        """Have the results kept, also after the user has cleared Spark's cache."""
        if self.persisted and self._cached().isEmpty():
            jobs.keep(self.results, self.name, KEPT)

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

    def __init__(self, spark: SparkSession, first: BoundQuery, optimizer: str | None = None) -> None:
        """An empty pool.

        Args:
            spark: Its session.
            first: A query that it takes.
            optimizer: That plans it; the one of the session if left out.
        """
        self._spark = spark
        self._optimizer = optimizer
        self._source = first.source
        self._keys = _key_texts(first)
        self._keyed = _keyed(first)
        self._shape = (len(first.groups), len(first.partitions))
        self.runs: list[Run] = []
        self._files: tuple[Listing, ...] = ()
        self._sampled: list[Seen] = []
        self._counted: list[Seen] = []

    def takes(self, query: BoundQuery) -> bool:
        """Whether ``query`` has the source, keys and time of this pool."""
        if self._source is query.source and self._keys == _key_texts(query):
            return True
        if self._shape != (len(query.groups), len(query.partitions)) or not names_alike(self._source, query.source):
            return False
        if self._keys == _key_texts(query):
            return bool(self._source.sameSemantics(query.source))
        return bool(self._keyed.sameSemantics(_keyed(query)))

    def follow(self, files: tuple[Listing, ...]) -> None:
        """Compute anew what was computed from other files of the source than those that it has now."""
        if files == self._files:
            return
        self._files = files
        for one in files:
            if not one.is_current:
                log.warning(
                    "Files of %s have changed since Spark looked for them, and Spark will not look again by itself. "
                    "For results of the files as they are now, REFRESH TABLE, or make the view or data frame anew.",
                    ", ".join(one.places),
                )

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
        wanted = self._settings()
        for run in self.runs:
            if run in computed or run.persisted != keep or run.settings != wanted or run.files != self._files:
                continue
            if all(run.place(q) is not None for q in missing) and (not keep or len(run.places) == _distinct(missing)):
                self._note_counts(run)
                if self._migrate(run) is None:
                    run.keep()
                    return run
        return None

    def make(self, query: BoundQuery, live: Sequence[BoundQuery], name: str) -> Run:
        """A new run for ``query`` and all others that no computed run holds; it replaces runs not computed yet.

        Args:
            query: One of ``live``.
            live: All queries of the pool that something may still ask for.
            name: Of the run, and of the jobs that are run to plan it.
        """
        computed, missing, keep = self._missing(query, live)
        moved = None
        for run in self.runs:
            if run not in computed:
                self._note_counts(run)
                moved = moved or self._migrate(run)
                run.release()
        with jobs.described(self._spark, name):
            self.runs = [*computed, self._plan(missing, keep, moved, name)]
        return self.runs[-1]

    def _missing(self, query: BoundQuery, live: Sequence[BoundQuery]) -> tuple[list[Run], list[BoundQuery], bool]:
        """Runs that have been computed, queries that a new run would serve, and whether it would be kept."""
        caching = settings.choice(self._spark, settings.CACHE) == "auto"
        keep = caching and len(live) > 1
        computed = [run for run in self.runs if run.files == self._files and run.is_computed()] if caching else []
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

    def _settings(self) -> Settings:
        return Settings(
            optimizer=self._optimizer or settings.choice(self._spark, settings.OPTIMIZER),
            cost_model=settings.choice(self._spark, settings.COST_MODEL),
            statistics=tuple(sorted(settings.given_statistics(self._spark).items())),
            sample_rows=settings.sample_rows(self._spark),
            chunks=settings.choice(self._spark, settings.CHUNKS),
            partitions=settings.partitions(self._spark),
        )

    def _plan(self, queries: Sequence[BoundQuery], keep: bool, moved: Migration | None, name: str) -> Run:
        distinct = list({query.computation: query for query in reversed(queries)}.values())[::-1]
        wanted = self._settings()
        machine = template([query.query for query in distinct])
        expected = self._expected(distinct, machine, wanted)
        optimized = self._optimize(machine, expected, wanted)
        tasks, cut, stretched = self._cutting(len(distinct), machine, wanted)
        plan = compile_plan(machine, optimized.found.plan, fallback=True, stretched=stretched)
        log.info(
            "planned %d queries by %s in %.1f ms: %d states, %d cells",
            len(distinct),
            wanted.optimizer,
            1000 * optimized.seconds,
            len(machine.states),
            len(plan.cells),
        )
        counted = Counted(self._spark, plan.classes)
        cuts = time_cuts(distinct, tasks) if stretched and not any(self._shape) else None
        results = run_pool(self._spark, distinct, plan, Division(tasks, cut, cuts), counted.report)
        if keep:
            jobs.keep(results, name, KEPT)
            for relation in not_followed(distinct[0].source):
                log.warning("%s: changes of %s are not noticed; REFRESH SHARING after such a change", name, relation)
        places = {query.computation: place for place, query in enumerate(distinct)}
        return Run(
            name, tuple(distinct), wanted, expected, optimized, moved, plan, counted, results, keep, places, self._files
        )

    def _cutting(self, queries: int, machine: Template, wanted: Settings) -> tuple[int, bool, bool]:
        """How many tasks a run has, whether keys are cut in time, and whether into stretches, if without windows."""
        forced = wanted.chunks == "on"
        tasks = wanted.partitions or number_of_tasks(self._spark, self._source, queries, on_all_cores=forced)
        cores = min(tasks, self._spark.sparkContext.defaultParallelism)
        may_fill_cores = any(seen.largest * cores > 1 for seen in self._sampled[-1:]) or not any(self._shape)
        cut = forced or (wanted.chunks == "auto" and cores > 1 and may_fill_cores)
        is_worth_it = forced or source_bytes(self._source) >= STRETCHED_BYTES
        return tasks, cut, cut and is_worth_it and may_be_stretched(machine)

    def _optimize(self, machine: Template, expected: dict[EventClass, Expected], wanted: Settings) -> Optimized:
        problem = Problem(machine, tuple(expected[state.event].events for state in machine.states))
        try:
            return optimize(problem, cost_model(wanted.cost_model, constants()), wanted.optimizer)
        except WorkloadTooLargeError:
            raise PlanningError("TREND_WORKLOAD_TOO_LARGE", 0, 0, optimizer=wanted.optimizer) from None

    def _expected(
        self, queries: Sequence[BoundQuery], machine: Template, wanted: Settings
    ) -> dict[EventClass, Expected]:
        """Statistics of the classes of a pool; a sample is taken if there is something to decide by it."""
        classes = list(dict.fromkeys(state.event for state in machine.states))
        within = longest_window(query.query for query in queries)
        given = dict(wanted.statistics)
        seen = [*reversed(self._counted), *reversed(self._sampled)]
        expected = expectations(classes, within, given, seen)
        unknown = [event for event, found in expected.items() if found.origin == "assumed"]
        if unknown and (_has_choice(queries, machine) or source_bytes(self._source) >= LARGE_BYTES):
            found = sample(queries, classes, wanted.sample_rows)
            if found is not None:
                self._sampled.append(found)
                return self._expected(queries, machine, replace(wanted, sample_rows=0))
        return expected

    def _note_counts(self, run: Run) -> None:
        """Remember what the tasks of a run have counted."""
        seen = run.counted.seen()
        if seen is not None and seen not in self._counted:
            self._counted = [other for other in self._counted if other.events.keys() != seen.events.keys()]
            self._counted.append(seen)

    def _migrate(self, run: Run) -> Migration | None:
        """The change of plan that pays, now that the events of a run have been counted; None to leave it."""
        seen = run.counted.seen()
        if seen is None:
            return None
        expected = self._expected(run.queries, run.template, replace(run.settings, sample_rows=0))
        if all(_near(expected[event], known) for event, known in run.expected.items()):
            return None
        optimized = self._optimize(run.template, expected, run.settings)
        within = longest_window(query.query for query in run.queries)
        windows = max(seen.keys, 0 if within is None else seen.span // within)
        found = migration(optimized.problem, optimized.model, run.sharing, optimized.found.plan, windows)
        return found if found.pays else None


def _distinct(queries: Sequence[BoundQuery]) -> int:
    return len({query.computation for query in queries})


def _near(one: Expected, other: Expected) -> bool:
    """Whether two expectations are the same but for a factor of two."""
    low, high = sorted((one.events, other.events))
    return high <= 2 * low + 1


def _has_choice(queries: Sequence[BoundQuery], machine: Template) -> bool:
    """Whether there is something that may or may not be shared."""
    live = max((query.query.window.live for query in queries if query.query.window is not None), default=1)
    return live >= MANY_LANES or any(len(transition.queries) > 1 for transition in machine.transitions)


def _key_texts(query: BoundQuery) -> tuple[tuple[str, ...], ...]:
    """Canonical texts of keys and time, in the order of `_keyed`."""
    groups, partitions = query.sorted_groups, query.sorted_partitions
    return tuple(key.canonical for key in groups), tuple(key.canonical for key in partitions), (query.time_canonical,)


def _keyed(query: BoundQuery) -> DataFrame:
    keys = [*query.sorted_groups, *query.sorted_partitions]
    return query.source.select(*(F.expr(key.text) for key in keys), F.expr(query.time))
