"""A pool: queries on the same source, keys and time, computed together in one pass."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from weakref import WeakKeyDictionary

from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame, SparkSession

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery, Computation
from sparkext.binding.relation import names_alike
from sparkext.execution import job_names
from sparkext.execution.arrow_batches import are_narrow, limited_by_rows
from sparkext.execution.sample import TaskCounters, sample, time_cuts
from sparkext.execution.source_pass import Division, number_of_parts, run_pool
from sparkext.execution.stream_pass import stream_results
from sparkext.execution.task_count import BYTES_PER_TASK, number_of_tasks
from sparkext.execution.waiting import say_compiling, say_planning
from sparkext.jvm import storage
from sparkext.jvm.analysis_context import of_no_view
from sparkext.jvm.frames import columns_of
from sparkext.jvm.plans import is_stream, size_in_bytes
from sparkext.jvm.relation_files import SourceVersion, is_read_when_planned, not_followed
from sparkext.planner.costs.migration import Migration, migration
from sparkext.planner.costs.statistics import ExpectedEvents, ObservedStatistics, are_near, expectations, longest_window
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.template import Template, template_of
from sparkext.planner.totals.pane_rows import may_be_stretched
from sparkext.settings import Confs
from sparkext.sql.quoting import one_line
from sparkext.workload.failed_passes import divided
from sparkext.workload.planning import Cutting, Planned, PlanSettings, optimize_template, plan_together
from sparkext.workload.remarks import expect_report, say_passed, say_seen, say_traps
from sparkext.workload.run import KEPT, Run

log = logging.getLogger(__name__)

LARGE_BYTES = 128 << 20
"""Size of a source from which on it matters whether one key has most of it."""

STRETCHED_BYTES = 2 * BYTES_PER_TASK
"""Size of a source from which on a key without windows is computed in stretches, for which Spark reads it twice."""

MOST_HELD = 32 << 20
"""Size of results up to which a worker may hold those of a whole group."""

MOST_CONDITIONS = 400
"""Distinct conditions that one pass evaluates: with more of them Spark takes ever longer for each, and much memory."""

MANY_LANES = 16
"""Live windows of a query from which on its own forms may pay."""


class Pool:
    """Runs over one source.

    Attributes:
        planning: To be held while a run is found or made, by one thread at a time.
        runs: That may serve queries.

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
        self._meant = first.meaning.source
        self._environment = replace(first.state.environment, namespace=())
        self._namespaces = {first.state.environment.namespace}
        self._is_of_schema = first.needs_schema
        self.planning = threading.RLock()
        self._listing = threading.Lock()
        self._keys = _key_texts(first)
        self._first = first
        self._shape = _shape(first)
        self._compared: WeakKeyDictionary[DataFrame, bool] = WeakKeyDictionary()
        self.runs: list[Run] = []
        self._version = SourceVersion()
        self._sampled: list[ObservedStatistics] = []
        self._counted: list[ObservedStatistics] = []
        self._replaced: list[Run] = []
        self._parts: dict[Computation, int] = {}
        self._previewed: Run | None = None
        self._has_warned = False

    def takes(self, query: BoundQuery) -> bool:
        """Whether ``query`` has the source, keys and time of this pool, and what they mean is the same.

        Queries of several schemas go together if what they call is the same in all of them. One that is taken belongs
        to the pool from then on.
        """
        own = query.state.environment
        if self._environment != replace(own, namespace=()):
            return False
        if not self._has_keys_of(query):
            return False
        with self._listing:
            namespaces, is_of_schema = self._namespaces | {own.namespace}, self._is_of_schema or query.needs_schema
            if len(namespaces) > 1 and is_of_schema:
                return False
            self._namespaces, self._is_of_schema = namespaces, is_of_schema
            return True

    def _has_keys_of(self, query: BoundQuery) -> bool:
        if self._meant is query.meaning.source and self._keys == _key_texts(query):
            return True
        if self._shape != _shape(query) or not names_alike(self._source, query.source):
            return False
        if self._keys == _key_texts(query):
            return self._is_mine(query.source)
        return bool(_keyed(self._first).sameSemantics(_keyed(query)))

    def _is_mine(self, source: DataFrame) -> bool:
        """Whether a relation, whose columns are called as those of the pool's, has the same rows."""
        known = self._compared.get(source)
        if known is None:
            known = self._compared[source] = bool(self._source.sameSemantics(source))
        return known

    def follow(self, source: DataFrame, version: SourceVersion) -> None:
        """Compute anew what was computed from another version of the source than that which there is now.

        Args:
            source: As Spark has analysed it now.
            version: Of the source.
        """
        self._source = source
        if version == self._version:
            return
        has_other_files = version.files != self._version.files
        self._version = version
        self.forget_failures()
        for one in version.files if has_other_files else ():
            if not one.is_current:
                log.warning(
                    "Files of %s have changed since Spark looked for them, and Spark will not look again by itself. "
                    "For results of the files as they are now, REFRESH TABLE, or make the view or data frame anew.",
                    one_line(", ".join(one.paths)),
                )

    def reads_files_of(self, other: Pool) -> bool:
        """Whether the source of another pool has files, or directories, that the source of this one has, too."""
        if self is other:
            return True
        own, its = ({path for one in pool._version.files for path in one.paths} for pool in (self, other))
        return not own.isdisjoint(its)

    def computed(self, query: BoundQuery, confs: Confs) -> Run | None:
        """The run whose kept results have those of ``query``, which follow its source.

        Args:
            query: The query.
            confs: Of the session.
        """
        if not self._may_keep(query, confs):
            return None
        current = (run for run in self.runs if run.version == self._version)
        found = next((run for run in current if run.index_of(query) is not None and run.is_computed()), None)
        if found is not None and not found.counted.has_heard:
            found.counted.hear_nothing()
        return found

    def known(self, query: BoundQuery, last: Run | None) -> Run | None:
        """A run that has been made for ``query`` and its source as it is, computed or not.

        Args:
            query: The query.
            last: By which it was computed last. Other runs whose rows are not kept are those of other statements.
        """
        its = (run for run in self.runs if run.version == self._version and (run.persisted or run is last))
        return _holding(its, query)

    def find(
        self, query: BoundQuery, live: Sequence[BoundQuery], confs: Confs, anew: Sequence[BoundQuery] = ()
    ) -> Run | None:
        """The run that computes ``query``; None when one is yet to be made.

        Args:
            query: One of ``live``.
            live: All queries of the pool that something may still ask for.
            confs: Of the session.
            anew: Those of them that one run is to compute with ``query``, whatever has been computed.

        Raises:
            PlanningError: A setting has an unknown value.
        """
        self._divide_failed()
        computed, missing, keep = self._missing(query, live, confs, anew)
        if (held := _holding(computed, query, *anew)) is not None:
            return held
        if not keep and self._is_read_when_planned:
            return None
        wanted = self._settings(confs)
        for run in self.runs:
            if run not in computed and run.persisted == keep and self._is_for(run, missing, wanted):
                self._note_counts(run)
                if self._migrate(run) is None:
                    run.keep()
                    return run
        return None

    def make(
        self,
        query: BoundQuery,
        live: Sequence[BoundQuery],
        name: str,
        confs: Confs,
        anew: Sequence[BoundQuery] = (),
    ) -> Run:
        """A new run for ``query`` and all others that no computed run holds; it replaces runs not computed yet.

        Where no rows are kept, each query has a run of its own, and the run that it had is replaced.

        It is the run that holds ``query`` if that has been computed by another thread since it was looked for.

        Args:
            query: One of ``live``.
            live: All queries of the pool that something may still ask for.
            name: Of the run, and of the jobs that are run to plan it.
            confs: Of the session.
            anew: As for `find`.
        """
        computed, missing, keep = self._missing(query, live, confs, anew)
        if (held := _holding(computed, query, *anew)) is not None:
            return held
        moved, replaced, stay = None, list[Run](), computed
        if not keep:
            others = (run for run in self.runs if not run.persisted and run.index_of(query) is None)
            stay = [*computed, *(run for run in others if run.version == self._version)]
        for run in self.runs:
            if run not in stay:
                self._note_counts(run)
                moved = moved or self._migrate(run)
                replaced.append(run)
        while True:
            try:
                made = self._plan(missing, keep, moved, name, self._settings(confs))
                break
            except CapturedException as error:
                if isinstance(error, AnalysisException) or not self._divide(missing, name, [str(error)]):
                    raise
                moved, (_, missing, keep) = None, self._missing(query, live, confs, anew)
        if len(live) > 1:
            self._warn_of_changes(name, keep, confs)
        with self._listing:
            self.runs = [*(run for run in self.runs if run in stay), made]
            self._replaced += replaced
        return made

    def _warn_of_changes(self, name: str, keep: bool, confs: Confs) -> None:
        """Say what becomes of the results of a run, if nothing tells of changes of its source."""
        for relation in self._not_followed:
            if keep:
                log.warning(
                    "%s: changes of %s are not noticed; REFRESH SHARING after such a change", name, one_line(relation)
                )
            elif not self._has_warned and settings.choice(confs, settings.CACHE) == "auto":
                log.warning(
                    "%s: changes of %s are not noticed, so no results are kept, and each read makes a pass; "
                    "SET spark.sparkext.cache = on keeps them until REFRESH SHARING",
                    name,
                    one_line(relation),
                )
        self._has_warned = True

    def _missing(
        self, query: BoundQuery, live: Sequence[BoundQuery], confs: Confs, anew: Sequence[BoundQuery]
    ) -> tuple[list[Run], list[BoundQuery], bool]:
        """Runs that have been computed, queries that a new run would serve, and whether it would be kept."""
        caching = self._may_keep(query, confs) and not is_stream(self._source)
        live = [one for one in live if not one.meaning.is_of_now]
        keep = caching and len(live) > 1
        computed = [run for run in self.runs if run.version == self._version and run.is_computed()] if caching else []
        if not keep:
            return computed, [query], keep
        part = self._parts.get(query.computation, 0)
        again = {one.computation for one in anew}
        missing = [
            one
            for one in live
            if (one.computation in again or all(run.index_of(one) is None for run in computed))
            and _go_together(one, query)
            and self._parts.get(one.computation, 0) == part
        ]
        return computed, _few_conditions(missing, query), keep

    def _divide_failed(self) -> None:
        """See to it that queries of a run that has failed are computed without those that it has failed of."""
        for run in list(self.runs):
            if len(run.queries) < 2 or not run.asked.is_set() or run.is_computed():
                continue
            if (errors := run.errors()) and self._divide(run.queries, run.name, errors):
                with self._listing:
                    self.runs = [one for one in self.runs if one is not run]
                    self._replaced.append(run)

    def _divide(self, queries: Sequence[BoundQuery], name: str, errors: Sequence[str]) -> bool:
        """Divide queries that fail together; whether that may help."""
        distinct = {query.computation: query for query in queries}
        _, *others = divided([*distinct.values()], errors)
        for part, apart in enumerate(others, 1 + max(self._parts.values(), default=0)):
            self._parts.update((query.computation, part) for query in apart)
        if others:
            log.warning(
                "%s: the pass has failed; until its source changes, or REFRESH SHARING, %s will be computed apart",
                name,
                one_line(", ".join(query.query.name for apart in others for query in apart)),
            )
        return bool(others)

    def forget_failures(self) -> None:
        """Compute all queries together again, whatever they have failed of."""
        self._parts = {}

    def _may_keep(self, query: BoundQuery, confs: Confs) -> bool:
        """Whether what a query gives now is what it gives until its source is seen to change, or the user says so."""
        wanted = settings.choice(confs, settings.CACHE)
        if wanted == "off" or query.meaning.is_of_now:
            return False
        return wanted == "on" or not self._not_followed

    @cached_property
    def _is_read_when_planned(self) -> bool:
        """Whether what has been planned gives the rows of then."""
        return not is_stream(self._source) and is_read_when_planned(self._source)

    @cached_property
    def _not_followed(self) -> tuple[str, ...]:
        """Relations of the source of whose changes nothing tells."""
        return not_followed(self._source)

    def take_unused(self, live: Sequence[BoundQuery], recent: Sequence[BoundQuery] = ()) -> list[Run]:
        """Runs that others have replaced or that are not asked for, the pool's no more, and yet to be released.

        Args:
            live: Queries that something may still ask for.
            recent: Queries that may come again, which is no reason to keep rows.
        """
        with self._listing:
            unused = [
                run
                for run in self.runs
                if all(run.index_of(query) is None for query in (live if run.persisted else (*live, *recent)))
            ]
            self.runs = [run for run in self.runs if run not in unused]
            replaced, self._replaced = self._replaced, []
        return replaced + unused

    def _settings(self, confs: Confs) -> PlanSettings:
        return PlanSettings.of(confs, self._optimizer)

    def preview(self, queries: Sequence[BoundQuery], confs: Confs, samples: bool) -> Run:
        """How queries would be planned now. It is for people, and never run.

        Args:
            queries: The queries.
            confs: Of the session.
            samples: Whether a sample may be taken of their source.
        """
        known, keep = self._previewed, len(queries) > 1 and any(self._may_keep(query, confs) for query in queries)
        wanted = self._settings(confs) if samples else replace(self._settings(confs), sample_rows=0)
        if known is None or known.persisted != keep or not self._is_for(known, queries, wanted):
            name = f"{job_names.OURS}EXPLAIN SHARING"
            planned = self._planned(queries, wanted, name, is_for_people=True)
            known = self._previewed = Run(
                name=name,
                planned=planned,
                migration=None,
                counted=self._counters(planned.plan),
                results=self._source,
                persisted=keep,
                version=self._version,
            )
        return known

    def note_counts(self) -> None:
        """Remember what the passes that have been made have counted."""
        for run in self.runs:
            self._note_counts(run)

    def _is_for(self, run: Run, queries: Sequence[BoundQuery], wanted: PlanSettings) -> bool:
        """Whether a run is of these queries, no more and no less, of the version that there is, planned so."""
        return (
            run.version == self._version
            and run.settings == wanted
            and len(run.planned.indexes) == len({query.computation for query in queries})
            and all(run.index_of(query) is not None for query in queries)
        )

    def _plan(
        self, queries: Sequence[BoundQuery], keep: bool, moved: Migration | None, name: str, wanted: PlanSettings
    ) -> Run:
        """A run of queries that are planned together, which nothing has read yet."""
        planned = self._planned(queries, wanted, name)
        plan, distinct = planned.plan, planned.queries
        log.info(
            "planned %d queries by %s in %.1f ms: %d states, %d cells",
            len(distinct),
            wanted.optimizer,
            1000 * planned.optimized.seconds,
            len(planned.template.states),
            len(plan.cells),
        )
        say_traps(name, planned.template, distinct)
        counted, again = self._counters(plan), None
        if is_stream(self._source):
            say_compiling(self._spark, plan)
            again = partial(stream_results, self._source, distinct[0], plan, wanted.buckets)
            results = again()
        else:
            results = self._results(planned, counted, name)
            if keep:
                widest = next((seen.widest for seen in self._sampled[-1:]), None)
                narrow = are_narrow(distinct[0], plan, widest)
                with limited_by_rows(self._spark) if narrow else nullcontext():
                    storage.keep(results, name, KEPT)
        return Run(
            name=name,
            planned=planned,
            migration=moved,
            counted=counted,
            results=results,
            persisted=keep,
            version=self._version,
            again=again,
        )

    def _planned(
        self, queries: Sequence[BoundQuery], wanted: PlanSettings, name: str, is_for_people: bool = False
    ) -> Planned:
        """How queries are planned by what is known of the source; a sample is taken if there is not enough."""
        distinct = list({query.computation: query for query in reversed(queries)}.values())[::-1]
        say_planning(self._spark, len(distinct))
        template = template_of([query.query for query in distinct])
        expected = self._expected(distinct, template, wanted, name, is_for_people)
        cutting = self._cutting(len(distinct), template, wanted)
        return plan_together(distinct, template, expected, wanted, cutting, is_stream(self._source))

    def _counters(self, plan: KernelPlan) -> TaskCounters:
        return TaskCounters(self._spark, plan.classes, len(plan.regions), sum(self._shape[:2]))

    def _results(self, planned: Planned, counted: TaskCounters, name: str) -> DataFrame:
        """The rows of all queries of a plan, as one pass over the source gives them when they are read."""
        plan, distinct, cutting = planned.plan, planned.queries, planned.cutting
        cuts = None
        if cutting.is_stretched and not any(self._shape[:2]):
            with self._looking(name):
                cuts = time_cuts(self._source, distinct, cutting.tasks)
        say_compiling(self._spark, plan)
        # What Spark takes for that small is read by one task, beside which a shuffle would take longer.
        is_small = cutting.tasks == 1 and planned.settings.partitions is None and not cutting.is_stretched
        of_completions = distinct[0].query.completion is not None
        is_plain = not planned.builds_matches and not of_completions
        is_whole = is_small and is_plain and self._bytes_held(distinct) <= MOST_HELD
        sorts_itself = planned.settings.sort == "worker"
        division = Division(cutting.tasks, cutting.is_cut, cuts, is_small, is_whole, sorts_itself)
        with of_no_view() if len(distinct) > 1 else nullcontext():
            called = name.removeprefix(job_names.OURS)
            results = run_pool(self._source, distinct, plan, division, counted.report, called)
        if (parts := number_of_parts(distinct[0], plan, division)) is not None:
            counted.when_all_heard(parts, partial(say_passed, name, self._source, distinct, planned.template))
            expect_report(counted, results)
        return results

    def _cutting(self, queries: int, template: Template, wanted: PlanSettings) -> Cutting:
        """How a pass over the source is divided, if its queries allow it."""
        if is_stream(self._source):
            return Cutting(1, is_cut=False, is_stretched=False)
        forced = wanted.chunks == "on"
        tasks = wanted.partitions or number_of_tasks(self._spark, self._source, queries, on_all_cores=forced)
        cores = min(tasks, self._spark.sparkContext.defaultParallelism) if tasks > 1 else 1
        may_fill_cores = any(seen.largest * cores > 1 for seen in self._sampled[-1:]) or not any(self._shape[:2])
        is_cut = forced or (wanted.chunks == "auto" and cores > 1 and may_fill_cores)
        is_worth_it = forced or size_in_bytes(self._source) >= STRETCHED_BYTES
        return Cutting(tasks, is_cut, is_cut and is_worth_it and may_be_stretched(template))

    def _bytes_held(self, queries: Sequence[BoundQuery]) -> int:
        """Size of the results of a group, if the group has all events and each event has results of its own."""
        return size_in_bytes(self._source) * len(queries) * _live(queries)

    def _expected(
        self,
        queries: Sequence[BoundQuery],
        template: Template,
        wanted: PlanSettings,
        name: str = "",
        is_for_people: bool = False,
    ) -> dict[EventClass, ExpectedEvents]:
        """Statistics of the classes of a pool; a sample is taken if there is something to decide by it, or to show."""
        classes = list(dict.fromkeys(state.event for state in template.states))
        within = longest_window(query.query for query in queries)
        given = dict(wanted.statistics)
        seen = [*reversed(self._counted), *reversed(self._sampled)]
        expected = expectations(classes, within, given, seen)
        unknown = [event for event, found in expected.items() if found.origin == "assumed"]
        is_wanted = is_for_people and not is_stream(self._source)
        if unknown and (is_wanted or self._is_sampled(queries, template)):
            with self._looking(name):
                found = sample(self._source, queries, classes, wanted.sample_rows)
            if found is not None:
                self._sampled.append(found)
                say_seen(name, queries, found)
                self._previewed = None
                return self._expected(queries, template, replace(wanted, sample_rows=0))
        return expected

    def _looking(self, name: str) -> AbstractContextManager[None]:
        """While jobs look at the source to plan the run of a name, they are called so."""
        return job_names.described(self._spark, f"{name}: sample of its source")

    def _is_sampled(self, queries: Sequence[BoundQuery], template: Template) -> bool:
        """Whether a look at the source pays, and is possible."""
        if is_stream(self._source):
            return False
        return _has_choice(queries, template) or size_in_bytes(self._source) >= LARGE_BYTES

    @property
    def seen(self) -> ObservedStatistics | None:
        """What the last pass has counted of the source, or else what a sample shows; None before either."""
        return next(iter([*reversed(self._counted), *reversed(self._sampled)]), None)

    def _note_counts(self, run: Run) -> None:
        """Remember what the tasks of a run have counted."""
        seen = run.counted.seen()
        if seen is not None and seen not in self._counted:
            self._counted = [other for other in self._counted if other.events.keys() != seen.events.keys()]
            self._counted.append(seen)
            self._previewed = None

    def _migrate(self, run: Run) -> Migration | None:
        """The change of plan that pays, now that the events of a run have been counted; None to leave it."""
        seen = run.counted.seen()
        if seen is None:
            return None
        expected = self._expected(run.queries, run.template, replace(run.settings, sample_rows=0))
        if are_near(expected, run.expected):
            return None
        optimized = optimize_template(run.template, expected, run.settings, is_stream(self._source))
        within = longest_window(query.query for query in run.queries)
        windows = max(seen.keys, 0 if within is None else seen.span // within)
        found = migration(optimized.problem, optimized.model, run.sharing, optimized.found.plan, windows)
        return found if found.pays else None


def _shape(query: BoundQuery) -> tuple[int, int, int]:
    """Numbers of what a pool goes by: groups, other keys, further expressions of ORDER BY."""
    return len(query.groups), len(query.partitions), len(query.further_order)


def _holding(runs: Iterable[Run], *queries: BoundQuery) -> Run | None:
    """The first run that all of the queries are in."""
    return next((run for run in runs if all(run.index_of(query) is not None for query in queries)), None)


def by_pass(queries: Iterable[BoundQuery]) -> list[list[BoundQuery]]:
    """Queries of a pool, apart by the kind of pass that they need; see `_go_together`."""
    found: dict[bool, list[BoundQuery]] = {}
    for query in queries:
        found.setdefault(query.query.completion is None, []).append(query)
    return list(found.values())


def _go_together(one: BoundQuery, other: BoundQuery) -> bool:
    """Whether one run may hold two queries: not if the same texts mean something else in each.

    Queries that ask for completions share no totals with others, and have passes of their own.
    """
    if (one.query.completion is None) != (other.query.completion is None):
        return False
    return one.computation != other.computation or one.meaning.is_same(other.meaning)


def _few_conditions(queries: Sequence[BoundQuery], first: BoundQuery) -> list[BoundQuery]:
    """As many of the queries as one pass can evaluate the conditions of, in their order, with ``first`` among them."""
    seen, taken = _conditions(first), {first.computation}
    for query in queries:
        together = seen | _conditions(query)
        if len(together) <= MOST_CONDITIONS or len(together) == len(seen):
            seen = together
            taken.add(query.computation)
    return [query for query in queries if query.computation in taken]


def _conditions(query: BoundQuery) -> set[str | None]:
    """Conditions that Spark evaluates for a query."""
    found = {event.condition for _, event in query.query.classes}
    return found - {None}


def _has_choice(queries: Sequence[BoundQuery], template: Template) -> bool:
    """Whether there is something that may or may not be shared."""
    return _live(queries) >= MANY_LANES or any(len(transition.queries) > 1 for transition in template.transitions)


def _live(queries: Sequence[BoundQuery]) -> int:
    """Most windows that an event is in."""
    return max((query.query.window.live for query in queries if query.query.window is not None), default=1)


def _key_texts(query: BoundQuery) -> tuple[tuple[str, ...], ...]:
    """Canonical texts of keys and time, in the order of `_keyed`."""
    groups, partitions = query.sorted_groups, query.sorted_partitions
    order = (query.time_canonical, *(canonical for canonical, _ in query.further_order))
    return tuple(key.canonical for key in groups), tuple(key.canonical for key in partitions), order


def _keyed(query: BoundQuery) -> DataFrame:
    keys = [*query.sorted_groups, *query.sorted_partitions]
    order = (text for _, text in query.further_order)
    return columns_of(query.source, (f"({text}\n)" for text in (*(key.text for key in keys), query.time, *order)))
