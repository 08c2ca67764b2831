"""Falling runs of any length: every event is compared with all before it, in one key and one window."""

from __future__ import annotations

from math import log

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.bench import Bench, Benchmark
from benchmarks.kernel import Stream, compiled, nanoseconds, query
from benchmarks.plots import Lines
from benchmarks.report import Result, Row, Target
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import Apply, Operation, OwnAttribute, PrevAttribute, ValueKind
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Query, Step

SQL = (
    "SELECT * FROM prices MATCH_TREND (ORDER BY at MEASURES LOG10_COUNT(*) AS digits PATTERN (Start Down+) "
    "DEFINE Start AS TRUE, Down AS value < PREV(value))"
)


def falling() -> Query:
    """``Start Down+`` with ``Down AS value < PREV(value)``, over all events."""
    value = Attribute("value", "double")
    falls = Apply(
        Operation.LESS, (OwnAttribute(value, ValueKind.KEY), PrevAttribute(value, ValueKind.KEY)), ValueKind.FLAG
    )
    every = EventClass(None, None, "value >= 0")
    found = query("runs", "Start Down+", Aggregate(Function.LOG10_COUNT), window=None, types=None)
    steps = (("Down", Step("value < PREV(value)", falls, None)),)
    return Query(found.name, found.pattern, tuple((v, every) for v, _ in found.classes), found.aggregates, None, steps)


def run(bench: Bench) -> Result:
    """The kernel alone at several sizes, and the whole run on Spark."""
    from benchmarks.spark import discard

    most, rounds = bench.pick(1_000_000, 100_000, 8_000), bench.pick(5, 2, 1)
    sizes = (most // 8, most // 4, most // 2, most)
    plan = compiled([falling()])
    measured = nanoseconds({f"{size}": (plan, Stream(size, 1)) for size in sizes}, rounds)
    kernel = {size: measured[f"{size}"] * size / 1e9 for size in sizes}
    file = bench.directory / f"prices-{most}.parquet"
    if not file.exists():
        bench.directory.mkdir(parents=True, exist_ok=True)
        values = np.random.default_rng(7).random(most)
        pq.write_table(pa.table({"at": np.arange(most), "value": values}), file)
    bench.spark.read.parquet(str(file)).createOrReplaceTempView("prices")
    times = bench.times({"spark": lambda: discard(bench.spark.sql(SQL))})
    growth = 8 * log(most) / log(most // 8)
    rows = [
        Row(f"{most:,} events, the kernel alone", kernel[most], "s", target=Target(2)),
        Row(f"{most:,} events, whole run on Spark", times["spark"], "s", target=Target(2)),
        Row(
            f"{most:,} events, the kernel alone",
            kernel[most],
            "s",
            f"n log n from {most // 8:,}",
            kernel[most // 8] * growth,
            Target(1.3),
        ),
    ]
    drawn = {
        "kernel": list(kernel.items()),
        "n log n": [(size, kernel[sizes[0]] * size * log(size) / (sizes[0] * log(sizes[0]))) for size in sizes],
    }
    plot = Lines("Seconds of processor time", "events", drawn)
    method = f"kernel: processor time, least of {rounds} rounds; Spark: {bench.method}"
    what = f"`Start Down+` with `Down AS value < PREV(value)` over {most:,} random values of one key, without windows"
    return Result(rows, what, method, plots={"falling-runs": plot})


BENCHMARK = Benchmark("falling-runs", "Falling runs by `PREV`, all events of one key in one window", run)
