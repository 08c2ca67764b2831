"""Counters: what a pass sees of its events, for statistics."""

from __future__ import annotations

import numpy as np

from planner.kernel_plan import CLASSES_PER_WORD, KernelPlan
from udfs.batches import Batch
from udfs.program import Floats


class Counters:
    """Counts the events of each class, the keys, and the time from first to last event of the keys.

    Attributes:
        by_fallback: How many events were processed by the plan's fallback.
    """

    def __init__(self, plan: KernelPlan) -> None:
        self._classes = np.zeros(len(plan.classes), np.int64)
        self._keys = 0
        self._span = 0
        self._last: int | None = None
        self.by_fallback = 0

    def add(self, batch: Batch, rows: int) -> None:
        """Count the first ``rows`` events of a batch."""
        words = batch.classes[:rows]
        for place in range(len(self._classes)):
            word, bit = divmod(place, CLASSES_PER_WORD)
            self._classes[place] += np.count_nonzero(words[:, word] & (1 << bit))
        time, new_key = batch.time[:rows].astype(np.float64), batch.new_key[:rows]
        self._keys += int(np.count_nonzero(new_key))
        if self._last is not None and not new_key[0]:
            self._span += int(batch.time[0]) - self._last
        self._span += int(np.diff(time)[new_key[1:] == 0].sum())
        self._last = int(batch.time[rows - 1])

    def totals(self) -> Floats:
        """Events of each class, keys, time in units of the time column, events by fallback. Shape (classes + 3,)."""
        return np.array([*self._classes, self._keys, self._span, self.by_fallback], np.float64)


class Added:
    """How Spark is to add up what the tasks have counted: a `pyspark.AccumulatorParam` in all but name."""

    def zero(self, value: Floats) -> Floats:
        """Nothing, in the shape of ``value``."""
        return np.zeros_like(value)

    def addInPlace(self, value1: Floats, value2: Floats) -> Floats:  # noqa: N802 - Spark calls it so
        """The sum."""
        return value1 + value2
