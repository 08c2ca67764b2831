"""Runs a pool below Spark: what Spark would do around the kernel, in a few lines of Python.

Queries become a template, a sharing plan and a kernel plan; events become Arrow batches sorted by
keys and time; partial results are added up per group, bank and window, as Spark's aggregation does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import lcm
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.kernel_plan.kernel_plan import (
    CLASSES_PER_WORD,
    COUNT_LIMIT,
    Arithmetic,
    Column,
    Encoding,
    Field,
    KernelPlan,
    Layout,
    QueryResult,
    class_words,
)
from sparkext.planner.kernel_plan.result_columns import BEYOND, DOUBLE, EXACT, NUMBER, SCALE, field_column
from sparkext.planner.patterns.query import Aggregate, Function, Query
from sparkext.planner.sharing.match_plan import MatchPlan
from sparkext.planner.sharing.prefixes import share_equal_prefixes, share_nothing
from sparkext.planner.sharing.sharing_plan import QSet, SharingPlan, TransitionPlan
from sparkext.planner.sharing.template import Template, template_of
from sparkext.planner.totals.pane_rows import PANES_FROM, may_be_stretched
from sparkext.udfs.arrow.whole_groups import whole_groups
from sparkext.udfs.jit.interpreted import CAN_INTERPRET
from sparkext.udfs.sorting.sorted_events import MOST_BYTES, Sort, sorted_events
from sparkext.udfs.workers.fallback import Fallback
from sparkext.udfs.workers.match_run import ROWS, MatchRun
from sparkext.udfs.workers.pool_run import OUTPUT_BYTES, PoolRun
from sparkext.udfs.workers.stretches import StretchRun, merged
from sparkext.udfs.workers.variants import INTERPRETED, Kernel, KernelForm, Variant
from tests.support.enumerator import Event, Key, Results, Value, as_count, as_float, minus, sort_key
from tests.support.kernel_twin import KernelRow
from tests.support.sharing_plans import draw_plan, optimized_plan, sharon_plan

AnyArray: TypeAlias = Any
"""A `pyarrow.Array`, whose stubs want to know of what."""

Planner: TypeAlias = Callable[[Template], SharingPlan]
Partials: TypeAlias = dict[tuple[Key, int, int], list[Value]]
"""Per group key, bank and window, one value per field: an int, a Fraction (or a double that is not
finite), or the extreme."""


def pool_results(
    queries: Sequence[Query],
    events: Sequence[Event],
    planner: Planner = share_equal_prefixes,
    random: Random | None = None,
    panes_from: float = PANES_FROM,
    matches: MatchPlan | None = None,
) -> list[Results]:
    """Per query of the pool, its results.

    Args:
        queries: The pool.
        events: In any order.
        planner: What is shared.
        random: When given, batches are cut at random places, outputs are flushed at random times and
            rows of no class stay in, the plan and its fallback take turns, keys are cut into stretches where they
            may be, and bursts are shared from random numbers of events on; else there is one batch.
        panes_from: From how many open windows on these are computed by panes; 0 for as often as possible.
        matches: How the matches of some queries are built, if they are.
    """
    template = template_of(queries)
    is_other, keep = (random is not None and random.random() < chance for chance in (0.5, 0.3))
    stretched = is_other and may_be_stretched(template) and not matches
    plan = compile_plan(
        template, planner(template), panes_from, fallback=is_other, stretched=stretched, matches=matches
    )
    if random is not None:
        plan = with_random_choices(plan, random)
    rows = sorted_rows(kernel_rows(plan, events, keep))
    if stretched and random is not None:
        partials = stretched_partials(plan, rows, random)
    else:
        partials = pool_partials(plan, rows, random)
    return [query_results(query, result, partials) for query, result in zip(queries, plan.results, strict=True)]


def with_random_choices(plan: KernelPlan, random: Random) -> KernelPlan:
    """The plan with random numbers of events from which on bursts are shared."""
    if not any(region.alone for region in plan.regions):
        return plan
    drawn = (replace(region, shares_from=random.choice((0, 1, 2, 2, 3, 5, None))) for region in plan.regions)
    return replace(plan, regions=tuple(drawn))


def pool_partials(plan: KernelPlan, rows: Sequence[KernelRow], random: Random | None = None) -> Partials:
    """The kernel's results for sorted rows, added up; if ``random`` is given, keys may be cut into chunks of time."""
    if not rows:
        return {}
    layout = Layout(len(rows[0].group), len(rows[0].other))
    bounded = [window for window in plan.windows if window is not None]
    small = all(abs(row.time) < 1 << 62 for row in rows) and not plan.spans and not plan.matches
    if random is not None and random.random() < 0.3 and len(bounded) == len(plan.windows) and small:
        slides, longest = lcm(*(window.slide for window in bounded)), max(window.within for window in bounded)
        layout = replace(layout, chunk=slides * (-(-longest // slides) + random.choice((0, 0, 1, 5))))
        rows = in_chunks(rows, layout.chunk or 1, max(0, *(window.within - window.slide for window in bounded)))
    return combined(plan, layout, run(plan, layout, source_batch(plan, rows), random))


def in_chunks(rows: Iterable[KernelRow], length: int, shared: int) -> list[KernelRow]:
    """Rows once for each chunk of time in which a window of theirs may start: two for the first ``shared`` of one."""
    return sorted_rows(
        replace(row, other=(*row.other, chunk))
        for row in rows
        for chunk in range((row.time - shared) // length, row.time // length + 1)
    )


def split_randomly(random: Random) -> Planner:
    """A planner that shares equal prefixes in some random Q-sets only."""

    def planner(source: Template) -> SharingPlan:
        chosen = []
        for transition in share_equal_prefixes(source).transitions:
            qsets: list[QSet] = []
            for qset in transition.qsets:
                parts: dict[int, list[int]] = {}
                for query in qset.queries:
                    parts.setdefault(random.randint(0, 1), []).append(query)
                qsets += (QSet(tuple(part), None) for part in parts.values())
            chosen.append(TransitionPlan(transition.source, transition.target, tuple(qsets)))
        return SharingPlan("random", tuple(chosen))

    return planner


PLANNERS: dict[str, Callable[[Random], Planner]] = {
    "shared": lambda _: share_equal_prefixes,
    "unshared": lambda _: share_nothing,
    "split": split_randomly,
    "random": lambda random: partial(draw_plan, random),
    "optimized": lambda random: partial(optimized_plan, random),
    "sharon": lambda random: partial(sharon_plan, random),
}


def kernel_rows(plan: KernelPlan, events: Iterable[Event], keep_unmatched: bool = False) -> list[KernelRow]:
    """Events that have a time and are of some class, as the kernel sees them."""
    rows: list[KernelRow] = []
    for event in events:
        classes = frozenset(index for index, event_class in enumerate(plan.classes) if event_class in event.classes)
        if event.time is not None and (classes or keep_unmatched):
            values = tuple(event.values[column.attribute.text] for column in plan.columns)
            rows.append(KernelRow(event.group, event.partition, event.time, classes, values))
    return rows


def sorted_rows(rows: Iterable[KernelRow]) -> list[KernelRow]:
    """Rows by keys and time, as Spark hands them to the kernel."""
    return sorted(rows, key=_order)


def _nulls_first(key: Key) -> list[tuple[bool, Any]]:
    return [(value is not None, 0 if value is None else sort_key(value)) for value in key]


def arrow_type(spark: str) -> pa.DataType:
    """The Arrow type of a Spark type."""
    if match := re.fullmatch(r"decimal\((\d+),(\d+)\)", spark):
        return pa.decimal128(int(match[1]), int(match[2]))
    types: dict[str, pa.DataType] = {
        "tinyint": pa.int8(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "timestamp_ntz": pa.timestamp("us"),
    }
    return types[spark]


def source_batch(plan: KernelPlan, rows: Sequence[KernelRow]) -> pa.RecordBatch:
    """The rows that Spark hands to the kernel, as one batch, laid out as `Layout` says."""
    arrays: list[AnyArray] = [_keys([row.group[i] for row in rows]) for i in range(len(rows[0].group))]
    arrays += [_keys([row.other[i] for row in rows]) for i in range(len(rows[0].other))]
    arrays.append(pa.array([row.time for row in rows], pa.int64()))
    for word in range(class_words(len(plan.classes))):
        some = range(word * CLASSES_PER_WORD, (word + 1) * CLASSES_PER_WORD)
        bits = [sum(1 << index - some.start for index in row.classes if index in some) for row in rows]
        arrays.append(pa.array(bits, pa.int64()))
    arrays += [_attribute(column, [row.values[i] for row in rows]) for i, column in enumerate(plan.columns)]
    return pa.RecordBatch.from_arrays(arrays, [f"c{index}" for index in range(len(arrays))])


def _keys(values: list[object]) -> AnyArray:
    some = next((value for value in values if value is not None), None)
    return pa.array(values, pa.int32() if some is None else None)


def _attribute(column: Column, values: list[Value]) -> AnyArray:
    match column.encoding:
        case Encoding.PRESENT:
            return pa.array([value is not None for value in values], pa.bool_())
        case Encoding.NUMBER:
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        case Encoding.AFTER | Encoding.BEFORE:
            return pa.array([None if value is None else as_number(value) for value in values], pa.float64())
        case Encoding.LEAST_DIFFERENCE | Encoding.GREATEST_DIFFERENCE:
            assert column.unit is not None
            return pa.array(
                [None if value is None else in_unit(value, column.unit) for value in values], arrow_type(column.unit)
            )
        case Encoding.LEAST | Encoding.GREATEST:
            return pa.array(values, arrow_type(column.attribute.type))
        case Encoding.IDENTITY:
            return pa.array(values, pa.string())


def as_number(value: Value) -> float:
    """A value, of which differences are taken, as a double."""
    return float(_since_1970(value))


def in_unit(value: Value, unit: str) -> Value:
    """A value, of which differences are taken, as a part of one."""
    value = _since_1970(value)
    return float(value) if unit == "double" else int(value) if unit == "bigint" else Decimal(value)


def _since_1970(value: Value) -> Value:
    """A number, or a time in days or microseconds."""
    if isinstance(value, datetime):
        return minus(value, datetime(1970, 1, 1, tzinfo=timezone.utc))
    return minus(value, date(1970, 1, 1)) if isinstance(value, date) else value


def cut(batch: pa.RecordBatch, random: Random | None) -> Iterator[pa.RecordBatch]:
    """``batch`` in pieces of random sizes, some of them empty."""
    if random is None or random.random() < 0.2:
        yield batch
        return
    size = random.choice((1, 2, 5, max(1, batch.num_rows)))
    at = 0
    while at < batch.num_rows:
        rows = random.randint(0, size)
        yield batch.slice(at, rows)
        at += rows


def events_in_order(layout: Layout, source: pa.RecordBatch, random: Random | None) -> Iterator[pa.RecordBatch]:
    """Sorted events in batches: as they are, or shuffled and sorted again by what sorts the events of a task."""
    if random is None or random.random() < 0.5:
        return cut(source, random)
    shuffled = source.take(pa.array(random.sample(range(source.num_rows), source.num_rows), pa.int64()))
    return sorted_events(layout, Sort((), random.choice((300, MOST_BYTES)), by_value=True), cut(shuffled, random))


def stretched_partials(plan: KernelPlan, rows: Sequence[KernelRow], random: Random) -> Partials:
    """The results of a stretched plan for sorted rows that are cut into stretches at random places, added up.

    Rows of one key and time are in one stretch, and all rows of a group meet, in any order, as Spark sees to it.
    """
    if not rows:
        return {}
    layout = Layout(len(rows[0].group), len(rows[0].other))
    indexes = [at for at in range(1, len(rows)) if _order(rows[at - 1]) != _order(rows[at])]
    cuts = sorted(random.sample(indexes, random.randint(0, min(4, len(indexes)))))
    source = source_batch(plan, rows)
    batches: list[pa.RecordBatch] = []
    for begin, end in pairwise([0, *cuts, len(rows)]):
        size = random.choice((1, 256, 65536))
        events = events_in_order(layout, source.slice(begin, end - begin), random)
        batches += StretchRun(plan, layout, size, form_for(random)).results(events)
    random.shuffle(batches)
    return combined(plan, layout, [row for batch in merged(plan, layout)(iter(batches)) for row in batch.to_pylist()])


def _order(row: KernelRow) -> tuple[Any, ...]:
    return _nulls_first(row.group), _nulls_first(row.other), row.time


def run(
    plan: KernelPlan, layout: Layout, source: pa.RecordBatch, random: Random | None = None
) -> list[dict[str, Value]]:
    """The kernel's output rows for sorted input."""
    size = OUTPUT_BYTES if random is None else random.choice((1, 256, 4096, 65536))
    restless = None if random is None else Restless(random)
    form = form_for(random)
    pool_run = PoolRun(plan, layout, size, restless, form)
    if plan.matches is not None:
        rows = ROWS if random is None else random.choice((1, 2, 5, 20, ROWS))
        pool_run = MatchRun(plan, layout, size, restless, form, rows)
    results = pool_run.results(events_in_order(layout, source, random))
    if plan.matches is not None or random is None or random.random() < 0.5:
        return [row for batch in results for row in batch.to_pylist()]
    whole = [row for batch in whole_groups(plan.fields, layout.group_keys, results) for row in batch.to_pylist()]
    keys = [tuple(map(str, list(row.values())[: layout.group_keys + 2])) for row in whole]
    assert len(set(keys)) == len(keys), "a group, bank and window has two rows"
    return whole


def form_for(random: Random | None) -> KernelForm:
    """The compiled form, or now and then one that changes."""
    return KernelForm(0) if random is None or random.random() < 0.7 else Switching(random)


class Switching(KernelForm):
    """Runs kernels interpreted and compiled in turn, each for a few events."""

    def __init__(self, random: Random) -> None:
        super().__init__(0)
        self._random = random

    def of(self, variant: Variant) -> Kernel:
        compiled = super().of(variant)
        return self._random.choice((compiled, INTERPRETED)) if CAN_INTERPRET else compiled

    def rows(self, kernel: Kernel, rows: int) -> int:
        del kernel
        return self._random.randint(1, rows)


class Restless(Fallback):
    """Wants now one machine, now the other."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random
        self.wanted = random.randint(0, 1)

    def took(self, template: int, events: int, seconds: float) -> None:
        del seconds
        self.events += template * events
        self.wanted = self._random.randint(0, 1)


def combined(plan: KernelPlan, layout: Layout, rows: Iterable[dict[str, Value]]) -> Partials:
    """Rows of the same group, bank and window added up.

    Raises:
        AssertionError: There are several such rows, although results are per partition.
    """
    added: Partials = {}
    for row in rows:
        values = list(row.values())
        group = tuple(values[: layout.group_keys])
        beyond = dict(row[BEYOND] or ())
        assert all(row[field_column(number, plan.fields[number])] is None for number in beyond), "they do not fit"
        fields = [
            field_value(field, row[field_column(number, field)], beyond.get(number))
            for number, field in enumerate(plan.fields)
        ]
        key = (group, row["bank"], row["window"])
        if key in added:
            assert layout.other_keys, f"{key} comes twice"
            fields = [add(kind, a, b) for kind, a, b in zip(plan.fields, added[key], fields, strict=True)]
        added[key] = fields
    return added


def field_value(field: Field, held: Value, beyond: dict[str, Value] | None) -> Value:
    """What a field holds, by its own column and what is beyond that."""
    assert (held is None) == (beyond is not None) or field.arithmetic is Arithmetic.EXTREME
    match field.arithmetic:
        case Arithmetic.EXACT if beyond is not None:
            assert beyond[DOUBLE] is beyond[NUMBER] is beyond[SCALE] is None
            assert beyond[EXACT] is None or 1 << 63 <= beyond[EXACT] < COUNT_LIMIT
            return COUNT_LIMIT if beyond[EXACT] is None else int(beyond[EXACT])
        case Arithmetic.NUMBER if beyond is not None:
            assert beyond[EXACT] is None
            number = exact(beyond[NUMBER], beyond[SCALE])
            assert same(number if isinstance(number, float) else nearest(number), beyond[DOUBLE])
            return number
        case Arithmetic.NUMBER:
            return exact(held, 0)
        case _:
            return held


def nearest(number: Fraction) -> float:
    """A fraction as a double."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def exact(number: float, scale: int) -> Value:
    """``number · 2^(512·scale)`` as a Fraction; ``number`` itself when it is not finite."""
    if not math.isfinite(number):
        return number
    return Fraction(number) * Fraction(2) ** (512 * scale)


def add(field: Field, left: Value, right: Value) -> Value:
    """Sum, or the extreme, of two values of a field."""
    if field.arithmetic is not Arithmetic.EXTREME:
        if isinstance(left, float) or isinstance(right, float):
            return sum(value for value in (left, right) if isinstance(value, float))
        return left + right
    if left is None or right is None:
        return right if left is None else left
    return (min if field.encoding is Encoding.LEAST else max)(left, right, key=sort_key)


def query_results(query: Query, result: QueryResult, partials: Partials) -> Results:
    """The results of one query, out of those of its pool."""
    results: Results = {}
    for (group, bank, window), fields in partials.items():
        if bank != result.bank or not fields[result.presence]:
            continue
        results[group, window] = [
            aggregate_value(aggregate, [fields[index] for index in indexes])
            for aggregate, indexes in zip(query.aggregates, result.values, strict=True)
        ]
    return results


def aggregate_value(aggregate: Aggregate, held: list[Value]) -> Value:
    """Value of an aggregate, out of those of its fields."""
    function = aggregate.function
    if aggregate.is_extreme_difference and isinstance(held[0], Decimal):
        return Fraction(held[0])
    if aggregate.is_extreme_difference and len(held) > 1:
        some = [value for value in held if value is not None]
        return (min if function is Function.MIN else max)(some, key=sort_key, default=None)
    if function.counts:
        return as_count(function, int(held[0]))
    if function not in (Function.SUM, Function.AVG):
        return held[0]
    total, count = held
    if not count:
        return None
    if isinstance(total, float):
        return total
    return as_float(total if function is Function.SUM else total / count)


def difference(expected: Results, actual: Results) -> str | None:
    """What differs between two results; None when nothing does."""
    if expected.keys() != actual.keys():
        return f"rows {sorted(map(str, expected.keys() ^ actual.keys()))} are on one side only"
    for key, values in expected.items():
        for number, (wanted, value) in enumerate(zip(values, actual[key], strict=True)):
            if not same(wanted, value):
                return f"{key}, aggregate {number}: expected {wanted!r}, found {value!r}"
    return None


def same(left: Value, right: Value) -> bool:
    """Equality of two results; doubles may differ by 1e-9, all else not at all."""
    if left is None or right is None or not isinstance(left, float):
        return bool(left == right) and isinstance(left, Decimal) == isinstance(right, Decimal)
    return (left != left and right != right) or math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
