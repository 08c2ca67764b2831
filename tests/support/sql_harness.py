"""Runs pools of queries through ``spark.sql``, as a user would, and reads their results back."""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import sys
import time
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest import mock

from pyspark.sql import SparkSession
from pyspark.sql.types import (
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    StringType,
    TimestampType,
)

import sparkext
from sparkext.planner.patterns.query import Aggregate, Function, Query
from sparkext.udfs.sorting.sorted_events import MOST_BYTES
from tests.support.enumerator import Results, enumerate_results
from tests.support.kernel_harness import difference
from tests.support.prev_conditions import MEANINGS
from tests.support.workloads import SCHEMA, Workload, workload

_INTERVAL = r"INTERVAL '(-?)(\d+) (\d+):(\d+):([\d.]+)' DAY TO SECOND"
"""An interval as CAST makes a text of it."""

STRATEGIES = ("gloria", "gloria", "greedy", "none", "sharon", "hamlet", "published", "mcep")
"""What plans a pool; one of these is drawn. `exhaustive` gives up on larger ones."""


def start_session() -> SparkSession:
    """A small enabled session on this machine."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.retainedJobs", "1000000")  # tests look at jobs, and at what stages have read
        .config("spark.ui.retainedStages", "1000000")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sparkext.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.adaptive.enabled", "false")  # tests of what it does switch it on
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.warehouse.dir", f"/tmp/sparkext-test-warehouse-{os.getpid()}")
    )
    plain = builder.getOrCreate()
    plain.sparkContext.setLogLevel("OFF")
    return sparkext.enable(plain)


def can_be_written(drawn: Workload) -> bool:
    """Whether the workload can be said in SQL, where an empty GROUP BY cannot."""
    return drawn.group != () or drawn.partition == ()


def register(spark: SparkSession, drawn: Workload, prefix: str) -> list[str]:
    """Make the rows a view and each query a view over it; returns the names of the latter."""
    relation = f"{prefix}_rows"
    spark.createDataFrame(drawn.records(), SCHEMA).createOrReplaceTempView(relation)
    names = [f"{prefix}_{query.name}" for query in drawn.queries]
    for name, query in zip(names, drawn.queries, strict=True):
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {drawn.sql(query, relation)}")
    return names


def pool_rows(spark: SparkSession, drawn: Workload, prefix: str, order: random.Random) -> list[list[tuple[Any, ...]]]:
    """Per query the rows that its view has: asked for one view after another in random order, or all at once."""
    spark.conf.set("spark.sparkext.optimizer", order.choice(STRATEGIES))
    spark.conf.set("spark.sparkext.costModel", order.choice(("measured", "paper")))
    spark.conf.set("spark.sparkext.chunks", order.choice(("auto", "on", "off")))
    spark.conf.set("spark.sparkext.partitions", order.choice(("2", "auto")))
    spark.conf.set("spark.sparkext.sort", order.choice(("worker", "worker", "spark")))
    with mock.patch("sparkext.execution.source_pass.MOST_BYTES", order.choice((500, MOST_BYTES))):
        return _rows_of_views(spark, drawn, prefix, order)


def _rows_of_views(
    spark: SparkSession, drawn: Workload, prefix: str, order: random.Random
) -> list[list[tuple[Any, ...]]]:
    """As `pool_rows`, under the settings as they are."""
    names = register(spark, drawn, prefix)
    indexes = list(range(len(names)))
    order.shuffle(indexes)
    if order.random() < 0.25:
        by_index = {index: [tuple(row) for row in spark.table(names[index]).collect()] for index in indexes}
    else:
        by_index = _all_at_once(spark, {index: names[index] for index in indexes})
    for name in [*names, f"{prefix}_rows"]:
        spark.catalog.dropTempView(name)
    return [by_index[index] for index in range(len(names))]


def _all_at_once(spark: SparkSession, names: dict[int, str]) -> dict[int, list[tuple[Any, ...]]]:
    """The rows of several views by one statement, in which all values are strings."""
    schemas = {index: spark.table(name).schema for index, name in names.items()}
    parts = []
    for index, name in names.items():
        values = ", ".join(f"CAST({column.name} AS STRING)" for column in schemas[index].fields)
        parts.append(f"SELECT {index} AS number, array({values}) AS texts FROM {name}")
    by_index: dict[int, list[tuple[Any, ...]]] = {index: [] for index in names}
    for index, texts in spark.sql(" UNION ALL ".join(parts)).collect():
        columns = schemas[index].fields
        by_index[index].append(tuple(_parsed(text, c.dataType) for text, c in zip(texts, columns, strict=True)))
    return by_index


def _parsed(text: str | None, kind: DataType) -> Any:
    """A value from what CAST makes of it."""
    if text is None or isinstance(kind, StringType):
        return text
    if isinstance(kind, DecimalType):
        return Decimal(text)
    if isinstance(kind, DateType):
        return date.fromisoformat(text)
    if isinstance(kind, DayTimeIntervalType):
        parts = re.fullmatch(_INTERVAL, text)
        assert parts is not None, text
        sign, days, hours, minutes, seconds = parts.groups()
        length = timedelta(int(days), hours=int(hours), minutes=int(minutes), microseconds=round(float(seconds) * 1e6))
        return -length if sign else length
    if isinstance(kind, TimestampType):
        form = "%Y-%m-%d %H:%M:%S.%f" if "." in text else "%Y-%m-%d %H:%M:%S"
        return datetime.strptime(text, form).replace(tzinfo=timezone.utc)
    return float(text) if isinstance(kind, DoubleType | FloatType) else int(text)


def as_results(drawn: Workload, query: Query, rows: Sequence[tuple[Any, ...]]) -> Results:
    """Rows of a view in the enumerator's form: per group key and window, the aggregates.

    Raises:
        AssertionError: A group and window has two rows, or its bounds are not those of a window.
    """
    keys = len(drawn.partition if drawn.group is None else drawn.group)
    results: Results = {}
    for row in rows:
        values = list(row)
        group, rest = tuple(values[:keys]), values[keys:]
        window = None
        if query.window is not None:
            start, end, *rest = rest
            window, remainder = divmod(start, query.window.slide)
            assert remainder == 0
            assert end == start + query.window.within
        key = (group, 0 if window is None else window)
        assert key not in results
        results[key] = [_value(query, i, value) for i, value in enumerate(rest)]
    return results


def mismatches(spark: SparkSession, seed: int) -> list[str]:
    """What ``spark.sql`` and the enumerator disagree on, for the random pool of ``seed``."""
    chance = random.Random(seed)
    drawn = workload(chance)
    if not can_be_written(drawn):
        return []
    events = drawn.events()
    problems: list[str] = []
    for query, rows in zip(drawn.queries, pool_rows(spark, drawn, f"w{seed}", chance), strict=True):
        expected = {
            key: [
                in_microseconds(aggregate, value)
                for aggregate, value in zip(query.aggregates, results_of_key, strict=True)
            ]
            for key, results_of_key in enumerate_results(query, events, MEANINGS).items()
        }
        problem = difference(expected, as_results(drawn, query, rows))
        if problem is not None:
            problems.append(f"seed {seed}, {drawn.sql(query, 'rows')}: {problem}")
    return problems


def in_microseconds(aggregate: Aggregate, value: Any) -> Any:
    """A value of the enumerator, rounded if Spark has an interval for it."""
    is_time = aggregate.is_difference and aggregate.ends[0].attribute.type == "timestamp"
    if value is None or not is_time or aggregate.function not in (Function.SUM, Function.AVG):
        return value
    return math.floor(abs(value) + 0.5) * (1 if value > 0 else -1)


def _value(query: Query, index: int, value: Any) -> Any:
    """A value as the enumerator gives it: counts as int, moments with their time zone, differences as fractions."""
    if query.aggregates[index].is_extreme_difference and isinstance(value, Decimal):
        return Fraction(value)
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc)
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    return int(value) if query.aggregates[index].function is Function.COUNT and value is not None else value


def main() -> int:
    """Run many random pools and say how many went wrong."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pools", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    spark = start_session()
    begin = time.perf_counter()
    wrong = run = 0
    seed = asked.first
    while run < asked.pools:
        if can_be_written(workload(random.Random(seed))):
            run += 1
            for problem in mismatches(spark, seed):
                wrong += 1
                print(problem, flush=True)
        seed += 1
    seconds = time.perf_counter() - begin
    print(f"{run} pools through spark.sql in {seconds:.0f} s, {run / seconds:.2f} a second: {wrong} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
