"""A query whose trends may have any events: there is one key with everything, on one core and on two."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.queries import TRIP, WINDOWS
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides
from benchmarks.same import check_same

QUERY = (
    "SELECT * FROM rides MATCH_TREND (ORDER BY ts TYPE BY action MEASURES LOG10_COUNT(*) AS digits, "
    f"AVG(Travel.duration) AS mean PATTERN ({TRIP}) {WINDOWS})"
)


def run(bench: Bench) -> Result:
    """The rounds on one core come before those on two: each has a session of its own."""
    rides = Rides(*bench.pick((10_000_000, 1_000), (2_000_000, 1_000), (2_000, 10)))
    found: dict[int, pa.Table] = {}
    taken: dict[int, float] = {}
    for cores in (1, 2):
        bench.rides(rides, cores)
        taken[cores] = bench.times({"": partial(_compute, bench, cores, found)})[""]
    check_same("two cores", found[1], found[2], ("window_start", "window_end"))
    row = Row("one core", taken[1], "s", "two cores", taken[2], Target(1.6, at_least=True))
    return Result([row], f"{rides}, all of one key; `{TRIP}`, windows of 20 minutes", bench.method)


def _compute(bench: Bench, cores: int, found: dict[int, pa.Table]) -> None:
    found[cores] = bench.session(cores).sql(QUERY).toArrow()


BENCHMARK = Benchmark("one-key", "One key with everything, on one core against two", run)
