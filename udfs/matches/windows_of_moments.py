"""In which windows events and matches are."""

from __future__ import annotations

import numpy as np

from sparkext.planner.patterns.query import Window
from sparkext.udfs.tables.program import Ints


def windows_of(window: Window | None, times: Ints) -> tuple[Ints, Ints]:
    """The number of the first window and of the last window that some times are in.

    Where there are gaps between windows, the last may be before the first. A match is in those from the first of its
    last event to the last of its first event.
    """
    if window is None:
        nothing = np.zeros(len(times), np.int64)
        return nothing, nothing
    return first_open(window, times), times // window.slide


def first_open(window: Window, times: Ints) -> Ints:
    """The number of the first window that is not over at some times."""
    numbers, since = np.divmod(times, window.slide)
    earliest: Ints = numbers - (window.within - 1 - since) // window.slide
    return earliest
