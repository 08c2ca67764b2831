"""A condition on an earlier event of a trend, over real flights, against joins.

A join finds the first and last event of a trend. What may be in between depends on no condition, so joins count it:
from the numbers of late flights at each time, of which a trend has one at most.
"""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pyarrow as pa

from benchmarks.bench import Bench, Benchmark
from benchmarks.plots import Bars
from benchmarks.report import Result, Row
from benchmarks.same import check_same

OURS = "sparkext"

TREND = """
SELECT carrier, window_start AS day, n FROM flights_of_days MATCH_TREND (
  PARTITION BY carrier
  ORDER BY departs
  TYPE BY kind
  MEASURES COUNT(*) AS n
  PATTERN (OnTime Late+ VeryLate)
  DEFINE VeryLate AS VeryLate.delay - OnTime.delay >= 120
  WITHIN INTERVAL 1 DAY
)"""

JOINED = """
WITH placed AS (
  SELECT carrier, date_trunc('day', departs) AS day, departs, delay, kind
  FROM flights_of_days WHERE kind IN ('OnTime', 'Late', 'VeryLate')
),
times AS (
  SELECT carrier, day, departs, ln(1 + count(CASE WHEN kind = 'Late' THEN 1 END)) AS ways
  FROM placed GROUP BY carrier, day, departs
),
summed AS (
  SELECT carrier, day, departs, ways, sum(ways) OVER (PARTITION BY carrier, day ORDER BY departs) AS up_to
  FROM times
),
events AS (
  SELECT placed.*, up_to, up_to - ways AS before
  FROM placed JOIN summed USING (carrier, day, departs) WHERE kind <> 'Late'
)
SELECT carrier, day, sum(exp(latest.before - first.up_to) - 1) AS n
FROM (SELECT * FROM events WHERE kind = 'OnTime') AS first
JOIN (SELECT * FROM events WHERE kind = 'VeryLate') AS latest USING (carrier, day)
WHERE latest.departs > first.departs AND latest.delay - first.delay >= 120 AND latest.before > first.up_to + 0.5
GROUP BY carrier, day"""
"""In the SQL of both Spark and DuckDB. Logarithms are added up, as neither has a running product."""


def run(bench: Bench) -> Result:
    """All carriers, days as windows."""
    from examples.flights import define_views, load

    spark = bench.spark
    load(spark)
    made = define_views(spark)
    days = bench.pick(365, 60, 5)
    spark.sql(
        f"CREATE OR REPLACE TEMP VIEW flights_of_days AS SELECT * FROM flights WHERE dayofyear(departs) <= {days}"
    )
    flights = spark.table("flights_of_days").toArrow()
    answers: dict[str, Callable[[], pa.Table]] = {
        OURS: lambda: _ours(bench),
        "Spark SQL, a join": lambda: spark.sql(JOINED).toArrow(),
        "DuckDB, a join": lambda: _duck(flights),
    }
    expected = answers[OURS]()
    for name, answer in answers.items():
        check_same(name, expected, answer(), ("carrier", "day"))
    times = bench.times(answers, warmed=True)
    spark.catalog.dropTempView("flights_of_days")
    for statement in reversed(made):
        spark.catalog.dropTempView(str(statement.view))
    rows = [Row(name, taken, "s", OURS, times[OURS]) for name, taken in times.items() if name != OURS]
    what = (
        f"{flights.num_rows:,} flights by carrier and day; `OnTime Late+ VeryLate` with "
        "`VeryLate.delay - OnTime.delay >= 120`, `COUNT(*)`; DuckDB has the flights in memory"
    )
    return Result(rows, what, bench.method, plots={"earlier": Bars("Seconds", list(times.items()), [OURS])})


def _ours(bench: Bench) -> pa.Table:
    """Planned and computed from nothing."""
    bench.spark.sql("REFRESH SHARING")
    return bench.spark.sql(TREND).toArrow()


def _duck(flights: pa.Table) -> pa.Table:
    with duckdb.connect() as database:
        database.register("flights_of_days", flights)
        return database.sql(JOINED).to_arrow_table()


BENCHMARK = Benchmark("earlier", "A condition on an earlier event against joins", run)
