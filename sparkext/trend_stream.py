"""Views over one stream that run as one operator, and change while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.errors import PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from sparkext.confs_for import confs_for
from sparkext.settings import STREAM_ON_CHANGE
from sparkext.stream_views import stream


class TrendStream:
    """Many views over one stream as one running streaming query.

    Attributes:
        query: That runs now.
        views: Names of the views that it computes.

    Args:
        views: As for `stream`.
        write: Gives the writer of a frame that `stream` has made: with sink, options, trigger, and a checkpoint.
        start: Starts it; ``lambda writer: writer.toTable("trends")`` for a table.
        spark: The session of the views; the active one if left out.
        history: ``history`` and ``since`` of `stream`.

    Raises:
        PySparkTypeError: As by `stream`.
        PySparkValueError: Likewise.
    """

    def __init__(
        self,
        views: Sequence[str],
        write: Callable[[DataFrame], DataStreamWriter],
        *,
        start: Callable[[DataStreamWriter], StreamingQuery] = DataStreamWriter.start,
        spark: SparkSession | None = None,
        **history: Any,
    ) -> None:
        self._spark = spark or SparkSession.active()
        self._write = write
        self._start = start
        self._history = history
        self._rows = stream(views, spark=self._spark, **history)
        self.views = tuple(views)
        self.query = start(write(self._rows))

    def alter(self, add: Sequence[str] = (), drop: Sequence[str] = ()) -> None:
        """Stop, and go on from the checkpoint with other views, or with views that mean something else by now.

        What the views mean now is planned first, so that an error leaves the query running. The views as they were
        come to the end of what there is to be read, so that no micro-batch is begun with these and repeated with
        others; then the new ones go on. From when on the rows of each are right is what docs/streaming.md says.

        Args:
            add: Names of further views.
            drop: Names of views that are not wanted any more.

        Raises:
            PySparkValueError: A view to add is there, or one to drop is not; or as by `stream`.
            StreamingQueryException: The query as it was has failed.
        """
        known = [name for name in add if name in self.views] + [name for name in drop if name not in self.views]
        if known:
            told = "is in the stream" if known[0] in self.views else "is not in the stream"
            raise PySparkValueError(f"alter: {known[0]} {told}; its views are {', '.join(self.views)}.")
        views = [*(name for name in self.views if name not in drop), *add]
        has_begun = any(progress.numInputRows for progress in self.query.recentProgress)
        history = {} if has_begun else self._history  # the first micro-batch takes it
        with confs_for(self._spark, {STREAM_ON_CHANGE: "allow"}):
            rows = stream(views, spark=self._spark, **history)
        self.query.stop()
        last = self._start(self._write(self._rows).trigger(availableNow=True))
        last.awaitTermination()
        self.query = self._start(self._write(rows))
        self._rows, self.views = rows, tuple(views)
