"""Trend queries over data frames: the clause from Python."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pyspark import RDD
from pyspark.errors import PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.types import StructType

from sparkext.session import is_enabled
from sparkext.sql_text import identifier
from sparkext.workload import SOURCE_PREFIX, abandon_view

Texts: TypeAlias = str | Sequence[str]
"""SQL text, or several."""

_numbers = itertools.count(1)


def match_trend(
    df: DataFrame,
    *,
    pattern: str,
    order_by: str,
    measures: Texts | Mapping[str, str],
    partition_by: Texts = (),
    group_by: Texts = (),
    type_by: str | None = None,
    define: Mapping[str, str] | None = None,
    within: str | None = None,
    slide: str | None = None,
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
        order_by: The time of an event: a column or an expression.
        measures: What to compute: names with aggregates, or texts as in ``MEASURES``, such as ``COUNT(*) AS n``.
        partition_by: Keys that all events of a trend agree in.
        group_by: Further keys of which each combination has a row.
        type_by: Column or expression whose value is an event's type.
        define: Conditions by variable.
        within: Length of the window, such as ``INTERVAL 10 MINUTES``; everything is in one window without it.
        slide: From the start of a window to the next; as long as the window without it.
        name: Of a temporary view to make of the query, which lives until it is dropped. Without it the query
            lives as long as the frame that is returned.

    Returns:
        One row per group and window that has trends: keys, ``window_start`` and ``window_end`` if there is a
        window, measures.

    Raises:
        ParseException: As from the clause in SQL; places are those in the statement that the arguments make.
        PySparkValueError: ``df`` is of a session without sparkext, or a text is empty.
    """
    spark = df.sparkSession
    if not is_enabled(spark):
        raise PySparkValueError(
            "match_trend: the data frame belongs to a session without sparkext. "
            "Make it with the session that sparkext.enable(spark) returns."
        )
    number = next(_numbers)
    source, view = f"{SOURCE_PREFIX}{number}", name or f"match_trend_{number}"
    sections = [
        _list("PARTITION BY", partition_by),
        _list("GROUP BY", group_by),
        f"ORDER BY {_text('order_by', order_by)}",
        "" if type_by is None else f"TYPE BY {_text('type_by', type_by)}",
        _list("MEASURES", _measures(measures)),
        f"PATTERN ({_text('pattern', pattern)})",
        _list("DEFINE", [f"{identifier(variable)} AS {text}" for variable, text in (define or {}).items()]),
        "" if within is None else f"WITHIN {_text('within', within)}",
        "" if slide is None else f"SLIDE {_text('slide', slide)}",
    ]
    clause = "\n  ".join(filter(None, sections))
    df.createOrReplaceTempView(source)
    try:
        made = "CREATE OR REPLACE" if name else "CREATE"
        spark.sql(f"{made} TEMPORARY VIEW {identifier(view)} AS SELECT * FROM {source} MATCH_TREND (\n  {clause})")
    except BaseException:
        spark.catalog.dropTempView(source)
        raise
    frame = TrendFrame(view, spark)
    if name is None:
        weakref.finalize(frame, abandon_view, str(spark._jsparkSession.sessionUUID()), view)
    return frame


class TrendFrame(ClassicDataFrame):
    """A data frame of a trend query that is planned when it is first used."""

    def __init__(self, view: str, session: SparkSession) -> None:
        """Stand for the rows of a temporary view of ``session``."""
        self._planned: Any = None
        self._view = view
        super().__init__(None, session)

    @property
    def _jdf(self) -> Any:
        if self._planned is None:
            self._planned = self._session.table(identifier(self._view))._jdf
        return self._planned

    @_jdf.setter
    def _jdf(self, planned: Any) -> None:
        self._planned = planned

    @property
    def schema(self) -> StructType:
        """Of the rows. Planned before Python 3.11 takes the lock of a cached property, which planning needs too."""
        _ = self._jdf
        return super().schema

    @property
    def rdd(self) -> RDD[Row]:
        """The rows; planned first, as for the schema."""
        _ = self._jdf
        return super().rdd


def _measures(measures: Texts | Mapping[str, str]) -> Texts:
    if isinstance(measures, Mapping):
        return [f"{text} AS {identifier(name)}" for name, text in measures.items()]
    return measures


def _list(keyword: str, texts: Texts) -> str:
    items: Iterable[str] = [texts] if isinstance(texts, str) else texts
    written = ", ".join(_text(keyword, item) for item in items)
    return f"{keyword} {written}" if written else ""


def _text(what: str, text: str) -> str:
    if not text.strip():
        raise PySparkValueError(f"match_trend: {what} is empty.")
    return text
