"""Relations of every kind that a user may have: the same events give the same rows, also when some are added."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.support.relation_kinds import ADDED, CLAUSE, COLUMNS, EVENTS, HIVE_KINDS, KINDS, check, clean

OFTEN = ("parquet table", "parquet by date")
"""Kinds that are looked at whenever tests are run; the others with those that take long."""


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[SparkSession]:
    """The session in an empty database."""
    spark.sql(f"CREATE DATABASE kinds LOCATION '{tmp_path}/kinds'")
    spark.sql("USE kinds")
    yield spark
    clean(spark)
    spark.sql("USE default")
    spark.sql("DROP DATABASE kinds CASCADE")


@pytest.mark.parametrize("name", OFTEN)
def test_kinds(schema: SparkSession, tmp_path: Path, name: str) -> None:
    check(schema, KINDS[name], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(KINDS.keys() - {*OFTEN}))
def test_other_kinds(schema: SparkSession, tmp_path: Path, name: str) -> None:
    check(schema, KINDS[name], tmp_path)


@pytest.mark.long
def test_kinds_of_hive(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.relation_kinds", str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    right = [line for line in done.stdout.splitlines() if line.startswith("right: ")]
    assert done.returncode == 0, f"{right}\n{done.stderr[-4000:]}"
    assert len(right) == len(HIVE_KINDS) + 2


@pytest.mark.parametrize("source", ["(SELECT * FROM rel WHERE d = '2026-01-02')", "last_day"])
def test_filters_of_partitions_prune(schema: SparkSession, source: str) -> None:
    """Only the files of the partitions that are asked for are read."""
    schema.createDataFrame([*EVENTS, ADDED], COLUMNS).createOrReplaceTempView("events")
    schema.sql("CREATE TABLE rel USING parquet PARTITIONED BY (d) AS SELECT /*+ COALESCE(1) */ * FROM events")
    schema.sql("CREATE TEMP VIEW last_day AS SELECT * FROM rel WHERE d = '2026-01-02'")
    frame = schema.sql(f"SELECT * FROM {source} {CLAUSE.format('A B')}")
    assert [tuple(row) for row in frame.collect()] == [(1, 30.0)]
    plan = frame._jdf.queryExecution().executedPlan().toString()
    [filters] = set(re.findall(r"PartitionFilters: \[(.*?)\]", plan))
    assert re.search(r"\(d#\d+ = 2026-01-02\)", filters)
    assert _files_read(frame) == 1
    schema.catalog.dropTempView("last_day")


def _files_read(frame: DataFrame) -> int:
    """How many files the last run of a frame has read."""
    todo, files = [frame._jdf.queryExecution().executedPlan()], 0
    while todo:
        node = todo.pop()
        kind = node.getClass().getSimpleName()
        if kind == "AdaptiveSparkPlanExec":
            todo.append(node.executedPlan())
        elif kind.endswith("QueryStageExec"):
            todo.append(node.plan())
        elif kind == "FileSourceScanExec":
            files += node.metrics().get("numFiles").get().value()
        children = node.children()
        todo += [children.apply(index) for index in range(children.size())]
    return files
