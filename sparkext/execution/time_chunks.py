"""Chunks of time: how the events of one key are divided among tasks.

Windows do not depend on each other. So a key with very many events is cut into stretches of time, each of which
answers for the windows that start in it, and is given all events of those. Events of windows that began before the
start of a chunk are in the chunk before as well: a chunk is long, so that few are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm

from pyspark.sql.types import DataType

from sparkext.binding.event_time import OF_64_BITS, TimeKind, in_units
from sparkext.planner.patterns.query import Window

WINDOWS_PER_CHUNK = 4
"""How many of the longest windows a chunk is long, at least, since each is begun and ended like a key."""

OVERLAPS_PER_CHUNK = 12
"""How many times as long as its overlap with the next a chunk is, at least: one event in twelve is in two chunks."""

_MOST_WINDOWS = 64
"""How many of the longest windows it may be long, so that it starts with a window of each kind."""


def overlap(windows: Iterable[Window | None]) -> int:
    """How far into a chunk windows reach that start in the chunk before it, in units of the kernel.

    Args:
        windows: Those of a pool; unbounded ones do not count.
    """
    return max(
        (window.within - window.slide for window in windows if window and window.slide < window.within), default=0
    )


def chunk_length(windows: Sequence[Window | None], type_: DataType) -> int | None:
    """Length of a chunk, a multiple of every SLIDE, in units of the kernel; None where chunks are not possible.

    They are not where a window is unbounded, where lengths of SLIDE have no common multiple that is short enough,
    and where windows that start near the ends of the range of the time are numbered by more than 64 bits.
    """
    bounded = [window for window in windows if window is not None]
    if len(bounded) < len(windows) or not bounded:
        return None
    if min(window.slide for window in bounded) == 1 and isinstance(type_, OF_64_BITS):
        return None
    common, longest = lcm(*(window.slide for window in bounded)), max(window.within for window in bounded)
    least = max(WINDOWS_PER_CHUNK * longest, OVERLAPS_PER_CHUNK * overlap(windows))
    length = -(-least // common) * common
    return length if length <= _MOST_WINDOWS * longest and length < 1 << 62 else None


def chunks_of(time: str, length: int, shared: int, kind: TimeKind) -> str:
    """SQL for the numbers of the chunks, an array of one or two, that an event's windows start in.

    Args:
        time: SQL of the event time.
        length: Of a chunk, at least as long as any window.
        shared: Length of the `overlap`.
        kind: Of the event time.
    """
    number = in_units(time, kind)
    last = f"({number} DIV {length}L - CASE WHEN {number} % {length}L < 0 THEN 1L ELSE 0L END)"
    return f"CASE WHEN pmod({number}, {length}L) >= {shared}L THEN array({last}) ELSE array({last} - 1L, {last}) END"


def by_chunk(time: str, chunk: str, shared: int, kind: TimeKind) -> str:
    """SQL for a number that never falls when events are sorted by chunk and then by time.

    Events of a chunk are no further than the overlap after its end. Where the number would need more than 64 bits,
    events of many times have the same one, the greatest or the least.

    Args:
        time: SQL of the event time.
        chunk: SQL of the number of the chunk that the event is in.
        shared: Length of the `overlap`.
        kind: Of the event time.
    """
    beyond = f"CAST(CASE WHEN {chunk} < 0 THEN '{-(1 << 63)}' ELSE '{(1 << 63) - 1}' END AS BIGINT)"
    return f"coalesce(try_add({in_units(time, kind)}, {chunk} * {shared}L), {beyond})"
