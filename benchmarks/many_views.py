"""A thousand views of a session: creating, planning and reading them, and replacing them again and again."""

from __future__ import annotations

import gc
import json
import os
from functools import partial
from statistics import median

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.memory import megabytes
from benchmarks.pools import Views
from benchmarks.report import Result, Row, Table, Target
from benchmarks.rides import Rides


def run(bench: Bench) -> Result:
    """The last tenth of the views is timed against the first."""
    number = bench.pick(1_000, 300, 20)
    part = number // 10
    bench.rides(Rides(*bench.pick((200_000, 2_000), (20_000, 200), (2_000, 20))))
    with Views(bench, list(queries.pool("rides", number))) as views:
        again = [1000 * seconds(partial(views.create_one, index)) for index in range(number)]
        computing = seconds(views.compute)
        [row] = bench.spark.sql("EXPLAIN SHARING JSON").collect()
        planning = sum(pool["optimization_ms"] for pool in json.loads(row.plan)["pools"]) / 1000
        sizes = [_megabytes()]
        for _ in range(bench.pick(5, 2, 1)):
            views.create()
            views.compute()
            sizes.append(_megabytes())
    first, last = median(again[:part]), median(again[-part:])
    rows = [
        Row(f"replacing a view, the last {part} of {number:,}", last, "ms", target=Target(30)),
        Row(f"replacing a view, the last {part} of {number:,}", last, "ms", f"the first {part}", first, Target(1.5)),
        Row(f"optimizing {number:,} queries", planning, "s", target=Target(2.5)),
        Row(f"planning and computing {number:,} queries", computing, "s"),
        Row("the driver after all views were replaced again and again", sizes[-1], "MB", "once", sizes[1], Target(1.1)),
    ]
    table = Table("Memory of the driver's Python", [{"replaced": n, "MB": round(mb)} for n, mb in enumerate(sizes)])
    return Result(rows, f"{number:,} views over one relation", "median of wall times; each once", [table])


def _megabytes() -> float:
    """What this process has in memory now."""
    gc.collect()
    [found] = megabytes(os.getpid(), "VmRSS")
    return found


BENCHMARK = Benchmark("many-views", "A thousand views of one session", run)
