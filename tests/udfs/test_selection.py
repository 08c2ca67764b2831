"""Event selection: which events a trend may leave out, on streams worked out by hand, at random and at size."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import COUNT_LIMIT, KernelPlan, Layout
from sparkext.planner.patterns.query import ALL_ROWS, Aggregate, EventClass, Function, Query, Selection, Step, Window
from sparkext.planner.sharing.prefixes import equal_prefixes, share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.workers.machine import Machine
from sparkext.udfs.workers.pool_run import PoolRun
from tests.support.by_hand import both, event, stream
from tests.support.enumerator import Event
from tests.support.kernel_harness import combined as added_up
from tests.support.kernel_harness import (
    kernel_rows,
    pool_partials,
    pool_results,
    query_results,
    run,
    sorted_rows,
    source_batch,
)
from tests.support.kernel_twin import twin_results
from tests.support.pools import COUNT, V, query
from tests.support.prev_conditions import ADJACENT_BY_SQL
from tests.support.soak import problems
from tests.support.tiers import EXAMPLES, first, many_events
from tests.support.workloads import Workload, typed_class, workload
from tests.udfs.test_kernel import mismatch

ANY, NEXT, CONTIGUOUS = Selection


def rows(text: str) -> list[Event]:
    """``"a1 b2"`` as events, which are rows of the relation too."""
    return [as_row(drawn_event) for drawn_event in stream(text)]


def as_row(source_event: Event) -> Event:
    """An event with the class of all rows."""
    return replace(source_event, classes=source_event.classes | {ALL_ROWS})


def selected(text: str, events: list[Event], **more: object) -> tuple[int, ...]:
    """``COUNT(*)`` by enumeration and by the kernel, with each selection, of queries of one pool."""
    queries = [replace(query(text, selection=selection), name=selection.name, **more) for selection in Selection]  # type: ignore[arg-type]
    return tuple(sum(values[0] for values in results.values()) for results in both(queries, events))


@pytest.mark.parametrize(
    ("text", "events", "trends"),
    [
        # Published for COGRA.
        ("(A+ B)+", "a1 b2 a3 a4 c5 b6 a7 b8", (43, 8, 2)),
        ("A B", "a1 a2 b3 b4", (4, 2, 1)),
        ("A+", "a1 x2 a3", (3, 3, 2)),
        ("A+", "a1 a2 a3", (7, 6, 6)),
        ("A+ B", "a1 a2 b3", (3, 2, 2)),
        # What could continue a trend as another variable is not left out either.
        ("A (B | C)", "a1 b2 c3", (2, 1, 1)),
        ("A B C | A C", "a1 b2 c3", (2, 1, 1)),
        ("A B? C", "a1 b2 c3 c4", (4, 1, 1)),
        # Whether an event continues a trend is asked of the whole word: after a1, a2 does for A+ C, b3 for A B.
        ("A B | A+ C", "a1 a2 b3 c4", (5, 2, 1)),
        ("A B | A A C", "a1 a2 x3 c4", (1, 1, 0)),
        ("A & B", "a1 b2 a3 b4", (4, 3, 3)),
        ("A{2}", "a1 a2 a3", (3, 2, 2)),
        # Events of one time do not lie between each other.
        ("A B", "a1 b2 b2 b3", (3, 2, 2)),
        ("A B", "a1 a1 x1 b2", (2, 2, 2)),
        ("A B", "a1 x2 b2", (1, 1, 1)),
        ("A+", "a1 a2 a2 a3", (11, 10, 10)),
        # A step that is forbidden continues nothing.
        ("A NOT N B", "a1 n2 b3 a4 b5", (1, 1, 1)),
        ("A (NOT N B | C)", "a1 n2 b3 c4", (1, 1, 0)),
        ("A (NOT N B | C)", "a1 b2 c3", (2, 1, 1)),
        ("A (NOT N B | C)", "a1 n2 a3 b4 c5", (3, 2, 1)),
        ("A (NOT N B | C)", "a1 n2 a3 n4 a5 b6 c7", (4, 3, 1)),
        ("A (NOT (N M) B | C)", "a1 n2 a3 m4 a5 b6 c7", (5, 3, 1)),
        ("(A NOT N)+ B", "a1 a2 n3 a4 b5", (1, 1, 1)),
        # At the beginning and the end, NOT means what it means elsewhere, and what is forbidden may skip any event.
        ("NOT N A B", "n1 a2 b3", (0, 0, 0)),
        ("NOT N A B", "a1 b2 n3 a4 b5", (2, 1, 1)),
        ("A B NOT C", "a1 b2 c3 a4 b5", (2, 1, 1)),
        ("A NOT (N M) B", "a1 n2 x3 m4 b5", (0, 0, 0)),
        ("A NOT (N M)", "a1 n2 x3 m4 a5", (1, 1, 1)),
    ],
)
def test_by_hand(text: str, events: str, trends: tuple[int, int, int]) -> None:
    assert selected(text, rows(events)) == trends


def test_other_keys_are_not_in_between() -> None:
    events = [as_row(event("A", 1)), as_row(event("X", 2, part=2)), as_row(event("B", 3))]
    assert selected("A B", events) == (1, 1, 1)
    events.append(as_row(event("X", 2)))
    assert selected("A B", events) == (1, 1, 0)
    assert selected("A B", [*events[:3], as_row(event("X", None))]) == (1, 1, 1)


def test_rows_that_are_not_of_the_relation_are_not_in_between() -> None:
    part = EventClass(None, None, "part")
    events = [replace(row, classes=row.classes | {part}) for row in rows("a1 b3")]
    assert selected("A B", [*events, *rows("x2")], rows=part) == (1, 1, 1)


def test_an_event_that_matches_two_variables() -> None:
    classes = {"X": typed_class("A"), "Y": typed_class("B")}
    queries = [query("(X | Y)+", selection=selection, classes=classes) for selection in Selection]
    counts = both(queries, [as_row(event("AB", 1)), as_row(event("AB", 2))])
    assert [list(results.values()) for results in counts] == [[[8]]] * 3


def test_windows() -> None:
    """b3 lies between a1 and b5 in all windows that both are in."""
    queries = [query("A B", window=Window(6, 2), selection=selection) for selection in Selection]
    results = both(queries, rows("a1 b3 a4 b5"))
    assert [{window: n for (_, window), (n,) in of_query.items()} for of_query in results] == [
        {-1: 1, 0: 3, 1: 1, 2: 1},
        {-1: 1, 0: 2, 1: 1, 2: 1},
        {-1: 1, 0: 2, 1: 1, 2: 1},
    ]


@pytest.mark.parametrize(
    ("text", "prices", "trends"),
    [
        ("Strt Down", (5, 6, 4, 3), (5, 3, 2)),
        ("Strt Down+", (5, 4, 6, 3), (5, 4, 2)),
        ("Strt Down+", (9, 8, 7, 6), (11, 6, 6)),
        ("Strt Down+", (1, 2, 3, 4), (0, 0, 0)),
        ("Strt Down Strt", (5, 4, 6), (1, 1, 1)),
        ("Strt (Down | Strt)", (5, 6, 4), (5, 3, 3)),
    ],
)
def test_conditions_on_adjacent_events(text: str, prices: tuple[int, ...], trends: tuple[int, int, int]) -> None:
    events = [as_row(event("A", time, v=price)) for time, price in enumerate(prices)]
    case = ADJACENT_BY_SQL["v < PREV(v)"]
    steps = (("Down", Step(case.sql, case.condition, None)),)
    names = ("Strt", "Down")
    asked = query(text, classes=dict.fromkeys(names, typed_class("A")))
    assert selected(text, events, classes=asked.classes, steps=steps) == trends


def test_all_aggregates() -> None:
    functions = [Aggregate(function, "A", V) for function in Function]
    queries = [query("A+ B", COUNT, *functions, selection=selection) for selection in Selection]
    events = [as_row(event(kind, time, v=time)) for time, kind in enumerate("AXBAABAB")]
    results = both(queries, events)
    assert len({str(result) for result in results}) == 3


def selective(seed: int) -> Workload:
    """A random workload whose queries may not leave out all events."""
    drawn, random = workload(Random(seed)), Random(seed)
    chosen = [random.choice((NEXT, CONTIGUOUS)) for _ in drawn.queries]
    queries = [
        query if any(step.anchor for _, step in query.steps) else replace(query, selection=how, span=None)
        for query, how in zip(drawn.queries, chosen, strict=True)
    ]
    return replace(drawn, queries=tuple(queries))


@pytest.mark.parametrize("part", first(1, range(8)))
def test_random_pools(part: int) -> None:
    seeds = range(part * EXAMPLES // 8, (part + 1) * EXAMPLES // 8)
    assert [(seed, faults) for seed in seeds if (faults := problems(selective(seed), seed))] == []


def test_counts_beyond_one_and_two_words() -> None:
    """``(X | Y)+`` over n events that match both: 2^k trends at each of the n - k + 1 places of k events."""
    classes = {"X": typed_class("A"), "Y": typed_class("A")}
    for events in (20, 70, 150):
        expected = sum((events - k + 1) << k for k in range(1, events + 1))
        for selection in (NEXT, CONTIGUOUS):
            asked = query(
                "(X | Y)+",
                COUNT,
                Aggregate(Function.AVG, "X", V),
                Aggregate(Function.APPROX_COUNT),
                classes=classes,
                selection=selection,
            )
            drawn_events = [as_row(event("A", time, v=1)) for time in range(events)]
            ((values,),) = (list(result.values()) for result in pool_results([asked], drawn_events))
            assert values[0] == min(expected, COUNT_LIMIT)
            assert values[1] == pytest.approx(1.0)
            assert values[2] == pytest.approx(float(expected))


def plan_of(*queries: Query) -> KernelPlan:
    """The plan of a pool that shares equal prefixes."""
    template = template_of(queries)
    return compile_plan(template, share_equal_prefixes(template), fallback=True)


@many_events
@pytest.mark.parametrize("selection", [NEXT, CONTIGUOUS])
def test_falling_runs_at_size(selection: Selection) -> None:
    """As many falling runs as a loop over the events finds, of which but a few are remembered at a time."""
    case = ADJACENT_BY_SQL["v < PREV(v)"]
    classes = dict.fromkeys(("Strt", "Down"), typed_class("A"))
    asked = replace(
        query("Strt Down+", classes=classes, selection=selection),
        steps=(("Down", Step(case.sql, case.condition, None)),),
    )
    random, number = Random(7), 20_000
    prices = [random.randint(-1000, 1000) for _ in range(number)]
    events = [as_row(event("A", time, v=price)) for time, price in enumerate(prices)]
    waiting: list[tuple[int, int]] = []
    expected = 0
    for price in prices:
        # Trends that have not been continued, by the last price.
        lower = [(last, trends) for last, trends in waiting if price < last]
        ended = sum(trends for _, trends in lower)
        kept = [price_before for price_before in waiting if price_before not in lower] if selection is NEXT else []
        waiting = [*kept, (price, ended + 1)]
        expected += ended
    plan = plan_of(asked)
    source = source_batch(plan, sorted_rows(kernel_rows(plan, events)))
    layout = Layout(1, 1)
    rows = run(plan, layout, source)
    ((value,),) = query_results(asked, plan.results[0], added_up(plan, layout, rows)).values()
    assert value == expected
    machine = PoolRun(plan, layout)
    assert list(machine.results(iter(source.slice(at, 1000) for at in range(0, number, 1000))))
    assert remembered(machine._now) < 100


def remembered(machine: Machine) -> int:
    """How many events a machine looks back to."""
    assert machine._room is not None
    return machine._room.carried()


def test_what_is_shared() -> None:
    """Equal beginnings of queries that select alike, and that the same events end."""
    texts = ("A B+ C", "A B+ D")
    for selection, states in ((ANY, 2), (NEXT, 1), (CONTIGUOUS, 2)):
        left, right = equal_prefixes(template_of([query(text, selection=selection) for text in texts]))
        assert len({*left} & {*right}) == states, selection
    any_, next_ = equal_prefixes(template_of([query("A B+", selection=ANY), query("A B+", selection=NEXT)]))
    assert not {*any_} & {*next_}
    part = EventClass(None, None, "part")
    contiguous = query("A B", selection=CONTIGUOUS)
    left, right = equal_prefixes(template_of([contiguous, replace(contiguous, rows=part)]))
    assert not {*left} & {*right}


def test_equal_queries_of_other_selections_are_other_computations() -> None:
    assert len(plan_of(*(query("A B", selection=selection) for selection in Selection)).cells) == 2 + 2 + 2


def test_twin_of_steps_that_all_events_before_go_with() -> None:
    """With PREV and SKIP TILL NEXT MATCH these are found by a condition that is a constant."""
    step = Step("v < PREV(v)", ADJACENT_BY_SQL["v < PREV(v)"].condition, None)
    asked = replace(query("A+ (B | C)"), steps=(("C", step),), selection=NEXT)
    source = template_of([asked])
    plan = compile_plan(source, share_equal_prefixes(source))
    some = 0
    for seed in range(20):
        random = Random(seed)
        events = [event(random.choice("ABC"), time, v=random.randint(0, 5)) for time in range(8)]
        own_rows = sorted_rows(kernel_rows(plan, events))
        expected = twin_results(plan, own_rows)
        assert mismatch(plan, expected, pool_partials(plan, own_rows)) is None
        some += len(expected)
    assert some > 10
