"""Sorted runs of events on disk, and how they are merged."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.sorting.held_events import HeldEvents, with_own_keys
from sparkext.udfs.tables.program import Ints

MOST_RUNS = 32
"""Runs that are merged at once; when there are so many they become one."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class NoRoomError(OSError):
    """Events that do not fit into memory do not fit on the disk either."""


def directory() -> Path:
    """Where runs are: one of the directories that Spark has for such files, else the temporary one."""
    named = [Path(text) for text in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if text]
    usable = [path for path in named if os.access(path, os.W_OK | os.X_OK)]
    return usable[os.getpid() % len(usable)] if usable else Path(tempfile.gettempdir())


class SortedRun:
    """Events of a task in order, in a file that has no name, so that it is gone with the process.

    Args:
        batches: The events, with encoded keys.
        block: Size of what is read of them at once.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch], block: int) -> None:
        where = directory()
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=where)  # noqa: SIM115
            try:
                self._write(batches, block)
            except BaseException:
                self.close()
                raise
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            raise _no_room(error, where) from error
        self._reader = pa.ipc.open_stream(self._file)

    def _write(self, batches: Iterable[pa.RecordBatch], block: int) -> None:
        stream: pa.RecordBatchStreamWriter | None = None
        for batch in batches:
            whole = with_own_keys(batch)
            stream = stream or pa.ipc.new_stream(self._file, whole.schema)
            rows = max(1, whole.num_rows * block // max(1, whole.nbytes))
            for at in range(0, whole.num_rows, rows):
                stream.write_batch(with_own_keys(whole.slice(at, rows)))
        assert stream is not None
        stream.close()
        self._file.flush()
        self._file.seek(0)

    def read(self) -> pa.RecordBatch | None:
        """The next events; None after the last, with which the file is gone."""
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            self.close()
            return None

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def _no_room(error: OSError, where: Path) -> NoRoomError:
    problem = f"{os.strerror(error.errno or 0)}: the events of a task, sorted, do not fit into {where}"
    free = f", where {shutil.disk_usage(where).free >> 20:,} MB are free" if where.is_dir() else ""
    remedy = "spark.local.dir names directories with more room"
    return NoRoomError(error.errno, f"{problem}{free}; {remedy}")


def merged(layout: Layout, orders: Sequence[int], runs: Sequence[SortedRun]) -> Iterator[pa.RecordBatch]:
    """The events of all runs in order, a few batches of each in memory at a time; closes the runs.

    Args:
        layout: Of the events.
        orders: See `HeldEvents`.
        runs: With at least one event each.
    """
    try:
        yield from _merged(layout, orders, runs)
    finally:
        for run in runs:
            run.close()


def _merged(layout: Layout, orders: Sequence[int], runs: Sequence[SortedRun]) -> Iterator[pa.RecordBatch]:
    """As `merged`. Of each run that goes on a row is in memory; what is not after any such row can be written out."""
    left_over: pa.RecordBatch | None = None
    of_rest: Ints = np.zeros(0, np.int64)
    is_over = np.zeros(len(runs), np.bool_)
    typical = 0
    while True:
        held, run_of = HeldEvents(layout, orders), [of_rest]
        if left_over is not None:
            held.add(left_over)
        waiting = np.bincount(of_rest, minlength=len(runs))
        for number in np.flatnonzero(~is_over & (2 * waiting <= typical)).tolist():
            batch = runs[number].read()
            if batch is None:
                is_over[number] = True
            else:
                typical = max(typical, batch.num_rows)
                held.add(batch)
                run_of.append(np.full(batch.num_rows, number))
        if not held.rows:
            return
        order = held.order(by_value=True)
        in_order = np.concatenate(run_of)[order]
        last = np.zeros(len(runs), np.int64)
        last[in_order] = np.arange(len(order))
        end = len(order) if is_over.all() else int(last[~is_over].min()) + 1
        yield held.take(order[:end])
        left_over = with_own_keys(held.take(order[end:])) if end < len(order) else None
        of_rest = in_order[end:]
