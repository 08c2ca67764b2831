"""Funnels by hand, as a loop over sorted visits that numba compiles: all funnels at once.

A step of a funnel is one number, the latest start that has reached it, since the latest is the first to be within an
hour. Trends with a repeated step are counted for each start of the last hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.funnels import PAGES, SPAN, Funnel

Integers: TypeAlias = NDArray[np.int64]
_MOST, _NEVER = 6, -(1 << 62)


def counted(
    funnels: Sequence[Funnel], user: Integers, country: Integers, moment: Integers, page: Integers, countries: int
) -> dict[str, Integers]:
    """The columns of an answer, for visits in order of user and time; countries by number.

    Args:
        funnels: All repeat a step, or none does.
        user: Of each visit.
        country: Likewise.
        moment: In microseconds.
        page: As its place in `PAGES`.
        countries: How many there are.
    """
    steps = np.full((len(PAGES), len(funnels)), -1, np.int64)
    for number, funnel in enumerate(funnels):
        for step, name in enumerate(funnel.pages):
            steps[PAGES.index(name), number] = step
    lengths = np.array([len(funnel.pages) for funnel in funnels])
    # For a page, its funnels first, and how many these are.
    order = np.argsort(steps < 0, axis=1, kind="stable")
    many = (steps >= 0).sum(axis=1)
    if funnels[0].repeated:
        trends = _trends(user, country, moment, page, steps, order, many, lengths, countries)
        found = np.nonzero(trends)
        return {"funnel": found[0], "country": found[1], "trends": trends[found]}
    users, completions = _reached(user, country, moment, page, steps, order, many, lengths, countries)
    found = np.nonzero(users)
    return {"funnel": found[0], "country": found[1], "users": users[found], "completions": completions[found]}


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _reached(
    user: Integers,
    country: Integers,
    moment: Integers,
    page: Integers,
    steps: Integers,
    order: Integers,
    many: Integers,
    lengths: Integers,
    countries: int,
) -> tuple[Integers, Integers]:
    users = np.zeros((len(lengths), countries), np.int64)
    completions = np.zeros((len(lengths), countries), np.int64)
    latest = np.full((len(lengths), _MOST), _NEVER)
    done = np.full(len(lengths), -1)
    for at in range(len(user)):
        if at and user[at] != user[at - 1]:
            latest[:] = _NEVER
        here = page[at]
        for index in range(many[here]):
            funnel = order[here, index]
            step = steps[here, funnel]
            start = moment[at] if step == 0 else latest[funnel, step - 1]
            latest[funnel, step] = start
            if step == lengths[funnel] - 1 and moment[at] - start < SPAN:
                completions[funnel, country[at]] += 1
                if done[funnel] != user[at]:
                    done[funnel] = user[at]
                    users[funnel, country[at]] += 1
    return users, completions


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _trends(
    user: Integers,
    country: Integers,
    moment: Integers,
    page: Integers,
    steps: Integers,
    order: Integers,
    many: Integers,
    lengths: Integers,
    countries: int,
) -> Integers:
    trends = np.zeros((len(lengths), countries), np.int64)
    room = 64
    starts = np.zeros((len(lengths), room), np.int64)
    partial = np.zeros((len(lengths), room, _MOST), np.int64)
    first = np.zeros(len(lengths), np.int64)
    end = np.zeros(len(lengths), np.int64)
    for at in range(len(user)):
        if at and user[at] != user[at - 1]:
            first[:] = 0
            end[:] = 0
        here = page[at]
        for index in range(many[here]):
            funnel = order[here, index]
            step = steps[here, funnel]
            while first[funnel] < end[funnel] and moment[at] - starts[funnel, first[funnel]] >= SPAN:
                first[funnel] += 1
            if step == 0:
                if end[funnel] == starts.shape[1]:
                    kept = end[funnel] - first[funnel]
                    if 2 * kept > starts.shape[1]:
                        wider = np.zeros((len(lengths), 2 * starts.shape[1]), np.int64)
                        wider[:, : starts.shape[1]] = starts
                        more = np.zeros((len(lengths), 2 * starts.shape[1], _MOST), np.int64)
                        more[:, : starts.shape[1]] = partial
                        starts, partial = wider, more
                    starts[funnel, :kept] = starts[funnel, first[funnel] : end[funnel]].copy()
                    partial[funnel, :kept] = partial[funnel, first[funnel] : end[funnel]].copy()
                    first[funnel], end[funnel] = 0, kept
                starts[funnel, end[funnel]] = moment[at]
                partial[funnel, end[funnel]] = 0
                partial[funnel, end[funnel], 0] = 1
                end[funnel] += 1
                continue
            for start in range(first[funnel], end[funnel]):
                added = partial[funnel, start, step - 1]
                if step == 1:
                    added += partial[funnel, start, 1]
                partial[funnel, start, step] += added
                if step == lengths[funnel] - 1:
                    trends[funnel, country[at]] += added
    return trends
