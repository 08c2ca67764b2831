"""What sharing plans are worth: the planner's plan against others, as the kernel runs them.

Whether a plan is good is what it takes, and not what a cost model says of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from random import Random

from benchmarks.bench import Bench, Benchmark
from benchmarks.calibration import measure
from benchmarks.kernel import (
    COUNT,
    MEAN,
    MINUTE,
    Stream,
    check_plans,
    nanoseconds,
    nanoseconds_of_plans,
    problem,
    query,
)
from benchmarks.kernel_costs import BURSTS, HOUR, method
from benchmarks.plots import Bars
from benchmarks.queries import PATTERNS, TRIP
from benchmarks.report import Result, Row, Table, Target
from benchmarks.rides import MIX
from benchmarks.stock import kleene, mixed, sequences, ticks, workload
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.measured import Constants
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.optimizers import OPTIMIZERS, cost_model
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.planner.problem.cost_model import Charge, Departure
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.template import template_of

PLANNER, DEFAULTS, NONE, ALL, GREEDY = "planner", "default constants", "none", "all shared", "greedy"
BEFORE = [f"B{number}" for number in range(40)]
AFTER = [f"E{number}" for number in range(25)]


class SharingIsFree:
    """Costs with which sharing all that can be shared is the best plan."""

    name = "sharing is free"
    fewest = 2
    merges = False

    def may_pay(self, problem: Problem, transition: int) -> bool:
        """Whenever there are two queries."""
        return len(problem.plain[transition]) >= self.fewest

    def gain_nothing(self, problem: Problem) -> frozenset[int]:
        """None."""
        del problem
        return frozenset()

    def start(self, problem: Problem, query: int, state: int) -> Iterable[Charge]:
        """Nothing."""
        del problem, query, state
        return ()

    def alone(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """One for each query."""
        del problem
        yield ("alone", query, transition), 1.0

    def entry(self, problem: Problem, query: int, transition: int) -> Iterable[Charge]:
        """As alone."""
        return self.alone(problem, query, transition)

    def shared(self, problem: Problem, query: int, transition: int, snapshot: int) -> Iterable[Charge]:
        """Next to nothing for the whole Q-set."""
        del problem, query, transition, snapshot
        yield "shared", 1e-3

    def evaluation(
        self, problem: Problem, query: int, state: int, snapshot: int, leaving: Departure
    ) -> Iterable[Charge]:
        """Still less."""
        del problem, leaving
        yield ("evaluation", query, state, snapshot), 1e-6


@dataclass(frozen=True, slots=True)
class Plans:
    """Plans of one pool, by name, and how many seconds it took to find each."""

    kernel: dict[str, KernelPlan]
    seconds: dict[str, float]


def plans(queries: Sequence[Query], stream: Stream, constants: Constants, names: Sequence[str]) -> Plans:
    """The plans of these names, for a pool and the events that it will see; all are known to have equal results.

    Raises:
        ResultsDifferError: Two plans have different results.
    """
    template = template_of(queries)
    asked, measured = problem(template, stream), cost_model("measured", constants)
    ways = {
        PLANNER: lambda: OPTIMIZERS["gloria"].plan(asked, measured),
        DEFAULTS: lambda: OPTIMIZERS["gloria"].plan(Problem(template, asked.events), cost_model("measured")),
        NONE: lambda: OPTIMIZERS["none"].plan(asked, measured),
        ALL: lambda: OPTIMIZERS["gloria"].plan(Problem(template, asked.events), SharingIsFree()),
        GREEDY: lambda: OPTIMIZERS["greedy"].plan(Problem(template, asked.events), measured),
    }
    made, seconds = {}, {}
    for name in names:
        begin = time.process_time()
        found = ways[name]().plan
        seconds[name] = time.process_time() - begin
        made[name] = compile_plan(template, found)
    check_plans(made, stream)
    return Plans(made, seconds)


def thousand(bench: Bench) -> Result:
    """1000 queries that share a Kleene part, with the planner's plan and with none."""
    number = bench.pick(1000, 100, 20)
    events, rounds = bench.pick(20_000, 5_000, 500), bench.pick(3, 1, 1)
    constants = measure(bench.pick(200_000, 100_000, 2_000))
    names = bench.pick((NONE, PLANNER, DEFAULTS), (NONE, PLANNER), (NONE, PLANNER, DEFAULTS))
    rows, planning = [], []
    for what, queries, stream in around_a_part(number, events, bench.pick((2, 5, 10), (5,), (5,))):
        made = plans(queries, stream, constants, names)
        took = nanoseconds({name: (plan, stream) for name, plan in made.kernel.items()}, rounds)
        nothing = f"{what}: nothing shared"
        rows.append(Row(nothing, took[NONE], "ns", "the planner's plan", took[PLANNER], Target(10, at_least=True)))
        if DEFAULTS in took:
            rows.append(Row(nothing, took[NONE], "ns", "planned with default constants", took[DEFAULTS]))
        planning.append({"pool": what, **{name: made.seconds[name] for name in names if name != NONE}})
    what = f"{number} queries each, `COUNT(*)`, 20-minute windows that slide by 5; {events:,} events of 10 keys"
    bars = Bars(
        "Time of the plan that shares nothing, to that of the planner's plan",
        [(row.what.split(":")[0], row.reached) for row in rows if row.target is not None],
    )
    tables = [Table("Seconds of processor time to plan", planning)]
    return Result(rows, f"{what}; {_calibrated(constants)}", method(rounds), tables, {"kernel-thousand": bars})


def _calibrated(constants: Constants) -> str:
    known = ", ".join(f"{name} {value:g}" for name, value in asdict(constants).items())
    return f"costs `measured`, calibrated in this run ({known} ns)"


def around_a_part(number: int, events: int, lengths: Sequence[int]) -> Iterator[tuple[str, list[Query], Stream]]:
    """Pools with 40 beginnings and 25 ends of their own, which are a fifth of the events."""
    ends = [(before, after) for after in AFTER for before in BEFORE][:number]
    around = dict.fromkeys((*BEFORE, *AFTER), 0.2 / 65)
    for length in lengths:
        part = [f"K{index}" for index in range(length)]
        mix = around | dict.fromkeys(part, 0.8 / length)
        queries = [query(f"q{i}", f"{b} ({' '.join(part)})+ {a}") for i, (b, a) in enumerate(ends)]
        yield f"a Kleene part of {length} types", queries, Stream(events, 10, MINUTE // 10, mix)
    speeds = [
        query(f"q{i}", PATTERNS[i % 25], conditions={PATTERNS[i % 25].split("+ ")[1].split()[0]: f"speed > {i // 25}"})
        for i in range(number)
    ]
    yield "25 patterns of rides, 40 conditions", speeds, Stream(events, 10, MINUTE // 10)


def suite(bench: Bench) -> Result:
    """The planner's plan against the best of the others, over all workloads."""
    events, rounds = bench.pick(200_000, 10_000, 500), bench.pick(3, 2, 1)
    constants = measure(bench.pick(200_000, 100_000, 2_000))
    rows, table = [], []
    for what, queries, stream in workloads(events, bench.pick(1000, 20, 5)):
        made = plans(queries, stream, constants, (PLANNER, NONE, ALL, GREEDY))
        took = nanoseconds_of_plans(made.kernel, stream, rounds)
        best = min((NONE, ALL, GREEDY), key=took.__getitem__)
        rows.append(Row(what, took[PLANNER], "ns", best, took[best]))
        table.append({"workload": what, "queries": len(queries), **took})
    worst = max(rows, key=lambda row: row.reached)
    head = Row(f"the worst of {len(rows)}: {worst.what}", worst.value, "ns", worst.against, worst.base, Target(1.1))
    sizes = f"{events:,} events each; {_calibrated(constants)}"
    bars = Bars(
        "Time of the planner's plan to that of the best of the others", [(row.what, row.reached) for row in rows]
    )
    return Result(
        [head, *rows], sizes, method(rounds), [Table("Nanoseconds an event by plan", table)], {"kernel-plans": bars}
    )


def workloads(events: int, most: int) -> Iterator[tuple[str, list[Query], Stream]]:
    """What the suite measures with, without Spark: rides, bursts, windows, tickers; pools of ``most`` or fewer."""
    few, hundred = max(1, most // 10), min(100, most)
    ride = Stream(events, max(1, events // 100))
    trips = [query(f"q{i}", PATTERNS[i % 25], (COUNT, MEAN)[i // 25 % 2]) for i in range(min(50, most))]
    yield "one query", [query("q", TRIP)], ride
    yield "25 patterns, `COUNT` and `AVG`", trips, ride
    for burst in BURSTS[1:]:
        yield f"the same, bursts of {burst}", trips, Stream(events, max(1, events // 1000), MINUTE // 10, burst=burst)
    hour = Window(HOUR, HOUR // 360)
    yield "25 patterns, 360 windows", [query(f"q{i}", text, window=hour) for i, text in enumerate(PATTERNS)], ride
    speeds = [
        query(f"q{i}", PATTERNS[i % 25], conditions={"Pickup": f"speed > {5 * (i // 25)}"}) for i in range(hundred)
    ]
    yield "25 patterns, 4 conditions on Pickup", speeds, ride
    wide = [
        query(f"q{i}", PATTERNS[i % 25], window=Window((5, 10, 20)[i % 3] * MINUTE, 5 * MINUTE)) for i in range(few)
    ]
    yield "rides, windows of three lengths", wide, ride
    for number in sorted({few, hundred, most}):
        _, pool, stream = next(around_a_part(number, events, (5,)))
        yield f"{number} queries with a Kleene part of 5 types", pool, stream
    runs = Aggregate(Function.SUM, "Travel", Attribute("duration", "double"))
    stays = [query(f"q{i}", f"{a} Travel+ {b}", (COUNT, runs)[i % 2]) for i, (a, b) in enumerate(_pairs())][:few]
    yield "rides, `A Travel+ B`", stays, ride
    for name, patterns in _stock(hundred):
        queries = workload(patterns, Random(1))
        yield f"stock, {name}", queries, ticks(queries, events)


def _pairs() -> Iterator[tuple[str, str]]:
    """Beginnings and ends of trends with any number of stretches."""
    for before in MIX:
        for after in MIX:
            if "Travel" not in (before, after) and before != after:
                yield before, after


def _stock(number: int) -> Iterator[tuple[str, list[str]]]:
    yield f"{number} sequences", sequences(number, Random(number))
    yield f"{number} mixed", mixed(number, Random(number))
    yield "Kleene parts of 2 types", kleene(min(50, number), 2, 1, Random(2))
    yield "Kleene parts of 10 types", kleene(min(50, number), 10, 1, Random(10))
    yield "Kleene parts in three layers", kleene(min(50, number), 6, 3, Random(3))


THOUSAND = Benchmark(
    "kernel-thousand", "1000 queries with a Kleene part in common: nothing shared against the planner's plan", thousand
)
SUITE = Benchmark("kernel-plans", "The planner's plan against the best of others, over all workloads", suite)
