"""Joins: partial matches of two steps put together where their events are in order of time and near each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import MatchStep
from sparkext.udfs.matches.moments import Moments
from sparkext.udfs.matches.pairs import numbered
from sparkext.udfs.tables.program import Ints

PartialMatches: TypeAlias = "list[Ints]"
"""Per event of a step, the row that it is. Each has shape (partial matches,)."""

BLOCK = 1 << 18
"""Pairs of partial matches that are looked at, at once."""


def joined(
    step: MatchStep, left: PartialMatches, right: PartialMatches, moments: Moments, within: int | None
) -> Iterator[PartialMatches]:
    """The partial matches of a step out of those of its children, in blocks.

    Args:
        step: One with children.
        left: Of the first child.
        right: Of the second.
        moments: Of all rows.
        within: How much less than that the last event is after the first; None for any time.
    """
    since, until = moments.bounds(within)
    of_left = list(step.indexes)
    of_right = [index for index in range(len(step.classes)) if index not in step.indexes]
    order = np.argsort(right[0], kind="stable")
    right = [rows[order] for rows in right]
    # What comes right before and right after the first event of the right one, as far as the left one says.
    first = of_right[0]
    before, after = first - 1, next((index for index in of_left if index > first), None)
    low = moments.end[left[of_left.index(before)]] if first else since[left[-1]]
    high = until[left[0]] if after is None else moments.begin[left[of_left.index(after)]]
    begins, ends = np.searchsorted(right[0], low), np.searchsorted(right[0], high)
    counts = np.maximum(ends - begins, 0)
    for lefts, numbers in numbered(counts, BLOCK):
        rights = begins[lefts] + numbers
        rows_by_step: PartialMatches = [lefts] * len(step.classes)
        for index, rows in zip(of_left, left, strict=True):
            rows_by_step[index] = rows[lefts]
        for index, rows in zip(of_right, right, strict=True):
            rows_by_step[index] = rows[rights]
        if len(of_right) > 1 or (first and after is not None):
            rows_by_step = _in_order(rows_by_step, moments, until)
        yield rows_by_step


def _in_order(matches: PartialMatches, moments: Moments, until: Ints) -> PartialMatches:
    """Those whose events are in order of time and near each other."""
    holds = matches[-1] < until[matches[0]]
    for earlier, later in pairwise(matches):
        holds &= later >= moments.end[earlier]
    return [rows[holds] for rows in matches]
