"""Against what people write by hand: one query, twenty queries, and sequences in which nothing is repeated.

Every answer is held against ours before its time counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import pandas as pd
import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.peers.trends import KEYS, Trend, some
from benchmarks.plots import Bars
from benchmarks.report import Result, Row, Target
from benchmarks.rides import Rides, write
from benchmarks.same import check_same

Answer: TypeAlias = Callable[[], "pa.Table | pd.DataFrame"]
OURS = "sparkext"


def one(bench: Bench) -> Result:
    """One query with a repeated part."""
    from benchmarks.peers import duck, pandas_udf, spark_sql

    rides = _rides(bench)
    few = Rides(*bench.pick((20_000, 20), (10_000, 10), (500, 5)))
    folder, trends = write(rides, bench.directory), some(1)
    events = bench.rides(rides)
    spark, (trend,) = bench.spark, trends
    times = compared(
        bench,
        {
            OURS: lambda: ours(bench, trends),
            "`applyInPandas`, a loop in Python": lambda: pandas_udf.in_python(events, trends).toArrow(),
            "`applyInPandas`, a loop in numba": lambda: pandas_udf.in_numba(events, trends).toArrow(),
            "Spark SQL, `aggregate()` over sorted arrays": lambda: spark_sql.folded(spark, trends).toArrow(),
            "Spark SQL, window functions": lambda: spark_sql.closed_form(spark, trend).toArrow(),
            "DuckDB, `list_reduce`": lambda: duck.folded(folder, trends),
        },
    )
    rows = [
        Row(name, taken, "s", OURS, times[OURS], None if name.startswith("DuckDB") else Target(1, at_least=True))
        for name, taken in times.items()
        if name != OURS
    ]
    bench.rides(few)
    small = compared(
        bench,
        {OURS: lambda: ours(bench, trends), "": lambda: duck.recursive(write(few, bench.directory), trend)},
    )
    rows.append(Row(f"DuckDB, recursive query, {few.events:,} events", small[""], "s", OURS, small[OURS]))
    what = f"{rides}; `{trend.pattern}`, `COUNT(*)` by district, 20-minute windows that slide by 5"
    return Result(rows, what, bench.method, plots={"by-hand-one": bars(times)})


def twenty(bench: Bench) -> Result:
    """Twenty queries, at once where there is a way."""
    from benchmarks.peers import duck, pandas_udf, spark_sql

    number = bench.pick(20, 10, 3)
    rides = _rides(bench)
    folder, trends = write(rides, bench.directory), some(number)
    events, spark = bench.rides(rides), bench.spark

    def one_by_one() -> pd.DataFrame:
        found = [pandas_udf.in_numba(events, [trend]).toPandas() for trend in trends]
        return pd.concat([frame.assign(query=index) for index, frame in enumerate(found)])

    answers: dict[str, Answer] = {
        OURS: lambda: ours(bench, trends),
        "`applyInPandas`, a loop in Python, one job": lambda: pandas_udf.in_python(events, trends).toArrow(),
        "`applyInPandas`, a loop in numba, one job": lambda: pandas_udf.in_numba(events, trends).toArrow(),
        "DuckDB, `list_reduce`, one statement": lambda: duck.folded(folder, trends),
    }
    if bench.size != "quick":
        answers["Spark SQL, `aggregate()`, one job"] = lambda: spark_sql.folded(spark, trends).toArrow()
        answers[f"`applyInPandas`, a loop in numba, {number} jobs"] = one_by_one
    times = compared(bench, answers)
    goal = Target(8, at_least=True)
    rows = [Row(name, taken, "s", OURS, times[OURS], goal) for name, taken in times.items() if name != OURS]
    what = f"{rides}; {number} queries `A B+ C`, `COUNT(*)` by district, 20-minute windows that slide by 5"
    return Result(rows, what, bench.method, plots={"by-hand-twenty": bars(times)})


def sequence(bench: Bench) -> Result:
    """Three events with nothing repeated, which joins can find."""
    from benchmarks.peers import duck, spark_sql

    rides = _rides(bench)
    folder, trend = write(rides, bench.directory), Trend("Request", "Travel", "Delivery", kleene=False)
    bench.rides(rides)
    times = compared(
        bench,
        {
            OURS: lambda: ours(bench, [trend]),
            "Spark SQL, self-joins": lambda: spark_sql.joined(bench.spark, trend).toArrow(),
            "Spark SQL, `aggregate()` over sorted arrays": lambda: spark_sql.folded(bench.spark, [trend]).toArrow(),
            "DuckDB, self-joins": lambda: duck.joined(folder, trend),
            "DuckDB, `list_reduce`": lambda: duck.folded(folder, [trend]),
        },
    )
    rows = [Row(name, taken, "s", OURS, times[OURS]) for name, taken in times.items() if name != OURS]
    what = f"{rides}; `{trend.pattern}`, `COUNT(*)` by district, 20-minute windows that slide by 5"
    return Result(rows, what, bench.method, plots={"by-hand-sequence": bars(times)})


def _rides(bench: Bench) -> Rides:
    return Rides(*bench.pick((1_000_000, 1_000), (50_000, 50), (2_000, 10)))


def ours(bench: Bench, trends: Sequence[Trend]) -> pa.Table:
    """One statement over all queries, planned and computed from nothing."""
    bench.spark.sql("REFRESH SHARING")
    parts = (
        f"SELECT {number} AS query, district, window_start, n FROM ({trend.sql()})"
        for number, trend in enumerate(trends)
    )
    return bench.spark.sql(" UNION ALL ".join(parts)).toArrow()


def compared(bench: Bench, answers: dict[str, Answer]) -> dict[str, float]:
    """Times of all answers, after each has been held against ours.

    Raises:
        ResultsDifferError: One of them is another.
    """
    expected = answers[OURS]()
    for name, answer in answers.items():
        if name != OURS:
            check_same(name, expected, answer(), KEYS)
    return bench.times(answers, warmed=True)


def bars(times: dict[str, float]) -> Bars:
    """A plot of them."""
    return Bars("Seconds", list(times.items()), [OURS])


ONE = Benchmark("by-hand-one", "One query `A B+ C` against what people write by hand", one)
TWENTY = Benchmark("by-hand-twenty", "Twenty queries `A B+ C` against what people write by hand", twenty)
SEQUENCE = Benchmark("by-hand-sequence", "A sequence of three against joins", sequence)
