"""What an event costs the kernel, by what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.bench import Bench, Benchmark
from benchmarks.kernel import COUNT, MEAN, MINUTE, Stream, check_plans, compiled, nanoseconds, query
from benchmarks.plots import Lines
from benchmarks.queries import LENGTHS, PATTERNS, TRIP
from benchmarks.report import Result, Row, Target
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.query import Aggregate, Function, Query, Window

HOUR = 60 * MINUTE
BURSTS = (1, 5, 20, 50, 100, 200)
TOTAL = Aggregate(Function.SUM, "Travel", Attribute("duration", "double"))
MEASURES = ((COUNT,), (Aggregate(Function.COUNT, "Travel"),), (COUNT, MEAN), (TOTAL,))
"""Those of `benchmarks.queries.mixed`, each in windows of its own."""


def costs(bench: Bench) -> Result:
    """One query against others, and pools."""
    events, rounds = bench.pick(300_000, 100_000, 1_000), bench.pick(5, 3, 1)
    hundred = Stream(events, max(1, events // 100))
    pool = [query(f"q{number}", text) for number, text in enumerate(PATTERNS)]
    both = [query(f"q{number}", PATTERNS[number % 25], (COUNT, MEAN)[number // 25]) for number in range(50)]
    mixed = [
        query(f"{length} {text}", text, *measures, window=Window(length * MINUTE, slide * MINUTE))
        for measures, (length, slide) in zip(MEASURES, LENGTHS, strict=True)
        for text in PATTERNS
    ]
    plain = [query("q", TRIP)]
    cases: dict[str, tuple[Sequence[Query], Stream]] = {
        "one": (plain, hundred),
        "with `AVG`": ([query("q", TRIP, MEAN)], hundred),
        "10 events a key": (plain, Stream(events, max(1, events // 10))),
        "3,000 events a key": (plain, Stream(events, max(1, events // 3_000))),
        "the same query 100 times": ([query(f"q{number}", TRIP) for number in range(100)], hundred),
        "25 patterns, `COUNT(*)`": (pool, hundred),
        "25 patterns, `COUNT(*)` and `AVG`": (both, hundred),
        "25 patterns with four sets of measures, each with its own windows": (mixed, hundred),
        "the same, 20 events a key": (mixed, Stream(events, max(1, events // 20))),
    }
    cases |= {f"bursts of {burst}": (plain, Stream(events, max(1, events // 100), burst=burst)) for burst in BURSTS[1:]}
    found = nanoseconds({name: (compiled(pool), stream) for name, (pool, stream) in cases.items()}, rounds)
    one = found.pop("one")
    rows = [Row(name, taken, "ns", "one query", one) for name, taken in found.items()]
    what = f"`{TRIP}`, `COUNT(*)`, 20-minute windows that slide by 5; {hundred}, unless it says otherwise"
    return Result(rows, what, method(rounds))


def sliding(bench: Bench) -> Result:
    """An hour that slides by ten seconds, 360 windows at a time, against an hour that does not."""
    events, rounds = bench.pick(300_000, 100_000, 2_000), bench.pick(5, 3, 1)
    keys = bench.pick(100, 100, 2)
    narrow, wide = (compiled([query("q", TRIP, window=Window(HOUR, slide))]) for slide in (HOUR, HOUR // 360))
    lanes = compiled([query("q", TRIP, window=Window(HOUR, HOUR // 360))], panes=False)
    rows, drawn = [], []
    for apart in (MINUTE, MINUTE // 6, MINUTE // 60):
        stream = Stream(events, keys, apart)
        check_plans({"panes": wide, "lanes": lanes}, stream)
        one, many, each = nanoseconds(
            {"one": (narrow, stream), "panes": (wide, stream), "lanes": (lanes, stream)}, rounds
        ).values()
        rows.append(Row(f"360 windows, an event each {apart / 1e6:g} s", many, "ns", "one window", one, Target(3)))
        rows.append(Row(f"a lane for each of the 360, an event each {apart / 1e6:g} s", each, "ns", "one window", one))
        drawn.append((apart / 1e6, one, many, each))
    names = ("one window", "360 windows, by panes", "360 windows, a lane each")
    series = {name: [(row[0], row[1 + index]) for row in reversed(drawn)] for index, name in enumerate(names)}
    plot = Lines("Nanoseconds an event", "seconds between two events of a key", series)
    what = f"`{TRIP}`, `COUNT(*)`, within an hour; {events:,} events of {keys} keys"
    return Result(rows, what, method(rounds), plots={"kernel-sliding": plot})


def method(rounds: int) -> str:
    """How times of the kernel are taken."""
    return f"processor time of one core, without Spark; least of {rounds} rounds, after one that does not count"


COSTS = Benchmark("kernel", "What an event costs the kernel", costs)
SLIDES = Benchmark("kernel-sliding", "360 windows at a time against one, the kernel alone", sliding)
