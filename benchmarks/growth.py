"""How the time of one query grows with the events, and with the keys that they are spread over."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark
from benchmarks.plots import Lines
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides


def run(bench: Bench) -> Result:
    """Measure."""
    most = bench.pick(10_000_000, 500_000, 5_000)
    sizes = {f"{events:,} events": Rides(events, events // 100) for events in (most // 10, most // 3, most)}
    keys = bench.pick((100, 10_000, 1_000_000), (100, 50_000), (5, 500))
    spread = {f"{number:,} keys": Rides(most, number) for number in keys}
    runs: dict[str, Callable[[], object]] = {}
    for number, (name, rides) in enumerate({**sizes, **spread}.items()):
        bench.rides(rides).createOrReplaceTempView(f"rides_{number}")
        runs[name] = partial(_compute, bench, f"rides_{number}")
    times = bench.times(runs)
    few, *_, many = sizes
    narrow, *_, wide = spread
    rows = [
        Row(f"{many}, for each tenth of them", times[many] / 10, "s", few, times[few], Target(1.3)),
        Row(wide, times[wide], "s", f"{narrow}, same events", times[narrow], Target(1.3)),
    ]
    linear = [(rides.events, times[few] * rides.events / sizes[few].events) for rides in sizes.values()]
    drawn = {"one query": [(rides.events, times[name]) for name, rides in sizes.items()], "linear growth": linear}
    plot = Lines("Seconds of one query", "events, 100 a key", drawn)
    what = f"`{queries.TRIP}`, `COUNT(*)` by district; 100 events a key, and {most:,} events of more or fewer keys"
    return Result(rows, what, bench.method, plots={"growth": plot})


def _compute(bench: Bench, view: str) -> None:
    from benchmarks.spark import discard

    discard(bench.spark.sql(queries.one(view)))


BENCHMARK = Benchmark("growth", "Growth with events and with keys", run)
