"""Counters: what a pass sees of its events, for statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD, KernelPlan, class_words
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import Floats

LOOKED_AT = 8
"""One of so many batches is looked at for runs."""

OF_REGION = 3
"""How many numbers say how the bursts of a region went."""

OF_PASS = 5
"""How many numbers at the end say how a pass went, and nothing of its events."""


class Counters:
    """Counts the events of each class, the runs of these, the keys, and the time from first to last event of the keys.

    Args:
        plan: What the pass computes.
        keys: How many keys are looked at for NULL.

    Attributes:
        bursts: As `sparkext.udfs.workers.machine.Machine.bursts` has them, of the plan's own machine.
        by_fallback: How many events were processed by the plan's fallback.
        interpreted: How many were processed before kernels were compiled.
        alone: 1 when the process had to compile them for itself, since they cannot be kept; else 0.
    """

    def __init__(self, plan: KernelPlan, keys: int = 0) -> None:
        self._classes = np.zeros(len(plan.classes), np.int64)
        self._looked = np.zeros(len(plan.classes), np.int64)
        self._begun = np.zeros(len(plan.classes), np.int64)
        self._batches = 0
        self._before = np.zeros(class_words(len(plan.classes)), np.int64)
        self._keys = 0
        self._span = 0
        self._last: int | None = None
        self._rows = 0
        self._tied = 0
        self._last_is_tied = False
        self._nulls = np.zeros(keys, np.int64)
        self.bursts = np.zeros((len(plan.regions), OF_REGION), np.int64)
        self.by_fallback = 0
        self.interpreted = 0
        self.alone = 0

    def add(self, batch: Batch, rows: int, nulls: Sequence[int] = ()) -> None:
        """Count the first ``rows`` events of a batch, in which so many of each key are NULL."""
        words = batch.classes[:rows]
        counts = _of_classes(words, len(self._classes))
        self._classes += counts
        if self._batches % LOOKED_AT == 0:
            before = np.concatenate((self._before[None], words[:-1]))
            before[batch.new_key[:rows] != 0] = 0
            self._looked += counts
            self._begun += _of_classes(words & ~before, len(self._classes))
        self._batches += 1
        self._before = words[-1].copy()
        time, new_key = batch.time[:rows].astype(np.float64), batch.new_key[:rows]
        self._keys += int(np.count_nonzero(new_key))
        if self._last is not None and not new_key[0]:
            self._span += int(batch.time[0]) - self._last
        self._span += int(np.diff(time)[new_key[1:] == 0].sum())
        as_before = np.zeros(rows + 1, np.bool_)
        as_before[0] = self._last is not None and not new_key[0] and int(batch.time[0]) == self._last
        as_before[1:-1] = (batch.time[1:rows] == batch.time[: rows - 1]) & (new_key[1:] == 0)
        tied = as_before[1:] | as_before[:-1]
        self._tied += int(np.count_nonzero(tied)) + bool(as_before[0] and not self._last_is_tied)
        self._last_is_tied = bool(tied[-1])
        self._last = int(batch.time[rows - 1])
        self._rows += rows
        self._nulls += np.array(nulls, np.int64)

    def totals(self) -> Floats:
        """Events of each class, runs of each, keys, time in units of the time column, bursts, NULLs, and the pass.

        The last are the other attributes, rows, and rows that share key and time with another.
        Shape (2 · classes + 2 + regions · `OF_REGION` + keys + `OF_PASS`,).
        """
        of_pass = *self._nulls, self.by_fallback, self.interpreted, self.alone, self._rows, self._tied
        # What has not been looked at is believed to be as what has.
        runs = np.where(self._looked, self._begun / np.maximum(self._looked, 1), 1.0) * self._classes
        return np.array([*self._classes, *runs, self._keys, self._span, *self.bursts.flat, *of_pass], np.float64)


def _of_classes(words: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Per class, how many rows of words have its bit."""
    bits = [divmod(number, CLASSES_PER_WORD) for number in range(classes)]
    return np.array([np.count_nonzero(words[:, word] & (1 << bit)) for word, bit in bits], np.int64)


Reports: TypeAlias = "dict[int, Floats]"
"""What tasks have counted, by the number of what they report to."""


class ReportAccumulator:
    """How Spark is to add up the reports of a task: a `pyspark.AccumulatorParam` in all but name."""

    def zero(self, value: Reports) -> Reports:  # noqa: ARG002 - Spark calls it so
        """No report."""
        return {}

    def addInPlace(self, value1: Reports, value2: Reports) -> Reports:  # noqa: N802 - Spark calls it so
        """The sums."""
        return value1 | {n: value1[n] + totals if n in value1 else totals for n, totals in value2.items()}


class Report:
    """What a task calls with what it has counted."""

    def __init__(self, accumulator: Any, number: int) -> None:
        """Report to ``number`` by an accumulator of `Reports`."""
        self._accumulator = accumulator
        self._number = number

    def __call__(self, totals: Floats) -> None:
        """Say what has been counted."""
        self._accumulator.add({self._number: totals})
