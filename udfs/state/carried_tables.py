"""What is carried of keys from one pass to the next, as flat arrays: windows by panes go on from it without events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparkext.udfs.state.fresh import totals_of
from sparkext.udfs.tables import columns as col
from sparkext.udfs.tables.program import ALWAYS_YET, Ints, Program, Totals


class Left(NamedTuple):
    """What a pass leaves of keys.

    Attributes:
        lanes: Per key, what all of its events since the front do to totals: those lanes of each window's cells that the
            front is multiplied with.
        flags: Whether these are wide, and whether they are scaled. Shape (keys, 2).
        entries: Per window by panes and key, begin and end of the entries of its front. Shape (windows, keys, 2).
        newest: Per entry, the newest window that it is for.
        values: Per entry, totals of evaluations. All have as much room as the window with the most of them needs.
    """

    lanes: Totals
    flags: Ints
    entries: Ints
    newest: Ints
    values: Totals


class Carried(NamedTuple):
    """What is carried of keys into a pass, and what it leaves of them. Keys are numbered as they come.

    Attributes:
        windows: Per window by panes, what becomes of it, the last window that is written at the end of a key, the
            newest one that fronts are for, and its first lane among those of a key. Shape (windows, 4).
        now: Number of the key under way, -1 before the first, and how many entries have been left.
        of: Per window and key, which of the keys in ``came.lanes`` it is; -1 for none. Shape (windows, keys).
        came: What came of keys.
        left: What is left of them.
        sizes: How many lanes there are of a key, and how many values of an entry.
    """

    windows: Ints
    now: Ints
    of: Ints
    came: Left
    left: Left
    sizes: Ints


def no_left(windows: int, keys: int = 0, lanes: int = 0, entries: int = 0, values: int = 0) -> Left:
    """Room for what a pass leaves.

    Args:
        windows: How many windows are computed by panes.
        keys: How many keys there are.
        lanes: How many lanes of each.
        entries: How many entries of fronts at most.
        values: How many values of each.
    """
    return Left(
        lanes=_totals(keys * lanes),
        flags=np.zeros((keys, 2), np.int64),
        entries=np.zeros((windows, keys, 2), np.int64),
        newest=np.zeros(entries, np.int64),
        values=_totals(entries * values),
    )


def nothing_carried(windows: int) -> Carried:
    """For passes that have all events of their windows.

    Args:
        windows: How many windows are computed by panes.
    """
    return Carried(
        windows=np.zeros((windows, col.CARRIED_COLUMNS), np.int64),
        now=np.array([-1, 0], np.int64),
        of=np.zeros((windows, 0), np.int64),
        came=no_left(windows),
        left=no_left(windows),
        sizes=np.zeros(2, np.int64),
    )


def _totals(size: int) -> Totals:
    return totals_of(np.zeros(size, np.int64), np.zeros(size, np.int64))


@dataclass(frozen=True, slots=True)
class CarriedWindows:
    """What a pass is to do with a kind of windows by panes.

    Attributes:
        begins: Whether it leaves a front; else it goes on from one.
        first: The first window that has not been written.
        last: The last one that it writes, if it goes on.
        newest: The last window that the front is for.
    """

    begins: bool
    first: int
    last: int
    newest: int

    @property
    def mode(self) -> int:
        """By the name of the kernel."""
        return col.BEGINS if self.begins else col.GOES_ON

    @property
    def latest(self) -> int:
        """The last window that opens."""
        return self.newest if self.begins else ALWAYS_YET


def lanes_of(windows: Ints, of: Ints, program: Program) -> list[int]:
    """Per window by panes, its first lane among those that are left of a key; then how many lanes that are.

    Args:
        windows: `sparkext.udfs.state.pane_tables.Panes`, as are the next.
        of: Likewise.
        program: The plan.
    """
    lanes = [0] * (len(windows) + 1)
    for number, row in enumerate(of.tolist()):
        if row >= 0:
            block = program.windows[number]
            cells = int(block[col.WINDOW_CELLS_END] - block[col.WINDOW_CELLS])
            lanes[row + 1] = cells * int(windows[row, col.PANES_ROWS])
    return [sum(lanes[: number + 1]) for number in range(len(lanes))]


def values_of(windows: Ints) -> int:
    """How many values an entry of a front has room for."""
    return int((windows[:, col.PANES_CELLS_END] - windows[:, col.PANES_CELLS]).max(initial=0))
