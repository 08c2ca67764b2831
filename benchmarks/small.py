"""A query over a thousand rows, and the view of a result that is kept: what a statement takes by itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides

GROUPED = "SELECT district, COUNT(*) AS n, AVG(speed) AS mean FROM rides GROUP BY district"
"""What Spark does with the same rows in one step."""


def run(bench: Bench) -> Result:
    """Each pair goes by turns with the other statements, many times, since one takes less than what else happens."""
    from benchmarks.pools import Views
    from tests.support.jvm_calls import jvm_calls

    rides = Rides(*bench.pick((1_000, 20), (1_000, 20), (100, 5)))
    # The views have events of their own: a query over the same would be planned with them.
    bench.rides(replace(rides, seed=8)).createOrReplaceTempView("kept_rides")
    bench.rides(rides)
    before, rounds = bench.pick((20, 31), (5, 9), (2, 1))
    one, others, numbers = queries.one("rides"), queries.others("rides"), itertools.count(1)
    spark = bench.spark

    def collected(statement: str) -> Callable[[], object]:
        return lambda: spark.sql(statement).collect()

    with Views(bench, list(queries.pool("kept_rides", 4))) as views:
        spark.sql(f"CACHE TABLE small_cached AS {GROUPED}")
        runs: dict[str, Callable[[], object]] = {
            "group": collected(GROUPED),
            "trends": collected(one),
            "other groups": lambda: spark.sql(f"{GROUPED} HAVING n > {next(numbers)}").collect(),
            "others": lambda: spark.sql(next(others)).collect(),
            "cached": collected("SELECT * FROM small_cached"),
            "kept": collected(f"SELECT * FROM {views.names[1]}"),
            "create": partial(views.create_one, 0),
        }
        for _ in range(before):
            for statement in runs.values():
                statement()
        times = bench.times(runs, warmed=True, rounds=rounds)
        calls = {name: jvm_calls(statement) for name, statement in runs.items()}
        spark.sql("UNCACHE TABLE small_cached")
        spark.catalog.dropTempView("small_cached")
    spark.catalog.dropTempView("kept_rides")
    ms = {name: 1000 * taken for name, taken in times.items()}
    rows = [
        Row("a trend query", ms["trends"], "ms", "`GROUP BY` over the same rows", ms["group"], Target(2)),
        Row(
            "another trend query each time",
            ms["others"],
            "ms",
            "another `GROUP BY` each time",
            ms["other groups"],
            Target(2),
        ),
        Row("reading a kept view", ms["kept"], "ms", "a cached table", ms["cached"], Target(1.3)),
        Row("creating a view", ms["create"], "ms", target=Target(30)),
        Row("the JVM is asked by a trend query", calls["trends"], "calls", target=Target(60)),
        Row("the JVM is asked by another one", calls["others"], "calls"),
        Row("the JVM is asked by a read of a kept view", calls["kept"], "calls", target=Target(60)),
        Row("the JVM is asked by the creation of a view", calls["create"], "calls", target=Target(60)),
    ]
    method = (
        f"wall time; median of {bench.pick(31, 9, 1)} rounds in turn, after {bench.pick(20, 5, 2)} that do not count"
    )
    return Result(rows, f"{rides}; a table of their {rides.drivers:,} drivers' districts is cached", method)


BENCHMARK = Benchmark("small", "A query over a thousand rows, and a kept view", run)
