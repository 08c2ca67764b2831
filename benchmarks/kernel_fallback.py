"""What the fallback is worth where a plan is slower than no linear forms, and what it costs where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.bench import Bench, Benchmark
from benchmarks.kernel import COUNT, MEAN, Stream, check_plans, nanoseconds, problem, query
from benchmarks.kernel_costs import HOUR, method
from benchmarks.kernel_plans import SharingIsFree, around_a_part
from benchmarks.queries import PATTERNS
from benchmarks.report import Result, Row, Table
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.measured import MeasuredCosts
from sparkext.planner.optimizers import OPTIMIZERS
from sparkext.planner.patterns.query import Query, Window
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of


def run(bench: Bench) -> Result:
    """Plans with their fallback, the same without, and no linear forms at all."""
    events, rounds = bench.pick(500_000, 50_000, 2_000), bench.pick(3, 1, 1)
    rows, table = [], []
    for what, queries, stream in workloads(events, bench.pick(1000, 25, 5)):
        template = template_of(queries)
        asked = problem(template, stream)
        lanes = compile_plan(template, share_equal_prefixes(template))
        for name, model in (("planner", MeasuredCosts()), ("all shared", SharingIsFree())):
            both = compile_plan(
                template, OPTIMIZERS["gloria"].plan(Problem(template, asked.events), model).plan, fallback=True
            )
            if not both.regions:
                continue
            plans = {"with fallback": both, "without": replace(both, fallback=None), "no forms": lanes}
            check_plans(plans, replace(stream, events=min(stream.events, 20_000)))
            took = nanoseconds({name: (plan, stream) for name, plan in plans.items()}, rounds)
            best = min(("without", "no forms"), key=took.__getitem__)
            against = "the plan alone" if best == "without" else best
            rows.append(Row(f"{what}, {name}", took["with fallback"], "ns", against, took[best]))
            table.append({"workload": what, "plan": name, **took})
    about = f"{events:,} events each; plans that have linear forms, costs `measured` with default constants"
    return Result(rows, about, method(rounds), [Table("Nanoseconds an event", table)])


def workloads(events: int, most: int) -> Iterator[tuple[str, list[Query], Stream]]:
    """Pools and events."""
    ride = Stream(events, max(1, events // 100))
    trips = [query(f"q{i}", PATTERNS[i % 25], (COUNT, MEAN)[i // 25 % 2]) for i in range(min(50, most))]
    yield "25 patterns of rides", trips, ride
    hour = Window(HOUR, HOUR // 360)
    slow = replace(ride, events=max(1, events // 2))
    yield "25 patterns, 360 windows", [query(f"q{i}", text, window=hour) for i, text in enumerate(PATTERNS)], slow
    for length in (5, 10):
        what, pool, stream = next(around_a_part(most, events, (length,)))
        yield f"{most} queries with {what}", pool, replace(stream, keys=max(1, events // 1000))


BENCHMARK = Benchmark("kernel-fallback", "Plans with linear forms, and their fallback", run)
