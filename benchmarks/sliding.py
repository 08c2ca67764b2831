"""Windows of an hour that slide by ten seconds, 360 at a time, against windows of an hour that do not overlap."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.bench import Bench, Benchmark
from benchmarks.queries import TRIP, trend
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides
from benchmarks.same import check_same

NARROW = "WITHIN INTERVAL 1 HOUR"
WIDE = f"{NARROW} SLIDE INTERVAL 10 SECONDS"


def run(bench: Bench) -> Result:
    """Whole runs; where the slide is longer than the time between two events of a key, they share panes."""
    events, keys = bench.pick((1_000_000, 1_000), (100_000, 100), (2_000, 5))
    rates: tuple[float, ...] = bench.pick((60.0, 10.0, 1.0), (10.0, 1.0), (10.0,))
    rows = []
    for apart in rates:
        bench.rides(Rides(events, keys, seconds_between=apart))
        found: dict[str, pa.Table] = {}
        runs: dict[str, Callable[[], object]] = {
            windows: partial(_compute, bench, windows, found) for windows in (NARROW, WIDE)
        }
        times = bench.times(runs)
        starts = found[NARROW]["window_start"].unique()
        on_the_hour = found[WIDE].filter(pc.is_in(found[WIDE]["window_start"], starts))
        check_same("windows on the hour", found[NARROW], on_the_hour, ("district", "window_start", "window_end"))
        what = f"slides by 10 s, an event each {apart:g} s"
        rows.append(Row(what, times[WIDE], "s", "one window at a time", times[NARROW], Target(3)))
    about = f"{events:,} events of {keys:,} drivers; `{TRIP}`, `APPROX_COUNT(*)` by district, within an hour"
    return Result(rows, about, bench.method)


def _compute(bench: Bench, windows: str, found: dict[str, pa.Table]) -> None:
    query = trend("rides", TRIP, "APPROX_COUNT(*) AS trends", windows=windows)
    found[windows] = bench.spark.sql(query).toArrow()


BENCHMARK = Benchmark("sliding", "360 windows at a time against one, whole runs", run)
