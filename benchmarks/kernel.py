"""The kernel alone, without Spark: nanoseconds of processor time an event, and ratios to one query.

Events are those of `benchmarks.rides` in the kernel's order, handed over in Arrow batches of 10,000 rows
as Spark does. The least of several runs counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.rides import DISTRICTS, MIX
from planner.adjacent import Apply, Here, Kind, Operation, Prev
from planner.attribute import Attribute
from planner.compile import compile_plan
from planner.kernel_plan import CLASSES_PER_WORD, KernelPlan, Layout, class_words
from planner.panes import PANES_FROM
from planner.pattern import variables
from planner.pattern_grammar import lexemes, parse_pattern
from planner.prefixes import share_equal_prefixes
from planner.query import Aggregate, EventClass, Function, Query, Step, Window
from planner.template import template
from udfs.run import PoolRun

MINUTE = 60_000_000
SLIDING = Window(20 * MINUTE, 5 * MINUTE)
COUNT = Aggregate(Function.COUNT)
MEAN = Aggregate(Function.AVG, "Travel", Attribute("duration", "double"))
TRIP = "Request (Pickup Travel)+ Delivery"
BEFORE = ("Request", "Accept Request", "Request Accept", "Cancel Request", "Request Cancel Request")
AFTER = ("Delivery", "Cancel", "Delivery Request", "Delivery Cancel", "Travel Delivery")


def query(name: str, text: str, *aggregates: Aggregate, window: Window | None = SLIDING) -> Query:
    """A query whose variables are event types."""
    pattern = parse_pattern(lexemes(text, 0), 0, len(text))
    classes = tuple((v, EventClass("action", v, None)) for v in variables(pattern))
    return Query(name, pattern, classes, aggregates or (COUNT,), window)


def nanoseconds(
    queries: Sequence[Query], events: int, keys: int, repetitions: int = 3, apart: int = MINUTE, panes: bool = True
) -> float:
    """Processor time an event of one pass over ``events`` events of ``keys`` keys.

    Args:
        queries: The pool.
        events: How many.
        keys: How many.
        repetitions: Of which the least time counts.
        apart: Microseconds between two events of a key, on average.
        panes: Whether windows may be computed by panes, or each by itself.
    """
    machine = template(queries)
    plan = compile_plan(machine, share_equal_prefixes(machine), PANES_FROM if panes else float("inf"))
    return _least(plan, _events(plan, events, keys, apart), repetitions)


def falling_runs(events: int, repetitions: int = 3) -> float:
    """Processor time an event for falling runs of any length, all of one key, with no windows."""
    start = lexemes("Start Down+", 0)
    value = Attribute("value", "double")
    falls = Apply(Operation.LESS, (Here(value, Kind.KEY), Prev(value, Kind.KEY)), Kind.FLAG)
    every = EventClass(None, None, "TRUE")
    runs = Query(
        "runs",
        parse_pattern(start, 0, len("Start Down+")),
        (("Start", every), ("Down", every)),
        (Aggregate(Function.LOG10_COUNT),),
        None,
        (("Down", Step("value < PREV(value)", falls, None)),),
    )
    machine = template([runs])
    plan = compile_plan(machine, share_equal_prefixes(machine))
    random, key = np.random.default_rng(7), np.zeros(events, np.int64)
    columns = [key, key, np.arange(events), key + 1, *(random.random(events) for _ in plan.columns)]
    rows = pa.RecordBatch.from_arrays([pa.array(c) for c in columns], [f"c{i}" for i in range(len(columns))])
    return _least(plan, rows, repetitions)


def _least(plan: KernelPlan, rows: pa.RecordBatch, repetitions: int) -> float:
    """The least processor time an event of several passes, of which the first does not count."""
    batches = [rows.slice(at, 10_000) for at in range(0, rows.num_rows, 10_000)]
    times: list[float] = []
    for _ in range(repetitions + 1):
        begin = time.process_time()
        for _ in PoolRun(plan, Layout(1, 1)).results(iter(batches)):
            pass
        times.append(time.process_time() - begin)
    return float(min(times[1:]) / rows.num_rows * 1e9)


def _events(plan: KernelPlan, events: int, keys: int, apart: int) -> pa.RecordBatch:
    """Events of random keys and times, sorted by key and time."""
    random = np.random.default_rng(7)
    key = random.integers(0, keys, events)
    moment = random.integers(0, events // keys * apart, events)
    order = np.lexsort((moment, key, key % DISTRICTS))
    kinds = list(MIX)
    kind = random.choice(len(kinds), events, p=np.array(list(MIX.values())) / sum(MIX.values()))
    masks = np.zeros((class_words(len(plan.classes)), len(kinds)), np.int64)
    for place, event in enumerate(plan.classes):
        masks[place // CLASSES_PER_WORD, kinds.index(str(event.type))] |= 1 << place % CLASSES_PER_WORD
    arrays: list[NDArray[np.generic]] = [
        key[order] % DISTRICTS,
        key[order],
        moment[order],
        *(mask[kind] for mask in masks),
    ]
    arrays += [random.gamma(2.0, 180.0, events) for _ in plan.columns]
    return pa.RecordBatch.from_arrays([pa.array(a) for a in arrays], [f"c{i}" for i in range(len(arrays))])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=300_000)
    events = parser.parse_args().events
    pool = [query(f"q{i}", f"{BEFORE[i % 5]} (Pickup Travel)+ {AFTER[i // 5 % 5]}") for i in range(25)]
    many = [query(f"q{i}", str(q.pattern), (COUNT, MEAN)[i // 25 % 2]) for i, q in enumerate(pool * 4)]
    narrow, wide = Window(3600 * 1_000_000, 3600 * 1_000_000), Window(3600 * 1_000_000, 10_000_000)
    one = nanoseconds([query("q", TRIP)], events, events // 100)
    cases = {
        "one query, COUNT": one,
        "one query, AVG": nanoseconds([query("q", TRIP, MEAN)], events, events // 100),
        "one query, 10 events a key": nanoseconds([query("q", TRIP)], events, events // 10),
        "one query, 100 keys": nanoseconds([query("q", TRIP)], events, 100),
        "the same query 100 times": nanoseconds([query(f"q{i}", TRIP) for i in range(100)], events, events // 100),
        "25 patterns, COUNT": nanoseconds(pool, events, events // 100),
        "25 patterns, COUNT and AVG": nanoseconds(many, events, events // 100),
    }
    for row, apart in (
        ("an event a minute", MINUTE),
        ("an event each 10 s", MINUTE // 6),
        ("an event a second", MINUTE // 60),
    ):
        cases[f"{row}: within 1 h, one window"] = nanoseconds([query("q", TRIP, window=narrow)], events, 100, 3, apart)
        sliding = [query("q", TRIP, window=wide)]
        cases[f"{row}: sliding by 10 s, 360 windows"] = nanoseconds(sliding, events, 100, 3, apart)
        cases[f"{row}: each of the 360 by itself"] = nanoseconds(sliding, events, 100, 1, apart, panes=False)
    for size in (events // 8, events, 1_000_000):
        cases[f"falling runs, one key, {size:,} events"] = falling_runs(size)
    print(f"{'what':<54} {'ns/event':>9} {'to one query':>13}")
    for name, measured in cases.items():
        print(f"{name:<54} {measured:>9.0f} {measured / one:>12.2f}x")


if __name__ == "__main__":
    main()
