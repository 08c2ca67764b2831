"""How runs are made: planned by what is known of their source, and made into a data frame that computes them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from sparkext.binding.bound_query import BoundQuery
from sparkext.execution import job_names
from sparkext.execution.arrow_batches import are_narrow
from sparkext.execution.sample import TaskCounters, time_cuts
from sparkext.execution.source_pass import Division, number_of_parts, run_pool
from sparkext.execution.stream_history import StreamHistory
from sparkext.execution.stream_pass import StreamOperator
from sparkext.execution.task_count import BYTES_PER_TASK, is_for_one_task, number_of_tasks
from sparkext.execution.waiting import say_compiling, say_planning
from sparkext.jvm import storage
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.analysis_context import of_no_view
from sparkext.planner.costs.measured import MeasuredCosts
from sparkext.planner.costs.migration import Migration
from sparkext.planner.sharing.template import Template, template_of
from sparkext.planner.totals.pane_rows import may_be_stretched
from sparkext.workload.planning import Cutting, Planned, PlanSettings, plan_together
from sparkext.workload.remarks import expect_report, say_passed, say_traps
from sparkext.workload.run import KEPT, Run
from sparkext.workload.source import PoolSource, most_live

log = logging.getLogger(__name__)

STRETCHED_BYTES = 2 * BYTES_PER_TASK
"""Size of a source from which on a key without windows is computed in stretches, for which Spark reads it twice."""

MOST_HELD = 32 << 20
"""Size of results up to which a worker may hold those of a whole group."""


def plan(
    source: PoolSource, queries: Sequence[BoundQuery], wanted: PlanSettings, name: str, is_for_people: bool = False
) -> Planned:
    """How queries are computed in one pass, by what is known of their source; a sample is taken if it is not enough.

    Args:
        source: That they read.
        queries: The queries, of which those that are computed alike are one.
        wanted: What the user has set.
        name: Of the run that is to be.
        is_for_people: Whether the plan is shown and not run.

    Raises:
        PlanningError: As for `plan_together`.
    """
    distinct = list({query.computation: query for query in reversed(queries)}.values())[::-1]
    say_planning(source.spark, len(distinct))
    template = template_of([query.query for query in distinct])
    expected = source.expected(distinct, template, wanted, name, is_for_people)
    cutting = _cutting(source, distinct, template, wanted)
    planned = plan_together(distinct, template, expected, wanted, cutting, source.is_stream)
    return replace(planned, cutting=Cutting(1, False, False)) if _is_for_one_task(source, planned) else planned


def make(source: PoolSource, planned: Planned, keep: bool, moved: Migration | None, name: str) -> Run:
    """A run of queries that have been planned together, which nothing has read yet.

    Args:
        source: That they read.
        planned: The queries.
        keep: Whether the results are kept once they are computed.
        moved: The change of plan for which they have been planned anew, if there was one.
        name: Of the run.
    """
    spark, kernel_plan, queries = source.spark, planned.plan, planned.queries
    log.info(
        "planned %d queries by %s in %.1f ms: %d states, %d cells",
        len(queries),
        planned.settings.optimizer,
        1000 * planned.optimized.seconds,
        len(planned.template.states),
        len(kernel_plan.cells),
    )
    say_traps(name, planned.template, queries)
    counted, operator = counters(source, planned), None
    if source.is_stream:
        say_compiling(spark, kernel_plan)
        wanted = planned.settings
        alone = [kernel_plan] if len(queries) == 1 else [_alone(query, planned).plan for query in queries]
        history = None if wanted.history is None else StreamHistory.of(spark, *wanted.history)
        operator = StreamOperator(
            source.frame, queries, kernel_plan, alone, wanted.buckets, wanted.on_change, history, wanted.has_late
        )
        results = operator.written
    else:
        results = _results(source, planned, counted, name)
        if keep:
            storage.keep(results, name, KEPT)
    return Run(
        name=name,
        planned=planned,
        migration=moved,
        counted=counted,
        results=results,
        persisted=keep,
        is_narrow=are_narrow(queries[0], kernel_plan, None if source.sampled is None else source.sampled.widest),
        version=source.version,
        operator=operator,
    )


def _alone(query: BoundQuery, planned: Planned) -> Planned:
    """One query of a plan over a stream, by itself."""
    return plan_together(
        [query], template_of([query.query]), planned.expected, planned.settings, planned.cutting, is_stream=True
    )


def counters(source: PoolSource, planned: Planned) -> TaskCounters:
    """What the tasks of a pass are to count."""
    plan, first = planned.plan, planned.queries[0]
    return TaskCounters(source.spark, plan.classes, len(plan.regions), _number_of_keys(first))


def _number_of_keys(query: BoundQuery) -> int:
    return len(query.groups) + len(query.partitions)


def _results(source: PoolSource, planned: Planned, counted: TaskCounters, name: str) -> AnalysedFrame:
    """The rows of all queries of a plan, as one pass over the source gives them when they are read."""
    plan, queries, cutting = planned.plan, planned.queries, planned.cutting
    cuts = None
    if cutting.is_stretched and not _number_of_keys(queries[0]):
        with source.looking(name):
            cuts = time_cuts(source.frame, queries, cutting.tasks)
    say_compiling(source.spark, plan)
    # What Spark takes for that small is read by one task, beside which a shuffle would take longer.
    is_small = cutting.tasks == 1 and planned.settings.partitions is None and not cutting.is_stretched
    is_plain = not planned.builds_matches and queries[0].query.completion is None
    # The size of the results of a group, if it has all events and each of them has results of its own.
    held = source.size * len(queries) * most_live(queries)
    is_whole = is_small and is_plain and held <= MOST_HELD
    division = Division(cutting.tasks, cutting.is_cut, cuts, is_small, is_whole, planned.settings.sort == "worker")
    with of_no_view() if len(queries) > 1 else nullcontext():
        called = name.removeprefix(job_names.OURS)
        results = run_pool(source.frame, queries, plan, division, counted.report, called)
    if (parts := number_of_parts(queries[0], plan, division)) is not None:
        counted.when_all_heard(parts, partial(say_passed, name, source.frame, queries, planned.template))
        expect_report(counted, results)
    return results


def _is_for_one_task(source: PoolSource, planned: Planned) -> bool:
    """Whether a pass that is to be divided takes so little, by the costs of its plan, that it is not worth it.

    Queries that share what they do, or of which few events begin a trend, take far less together than as many by
    themselves.
    """
    cutting, wanted, optimized = planned.cutting, planned.settings, planned.optimized
    if cutting.tasks == 1 or cutting.is_stretched or wanted.partitions or wanted.chunks == "on":
        return False
    is_plain = not planned.builds_matches and planned.queries[0].query.completion is None
    events = sum(event.events for event in planned.expected.values())
    is_known = events > 0 and all(event.origin != "assumed" for event in planned.expected.values())
    if not (is_plain and is_known and isinstance(optimized.model, MeasuredCosts)):
        return False
    return is_for_one_task(source.spark, source.frame, optimized.plan_result.cost / events)


def _cutting(source: PoolSource, queries: Sequence[BoundQuery], template: Template, wanted: PlanSettings) -> Cutting:
    """How a pass over the source is divided, if its queries allow it."""
    if source.is_stream:
        return Cutting(1, is_cut=False, is_stretched=False)
    forced = wanted.chunks == "on"
    tasks = wanted.partitions or number_of_tasks(source.spark, source.frame, len(queries), on_all_cores=forced)
    cores = min(tasks, source.spark.sparkContext.defaultParallelism) if tasks > 1 else 1
    sampled = source.sampled
    may_fill_cores = not _number_of_keys(queries[0]) or (sampled is not None and sampled.largest * cores > 1)
    is_cut = forced or (wanted.chunks == "auto" and cores > 1 and may_fill_cores)
    is_worth_it = forced or source.size >= STRETCHED_BYTES
    return Cutting(tasks, is_cut, is_cut and is_worth_it and may_be_stretched(template))
