"""Completions against counts of the same pattern, in whole runs; ``python -m benchmarks.completions``: in the kernel.

The latter prints millions of events a second by one process, and how much longer a query takes than ``COUNT(*)`` of
the same pattern: rows of a funnel of six steps, counts of completions, windows that slide, twenty funnels.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.peers.funnels import PAGES
from benchmarks.report import Result, Row, Target
from benchmarks.same import ResultsDifferError
from benchmarks.visits import Visits, write
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
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm
from sparkext.udfs.workers.window_by_window import completion_run

STEPS = "ABCDEF"
BATCH = 10_000
EVENTS_A_USER = 100
HOUR = 3600
TIME = Attribute("ts", "bigint")
ROWS = Completion(True, (Shown(), Shown(Mark(Side.FIRST, None), TIME), Shown(Mark(Side.LAST, None), TIME)))
COUNTS = Completion(False, (), (Distinct.COMPLETIONS, Distinct.KEYS))


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
                batch.num_rows for batch in PoolRun(plan, Layout(0, 1), form=KernelForm(0)).results(iter(batches))
            )
        else:
            run = completion_run(plan, Layout(0, 1), form=KernelForm(patience=0))
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


def run(bench: Bench) -> Result:
    """Whole runs, a query by itself at a time; those in windows over few visits, since each user has many windows."""
    visits = Visits(*bench.pick((10_000_000, 100_000), (200_000, 2_000), (2_000, 20)))
    few = Visits(*bench.pick((200_000, 2_000), (20_000, 200), (2_000, 20)))
    for relation, of in (("visits", visits), ("few", few)):
        bench.spark.read.parquet(str(write(of, bench.directory))).createOrReplaceTempView(relation)
    counts = "GROUP BY country MEASURES COUNT(DISTINCT user_id) AS users, COUNT(DISTINCT LAST(*)) AS completions"
    shown = "CLASSIFIER() AS step, FIRST(ts) AS begun, LAST(ts) AS ended"
    pattern = f"FUNNEL({', '.join(PAGES[: len(STEPS)])})"
    asked = {
        "COUNT(*)": _query("visits", pattern, "MEASURES COUNT(*) AS trends"),
        "rows": _query("visits", pattern, f"ONE ROW PER COMPLETION MEASURES {shown}"),
        "counts": _query("visits", pattern, counts),
        "hours": _query("few", pattern, f"{counts} WITHIN INTERVAL 1 HOUR"),
        "sliding": _query("few", pattern, f"{counts} WITHIN INTERVAL 1 HOUR SLIDE INTERVAL 10 SECONDS"),
    }
    bench.spark.conf.set("spark.sparkext.cache", "off")
    try:
        times = bench.times({name: partial(_compute, bench, query) for name, query in asked.items()})
        rows = bench.spark.sql(asked["rows"]).count()
        counted = int(bench.spark.sql(asked["counts"]).toPandas()["completions"].sum())
    finally:
        bench.spark.conf.unset("spark.sparkext.cache")
    if rows != counted:
        raise ResultsDifferError(f"{rows} rows of completions, and {counted} counted")
    sliding = f"counted in hours each 10 s, {few.events:,} visits"
    found = [
        Row(
            "a row for each completion", times["rows"], "s", "`COUNT(*)` of its trends", times["COUNT(*)"], Target(1.3)
        ),
        Row("users and completions, counted", times["counts"], "s", "`COUNT(*)` of its trends", times["COUNT(*)"]),
        Row(sliding, times["sliding"], "s", "in hours", times["hours"], Target(1.3)),
    ]
    return Result(found, f"{visits}; `{pattern}`, {rows:,} completions", bench.method)


def _query(relation: str, pattern: str, clause: str) -> str:
    matched = f"PARTITION BY user_id ORDER BY ts TYPE BY page PATTERN ({pattern}) {clause}"
    return f"SELECT * FROM {relation} MATCH_TREND ({matched})"


def _compute(bench: Bench, query: str) -> None:
    from benchmarks.spark import discard

    discard(bench.spark.sql(query))


def main() -> None:
    """Measure the kernel and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    kernel(options.events, options.rounds)


BENCHMARK = Benchmark("completions", "Completions against counts of the same pattern", run)

if __name__ == "__main__":
    main()
