"""Trend queries over data frames: the clause from Python."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping, Sequence

from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame

from sparkext.clause_arguments import (
    Expression,
    Expressions,
    Length,
    definitions_of,
    expression_of,
    expressions_of,
    length_of,
    measures_of,
    selection_of,
    text_of,
)
from sparkext.jvm.frames import TrendFrame
from sparkext.jvm.sessions import session_id
from sparkext.session import is_enabled
from sparkext.sql.quoting import identifier
from sparkext.workload.registry import SOURCE_PREFIX, abandon_view
from sparkext.workload.trend_query import FRAME_PREFIX

_numbers = itertools.count(1)


def match_trend(
    df: DataFrame,
    *,
    pattern: str,
    order_by: Expressions,
    measures: str | Sequence[str] | Mapping[str, str],
    partition_by: Expressions = (),
    group_by: Expressions = (),
    type_by: Expression | None = None,
    define: Mapping[str, Expression] | None = None,
    within: Length | None = None,
    slide: Length | None = None,
    span: Length | None = None,
    selection: str | None = None,
    one_row_per_completion: bool = False,
    name: str | None = None,
) -> DataFrame:
    """Aggregates over all event trends of ``df`` that match a pattern: ``MATCH_TREND`` for a data frame.

    The query belongs to the workload of its session, as if it had been written as a temporary view: it is
    planned with all others that are known when something first asks for its rows, or for its plan.

    >>> rides = spark.sql("SELECT * FROM VALUES (1, 'A'), (2, 'B'), (3, 'B') AS r(ts, kind)")
    >>> match_trend(rides, pattern="A B+", order_by="ts", type_by="kind", measures={"n": "COUNT(*)"}).show()
    +---+
    |  n|
    +---+
    |  3|
    +---+
    <BLANKLINE>

    Args:
        df: Events, of a session that `sparkext.enable` returned.
        pattern: As in ``PATTERN ( … )``.
        order_by: The time of an event: a column or an expression; after it, with rows of completions, what orders
            events of one time. Here as for the next four, an expression is SQL
            text or a Column; where several may be given, one need not be in a list.
        measures: What to compute: names with aggregates, or texts as in ``MEASURES``, such as ``COUNT(*) AS n``.
        partition_by: Keys that all events of a trend agree in.
        group_by: Further keys of which each combination has a row.
        type_by: Column or expression whose value is an event's type.
        define: Conditions by variable.
        within: Length of the window: a timedelta, ``"10 minutes"``, SQL such as ``INTERVAL 10 MINUTES``, or a whole
            number where the time is one; everything is in one window without it.
        slide: From the start of a window to the next, likewise; as long as the window without it.
        span: How long a trend may be, likewise: its last event is less than that after its first, and it is in the
            windows that its last event is in; of any length without it.
        selection: Which events a trend may leave out: ``"SKIP TILL ANY MATCH"`` (all), ``"SKIP TILL NEXT MATCH"``
            (those that could not have continued it) or ``"CONTIGUOUS"`` (none); all without it.
        one_row_per_completion: Whether each event that ends a trend is a row, of which measures say what one such
            trend is: ``FIRST(X.a)``, ``LAST(a)``, ``EVENTS(e)``, ``CLASSIFIER()``.
        name: Of a temporary view to make of the query, which lives until it is dropped. Without it the query
            lives as long as the frame that is returned.

    Returns:
        One row per group and window that has trends: keys, ``window_start`` and ``window_end`` if there is a
        window, measures.

    Raises:
        ParseException: As from the clause in SQL; positions are those in the statement that the arguments make.
        PySparkTypeError: An argument is of a type that it cannot have, or a Column that SQL cannot say.
        PySparkNotImplementedError: ``df`` is of a Spark Connect session.
        PySparkValueError: ``df`` is of a session without sparkext, or a text is empty or none of those it can be.
    """
    if not isinstance(df, DataFrame):
        raise PySparkTypeError(
            f"match_trend: df must be a DataFrame of Spark, not {type(df).__name__}; "
            "spark.table(name) and spark.createDataFrame(rows) make one."
        )
    spark = df.sparkSession
    if not is_enabled(spark):
        raise PySparkValueError(
            "match_trend: the data frame belongs to a session without sparkext. "
            "Make it with the session that sparkext.enable(spark) returns."
        )
    if name is not None:
        name = text_of("name", name)
    number = next(_numbers)
    source, view = f"{SOURCE_PREFIX}{number}", name or f"{FRAME_PREFIX}{number}"
    sections = [
        _list("PARTITION BY", expressions_of("partition_by", partition_by)),
        _list("GROUP BY", expressions_of("group_by", group_by)),
        _list("ORDER BY", expressions_of("order_by", order_by)),
        "" if type_by is None else f"TYPE BY {expression_of('type_by', type_by)}",
        _list("MEASURES", measures_of(measures)),
        f"PATTERN ({text_of('pattern', pattern)})",
        _list("DEFINE", definitions_of(define or {})),
        "" if within is None else f"WITHIN {length_of('within', within)}",
        "" if slide is None else f"SLIDE {length_of('slide', slide)}",
        "" if span is None else f"SPAN {length_of('span', span)}",
        "" if selection is None else selection_of(selection),
        "ONE ROW PER COMPLETION" if one_row_per_completion else "",
    ]
    clause = "\n  ".join(filter(None, sections))
    df.createOrReplaceTempView(source)
    try:
        create = "CREATE OR REPLACE" if name else "CREATE"
        spark.sql(f"{create} TEMPORARY VIEW {identifier(view)} AS SELECT * FROM {source} MATCH_TREND (\n  {clause})")
    except BaseException:
        spark.catalog.dropTempView(source)
        raise
    frame = TrendFrame(view, spark)
    if name is None:
        weakref.finalize(frame, abandon_view, session_id(spark), view)
    return frame


def _list(keyword: str, texts: Sequence[str]) -> str:
    return f"{keyword} {', '.join(texts)}" if texts else ""
