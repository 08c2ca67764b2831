"""The events of a batch as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, class_words
from sparkext.udfs.tables.program import Flags, Floats, Ints


class Batch(NamedTuple):
    """Events of one Arrow batch, sorted by key and time.

    Attributes:
        time: Microseconds, days or plain numbers. Shape (rows,).
        chunk: Number of the chunk of time that an event is looked at for; empty when keys are not cut. Shape (rows,).
        new_key: 1 where an event has another key than the one before. Shape (rows,).
        new_group: 1 where it has another output group. Shape (rows,).
        classes: Bits of the classes an event is of. Shape (rows, words).
        valid: 0 where an attribute is NULL. Shape (columns, rows).
        numbers: Attributes as doubles. Shape (columns, rows).
        key_high, key_low: Attributes as order keys, or numbers of equal values. Shape (columns, rows).

    The last four may have further rows: events of earlier batches that are reached back to.
    """

    time: Ints
    chunk: Ints
    new_key: Flags
    new_group: Flags
    classes: Ints
    valid: Flags
    numbers: Floats
    key_high: Ints
    key_low: Ints


def no_batch(plan: KernelPlan) -> Batch:
    """A batch without events."""
    flags, ints = np.zeros(0, np.uint8), np.zeros(0, np.int64)
    columns, words = len(plan.columns), class_words(len(plan.classes))
    return Batch(
        time=ints,
        chunk=ints,
        new_key=flags,
        new_group=flags,
        classes=np.zeros((0, words), np.int64),
        valid=np.zeros((columns, 0), np.uint8),
        numbers=np.zeros((columns, 0), np.float64),
        key_high=np.zeros((columns, 0), np.int64),
        key_low=np.zeros((columns, 0), np.int64),
    )
