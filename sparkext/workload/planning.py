"""How queries are planned together: what they share, and what the kernel does. Nothing is run or remembered for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery, Computation
from sparkext.planner.budget import Budget
from sparkext.planner.compiler.burst_lengths import mean_burst, with_choices
from sparkext.planner.compiler.compile import compile_completions, compile_plan
from sparkext.planner.costs.measured import Constants
from sparkext.planner.costs.statistics import ExpectedEvents
from sparkext.planner.errors import PlanningError
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.optimizers import OptimizerResult, cost_model, optimize, share_what_is_equal
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import WorkloadTooLargeError
from sparkext.planner.sharing.sharing_plan import SharingPlan
from sparkext.planner.sharing.template import Template
from sparkext.settings import Confs
from sparkext.workload.cancellation import of_this_thread


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the user has set that a plan depends on."""

    optimizer: str
    budget: float
    cost_model: str
    statistics: tuple[tuple[str, float], ...]
    sample_rows: int
    chunks: str
    partitions: int | None
    sort: str
    buckets: int
    on_change: str
    history: tuple[str, str] | None
    has_late: bool
    most_matches: int
    most_nodes: int

    @classmethod
    def of(cls, confs: Confs, optimizer: str | None = None) -> PlanSettings:
        """Those of a session.

        Args:
            confs: Of the session.
            optimizer: In place of that of the session, if given.

        Raises:
            PlanningError: A setting has an unknown value.
        """
        return cls(
            optimizer=optimizer or settings.choice(confs, settings.OPTIMIZER),
            budget=settings.budget(confs),
            cost_model=settings.choice(confs, settings.COST_MODEL),
            statistics=tuple(sorted(settings.given_statistics(confs).items())),
            sample_rows=settings.sample_rows(confs),
            chunks=settings.choice(confs, settings.CHUNKS),
            partitions=settings.partitions(confs),
            sort=settings.choice(confs, settings.SORT),
            buckets=settings.stream_buckets(confs),
            on_change=settings.choice(confs, settings.STREAM_ON_CHANGE),
            history=settings.stream_history(confs),
            has_late=settings.choice(confs, settings.STREAM_LATE_ROWS) == "true",
            most_matches=settings.most_matches(confs),
            most_nodes=settings.most_nodes(confs),
        )


@dataclass(frozen=True, slots=True)
class Cutting:
    """How the events of a pass are divided.

    Attributes:
        tasks: How many tasks there are.
        is_cut: Whether keys are cut in time.
        is_stretched: Whether into stretches, if without windows.
    """

    tasks: int
    is_cut: bool
    is_stretched: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """Queries that are planned together.

    Attributes:
        queries: In the order of ``plan.results``.
        settings: With which they were planned.
        expected: Statistics that they were planned with.
        optimized: What they share, and how that was found.
        plan: For the kernel.
        cutting: Of the pass.
        indexes: Of the queries, by what is computed for them.
    """

    queries: tuple[BoundQuery, ...]
    settings: PlanSettings
    expected: dict[EventClass, ExpectedEvents]
    optimized: OptimizerResult
    plan: KernelPlan
    cutting: Cutting
    indexes: dict[Computation, int]

    @property
    def template(self) -> Template:
        """Of the patterns."""
        return self.optimized.problem.template

    @property
    def sharing(self) -> SharingPlan:
        """What the queries share."""
        return self.optimized.plan_result.plan

    @property
    def builds_matches(self) -> bool:
        """Whether some queries are computed from their matches."""
        return self.optimized.plan_result.matches is not None

    def index_of(self, query: BoundQuery) -> int | None:
        """Index of the query here that is computed as ``query`` is; None when there is none."""
        index = self.indexes.get(query.computation)
        if index is None or not self.queries[index].meaning.is_same(query.meaning):
            return None
        return index


def plan_together(
    queries: Sequence[BoundQuery],
    template: Template,
    expected: dict[EventClass, ExpectedEvents],
    wanted: PlanSettings,
    cutting: Cutting,
    is_stream: bool,
) -> Planned:
    """A plan of queries for one pass over their source.

    Args:
        queries: That differ in what is computed for them.
        template: Of their patterns.
        expected: Statistics of the events of all of its classes.
        wanted: What the user has set.
        cutting: As it would be if the queries allowed it.
        is_stream: Whether the source is one.

    Raises:
        PlanningError: ``TREND_WORKLOAD_TOO_LARGE`` when the optimizer takes fewer queries; ``TREND_CANCELLED``.
    """
    first = queries[0]
    own_rows = is_stream  # a query may come to a stream later than others
    optimized = optimize_template(template, expected, wanted, is_stream)
    matches = optimized.plan_result.matches
    of_completions = first.query.completion is not None
    if of_completions or (matches is not None and matches.roots):
        cutting = Cutting(cutting.tasks, is_cut=False, is_stretched=False)  # all events of a key are in one task
    if of_completions:
        orders, keys = len(first.further_order), _positions_of_keys(first)
        plan = compile_completions(template, orders, keys, wanted.most_nodes, own_rows)
    else:
        plan = compile_plan(
            template,
            optimized.plan_result.plan,
            fallback=True,
            stretched=cutting.is_stretched,
            matches=matches,
            most_matches=wanted.most_matches,
            own_rows=own_rows,
            is_stream=is_stream,
        )
    if optimized.plan_result.chooses_bursts:
        plan = with_choices(plan, Constants(), mean_burst(optimized.problem, optimized.plan_result.plan))
    optimized.problem.budget.look()
    indexes = {query.computation: index for index, query in enumerate(queries)}
    return Planned(tuple(queries), wanted, expected, optimized.kept(), plan, cutting, indexes)


def optimize_template(
    template: Template, expected: dict[EventClass, ExpectedEvents], wanted: PlanSettings, is_stream: bool
) -> OptimizerResult:
    """What queries share, by the optimizer that is set.

    Args:
        template: Of their patterns.
        expected: Statistics of the events of all of its classes.
        wanted: What the user has set.
        is_stream: Whether the source is one, over which no matches are built.

    Raises:
        PlanningError: ``TREND_WORKLOAD_TOO_LARGE``.
    """
    of_states = [expected[state.event] for state in template.states]
    events = tuple(of_state.events for of_state in of_states)
    most_matches = None if is_stream else wanted.most_matches
    budget = Budget(wanted.budget, of_this_thread())
    runs = tuple(of_state.expected_runs for of_state in of_states)
    problem = Problem(template, events, budget, most_matches=most_matches, runs=runs)
    if any(query.completion is not None for query in template.queries):
        return share_what_is_equal(problem, cost_model(wanted.cost_model), wanted.optimizer)
    try:
        return optimize(problem, cost_model(wanted.cost_model), wanted.optimizer)
    except WorkloadTooLargeError:
        raise PlanningError("TREND_WORKLOAD_TOO_LARGE", 0, 0, optimizer=wanted.optimizer) from None


def _positions_of_keys(query: BoundQuery) -> tuple[int, ...]:
    """Where the expressions of PARTITION BY are among the key columns of a pool."""
    columns = [key.canonical for key in (*query.sorted_groups, *query.sorted_partitions)]
    return tuple(sorted(columns.index(text) for text in dict.fromkeys(query.partition_by)))
