"""What is built from rows, by itself: bounds, joins by any tree, windows, and the limit."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest

from sparkext.planner.kernel_plan.kernel_plan import MatchRoot, MatchStep
from sparkext.planner.patterns.query import Window
from sparkext.udfs.matches.building import longest, most_in_a_window
from sparkext.udfs.matches.joins import PartialMatches, joined
from sparkext.udfs.matches.moments import Moments
from sparkext.udfs.matches.windows_of_moments import first_open, windows_of
from tests.support.enumerator import Event
from tests.support.enumerator import windows_of as windows_by_definition


def drawn(random: Random, far: bool) -> Moments:
    """Rows of up to three keys, some at the same time; ``far`` apart ones do not fit in one number with their key."""
    rows = sorted((random.randrange(3), random.randrange(12)) for _ in range(random.randint(1, 14)))
    keys, times = (np.array(part, np.int64) for part in zip(*rows, strict=True))
    scale = 1 << 60 if far else 1
    return Moments(keys, (times - 6) * scale)


@pytest.mark.parametrize("far", [False, True])
def test_bounds(far: bool) -> None:
    for seed in range(200):
        random = Random(seed)
        moments = drawn(random, far)
        within = random.choice((None, 1, 3, 100)) if not far else random.choice((None, 1, 3 << 60, (1 << 63) - 1))
        since, until = moments.bounds(within)
        at = list(zip(moments.keys.tolist(), moments.times.tolist(), strict=True))
        for row, (key, time) in enumerate(at):
            same = [n for n, moment in enumerate(at) if moment[0] == key]
            near = [n for n in same if within is None or abs(at[n][1] - time) < within]
            assert (since[row], until[row]) == (near[0], near[-1] + 1), seed
            equal = [n for n, moment in enumerate(at) if moment == (key, time)]
            assert (moments.begin[row], moments.end[row]) == (equal[0], equal[-1] + 1), seed


def by_definition(moments: Moments, classes: list[set[int]], within: int | None) -> set[tuple[int, ...]]:
    """Tuples of rows of one key, one of each class, each later than the one before, all near each other."""
    matches = set()
    for rows in combinations(range(len(moments.keys)), len(classes)):
        times = [int(moments.times[row]) for row in rows]
        fits = all(row in rows_of_class for row, rows_of_class in zip(rows, classes, strict=True))
        later = all(first < second for first, second in pairwise(times))
        near = within is None or times[-1] - times[0] < within
        if fits and later and near and len({int(moments.keys[row]) for row in rows}) == 1:
            matches.add(rows)
    return matches


def build(
    random: Random, indexes: tuple[int, ...], moments: Moments, classes: list[set[int]], within: int | None
) -> PartialMatches:
    """The partial matches at some places, by a random tree; children may reach further."""
    if len(indexes) == 1:
        return [np.array(sorted(classes[indexes[0]]), np.int64)]
    left = tuple(sorted(random.sample(range(len(indexes)), random.randint(1, len(indexes) - 1))))
    right = tuple(index for index in range(len(indexes)) if index not in left)
    further = random.choice((within, None))
    halves = [build(random, tuple(indexes[n] for n in half), moments, classes, further) for half in (left, right)]
    step = MatchStep(tuple(range(len(indexes))), (0, 1), left)
    blocks = list(joined(step, halves[0], halves[1], moments, within)) if all(len(h[0]) for h in halves) else []
    return [np.concatenate([np.zeros(0, np.int64), *(b[n] for b in blocks)]) for n in range(len(indexes))]


def test_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    some = 0
    for seed in range(300):
        random = Random(seed)
        monkeypatch.setattr("sparkext.udfs.matches.joins.BLOCK", random.choice((1, 3, 1000)))
        moments = drawn(random, far=False)
        indexes = tuple(range(random.randint(2, 4)))
        rows = range(len(moments.keys))
        classes = [{row for row in rows if random.random() < 0.6} for _ in indexes]
        within = random.choice((None, 2, 5))
        built = build(random, indexes, moments, classes, within)
        tuples = list(zip(*(part.tolist() for part in built), strict=True))
        assert len(set(tuples)) == len(tuples), seed
        assert set(tuples) == by_definition(moments, classes, within), seed
        some += bool(tuples)
    assert some > 50


@pytest.mark.parametrize("window", [Window(10, 10), Window(10, 3), Window(3, 10), Window(7, 1), Window(1 << 62, 5)])
def test_windows(window: Window) -> None:
    for first in range(-25, 25):
        for last in (first, first + 2, first + 6):
            moments = Moments(np.zeros(2, np.int64), np.array([first, last]))
            begin, count = moments.windows_of(window, np.array([0]), np.array([1]))
            events = [Event((), (), time, frozenset(), {}) for time in (first, last)]
            if window.within < 100:
                both = [
                    k
                    for k in windows_by_definition(events, window)
                    if k * window.slide <= first and last < k * window.slide + window.within
                ]
                assert list(range(int(begin[0]), int(begin[0] + count[0]))) == sorted(both)
            (open_then,) = first_open(window, np.array([last]))
            assert open_then * window.slide + window.within > last >= (open_then - 1) * window.slide + window.within


def test_windows_at_the_ends_of_time() -> None:
    """Nothing overflows."""
    ends = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    for numbers in windows_of(Window(10, 10), ends):
        assert numbers.tolist() == [-(1 << 63) // 10, ((1 << 63) - 1) // 10]


def test_most_in_a_window() -> None:
    """Of each key by itself; windows that two matches are in count twice."""
    moments = Moments(np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 13, 20, 21, 22]))
    matches = [np.array([0, 0, 1, 4, 4, 5]), np.array([1, 3, 2, 5, 6, 6])]
    assert most_in_a_window(None, matches, moments) == (0, 0, 3)
    assert most_in_a_window(Window(5, 5), matches, moments) == (1, 4, 3)
    assert most_in_a_window(Window(2, 2), matches, moments)[2] == 1
    assert most_in_a_window(Window(1, 1), matches, moments)[2] == 0
    roots = [MatchRoot(0, 0, window, ()) for window in (Window(5, 5), Window(7, 1))]
    assert longest(roots) == 7
    assert longest([*roots, MatchRoot(0, 0, None, ())]) is None
