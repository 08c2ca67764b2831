"""By hand with ``applyInPandas``: a function for the events of a key, with running sums for each open window.

Once in Python, as most would write it, and once compiled by numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.peers.trends import SLIDE, WITHIN, Trend, quoted
from benchmarks.rides import MIX

_SCHEMA = "district INT, query INT, window_start LONG, n DOUBLE"


def in_python(events: DataFrame, trends: Sequence[Trend]) -> DataFrame:
    """One job for all trends, with a loop in Python."""
    return _grouped(events, trends, _loop(trends))


def in_numba(events: DataFrame, trends: Sequence[Trend]) -> DataFrame:
    """One job for all trends, with a compiled loop."""
    return _grouped(events, trends, _compiled_loop(trends))


def _grouped(events: DataFrame, trends: Sequence[Trend], count: Callable[[pd.DataFrame], pd.DataFrame]) -> DataFrame:
    """Rows of each key, added up by district, trend and window."""
    types = tuple(dict.fromkeys(name for trend in trends for name in trend.types))
    used = events.where(f"action IN ({quoted(types)})").selectExpr(
        "district", "driver", "unix_micros(ts) AS time", "action"
    )
    found = used.groupBy("district", "driver").applyInPandas(count, _SCHEMA)
    return (
        found.groupBy("query", "district", "window_start")
        .agg(F.sum("n").alias("n"))
        .withColumn("window_start", F.timestamp_micros("window_start"))
    )


def _loop(trends: Sequence[Trend]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Per event and open window, the sums of the trends that the type of the event takes part in."""
    roles: dict[str, list[tuple[int, int]]] = {}
    for number, trend in enumerate(trends):
        for role, name in enumerate(trend.types):
            roles.setdefault(name, []).append((number, role))
    kleene = [trend.kleene for trend in trends]

    def count(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.sort_values("time")
        windows: dict[int, list[list[float]]] = {}
        for time, action in zip(frame["time"].tolist(), frame["action"].tolist(), strict=True):
            mine = roles[action]
            for window in range((time - WITHIN) // SLIDE + 1, time // SLIDE + 1):
                sums = windows.get(window)
                if sums is None:
                    sums = windows[window] = [[0.0, 0.0, 0.0] for _ in kleene]
                for number, role in mine:
                    own = sums[number]
                    if role == 0:
                        own[0] += 1
                    elif role == 1:
                        own[1] += own[0] + own[1] if kleene[number] else own[0]
                    else:
                        own[2] += own[1]
        district = frame["district"].iloc[0]
        rows = [
            (district, number, window * SLIDE, own[2])
            for window, sums in windows.items()
            for number, own in enumerate(sums)
            if own[2]
        ]
        return pd.DataFrame(rows, columns=["district", "query", "window_start", "n"])

    return count


def _compiled_loop(trends: Sequence[Trend]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """The same, over arrays."""
    kinds = list(MIX)
    role = np.full((len(trends), len(kinds)), -1, np.int64)
    for number, trend in enumerate(trends):
        for position, name in enumerate(trend.types):
            role[number, kinds.index(name)] = position
    kleene = np.array([trend.kleene for trend in trends])

    def count(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.sort_values("time")
        time = frame["time"].to_numpy()
        kind = pd.Categorical(frame["action"], categories=kinds).codes.astype(np.int64)
        first = (time[0] - WITHIN) // SLIDE + 1
        sums = _sums(time, kind, role, kleene, first, time[-1] // SLIDE + 1 - first)
        window, number = np.nonzero(sums)
        return pd.DataFrame(
            {
                "district": frame["district"].iloc[0],
                "query": number,
                "window_start": (window + first) * SLIDE,
                "n": sums[window, number],
            }
        )

    return count


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _sums(
    time: NDArray[np.int64],
    kind: NDArray[np.int64],
    role: NDArray[np.int64],
    kleene: NDArray[np.bool_],
    first: int,
    windows: int,
) -> NDArray[np.float64]:
    """Trends per window and query."""
    sums = np.zeros((windows, len(role), 3))
    for event in range(len(time)):
        begin = (time[event] - WITHIN) // SLIDE + 1 - first
        for window in range(begin, time[event] // SLIDE + 1 - first):
            for number in range(len(role)):
                own = role[number, kind[event]]
                if own == 0:
                    sums[window, number, 0] += 1
                elif own == 1:
                    again = sums[window, number, 1] if kleene[number] else 0.0
                    sums[window, number, 1] += sums[window, number, 0] + again
                elif own == 2:
                    sums[window, number, 2] += sums[window, number, 1]
    return sums[:, :, 2]
