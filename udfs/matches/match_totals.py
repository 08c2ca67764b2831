"""Totals of a query by key and window, as far as its matches have been built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import SCALE_BITS, Arithmetic, Field, MatchContribution, MatchRoot
from sparkext.udfs.arrow.combined import added_up
from sparkext.udfs.arrow.result_batch import FieldValues
from sparkext.udfs.matches.joins import PartialMatches
from sparkext.udfs.matches.moments import Moments
from sparkext.udfs.matches.pairs import numbered
from sparkext.udfs.tables.batch import Batch
from sparkext.udfs.tables.program import NO_KEY, Floats, Ints

_BIG = 2.0**256
_LANES = 1 << 19
"""Pairs of match and window that are added up at once."""


class Totals:
    """Totals of one query, by key and window.

    Args:
        fields: Of the pool.
        numbers: Which of them the query has.

    Attributes:
        keys: Numbers of keys, ascending. Shape (totals,).
        windows: Numbers of windows, ascending for each key. Shape (totals,).
        matches: How many there are. Shape (totals,).
        values: Per field of the query, by its number.
    """

    def __init__(self, fields: Sequence[Field], numbers: Sequence[int]) -> None:
        self._arithmetic = {number: fields[number].arithmetic for number in numbers}
        nothing = np.zeros(0, np.int64)
        self.keys = self.windows = self.matches = nothing
        self.values = {number: FieldValues(nothing, nothing, np.zeros(0)) for number in numbers}

    def copy(self) -> Totals:
        """The same totals; what is added to one is not added to the other."""
        copied = object.__new__(Totals)
        copied._arithmetic = self._arithmetic
        copied.keys, copied.windows, copied.matches = self.keys, self.windows, self.matches
        copied.values = dict(self.values)
        return copied

    def add(self, root: MatchRoot, rows_of_matches: PartialMatches, moments: Moments, batch: Batch) -> None:
        """Add what matches contribute, in all windows that they are in.

        Args:
            root: What they are matches of, and what they add to.
            rows_of_matches: The matches, by rows.
            moments: Of the rows.
            batch: The rows.
        """
        earliest, counts = moments.windows_of(root.window, rows_of_matches[0], rows_of_matches[-1])
        for matches, windows in _with_windows(earliest, counts):
            keys = moments.keys[rows_of_matches[0][matches]]
            if not _are_sorted(keys, windows):
                order = np.lexsort((windows, keys))
                keys, windows, matches = keys[order], windows[order], matches[order]
            begins = _begins(keys, windows)
            values = {
                contribution.field: added_up(
                    self._arithmetic[contribution.field],
                    _contributed(
                        contribution,
                        self._arithmetic[contribution.field],
                        [rows[matches] for rows in rows_of_matches],
                        batch,
                    ),
                    begins * (1 if contribution.positions is None else max(1, len(contribution.positions))),
                )
                for contribution in root.added
            }
            self._merge(keys[begins], windows[begins], np.diff(begins, append=len(keys)), values)

    def _merge(self, keys: Ints, windows: Ints, matches: Ints, values: dict[int, FieldValues]) -> None:
        """Add totals to those that there are."""
        keys, windows = np.append(self.keys, keys), np.append(self.windows, windows)
        order = np.lexsort((windows, keys))
        begins = _begins(keys[order], windows[order])
        self.keys, self.windows = keys[order][begins], windows[order][begins]
        self.matches = np.add.reduceat(np.append(self.matches, matches)[order], begins)
        for number, arithmetic in self._arithmetic.items():
            old_and_new = (np.append(old, new) for old, new in zip(self.values[number], values[number], strict=True))
            high, low, numbers = old_and_new
            is_number = arithmetic is Arithmetic.NUMBER
            held = FieldValues(high[order], low if is_number else low[order], numbers[order] if is_number else numbers)
            self.values[number] = added_up(arithmetic, held, begins)

    def take(self, is_taken: np.ndarray) -> tuple[Ints, Ints, dict[int, FieldValues]]:
        """Keys, windows and values of some totals, which are no more."""
        taken = self.keys[is_taken], self.windows[is_taken], _where(self.values, is_taken)
        left = ~is_taken
        self.keys, self.windows, self.matches = self.keys[left], self.windows[left], self.matches[left]
        self.values = _where(self.values, left)
        return taken


def _where(values: dict[int, FieldValues], is_taken: np.ndarray) -> dict[int, FieldValues]:
    return {
        number: FieldValues(
            held.high[is_taken],
            held.low[is_taken[: len(held.low)]],
            held.numbers[is_taken[: len(held.numbers)]],
        )
        for number, held in values.items()
    }


def _are_sorted(keys: Ints, windows: Ints) -> bool:
    later, is_same_key = keys[1:] > keys[:-1], keys[1:] == keys[:-1]
    return bool((later | (is_same_key & (windows[1:] >= windows[:-1]))).all())


def _begins(keys: Ints, windows: Ints) -> Ints:
    """Where another key or window begins."""
    is_new = np.ones(len(keys), np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (windows[1:] != windows[:-1])
    return np.flatnonzero(is_new)


def _with_windows(earliest: Ints, counts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of match and window, as many at once as there is room for."""
    if len(counts) <= _LANES and (counts == 1).all():
        yield np.arange(len(counts)), earliest
        return
    for matches, numbers in numbered(counts, _LANES):
        yield matches, earliest[matches] + numbers


def _contributed(
    added: MatchContribution, arithmetic: Arithmetic, rows_of_matches: PartialMatches, batch: Batch
) -> FieldValues:
    """What each match adds to a field: for each of the events that do, or once. Shape (matches · events,)."""
    if added.positions is None:
        return _counted(np.ones(len(rows_of_matches[0]), np.int64), arithmetic)
    if not added.positions:
        nothing = np.zeros(len(rows_of_matches[0]), np.int64)
        if arithmetic is Arithmetic.EXTREME:
            return FieldValues(nothing + NO_KEY[0], nothing + NO_KEY[1])
        return _counted(nothing, arithmetic)
    rows = np.stack([rows_of_matches[position] for position in added.positions], axis=1).ravel()
    if added.column is None:
        return _counted(np.ones(len(rows), np.int64), arithmetic)
    is_value = batch.valid[added.column, rows] != 0
    if arithmetic is Arithmetic.EXTREME:
        high, low = batch.key_high[added.column, rows], batch.key_low[added.column, rows]
        return FieldValues(np.where(is_value, high, NO_KEY[0]), np.where(is_value, low, NO_KEY[1]))
    if not added.weighted:
        return _counted(is_value.astype(np.int64), arithmetic)
    return _scaled(np.where(is_value, batch.numbers[added.column, rows], 0.0))


def _counted(counts: Ints, arithmetic: Arithmetic) -> FieldValues:
    if arithmetic is Arithmetic.NUMBER:
        return FieldValues(np.zeros(len(counts), np.int64), numbers=counts.astype(np.float64))
    return FieldValues(np.zeros(len(counts), np.int64), counts)


def _scaled(numbers: Floats) -> FieldValues:
    """Doubles as scaled ones, so that their sums neither overflow nor vanish."""
    sizes = np.abs(numbers)
    is_finite = np.isfinite(sizes)
    scales = ((sizes >= _BIG) & is_finite).astype(np.int64) - ((sizes < 1 / _BIG) & (sizes > 0))
    if not scales.any():
        return FieldValues(scales, numbers=numbers)
    return FieldValues(scales, numbers=np.ldexp(numbers, -SCALE_BITS * scales))
