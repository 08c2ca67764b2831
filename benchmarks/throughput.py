"""Whole runs on Spark: one query against Spark alone, a pool against one query and against its queries one by one.

Every figure is a ratio of two times taken in one run on one machine. Results are written to Spark's
``noop`` sink, which computes all rows and keeps none.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import sparkext
from benchmarks import queries
from benchmarks.rides import Rides, write


def main() -> None:
    """Measure and print a table; with ``--json`` also write the figures to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the events, one repetition")
    parser.add_argument("--only", nargs="*", choices=sorted(MEASUREMENTS), default=sorted(MEASUREMENTS))
    parser.add_argument("--repetitions", type=int, default=3, help="of each measurement, whose median counts")
    parser.add_argument("--directory", type=Path, default=Path("data"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    bench = Bench(asked.directory, 10 if asked.quick else 1, 1 if asked.quick else asked.repetitions)
    figures = [figure for name in asked.only for figure in MEASUREMENTS[name](bench)]
    print(f"{'what':<66} {'measured':>10} {'target':>10}")
    for figure in figures:
        met = "met" if figure["met"] else "not met"
        print(f"{figure['what']:<66} {figure['ratio']:>9.2f}x {figure['target']:>10} {met}  ({figure['detail']})")
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n")


class Bench:
    """A session, and events of several sizes.

    Args:
        directory: Where events are kept.
        divisor: By how much the numbers of events of the targets are divided.
        repetitions: Of each measurement; the median counts.
    """

    def __init__(self, directory: Path, divisor: int, repetitions: int) -> None:
        self.directory = directory
        self.divisor = divisor
        self.repetitions = repetitions
        plain = (
            SparkSession.builder.master("local[*]")
            .appName("sparkext benchmarks")
            .config("spark.driver.memory", "8g")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        plain.sparkContext.setLogLevel("ERROR")
        self.spark = sparkext.enable(plain)

    def events(self, events: int, drivers: int) -> str:
        """A view over so many events (divided) of so many drivers."""
        rides = Rides(events // self.divisor, max(1, drivers // self.divisor))
        self.spark.read.parquet(str(write(rides, self.directory))).createOrReplaceTempView("rides")
        return "rides"

    def time(self, run: Callable[[], object]) -> float:
        """Median seconds of ``run``, after one run that does not count."""
        run()
        return statistics.median(self.once(run) for _ in range(self.repetitions))

    @staticmethod
    def once(run: Callable[[], object]) -> float:
        """Seconds of one run."""
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin

    def one(self, relation: str) -> float:
        """Seconds of one query."""
        return self.time(lambda: discard(self.spark.sql(queries.one(relation))))

    def pool(self, relation: str, number: int) -> tuple[float, float]:
        """Seconds until all results of a pool of views are there, and then to read every view."""
        views = [f"pool_{i}" for i in range(number)]
        for view, text in zip(views, queries.pool(relation, number), strict=True):
            self.spark.sql(f"CREATE OR REPLACE TEMP VIEW {view} AS {text}")

        def compute() -> None:
            self.spark.sql("REFRESH SHARING")
            discard(self.spark.table(views[0]))

        seconds = self.time(compute)
        reading = self.once(lambda: discard(*map(self.spark.table, views)))
        for view in views:
            self.spark.catalog.dropTempView(view)
        self.spark.sql("REFRESH SHARING")
        return seconds, reading


def discard(*frames: DataFrame) -> None:
    """Compute all rows of each frame."""
    for frame in frames:
        frame.write.format("noop").mode("overwrite").save()


def against_spark(bench: Bench) -> list[dict[str, Any]]:
    """One query against the same shuffle, sort and count without Python."""
    relation = bench.events(10_000_000, 100_000)
    source = bench.spark.table(relation).select("district", "driver", "ts", "action")
    tasks = bench.spark.table(relation).rdd.getNumPartitions()

    def spark_alone() -> None:
        discard(source.repartition(tasks, "district", "driver").sortWithinPartitions("district", "driver", "ts"))
        source.groupBy("district").count().collect()

    alone, query = bench.time(spark_alone), bench.one(relation)
    what = f"one query, {10_000_000 // bench.divisor:,} events: against Spark's shuffle + sort + count"
    return [figure(what, query / alone, 1.3, f"{query:.1f} s against {alone:.1f} s")]


def pool_against_one(bench: Bench) -> list[dict[str, Any]]:
    """A pool of 100 queries against one query, until all results are there."""
    relation = bench.events(10_000_000, 100_000)
    one, (pool, reading) = bench.one(relation), bench.pool(relation, 100)
    what = f"100 queries in a pool, {10_000_000 // bench.divisor:,} events: against one query"
    detail = f"{pool:.1f} s against {one:.1f} s; reading all 100 views then takes {reading:.1f} s"
    return [figure(what, pool / one, 2, detail)]


def pool_against_each(bench: Bench) -> list[dict[str, Any]]:
    """A pool of 100 queries against its queries one by one, until all results are there, and with all views read."""
    relation = bench.events(1_000_000, 1_000)
    texts = list(queries.pool(relation, 100))
    discard(bench.spark.sql(texts[0]))
    each = bench.once(lambda: discard(*(bench.spark.sql(text) for text in texts)))
    pool, reading = bench.pool(relation, 100)
    what = f"the same 100 queries one by one, {1_000_000 // bench.divisor:,} events: against the pool"
    detail = f"{each:.1f} s against {pool:.1f} s"
    read = f"{each:.1f} s against {pool + reading:.1f} s"
    return [
        figure(what, each / pool, 40, detail, at_least=True),
        figure("the same, and all 100 views of the pool read", each / (pool + reading), 40, read, at_least=True),
    ]


def growth(bench: Bench) -> list[dict[str, Any]]:
    """Growth with events, and with keys at the same events."""
    small = bench.one(bench.events(1_000_000, 10_000))
    large = bench.one(bench.events(10_000_000, 100_000))
    few = bench.one(bench.events(10_000_000, 100))
    many = bench.one(bench.events(10_000_000, 1_000_000))
    return [
        figure("10 x the events, per event", large / small / 10, 1.3, f"{large:.1f} s against {small:.1f} s"),
        figure("10,000 x the keys, same events", many / few, 1.3, f"{many:.1f} s against {few:.1f} s"),
    ]


def figure(what: str, ratio: float, target: float, detail: str, at_least: bool = False) -> dict[str, Any]:
    """One line of the table."""
    met = ratio >= target if at_least else ratio <= target
    sign = ">=" if at_least else "<="
    return {"what": what, "ratio": round(ratio, 3), "target": f"{sign} {target:g}x", "met": met, "detail": detail}


MEASUREMENTS: dict[str, Callable[[Bench], list[dict[str, Any]]]] = {
    "against-spark": against_spark,
    "growth": growth,
    "pool-against-each": pool_against_each,
    "pool-against-one": pool_against_one,
}


if __name__ == "__main__":
    main()
