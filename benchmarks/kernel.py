"""The kernel alone, without Spark: streams of events as Spark would hand them over, and what a plan takes for them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.rides import DISTRICTS, MIX, bursts
from benchmarks.same import ResultsDifferError
from sparkext.execution.sample import counted
from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.statistics import expectations, longest_window
from sparkext.planner.kernel_plan.kernel_plan import (
    CLASSES_PER_WORD,
    SCALE_BITS,
    Arithmetic,
    Encoding,
    Field,
    KernelPlan,
    Layout,
    class_words,
)
from sparkext.planner.kernel_plan.result_columns import BEYOND, EXACT, NUMBER, SCALE, field_column
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Query, Step, Window
from sparkext.planner.problem.problem import Problem
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import Template, template_of
from sparkext.planner.totals.pane_rows import PANES_FROM
from sparkext.udfs.workers.match_run import MatchRun
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm

MINUTE = 60_000_000
SLIDING = Window(20 * MINUTE, 5 * MINUTE)
COUNT = Aggregate(Function.COUNT)
MEAN = Aggregate(Function.AVG, "Travel", Attribute("duration", "double"))
BATCH = 10_000
"""Rows of an Arrow batch, as Spark makes them."""


def query(
    name: str,
    text: str,
    *aggregates: Aggregate,
    window: Window | None = SLIDING,
    conditions: Mapping[str, str] | None = None,
    steps: Mapping[str, Step] | None = None,
    types: str | None = "action",
) -> Query:
    """A query whose variables are event types.

    Args:
        name: Its name.
        text: The pattern.
        aggregates: ``COUNT(*)`` if there is none.
        window: None for no windows.
        conditions: On one event, by variable, as pandas evaluates them.
        steps: On an event and the one before, by variable.
        types: The column with the type; None if every event is of every variable.
    """
    pattern = parse_pattern(lexemes(text, 0), 0, len(text))
    classes = []
    for variable in variables(pattern):
        condition = (conditions or {}).get(variable)
        classes.append((variable, EventClass(types, variable if types else None, condition)))
    return Query(name, pattern, tuple(classes), aggregates or (COUNT,), window, tuple((steps or {}).items()))


@dataclass(frozen=True, slots=True)
class Stream:
    """Events to measure with.

    Attributes:
        events: How many.
        keys: How many they are spread over, evenly.
        apart: Microseconds between two events of a key, on average.
        mix: Share of each type among bursts.
        burst: Mean number of events of one type in a row, per key.
        seed: Of the random numbers.
        burst_in_odd_keys: As ``burst``, in keys of odd numbers; as in all others if None.
    """

    events: int
    keys: int
    apart: int = MINUTE
    mix: Mapping[str, float] = field(default_factory=lambda: dict(MIX))
    burst: float = 1.0
    seed: int = 7
    burst_in_odd_keys: float | None = None

    def __str__(self) -> str:
        runs = f", bursts of {self.burst:g}" if self.burst != 1 else ""
        return f"{self.events:,} events of {self.keys:,} keys, one each {self.apart / 1e6:g} s{runs}"

    def rows(self, plan: KernelPlan) -> pa.RecordBatch:
        """The events, sorted by key and time, as the kernel of a plan reads them."""
        random = np.random.default_rng(self.seed)
        key = random.integers(0, self.keys, self.events)
        moment = random.integers(0, max(1, self.events // self.keys * self.apart), self.events)
        order = np.lexsort((moment, key, key % DISTRICTS))
        key, moment = key[order], moment[order]
        shares = np.array(list(self.mix.values()))
        fresh = random.choice(len(shares), self.events, p=shares / shares.sum())
        odd = self.burst if self.burst_in_odd_keys is None else self.burst_in_odd_keys
        changes = random.random(self.events) < 1 / np.where(key % 2, odd, self.burst)
        kind = bursts(key, changes, fresh, np.zeros(self.keys, np.int64))
        values = self._values(random)
        masks = [np.zeros(self.events, np.int64) for _ in range(class_words(len(plan.classes)))]
        kinds = {name: index for index, name in enumerate(self.mix)}
        for index, event in enumerate(plan.classes):
            matched = np.ones(self.events, bool) if event.type is None else kind == kinds[event.type]
            if event.condition is not None:
                matched = matched & np.asarray(values.eval(event.condition))
            masks[index // CLASSES_PER_WORD][matched] |= 1 << index % CLASSES_PER_WORD
        arrays: list[NDArray[np.generic]] = [key % DISTRICTS, key, moment, *masks]
        for column in plan.columns:
            present = column.encoding is Encoding.PRESENT
            arrays.append(np.ones(self.events, bool) if present else values[column.attribute.text].to_numpy())
        return pa.RecordBatch.from_arrays([pa.array(a) for a in arrays], [f"c{i}" for i in range(len(arrays))])

    def _values(self, random: np.random.Generator) -> pd.DataFrame:
        """Attributes and what conditions are about."""
        return pd.DataFrame(
            {
                "duration": random.gamma(2.0, 180.0, self.events),
                "speed": random.gamma(4.0, 7.0, self.events),
                "vol": random.integers(0, 1000, self.events),
                "open": random.gamma(4.0, 20.0, self.events),
                "value": random.random(self.events),
            }
        )


def compiled(queries: Sequence[Query], panes: bool = True, is_stream: bool = False) -> KernelPlan:
    """The plan of a pool that shares what is equal anyway, and nothing else.

    Args:
        queries: The pool.
        panes: Whether windows may be computed by panes, or each by itself.
        is_stream: Whether it is for a stream, from micro-batch to micro-batch.
    """
    template = template_of(queries)
    from_windows = PANES_FROM if panes else float("inf")
    return compile_plan(template, share_equal_prefixes(template), from_windows, is_stream=is_stream)


def problem(template: Template, stream: Stream) -> Problem:
    """What there is to optimize, with the events counted as a run counts them."""
    classes = list(dict.fromkeys(state.event for state in template.states))
    plan = compile_plan(template, share_equal_prefixes(template))
    run = PoolRun(plan, Layout(1, 1), form=KernelForm(0))
    for _ in run.results(iter(_batches(stream.rows(plan)))):
        pass
    seen = counted(plan.classes, run.counters.totals())
    assert seen is not None
    expected = expectations(classes, longest_window(template.queries), {}, [seen])
    found = [expected[state.event] for state in template.states]
    runs = tuple(one.events if one.runs is None else one.runs for one in found)
    return Problem(template, tuple(one.events for one in found), runs=runs)


def nanoseconds(cases: Mapping[str, tuple[KernelPlan, Stream]], rounds: int) -> dict[str, float]:
    """Processor time an event of each plan: the least of several rounds by turns, after one that does not count.

    Args:
        cases: By name, a plan and the events.
        rounds: How many.
    """
    batches = {name: _batches(stream.rows(plan)) for name, (plan, stream) in cases.items()}
    least = dict.fromkeys(cases, float("inf"))
    for number in range(rounds + 1):
        for name, (plan, stream) in cases.items():
            begin = time.process_time()
            for _ in _results(plan, batches[name]):
                pass
            taken = (time.process_time() - begin) / stream.events * 1e9
            if number:
                least[name] = min(least[name], taken)
    return least


def nanoseconds_of_plans(plans: Mapping[str, KernelPlan], stream: Stream, rounds: int) -> dict[str, float]:
    """Of each plan; plans that are the same are measured once, or noise would tell them apart."""
    first = {plan: name for name, plan in reversed([*plans.items()])}
    taken = nanoseconds({name: (plan, stream) for plan, name in first.items()}, rounds)
    return {name: taken[first[plan]] for name, plan in plans.items()}


def check_plans(plans: Mapping[str, KernelPlan], stream: Stream) -> None:
    """Hold the results of plans of the same queries against each other.

    Raises:
        ResultsDifferError: Two plans have different results.
    """
    results = {name: _totals(plan, _batches(stream.rows(plan))) for name, plan in plans.items()}
    first = next(iter(plans))
    for name, found in results.items():
        for number, (one, other) in enumerate(zip(results[first], found, strict=True)):
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-9, atol=0, equal_nan=True):
                raise ResultsDifferError(f"{first} and {name} have different results for query {number}")


def _batches(rows: pa.RecordBatch) -> list[pa.RecordBatch]:
    return [rows.slice(at, BATCH) for at in range(0, rows.num_rows, BATCH)]


def _results(plan: KernelPlan, batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    made = PoolRun if plan.matches is None else MatchRun
    return made(plan, Layout(1, 1), form=KernelForm(0)).results(iter(batches))


def _totals(plan: KernelPlan, batches: Sequence[pa.RecordBatch]) -> list[NDArray[np.longdouble]]:
    """Per query of a plan, its results: group, window and all fields, a row for each group and window, sorted."""
    parts = list(_results(plan, batches))
    if not parts:
        return [np.empty((0, 0), np.longdouble) for _ in plan.results]
    found = pa.Table.from_batches(parts)
    bank = found["bank"].to_numpy()
    totals = []
    for result in plan.results:
        rows = found.filter(pa.array(bank == result.bank))
        fields = [result.presence, *(number for value in result.values for number in value)]
        numbers = [_numbers(rows, number, plan.fields[number]) for number in fields]
        there = numbers[0] != 0
        keys = [np.asarray(rows.column(0))[there], rows["window"].to_numpy()[there]]
        order = np.lexsort(keys)
        keys = [key[order] for key in keys]
        new = np.append(True, (np.diff(keys[0]) != 0) | (np.diff(keys[1]) != 0))[: len(order)]
        starts = np.flatnonzero(new)
        sums = [np.add.reduceat(number[there][order], starts) if len(starts) else number[:0] for number in numbers]
        totals.append(np.stack([*(key[starts].astype(np.longdouble) for key in keys), *sums]))
    return totals


def _numbers(rows: pa.Table, number: int, field: Field) -> NDArray[np.longdouble]:
    """The values of a field that is a count or a sum."""
    exact = field.arithmetic is Arithmetic.EXACT
    values = rows[field_column(number, field)].fill_null(0).to_numpy().astype(np.longdouble)
    for row in np.flatnonzero(rows[BEYOND].is_valid()):
        for there, more in rows[BEYOND][row].as_py():
            if there == number:
                held, scale = (more[EXACT] or np.inf, 0) if exact else (more[NUMBER], SCALE_BITS * more[SCALE])
                values[row] = np.ldexp(np.longdouble(held), scale)
    return np.asarray(values)
