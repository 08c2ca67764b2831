"""The first query of a session, in a process of its own, where nothing is warm but what is compiled and kept."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides

ASKED = {
    "trend": queries.one("rides"),
    "plain": "SELECT district, count(*) FROM rides GROUP BY district ORDER BY district",
}


def run(bench: Bench) -> Result:
    """A query that counts trends, and one of Spark's own that counts rows, take turns."""
    rides = Rides(*bench.pick((100_000, 1_000), (100_000, 1_000), (2_000, 10)))
    taken: dict[str, list[float]] = {name: [] for name in ASKED}
    for _ in range(bench.pick(bench.rounds + 1, 1, 1)):
        for name, times in taken.items():
            program = [sys.executable, "-m", "benchmarks.first_query", name, str(bench.directory)]
            numbers = [str(rides.events), str(rides.drivers)]
            done = subprocess.run([*program, *numbers], check=True, stdout=subprocess.PIPE, text=True)
            times.append(float(done.stdout.split()[-1]))
    trend, plain = (statistics.median(times[-bench.rounds :]) for times in taken.values())
    rows = [
        Row("first query of a session", trend, "s", "first query of Spark's own", plain),
        Row("what it takes more", trend - plain, "s", target=Target(3)),
    ]
    many = f"median of {bench.rounds}, after one that does not count" if bench.size == "full" else "once"
    method = f"wall time in a new process, with its session; {many}"
    return Result(rows, f"{rides}; `{queries.TRIP}`, and `count(*)` by district", method)


def main(arguments: Sequence[str]) -> None:
    """Print the seconds that a query takes which is the first of its session.

    Args:
        arguments: Which query, the directory of the events, how many there are, and of how many drivers.
    """
    name, directory, events, drivers = arguments
    bench = Bench("toy", Path(directory))
    bench.rides(Rides(int(events), int(drivers)))
    print(seconds(lambda: bench.spark.sql(ASKED[name]).collect()))
    bench.close()


BENCHMARK = Benchmark("first-query", "The first query of a session against Spark's own first", run)

if __name__ == "__main__":
    main(sys.argv[1:])
