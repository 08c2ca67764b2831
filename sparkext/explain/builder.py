"""The report of what the runs of a session share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cached_property

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.durations import duration
from sparkext.explain.conditions import adjacent_conditions, earlier_conditions
from sparkext.explain.report import (
    Clause,
    ComparedStrategy,
    Costs,
    Figures,
    Kept,
    LeftAlone,
    Loop,
    Made,
    Member,
    Partner,
    Pass,
    Plan,
    Pool,
    QSet,
    Query,
    Report,
    Statistic,
    Stream,
    TemplateState,
    Transition,
    names_by_number,
)
from sparkext.jvm.relation_filter import name_of
from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.errors import PlanningError
from sparkext.planner.kernel_plan.kernel_plan import Completions
from sparkext.planner.optimizers import NOTHING, QUICK
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.problem.plan_cost import PartCosts, part_costs
from sparkext.planner.problem.strategy import Audience
from sparkext.planner.sharing.not_planned import NotPlanned
from sparkext.planner.sharing.regions import regions
from sparkext.planner.sharing.sharing_plan import BURST, TransitionPlan, snapshot_name
from sparkext.planner.sharing.sharing_plan import QSet as PlannedQSet
from sparkext.workload.remarks import remarks, traps
from sparkext.workload.run import Run
from sparkext.workload.trend_query import TrendQuery, by_pool


def report(queries: Sequence[TrendQuery], only: str | None = None, compares: bool = False) -> Report:
    """The report of the trend queries of a session, or of one of them.

    Args:
        queries: All queries, in order of registration; those in no run could not be planned.
        only: Name of a view or query, when only that is to be reported.
        compares: Whether to say what all optimizers make of the queries.

    Raises:
        PlanningError: ``TREND_UNKNOWN_QUERY``.
    """
    pools = []
    for name, members in by_pool(queries).items():
        wanted = [query for query in members if only is None or _is_named(query, only)]
        if wanted:
            pools.append(_pool(name, members, wanted, only is not None, compares))
    if only is not None and not pools:
        names = ", ".join(query.bound.query.name for query in queries)
        said = f"There are: {names}." if names else "There is none; views with MATCH_TREND make some."
        raise PlanningError("TREND_UNKNOWN_QUERY", 0, 0, name=only, known=said)
    return Report(tuple(pools))


def registered(queries: Sequence[TrendQuery]) -> list[tuple[str, Query, Made | None]]:
    """The queries, from pool to pool, with the names of these and how the passes have been made last."""
    computed, made = _computed(queries), {query.run: _made(query.run) for query in queries}
    return [
        (name, _query(query, computed), made[query.run])
        for name, members in by_pool(queries).items()
        for query in members
    ]


def report_of_run(run: Run) -> Plan:
    """What has been planned for one pass over a source, whose queries go by their own names."""
    names = tuple((query.query.name,) for query in run.queries)
    return _PlanBuilder(run, names, tuple(range(len(run.queries)))).plan(compares=False)


def _pool(
    name: str, members: Sequence[TrendQuery], wanted: Sequence[TrendQuery], is_part: bool, compares: bool
) -> Pool:
    """The report of a pool, or of the wanted ones of its members if it is to be a part."""
    seen = wanted[0].pool.source.seen
    computed = _computed(wanted)
    runs = list(dict.fromkeys(query.run for query in wanted if query.run is not None))
    passes: list[Pass] = []
    for number, run in enumerate(runs, 1):
        names: list[list[str]] = [[] for _ in run.queries]
        for query in members:
            index = run.index_of(query.bound) if query.run is run else None
            if index is not None:
                names[index].append(query.bound.query.name)
        served = [query for query in wanted if query.run is run]
        indexes = {run.index_of(query.bound) for query in served}
        shown = tuple(index for index in range(len(run.queries)) if not is_part or index in indexes)
        apart = {run.index_of(query.bound): query.apart for query in served if query.apart is not None}
        plan = _PlanBuilder(run, tuple(map(tuple, names)), shown, apart).plan(compares)
        called = name if len(runs) == 1 else f"{name}, pass {number}"
        passes.append(_pass(called, wanted, [_query(query, computed) for query in served], plan, run, computed))
    listed = tuple(_query(query, computed) for query in wanted)
    return Pool(
        name=name,
        queries=listed,
        broken=tuple(query.bound.query.name for query in wanted if query.run is None),
        notes=() if seen is None else tuple(remarks([query.bound for query in wanted], seen)),
        passes=tuple(passes) or (_pass(name, wanted, listed),),
    )


def _pass(
    name: str,
    pool: Sequence[TrendQuery],
    queries: Sequence[Query],
    plan: Plan | None = None,
    run: Run | None = None,
    computed: Collection[Run] = (),
) -> Pass:
    first = pool[0].bound
    return Pass(
        name=name,
        source=_source_of(pool),
        group_by=tuple(key.canonical for key in first.groups),
        other_keys=tuple(key.canonical for key in first.partitions),
        order_by=first.time_canonical,
        state="broken" if run is None else _state(run, computed),
        kept=run is not None and run.persisted,
        stream=_stream(pool[0], run),
        queries=tuple(queries),
        names=names_by_number(queries, () if plan is None else plan.partners),
        plan=plan,
        made=_made(run),
    )


def _stream(query: TrendQuery, run: Run | None) -> Stream | None:
    """How a run reads a stream; None where its source is none."""
    if not query.pool.source.is_stream:
        return None
    return Stream.EXPECTED if run is None or run.operator is None else Stream.READ


def _is_named(query: TrendQuery, name: str) -> bool:
    own_name = query.bound.query.name.lower()
    return own_name == name.lower() or own_name.rpartition("#")[0] == name.lower()


def _computed(queries: Iterable[TrendQuery]) -> set[Run]:
    """The runs of queries that have been computed."""
    return {run for run in dict.fromkeys(query.run for query in queries) if run is not None and run.is_computed()}


def _state(run: Run | None, computed: Collection[Run]) -> str:
    """The state of a pass that can be made, and of its queries."""
    if run is None or run not in computed:
        return "planned"
    return "computed in another session" if run.is_of_another else "computed"


def _made(run: Run | None) -> Made | None:
    """How the pass of a run has been made last; None before."""
    passed = None if run is None else run.passed()
    if passed is None:
        return None
    jobs, kept = passed.jobs, passed.kept
    return Made(
        at=datetime.fromtimestamp(int(passed.at), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=None if jobs is None or jobs.ended is None else jobs.ended - jobs.began,
        rows_read=None if jobs is None else jobs.rows,
        bytes_read=None if jobs is None else jobs.bytes,
        events=passed.events,
        rows=None if kept is None else kept.rows,
        bytes_kept=None if kept is None else kept.bytes,
    )


def _query(query: TrendQuery, computed: Collection[Run]) -> Query:
    index = None if query.run is None else query.run.index_of(query.bound)
    state = _state(query.run, computed) if query.is_right else "broken"
    return Query(
        number=None if index is None else index + 1,
        name=query.bound.query.name,
        clause=_clause(query.bound),
        sql=query.use.sql,
        source=_source_text(query),
        state=state,
    )


def _source_text(query: TrendQuery) -> str:
    """The relation before the clause as it was written."""
    start, end = query.use.source_at
    return " ".join(query.use.sql[start:end].split())


def _source_of(queries: Sequence[TrendQuery]) -> str:
    """The relation that the queries of a pool read: as one that reads all of it was written, or by its name."""
    whole = next((query for query in queries if query.bound.part is None), None)
    name = None if whole is not None else name_of(queries[0].bound.source)
    return name or _source_text(whole or queries[0])


def _clause(bound: BoundQuery) -> Clause:
    query, kind = bound.query, bound.time_kind
    asked, window = query.completion, query.window
    return Clause(
        pattern=str(query.pattern),
        selection=query.selection,
        aggregates=tuple(map(str, query.aggregates)),
        completions=() if asked is None else (*map(str, asked.shown), *(counted.value for counted in asked.counted)),
        measures=tuple(measure.name for measure in bound.measures),
        within=None if window is None else duration(window.within, kind),
        slide=None if window is None else duration(window.slide, kind),
        span=None if query.span is None else duration(query.span, kind),
    )


@dataclass(frozen=True)
class _PlanBuilder:
    """Puts together what there is to say of a plan.

    Attributes:
        run: That is planned so.
        names: Per query of the run, what it is registered as; several when it is registered more than once.
        shown: Queries of the run, by number, that are to be shown.
        apart: Why some of these, by number, have an operator of their own beside others of a UNION ALL over a stream.
    """

    run: Run
    names: tuple[tuple[str, ...], ...]
    shown: tuple[int, ...]
    apart: Mapping[int | None, str] = field(default_factory=dict)

    def plan(self, compares: bool) -> Plan:
        """The report of it; ``compares``: with those of other optimizers."""
        run, optimized = self.run, self.run.planned.optimized
        result, template = optimized.plan_result, run.template
        audience = Audience(self.shown, self.names, result.plan)
        return Plan(
            optimizer=optimized.optimizer,
            milliseconds=1000 * optimized.seconds,
            statistics=self._statistics(),
            states=tuple(map(self._state, self._states)),
            transitions=tuple(map(self._transition, self._transitions)),
            conditions=adjacent_conditions(template, self.shown),
            looking_back=earlier_conditions(template, self.shown),
            costs=Costs(
                model=optimized.model.name,
                chosen=result.cost,
                none=run.cost_by(NOTHING),
                greedy=run.cost_by(QUICK),
                published=result.published,
                bound=result.bound,
                compared=self._compared() if compares else (),
            ),
            search=result.report(template, optimized.model.name, audience),
            running_totals=len(run.plan.cells),
            members=tuple(map(self._member, self.shown)),
            partners=tuple(Partner(query + 1, self.names[query]) for query in self._partners),
            plans_all=result.not_planned is None,
            loops=self._loops(),
            budget=run.settings.budget if optimized.is_cut_short else None,
            figures=self._figures(),
            counts_known_from=tuple(dict.fromkeys(statistic.origin for statistic in run.known().values()))
            if compares
            else (),
        )

    @cached_property
    def _states(self) -> list[int]:
        """States of the template that some of the shown queries have."""
        return sorted({state for query in self.shown for state in self.run.template.states_of[query]})

    @cached_property
    def _transitions(self) -> list[TransitionPlan]:
        """Transitions that some of the shown queries have, with all Q-sets of which some have a part."""
        wanted = set(self.shown)
        shown = []
        for transition in self.run.sharing.transitions:
            qsets = tuple(qset for qset in transition.qsets if wanted & set(qset.queries))
            if qsets:
                shown.append(TransitionPlan(transition.source, transition.target, qsets))
        return shown

    @cached_property
    def _partners(self) -> list[int]:
        """Queries that are not shown, and are in Q-sets with some that are."""
        return sorted({q for t in self._transitions for s in t.qsets for q in s.queries} - set(self.shown))

    def _member(self, query: int) -> Member:
        bound = self.run.queries[query]
        apart = next(
            (
                not_planned
                for not_planned in self.run.planned.optimized.plan_result.not_planned or ()
                if not_planned.query == query
            ),
            None,
        )
        notes = (*traps(self.run.template, query, bound), *self._apart(query))
        left = None if apart is None else self._left_alone(apart)
        return Member(query + 1, self.names[query], _clause(bound), notes, left)

    def _apart(self, query: int) -> Iterator[str]:
        if query in self.apart:
            yield f"not in one operator with others of the UNION ALL: {self.apart[query]}"

    def _left_alone(self, apart: NotPlanned) -> LeftAlone:
        return LeftAlone(apart.query + 1, self.names[apart.query], apart.reason.name, apart.reason.value)

    def _statistics(self) -> tuple[Statistic, ...]:
        run, template = self.run, self.run.template
        seen, shown = run.counted.seen(), {template.states[state].event for state in self._states}
        statistics = run.known()

        def counted(event: EventClass) -> float | None:
            """Events that the pass has counted in a group and window, if the plan was made without that."""
            is_new = (
                seen is not None and statistics[event].origin == "counted" and run.expected[event].origin != "counted"
            )
            return statistics[event].events if is_new else None

        return tuple(
            Statistic(
                event=str(event),
                events=expected.events,
                known_from=expected.origin,
                counted=counted(event),
                is_missing=seen is not None and seen.events.get(event) == 0,
            )
            for event, expected in run.expected.items()
            if event in shown
        )

    def _state(self, number: int) -> TemplateState:
        template = self.run.template
        starts, ends, wanted = template.starts[number], template.ends[number], {*self.shown, *self._partners}
        return TemplateState(
            name=str(template.states[number]),
            event=str(template.states[number].event),
            starts=tuple(query + 1 for query in starts if query in wanted),
            ends=tuple(query + 1 for query in ends if query in wanted),
            cost=self._costs.states[number],
            number=number,
            has_snapshots=any(q.snapshot == number for t in self._transitions for q in t.qsets),
            starting=self._named(starts),
            ending=self._named(ends),
        )

    @cached_property
    def _costs(self) -> PartCosts:
        optimized = self.run.planned.optimized
        return part_costs(replace(optimized.problem), optimized.model, optimized.plan_result.plan)

    def _named(self, queries: Iterable[int]) -> tuple[str, ...]:
        return tuple(name for query in queries for name in self.names[query])

    def _transition(self, transition: TransitionPlan) -> Transition:
        source, target = self._states.index(transition.source), self._states.index(transition.target)
        return Transition(source, target, tuple(self._qset(transition, qset) for qset in transition.qsets))

    def _qset(self, transition: TransitionPlan, qset: PlannedQSet) -> QSet:
        guard = self._guard(transition, qset)
        cost = self._costs.qsets[transition.source, transition.target, qset]
        return replace(self._shown(qset), guard=guard, cost=cost, names=self._named(qset.queries))

    def _shown(self, qset: PlannedQSet) -> QSet:
        return QSet(tuple(query + 1 for query in qset.queries), snapshot_name(self.run.template, qset))

    def _guard(self, transition: TransitionPlan, qset: PlannedQSet) -> str | None:
        """What must not happen for a Q-set to take a transition; None when it always may."""
        template, query = self.run.template, qset.queries[0]
        states = template.states_of[query]
        source, target = states.index(transition.source), states.index(transition.target)
        condition = template.automata[query].follows[source][target]
        return None if condition == ALWAYS else condition.text(template.guard_names)

    def _loops(self) -> tuple[Loop, ...]:
        """The loops that some of the shown queries share by bursts."""
        run, template = self.run, self.run.template
        loops: dict[tuple[int, PlannedQSet], list[int]] = {}
        of_regions = regions(template, run.sharing)
        for transition in run.sharing.transitions:
            for qset in transition.qsets:
                if qset.snapshot == BURST and not set(self.shown).isdisjoint(qset.queries):
                    query = qset.queries[0]
                    form = of_regions.forms[query][template.states_of[query].index(transition.target)]
                    loops.setdefault((of_regions.region_of[form.block], qset), []).append(transition.target)
        bursts = run.counted.bursts() if run.counted.seen() is not None else None
        return tuple(
            Loop(
                states=tuple(str(template.states[state]) for state in sorted(set(states))),
                qset=self._shown(qset),
                least=run.plan.regions[number].shares_from,
                seen=None if bursts is None else bursts[number],
            )
            for (number, qset), states in loops.items()
        )

    def _figures(self) -> Figures:
        run = self.run
        return Figures(
            queries=len(run.queries),
            links=sum(len(transition.queries) for transition in run.template.transitions),
            propagated=sum(len(transition.qsets) for transition in run.sharing.transitions),
            by_fallback=run.counted.by_fallback(),
            interpreted=run.counted.interpreted(),
            migrated=None if run.migration is None else (run.migration.old, run.migration.new),
            completions=None if run.plan.completions is None else _kept(run.plan.completions),
        )

    def _compared(self) -> tuple[ComparedStrategy, ...]:
        return tuple(
            ComparedStrategy(
                optimizer=row.optimizer,
                cost=row.cost,
                milliseconds=None if row.seconds is None else 1000 * row.seconds,
                is_cut_short=row.is_cut_short,
                not_planned=tuple(self._left_alone(apart) for apart in row.not_planned if apart.query in self.shown),
                all_not_planned=len(row.not_planned),
            )
            for row in self.run.compared()
        )


def _kept(asked: Completions) -> Kept:
    has_lists = any(map(asked.has_lists, asked.queries))
    return Kept(
        states=len(asked.states),
        registers=len(asked.registers),
        has_lists=has_lists,
        totals=sum(len(state.totals) for state in asked.states) or None,
    )
