"""A query whose trends may have any events: there is one key with everything, on one core and on two."""

from __future__ import annotations

import statistics
from functools import partial

import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.queries import TRIP, WINDOWS
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides
from benchmarks.same import check_same

CORES = (1, 2)

ASKED = (
    (WINDOWS, "windows of 20 minutes", ("window_start", "window_end")),
    ("", "no windows", ()),
)
"""Windows, what is said of them, and the keys of the result."""


def run(bench: Bench) -> Result:
    """Sessions on one core and on two take turns: they share a JVM, which gets faster for many rounds."""
    rides = Rides(*bench.pick((10_000_000, 1_000), (200_000, 1_000), (2_000, 10)))
    found: dict[tuple[int, str], pa.Table] = {}
    turns: list[dict[tuple[int, str], float]] = []
    for _ in range(bench.pick(bench.rounds + 2, 1, 1)):
        turn: dict[tuple[int, str], float] = {}
        for cores in CORES:
            bench.rides(rides, cores)
            runs = {(cores, windows): partial(_compute, bench, cores, windows, found) for windows, _, _ in ASKED}
            turn |= bench.times(runs, rounds=1)
        turns.append(turn)
    counted = turns[-bench.rounds :]
    rows = []
    for windows, what, keys in ASKED:
        check_same("two cores", found[1, windows], found[2, windows], keys)
        one, two = (statistics.median(turn[cores, windows] for turn in counted) for cores in CORES)
        rows.append(Row(f"one core, {what}", one, "s", "two cores", two, Target(1.6, at_least=True)))
    many = f"median of the last {bench.rounds} of {len(turns)} turns" if len(turns) > 1 else "one turn"
    method = f"wall time; {many}, in each of which a new session on so many cores runs everything once and then again"
    return Result(rows, f"{rides}, all of one key; `{TRIP}`", method)


def _compute(bench: Bench, cores: int, windows: str, found: dict[tuple[int, str], pa.Table]) -> None:
    query = (
        "SELECT * FROM rides MATCH_TREND (ORDER BY ts TYPE BY action MEASURES LOG10_COUNT(*) AS digits, "
        f"AVG(Travel.duration) AS mean PATTERN ({TRIP}) {windows})"
    )
    found[cores, windows] = bench.session(cores).sql(query).toArrow()


BENCHMARK = Benchmark("one-key", "One key with everything, on one core against two", run)
