"""One query over as many events as fit on the disk of a small machine, and what memory its workers need."""

from __future__ import annotations

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.memory import worker_peaks
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides


def run(bench: Bench) -> Result:
    """Few events and many, each in a session of its own."""
    from benchmarks.spark import discard

    most = bench.pick(100_000_000, 1_000_000, 5_000)
    taken: dict[int, float] = {}
    for events in (most // 10, most):
        bench.fresh()
        bench.rides(Rides(events, max(1, events // 100)))
        taken[events] = seconds(lambda: discard(bench.spark.sql(queries.one("rides"))))
    many, few = f"{most:,} events", f"{most // 10:,} events"
    rows = [
        Row(f"{many}, for each tenth of them", taken[most] / 10, "s", few, taken[most // 10], Target(1.3)),
        Row(f"{many}, a Python worker", max(worker_peaks()), "MB", target=Target(500)),
    ]
    about = f"`{queries.TRIP}`, `COUNT(*)` by district; 100 events a key"
    return Result(rows, about, "wall time, once; greatest resident size (VmHWM) of any Python worker")


BENCHMARK = Benchmark("large", "A hundred million events", run)
