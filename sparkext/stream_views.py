"""Many trend views over one stream as one streaming frame, and its rows apart again, from Python.

All of it is SQL and public methods of frames, so that it works over Spark Connect as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from pyspark.errors import PySparkException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from sparkext.confs_for import confs_for
from sparkext.settings import STREAM_HISTORY, STREAM_LATE_ROWS, STREAM_SINCE
from sparkext.sql.quoting import identifier, string

QUERY = "query"
"""Name of the column that says which view a row is of."""

BOUNDS = "window_start", "window_end"

LATE = "late"
"""Name of the struct that rows of late events have: ``event_time``, and ``late_by_milliseconds``."""

_ROWS = "rows_of_views"
_HISTORY = "sparkext_history"

_QUERY_ID = "sql.streaming.queryId"
"""What Spark lets the thread of a micro-batch know: the id of its streaming query, which a checkpoint keeps."""

Sink: TypeAlias = "str | Path | Callable[[DataFrame, int], object]"
"""Where rows of a view go: a table, a directory, or a function of the rows of a micro-batch and its number."""


def stream(
    views: Sequence[str],
    *,
    spark: SparkSession | None = None,
    history: str | DataFrame | None = None,
    since: str | datetime | None = None,
) -> DataFrame:
    """The rows of many views over one stream, as one operator where that can be.

    It is the ``UNION ALL`` of the views, of which docs/streaming.md says when it is one operator. ``EXPLAIN SHARING``
    says it of these views.

    Args:
        views: Names of temporary views with ``MATCH_TREND`` over a stream, all with the same columns before
            ``window_start``: their keys.
        spark: Their session; the active one if left out.
        history: Events from before the stream, with the columns of the relation before the clauses: a relation by name,
            or a frame.
        since: The moment up to which these are all, and from which on events are those of the stream: those of before
            are left out of it as late. Windows that end by then are not written. A moment without a zone is one of the
            session's zone.

    Returns:
        A streaming frame with the columns ``query``, keys, ``window_start``, ``window_end``, and for each view a struct
        of its other columns, called like the view, which is NULL in rows of other views. With the setting
        ``spark.sparkext.stream.lateRows`` there is a row for each late event, too, in which ``query`` is NULL, and a
        struct ``late``.

    Raises:
        PySparkTypeError: ``views`` is no list of names.
        PySparkValueError: A view is no stream, or does not have these columns; there is a history without ``since``, or
            the other way round.
    """
    if isinstance(views, str) or not all(isinstance(view, str) for view in views):
        raise PySparkTypeError("stream: views must be a list of names of views, such as ['trips', 'returns'].")
    if not views:
        raise PySparkValueError("stream: views must have the name of one view at least.")
    session = spark or SparkSession.active()
    shapes = [_shape_of_view(session, view) for view in views]
    first = shapes[0]
    for view, shape in zip(views, shapes, strict=True):
        if shape.keys != first.keys:
            raise PySparkValueError(
                f"stream: the columns before window_start are {_listed(first.keys)} in {views[0]}, and "
                f"{_listed(shape.keys)} in {view}. Views of one stream have the same keys in the same order."
            )
    has_late = str(session.conf.get(STREAM_LATE_ROWS, "false")).lower() == "true"
    columns = [QUERY, *first.keys, *BOUNDS, *views, *([LATE] if has_late else [])]
    twice = next((name for index, name in enumerate(columns) if name.lower() in _lowered(columns[:index])), None)
    if twice is not None:
        raise PySparkValueError(f"stream: two columns would be called {twice}; call the view or the key otherwise.")
    shared = ", ".join(map(identifier, (*first.keys, *BOUNDS)))
    late = f", CAST(NULL AS STRUCT<event_time: {first.time}, late_by_milliseconds: BIGINT>) AS {LATE}"
    branches = []
    for view, shape in zip(views, shapes, strict=True):
        own = f"struct({', '.join(map(identifier, shape.others))})"
        values = ", ".join(f"{own if one == view else 'NULL'} AS {identifier(one)}" for one in views)
        name = f"nullif({string(view)}, NULL)" if has_late else string(view)
        more = late if has_late else ""
        branches.append(f"SELECT {name} AS {QUERY}, {shared}, {values}{more} FROM {identifier(view)}")
    if has_late and len(views) == 1:  # rows of late events are those of a UNION ALL
        nothing = ", ".join(f"NULL AS {identifier(one)}" for one in views)
        branches.append(f"SELECT NULL AS {QUERY}, {shared}, {nothing}{late} FROM {identifier(views[0])} WHERE false")
    if (history is None) is not (since is None):
        raise PySparkValueError("stream: history and since are given together, or neither is.")
    if isinstance(history, DataFrame):
        history.createOrReplaceTempView(_HISTORY)
        history = _HISTORY
    began = {} if history is None else {STREAM_HISTORY: history, STREAM_SINCE: str(since)}
    with confs_for(session, began):
        return session.sql("\nUNION ALL ".join(branches))


def views_of(rows: str | DataFrame, *, spark: SparkSession | None = None) -> list[str]:
    """Make a temporary view of the rows of each view that `stream` was given, out of where these have been written.

    Args:
        rows: Name of the table that they were written to, or a frame of them: that of ``spark.readStream.table(…)``
            gives views that are streams.
        spark: The session; that of the frame, or the active one, if left out.

    Returns:
        Names of the views, ``trips_rows`` for a view ``trips``: the keys, the bounds of the window, and what the view
        has beside these.

    Raises:
        PySparkValueError: They do not have the columns that `stream` gives.
    """
    session = spark or (rows.sparkSession if isinstance(rows, DataFrame) else SparkSession.active())
    shape = _shape_of_rows(rows if isinstance(rows, DataFrame) else session.table(rows))
    made = []
    for view in shape.others:
        name = f"{view}_rows"
        if isinstance(rows, DataFrame):
            _rows_of(rows, shape, view).createOrReplaceTempView(name)
        else:
            columns = ", ".join(_columns(shape, view))
            which = f"SELECT {columns} FROM {rows} AS {_ROWS} WHERE {_is_of(view)}"
            session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {identifier(name)} AS {which}")
        made.append(name)
    return made


def split(sinks: Mapping[str, Sink], *, app_id: str | None = None) -> Callable[[DataFrame, int], None]:
    """A function for ``foreachBatch`` that writes the rows of each view to a sink of its own.

    The micro-batch is computed once. Where it is repeated after a failure, each of its rows is in a directory once: the
    part of the micro-batch is written anew. So it is in a table whose format knows of transactions by ``txnAppId`` and
    ``txnVersion``, as Delta does. A function gets the number of the micro-batch, and is to take note of it.

    Args:
        sinks: By the names of views that `stream` was given. A name is that of a table, which is made if there is none;
            a `Path` is a directory of Parquet files, each micro-batch in a directory ``batch=…``; a function is called
            with the rows and the number of the micro-batch. Rows of other views are left out.
        app_id: What transactions are called; the id of the streaming query, which its checkpoint keeps, if left out.

    Raises:
        PySparkTypeError: A sink is none of these.
    """
    for view, sink in sinks.items():
        if not isinstance(sink, str | Path) and not callable(sink):
            raise PySparkTypeError(
                f"split: the sink of {view} must be the name of a table, a pathlib.Path, or a function of rows and "
                f"the number of a micro-batch, not {type(sink).__name__}."
            )

    def write(rows: DataFrame, number: int) -> None:
        shape = _shape_of_rows(rows)
        unknown = next((view for view in sinks if view not in shape.others), None)
        if unknown is not None:
            raise PySparkValueError(f"split: there is no view {unknown} in the stream; it has {_listed(shape.others)}.")
        has_tables = any(isinstance(sink, str) for sink in sinks.values())
        called = (app_id or _query_id(rows)) if has_tables else ""
        with _kept(rows):
            for view, sink in sinks.items():
                _write(_rows_of(rows, shape, view), number, sink, f"{called}/{view}")

    return write


@dataclass(frozen=True, slots=True)
class _Shape:
    """Columns of a view, or of the rows of many.

    Attributes:
        keys: Before ``window_start``.
        others: After ``window_end``.
        time: Type of ``window_end``, in SQL.
    """

    keys: tuple[str, ...]
    others: tuple[str, ...]
    time: str


def _shape_of_view(spark: SparkSession, view: str) -> _Shape:
    rows = spark.table(identifier(view))
    columns = rows.columns
    if not rows.isStreaming:
        raise PySparkValueError(f"stream: {view} is no stream; its clause has to read one.")
    at = next((index for index in range(len(columns) - 2) if tuple(columns[index : index + 2]) == BOUNDS), None)
    if at is None:
        raise PySparkValueError(
            f"stream: {view} has the columns {_listed(columns)}; there must be keys, window_start, window_end and "
            "others, in this order. A UNION ALL in SQL takes any columns."
        )
    return _Shape(tuple(columns[:at]), tuple(columns[at + 2 :]), rows.schema.fields[at + 1].dataType.simpleString())


def _shape_of_rows(rows: DataFrame) -> _Shape:
    """Keys, and the views of which there are structs."""
    columns = [field for field in rows.schema.fields if field.name != QUERY]
    names = [field.name for field in columns]
    at = next((index for index in range(len(names)) if tuple(names[index : index + 2]) == BOUNDS), None)
    views = [] if at is None else [field.name for field in columns[at + 2 :] if isinstance(field.dataType, StructType)]
    if at is None or not views or QUERY not in rows.columns:
        raise PySparkValueError(
            f"the columns are {_listed(rows.columns)}; those of sparkext.stream are query, keys, window_start, "
            "window_end, and a struct for each view."
        )
    return _Shape(tuple(names[:at]), tuple(views), columns[at].dataType.simpleString())


def _columns(shape: _Shape, view: str) -> list[str]:
    """What a row of a view is, as SQL over rows that are called `_ROWS`: a view may be called as the rows were."""
    return [*map(identifier, (*shape.keys, *BOUNDS)), f"{_ROWS}.{identifier(view)}.*"]


def _is_of(view: str) -> str:
    rows = f"{QUERY} = {string(view)}"
    return f"({QUERY} IS NULL OR {rows})" if view == LATE else rows  # a view may be called so, where none is NULL


def _rows_of(rows: DataFrame, shape: _Shape, view: str) -> DataFrame:
    return rows.where(_is_of(view)).alias(_ROWS).selectExpr(*_columns(shape, view))


def _write(rows: DataFrame, number: int, sink: Sink, transaction: str) -> None:
    if isinstance(sink, Path):
        rows.write.mode("overwrite").parquet(str(sink / f"batch={number}"))
    elif isinstance(sink, str):
        options = {"txnAppId": transaction, "txnVersion": str(number)}
        rows.write.mode("append").options(**options).saveAsTable(sink)
    else:
        sink(rows, number)


def _query_id(rows: DataFrame) -> str:
    """The id of the streaming query whose micro-batch this thread has."""
    try:
        found = rows.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
    except (AttributeError, PySparkException):  # over Spark Connect, there is no context
        found = None
    if found is None:
        raise PySparkValueError("split: app_id is needed here, as the id of the streaming query is not known.")
    return found


@contextmanager
def _kept(rows: DataFrame) -> Iterator[None]:
    """Rows that are computed once while they are read several times."""
    rows.persist()
    try:
        yield
    finally:
        rows.unpersist()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _lowered(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}
