"""Rows of late events, for a UNION ALL of queries over a stream that has a column for them."""

from __future__ import annotations

from collections.abc import Sequence

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.event_time import bound as moment
from sparkext.execution.compact_rows import group_column
from sparkext.jvm.unions import UnionColumn
from sparkext.planner.errors import PlanningError
from sparkext.settings import STREAM_LATE_ROWS
from sparkext.sql.quoting import identifier
from sparkext.udfs.streams.late_rows import LATE, LATE_BY

LATE_COLUMN = "late"
"""Name of that column, which says when the event was, and by how much it was late."""


def late_sql(columns: Sequence[UnionColumn], query: BoundQuery, ansi: bool, results: str) -> str:
    """A statement for a row for each late event: keys, `LATE_COLUMN`, and NULL in all other columns of a union.

    Args:
        columns: Of the union.
        query: One of the queries.
        ansi: Whether Spark's ANSI mode is on.
        results: Name of the relation of the results of their operator.

    Raises:
        PlanningError: ``TREND_UNKNOWN_SETTING``: there may be no NULL in a column.
    """
    time = moment("`window`", 1, 0, query.time_kind, query.time_type, ansi)
    late = f"named_struct('event_time', {time}, 'late_by_milliseconds', {LATE_BY} DIV 1000L)"
    groups = query.sorted_groups
    values = {key.name.lower(): group_column(groups.index(key)) for key in query.groups} | {LATE_COLUMN: late}
    for name, _, may_be_null in columns:
        if name.lower() not in values and not may_be_null:
            problem = f"With {STREAM_LATE_ROWS}, rows of late events have NULL in {name}, where the UNION ALL has none"
            hint = f"Write nullif({identifier(name)}, NULL) AS {identifier(name)} in a branch."
            raise PlanningError("TREND_UNKNOWN_SETTING", 0, 0, problem=problem, hint=hint)
    shown = [f"CAST({values.get(name.lower(), 'NULL')} AS {type_}) AS {identifier(name)}" for name, type_, _ in columns]
    return f"SELECT {', '.join(shown)} FROM {results} WHERE bank = {LATE}"
