"""Thousands of views of a session: creating, planning, reading and explaining them, and replacing them."""

from __future__ import annotations

import gc
import json
import os
from dataclasses import dataclass
from functools import partial
from statistics import median

from benchmarks import queries
from benchmarks.bench import Bench, Benchmark, seconds
from benchmarks.memory import megabytes
from benchmarks.pools import Views
from benchmarks.report import Result, Row, Table, Target
from benchmarks.rides import Rides


def run(bench: Bench) -> Result:
    """The last tenth of a thousand views is timed against the first, and thousands against a hundred."""
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
    memory = Table("Memory of the driver's Python", [{"replaced": n, "MB": round(mb)} for n, mb in enumerate(sizes)])
    curve = [_each(bench, views) for views in bench.pick((100, 1_000, 3_000), (100, 300), (5, 10))]
    of_each = Table("A view of so many, in ms", [one.shown() for one in curve])
    small, large = curve[0], curve[-1]
    rows += [
        Row(f"{what} a view of {large.views:,}", after, "ms", f"of {small.views:,}", before, target)
        for what, after, before, target in (
            ("creating", large.creating, small.creating, Target(3)),
            ("reading", large.reading, small.reading, None),  # once results are over 8 MB, each read is a job
            ("explaining", large.explaining, small.explaining, Target(3)),
        )
    ]
    return Result(rows, f"{number:,} views over one relation", "median of wall times; each once", [memory, of_each])


@dataclass(frozen=True, slots=True)
class _Each:
    """What a view takes among so many, in ms.

    Attributes:
        views: How many there are.
        creating: One of them anew, which has been created before.
        reading: One, the results being there.
        explaining: All of them, for each.
    """

    views: int
    creating: float
    reading: float
    explaining: float

    def shown(self) -> dict[str, int | float]:
        """As a row of a table."""
        times = {"creating": self.creating, "reading": self.reading, "explaining": self.explaining}
        return {"views": self.views, **{what: round(took, 2) for what, took in times.items()}}


def _each(bench: Bench, number: int) -> _Each:
    """What a view takes among so many: all are created again, each is read a second time, and all are explained.

    They come one after another, so that what is remembered of too few of them would be of no use to any.
    """
    with Views(bench, list(queries.pool("rides", number))) as views:
        creating = seconds(views.create)
        views.compute()
        views.collect(range(number))
        reading = seconds(partial(views.collect, range(number)))
        explaining = seconds(lambda: bench.spark.sql("EXPLAIN SHARING").collect())
    return _Each(number, *(1000 * took / number for took in (creating, reading, explaining)))


def _megabytes() -> float:
    """What this process has in memory now."""
    gc.collect()
    [found] = megabytes(os.getpid(), "VmRSS")
    return found


BENCHMARK = Benchmark("many-views", "A thousand views of one session", run)
