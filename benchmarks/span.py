"""SPAN against tumbling windows of the same length, by hand: ``python -m benchmarks.span``.

Prints nanoseconds an event in the kernel, of one key, and how often those of windows they are: for spans of more and
more events. With ``--whole``, also seconds of whole runs through Spark.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.kernel import COUNT, Stream, compiled, nanoseconds, query
from benchmarks.rides import Rides
from benchmarks.same import ResultsDifferError
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, Function, Window
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm

PATTERN = "A B+ C"
APART = 1_000
"""Microseconds between two events."""

MEASURES = {
    "COUNT(*)": (COUNT,),
    "LOG10_COUNT(*), AVG(B.value)": (
        Aggregate(Function.LOG10_COUNT),
        Aggregate(Function.AVG, "B", Attribute("value", "double")),
    ),
}
WHOLE = ("Request Travel+ Delivery", "LOG10_COUNT(*) AS digits")


def plans(measures: str, events: int) -> tuple[KernelPlan, KernelPlan]:
    """Of a query in tumbling windows of so many events, and of the same with a span of that length."""
    length = events * APART
    aggregates = MEASURES[measures]
    windowed = query("windowed", PATTERN, *aggregates, window=Window(length, length))
    spanned = replace(query("spanned", PATTERN, *aggregates, window=None), span=length)
    return compiled([windowed]), compiled([spanned])


def check(stream: Stream, events: int) -> None:
    """Trends of two events, which are counted by looking up times.

    Raises:
        ResultsDifferError: The kernel counts others.
    """
    length = events * APART
    plan = compiled([replace(query("pairs", "A C", window=None), span=length)])
    rows = stream.rows(plan)
    found = (
        pa.Table.from_batches(PoolRun(plan, Layout(1, 1), form=KernelForm(0)).results(iter([rows])))
        .column("exact_0")
        .to_pylist()
    )
    moment, bits = (np.asarray(rows.column(index)) for index in (2, 3))
    first, last = (moment[bits & (1 << index) != 0] for index, _ in enumerate(plan.classes))
    expected = int((np.searchsorted(first, last) - np.searchsorted(first, last - length + 1)).sum())
    if found != [expected]:
        raise ResultsDifferError(f"pairs in a span of {events:,} events: {found}, and there are {expected}")


def kernel(events: int, rounds: int) -> None:
    """Print nanoseconds an event."""
    stream = Stream(events, 1, apart=APART, mix={"A": 1, "B": 1, "C": 1})
    check(stream, 10_000)
    print(f"`{PATTERN}`, {stream}, the least of {rounds} rounds in turn")
    for measures in MEASURES:
        lengths = [length for length in (10, 30, 100, 1_000, 10_000, 40_000) if length <= events]
        pairs = {length: plans(measures, length) for length in lengths}
        cases = {f"{kind} {n}": (plan, stream) for n in lengths for kind, plan in zip("ws", pairs[n], strict=True)}
        taken = nanoseconds(cases, rounds)
        for length in lengths:
            windowed, spanned = taken[f"w {length}"], taken[f"s {length}"]
            shown = f"{spanned:.0f} ns, in windows {windowed:.0f} ns: {spanned / windowed:.2f} times as long"
            print(f"{measures}, SPAN of {length:,} events: {shown}", flush=True)


def whole(events: int, directory: Path) -> None:
    """Print seconds of whole runs, a query by itself at a time."""
    bench = Bench("full", directory)
    try:
        bench.rides(Rides(events, 1, seconds_between=1.0))
        bench.spark.conf.set("spark.sparkext.cache", "off")
        pattern, measures = WHOLE
        lengths = {n: f"INTERVAL {n} SECONDS" for n in (5_000, 10_000, 20_000)}
        runs: dict[str, Callable[[], object]] = {
            windows: partial(_compute, bench, f"MEASURES {measures} PATTERN ({pattern}) {windows}")
            for length in lengths.values()
            for windows in (f"WITHIN {length}", f"SPAN {length}")
        }
        times = bench.times(runs)
        for length in lengths.values():
            windowed, spanned = times[f"WITHIN {length}"], times[f"SPAN {length}"]
            shown = f"{spanned:.2f} s, in windows {windowed:.2f} s: {spanned / windowed:.2f} times as long"
            print(f"`{pattern}`, {events:,} events of one key, one a second, SPAN {length}: {shown}", flush=True)
    finally:
        bench.close()


def _compute(bench: Bench, clause: str) -> None:
    bench.spark.sql(
        f"SELECT * FROM rides MATCH_TREND (PARTITION BY driver ORDER BY ts TYPE BY action {clause})"
    ).toArrow()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--whole", action="store_true", help="also through Spark")
    options = parser.parse_args()
    kernel(options.events, options.rounds)
    if options.whole:
        with TemporaryDirectory() as directory:
            whole(options.events, Path(directory))


if __name__ == "__main__":
    main()
