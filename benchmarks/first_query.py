"""The first query of a session, in a process of its own, where nothing is warm but what is compiled and kept."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides


def trend(bench: Bench) -> object:
    """A query that counts trends."""
    return bench.spark.sql(queries.one("rides")).collect()


def negated(bench: Bench) -> object:
    """A query that counts trends in which something does not happen."""
    return bench.spark.sql(queries.trend("rides", "Request NOT Cancel Delivery", "COUNT(*) AS trends")).collect()


def rising(bench: Bench) -> object:
    """A query whose condition looks at the event before."""
    define = "DEFINE Travel AS speed > PREV(speed)"
    return bench.spark.sql(queries.trend("rides", queries.TRIP, "COUNT(*) AS trends", define)).collect()


def plain(bench: Bench) -> object:
    """A query that counts rows."""
    return bench.spark.sql("SELECT district, count(*) FROM rides GROUP BY district ORDER BY district").collect()


def function(bench: Bench) -> object:
    """Rows shuffled and sorted as those of a pass, and counted by a function in Python."""
    rows = bench.spark.sql("SELECT district, driver, ts, action FROM rides")
    sorted_ = rows.repartition(2, "district", "driver").sortWithinPartitions("district", "driver", "ts")
    return sorted_.mapInArrow(_counted, "district INT, n BIGINT").groupBy("district").sum("n").collect()


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        counts = pa.table(batch).group_by("district").aggregate([("driver", "count")])
        yield from counts.rename_columns(["district", "n"]).to_batches()


ASKED: dict[str, Callable[[Bench], object]] = {
    "trend": trend,
    "plain": plain,
    "function": function,
    "not": negated,
    "prev": rising,
}
QUICK = ["trend", "plain"]
FULL = [*QUICK, "function"]


def run(bench: Bench) -> Result:
    """A query that counts trends, one of Spark's own that counts rows, and a function in Python, take turns."""
    rides = Rides(*bench.pick((100_000, 1_000), (100_000, 1_000), (2_000, 10)))
    taken: dict[str, list[float]] = {name: [] for name in bench.pick(FULL, QUICK, QUICK)}
    for _ in range(bench.pick(bench.rounds + 1, 1, 1)):
        for name, times in taken.items():
            program = [sys.executable, "-m", "benchmarks.first_query", name, str(bench.directory)]
            numbers = [str(rides.events), str(rides.drivers)]
            done = subprocess.run([*program, *numbers], check=True, stdout=subprocess.PIPE, text=True)
            times.append(float(done.stdout.split()[-1]))
    first, own, *in_python = (statistics.median(times[-bench.rounds :]) for times in taken.values())
    rows = [
        Row("first query of a session", first, "s", "first query of Spark's own", own),
        Row("what it takes more", first - own, "s", target=Target(3)),
    ]
    rows += [Row("first query of a session", first, "s", "a function in Python that counts rows", s) for s in in_python]
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
    print(seconds(lambda: ASKED[name](bench)))
    bench.close()


BENCHMARK = Benchmark("first-query", "The first query of a session against Spark's own first", run)

if __name__ == "__main__":
    main(sys.argv[1:])
