"""Strategies that papers propose, held against each other as their papers do: what plans cost, take to find and to run.

All plans are run by the same kernels, which keep totals and are linear in the events; only what ``mcep`` builds is
built match by match.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf

from benchmarks.bench import Bench, Benchmark
from benchmarks.calibration import measure
from benchmarks.kernel import check_plans, nanoseconds, nanoseconds_of_plans, problem
from benchmarks.kernel_costs import method
from benchmarks.plots import Bars, Lines
from benchmarks.report import Result, Row, Table, Target
from benchmarks.strategy_pools import LONG, Case, growing, repeated, sequences
from sparkext.planner.budget import DEFAULT_SECONDS, Budget
from sparkext.planner.compiler.burst_lengths import break_even, mean_burst, with_choices
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.measured import Constants, MeasuredCosts
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.optimizers import OPTIMIZERS, cost_model
from sparkext.planner.problem.cost_model import CostModel
from sparkext.planner.problem.plan_cost import plan_cost
from sparkext.planner.problem.problem import Problem
from sparkext.planner.problem.strategy import PlanResult
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of

BEGINNINGS = "equal beginnings"
"""Name of the plan that shares what is equal anyway, which every strategy but ``none`` has for nothing."""

CHECKED = 20_000
"""Most events whose results are held against each other."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a strategy has made of a pool.

    Attributes:
        kernel: Its plan; None if it leaves the query alone.
        cost: Of the plan.
        seconds: Processor time that it took to find.
    """

    kernel: KernelPlan | None
    cost: float
    seconds: float


def planned(case: Case, model: CostModel, names: Sequence[str]) -> dict[str, Planned]:
    """The plan of each strategy, found in the budget that users have."""
    template = template_of(case.queries)
    seen = problem(template, case.stream)
    constants = model.constants if isinstance(model, MeasuredCosts) else Constants()
    made = {}
    for name in names:
        asked = replace(seen, budget=Budget(DEFAULT_SECONDS))
        begin = time.process_time()
        found = _equal_beginnings(asked, model) if name == BEGINNINGS else OPTIMIZERS[name].plan(asked, model)
        seconds = time.process_time() - begin
        matches = found.matches
        is_known = matches is None or bool(matches.roots)
        kernel = compile_plan(template, found.plan, matches=matches) if is_known else None
        if kernel is not None and found.chooses_bursts:
            kernel = with_choices(kernel, constants, mean_burst(asked, found.plan))
        made[name] = Planned(kernel, found.cost, seconds)
    return made


def _equal_beginnings(asked: Problem, model: CostModel) -> PlanResult:
    plan = share_equal_prefixes(asked.template)
    return PlanResult(plan, plan_cost(asked, model, plan))


class Comparison:
    """Strategies on several pools, the first of which shares nothing, and the second what is equal anyway.

    Attributes:
        rows: What plans take, against nothing shared.
        table: What plans cost, take to find and to run.
        times: By pool, nanoseconds an event of each plan.
    """

    def __init__(self, names: Sequence[str], rounds: int) -> None:
        """Compare strategies of these names."""
        self._names = names
        self._rounds = rounds
        self.rows: list[Row] = []
        self.table: list[dict[str, object]] = []
        self.times: dict[str, dict[str, float]] = {}

    def add(self, case: Case, model: CostModel) -> Mapping[str, float]:
        """Compare on one more pool; returns nanoseconds an event of each plan.

        Raises:
            ResultsDifferError: Two plans have different results.
        """
        made = planned(case, model, self._names)
        plans = {name: plan.kernel for name, plan in made.items() if plan.kernel is not None}
        check_plans(plans, replace(case.stream, events=min(CHECKED, case.stream.events)))
        took = nanoseconds_of_plans(plans, case.stream, self._rounds)
        nothing = self._names[0]
        self.times[case.what] = took
        for name in self._names[2:]:
            self.rows.append(Row(f"{case.what}: nothing shared", took[nothing], "ns", f"`{name}`", took[name]))
        for name, plan in made.items():
            self.table.append(
                {
                    "workload": case.what,
                    "strategy": name,
                    "cost": plan.cost / made[nothing].cost,
                    "ms to plan": round(1000 * plan.seconds, 1),
                    "ns an event": took[name],
                    "time": took[name] / took[nothing],
                }
            )
        return took


def run(bench: Bench) -> Result:
    """All comparisons."""
    rounds = bench.pick(3, 1, 1)
    events = bench.pick(100_000, 20_000, 400)
    measured = MeasuredCosts(measure(bench.pick(200_000, 100_000, 2_000)))
    rows, tables, plots = list[Row](), list[Table](), dict[str, Bars | Lines]()

    found = Comparison(("none", BEGINNINGS, "sharon", "gloria"), rounds)
    drawn: dict[str, list[tuple[float, float]]] = {}
    length = bench.pick(10, 10, 6)
    for number in bench.pick((20, 40, 80, 120), (20, 60), (4, 6)):
        for model in (measured, cost_model("paper")):
            case = sequences(number, length, events)
            took = found.add(replace(case, what=f"{case.what}, costs `{model.name}`"), model)
            for name, taken in took.items():
                drawn.setdefault(f"{name}, {model.name}", []).append((number, taken))
    rows += found.rows
    tables.append(Table(f"Sequences of {length} types; cost and time of what shares nothing are 1", found.table))
    plots["strategies-sequences"] = Lines("Sequences: nanoseconds an event", "queries", drawn)

    found = Comparison(("none", BEGINNINGS, "hamlet", "gloria"), rounds)
    drawn = {}
    queries = bench.pick(100, 100, 4)
    for burst in bench.pick((1, 2, 5, 10, 20, 50, 100, 200), (1, 20, 200), (1, 20)):
        took = found.add(repeated(f"`X B+ Y`, bursts of {burst}", "B", queries, events, burst), measured)
        for name, taken in took.items():
            drawn.setdefault(name, []).append((burst, taken))
    found.add(repeated("`X B+ Y`, bursts of 1 and of 200", "B", queries, events, 1, 200), measured)
    rows += found.rows
    tables.append(Table(f"{queries} queries `X B+ Y`, by mean number of events of a type in a row", found.table))
    plots["strategies-bursts"] = Lines("`X B+ Y`: nanoseconds an event", "mean number of events in a row", drawn)

    found = Comparison(("none", BEGINNINGS, "hamlet", "gloria"), rounds)
    for burst in bench.pick((1, 20, 200), (1, 20), (1, 20)):
        for what, part in (("`A B+ C`", "B"), ("a part of 8 types", LONG)):
            found.add(repeated(f"{what}, bursts of {burst}", part, queries, events, burst), measured)
    rows += found.rows
    tables.append(Table(f"{queries} queries with simple and complex Kleene parts, ends of their own", found.table))
    others = [(what, took, name) for what, took in found.times.items() for name in ("hamlet", "gloria")]
    plots["strategies-complex"] = Bars(
        "Time of what shares nothing, to that of the plan",
        [(f"{what}: {name}", took["none"] / took[name]) for what, took, name in others],
        [f"{what}: {name}" for what, _, name in others if name == "gloria"],
    )

    more, table, lines = by_length(bench, measured, 2 * rounds)
    rows += more
    tables.append(Table("Nanoseconds an event of plans of `hamlet`, by mean number of events in a row", table))
    plots["strategies-other-bursts"] = Lines(
        "`X B+ Y`, plans of `hamlet`: nanoseconds an event", "mean number of events in a row", lines
    )

    more, table, lines = matches(bench, measured)
    rows += more
    tables.append(Table("One sequence, by events of a window; nothing where more than 10,000,000 are expected", table))
    plots["strategies-matches"] = Lines("Nanoseconds an event", "events of a window", lines)
    about = (
        f"{events:,} events each, `measured` calibrated in this run, {DEFAULT_SECONDS:g} s to plan; without fallback"
    )
    return Result(rows, about, method(rounds), tables, plots)


def by_length(
    bench: Bench, model: MeasuredCosts, rounds: int
) -> tuple[list[Row], list[dict[str, object]], dict[str, list[tuple[float, float]]]]:
    """Plans of HAMLET for bursts of each length, beside nothing shared.

    As they are planned: with a choice for each burst, where that is expected to pay. And with all bursts shared, with
    none, and with those that are long enough.

    Raises:
        ResultsDifferError: Two plans have different results.
    """
    rows, table, lines = list[Row](), list[dict[str, object]](), dict[str, list[tuple[float, float]]]()
    many, events = bench.pick(100, 100, 4), bench.pick(100_000, 20_000, 400)
    lengths = bench.pick((1, 2, 5, 10, 20, 50, 100, 200), (1, 5, 200), (1, 20))
    for queries in (2, many):
        for burst, odd in (*((length, None) for length in lengths), (1, 20), (1, 200)):
            what = f"bursts of {burst}" if odd is None else f"bursts of {burst} and of {odd}"
            case = repeated(what, "B", queries, events, burst, odd)
            made = planned(case, model, ("none", "hamlet"))
            nothing, chosen = made["none"].kernel, made["hamlet"].kernel
            assert nothing is not None
            assert chosen is not None
            # Where forms take so long that sharing pays for bursts of no length, the plan has no region.
            least = break_even(chosen, 0, model.constants) if chosen.regions else inf
            plans = {
                "none": nothing,
                "all shared": _shared_from(chosen, 0),
                "none shared": _shared_from(chosen, None),
                "each by its length": _shared_from(chosen, None if least == inf else ceil(least)),
                "as planned": chosen,
            }
            check_plans(plans, replace(case.stream, events=min(CHECKED, events)))
            took = nanoseconds_of_plans(plans, case.stream, rounds)
            best = min(("all shared", "none shared"), key=took.__getitem__)
            said = f"{queries} queries `X B+ Y`, {what}: `hamlet`"
            target = Target(1.1) if queries == 100 else None
            rows.append(Row(said, took["as planned"], "ns", best, took[best], target))
            if queries == 100 and odd is None and burst >= 20:
                rows.append(Row(said, took["as planned"], "ns", "none", took["none"], Target(0.8)))
            table.append({"queries": queries, "workload": what, **took})
            if odd is None and queries == many:
                for name, taken in took.items():
                    lines.setdefault(name, []).append((burst, taken))
    return rows, table, lines


def _shared_from(plan: KernelPlan, least: int | None) -> KernelPlan:
    """A plan whose bursts are shared from so many events on; None for none."""
    return replace(plan, regions=tuple(replace(region, shares_from=least) for region in plan.regions))


def matches(
    bench: Bench, model: CostModel
) -> tuple[list[Row], list[dict[str, object]], dict[str, list[tuple[float, float]]]]:
    """Matches that are built, against totals, until more partial matches are expected than may be built."""
    rows, table, lines = list[Row](), list[dict[str, object]](), dict[str, list[tuple[float, float]]]()
    sizes = bench.pick((10, 30, 100, 200, 1_000, 3_000), (10, 30, 100), (10, 20))
    for types in (3, 4, 5):
        for size, case in growing(sizes, types, bench.pick(5_000, 1_000, 100)):
            made = planned(case, model, ("none", "mcep"))
            plans = {name: plan.kernel for name, plan in made.items() if plan.kernel is not None}
            check_plans(plans, case.stream)
            took = nanoseconds({name: (plan, case.stream) for name, plan in plans.items()}, 1)
            for name, taken in took.items():
                lines.setdefault(f"{name}, {types} types", []).append((size, taken))
            if "mcep" in took:
                rows.append(Row(f"{case.what}: `mcep`", took["mcep"], "ns", "`none`", took["none"]))
            table.append({"types": types, "events": size, "none": took["none"], "mcep": took.get("mcep")})
            if "mcep" not in took:
                break
    return rows, table, lines


BENCHMARK = Benchmark("strategies", "SHARON, HAMLET, MCEP and GLORIA against nothing shared", run)
