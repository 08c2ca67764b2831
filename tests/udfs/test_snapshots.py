"""Linear forms over snapshots: regions of the kernel plan, and that results are the same with and without."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import COUNT_LIMIT, NO_EVENT, KernelPlan
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window
from sparkext.planner.sharing.invalid import invalid
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.regions import regions
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan, TransitionPlan
from sparkext.planner.sharing.template import Template, template_of
from tests.support.enumerator import Event, Value, enumerate_results
from tests.support.kernel_harness import (
    Partials,
    Planner,
    difference,
    kernel_rows,
    pool_partials,
    pool_results,
    query_results,
    same,
    sorted_rows,
)
from tests.support.pools import V, all_of, query
from tests.support.prev_conditions import MEANINGS
from tests.support.sharing_plans import draw_plan
from tests.support.tiers import first
from tests.support.workloads import workload


def over(snapshot: str) -> Planner:
    """The planner that lets what all queries have in common go on as forms over the snapshots of a state."""

    def planner(source: Template) -> SharingPlan:
        at = [str(state) for state in source.states].index(snapshot)
        everyone = tuple(range(len(source.queries)))
        common = [t for t in source.transitions if t.queries == everyone]
        reached = {at}
        for _ in source.states:
            reached |= {t.target for t in common if t.source in reached}
        plan = SharingPlan(
            "by hand",
            tuple(
                TransitionPlan(
                    t.source,
                    t.target,
                    (QSet(everyone, at),)
                    if t in common and t.source in reached
                    else tuple(QSet((query,), None) for query in t.queries),
                )
                for t in source.transitions
            ),
        )
        assert not list(invalid(source, plan))
        return plan

    return planner


def compiled(queries: Sequence[Query], planner: Planner) -> KernelPlan:
    source = template_of(queries)
    return compile_plan(source, planner(source))


def event(queries: Sequence[Query], kind: str, time: int, v: int | None = None, key: int = 0) -> Event:
    classes = {event_class for query in queries for _, event_class in query.classes}
    classes_of_kind = frozenset(event_class for event_class in classes if event_class.type == kind)
    return Event((), (key,), time, classes_of_kind, {"v": v})


def timed(queries: Sequence[Query], kinds: str) -> list[Event]:
    """One of `STREAMS`."""
    time, events, together = 0, [], False
    for position, kind in enumerate(kinds):
        if kind in "()":
            together = kind == "("
        else:
            events.append(event(queries, kind, time, (None, 3, -1, 2)[position % 4]))
        time += not together
    return events


def stream(queries: Sequence[Query], kinds: str, random: Random, ties: bool) -> list[Event]:
    """Events of one letter each, some at the same time, some without a value."""
    time, events = 0, []
    for kind in kinds:
        time += random.choice((0, 1, 2)) if ties else 1
        events.append(event(queries, kind, time, random.choice((None, -2, 0, 1, 5)), random.choice((0, 0, 1))))
    return events


POOLS = {
    "flat Kleene": (["A R P+ D", "B R P+ E", "R P+"], "R"),
    "Kleene of a sequence": (["A R (P T)+ D", "B R (P T)+ E", "R (P T)+"], "R"),
    "nested Kleene": (["A (P+ T)+ D", "B (P+ T)+", "A (P+ T)+ E"], "P"),
    "starts on the way": (["R? (P T)+ D", "R? (P T)+ E", "R? (P T)+"], "R"),
    "a choice on the way": (["A R (P | T P)+ D", "B R (P | T P)+"], "R"),
    "snapshots on a cycle": (["A (R P T)+ D", "B (R P T)+ E"], "R"),
    "snapshots of a class that is on the way": (["A R (P | R)+ D", "B R (P | R)+"], "R"),
    "one query": (["A R (P T)+ D"], "R"),
}

STREAMS = (
    "ABRPDTPTDPTED",  # read again and again without snapshots in between
    "ABRPT(PR)PT(TD)E",  # on the way, then at the snapshots, at one time
    "ABRPT(RPT)P(DTR)TED",
    "ABP(APR)(PT)(TRP)(TD)E",
)
"""Events of one letter each; those in brackets are at the same time."""

WINDOWS: tuple[tuple[Window | None, ...], ...] = (
    (None,),
    (Window(6, 2),),
    (Window(4, 6),),
    (None, Window(9, 3), Window(5, 5)),
    (Window(8, 1), Window(3, 2), Window(7, 9)),
)


@pytest.mark.parametrize("windows", first(2, WINDOWS), ids=str)
@pytest.mark.parametrize("name", POOLS)
def test_results_are_those_of_the_enumerator(name: str, windows: tuple[Window | None, ...]) -> None:
    texts, snapshot = POOLS[name]
    pool = [query(text, *all_of("P"), window=windows[number % len(windows)]) for number, text in enumerate(texts)]
    assert compiled(pool, over(snapshot)).regions
    random = Random(name)
    streams = [timed(pool, kinds) for kinds in STREAMS]
    for ties in (False, True, True):
        kinds = "".join(random.choices("ABRPTDE", (1, 1, 2, 3, 3, 1, 1), k=11))
        streams.append(stream(pool, kinds, random, ties))
    for events in streams:
        expected = [enumerate_results(pooled_query, events, MEANINGS) for pooled_query in pool]
        for cuts in (None, random):
            for wanted, actual in zip(expected, pool_results(pool, events, over(snapshot), cuts), strict=True):
                assert difference(wanted, actual) is None


@pytest.mark.parametrize("window", [None, Window(40, 15)], ids=str)
@pytest.mark.parametrize("length", [40, 60, 150, 400])
def test_long_bursts(length: int, window: Window | None) -> None:
    """Counts beyond a word, beyond 10^38, and numbers beyond doubles, with and without forms."""
    pool = [query(text, *all_of("P"), window=window) for text in ("A R (P | T)+ D", "B R (P | T)+ E")]
    random = Random(length)
    kinds = "AR" + "PT" * (length // 2) + "BRDE" + "PTPT" * (length // 4) + "RPED"
    events = [event(pool, kind, time, random.choice((None, 1, 3))) for time, kind in enumerate(kinds)]
    compare(pool, events, over("R"))


def test_totals_that_are_made_in_different_ways() -> None:
    """From R to U one query takes snapshots anew, one takes values, one passes forms on; to T all do."""
    pool = [query(f"P Q R (T | U) {end}", *all_of("P")) for end in ("", "B", "C")]
    source = template_of(pool)
    at = {str(state): number for number, state in enumerate(source.states)}
    chosen: dict[tuple[str, str], list[tuple[tuple[int, ...], str | None]]] = {
        ("P", "Q"): [((0, 1, 2), None)],
        ("Q", "R"): [((0, 1, 2), "Q")],
        ("R", "T"): [((0, 1, 2), "Q")],
        ("R", "U"): [((0,), "R"), ((1,), None), ((2,), "Q")],
    }

    def planner(_: Template) -> SharingPlan:
        names = {number: name for name, number in at.items()}
        plans = []
        for t in source.transitions:
            alone: list[tuple[tuple[int, ...], str | None]] = [((query,), None) for query in t.queries]
            asked = chosen.get((names[t.source], names[t.target]), alone)
            sets = tuple(QSet(numbers, None if name is None else at[name]) for numbers, name in asked)
            plans.append(TransitionPlan(t.source, t.target, sets))
        plan = SharingPlan("by hand", tuple(plans))
        assert not list(invalid(source, plan))
        return plan

    random = Random(1)
    for kinds in ("PQRTUBC", "PPQRQRTURTUBTUC", "PQQRTURQRUTUBRTUC"):
        events = [event(pool, kind, time, random.choice((None, 1, 3))) for time, kind in enumerate(kinds)]
        expected = [enumerate_results(pooled_query, events, MEANINGS) for pooled_query in pool]
        for wanted, actual in zip(expected, pool_results(pool, events, planner), strict=True):
            assert difference(wanted, actual) is None


def test_numbers_far_beyond_a_double() -> None:
    aggregates = (Aggregate(Function.LOG10_COUNT), Aggregate(Function.AVG, "P", V))
    pool = [query(text, *aggregates) for text in ("A R P+ D", "B R P+ D")]
    kinds = "ARP" * 3 + "P" * 2600 + "BR" + "P" * 2600 + "D"
    events = [event(pool, kind, time, time % 5) for time, kind in enumerate(kinds)]
    results = compare(pool, events, over("R"))
    assert max(abs(value) for values in results.values() for value in values if isinstance(value, Fraction)) > 2**5000


def compare(pool: Sequence[Query], events: Sequence[Event], planner: Planner) -> Partials:
    """The partial results with forms, after they were found to give what they do without."""
    source = template_of(pool)
    partials = []
    for sharing in (planner(source), share_nothing(source)):
        plan = compile_plan(source, sharing)
        partials.append((plan, pool_partials(plan, sorted_rows(kernel_rows(plan, events)))))
    for number, pooled_query in enumerate(pool):
        actual, expected = (query_results(pooled_query, plan.results[number], partial) for plan, partial in partials)
        assert actual.keys() == expected.keys()
        assert all(_agree(a, b) for key in actual for a, b in zip(actual[key], expected[key], strict=True))
    return partials[0][1]


def _agree(left: Value, right: Value) -> bool:
    """Whether two results are the same, or both counts that are too large."""
    return same(left, right) or (isinstance(left, int) and min(left, right) >= COUNT_LIMIT)


def test_forms_are_made_once_for_all_queries() -> None:
    """What 50 queries have in common costs as much as for two; the rest is theirs."""
    sizes = {}
    for count in (2, 50):
        pool = [query(f"R (P T)+ D{number}", window=Window(10 + number, 5)) for number in range(count)]
        plan = compiled(pool, over("R"))
        (region,) = plan.regions
        forms = [cell for cell in plan.cells if cell.window == len(plan.windows) and cell.event != NO_EVENT]
        added = [cell for cell in plan.cells if cell.event != NO_EVENT]
        sizes[count] = (len(forms), len(region.space.units), region.space.lanes, len(added) - len(forms))
        assert len(region.space.forms) == 2 * count
        assert sum(e.view is not None for e in region.space.forms) == count, "only T is read"
    assert sizes[2] == (2, 3, 3, 4)
    assert sizes[50] == (2, 3, 3, 100)


def test_q_sets_have_regions_of_their_own() -> None:
    """Queries in different Q-sets have different forms, also when all else is equal."""
    source = template_of([query(f"{first} R P+ D") for first in ("A", "B", "C", "A A")])
    at = [str(state) for state in source.states].index("R")
    pairs = (QSet((0, 2), at), QSet((1, 3), at))
    plan = SharingPlan(
        "by hand",
        tuple(
            TransitionPlan(
                t.source,
                t.target,
                pairs if str(source.states[t.target]) == "P" else tuple(QSet((query,), None) for query in t.queries),
            )
            for t in source.transitions
        ),
    )
    assert not list(invalid(source, plan))
    of_plan = regions(source, plan)
    assert [base.columns for base in of_plan.bases] == [2, 2]
    assert len({form.block for forms in of_plan.forms for form in forms.values()}) == 2
    assert len(compile_plan(source, plan).regions) == 2


def test_a_state_may_take_snapshots_and_pass_on_others() -> None:
    source = template_of([query("A P+ (T | U) D", *all_of("P")), query("B P+ (T | U) E", *all_of("P"))])
    names = [str(state) for state in source.states]
    first, kleene = names.index("A"), names.index("P")
    parts = []
    for t in source.transitions:
        target, origin = names[t.target], names[t.source]
        if (target == "P" and origin in ("A", "P")) or target == "U":
            some = tuple(QSet((q,), first if q == 0 else None) for q in t.queries)
        elif target == "T":
            some = (QSet(t.queries, kleene),)
        else:
            some = tuple(QSet((q,), None) for q in t.queries)
        parts.append(TransitionPlan(t.source, t.target, some))
    plan = SharingPlan("by hand", tuple(parts))
    assert not list(invalid(source, plan))
    of_plan = regions(source, plan)
    kept = {form.kept_apart for form in of_plan.forms[0].values()}
    assert kept == {True, False}
    pool = list(source.queries)
    random = Random(3)
    for ties in (False, True):
        events = stream(pool, "ABPPTPUADPTUED", random, ties)
        expected = [enumerate_results(pooled_query, events, MEANINGS) for pooled_query in pool]
        for wanted, actual in zip(expected, pool_results(pool, events, lambda _: plan), strict=True):
            assert difference(wanted, actual) is None


@pytest.mark.long
def test_random_plans_reach_what_is_worth_testing() -> None:
    """Of the pools of `tests.support.workloads`, how many are drawn a plan with forms, passed on, on cycles, over 1."""
    drawn = passed = starting = shared = 0
    for seed in range(500):
        random = Random(seed)
        source = template_of(workload(random).queries)
        plan = draw_plan(random, source)
        of_plan = regions(source, plan)
        forms = [form for forms_of_query in of_plan.forms for form in forms_of_query.values()]
        drawn += bool(forms)
        passed += any(form.sources for form in forms)
        starting += any(base.constant is not None for base in of_plan.bases)
        shared += len({form.block for form in forms}) < len(forms)
    assert drawn > 100
    assert passed > 50
    assert starting > 12
    assert shared > 25
