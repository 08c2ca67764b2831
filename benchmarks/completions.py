"""Completions against counts of the same pattern: ``python -m benchmarks.completions``.

Prints millions of events a second in the kernel, by one process, and how much longer a query takes than ``COUNT(*)`` of
the same pattern: rows of a funnel of six steps, counts of completions, windows that slide, twenty funnels. With
``--whole``, also seconds through Spark, of a source that is read and sorted once for each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench
from sparkext.planner.compiler.compile import compile_completions, compile_plan
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.query import (
    Aggregate,
    Completion,
    Distinct,
    EventClass,
    Function,
    Mark,
    Query,
    Shown,
    Side,
    Window,
)
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.completions.completion_machine import CompletionMachine
from sparkext.udfs.completions.kernel_form import Form
from sparkext.udfs.workers.completion_run import CompletionRun
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm

STEPS = "ABCDEF"
BATCH = 10_000
EVENTS_A_USER = 100
HOUR = 3600
TIME = Attribute("ts", "bigint")
ROWS = Completion(True, (Shown(), Shown(Mark(Side.FIRST, None), TIME), Shown(Mark(Side.LAST, None), TIME)))
COUNTS = Completion(False, (), (Distinct.COMPLETIONS, Distinct.KEYS))
CLAUSE = "PARTITION BY user ORDER BY ts TYPE BY page PATTERN (FUNNEL(A, B, C, D, E, F))"


def funnel(name: str, completion: Completion | None, steps: str = STEPS, window: Window | None = None) -> Query:
    """A funnel, of which trends are counted where nothing is asked of completions."""
    text = f"FUNNEL({', '.join(steps)})"
    pattern = parse_pattern(lexemes(text, 0), 0, len(text))
    classes = tuple((name, EventClass("page", name, None)) for name in variables(pattern))
    counted = () if completion is not None else (Aggregate(Function.COUNT),)
    return Query(name, pattern, classes, counted, window, completion=completion)


@dataclass(frozen=True, slots=True)
class Clicks:
    """Events of users, a second apart."""

    events: int
    user: np.ndarray = field(init=False)
    page: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        chance = np.random.default_rng(0)
        object.__setattr__(self, "user", np.arange(self.events) // EVENTS_A_USER)
        object.__setattr__(self, "page", chance.integers(0, len(STEPS), self.events))

    def batches(self, plan: KernelPlan) -> list[pa.RecordBatch]:
        """As a pass has them."""
        bit_of = {event.type: 1 << number for number, event in enumerate(plan.classes)}
        bits = np.array([bit_of.get(step, 0) for step in STEPS], np.int64)[self.page]
        moment = np.arange(self.events, dtype=np.int64)
        arrays, names = [pa.array(self.user), pa.array(moment), pa.array(bits)], ["group_0", "time", "classes_0"]
        for number in range(0 if plan.completions is None else len(plan.completions.shown)):
            arrays.append(pa.array(moment))
            names.append(f"shown_{number}")
        whole = pa.RecordBatch.from_arrays(arrays, names)
        return [whole.slice(at, BATCH) for at in range(0, self.events, BATCH)]


def compiled(queries: list[Query]) -> KernelPlan:
    """The plan of some queries, all with completions or none."""
    template = template_of(queries)
    if queries[0].completion is None:
        return compile_plan(template, share_equal_prefixes(template))
    return compile_completions(template, 0, (0,))


def seconds(plan: KernelPlan, clicks: Clicks, rounds: int) -> float:
    """The least that a pass takes."""
    batches = clicks.batches(plan)
    taken: list[float] = []
    for _ in range(rounds):
        begin = time.perf_counter()
        if plan.completions is None:
            found = sum(
                batch.num_rows for batch in PoolRun(plan, Layout(1, 0), form=KernelForm(0)).results(iter(batches))
            )
        else:
            run = CompletionRun(plan, Layout(1, 0), form=KernelForm(patience=0))
            found = sum(batch.num_rows for batch in run.results(iter(batches)))
        taken.append(time.perf_counter() - begin)
        assert found > 0
    return min(taken)


def kernel(events: int, rounds: int) -> None:
    """Print what a pass of one process takes."""
    clicks = Clicks(events)
    hour, sliding = Window(HOUR, HOUR), Window(HOUR, 10)
    twenty = [funnel(f"q{number}", ROWS, STEPS[: 2 + number % 5]) for number in range(20)]
    cases: dict[str, list[Query]] = {
        "COUNT(*)": [funnel("count", None)],
        "rows": [funnel("rows", ROWS)],
        "COUNT(DISTINCT …)": [funnel("counts", COUNTS)],
        "COUNT(DISTINCT …) WITHIN 1 HOUR": [funnel("hours", COUNTS, window=hour)],
        "COUNT(DISTINCT …) WITHIN 1 HOUR SLIDE 10 SECONDS": [funnel("sliding", COUNTS, window=sliding)],
        "twenty funnels, counts": [funnel(one.name, COUNTS, STEPS[: 2 + n % 5]) for n, one in enumerate(twenty)],
    }
    CompletionMachine(compiled([funnel("warm", ROWS)]), 1 << 16, Form(patience=0))
    print(f"a funnel of six steps, {events:,} events, {EVENTS_A_USER} a user, the least of {rounds} rounds")
    taken = {name: seconds(compiled(queries), clicks, rounds) for name, queries in cases.items()}
    for name, took in taken.items():
        print(f"{name}: {events / took / 1e6:.2f} M/s, {took / taken['COUNT(*)']:.2f} times COUNT(*)", flush=True)


def whole(events: int, directory: Path) -> None:
    """Print seconds of whole runs, a query by itself at a time."""
    bench = Bench("full", directory)
    try:
        bench.spark.conf.set("spark.sparkext.cache", "off")
        rows = (
            f"SELECT CAST(hash(id) % {max(1, events // EVENTS_A_USER)} AS INT) AS user, timestamp_seconds(id) AS ts, "
            f"substr('{STEPS}', 1 + pmod(hash(id, 7), 6), 1) AS page FROM range({events})"
        )
        path = str(directory / "clicks")
        bench.spark.sql(rows).write.parquet(path)
        bench.spark.read.parquet(path).createOrReplaceTempView("clicks")
        shown = "CLASSIFIER() AS step, FIRST(ts) AS begun, LAST(ts) AS ended"
        runs: dict[str, Callable[[], object]] = {
            "COUNT(*)": partial(_compute, bench, f"MEASURES COUNT(*) AS n {CLAUSE}"),
            "rows": partial(_compute, bench, f"ONE ROW PER COMPLETION MEASURES {shown} {CLAUSE}"),
            "counts": partial(_compute, bench, f"MEASURES COUNT(DISTINCT LAST(*)) AS n {CLAUSE}"),
        }
        times = bench.times(runs)
        for name, took in times.items():
            print(f"{name}, {events:,} events: {took:.2f} s, {took / times['COUNT(*)']:.2f} times COUNT(*)", flush=True)
    finally:
        bench.close()


def _compute(bench: Bench, clause: str) -> None:
    bench.spark.sql(f"SELECT * FROM clicks MATCH_TREND ({clause})").write.format("noop").mode("overwrite").save()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--whole", action="store_true", help="also through Spark")
    options = parser.parse_args()
    kernel(options.events, options.rounds)
    if options.whole:
        with TemporaryDirectory() as directory:
            whole(options.events, Path(directory))


if __name__ == "__main__":
    main()
