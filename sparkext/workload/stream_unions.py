"""Which branches of a UNION ALL over a stream one operator computes: it keeps one state, and looks at events once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from weakref import WeakValueDictionary

from sparkext import settings
from sparkext.binding.bound_query import BoundQuery
from sparkext.execution import job_names
from sparkext.execution.late_events import LATE_COLUMN, late_sql
from sparkext.execution.query_results import query_sql
from sparkext.execution.stream_pass import StreamOperator
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.frames import frame_of_plan, selected
from sparkext.jvm.plans import Plan
from sparkext.jvm.unions import (
    Branch,
    UnionColumn,
    columns_alone,
    columns_of,
    in_one,
    marked,
    new_number,
    over,
    selection,
    with_unions,
)
from sparkext.planner.amounts import count
from sparkext.workload.analyses import AnalysedRelations
from sparkext.workload.collector import Collector
from sparkext.workload.pool import Pool
from sparkext.workload.pools import Pools
from sparkext.workload.run import Run
from sparkext.workload.runs import WHY_NOT_ONE, Demand, may_be_one
from sparkext.workload.stream_names import StreamNames, text_of
from sparkext.workload.trend_query import TrendQuery

log = logging.getLogger(__name__)


class _Read(NamedTuple):
    """A query that a branch reads, as it was bound for that."""

    query: TrendQuery
    bound: BoundQuery


@dataclass(slots=True, eq=False)
class _Together:
    """Branches that one operator computes.

    Attributes:
        pool: Of their queries.
        members: The branches, with their queries.
    """

    pool: Pool
    members: list[tuple[Branch, _Read]]

    @property
    def bound(self) -> list[BoundQuery]:
        """Their queries, those that are computed alike once, in an order that does not depend on that of branches."""
        distinct = {one.bound.computation: one.bound for _, one in self.members}
        return sorted(distinct.values(), key=text_of)

    def takes(self, one: _Read) -> bool:
        """Whether a query can be computed with them."""
        return one.query.pool is self.pool and may_be_one([*self.bound, one.bound])


class StreamUnions:
    """Finds UNION ALLs of clauses over streams, and lets one operator compute what it can of each."""

    def __init__(self, pools: Pools, collector: Collector) -> None:
        """Of a session.

        Args:
            pools: Its pools.
            collector: That finds out which views are gone.
        """
        self._pools = pools
        self._names = StreamNames(collector.collect)
        self._queries: WeakValueDictionary[int, TrendQuery] = WeakValueDictionary()

    def stand_in(self, plan: Plan, query: TrendQuery, bound: BoundQuery) -> Plan:
        """The plan of a clause over a stream, which is found again in a statement that reads it.

        Args:
            plan: The plan.
            query: The clause's query.
            bound: As it was bound for that plan.
        """
        if query.stand_in is None or query.stand_in[1] is not bound:
            query.stand_in = new_number(), bound
        number, _ = query.stand_in
        self._queries[number], query.apart = query, None
        return marked(plan, number)

    def results(self, operator: StreamOperator, queries: Sequence[TrendQuery]) -> AnalysedFrame:
        """The results of an operator, for a reader of some queries that it computes."""
        return operator.results(*self._names.of(operator, queries))

    def _read_by(self, branch: Branch) -> _Read | None:
        """The query that a branch reads; None if it reads none, or one that has been bound anew."""
        query = None if branch.stand_in is None else self._queries.get(branch.stand_in)
        if query is None or query.stand_in is None or query.stand_in[0] != branch.stand_in:
            return None
        return _Read(query, query.stand_in[1])

    def pooled(self, relations: AnalysedRelations, plan: Plan) -> Plan:
        """A plan whose UNION ALLs of clauses over streams have one operator for those that go together.

        Args:
            relations: Looks of the analysis.
            plan: As Spark has analysed it.

        Raises:
            PlanningError: The queries cannot be planned together.
        """
        return with_unions(plan, partial(self._union, relations))

    def queries_in(self, plan: Plan) -> list[TrendQuery]:
        """The queries that the branches of UNION ALLs of a plan read."""
        found: list[TrendQuery] = []

        def note(branches: Sequence[Branch]) -> list[Plan]:
            found.extend(one.query for branch in branches if (one := self._read_by(branch)) is not None)
            return [branch.plan for branch in branches]

        with_unions(plan, note)
        return found

    def _union(self, relations: AnalysedRelations, branches: Sequence[Branch]) -> list[Plan]:
        """What stands for the branches of a union."""
        groups: list[_Together] = []
        group_of: dict[Branch, _Together] = {}
        for branch in branches:
            one = self._read_by(branch)
            if one is None:
                continue
            one.query.apart = _problem(relations, branch, one)
            if one.query.apart is None:
                group = next((group for group in groups if group.takes(one)), None)
                if group is None:
                    groups.append(group := _Together(one.query.pool, []))
                group.members.append((branch, one))
                group_of[branch] = group
        late = _late_columns(relations, branches)
        made = {group: self._in_one(relations, group, late) for group in groups if late or len(group.members) > 1}
        plans: list[Plan] = []
        for branch in branches:
            group = group_of.get(branch)
            plan = None if group is None else made.get(group)
            if group is None or plan is None:
                plans.append(branch.plan)
            elif branch is group.members[0][0]:
                plans.append(plan)
        for group in groups if len(branches) > 1 else ():
            if made.get(group) is None:
                for _, one in group.members:
                    one.query.apart = _why_alone(group, groups)
        return plans

    def _in_one(self, relations: AnalysedRelations, group: _Together, late: Sequence[UnionColumn]) -> Plan | None:
        """The rows of some branches, as one operator computes them; None if it cannot be.

        Args:
            relations: Looks of the analysis.
            group: The branches.
            late: Columns of the union, if it has rows of late events.
        """
        queries, size = group.bound, len(group.members)
        name = f"{job_names.OURS}stream, {count(len(queries), 'query', 'queries')}"
        demand = Demand(queries[0], queries, relations.confs, in_one=queries, name=lambda: name)
        run = group.pool.runs.serving_run(demand)
        self._pools.add(group.pool)
        log.info("%s: one operator for %s of a UNION ALL", name, count(size, "branch", "branches"))
        assert run.operator is not None
        results = self.results(run.operator, [one.query for _, one in group.members])
        columns = frame_of_plan(results.sparkSession, columns_alone(results.analysed_plan, new_number()))
        plans = []
        for branch, one in group.members:
            rows = selected(columns, partial(_sql, run, one.bound, relations.state.environment.ansi))
            plans.append(over(branch, rows.analysed_plan))
        if late:
            ansi = relations.state.environment.ansi
            plans.append(selection(selected(columns, partial(late_sql, late, queries[0], ansi)).analysed_plan))
        plan = in_one(group.members[0][0].plan, results.analysed_plan, plans)
        for _, one in group.members if plan is not None else ():
            one.query.run = run
        return plan


def _late_columns(relations: AnalysedRelations, branches: Sequence[Branch]) -> list[UnionColumn]:
    """Columns of a union of branches, if it has rows of late events; else none."""
    wanted = settings.choice(relations.confs, settings.STREAM_LATE_ROWS) == "true"
    columns = columns_of(branches) if wanted else []
    return columns if any(name.lower() == LATE_COLUMN for name, *_ in columns) else []


def _sql(run: Run, bound: BoundQuery, ansi: bool, results: str) -> str:
    index = run.index_of(bound)
    assert index is not None
    return query_sql(results, run.plan.fields, run.plan.results[index], bound, ansi)


def _problem(relations: AnalysedRelations, branch: Branch, one: _Read) -> str | None:
    """Why a branch cannot share an operator with any other; None if it can."""
    if branch.problem:
        return f"its branch of the UNION ALL {branch.problem}"
    if relations.of(one.bound, one.query.use) is None:
        return "its view was created under other settings"
    return None


def _why_alone(alone: _Together, groups: Sequence[_Together]) -> str | None:
    """Why a group has not become one operator, or has one branch; None where there is no other clause."""
    if len(alone.members) > 1:
        return "its columns are structs, whose fields have other names in other branches"
    others = [group for group in groups if group is not alone]
    if not others:
        return None
    if all(group.pool is not alone.pool for group in others):
        return "no other branch has its stream, with its watermark, its keys and its ORDER BY"
    return WHY_NOT_ONE
