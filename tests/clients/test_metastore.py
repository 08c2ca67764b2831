"""Permanent views in Hive's metastore, which outlive the programs that create them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.spark_programs import CLAUSE, variables

pytestmark = pytest.mark.spark

PROGRAM = """
import json, sys
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").enableHiveSupport().getOrCreate()
if sys.argv[1] == "enabled":
    import sparkext
    spark = sparkext.enable(spark)
found = []
for statement in sys.argv[2:]:
    try:
        found.append([[str(value) for value in row] for row in spark.sql(statement).collect()])
    except AnalysisException as error:
        found.append(str(error))
print(json.dumps(found))
"""
EVENTS = (
    "CREATE TABLE events USING parquet AS SELECT * FROM VALUES (1, 'A'), (2, 'B'), (3, 'A'), (4, 'B') AS e(t, kind)"
)
QUERY = f"SELECT n -- é\nFROM events MATCH_TREND ({CLAUSE})"


def run(where: Path, how: str, *statements: str) -> list[list[list[str]] | str]:
    """What a program of its own gets for statements, with the metastore in a folder."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, how, *statements], cwd=where, env=variables(), capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    rows_of_statements: list[list[list[str]] | str] = json.loads(ran.stdout.strip().splitlines()[-1])
    return rows_of_statements


def test_views_outlive_the_program(tmp_path: Path) -> None:
    """Others with the extension read them, and those without get an error that names it."""
    created = run(tmp_path, "enabled", EVENTS, f"CREATE VIEW pairs AS {QUERY}", "SELECT * FROM pairs")
    assert created == [[], [], [["3"]]]
    again = run(
        tmp_path,
        "enabled",
        "SELECT * FROM pairs",
        "SHOW CREATE TABLE pairs",
        "INSERT INTO events VALUES (5, 'B')",
        "SELECT * FROM pairs",
    )
    assert [again[0], again[3]] == [[["3"]], [["5"]]]
    assert again[1][0][0].endswith(f"\nAS {QUERY}\n")
    read, shown, dropped, left = run(
        tmp_path, "plain", "SELECT count(*) FROM pairs", "SHOW CREATE TABLE pairs", "DROP VIEW pairs", "SHOW VIEWS"
    )
    assert "sparkext, which this view needs and this session has not enabled" in read
    assert QUERY in shown[0][0]
    assert (dropped, left) == ([], [])
