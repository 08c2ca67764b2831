"""The runs of a pool: which of them serves a query."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.captured import CapturedException

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery, Computation
from sparkext.execution import job_names
from sparkext.jvm.relation_files import SourceVersion
from sparkext.planner.compiler.completion_plan import final_when, one_by_one
from sparkext.planner.costs.migration import Migration, migration
from sparkext.planner.costs.statistics import are_near, longest_window
from sparkext.settings import Confs
from sparkext.sql.quoting import one_line
from sparkext.workload import making
from sparkext.workload.failed_passes import divided
from sparkext.workload.planning import PlanSettings, optimize_template
from sparkext.workload.run import Run
from sparkext.workload.shared_runs import Alike, SharedRuns, alike, are_session_free
from sparkext.workload.source import PoolSource

log = logging.getLogger(__name__)

MOST_CONDITIONS = 400
"""Distinct conditions that one pass evaluates: with more of them Spark takes ever longer for each, and much memory."""


WHY_NOT_ONE = (
    "completions go together that have the same WITHIN, SPAN and FOR, and no others; "
    f"and queries that have no more than {MOST_CONDITIONS} conditions"
)
"""Why queries of a pool over a stream have operators of their own."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a run is to compute.

    Attributes:
        query: The query that is read.
        live: All queries of the pool that something may still ask for, with that one.
        confs: Of the session.
        anew: Queries that one run is to compute with it, whatever has been computed.
        in_one: Queries over a stream, that one among them, which one operator is to compute.
        name: What people who look at the Spark UI may call a run that is made for it.
        permanent: Those among the live queries that are of permanent views, which sessions have in common.
    """

    query: BoundQuery
    live: Sequence[BoundQuery]
    confs: Confs
    anew: Sequence[BoundQuery] = ()
    in_one: Sequence[BoundQuery] = ()
    name: Callable[[], str] = lambda: f"{job_names.OURS}pool"
    permanent: Sequence[BoundQuery] = ()


@dataclass(frozen=True, slots=True)
class _Choice:
    """What there is to serve a query.

    Attributes:
        computed: Runs that have been computed.
        missing: Queries that a new run would compute.
        keep: Whether its results would be kept.
    """

    computed: list[Run]
    missing: list[BoundQuery]
    keep: bool


class Runs:
    """Runs over one source.

    A query is computed by the first run that holds it. Queries that no computed run holds are
    planned together, so that however views are created and read, each pass over the source serves
    all queries that are known when it starts. Over a stream, those are that a statement reads as one.

    Attributes:
        planning: Held while a run is sought or made, by one thread at a time.
    """

    def __init__(
        self,
        source: PoolSource,
        optimizer: str | None,
        announce: Callable[[Run], None],
        shared: SharedRuns | None = None,
    ) -> None:
        """None yet.

        Args:
            source: That they read.
            optimizer: That plans them; that of the session if None.
            announce: Called with each run that is made.
            shared: Those that sessions have in common; None if these are to have none of them.
        """
        self.planning = threading.RLock()
        self._source = source
        self._optimizer = optimizer
        self._announce = announce
        self._shared = shared
        self._changing = threading.Lock()
        self._runs: list[Run] = []
        self._replaced: list[Run] = []
        self._parts: dict[Computation, int] = {}
        self._preview: tuple[int, Run] | None = None
        self._has_warned = False

    def __iter__(self) -> Iterator[Run]:
        """The runs as they are now."""
        return iter(self._runs)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._runs)

    # Which run serves a query.

    def computed(self, query: BoundQuery, confs: Confs, version: SourceVersion | None) -> Run | None:
        """The run whose kept results have those of a query; None if there is none.

        Args:
            query: The query.
            confs: Of the session.
            version: Of the source, as whoever asks has seen it; None if that is not known. Another thread may have
                seen another one since.
        """
        if not self._source.may_keep(query, confs):
            return None
        runs = (run for run in self._runs if run.version == version)
        run = next((run for run in runs if run.index_of(query) is not None and run.is_computed()), None)
        if run is not None and not run.counted.has_heard:
            run.counted.hear_nothing()
        return run

    def known(self, query: BoundQuery, last: Run | None) -> Run | None:
        """A run that has been made for ``query`` and its source as it is, computed or not. It is for people.

        Args:
            query: The query.
            last: By which it was computed last. Other runs whose rows are not kept are those of other statements.
        """
        return _holding((run for run in self._current() if run.persisted or run is last), query)

    def serving_run(self, demand: Demand) -> Run:
        """The run that computes a query: one that has been computed, or is yet to be, or a new one.

        A new run is for the query and all others that no computed run holds; it replaces runs not computed yet. Where
        no rows are kept, each query, or queries that are read as one, has a run of its own, and the run that it had is
        replaced.

        Raises:
            PlanningError: A setting has an unknown value, or the queries cannot be planned.
        """
        with self.planning:
            self._divide_failed()
            common = self._in_common(demand)
            with nullcontext() if self._shared is None or common is None else self._shared.planning(common):
                if common is not None:
                    self._take_over(demand, common)
                choice = self._choice(demand)
                run = _holding(choice.computed, demand.query, *demand.anew) or self._waiting(demand, choice)
                if run is None:
                    settings.check_names(demand.confs)
                    run = self._make(demand, choice)
                    self._announce(run)
                    if common is not None:
                        self._share(run, demand, common)
                return run

    def _current(self) -> list[Run]:
        """Runs over the source as it is."""
        return [run for run in self._runs if run.version == self._source.version]

    def _choice(self, demand: Demand) -> _Choice:
        query = demand.query
        may_keep = self._source.may_keep(query, demand.confs) and not self._source.is_stream
        live = [candidate for candidate in demand.live if not candidate.meaning.is_of_now]
        computed = [run for run in self._current() if run.is_computed()] if may_keep else []
        if not may_keep or len(live) < 2:
            return _Choice(computed, [*demand.in_one] or [query], keep=False)
        part = self._parts.get(query.computation, 0)
        anew = {candidate.computation for candidate in demand.anew}
        missing = [
            candidate
            for candidate in live
            if (candidate.computation in anew or all(run.index_of(candidate) is None for run in computed))
            and _go_together(candidate, query)
            and self._parts.get(candidate.computation, 0) == part
        ]
        return _Choice(computed, _few_conditions(missing, query), keep=True)

    def _waiting(self, demand: Demand, choice: _Choice) -> Run | None:
        """A run for just the queries that are missing, that nothing has read yet and that would be planned so now."""
        if not choice.keep and self._source.is_read_when_planned:
            return None
        wanted = self._settings(demand)
        for run in self._runs:
            if run not in choice.computed and run.persisted == choice.keep and self._is_for(run, choice, wanted):
                self._source.learn(run.counted)
                if self._migration(run) is None:
                    run.keep()
                    return run
        return None

    def _make(self, demand: Demand, choice: _Choice) -> Run:
        """A new run."""
        name = demand.name()
        stay = choice.computed
        if not choice.keep:
            others = (run for run in self._current() if not run.persisted and not _is_of(run, choice.missing))
            stay = [*stay, *others]
        moved, replaced = None, [run for run in self._runs if run not in stay]
        for run in replaced:
            self._source.learn(run.counted)
            moved = moved or self._migration(run)
        while True:
            try:
                planned = making.plan(self._source, choice.missing, self._settings(demand), name)
                made = making.make(self._source, planned, choice.keep, moved, name)
                break
            except CapturedException as error:
                is_divided = not self._source.is_stream and self._divide(choice.missing, name, [str(error)])
                if isinstance(error, AnalysisException) or not is_divided:
                    raise
                moved, choice = None, self._choice(demand)
        if len(demand.live) > 1:
            self._warn_of_changes(name, choice.keep, demand.confs)
        with self._changing:
            self._runs = [*(run for run in self._runs if run in stay), made]
            self._replaced += replaced
        return made

    def _settings(self, demand: Demand) -> PlanSettings:
        return PlanSettings.of(demand.confs, self._optimizer)

    def _is_for(self, run: Run, choice: _Choice, wanted: PlanSettings) -> bool:
        """Whether a run is of the queries that are missing, no more and no less, of the source as it is, planned so."""
        queries = choice.missing
        return run.version == self._source.version and run.settings == wanted and _is_of(run, queries)

    def _migration(self, run: Run) -> Migration | None:
        """The change of plan that pays, now that the events of a run have been counted; None to leave it."""
        seen = run.counted.seen()
        if seen is None:
            return None
        expected = self._source.expected(run.queries, run.template, replace(run.settings, sample_rows=0))
        if are_near(expected, run.expected):
            return None
        optimized = optimize_template(run.template, expected, run.settings, self._source.is_stream)
        within = longest_window(query.query for query in run.queries)
        windows = max(seen.keys, 0 if within is None else seen.span // within)
        change = migration(optimized.problem, optimized.model, run.sharing, optimized.plan_result.plan, windows)
        return change if change.pays else None

    def _warn_of_changes(self, name: str, keep: bool, confs: Confs) -> None:
        """Say what becomes of the results of a run, if nothing tells of changes of its source."""
        for relation in self._source.not_followed:
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

    # What sessions have in common.

    def _in_common(self, demand: Demand) -> Alike | None:
        """What a query has in common with those of other sessions that one run may serve; None if there is no such.

        A source is one that all of them read, and follow.
        """
        query = demand.query
        if self._shared is None or not settings.shared_for(demand.confs) or not _is_among(query, demand.permanent):
            return None
        if self._source.is_stream or self._source.not_followed or not self._source.may_keep(query, demand.confs):
            return None
        return alike(query, demand.confs)

    def _take_over(self, demand: Demand, common: Alike) -> None:
        """Have runs of other sessions, as far as they compute queries that this one has bound, too, and no others."""
        assert self._shared is not None
        own = {run.holders for run in self._runs}
        for run in self._shared.of(common, self._source.version):
            if run.holders in own or not _is_of_some(run, demand.permanent):
                continue
            _ = self._source.size  # Spark's rules look at what the session reads, as they would if it were read here
            if (taken := run.in_session(self._source.spark)) is not None:
                with self._changing:
                    self._runs = [*self._runs, taken]

    def _share(self, run: Run, demand: Demand, common: Alike) -> None:
        """Let other sessions have a run that computes queries of permanent views alone."""
        assert self._shared is not None
        are_permanent = run.persisted and all(_is_among(one, demand.permanent) for one in run.queries)
        if are_permanent and are_session_free(run.queries):
            self._shared.add(run, common, settings.shared_for(demand.confs))

    # Passes that have failed.

    def _divide_failed(self) -> None:
        """See to it that queries of a run that has failed are computed without those that it has failed of."""
        for run in list(self._runs):
            if len(run.queries) < 2 or not run.asked.is_set() or run.is_computed():
                continue
            if (errors := run.errors()) and self._divide(run.queries, run.name, errors):
                with self._changing:
                    self._runs = [one for one in self._runs if one is not run]
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

    # What is shown of them, and their release.

    def learn(self) -> None:
        """Remember what the passes that have been made have counted."""
        for run in self._runs:
            self._source.learn(run.counted)

    def preview(self, queries: Sequence[BoundQuery], confs: Confs, samples: bool) -> Run:
        """How queries would be planned now. It is for people, and never run.

        Args:
            queries: The queries.
            confs: Of the session.
            samples: Whether a sample may be taken of their source.
        """
        keep = len(queries) > 1 and any(self._source.may_keep(query, confs) for query in queries)
        demand, choice = Demand(queries[0], queries, confs), _Choice([], list(queries), keep)
        wanted = self._settings(demand) if samples else replace(self._settings(demand), sample_rows=0)
        if self._preview is not None:
            lessons, run = self._preview
            if lessons == self._source.lessons and run.persisted == keep and self._is_for(run, choice, wanted):
                return run
        name = f"{job_names.OURS}EXPLAIN SHARING"
        planned = making.plan(self._source, queries, wanted, name, is_for_people=True)
        run = Run(
            name=name,
            planned=planned,
            migration=None,
            counted=making.counters(self._source, planned),
            results=self._source.frame,
            persisted=keep,
            version=self._source.version,
        )
        self._preview = self._source.lessons, run
        return run

    def take_unused(self, live: Sequence[BoundQuery], recent: Sequence[BoundQuery] = ()) -> list[Run]:
        """Runs that others have replaced or that are not asked for, the pool's no more, and yet to be released.

        Args:
            live: Queries that something may still ask for.
            recent: Queries that may come again, which is no reason to keep rows.
        """
        with self._changing:
            unused = [
                run
                for run in self._runs
                if all(run.index_of(query) is None for query in (live if run.persisted else (*live, *recent)))
            ]
            self._runs = [run for run in self._runs if run not in unused]
            replaced, self._replaced = self._replaced, []
        return replaced + unused


def by_pass(queries: Iterable[BoundQuery]) -> list[list[BoundQuery]]:
    """Queries of a pool, apart by the kind of pass that they need; see `_go_together`."""
    passes: dict[object, list[BoundQuery]] = {}
    for query in queries:
        passes.setdefault(_kind_of_pass(query), []).append(query)
    return list(passes.values())


def _holding(runs: Iterable[Run], *queries: BoundQuery) -> Run | None:
    """The first run that all of the queries are in."""
    return next((run for run in runs if all(run.index_of(query) is not None for query in queries)), None)


def _is_among(query: BoundQuery, queries: Iterable[BoundQuery]) -> bool:
    """Whether a query is one of some, itself and not an equal one."""
    return any(one is query for one in queries)


def _is_of_some(run: Run, queries: Sequence[BoundQuery]) -> bool:
    """Whether each query of a run is computed as one of some queries is."""
    held = {run.index_of(query) for query in queries}
    return held.issuperset(range(len(run.queries)))


def may_be_one(queries: Sequence[BoundQuery]) -> bool:
    """Whether one operator can compute queries of a pool over a stream; if not, it is for `WHY_NOT_ONE`."""
    first = queries[0]
    if not all(_go_together(query, first) for query in queries):
        return False
    are_final_together = len({final_when(query.query) for query in queries}) == 1
    return are_final_together and len(_few_conditions(queries, first)) == len(queries)


def _is_of(run: Run, queries: Sequence[BoundQuery]) -> bool:
    """Whether a run is of some queries, no more and no less."""
    is_as_many = len(run.planned.indexes) == len({query.computation for query in queries})
    return is_as_many and _holding([run], *queries) is run


def _go_together(left: BoundQuery, right: BoundQuery) -> bool:
    """Whether one run may hold two queries: not if the same texts mean something else in each.

    Queries that ask for completions share no totals with others, and have passes of their own; and so do those of them
    whose windows are gone through one by one.
    """
    if _kind_of_pass(left) != _kind_of_pass(right):
        return False
    return left.computation != right.computation or left.meaning.is_same(right.meaning)


def _kind_of_pass(query: BoundQuery) -> object:
    return query.query.completion is None, one_by_one(query.query)


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
    conditions = {event.condition for _, event in query.query.classes}
    return conditions - {None}
