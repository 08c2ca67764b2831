"""Cost curves: how time and memory grow with the events of one key, for every kind of condition on the event before."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.bench import Bench, Benchmark
from benchmarks.cost_curve import METHOD, curve, figures
from benchmarks.kernel import compiled, query
from benchmarks.report import Result, Row, Table, Target
from sparkext.planner.conditions.access import accesses
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
)
from sparkext.planner.patterns.query import Aggregate, EventClass, Function, Query, Step, Window

_NUMBER, _WHOLE, _FLAG = ValueKind.NUMBER, ValueKind.WHOLE, ValueKind.FLAG
_VALUE, _SPEED, _VOL = Attribute("value", "double"), Attribute("speed", "double"), Attribute("vol", "bigint")
_X, _PREV_X = OwnAttribute(_VALUE, _NUMBER), PrevAttribute(_VALUE, _NUMBER)
_Y, _PREV_Y = OwnAttribute(_SPEED, _NUMBER), PrevAttribute(_SPEED, _NUMBER)
_V, _PREV_V = OwnAttribute(_VOL, _WHOLE), PrevAttribute(_VOL, _WHOLE)

COUNT = Aggregate(Function.LOG10_COUNT)
EVERY_MEASURE = (
    COUNT,
    *(Aggregate(f, "Step", _VALUE) for f in (Function.SUM, Function.AVG, Function.MIN, Function.MAX)),
)


def _flag(operation: Operation, *operands: Operand) -> Operand:
    return Apply(operation, operands, _FLAG)


def _number(operation: Operation, *operands: Operand) -> Operand:
    return Apply(operation, operands, _NUMBER)


_FALLS, _RISES = _flag(Operation.LESS, _X, _PREV_X), _flag(Operation.LESS, _PREV_Y, _Y)
_FALLS_OR_FIRST = _flag(Operation.OR, _flag(Operation.IS_NULL, _PREV_X), _FALLS)
_APART = _number(Operation.SUBTRACT, _X, _PREV_X)
_NEAR = _flag(Operation.LESS, _number(Operation.ABS, _APART), Constant(0.001, _NUMBER))
_SAME = _flag(Operation.EQUAL, _V, _PREV_V)
_REMAINDER = _flag(Operation.LESS, _number(Operation.REMAINDER, _X, _PREV_X), Constant(0.001, _NUMBER))


@dataclass(frozen=True, slots=True)
class Case:
    """A curve.

    Attributes:
        name: The condition, as it is written.
        condition: On each step of ``Start Step+``, over all events of a key.
        seconds: Most that a million events may take; None for no target.
        measures: What is asked for.
        window: In microseconds, of events one microsecond apart; None for none.
        most: Most events; for what is quadratic.
    """

    name: str
    condition: Operand
    seconds: float | None
    measures: tuple[Aggregate, ...] = (COUNT,)
    window: Window | None = None
    most: int = 1_000_000

    def query(self) -> Query:
        """The query."""
        every = EventClass(None, None, "value >= 0")
        found = query("curve", "Start Step+", *self.measures, window=self.window, types=None)
        steps = (("Step", Step(self.name, self.condition, None)),)
        classes = tuple((variable, every) for variable, _ in found.classes)
        return Query(found.name, found.pattern, classes, found.aggregates, self.window, steps)


SLIDING = Window(10_000, 1_000)
CASES: tuple[Case, ...] = (
    Case("v = PREV(v)", _SAME, 10),
    Case("x < PREV(x)", _FALLS, 10),
    Case("PREV(x) IS NULL OR x < PREV(x)", _FALLS_OR_FIRST, 10),
    Case("x <> PREV(x)", _flag(Operation.NOT, _flag(Operation.EQUAL, _X, _PREV_X)), 10),
    Case("x - PREV(x) > 0.1", _flag(Operation.LESS, Constant(0.1, _NUMBER), _APART), 10),
    Case("abs(x - PREV(x)) < 0.001", _NEAR, 10),
    Case("v = PREV(v) AND abs(x - PREV(x)) < 0.001", _flag(Operation.AND, _SAME, _NEAR), 10),
    Case("x < PREV(x) AND y > PREV(y)", _flag(Operation.AND, _FALLS, _RISES), 60),
    Case("x < PREV(x) OR y > PREV(y)", _flag(Operation.OR, _FALLS, _RISES), 60),
    Case("abs(x - PREV(x)) < 0.001, all measures", _NEAR, None, EVERY_MEASURE),
    Case("x < PREV(x) AND y > PREV(y), all measures", _flag(Operation.AND, _FALLS, _RISES), None, EVERY_MEASURE),
    Case("abs(x - PREV(x)) < 0.001, 10 windows at a time", _NEAR, None, window=SLIDING),
    Case("x < PREV(x) AND y > PREV(y), 10 windows", _flag(Operation.AND, _FALLS, _RISES), None, window=SLIDING),
    Case("x % PREV(x) < 0.001", _REMAINDER, None, most=32_000),
)


def run(bench: Bench) -> Result:
    """Each point in a process of its own."""
    most = bench.pick(1_000_000, 64_000, 1_000)
    rows: list[Row] = []
    table: list[dict[str, object]] = []
    for case in bench.pick(CASES, CASES, CASES[::4]):
        plan = compiled([case.query()])
        points = curve(plan, min(most, case.most), bench.directory)
        last = points[-1]
        name = f"`{case.name}`, {last.events:,} events"
        # What a million events may take says nothing of fewer.
        reached = case.seconds is not None and last.events == case.most
        rows.append(Row(name, last.seconds, "s", target=Target(case.seconds or 0) if reached else None))
        rows.append(Row(name, last.megabytes, "MB", target=Target(1000)))
        found = " + ".join(access.value for access in accesses(case.condition, False))
        table.append({"condition": f"`{case.name}`", "found by": found, **figures(points)})
    what = "`Start Step+` with a condition on `Step`, over random values of one key"
    shown = Table(
        f"Seconds at an eighth, a quarter, half and all of {most:,} events; of a scan, of at most 32,000", table
    )
    return Result(rows, what, METHOD, [shown])


BENCHMARK = Benchmark("condition-curves", "How conditions on the event before grow with the events of a key", run)
