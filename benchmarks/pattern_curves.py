"""Cost curves: how time and memory grow with the events of one key, for every kind of pattern."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.bench import Bench, Benchmark
from benchmarks.cost_curve import METHOD, curve, figures
from benchmarks.kernel import compiled, query
from benchmarks.report import Result, Row, Table, Target
from sparkext.planner.patterns.query import Aggregate, Function, Selection, Window

COUNT = Aggregate(Function.LOG10_COUNT)
PATTERNS: tuple[tuple[str, Window | None, Selection], ...] = (
    ("Request Travel", None, Selection.ANY),
    ("Request Accept Pickup Travel Delivery Cancel Request Accept Pickup Travel", None, Selection.ANY),
    ("Travel+", None, Selection.ANY),
    ("Request (Pickup Travel)+ Delivery", None, Selection.ANY),
    ("Request (Pickup (Travel | Accept)* Cancel?)+ Delivery", None, Selection.ANY),
    ("(Travel | Pickup)* Travel (Travel | Pickup){5}", None, Selection.ANY),
    ("Travel{20}", None, Selection.ANY),
    ("PERMUTE(Request, Accept, Pickup, Cancel)", None, Selection.ANY),
    ("Request NOT Cancel Delivery", None, Selection.ANY),
    ("Request (Pickup NOT (Cancel Accept) Travel)+ Delivery", None, Selection.ANY),
    ("NOT Cancel Request Travel+ Delivery NOT Cancel", None, Selection.ANY),
    ("Request (Pickup Travel)+ Delivery", Window(10_000, 1_000), Selection.ANY),
    ("Request (Pickup Travel)+ Delivery", Window(10_000, 10), Selection.ANY),
    ("Request (Pickup NOT Cancel Travel)+ Delivery", Window(10_000, 1_000), Selection.ANY),
    ("Request (Pickup Travel)+ Delivery", None, Selection.NEXT),
    ("Request (Pickup NOT Cancel Travel)+ Delivery", None, Selection.NEXT),
    ("Request (Pickup Travel)+ Delivery", Window(10_000, 1_000), Selection.NEXT),
    ("Travel+", None, Selection.CONTIGUOUS),
    ("Request (Pickup | Travel)+ Delivery", Window(10_000, 1_000), Selection.CONTIGUOUS),
)
"""With their windows, in microseconds, of events a microsecond apart, and which events a trend may leave out."""


def run(bench: Bench) -> Result:
    """Each point in a process of its own."""
    most = bench.pick(1_000_000, 64_000, 1_000)
    rows: list[Row] = []
    table: list[dict[str, object]] = []
    for pattern, window, selection in bench.pick(PATTERNS, PATTERNS, PATTERNS[::5]):
        asked = replace(query("curve", pattern, COUNT, window=window), selection=selection)
        points = curve(compiled([asked]), most, bench.directory)
        name = f"`{pattern}`" if selection is Selection.ANY else f"`{pattern} {selection.value}`"
        if window is not None:
            name += f", {window.live:,} windows at a time"
        few, many = points[0], points[-1]
        what = f"{name}, {many.events:,} events"
        rows.append(Row(what, many.seconds, "s", "an eighth of them", few.seconds, Target(12)))
        rows.append(Row(what, many.megabytes, "MB", target=Target(500)))
        table.append({"pattern": name, **figures(points)})
    shown = Table(f"Seconds at an eighth, a quarter, half and all of {most:,} events", table)
    return Result(rows, "events of six types, of one key", METHOD, [shown])


BENCHMARK = Benchmark("pattern-curves", "How patterns grow with the events of a key", run)
