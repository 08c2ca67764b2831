"""``sparkext demo``: a first funnel, on page visits that the command makes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from sparkext.cli.local_session import local_session
from sparkext.planner.amounts import count
from sparkext.sql.quoting import identifier

USERS = 5000
VISITS = 12
"""Of a user, on average."""

PAGES = {"Search": 0.3, "View": 0.4, "Cart": 0.2, "Pay": 0.1}
"""Shares of the visits."""

_SEED = 7
_SECOND = 1_000_000
_WEEK = 7 * 24 * 3600
_BEGIN = 1_767_225_600_000_000  # 2026-01-01, in microseconds

STEPS = """CREATE TEMP VIEW {view} AS
SELECT * FROM visits MATCH_TREND (
  PARTITION BY user ORDER BY at TYPE BY page
  ONE ROW PER COMPLETION
  MEASURES CLASSIFIER() AS step, LAST(at) - FIRST(at) AS took
  PATTERN (FUNNEL({pages})))"""
FUNNELS = {"bought": "View, Cart, Pay", "went_on": "View, Cart, Search"}
"""Pages of each funnel, by the name of its view."""

ROWS = """SELECT step, users, format_string('%.0f %%', 100 * users / max(users) OVER ()) AS reached, median
FROM (SELECT step, count(DISTINCT user) AS users, percentile(took, 0.5) AS median FROM bought GROUP BY step)
ORDER BY users DESC"""

_SHORT = ("Pool ", "  Pass ", "  Made ", "    (", "  Sharing: ", "  Cost: ")
"""How the lines of ``EXPLAIN SHARING`` begin that are shown."""


def add(commands: Any) -> None:
    """Add the command to those of ``sparkext``."""
    command = commands.add_parser(
        "demo",
        help="a first funnel, on data that is made for it",
        description="Make visits of some thousand users to the pages of a shop, in a directory that is gone "
        "afterwards, and show how many of them come how far, in which time, and what two such funnels share.",
    )
    command.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Show the demo; returns the exit status of the command."""
    began = time.monotonic()
    with TemporaryDirectory(prefix="sparkext-demo-") as directory:
        try:
            spark = local_session("sparkext demo", {"spark.sql.warehouse.dir": f"{directory}/warehouse"})
        except PySparkException as error:
            print(f"sparkext demo: Spark does not start; is there Java 17 or later? {error}", file=sys.stderr)
            return 1
        try:
            for text in _shown(spark, Path(directory) / "visits.parquet"):
                print(text, flush=True)
        finally:
            spark.stop()
    print(
        f"All of it took {time.monotonic() - began:.0f} s. `sparkext spark-sql` is a prompt for questions of your own."
    )
    return 0


def visits() -> pa.Table:
    """Visits of users to pages, the same each time."""
    chance = np.random.default_rng(_SEED)
    number = USERS * VISITS
    seconds = np.sort(chance.choice(_WEEK, number, replace=False))  # no two visits are at one time
    return pa.table(
        {
            "user": pa.array(chance.integers(1, USERS + 1, number), pa.int32()),
            "at": pa.array(_BEGIN + seconds * _SECOND, pa.timestamp("us", "UTC")),
            "page": pa.array(chance.choice([*PAGES], number, p=[*PAGES.values()]), pa.string()),
        }
    )


def _shown(spark: SparkSession, file: Path) -> Iterator[str]:
    """What the command prints."""
    table = visits()
    pq.write_table(table, file)
    made = f"{count(table.num_rows, 'visit', 'visits')} of {count(USERS, 'user', 'users')}"
    yield f"{made} in a week. Who buys, how long does it take, and where do the others stop?\n"
    spark.sql(f"CREATE TEMP VIEW visits AS SELECT * FROM parquet.{identifier(str(file))}")
    for view, pages in FUNNELS.items():
        sql = STEPS.format(view=view, pages=pages)
        spark.sql(sql)
        yield f"{sql};\n"
    yield f"{ROWS};\n"
    yield _table(spark.sql(ROWS)) + "\n"
    yield "What the two funnels share, from EXPLAIN SHARING:\n"
    (plan,) = spark.sql("EXPLAIN SHARING").collect()
    yield "\n".join(line for line in plan.plan.splitlines() if line.startswith(_SHORT)) + "\n"


def _table(frame: DataFrame) -> str:
    lines = [tuple(frame.columns), *(tuple(map(str, row)) for row in frame.collect())]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    padded = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)
