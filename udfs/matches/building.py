"""Building: the matches of some rows, step by step, added to the totals of their queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD, Matches, MatchRoot
from sparkext.planner.patterns.query import Window
from sparkext.udfs.matches.joins import PartialMatches, joined
from sparkext.udfs.matches.match_totals import Totals
from sparkext.udfs.matches.moments import Moments
from sparkext.udfs.tables.batch import Batch


class TooManyMatchesError(Exception):
    """There are too many partial matches of a query in a key and window.

    Attributes:
        bank: Of the query.
        key: Number of the key.
        window: Number of the window.
    """

    def __init__(self, bank: int, key: int, window: int) -> None:
        super().__init__(f"bank {bank}, key {key}, window {window}")
        self.bank, self.key, self.window = bank, key, window


class Building:
    """Builds the matches of some queries.

    Args:
        matches: Of the plan.
        banks: Of the queries for which to build.
    """

    def __init__(self, matches: Matches, banks: Collection[int]) -> None:
        self._steps = matches.steps
        self._most = matches.most
        self._roots = [root for root in matches.roots if root.bank in banks]
        self._users: list[list[MatchRoot]] = [[] for _ in self._steps]
        for root in self._roots:
            todo = [root.step]
            while todo:
                step = todo.pop()
                self._users[step].append(root)
                todo += self._steps[step].children or ()
        self._needed = {
            child
            for step, users in zip(self._steps, self._users, strict=True)
            if users
            for child in step.children or ()
        }
        self._within = [longest(users) for users in self._users]

    @property
    def within(self) -> int | None:
        """Longest window of a query; None if one has no bounds."""
        return longest(self._roots)

    def add(self, batch: Batch, moments: Moments, end: int, totals: Mapping[int, Totals]) -> None:
        """Add the matches whose first events are before a row to the totals of their queries.

        Args:
            batch: Rows sorted by key and time.
            moments: Of the rows.
            end: The row.
            totals: Of each query, by its bank.

        Raises:
            TooManyMatchesError: There are too many partial matches.
        """
        built: dict[int, PartialMatches] = {}
        for number, users in enumerate(self._users):
            if not users:
                continue
            starting = [root for root in users if root.step == number]
            if number in self._needed:
                matches = self._all(number, self._blocks(number, built, moments, batch, None), moments)
                built[number] = matches
                is_first = matches[0] < end
                blocks = iter([matches if is_first.all() else [rows[is_first] for rows in matches]])
            else:
                blocks = self._blocks(number, built, moments, batch, end)
            for block in blocks if starting else ():
                for root in starting:
                    self._add(root, block, moments, batch, totals[root.bank])

    def _blocks(
        self, number: int, built: Mapping[int, PartialMatches], moments: Moments, batch: Batch, end: int | None
    ) -> Iterator[PartialMatches]:
        """Partial matches of a step, whose first events are before a row if one is given."""
        step = self._steps[number]
        if step.children is None:
            word, bit = divmod(step.classes[0], CLASSES_PER_WORD)
            rows = np.flatnonzero(batch.classes[:, word] & (1 << bit))
            yield [rows if end is None else rows[rows < end]]
            return
        left, right = (built[child] for child in step.children)
        if end is not None and 0 in step.indexes:
            left = _before(left, end)
        elif end is not None:
            right = _before(right, end)
        if len(left[0]) and len(right[0]):
            yield from joined(step, left, right, moments, self._within[number])

    def _all(self, number: int, blocks: Iterator[PartialMatches], moments: Moments) -> PartialMatches:
        """All partial matches of a step, unless there are too many of them in some window."""
        nothing: PartialMatches = [np.zeros(0, np.int64) for _ in self._steps[number].classes]
        parts, count, looked = [nothing], 0, self._most
        for block in blocks:
            parts.append(block)
            count += len(block[0])
            if count > looked:
                parts = [_together(parts)]
                self._check(number, parts[0], moments)
                looked = 2 * count
        matches = _together(parts)
        if count > self._most:
            self._check(number, matches, moments)
        return matches

    def _check(self, number: int, matches: PartialMatches, moments: Moments) -> None:
        """Look whether there are too many partial matches in a window of a query; single events are none."""
        if self._steps[number].children is None:
            return
        for root in dict.fromkeys(self._users[number]):
            key, window, count = most_in_a_window(root.window, matches, moments)
            if count > self._most:
                raise TooManyMatchesError(root.bank, key, window)

    def _add(self, root: MatchRoot, matches: PartialMatches, moments: Moments, batch: Batch, totals: Totals) -> None:
        totals.add(root, matches, moments, batch)
        is_joined = self._steps[root.step].children is not None
        if is_joined and len(totals.matches) and totals.matches.max() > self._most:
            at = int(totals.matches.argmax())
            raise TooManyMatchesError(root.bank, int(totals.keys[at]), int(totals.windows[at]))


def longest(roots: Collection[MatchRoot]) -> int | None:
    """Length of the longest window; None if there is one without bounds, or none at all."""
    windows = [root.window for root in roots]
    return (
        max((window.within for window in windows if window is not None), default=None) if None not in windows else None
    )


def most_in_a_window(window: Window | None, matches: PartialMatches, moments: Moments) -> tuple[int, int, int]:
    """The key and window that hold most partial matches, and how many."""
    earliest, counts = moments.windows_of(window, matches[0], matches[-1])
    keys = moments.keys[matches[0]]
    held = counts > 0
    keys, begins, ends = keys[held], earliest[held], (earliest + counts)[held]
    if not len(keys):
        return 0, 0, 0
    all_keys, windows = np.append(keys, keys), np.append(begins, ends)
    changes = np.append(np.ones(len(keys), np.int64), np.full(len(keys), -1))
    order = np.lexsort((changes, windows, all_keys))
    open_then = np.cumsum(changes[order])
    at = int(open_then.argmax())
    return int(all_keys[order][at]), int(windows[order][at]), int(open_then[at])


def _before(matches: PartialMatches, end: int) -> PartialMatches:
    """The partial matches whose first events are before a row."""
    is_before = matches[0] < end
    return [rows[is_before] for rows in matches]


def _together(parts: list[PartialMatches]) -> PartialMatches:
    return parts[0] if len(parts) == 1 else [np.concatenate(rows) for rows in zip(*parts, strict=True)]
