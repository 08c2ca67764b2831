"""What the parts of the kernel's work take on the machine at hand, as the constants of the cost model ``measured``::

python -m benchmarks.calibration
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from math import inf, log2

import numpy as np
import pyarrow as pa

from sparkext.planner.compiler.compile import compile_plan
from sparkext.planner.costs.measured import Constants
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import variables
from sparkext.planner.patterns.pattern_grammar import lexemes, parse_pattern
from sparkext.planner.patterns.prev_condition import Apply, Operation, OwnAttribute, PrevAttribute, ValueKind
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Query, Step, Window
from sparkext.planner.sharing.prefixes import share_nothing
from sparkext.planner.sharing.sharing_plan import BURST, QSet, SharingPlan, TransitionPlan
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.workers.pool_run import PoolRun
from sparkext.udfs.workers.variants import KernelForm

_WITHIN = 1 << 30
_LANES = 16
"""As windows have, not as many as a processor adds at once where there is nothing else to do."""


def measure(events: int = 200_000) -> Constants:
    """Measure the constants, in nanoseconds, with streams of so many events."""
    few, many, wide = (_per_event(alone(*of), "B", events) for of in ((1, 1), (33, 1), (33, _LANES)))
    lane = max((wide - many) / 33 / (_LANES - 1) / 2, 0.01)
    update = max((many - few) / 32 - 2 * lane, 0.1)
    # Every other event begins with a total and changes the base, so that a sum of two products is evaluated.
    begins, several, broad = (_per_event(in_forms(*of), "AB", events // 4) for of in ((1, 1), (9, 1), (9, _LANES)))
    multiply = max((2 * (broad - several) / 9 / (_LANES - 1) - lane) / 2, 0.05)
    evaluate = max(2 * (several - begins) / 8 - update - lane - 2 * multiply, 0.0)
    form = max(_per_event(in_forms(1, 1), "B", events) - few, 0.0)
    tree = _per_event(_rising(Operation.LESS), "A", events // 4) / log2(events // 4)
    scan = _per_event(_rising(Operation.EQUAL), "A", events // 40) / (events / 80)
    looped, looped_wide = (_per_event(alone(33, lanes, "A B+"), "B", events) for lanes in (1, _LANES))
    wide = max((looped_wide - looped) / 33 / (_LANES - 1) / 2, 0.01)
    chosen, shared = (min(_per_event(in_bursts(least), "B", events) for _ in range(3)) for least in (2, 0))
    choose = max(chosen - shared, 0.0)
    found = update, lane, multiply, tree, scan, form, evaluate, wide, choose
    return Constants(*(round(value, 3) for value in found))


def alone(queries: int, lanes: int, pattern: str = "A B") -> KernelPlan:
    """A plan of so many queries of a pattern by themselves, with a lane for each of so many open windows."""
    template = template_of([_query(pattern, lanes)] * queries)
    return compile_plan(template, share_nothing(template), inf)


def in_forms(queries: int, lanes: int) -> KernelPlan:
    """A plan of queries ``A B`` that all take snapshots at A, with a lane for each of so many open windows."""
    longer = (_query("A B", lanes, _WITHIN + number * lanes) for number in range(queries))
    template = template_of(list(longer))
    (transition,) = template.transitions
    qset = QSet(tuple(range(queries)), transition.source)
    plan = SharingPlan("calibration", (TransitionPlan(transition.source, transition.target, (qset,)),))
    return compile_plan(template, plan, inf)


def in_bursts(least: int) -> KernelPlan:
    """A plan of two queries that share the bursts of B, from so many events on if that is more than one."""
    template = template_of([_query("A B+", 1), _query("C B+", 1)])
    sharing = [
        TransitionPlan(t.source, t.target, (QSet(t.queries, BURST if t.source == t.target else None),))
        for t in template.transitions
    ]
    plan = compile_plan(template, SharingPlan("calibration", tuple(sharing)), inf)
    return replace(plan, regions=tuple(replace(region, shares_from=least) for region in plan.regions))


def _rising(operation: Operation) -> KernelPlan:
    """A plan whose events are looked up in a tree when they are compared by LESS, and scanned otherwise."""
    value = Attribute("v", "bigint")
    compared = Apply(
        operation, (PrevAttribute(value, ValueKind.WHOLE), OwnAttribute(value, ValueKind.WHOLE)), ValueKind.FLAG
    )
    if operation is not Operation.LESS:
        # With the event before on both sides.
        total = Apply(
            Operation.ADD,
            (OwnAttribute(value, ValueKind.WHOLE), PrevAttribute(value, ValueKind.WHOLE)),
            ValueKind.WHOLE,
        )
        equal = Apply(operation, (total, PrevAttribute(value, ValueKind.WHOLE)), ValueKind.FLAG)
        compared = Apply(Operation.NOT, (equal,), ValueKind.FLAG)
    template = template_of([replace(_query("A+", 1), steps=(("A", Step("calibration", compared, _class("A"))),))])
    return compile_plan(template, share_nothing(template))


def _query(text: str, lanes: int, within: int = _WITHIN) -> Query:
    pattern = parse_pattern(lexemes(text, 0), 0, len(text))
    classes = tuple((name, _class(name)) for name in variables(pattern))
    return Query("calibration", pattern, classes, (Aggregate(Function.COUNT),), Window(within, within // lanes))


def _class(name: str) -> EventClass:
    return EventClass("type", name, None)


def _per_event(plan: KernelPlan, kinds: str, events: int) -> float:
    """Nanoseconds of processor time per event of a stream of one key: an A, and then events of ``kinds`` in turn."""
    number_of = {str(event): number for number, event in enumerate(plan.classes)}
    types = np.array([number_of[kind] for kind in kinds])[np.arange(events) % len(kinds)]
    types[0] = number_of["A"]
    random = np.random.default_rng(1)
    columns = [np.arange(events) * (_WITHIN // events), 1 << types]
    columns += [random.integers(0, events, events) for _ in plan.columns]
    rows = pa.RecordBatch.from_arrays([pa.array(c) for c in columns], [f"c{index}" for index in range(len(columns))])
    least = float("inf")
    for _ in range(3):
        begin = time.process_time()
        for _ in PoolRun(plan, Layout(0, 0), form=KernelForm(0)).results(iter([rows])):
            pass
        least = min(least, time.process_time() - begin)
    return least / events * 1e9


if __name__ == "__main__":
    for name, value in asdict(measure()).items():
        print(f"{name:<10}{value:>10.3f} ns")
