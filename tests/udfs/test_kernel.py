"""The kernel against its twin, on random plans and on streams made for its weak spots."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sparkext.planner.automata.guards import ALWAYS
from sparkext.planner.kernel_plan.kernel_plan import (
    COUNT_LIMIT,
    Access,
    Arithmetic,
    Bank,
    Cell,
    Column,
    Comparison,
    Encoding,
    Field,
    Instruction,
    Interval,
    KernelPlan,
    Layout,
    Link,
    Order,
    Slot,
    Term,
)
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import EventClass, Window
from sparkext.udfs.arithmetic.numbers import LIMIT_HIGH
from sparkext.udfs.state import past
from sparkext.udfs.workers.pool_run import PoolRun
from tests.support.kernel_harness import Partials, combined, pool_partials, sorted_rows, source_batch
from tests.support.kernel_plans import random_plan, random_rows
from tests.support.kernel_twin import KernelRow, Total, TwinResults, twin_results
from tests.support.pools import V
from tests.support.tiers import EXAMPLES, first, many_events

MOST = (1 << 63) - 1

WINDOWS: tuple[tuple[Window | None, ...], ...] = (
    (None,),
    (Window(4, 4), None),
    (Window(7, 3),),
    (Window(10, 1), Window(3, 7)),
    (Window(5, 2), Window(50, 4), Window(1, 1)),
    (Window(6, 9), Window(9, 6)),
)


def mismatch(plan: KernelPlan, expected: TwinResults, actual: Partials) -> str | None:
    """What differs between the twin and the kernel; None when nothing does."""
    summed = [number for number, field in enumerate(plan.fields) if field.arithmetic is not Arithmetic.EXTREME]
    # Counts say whether there is a trend. Sums alone, which only drawn plans have, may cancel.
    rows = {key for key, totals in actual.items() if key in expected or any(totals[field] for field in summed)}
    if expected.keys() != rows:
        return f"rows {sorted(map(str, expected.keys() ^ rows))} are on one side only"
    for key, fields in expected.items():
        for number, total in fields.items():
            field, value = plan.fields[number], actual[key][number]
            # Counts of more than 38 digits are told apart from others, and not from each other.
            right = min(total, COUNT_LIMIT) if field.arithmetic is Arithmetic.EXACT else total
            if not agree(field, right, value):
                return f"{key}, field {number} {field}: expected {right!r}, found {value!r}"
    return None


def agree(field: Field, total: Total, value: Total) -> bool:
    """Exact counts agree below 10^38, numbers to 1e-9, extremes exactly."""
    if field.arithmetic is Arithmetic.EXACT:
        return bool(total == value) or (total >= 10**38 and value >= int(LIMIT_HIGH) << 64)
    if isinstance(total, float) or isinstance(value, float):
        return isinstance(value, float) and (total == value or (math.isnan(total) and math.isnan(value)))
    if field.arithmetic is Arithmetic.NUMBER:
        return bool(abs(total - value) <= abs(total) * Fraction(1, 10**9))
    return bool(total == value)


@pytest.mark.parametrize("part", first(1, range(4)))
@given(seed=st.integers(0, 2**64))
@settings(max_examples=EXAMPLES // 6, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
def test_random_plans(part: int, seed: int) -> None:
    check_random_plan(f"{part} {seed}")


@pytest.mark.parametrize("seed", ["0 1330", "0 3784", "2 127317"])
def test_plans_that_were_wrong_once(seed: str) -> None:
    """Two have a cell that is cut in parts and that no link reads; in one, sums are one less the other."""
    check_random_plan(seed)


def check_random_plan(seed: str) -> None:
    """The kernel gives what its twin gives for a drawn plan and drawn rows."""
    random = Random(seed)
    plan = random_plan(random, random.choice(WINDOWS))
    rows = sorted_rows(random_rows(random, plan, random.choice((4, 15, 15, 150)), finite=random.random() < 0.7))
    # Batches are put together while the past is small, or never.
    with mock.patch.object(past, "PAST_BYTES", random.choice((0, past.PAST_BYTES))):
        partials = pool_partials(plan, rows, random)
    assert mismatch(plan, twin_results(plan, rows), partials) is None


def kleene(window: Window | None, times: int = 1) -> KernelPlan:
    """``A+``, each step taken ``times`` times: count, scaled count, sum, number, least and greatest of ``a``."""
    column = Attribute("a", "double")
    sources = [(number,) * times for number in range(6)]
    exact, number, extreme = Arithmetic.EXACT, Arithmetic.NUMBER, Arithmetic.EXTREME
    cells = (
        Cell(exact, 0, 0, True, sources[0], None, None, False),
        Cell(number, 0, 0, True, sources[1], None, None, False),
        Cell(number, 0, 0, False, sources[2], 1, 0, True),
        Cell(number, 0, 0, False, sources[3], 1, 0, False),
        Cell(extreme, 0, 0, False, sources[4], 0, 1, True),
        Cell(extreme, 0, 0, False, sources[5], 1, 2, True),
    )
    fields = (
        Field(exact),
        Field(number),
        Field(number),
        Field(number),
        Field(extreme, Encoding.LEAST, "double"),
        Field(extreme, Encoding.GREATEST, "double"),
    )
    encodings = (Encoding.NUMBER, Encoding.LEAST, Encoding.GREATEST)
    return KernelPlan(
        classes=(EventClass("kind", "A", None),),
        columns=tuple(Column(column, encoding) for encoding in encodings),
        windows=(window,),
        cells=cells,
        fields=fields,
        banks=(Bank(0, tuple(Slot(cell, (cell,)) for cell in range(6))),),
        results=(),
    )


def stream(times: list[int], random: Random) -> list[KernelRow]:
    """Rows of one key that are all of class 0."""
    values = [random.choice((None, 0.5, 1.0, 3.25)) for _ in times]
    return [KernelRow((1,), (), t, frozenset({0}), (v, v, v)) for t, v in zip(times, values, strict=True)]


@pytest.mark.parametrize(
    "window",
    [
        pytest.param(Window(310, 1), marks=many_events),
        Window(301, 7),
        Window(64, 9),
        Window(10, 3),
        Window(3, 10),
        Window(1, 1),
        Window(2, 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_long_streams_shift_their_lanes(window: Window, sparse: bool) -> None:
    random = Random(window.within + sparse)
    time, times = -300, []
    for _ in range(60 if window.live > 40 else 300):
        time += random.choice((0, 1, 1, 40, 2 * window.within) if sparse else (0, 1, 1, 2, 6))
        times.append(time)
    plan, rows = kleene(window), stream(times, random)
    expected = twin_results(plan, rows)
    for cuts in (None, random, random):
        assert mismatch(plan, expected, pool_partials(plan, rows, cuts)) is None


@pytest.mark.parametrize(
    "window",
    [Window(1, 1), Window(3, 1), Window(7, 2), Window(10, 3), Window(3, MOST), Window(MOST, MOST // 2)],
    ids=str,
)
def test_times_at_the_ends_of_64_bits(window: Window) -> None:
    """No window is lost or takes another's totals, however far it is from the one before."""
    low, high = (window.within - MOST - 1, MOST - 1) if window.slide == 1 else (-MOST - 1, MOST)
    plan, random = kleene(window), Random(window.within)
    for times in ([low, high], [low, low + 1, high - 1, high], [low, low + 9, -5, -1, 0, 1, high - 7, high, high]):
        rows = stream(times, random)
        assert mismatch(plan, twin_results(plan, rows), pool_partials(plan, rows, random)) is None


@pytest.mark.parametrize("events", [125, 126, 127, 128, 129, 200, 300])
def test_exact_counts_stick_beyond_38_digits(events: int) -> None:
    plan = kleene(None)
    rows = stream(list(range(events)), Random(events))
    count = pool_partials(plan, rows)[(1,), 0, 0][0]
    assert count == min(2**events - 1, 10**38)


def test_exact_counts_hold_up_to_the_last_digit() -> None:
    """The greatest DECIMAL(38,0) is no overflow, and one above it is told apart by its value."""
    limit = int(LIMIT_HIGH) << 64
    assert limit > 10**38
    assert limit - 10**38 <= 1 << 64


def test_partial_rows_with_counts_that_stuck_add_up_to_an_overflow() -> None:
    plan = kleene(None)
    rows = [KernelRow((1,), (key,), time, frozenset({0}), (1, 1, 1)) for key in range(9) for time in range(200)]
    assert pool_partials(plan, rows)[(1,), 0, 0][0] >= 10**38


@many_events
@pytest.mark.parametrize(("events", "times"), [(5200, 1), (3000, 5)])
def test_scaled_numbers_far_beyond_a_double(events: int, times: int) -> None:
    """Counts above 2^5000, sums weighted with them, and their quotient."""
    plan, rows = kleene(None, times), stream(list(range(events)), Random(events))
    assert mismatch(plan, twin_results(plan, rows), pool_partials(plan, rows)) is None
    _, count, total, number, *_ = pool_partials(plan, rows)[(1,), 0, 0]
    assert count > 2**5000
    assert 0.5 < float(total / number) < 3.25


def test_partial_rows_of_one_group_are_combined_in_the_kernel() -> None:
    """As long as the output has room, a group, bank and window has one row, whatever the number of keys."""
    plan = kleene(Window(10, 5))
    rows = [KernelRow((1,), (key,), time, frozenset({0}), (1, 1, 1)) for key in range(50) for time in range(0, 40, 3)]
    partials = pool_partials(plan, rows)
    assert mismatch(plan, twin_results(plan, rows), partials) is None
    assert len(partials) == 9
    source = source_batch(plan, rows)
    assert sum(batch.num_rows for batch in PoolRun(plan, Layout(1, 1)).results(iter([source]))) == 9


def test_input_without_rows_has_no_results() -> None:
    plan, layout = kleene(None), Layout(1, 0)
    assert list(PoolRun(plan, layout).results(iter([]))) == []
    empty = source_batch(plan, stream([1], Random(0))).slice(0, 0)
    assert list(PoolRun(plan, layout).results(iter([empty, empty]))) == []


@pytest.mark.long
@pytest.mark.parametrize("access", list(Access))
@pytest.mark.parametrize("window", [None, Window(50, 4), Window(9, 6), Window(6, 9)], ids=str)
def test_looking_back_from_batch_to_batch(access: Access, window: Window | None) -> None:
    """What several classes of events have added is found again in small batches, also when windows end."""
    exact, extreme = Arithmetic.EXACT, Arithmetic.EXTREME
    links = tuple(Link(cell, ALWAYS, 0) for cell in (0, 2, 4))
    extremes = tuple(Link(cell, ALWAYS, 0) for cell in (1, 3, 5))
    cells = (
        Cell(exact, 0, 0, True, (), None, None, False),
        Cell(extreme, 0, 0, False, (), 0, 0, True),
        Cell(exact, 1, 0, True, (), None, None, False),
        Cell(extreme, 1, 0, False, (), 2, 0, True),
        Cell(exact, 2, 0, False, (), None, None, False, links=links),
        Cell(extreme, 2, 0, False, (), 4, 0, True, links=extremes),
    )
    order = Order(0, 0, before_is_less=True, or_equal=True, or_null=False) if access is Access.FENWICK else None
    program = tuple(Instruction(code, column=1) for code in ("here_whole", "prev_whole"))
    equal = Instruction("equal_whole", (0, 1))
    both_values = tuple(Instruction(code, column=0) for code in ("prev_whole", "here_whole"))
    at_most = (*both_values, Instruction("at_most_whole", (0, 1)))
    operands = tuple(Instruction(code, column=2) for code in ("prev_whole", "here_whole"))
    unlike = (*operands, Instruction("equal_whole", (0, 1)), Instruction("not_whole", (2,)))
    asked = {Access.SEGMENT: (Interval(0, at_most),), Access.RANGE: (Interval(0, at_most), Interval(2, unlike))}
    intervals: tuple[Interval, ...] = asked.get(access, ())
    terms = () if access is Access.SCAN else (Term(access, ((1, 1),), order, intervals),)
    plan = KernelPlan(
        classes=tuple(EventClass("kind", kind, None) for kind in "ABC"),
        columns=(
            Column(V, Encoding.LEAST),
            Column(Attribute("s", "string"), Encoding.IDENTITY),
            Column(Attribute("w", "int"), Encoding.LEAST),
        ),
        windows=(window,),
        cells=cells,
        fields=(Field(exact), Field(extreme, Encoding.LEAST, "int")),
        banks=(Bank(0, (Slot(0, (4,)), Slot(1, (5,)))),),
        results=(),
        comparisons=(Comparison(terms, () if terms else (*program, equal)),),
    )
    random, time = Random(7), 0
    rows: list[KernelRow] = []
    for _ in range(80):
        time += random.choice((0, 1, 3, 9, 13))
        values = (random.randint(0, 9), random.choice("xy"), random.choice((None, 1, 2, 3)))
        rows.append(KernelRow((time // 300,), (), time, frozenset({random.randrange(3)}), values))
    expected = twin_results(plan, rows)
    source = source_batch(plan, rows)
    for size in (1, 2, 7, 80):
        batches = [source.slice(at, size) for at in range(0, len(rows), size)]
        with mock.patch.object(past, "PAST_BYTES", 0):
            partial_rows = [
                row for batch in PoolRun(plan, Layout(1, 0)).results(iter(batches)) for row in batch.to_pylist()
            ]
        assert mismatch(plan, expected, combined(plan, Layout(1, 0), partial_rows)) is None, size


@pytest.mark.parametrize("window", [None, Window(1200, 500)], ids=str)
def test_range_trees_of_several_levels(window: Window | None) -> None:
    """How many A there are before each B with a smaller v and a greater w, and the least v of these."""
    exact, extreme = Arithmetic.EXACT, Arithmetic.EXTREME
    loads = [tuple(Instruction(code, column=column) for code in ("prev_whole", "here_whole")) for column in (0, 1)]
    less, more = (Instruction("less_whole", operands) for operands in ((0, 1), (1, 0)))
    term = Term(Access.RANGE, (), None, (Interval(0, (*loads[0], less)), Interval(1, (*loads[1], more))))
    cells = (
        Cell(exact, 0, 0, True, (), None, None, False),
        Cell(extreme, 0, 0, False, (), 0, 0, True),
        Cell(exact, 1, 0, False, (), None, None, False, links=(Link(0, ALWAYS, 0),)),
        Cell(extreme, 1, 0, False, (), None, None, False, links=(Link(1, ALWAYS, 0),)),
    )
    plan = KernelPlan(
        classes=tuple(EventClass("kind", kind, None) for kind in "AB"),
        columns=(Column(V, Encoding.LEAST), Column(Attribute("w", "int"), Encoding.LEAST)),
        windows=(window,),
        cells=cells,
        fields=(Field(exact), Field(extreme, Encoding.LEAST, "int")),
        banks=(Bank(0, (Slot(0, (2,)), Slot(1, (3,)))),),
        results=(),
        comparisons=(Comparison((term,)),),
    )
    random, events = np.random.default_rng(5), 2500
    kinds, times = random.integers(0, 2, events), np.arange(events)
    v, w = random.integers(0, 900, (2, events))
    source = source_batch(
        plan,
        [KernelRow((), (), at, frozenset({int(kinds[at])}), (int(v[at]), int(w[at]))) for at in range(events)],
    )
    pairs = (kinds[:, None] == 0) & (kinds == 1) & (times[:, None] < times) & (v[:, None] < v) & (w[:, None] > w)
    right = {}
    for index in [0] if window is None else range(-2, 5):
        inside = np.ones(events, np.bool_)
        if window is not None:
            inside = (times >= index * window.slide) & (times < index * window.slide + window.within)
        in_range = pairs & inside[:, None] & inside
        right[(), 0, index] = [int(in_range.sum()), int(v[in_range.any(axis=1)].min())]
    for size in (events, 600):
        batches = [source.slice(at, size) for at in range(0, events, size)]
        with mock.patch.object(past, "PAST_BYTES", 0):
            rows = [row for batch in PoolRun(plan, Layout(0, 0)).results(iter(batches)) for row in batch.to_pylist()]
        assert combined(plan, Layout(0, 0), rows) == right, size
