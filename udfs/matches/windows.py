"""In which windows matches are."""

from __future__ import annotations

import numpy as np

from sparkext.planner.patterns.query import Window
from sparkext.udfs.state.program import Ints


def windows_of(window: Window | None, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Per match, the number of the first window that holds its first and its last event, and how many do.

    Args:
        window: Of the query.
        first: Time of the first event of each match.
        last: Of its last.
    """
    if window is None:
        return np.zeros(len(first), np.int64), np.ones(len(first), np.int64)
    earliest = first_open(window, last)
    return earliest, np.maximum(first // window.slide - earliest + 1, 0)


def first_open(window: Window, times: Ints) -> Ints:
    """The number of the first window that is not over at some times."""
    numbers, since = np.divmod(times, window.slide)
    earliest: Ints = numbers - (window.within - 1 - since) // window.slide
    return earliest
