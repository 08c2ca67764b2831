"""Events of a partition, as they come, in the order that kernels want."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.udfs.sorting.held_events import HeldEvents
from sparkext.udfs.sorting.sorted_runs import MOST_RUNS, SortedRun, merged

MOST_BYTES = 48 << 20
"""Size of the events that a task holds in memory, one or two millions; to sort them takes as much again."""

ROWS = 1 << 15
"""Events that the kernel is given at once."""

_PIECE = 4 << 20
"""Size of the batches that are put together before values of keys are looked up."""


@dataclass(frozen=True, slots=True)
class Sort:
    """How a task sorts its events.

    Attributes:
        orders: Numbers of the further columns by which events of one time are ordered.
        most_bytes: Size of the events that are held in memory; what is beyond that goes to disk.
        by_value: Whether keys come in the order of their values, as Spark orders them; else in any.
    """

    orders: tuple[int, ...] = ()
    most_bytes: int = MOST_BYTES
    by_value: bool = False


def sorted_events(
    layout: Layout, sort: Sort, batches: Iterable[pa.RecordBatch]
) -> Generator[pa.RecordBatch, None, None]:
    """The events by group, key, chunk, time and further columns, with the columns of keys encoded.

    Keys are together, and so are groups. Events that are equal in all of this come in any order.

    Args:
        layout: Of the events.
        sort: How they are sorted.
        batches: The events in any order.
    """
    orders, most_bytes = sort.orders, sort.most_bytes
    block = most_bytes // (4 * MOST_RUNS)
    held = HeldEvents(layout, orders)
    runs: list[SortedRun] = []
    try:
        for piece in _pieces(batches, lambda: min(max(_PIECE, held.key_bytes), most_bytes // 4)):
            held.add(piece)
            if held.nbytes > most_bytes:
                runs.append(SortedRun(held.in_batches(held.order(by_value=True), ROWS), block))
                held.clear()
                if len(runs) == MOST_RUNS:
                    runs[:] = [SortedRun(merged(layout, orders, runs), block)]
        if runs and held.rows:
            runs.append(SortedRun(held.in_batches(held.order(by_value=True), ROWS), block))
            held.clear()
        if held.rows:
            if held.nbytes > _PIECE:
                pa.default_memory_pool().release_unused()  # what the batches were in that came
            yield from held.in_batches(held.order(sort.by_value), ROWS)
        for batch in merged(layout, orders, runs):
            for at in range(0, batch.num_rows, ROWS):
                yield batch.slice(at, ROWS)
    finally:
        for run in runs:
            run.close()


def _pieces(batches: Iterable[pa.RecordBatch], size: Callable[[], int]) -> Iterator[pa.RecordBatch]:
    """Batches put together until they have some size."""
    waiting: list[pa.RecordBatch] = []
    nbytes = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            nbytes += batch.nbytes
        if nbytes > size():
            yield pa.concat_batches(waiting)
            waiting, nbytes = [], 0
    if waiting:
        yield pa.concat_batches(waiting) if len(waiting) > 1 else waiting[0]
