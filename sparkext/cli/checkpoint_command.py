"""``sparkext checkpoint``: what the checkpoint of a stream keeps."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkext.binding.streams import PROVIDER, ROCKSDB
from sparkext.planner.amounts import count
from sparkext.udfs.streams.query_changes import moment_text
from sparkext.udfs.streams.stored import DamagedError, Header, UnusableError


def add(commands: Any) -> None:
    """Add the command to those of ``sparkext``."""
    command = commands.add_parser(
        "checkpoint",
        help="what the checkpoint of a stream keeps: queries, since when they are exact, events",
        description="Read the states in the checkpoint of a streaming query, and say of each operator of sparkext's "
        "which queries it computes, from when on their rows are right, how far it has come, and how many events it "
        "keeps. Nothing is changed.",
    )
    command.add_argument("path", help="the checkpointLocation of the streaming query")
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Describe a checkpoint; returns an exit status."""
    path: str = asked.path
    if "://" not in path and not Path(path, "offsets").is_dir():
        return _failed(f"{path} is no checkpoint of a streaming query: it has no directory offsets")
    builder = SparkSession.builder.master("local[2]").appName("sparkext checkpoint").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").config(PROVIDER, ROCKSDB).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        lines = list(describe(spark, path))
    except PySparkException as error:
        return _failed(f"{path} cannot be read: {str(error).strip()}")
    finally:
        spark.stop()
    if not lines:
        return _failed(f"{path} has no operator of sparkext's")
    print("\n".join(lines))
    return 0


def describe(spark: SparkSession, path: str) -> Iterator[str]:
    """What the checkpoint of a streaming query keeps, a line at a time.

    Args:
        spark: A session whose state store is that of the checkpoint.
        path: The checkpoint.
    """
    operators = spark.read.format("state-metadata").load(path).select("operatorId", "operatorName").distinct()
    for number, name in sorted(map(tuple, operators.collect())):
        if "transformWithState" in name:
            yield from _operator(spark, path, number)


def _operator(spark: SparkSession, path: str, number: int) -> Iterator[str]:
    states = spark.read.format("statestore").option("operatorId", number).option("stateVarName", "bucket").load(path)
    headers: list[Header] = []
    problems: list[str] = []
    for row in states.select("value.data").collect():
        try:
            headers.append(Header.read(bytes(row[0])))
        except UnusableError as error:
            problems.append(str(error))
        except DamagedError as error:
            problems.append(f"{error} is damaged")
    if headers:
        yield from _lines(number, headers)
    for problem in sorted(set(problems)):
        yield f"Operator {number}: {count(problems.count(problem), 'bucket', 'buckets')}: {problem}"


def _lines(number: int, headers: Sequence[Header]) -> Iterator[str]:
    first = headers[0]
    pages = [page for header in headers for page in header.pages]
    size = sum(page.size for page in pages)
    yield f"Operator {number}: {count(first.buckets, 'bucket', 'buckets')}, rows are written up to " + (
        moment_text(first.until)
    )
    yield "  " + "; ".join(f"{part} {text}" for part, text in first.meaning.items())
    yield (
        f"  {count(sum(page.rows for page in pages), 'event', 'events')} in {count(len(pages), 'page', 'pages')} of "
        f"{size:,} bytes"
        + (f", from {moment_text(min(page.first for page in pages))} on" if pages else "")
        + f"; at most {max(sum(page.rows for page in header.pages) for header in headers):,} in a bucket"
    )
    yield "  Queries, each exact for what begins at"
    yield from (f"    {moment_text(since)}: {text}" for text, since in first.queries.items())
    yield "  Classes and columns of events, from when on they are kept"
    yield from (f"    {moment_text(since)}: {text}" for text, since in first.needs.items())


def _failed(told: str) -> int:
    print(f"sparkext: {told}", file=sys.stderr)
    return 1
