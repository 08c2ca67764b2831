"""Groups: cells that hold trends at the same times."""

from __future__ import annotations

from random import Random

import pytest

from sparkext.planner.kernel_plan.kernel_plan import KernelPlan
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.udfs.state.assemble import assemble
from sparkext.udfs.state.parts import groups, is_lean, updates
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import difference, kernel_rows, pool_partials, pool_results, sorted_rows
from tests.support.kernel_plans import random_plan
from tests.support.kernel_twin import twin_results
from tests.support.pools import V, query
from tests.udfs.test_kernel import WINDOWS, mismatch
from tests.udfs.test_panes import compiled

COUNT = Aggregate(Function.COUNT)
WIDE, NARROW = Window(60, 20), Window(40, 10)


def lanes(*queries: Query) -> KernelPlan:
    return compiled(*queries, panes_from=float("inf"))


def test_measures_and_windows_make_no_further_groups() -> None:
    patterns = ("A B+ C", "A C B", "C A+ B")
    few = [query(text, COUNT, window=WIDE) for text in patterns]
    many = [query(text, COUNT, Aggregate(Function.AVG, "A", V), window=NARROW) for text in patterns]
    assert len(updates(lanes(*few, *many))) > 2 * len(updates(lanes(*few)))
    assert len(groups(lanes(*few, *many))) == len(groups(lanes(*few))) == 8


def test_a_state_is_a_group_with_those_before_it_as_sources() -> None:
    first, loop, last = groups(lanes(query("A B+ C", COUNT, window=WIDE)))
    assert [group.starts for group in (first, loop, last)] == [True, False, False]
    assert [group.sources for group in (first, loop, last)] == [(), (0, 1), (1,)]


@pytest.mark.parametrize("seed", range(40))
def test_groups_hold_all_updates_and_what_they_read(seed: int) -> None:
    random = Random(seed)
    plan = random_plan(random, random.choice(WINDOWS))
    found = groups(plan)
    assert sorted(update.number for group in found for update in group.updates) == sorted(
        update.number for update in updates(plan)
    )
    assert [group.part for group in found] == sorted(group.part for group in found)
    if plan.regions or not is_lean(plan):
        assert all(group.starts for group in found)
        return
    group_of = {update.number: number for number, group in enumerate(found) for update in group.updates}
    for number, group in enumerate(found):
        for update in group.updates:
            assert group.starts or not update.cell.start
            assert update.cell.count is None or group_of[update.cell.count] == number
            assert {group_of[source] for source in update.cell.sources if source in group_of} <= {*group.sources}


@pytest.mark.parametrize(
    ("pattern", "is_in_order"), [("A+ B", True), ("A A+ A", True), ("(A A)+", False), ("(A A A | A B)+", False)]
)
@pytest.mark.parametrize("window", [None, WIDE])
def test_an_event_alone_at_its_time_reads_no_total_that_it_has_changed(
    pattern: str, is_in_order: bool, window: Window | None
) -> None:
    asked = query(pattern, COUNT, Aggregate(Function.COUNT, "A"), Aggregate(Function.AVG, "A", V), window=window)
    assert bool(assemble(lanes(asked)).in_order.all()) == is_in_order
    classes = {event_class.type: frozenset({event_class}) for _, event_class in asked.classes}
    kinds = "AABAAABA" if "B" in classes else "AAAAAAAA"
    events = [Event((), (1,), 3 * at, classes[kind], {"v": at * at}) for at, kind in enumerate(kinds)]
    (found,) = pool_results([asked], events, panes_from=float("inf"))
    assert difference(enumerate_results(asked, events), found) is None


@pytest.mark.parametrize("pattern", ["A B", "B A", "(A B)+", "(A | B)+ A"])
def test_an_event_of_two_classes_is_not_before_itself(pattern: str) -> None:
    asked = query(pattern, COUNT, window=WIDE)
    both = frozenset(event_class for _, event_class in asked.classes)
    events = [Event((), (1,), 5 * at, both, {}) for at in range(8)]
    (found,) = pool_results([asked], events, panes_from=float("inf"))
    assert difference(enumerate_results(asked, events), found) is None


@pytest.mark.parametrize("apart", [3, 30])
def test_few_trends_in_many_windows(apart: int) -> None:
    """Keys whose windows are mostly without a trend, and then with trends that have ended in some of them alone."""
    random = Random(apart)
    measures = (COUNT, Aggregate(Function.AVG, "A", V), Aggregate(Function.MAX, "A", V))
    windows = (WIDE, NARROW, Window(7, 13), None)
    pool = tuple(query(text, *measures, window=window) for window in windows for text in ("A B", "B (A C)+ B", "C+"))
    plan = lanes(*pool)
    assert is_lean(plan)
    classes = {event_class for query_ in pool for _, event_class in query_.classes}
    events: list[Event] = []
    for key in range(12):
        time = random.randint(-50, 50)
        for _ in range(random.randint(1, 15)):
            time += random.choice((0, 1, apart, apart, 3 * apart))
            kind = random.choice("ABCDD")
            of_kind = frozenset(event_class for event_class in classes if event_class.type == kind)
            events.append(Event((key % 2,), (key,), time, of_kind, {"v": random.choice((None, 3, -1, 2))}))
    rows = sorted_rows(kernel_rows(plan, events))
    expected = twin_results(plan, rows)
    for cuts in (None, random, random):
        assert mismatch(plan, expected, pool_partials(plan, rows, cuts)) is None
