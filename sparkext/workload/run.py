"""A run: some queries of a pool, planned together, and the results that compute them all."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from weakref import WeakSet

from pyspark import StorageLevel
from pyspark.sql import SparkSession

from sparkext.binding.bound_query import BoundQuery
from sparkext.execution import job_names
from sparkext.execution.arrow_batches import has_limit_of_rows
from sparkext.execution.sample import TaskCounters
from sparkext.execution.stream_pass import StreamOperator
from sparkext.jvm import application, storage
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import frame_of_plan
from sparkext.jvm.relation_files import SourceVersion
from sparkext.jvm.unions import marked, new_number
from sparkext.planner.budget import Budget
from sparkext.planner.compared_strategies import StrategyResult, compared
from sparkext.planner.costs.migration import Migration
from sparkext.planner.costs.statistics import ExpectedEvents, expectations, longest_window
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.optimizers import optimize
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import Template
from sparkext.workload.cancellation import of_this_thread
from sparkext.workload.pass_jobs import PassJobs
from sparkext.workload.planning import Planned, PlanSettings

KEPT = StorageLevel.MEMORY_AND_DISK
"""How the results of a pool are kept."""

MOST_ON_DRIVER = 8 << 20
"""Size of kept results, in bytes, up to which the driver has a copy, so that to read a view takes no job."""


class Holders:
    """Who has results that are kept: runs of sessions, until they are released or gone."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._changing = threading.Lock()
        self._holders: WeakSet[Run] = WeakSet()
        self._are_gone = False

    def __len__(self) -> int:
        """How many there are."""
        with self._changing:
            return len(self._holders)

    def add(self, run: Run) -> None:
        """A run has them, unless they have been given up."""
        with self._changing:
            if not self._are_gone:
                self._holders.add(run)

    def remove(self, run: Run) -> None:
        """A run does not have them any more; if it was the last one, they are to be given up for good."""
        with self._changing:
            self._holders.discard(run)
            self._are_gone = self._are_gone or not self._holders

    @property
    def are_gone(self) -> bool:
        """Whether the last one has released them."""
        return self._are_gone


@dataclass(frozen=True, slots=True)
class Passed:
    """How a run has been computed last.

    Attributes:
        at: When it was done, in seconds since 1970.
        jobs: That have done it; None if Spark does not remember them.
        events: That tasks have processed.
        kept: How much is kept of the results; None if nothing is.
    """

    at: float
    jobs: application.Jobs | None
    events: int
    kept: storage.Size | None


@dataclass(frozen=True, eq=False)
class Run:
    """Some queries of a pool, planned together.

    Attributes:
        name: For people who look at the Spark UI.
        planned: The queries, and how they are planned.
        migration: The change of plan that made the run, if one did.
        counted: What the tasks count.
        results: Of all of them; computed when something reads it. Over a stream, what its operator writes.
        persisted: Whether the results are kept once computed.
        version: Of the source when they were planned.
        operator: Over a stream, gives the results to each reader.
        is_narrow: Whether rows that Python is given are narrow; see `sparkext.execution.arrow_batches`.
        costs: Of the plans that other optimizers find, as far as they have been asked for.
        comparisons: With other optimizers, by what was known of the events, as far as they have been asked for.
        copies: Of the results, on the driver: one, or none that can be had, as far as it has been asked for. Sessions
            that share the results share it.
        own_copies: That copy in this session, likewise.
        holders: Who has the results, if they are kept.
        asked: Whether something was to read the results before they were computed.
        made: When the run was, in seconds since 1970.
        jobs: By which it is computed.
        is_of_another: Whether another session has computed it.
        number: By which the results are found again in plans.
    """

    name: str
    planned: Planned
    migration: Migration | None
    counted: TaskCounters
    results: AnalysedFrame
    persisted: bool
    version: SourceVersion
    operator: StreamOperator | None = None
    is_narrow: bool = False
    costs: dict[str, float] = field(default_factory=dict)
    comparisons: dict[tuple[float, ...], tuple[StrategyResult, ...]] = field(default_factory=dict)
    copies: list[AnalysedFrame | None] = field(default_factory=list)
    own_copies: list[AnalysedFrame] = field(default_factory=list)
    holders: Holders = field(default_factory=Holders)
    asked: threading.Event = field(default_factory=threading.Event)
    made: float = field(default_factory=time.time)
    jobs: PassJobs = field(default_factory=PassJobs)
    is_of_another: bool = False
    number: int = field(default_factory=new_number)

    def __post_init__(self) -> None:
        self.holders.add(self)
        marked(self.results.analysed_plan, self.number)

    def in_session(self, spark: SparkSession) -> Run | None:
        """The same results in another session; None if they have been given up meanwhile."""
        results = frame_of_plan(spark, self.results.analysed_plan)
        run = replace(self, results=results, own_copies=[], is_of_another=self.is_computed())
        return None if self.holders.are_gone else run

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """In the order of ``plan.results``."""
        return self.planned.queries

    @property
    def settings(self) -> PlanSettings:
        """With which they were planned."""
        return self.planned.settings

    @property
    def expected(self) -> dict[EventClass, ExpectedEvents]:
        """Statistics that they were planned with."""
        return self.planned.expected

    @property
    def plan(self) -> KernelPlan:
        """For the kernel."""
        return self.planned.plan

    @property
    def template(self) -> Template:
        """Of the patterns."""
        return self.planned.template

    @property
    def sharing(self) -> SharingPlan:
        """What the queries share."""
        return self.planned.sharing

    def cost_by(self, optimizer: str) -> float:
        """Cost of what an optimizer finds for these queries."""
        if optimizer not in self.costs:
            budget = Budget(self.settings.budget, of_this_thread())
            self.costs[optimizer] = self.planned.optimized.cost_by(optimizer, budget)
        return self.costs[optimizer]

    def known(self) -> dict[EventClass, ExpectedEvents]:
        """What is known of the events now: what the pass has counted, or else what the run was planned with."""
        seen = self.counted.seen()
        if seen is None:
            return self.expected
        within = longest_window(query.query for query in self.queries)
        found = expectations([*self.expected], within, dict(self.settings.statistics), [seen])
        return {event: self.expected[event] if one.origin == "assumed" else one for event, one in found.items()}

    def compared(self) -> tuple[StrategyResult, ...]:
        """What each optimizer makes of these queries as they are known, at the cost of planning them by all."""
        of_states = [self.known()[state.event] for state in self.template.states]
        events = tuple(of_state.events for of_state in of_states)
        if events not in self.comparisons:

            def budget() -> Budget:
                return Budget(self.settings.budget, of_this_thread())

            optimized = self.planned.optimized
            if events != optimized.problem.events:
                runs = tuple(of_state.expected_runs for of_state in of_states)
                problem = replace(optimized.problem, events=events, runs=runs, budget=budget())
                optimized = optimize(problem, optimized.model, optimized.optimizer)
            self.comparisons[events] = tuple(compared(optimized, budget))
        return self.comparisons[events]

    def index_of(self, query: BoundQuery) -> int | None:
        """Index of the query here that is computed as ``query`` is; None when there is none."""
        return self.planned.index_of(query)

    def is_computed(self) -> bool:
        """Whether the results have been computed and are still kept."""
        return self.persisted and storage.is_computed(self.results)

    def rows(self, is_computed: bool) -> AnalysedFrame:
        """The results: a copy on the driver if they have been computed and are small, of which a read is no job.

        Args:
            is_computed: Whether they have been.
        """
        if not is_computed:
            return self.results
        return self.copy() or self.results

    def copy(self) -> AnalysedFrame | None:
        """Results that have been computed, on the driver; None if they are large, or gone meanwhile."""
        if not self.copies:
            size = storage.kept_size(self.results)
            if size is None:
                return None
            is_small = size.bytes <= MOST_ON_DRIVER and has_limit_of_rows(self.results.sparkSession)
            self.copies.append(self._copy() if is_small else None)
        copied = self.copies[0]
        if copied is None:
            return None
        if not self.own_copies:
            self.own_copies.append(frame_of_plan(self.results.sparkSession, copied.analysed_plan))
        return self.own_copies[0]

    def _copy(self) -> AnalysedFrame:
        copied = self.results.sparkSession.createDataFrame(self.results.toArrow(), self.results.schema)
        return AnalysedFrame.of(copied)

    def lend_properties(self, lent: job_names.LentProperties, is_shown: bool, is_narrow: bool) -> None:
        """Let the jobs that compute the results have what is theirs.

        Args:
            lent: To the passes of the thread.
            is_shown: Whether they have a tag; and the name of the run if others will read the results, too.
            is_narrow: Whether batches of rows for Python need no limit in bytes.
        """
        jobs, context = self.jobs, self.results.sparkSession.sparkContext
        jobs.begin(self.counted.events())
        lent.lend(jobs.tag, self.name if self.persisted else None, is_shown, is_narrow)
        if not self.persisted:
            self.counted.when_heard(lambda: lent.give_back(jobs.tag))
            return
        self.asked.set()

        def heard() -> None:
            lent.give_back(jobs.tag)
            jobs.expect_end(context)

        self.counted.when_heard(heard)

    def passed(self) -> Passed | None:
        """When the results have been computed last, and what that took; None before, and for streams.

        Of results that are kept it is known how many there are, as long as they are.
        """
        if self.operator is not None or self.counted.heard_at is None or (self.persisted and not self.is_computed()):
            return None
        jobs = self.jobs.look(self.results.sparkSession.sparkContext)
        at = self.counted.heard_at if jobs is None or jobs.ended is None else jobs.ended
        kept = storage.kept_size(self.results) if self.persisted else None
        return Passed(at, jobs, self.counted.events() - self.jobs.events_before, kept)

    def errors(self) -> list[str]:
        """What the run has failed of, as Spark reports it; nothing if it has not."""
        return application.failures(self.results.sparkSession.sparkContext, self.name, self.made)

    def keep(self) -> None:
        """Have the results kept, also after the user has cleared Spark's cache, unless the run has been released.

        Another thread may release it at any moment. So that is looked at last: whoever comes second gives them up.
        """
        if self.persisted and not storage.is_kept(self.results):
            storage.keep(self.results, self.name, KEPT)
            if self.holders.are_gone:
                self.results.unpersist()

    def release(self) -> None:
        """Give up what is kept, unless another session has it, too."""
        self.holders.remove(self)
        if self.persisted and self.holders.are_gone:
            self.results.unpersist()
