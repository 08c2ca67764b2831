"""What is counted of completions without rows of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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

    @property
    def held(self) -> int:
        """How many changes are held."""
        return sum(self._held)

    def add(self, query: int, keys: Ints, first: Ints, last: Ints) -> None:
        """Count completions of a query, each in all windows from a first to a last one. All have shape (events,)."""
        # Completions that follow each other are mostly in the same windows.
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = (keys[1:] != keys[:-1]) | (first[1:] != first[:-1]) | (last[1:] != last[:-1])
        at = np.flatnonzero(is_new)
        times = np.diff(at, append=len(keys))
        begins = np.stack([keys[at], first[at], times], axis=1)
        ends = np.stack([keys[at], last[at] + 1, -times], axis=1)
        self.change(query, begins, ends)

    def change(self, query: int, *changes: Ints) -> None:
        """Take note of key, window and change of changes of a query. Shape (changes, 3) each."""
        self._changes[query] += changes
        self._held[query] += sum(map(len, changes))
        if self._held[query] > self._worth[query]:
            self._changes[query] = [_together(self._changes[query])]
            self._held[query] = len(self._changes[query][0])
            self._worth[query] = max(_MOST, 2 * self._held[query])

    def take(self, query: int, until: int) -> Ints:
        """Key, window and change of each change of a query for keys below ``until``, which are held no longer.

        They are in order of keys and windows. Shape (changes, 3).
        """
        if not self._held[query]:
            return np.zeros((0, 3), np.int64)
        held = _together(self._changes[query])
        is_over = held[:, 0] < until
        self._changes[query], self._held[query] = [held[~is_over]], int(np.count_nonzero(~is_over))
        return held[is_over]


class GroupCounts(NamedTuple):
    """What is counted per group and window. All arrays have shape (rows,).

    Attributes:
        keys: A key of the group.
        windows: Numbers of windows.
        completions: How many there are.
        distinct: How many keys have any.
    """

    keys: Ints
    windows: Ints
    completions: Ints
    distinct: Ints


def by_group(changes: Ints, groups: Ints, is_counted: NDArray[np.bool_]) -> GroupCounts:
    """Counts of groups by what has changed from one window to the next for their keys.

    Nothing is made of a window that lies between changes but a row of the result.

    Args:
        changes: As `Tallies.take` gives them.
        groups: Numbers of the groups of the keys of the changes, ascending. Shape (changes,).
        is_counted: Whether those keys count. Shape (changes,).
    """
    has_any = (np.cumsum(changes[:, 2]) > 0) & is_counted  # at the end of a key there is nothing left
    keys_change = np.diff(has_any.astype(np.int64), prepend=0)
    order = np.lexsort((changes[:, 1], groups))
    groups, windows = groups[order], changes[order, 1]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (groups[1:] != groups[:-1]) | (windows[1:] != windows[:-1])
    begins = np.flatnonzero(is_new)
    completions = np.cumsum(np.add.reduceat(changes[order, 2], begins))
    distinct = np.cumsum(np.add.reduceat(keys_change[order], begins))
    keys, windows = changes[order[begins], 0], windows[begins]
    lengths = np.diff(windows, append=windows[-1:])
    lengths[completions == 0] = 0
    rows = np.repeat(np.arange(len(begins)), lengths)
    begun = np.cumsum(lengths) - lengths
    return GroupCounts(
        keys[rows], windows[rows] + np.arange(len(rows)) - begun[rows], completions[rows], distinct[rows]
    )


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
