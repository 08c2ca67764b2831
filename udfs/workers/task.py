"""What a task in a Python worker does besides its work, so that tasks of some milliseconds take no longer than that."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import TypeAlias

import pyarrow as pa

from sparkext.udfs.workers.sockets import acknowledge_at_once

ArrowFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]]

_MANY = 10_000
"""So many objects Python's garbage collector goes through in about 5 ms."""


def as_task(function: ArrowFunction) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a partition as Spark is to call it, with the same results and the same name."""

    @wraps(function)
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        acknowledge_at_once()
        yield from function(batches)
        leave_loaded()

    return task


def leave_loaded() -> None:
    """Have the garbage collector leave alone what the process has loaded, if that is much.

    After each task PySpark has a worker collect what is no longer used, and the next task waits for it: with numba and
    a kernel loaded that took 50 to 90 ms.
    """
    if len(gc.get_objects(generation=2)) > _MANY:
        gc.collect()
        gc.freeze()
