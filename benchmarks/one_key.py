"""A query whose trends may have any events: there is one key with everything, on one core and on two."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.queries import TRIP, WINDOWS
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides
from benchmarks.same import check_same

WITHOUT = ""
"""Windows of a query that has none."""

CORES = (1, 2)


def run(bench: Bench) -> Result:
    """The rounds on one core, where keys are not cut, come before those on two: each has a session of its own."""
    rides = Rides(*bench.pick((10_000_000, 1_000), (2_000_000, 1_000), (2_000, 10)))
    found: dict[tuple[int, str], pa.Table] = {}
    taken: dict[int, dict[str, float]] = {}
    for cores in CORES:
        bench.rides(rides, cores)
        settings = bench.session(cores).conf
        settings.set("spark.sparkext.chunks", "off" if cores == 1 else "on")
        runs = {windows: partial(_compute, bench, cores, windows, found) for windows in (WINDOWS, WITHOUT)}
        taken[cores] = bench.times(runs)
        settings.unset("spark.sparkext.chunks")
    rows = []
    for windows, what, keys in (
        (WINDOWS, "windows of 20 minutes", ("window_start", "window_end")),
        (WITHOUT, "no windows", ()),
    ):
        check_same("two cores", found[1, windows], found[2, windows], keys)
        one, two = (taken[cores][windows] for cores in CORES)
        rows.append(Row(f"one core, {what}", one, "s", "two cores", two, Target(1.6, at_least=True)))
    return Result(rows, f"{rides}, all of one key; `{TRIP}`", bench.method)


def _compute(bench: Bench, cores: int, windows: str, found: dict[tuple[int, str], pa.Table]) -> None:
    query = (
        "SELECT * FROM rides MATCH_TREND (ORDER BY ts TYPE BY action MEASURES LOG10_COUNT(*) AS digits, "
        f"AVG(Travel.duration) AS mean PATTERN ({TRIP}) {windows})"
    )
    found[cores, windows] = bench.session(cores).sql(query).toArrow()


BENCHMARK = Benchmark("one-key", "One key with everything, on one core against two", run)
