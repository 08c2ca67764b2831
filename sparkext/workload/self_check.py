"""Debug mode: every query is also computed by itself, and must give what its pool gives.

``SET spark.sparkext.debug = true`` switches it on. A difference raises an error with a script that shows it:
the events of one group, and the queries of the pool.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DayTimeIntervalType

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.clause_use import ClauseUse
from sparkext.execution.query_results import aggregates_sql
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.analysis_context import session_confs
from sparkext.jvm.frames import selected
from sparkext.jvm.relation_filter import filtered
from sparkext.planner.errors import PlanningError
from sparkext.sql.own_columns import aggregate_name
from sparkext.sql.quoting import identifier, string
from sparkext.workload.pool import Pool
from sparkext.workload.run import Run
from sparkext.workload.runs import Demand

MOST_EVENTS = 200
"""Of a group, for them to be in a script."""

TOLERANCE = 1e-9
"""Relative difference of doubles that the order of additions may make."""

_MOMENTS = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX", "timestampNTZFormat": "yyyy-MM-dd HH:mm:ss.SSSSSS"}


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """A query as a user has written it.

    Attributes:
        use: The clause.
        bound: Resolved against its source.
    """

    use: ClauseUse
    bound: BoundQuery

    def over(self, source: AnalysedFrame) -> CheckedQuery:
        """The same query over another relation in place of the one that is read."""
        given = source if self.bound.part is None else AnalysedFrame.of(source.where(self.bound.part))
        return CheckedQuery(self.use, self.use.bind(given, filtered(given), self.bound.query.name, self.bound.state))

    def statement(self, relation: str) -> str:
        """The same over a relation, as SQL."""
        given = relation if self.bound.part is None else f"(SELECT * FROM {relation} WHERE {self.bound.part})"
        alias = identifier(self.use.relation) if self.use.relation else ""
        return f"SELECT * FROM {given} {alias} {self.use.text}"


def check(spark: SparkSession, query: CheckedQuery, others: Sequence[CheckedQuery], run: Run) -> None:
    """Hold the result of a query against that of the query by itself.

    Args:
        spark: The session.
        query: The query.
        others: All other queries of its run.
        run: That computes them.

    Raises:
        PlanningError: ``TREND_RESULTS_DIFFER``.
    """
    difference = _difference(spark, query, run)
    if difference is None:
        return
    raise PlanningError(
        "TREND_RESULTS_DIFFER",
        0,
        0,
        name=query.bound.query.name,
        difference=difference.shown(query.bound),
        script=_script(spark, query, others, difference),
    )


@dataclass(frozen=True, slots=True)
class _Difference:
    """A group and window of which the pool and the query by itself say different things.

    Attributes:
        row: What ``pooled`` and ``alone`` say: ``_key_0``, …, the aggregates, and ``_is_there``.
    """

    row: Row

    def is_there(self, side: str) -> bool:
        """Whether a side has a row."""
        return bool(self.row[f"{side}_is_there"])

    def key(self, at: int) -> Any:
        """Value of a column of the group and window."""
        return self.row[f"{'pooled' if self.is_there('pooled') else 'alone'}_key_{at}"]

    def shown(self, query: BoundQuery) -> str:
        """In words."""
        names = [key.name for key in query.groups] + (["window_start", "window_end"] if query.query.window else [])
        keys = [f"{name} = {self.key(at)}" for at, name in enumerate(names)]
        parts = [f"for {', '.join(keys)}"] if keys else []
        for side, who in (("pooled", "the pool"), ("alone", "the query by itself")):
            given = [
                f"{aggregate} = {self.row[side + aggregate_name(at)]}"
                for at, aggregate in enumerate(query.query.aggregates)
            ]
            parts.append(f"{who} has {', '.join(given) if self.is_there(side) else 'no row'}")
        return ", ".join(parts)


def _difference(spark: SparkSession, query: CheckedQuery, run: Run) -> _Difference | None:
    """What differs first; None when nothing does."""
    name, confs = f"sparkext: debug {run.name}", session_confs(spark)
    demand = Demand(query.bound, [query.bound], confs, name=lambda: name)
    alone = Pool(spark, query.bound, optimizer="none").runs.serving_run(demand)
    pooled_rows, own_rows = _rows(run, query.bound), _rows(alone, query.bound)
    names = [aggregate_name(at) for at in range(len(query.bound.query.aggregates))]
    values = [(field.name, field.dataType.typeName()) for field in pooled_rows.schema.fields if field.name in names]
    others = [name for name in pooled_rows.columns if name not in names]
    shown = others[len(query.bound.groups) + (2 if query.bound.query.window else 0) :]

    def renamed(rows: DataFrame, side: str) -> DataFrame:
        # What rows of completions show may be of types that Spark does not compare, and several rows may show the same.
        keys = [F.to_json(F.struct(identifier(name))) if name in shown else F.col(identifier(name)) for name in others]
        if shown:
            keys.append(F.row_number().over(Window.partitionBy(*keys).orderBy(*(names or keys))))
        return rows.select(
            *(key.alias(f"{side}_key_{at}") for at, key in enumerate(keys)),
            *(F.col(name).alias(f"{side}{name}") for name, _ in values),
            F.lit(True).alias(f"{side}_is_there"),
        )

    number_of_keys = len(others) + (1 if shown else 0)
    same_key = [F.col(f"pooled_key_{at}").eqNullSafe(F.col(f"alone_key_{at}")) for at in range(number_of_keys)]
    joined = renamed(pooled_rows, "pooled").join(
        renamed(own_rows, "alone"), reduce(Column.__and__, same_key, F.lit(True)), "full_outer"
    )
    wrong = [~F.col("pooled_is_there").eqNullSafe(F.col("alone_is_there"))]
    wrong += [~_equal(F.col(f"pooled{name}"), F.col(f"alone{name}"), kind) for name, kind in values]
    different = joined.where(reduce(Column.__or__, wrong)).head(1)
    return _Difference(different[0]) if different else None


def _rows(run: Run, query: BoundQuery) -> DataFrame:
    index = run.index_of(query)
    assert index is not None
    fields, results = run.plan.fields, run.plan.results[index]
    return selected(run.results, lambda pool: aggregates_sql(pool, fields, results, query, ansi=False))


def _equal(one: Column, other: Column, kind: str) -> Column:
    same = one.eqNullSafe(other)
    if kind == DayTimeIntervalType.typeName():
        # Made of doubles, which are rounded to microseconds.
        least = F.expr("INTERVAL '0 00:00:00.000001' DAY TO SECOND")
        size = F.greatest(F.abs(one), F.abs(other)) * F.lit(TOLERANCE) + least
        return F.coalesce(same | (F.abs(one - other) <= size), F.lit(False))
    if kind not in ("double", "float"):
        return same
    size = F.greatest(F.abs(one), F.abs(other), F.lit(1.0))
    return F.coalesce(same | (F.abs(one - other) <= TOLERANCE * size), F.lit(False))


def _script(spark: SparkSession, query: CheckedQuery, others: Sequence[CheckedQuery], difference: _Difference) -> str:
    """Statements with which somebody else can see the difference."""
    source = query.bound.source
    # The keys' values are compared as Spark reads them, whatever their types are.
    of_group = [F.expr(key.text).eqNullSafe(F.lit(difference.key(at))) for at, key in enumerate(query.bound.groups)]
    events = source.where(reduce(Column.__and__, of_group, F.lit(True)))
    lines = [row[0] for row in events.select(F.to_json(F.struct("*"), _MOMENTS)).limit(MOST_EVENTS + 1).collect()]
    shown = Reproduction(spark, source.schema.simpleString(), query, others)
    if len(lines) > MOST_EVENTS or not shown.differs(lines):
        return "No small script was found: the difference needs more than the events of this group."
    return shown.script(lines)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A pool over events that are given one by one.

    Attributes:
        spark: The session.
        schema: Of the events.
        query: Whose result differs when it is computed by itself.
        others: The other queries of the pool.
    """

    spark: SparkSession
    schema: str
    query: CheckedQuery
    others: Sequence[CheckedQuery]

    def differs(self, lines: Sequence[str]) -> bool:
        """Whether the results differ with these events, each a JSON object."""
        source = AnalysedFrame.of(self.spark.sql(self._relation(lines)))
        query = self.query.over(source)
        live = [query.bound, *(other.over(source).bound for other in self.others)]
        demand = Demand(query.bound, live, session_confs(self.spark), name=lambda: "sparkext: debug")
        run = Pool(self.spark, query.bound).runs.serving_run(demand)
        try:
            return _difference(self.spark, query, run) is not None
        finally:
            run.release()

    def script(self, lines: Sequence[str]) -> str:
        """Statements that make views of these events and of the queries, and read the one that differs."""
        written = [f"CREATE OR REPLACE TEMP VIEW events AS\n{self._relation(lines)};"]
        for number, query in enumerate([self.query, *self.others], 1):
            written.append(f"CREATE OR REPLACE TEMP VIEW q{number} AS\n{query.statement('events')};")
        return "\n".join([*written, "SET spark.sparkext.debug = true;", "SELECT * FROM q1;"])

    def _relation(self, lines: Sequence[str]) -> str:
        document = string(json.dumps([json.loads(line) for line in lines]))
        options = ", ".join(f"'{name}', {string(form)}" for name, form in _MOMENTS.items())
        schema = string(f"ARRAY<{self.schema}>")
        return f"SELECT inline(from_json({document}, {schema}, map({options})))"
