"""Statistics and changes of plan, without Spark."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from sparkext.execution.sample import counted
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.measured import MeasuredCosts
from sparkext.planner.costs.migration import migration
from sparkext.planner.costs.paper import PaperCosts
from sparkext.planner.costs.statistics import ASSUMED, ExpectedEvents, ObservedStatistics, are_near, expectations
from sparkext.planner.kernel_plan.kernel_plan import Layout
from sparkext.planner.optimizers import optimize
from sparkext.planner.patterns.query import EventClass
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.workers import counters
from sparkext.udfs.workers.pool_run import PoolRun
from tests.support.kernel_harness import cut, kernel_rows, sorted_rows, source_batch
from tests.support.kernel_twin import KernelRow
from tests.support.optimizer_workloads import problem
from tests.support.workloads import workload

A, B, FAST = EventClass("ty", "A", None), EventClass("ty", "B", None), EventClass("ty", "B", "v > 1")


def test_events_in_a_window() -> None:
    """With no window each combination of keys is one; else as many as windows fit into its time, at least one."""
    seen = ObservedStatistics({A: 120}, keys=4, span=400, origin="here")
    assert seen.expected(A, None) == ExpectedEvents(30.0, "here")
    assert seen.expected(A, 10) == ExpectedEvents(3.0, "here")
    assert seen.expected(A, 1000) == ExpectedEvents(30.0, "here")
    assert seen.expected(B, 10) is None


def test_who_is_believed() -> None:
    """The user first, by class and then by type; then what was seen, the most trusted first; else a guess."""
    counted, sampled = ObservedStatistics({A: 10}, 1, 0, "counted"), ObservedStatistics({A: 20, B: 30}, 1, 0, "sample")
    expected_events = expectations([A, B, FAST], None, {"B[v > 1]": 7.0}, [counted, sampled])
    assert expected_events == {
        A: ExpectedEvents(10.0, "counted"),
        B: ExpectedEvents(30.0, "sample"),
        FAST: ExpectedEvents(7.0, "given"),
    }
    assert expectations([FAST], None, {"B": 5.0}, []) == {FAST: ExpectedEvents(5.0, "given")}
    assert expectations([A], None, {}, []) == {A: ExpectedEvents(ASSUMED, "assumed")}


def test_a_better_plan_that_pays() -> None:
    """Sharing pays when there are few events of the snapshots' type; whether to change depends on how often."""
    few = problem(["A B C D"] * 4, {"A": 1, "B": 50, "C": 50, "D": 50})
    best = optimize(few, PaperCosts(), "gloria").plan_result
    change = migration(few, PaperCosts(), share_nothing(few.template), best.plan, windows=1)
    assert change.pays
    assert change.new == best.cost < change.old
    assert not migration(few, PaperCosts(), best.plan, best.plan, windows=10**9).pays


@pytest.mark.parametrize(("windows", "pays"), [(1, False), (10**9, True)])
def test_a_change_costs_time(windows: float, pays: bool) -> None:
    model = MeasuredCosts()
    many = problem(["A+ B"] * 3, {"A": 50, "B": 50})
    best = optimize(many, model, "gloria").plan_result.plan
    change = migration(many, model, share_nothing(many.template), best, windows)
    assert change.saved == pytest.approx((change.old - change.new) * windows * 1e-9)
    assert change.pays is pays


def test_runs() -> None:
    """Those that have been counted; else as many as there are when events are randomly mixed."""
    seen = ObservedStatistics({A: 120, B: 40}, keys=4, span=400, origin="counted", runs={A: 12.0, B: 8.0})
    (of_a, of_b) = (expectations([event], 10, {}, [seen])[event] for event in (A, B))
    assert (of_a.runs, of_b.runs) == (0.3, 0.2)
    assert of_a.runs_among(4.0) == 0.3
    assert [ExpectedEvents(3.0, "sample").runs_among(total) for total in (3.0, 4.0, 0.0)] == [0.0, 0.75, 0.0]
    mixed = problem(["A B+ C"], {"A": 30.0, "B": 60.0, "C": 10.0})
    a, b, c = (str(state.event) for state in mixed.template.states)
    assert (a[-1], b[-1], c[-1]) == ("A", "B", "C")
    assert mixed.changes((1,), (0,)) == 20.0
    assert mixed.changes((1,), (0, 2)) == 24.0
    assert mixed.changes((1,), (0,), more=90.0) == 40.0
    assert mixed.changes((), (0,)) == mixed.changes((1,), ()) == 0.0
    in_runs = replace(mixed, runs=(3.0, 5.0, 10.0))
    assert in_runs.changes((1,), (0,)) == 3.0
    assert in_runs.changes((1,), (0, 2)) == 5.0
    assert in_runs.changes((1,), (), more=1.0) == 60 / 61


def test_what_is_near() -> None:
    """A pass that finds events in runs where they were believed to be mixed leads to another plan."""
    mixed = {A: ExpectedEvents(40.0, "sample"), B: ExpectedEvents(60.0, "sample")}
    assert are_near({A: ExpectedEvents(70.0, "counted", 25.0), B: ExpectedEvents(60.0, "counted", 25.0)}, mixed)
    assert not are_near({A: ExpectedEvents(90.0, "counted", 25.0), B: ExpectedEvents(60.0, "counted", 25.0)}, mixed)
    assert not are_near({A: ExpectedEvents(40.0, "counted", 2.0), B: ExpectedEvents(60.0, "counted", 2.0)}, mixed)


def follows(row: KernelRow, before: KernelRow | None, event: int) -> bool:
    """Whether the event before is of the same keys and of a class."""
    return before is not None and (row.group, row.other) == (before.group, before.other) and event in before.classes


@pytest.mark.parametrize("seed", range(20))
def test_counters(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass counts the events of each class, their runs, the keys, and the time from first to last event of each."""
    monkeypatch.setattr(counters, "LOOKED_AT", 1)
    drawn = workload(Random(seed))
    template = template_of(drawn.queries)
    plan = compile_plan(template, share_nothing(template))
    rows = sorted_rows(kernel_rows(plan, drawn.events()))
    if not rows:
        return
    run = PoolRun(plan, Layout(len(rows[0].group), len(rows[0].other)))
    list(run.results(cut(source_batch(plan, rows), Random(seed))))
    keys: dict[object, list[int]] = {}
    for row in rows:
        keys.setdefault(str((row.group, row.other)), []).append(row.time)
    classes = range(len(plan.classes))
    before = [None, *rows[:-1]]
    expected = [sum(index in row.classes for row in rows) for index in classes]
    expected += [
        sum(index in row.classes and not follows(row, last, index) for row, last in zip(rows, before, strict=True))
        for index in classes
    ]
    expected += [len(keys), sum(max(times) - min(times) for times in keys.values())]
    nulls = [
        sum((*row.group, *row.other)[index] is None for row in rows)
        for index in range(len(rows[0].group + rows[0].other))
    ]
    tied = sum(times.count(time) > 1 for times in keys.values() for time in times)
    totals = [*expected, *nulls, 0, run.counters.interpreted, 0, len(rows), tied]
    np.testing.assert_allclose(run.counters.totals(), totals)
    seen = counted(plan.classes, run.counters.totals(), len(nulls))
    assert seen is not None
    assert [*seen.events.values(), *seen.runs.values(), seen.keys, seen.span] == expected
    assert seen.tied == tied / len(rows)
    assert seen.null_keys == tuple(index for index, number in enumerate(nulls) if number)
