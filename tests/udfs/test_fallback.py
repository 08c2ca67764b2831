"""The fallback: a plan without linear forms, for stretches of a stream on which it is faster."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.query import Query, Window
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.workers.counters import OF_PASS
from sparkext.udfs.workers.fallback import FIRST, GAIN, PROBE, REST, Fallback
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm
from tests.support.kernel_harness import combined, cut, kernel_rows, query_results, sorted_rows, source_batch
from tests.support.pools import query
from tests.support.tiers import first
from tests.udfs.test_snapshots import event, over

BATCH = 10_000
POOL = ["A R (P T)+ D", "B R (P T)+ E", "R (P T)+"]


def chosen(paces: list[float], events: int, change: int | None = None) -> tuple[Fallback, list[int]]:
    """What is chosen, batch by batch, for machines of these paces, which are the other way round after a time."""
    fallback, machines = Fallback(), []
    for begin in range(0, events, BATCH):
        if change is not None and begin >= change:
            paces, change = paces[::-1], None
        machine = fallback.wanted
        machines.append(machine)
        fallback.took(machine, BATCH, BATCH * paces[machine])
    return fallback, machines


def test_the_faster_machine_takes_over() -> None:
    fallback, machines = chosen([2e-7, 1e-7], 1_000_000)
    first = FIRST // BATCH
    assert machines[:first] == [0] * first
    assert machines[first:] == [1] * (len(machines) - first)
    assert fallback.events == BATCH * sum(machines)


def test_a_slower_machine_is_tried_now_and_then() -> None:
    _, machines = chosen([1e-7, 2e-7], 10_000_000)
    trials = sum(machines)
    assert trials >= 2 * 2
    assert trials * BATCH <= 10_000_000 / (REST * 2) + 2 * 2 * PROBE
    assert machines[-1] == 0


def test_a_machine_that_is_hardly_faster_does_not_take_over() -> None:
    _, machines = chosen([1e-7, (GAIN + 0.01) * 1e-7], 1_000_000)
    assert sum(machines) == 2


def test_it_goes_back_when_the_stream_changes() -> None:
    _, machines = chosen([2e-7, 1e-7], 12_000_000, change=2_000_000)
    assert machines[150] == 1
    assert machines[-10:] == [0] * 10


def test_small_tasks_try_nothing() -> None:
    fallback, machines = chosen([9e-7, 1e-7], FIRST)
    assert fallback.events == sum(machines) == 0


def test_the_first_batch_of_a_trial_does_not_count() -> None:
    """Its caches are cold."""
    fallback = Fallback()
    fallback.took(0, FIRST, FIRST * 2e-7)
    assert fallback.wanted == 1
    fallback.took(1, PROBE, 1e9)
    fallback.took(1, PROBE, PROBE * 1e-7)
    assert fallback.wanted == 1


def pool(texts: list[str]) -> tuple[list[Query], KernelPlan]:
    queries = [query(text, window=Window(30, 10)) for text in texts]
    template = template_of(queries)
    return queries, compile_plan(template, over("R")(template), fallback=True)


def test_both_plans_have_the_same_rows() -> None:
    _, plan = pool(POOL)
    lanes = plan.fallback
    assert lanes is not None
    assert plan.regions
    assert not lanes.regions
    assert (plan.classes, plan.columns, plan.fields, plan.results) == (
        lanes.classes,
        lanes.columns,
        lanes.fields,
        lanes.results,
    )
    layouts = [[[slot.field for slot in bank.slots] for bank in kernel_plan.banks] for kernel_plan in (plan, lanes)]
    assert layouts[0] == layouts[1]


def test_one_can_take_over_from_the_other_within_a_key() -> None:
    """Each cell of either plan but for forms has one of the other; not where guards must be remembered."""
    _, plan = pool(POOL)
    assert plan.fallback is not None
    of_plan, of_fallback = zip(*plan.fallback.handover, strict=True)
    assert set(of_fallback) == set(range(len(plan.fallback.cells)))
    views = {evaluation.view for region in plan.regions for evaluation in region.space.forms}
    kept = {number for number, cell in enumerate(plan.cells) if cell.window < len(plan.windows)}
    assert set(of_plan) == kept - views
    _, guarded = pool([*POOL, "X NOT(Y) R (P T)+"])
    assert guarded.fallback is not None
    assert not guarded.fallback.handover


@pytest.mark.parametrize("seed", range(4))
def test_machines_take_turns_within_one_key(seed: int) -> None:
    """After each batch, between two times: windows go on where they were."""
    random = Random(seed)
    queries, plan = pool(POOL)
    times = sorted(random.choices(range(600), k=900))
    events = [event(queries, random.choice("ABRPPTTDE"), time, random.choice((None, 1, 2)), 0) for time in times]
    rows = sorted_rows(kernel_rows(plan, events))
    source, layout = source_batch(plan, rows), Layout(0, 1)
    outcomes = []
    for fallback in (None, Hasty()):
        run = PoolRun(plan, layout, fallback=fallback, form=KernelForm(0))
        pieces = [source.slice(at, 30) for at in range(0, len(rows), 30)]
        outcomes.append(
            combined(plan, layout, [row for batch in run.results(iter(pieces)) for row in batch.to_pylist()])
        )
        assert (0 < run.counters.by_fallback < len(rows)) is (fallback is not None)
    for asked, result in zip(queries, plan.results, strict=True):
        first, second = (query_results(asked, result, partial) for partial in outcomes)
        assert first == second


def test_there_is_none_without_forms() -> None:
    template = template_of([query("A B+ C")])
    assert compile_plan(template, share_nothing(template), fallback=True).fallback is None
    _, guarded = pool([*POOL, "X NOT(Y) R (P T)+"])
    assert guarded.fallback is not None
    assert guarded.fallback.guard_states


@pytest.mark.parametrize("seed", first(4, range(10), interpreted=3))
def test_a_long_stream_has_the_same_results(seed: int) -> None:
    """The machines take turns by what they take, in a stream that is long enough for trials."""
    random = Random(seed)
    queries, plan = pool(POOL)
    events = [
        event(queries, random.choice("ABRPPTTDE"), time, random.choice((None, 1, 2)), key)
        for key in range(60)
        for time in range(20)
    ]
    rows = sorted_rows(kernel_rows(plan, events))
    source, layout = source_batch(plan, rows), Layout(0, 1)
    outcomes = []
    for fallback in (None, Hasty()):
        run = PoolRun(plan, layout, fallback=fallback)
        output = [row for batch in run.results(cut(source, Random(seed))) for row in batch.to_pylist()]
        outcomes.append(combined(plan, layout, output))
        assert (run.counters.by_fallback > 0) is (fallback is not None)
        assert run.counters.totals()[-OF_PASS] == run.counters.by_fallback
    for asked, result in zip(queries, plan.results, strict=True):
        first, second = (query_results(asked, result, partial) for partial in outcomes)
        assert first == second


class Hasty(Fallback):
    """Tries the other machine from the beginning, and as often as possible."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = 1

    def took(self, machine: int, events: int, seconds: float) -> None:
        del seconds
        self.events += machine * events
        self.wanted = 1 - machine
