"""Where the rows of one time, of one key, and within some time begin and end, in rows sorted by key and time."""

from __future__ import annotations

import numpy as np

from sparkext.planner.patterns.query import Window
from sparkext.udfs.matches.windows_of_moments import windows_of
from sparkext.udfs.tables.program import Ints

_MOST = 1 << 62


class Moments:
    """Times of rows that are sorted by key and time, with the rows of equal times and the windows around them.

    Args:
        keys: Number of the key of each row, ascending. Shape (rows,).
        times: Shape (rows,).

    Attributes:
        keys, times: As given.
        begin: Per row, the first row of its key and time.
        end: Per row, the one after the last row of its key and time.
    """

    def __init__(self, keys: Ints, times: Ints) -> None:
        self.keys, self.times = keys, times
        is_new_key = np.diff(keys, prepend=keys[0] - 1) != 0
        self._key_begin, self._key_end = _stretches(is_new_key)
        is_new = is_new_key.copy()
        is_new[1:] |= times[1:] != times[:-1]
        self.begin, self.end = _stretches(is_new)
        self._known: dict[int | None, tuple[Ints, Ints]] = {None: (self._key_begin, self._key_end)}
        self._windows: dict[Window | None, tuple[Ints, Ints]] = {}

    def bounds(self, within: int | None) -> tuple[Ints, Ints]:
        """Per row, the first row of its key that is less than ``within`` before it, and the first that is not after."""
        if within not in self._known:
            assert within is not None
            self._known[within] = self._near(within)
        return self._known[within]

    def windows_of(self, window: Window | None, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Per match, the number of the first window that holds its first and its last event, and how many do.

        Args:
            window: Of the query.
            first: Row of the first event of each match.
            last: Row of the last one.
        """
        if window not in self._windows:
            self._windows[window] = windows_of(window, self.times)
        earliest, latest = self._windows[window]
        begins = earliest[last]
        return begins, np.maximum(latest[first] - begins + 1, 0)

    def _near(self, within: int) -> tuple[Ints, Ints]:
        if not len(self.keys):
            return self._key_begin, self._key_end
        since_first = (self.times - self.times[self._key_begin]).view(np.uint64)
        first, span = int(self.keys[0]), int(since_first.max())
        stride = span + within + 1
        if (int(self.keys[-1]) - first + 1) * stride < _MOST:
            points = (self.keys - first) * stride + since_first.view(np.int64)
            bounds = np.searchsorted(points, points - within, "right"), np.searchsorted(points, points + within, "left")
            return bounds[0].astype(np.int64), bounds[1].astype(np.int64)
        since, until = self._key_begin.copy(), self._key_end.copy()
        length = np.uint64(within)
        for begin in np.unique(self._key_begin):
            rows = slice(int(begin), int(self._key_end[begin]))
            offsets = since_first[rows]
            later = offsets + length
            ends = np.searchsorted(offsets, later, "left")
            until[rows] = begin + np.where(later < offsets, len(offsets), ends)
            begins = np.searchsorted(offsets, offsets - length, "right")
            since[rows] = begin + np.where(offsets < length, 0, begins)
        return since, until


def _stretches(is_new: np.ndarray) -> tuple[Ints, Ints]:
    """Per row, where its stretch begins and ends."""
    begins = np.flatnonzero(is_new)
    lengths = np.diff(begins, append=len(is_new))
    return np.repeat(begins, lengths), np.repeat(begins + lengths, lengths)
