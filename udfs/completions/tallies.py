"""What is counted of completions without rows of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CompletionQuery
from sparkext.udfs.tables.program import Ints

_MOST = 1 << 16
"""Changes that are held before equal ones are added up."""


class Tallies:
    """Numbers of completions per key and window, by where they change from one window to the next.

    Args:
        queries: Of the plan.
    """

    def __init__(self, queries: Sequence[CompletionQuery]) -> None:
        nothing = np.zeros((0, 3), np.int64)
        self._changes: list[list[Ints]] = [[nothing] for _ in queries]
        self._held = [0 for _ in queries]
        self._worth = [_MOST for _ in queries]

    def add(self, query: int, keys: Ints, first: Ints, last: Ints) -> None:
        """Count completions of a query, each in all windows from a first to a last one. All have shape (events,)."""
        # Completions that follow each other are mostly in the same windows.
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = (keys[1:] != keys[:-1]) | (first[1:] != first[:-1]) | (last[1:] != last[:-1])
        at = np.flatnonzero(is_new)
        times = np.diff(at, append=len(keys))
        begins = np.stack([keys[at], first[at], times], axis=1)
        ends = np.stack([keys[at], last[at] + 1, -times], axis=1)
        self._changes[query] += [begins, ends]
        self._held[query] += 2 * len(at)
        if self._held[query] > self._worth[query]:
            self._changes[query] = [_together(self._changes[query])]
            self._held[query] = len(self._changes[query][0])
            self._worth[query] = max(_MOST, 2 * self._held[query])

    def take(self, query: int, until: int) -> tuple[Ints, Ints, Ints]:
        """Keys below ``until``, windows and counts of a query; they are not counted any more. Each of shape (rows,)."""
        if not self._held[query]:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing
        held = _together(self._changes[query])
        is_over = held[:, 0] < until
        self._changes[query], self._held[query] = [held[~is_over]], int(np.count_nonzero(~is_over))
        over = held[is_over]
        counts = np.cumsum(over[:, 2])
        lengths = np.diff(over[:, 1], append=over[-1:, 1])
        lengths[counts == 0] = 0
        rows = np.repeat(np.arange(len(over)), lengths)
        begun = np.cumsum(lengths) - lengths
        return over[rows, 0], over[rows, 1] + np.arange(len(rows)) - begun[rows], counts[rows]


def _together(changes: Sequence[Ints]) -> Ints:
    """Changes in order of key and window, one for each."""
    held = np.concatenate(changes)
    if not len(held):
        return held
    held = held[np.lexsort((held[:, 1], held[:, 0]))]
    is_new = np.ones(len(held), np.bool_)
    is_new[1:] = (np.diff(held[:, :2], axis=0) != 0).any(axis=1)
    begins = np.flatnonzero(is_new)
    summed = held[begins]
    summed[:, 2] = np.add.reduceat(held[:, 2], begins)
    return summed
