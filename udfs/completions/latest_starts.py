"""The kernel that counts completions: one number for each state, the latest start of a trend that has come there.

A trend with the latest first event is the one that most spans and windows hold, so that number decides whether an
event is a completion. Nothing is remembered of witnesses. Events of one moment are in no trend together: what they
add waits until the moment is over.

How many completions of a query there are changes at the first window that one is in, and behind the last one. Changes
at one window that follow each other are one. Of a query without windows nothing changes: its completions, and the keys
that have some, are added up until a group of keys is over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sparkext.planner.kernel_plan.kernel_plan import CLASSES_PER_WORD
from sparkext.udfs.completions import completion_columns as col
from sparkext.udfs.completions.start_program import (
    END_IS_ONLY,
    END_OF_QUERY,
    END_STATE,
    NO_START,
    OTHER_CLASS,
    OTHER_SOURCES,
    OTHER_SOURCES_END,
    OTHER_STATE,
    StartProgram,
)
from sparkext.udfs.jit.compiled import as_index, inlined, inner, kernel
from sparkext.udfs.jit.handed_on import by_reference
from sparkext.udfs.tables.program import NEVER_YET, Flags, Ints

_NEVER = np.int64(NEVER_YET)

CURSOR_KEY_OPEN, CURSOR_KEY, CURSOR_OUT, CURSOR_COMING, CURSOR_COUNTED, CURSOR_IS_CUT, CURSOR_SUMMED = range(7)
"""Of ``Starts.cursor``."""

CHANGE_QUERY, CHANGE_KEY, CHANGE_WINDOW, CHANGE_BY = range(4)
"""Of ``Starts.out``, where the query has windows."""

GROUP_QUERY, GROUP_KEY, GROUP_COMPLETIONS, GROUP_KEYS = range(4)
"""The same where it has none: the last key of a group, how many completions the group has, and how many keys that count
have some."""

SUM_COMPLETIONS, SUM_KEYS, SUM_LAST = range(3)
"""Of ``Starts.sums``."""

BEGIN_WINDOW, BEGIN_BY, END_WINDOW, END_BY = range(4)
"""Of ``Starts.counted``."""


class Starts(NamedTuple):
    """All that a run remembers of the key under way.

    Attributes:
        cursor: See `CURSOR_KEY_OPEN` and so on. Shape (7,).
        best: Per state, the latest start (`NEVER_YET`: none); then the time of the event at hand, see `StartProgram`.
            Shape (states + 1,).
        latest: Per state of the class at hand, the latest start that the event brings. Shape (states,).
        coming: Per state, the latest start that events of the moment under way bring. Shape (states,).
        fresh: The classes of these events. Shape (classes,).
        is_fresh: Per class, whether it is among them. Shape (classes,).
        is_cut: Per state, whether all of it leaves when the moment is over. Shape (states,).
        chosen: Per query, the latest start of a trend that ends with the event at hand, where several states may have
            one. Shape (queries,).
        ending: The queries that have one there. Shape (queries,).
        counted: Per query, the changes that have not been written: where completions begin to be in windows, how many,
            and the same of where they end. Shape (queries, 4).
        open: Queries of which something has been counted for the key. Shape (queries,).
        sums: Per query without windows, completions of the group, keys that count and have some, and the last key
            that has some. Shape (queries, 3).
        summed: Queries that have completions in the group. Shape (queries,).
        out: See `CHANGE_QUERY` and `GROUP_QUERY` and so on. Shape (room, 4).
    """

    cursor: Ints
    best: Ints
    latest: Ints
    coming: Ints
    fresh: Ints
    is_fresh: Flags
    is_cut: Flags
    chosen: Ints
    ending: Ints
    counted: Ints
    open: Ints
    sums: Ints
    summed: Ints
    out: Ints


def new_starts(program: StartProgram, rows: int) -> Starts:
    """A state before the first key, with room for so many rows."""
    states, queries, classes = len(program.source), len(program.queries), len(program.state_ends) - 1
    return Starts(
        cursor=np.zeros(7, np.int64),
        best=np.full(states + 1, NEVER_YET, np.int64),
        latest=np.full(states, NEVER_YET, np.int64),
        coming=np.full(states, NEVER_YET, np.int64),
        fresh=np.zeros(classes, np.int64),
        is_fresh=np.zeros(classes, np.uint8),
        is_cut=np.zeros(states, np.uint8),
        chosen=np.full(queries, NEVER_YET, np.int64),
        ending=np.zeros(queries, np.int64),
        counted=np.zeros((queries, 4), np.int64),
        open=np.zeros(queries, np.int64),
        sums=np.zeros((queries, 3), np.int64),
        summed=np.zeros(queries, np.int64),
        out=np.zeros((max(rows, 4 * queries), 4), np.int64),
    )


@kernel
def count(program, starts, batch, moments, keys, counts, row):
    """Process the events of a batch from ``row`` on.

    Args:
        program: `sparkext.udfs.completions.start_program.StartProgram`.
        starts: `Starts`; changed.
        batch: `sparkext.udfs.arrow.batches.Batch`.
        moments: 1 where an event is at another moment than the one before. Shape (rows,).
        keys: Number of the key of each row. Shape (rows,).
        counts: 1 where that key counts among those that have completions. Shape (rows,).
        row: Where to start.

    Returns:
        The row to go on with when changes have been taken; the number of rows when all were processed.
    """
    return _count(by_reference(program), by_reference(starts), by_reference(batch), moments, keys, counts, row)


@kernel
def close(program, starts):
    """End the key under way, and its group; returns whether that is done, or changes are to be taken first."""
    return _close(by_reference(program), by_reference(starts), True)


@inner
def _count(program, starts, batch, moments, keys, counts, row):
    cursor, queries, room = starts.cursor, len(program.queries), len(starts.out)
    times, classes, new_key = batch.time, batch.classes, batch.new_key
    while row < len(times):
        if new_key[row] and cursor[CURSOR_KEY_OPEN] and cursor[CURSOR_KEY] != keys[row]:
            if not _close(program, starts, batch.new_group[row] != 0):
                return row
        if cursor[CURSOR_OUT] + 2 * queries > room:
            return row
        if not cursor[CURSOR_KEY_OPEN]:
            cursor[CURSOR_KEY_OPEN] = 1
            cursor[CURSOR_KEY] = keys[row]
        elif moments[row]:
            _settle(program, starts)
        time, ending = times[row], 0
        starts.best[len(starts.best) - 1] = time
        for word in range(classes.shape[1]):
            bits = classes[row, word]
            event = word * CLASSES_PER_WORD
            while bits:
                if bits & 1:
                    _arrive(program, starts, classes, row, event, time)
                    ending = _end(program, starts, event, time, counts[row], ending)
                bits >>= 1
                event += 1
        for e in range(ending):
            query = starts.ending[e]
            _complete(program, starts, query, starts.chosen[query], time, counts[row])
            starts.chosen[query] = _NEVER
        row += 1
    return row


@inlined
def _arrive(program, starts, classes, row, event, time):
    """Let trends come to all states of a class with an event; none come where none have come before."""
    source, best, latest, coming = program.source, starts.best, starts.latest, starts.coming
    begin, end = program.state_ends[event], program.state_ends[event + 1]
    for s in range(begin, end):
        latest[as_index(s)] = best[as_index(source[as_index(s)])]
    for other in range(program.other_ends[event], program.other_ends[event + 1]):
        _of_several(program, starts, classes, row, other, time)
    for s in range(begin, end):
        coming[as_index(s)] = max(coming[as_index(s)], latest[as_index(s)])
    cursor = starts.cursor
    if not starts.is_fresh[event]:
        starts.is_fresh[event] = 1
        starts.fresh[cursor[CURSOR_COMING]] = event
        cursor[CURSOR_COMING] += 1
    for cut in range(program.cut_ends[event], program.cut_ends[event + 1]):
        starts.is_cut[program.cuts[cut]] = 1
        cursor[CURSOR_IS_CUT] = 1


@inlined
def _end(program, starts, event, time, key_counts, ending):
    """Count what the event at hand completes, of a class of it.

    Returns how many queries so far have a trend that ends with it at one of several states.
    """
    for e in range(program.end_ends[event], program.end_ends[event + 1]):
        start, query = starts.latest[program.ends[e, END_STATE]], program.ends[e, END_OF_QUERY]
        if start == _NEVER:
            continue
        if program.ends[e, END_IS_ONLY]:
            _complete(program, starts, query, start, time, key_counts)
            continue
        if starts.chosen[query] == _NEVER:
            starts.ending[ending] = query
            ending += 1
        starts.chosen[query] = max(starts.chosen[query], start)
    return ending


@inner
def _of_several(program, starts, classes, row, number, time):
    """Find the latest start that an event brings to one of the other states."""
    other, latest = program.others[number], _NEVER
    needed = other[OTHER_CLASS]
    if needed != NO_START and (classes[row, needed // CLASSES_PER_WORD] >> needed % CLASSES_PER_WORD) & 1:
        latest = time
    else:
        for link in range(other[OTHER_SOURCES], other[OTHER_SOURCES_END]):
            latest = max(latest, starts.best[program.sources[link]])
    starts.latest[other[OTHER_STATE]] = latest


@inlined
def _complete(program, starts, query, start, time, key_counts):
    """Count a completion, if it is one in any window and span."""
    of_query = program.queries[query]
    span, within, slide = of_query[col.QUERY_SPAN], of_query[col.QUERY_WITHIN], of_query[col.QUERY_SLIDE]
    if span and np.uint64(time) - np.uint64(start) >= np.uint64(span):
        return
    if not within:
        _sum(starts, query, key_counts)
        return
    newest = time // slide
    first = newest - (within - 1 - (time - newest * slide)) // slide
    last = newest if span else start // slide
    if first > last:
        return
    counted = starts.counted[query]
    if not counted[BEGIN_BY]:
        starts.open[starts.cursor[CURSOR_COUNTED]] = query
        starts.cursor[CURSOR_COUNTED] += 1
    elif counted[BEGIN_WINDOW] != first:
        _write(starts, query, BEGIN_WINDOW, BEGIN_BY)
    if counted[END_BY] and counted[END_WINDOW] != last + 1:
        _write(starts, query, END_WINDOW, END_BY)
    counted[BEGIN_WINDOW] = first
    counted[BEGIN_BY] += 1
    counted[END_WINDOW] = last + 1
    counted[END_BY] -= 1


@inlined
def _sum(starts, query, key_counts):
    """Count a completion of a query without windows."""
    sums, key = starts.sums[query], starts.cursor[CURSOR_KEY]
    if not sums[SUM_COMPLETIONS]:
        starts.summed[starts.cursor[CURSOR_SUMMED]] = query
        starts.cursor[CURSOR_SUMMED] += 1
    if not sums[SUM_COMPLETIONS] or sums[SUM_LAST] != key:
        sums[SUM_LAST] = key
        sums[SUM_KEYS] += key_counts
    sums[SUM_COMPLETIONS] += 1


@inlined
def _write(starts, query, window, by):
    """Write a change that has been counted of a query."""
    out, at, counted = starts.out, starts.cursor[CURSOR_OUT], starts.counted[query]
    out[at, CHANGE_QUERY] = query
    out[at, CHANGE_KEY] = starts.cursor[CURSOR_KEY]
    out[at, CHANGE_WINDOW] = counted[window]
    out[at, CHANGE_BY] = counted[by]
    counted[by] = 0
    starts.cursor[CURSOR_OUT] = at + 1


@inner
def _settle(program, starts):
    """End the moment under way."""
    cursor = starts.cursor
    if cursor[CURSOR_IS_CUT]:
        for s in range(len(starts.is_cut)):
            if starts.is_cut[s]:
                starts.best[s] = _NEVER
                starts.is_cut[s] = 0
        cursor[CURSOR_IS_CUT] = 0
    best, coming = starts.best, starts.coming
    for f in range(cursor[CURSOR_COMING]):
        event = starts.fresh[f]
        starts.is_fresh[event] = 0
        for s in range(program.state_ends[event], program.state_ends[event + 1]):
            best[as_index(s)] = max(best[as_index(s)], coming[as_index(s)])
            coming[as_index(s)] = _NEVER
    cursor[CURSOR_COMING] = 0


@inlined
def _write_sums(starts):
    """Write what has been added up of a group, and begin anew."""
    out, cursor = starts.out, starts.cursor
    for number in range(cursor[CURSOR_SUMMED]):
        query, at = starts.summed[number], cursor[CURSOR_OUT]
        sums = starts.sums[query]
        out[at, GROUP_QUERY] = query
        out[at, GROUP_KEY] = cursor[CURSOR_KEY]
        out[at, GROUP_COMPLETIONS] = sums[SUM_COMPLETIONS]
        out[at, GROUP_KEYS] = sums[SUM_KEYS]
        sums[SUM_COMPLETIONS] = sums[SUM_KEYS] = 0
        cursor[CURSOR_OUT] = at + 1
    cursor[CURSOR_SUMMED] = 0


@inner
def _close(program, starts, ends_group):
    cursor = starts.cursor
    if cursor[CURSOR_KEY_OPEN] == 0:
        return True
    if cursor[CURSOR_OUT] + 2 * cursor[CURSOR_COUNTED] + cursor[CURSOR_SUMMED] > len(starts.out):
        return False
    for o in range(cursor[CURSOR_COUNTED]):
        _write(starts, starts.open[o], BEGIN_WINDOW, BEGIN_BY)
        _write(starts, starts.open[o], END_WINDOW, END_BY)
    if ends_group:
        _write_sums(starts)
    _settle(program, starts)
    starts.best[:] = _NEVER
    cursor[CURSOR_KEY_OPEN] = cursor[CURSOR_COUNTED] = 0
    return True
