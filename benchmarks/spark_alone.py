"""One query against what Spark must do in any case: the same shuffle, sort and count, without Python."""

from __future__ import annotations

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides


def run(bench: Bench) -> Result:
    """Measure."""
    from benchmarks.spark import discard

    rides = Rides(*bench.pick((10_000_000, 100_000), (200_000, 2_000), (5_000, 50)))
    frame = bench.rides(rides)
    source = frame.select("district", "driver", "ts", "action")
    tasks = frame.rdd.getNumPartitions()

    def alone() -> None:
        discard(source.repartition(tasks, "district", "driver").sortWithinPartitions("district", "driver", "ts"))
        source.groupBy("district").count().collect()

    times = bench.times({"query": lambda: discard(bench.spark.sql(queries.one("rides"))), "alone": alone})
    row = Row("one query", times["query"], "s", "shuffle + sort + count", times["alone"], Target(1.3))
    return Result([row], f"{rides}; `{queries.TRIP}`, `COUNT(*)` by district", bench.method)


BENCHMARK = Benchmark("spark-alone", "One query against Spark's shuffle, sort and count with no Python", run)
