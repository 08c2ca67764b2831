"""What small statements ask of Spark: counted, since it does not depend on what else the machine does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.support.jvm_calls import jvm_calls
from tests.support.sql_cases import settings, stream, trends, values

EVENTS = {"x": "a1 b2 a3 b4 c5", "y": "a1 b2 c3 c4"}

MOST_CALLS = {"query": 60, "kept view": 60, "view": 40}
"""How often the JVM is asked by a statement over files whose like has been run, calls of PySpark's own among them."""


@pytest.fixture(autouse=True)
def files(spark: SparkSession, tmp_path: Path) -> None:
    """Files that the relations e and f read, and two views over e that have been read."""
    stream(spark, EVENTS, "made")
    for name in ("e", "f"):
        spark.table("made").coalesce(1).write.parquet(str(tmp_path / name))
        spark.read.parquet(str(tmp_path / name)).createOrReplaceTempView(name)
    spark.sql(f"CREATE TEMP VIEW one AS {trends('A B')}")
    spark.sql(f"CREATE TEMP VIEW two AS {trends('A+ B', 'COUNT(*) AS n, SUM(A.v) AS s')}")
    for _ in range(2):
        assert values(spark.table("one")) == [("x", 3), ("y", 1)]


def test_how_often_the_jvm_is_asked(spark: SparkSession) -> None:
    statements: dict[str, Callable[[], object]] = {
        "query": lambda: spark.sql(trends("A C", source="f")).collect(),
        "kept view": lambda: spark.sql("SELECT * FROM one").collect(),
        "view": lambda: spark.sql(f"CREATE OR REPLACE TEMP VIEW three AS {trends('A B C')}"),
    }
    with settings(spark, spark_sparkext_partitions="auto"):
        for _ in range(2):
            for statement in statements.values():
                statement()
        calls = {what: jvm_calls(statement) for what, statement in statements.items()}
    assert all(calls[what] <= most for what, most in MOST_CALLS.items()), calls


def test_a_small_source_is_read_by_the_task_that_computes(spark: SparkSession) -> None:
    """Without a shuffle, unless the user says how many tasks there are to be; the rows are the same."""
    by_time = "ORDER BY t TYPE BY ty"
    for keys in (f"PARTITION BY k {by_time}", f"PARTITION BY k GROUP BY length(k) AS l {by_time}", by_time):
        statement = trends("A B", keys=keys, source="f")
        rows_of_settings: list[list[tuple[Any, ...]]] = []
        for wanted, has_shuffle in {"auto": False, "2": True}.items():
            with settings(spark, spark_sparkext_partitions=wanted):
                frame = spark.sql(statement)
                plan = str(frame._jdf.queryExecution().executedPlan().toString())
                assert ("Exchange" in plan) == has_shuffle, plan
                assert has_shuffle or plan.count("MapInArrow") == 1, plan
                rows_of_settings.append(values(frame))
        assert rows_of_settings[0] == rows_of_settings[1]


def test_a_kept_view_is_its_rows(spark: SparkSession) -> None:
    """Once it has been read, unless a measure is of the moment of each statement."""
    spark.sql(f"CREATE TEMP VIEW now AS {trends('A B', 'COUNT(*) + unix_micros(now()) AS at')}")
    moments = [max(row["at"] for row in spark.table("now").collect()) for _ in range(4)]
    assert moments == sorted(set(moments))
    assert values(spark.table("one")) == [("x", 3), ("y", 1)]
    shown = str(spark.table("one")._jdf.queryExecution().analyzed().toString())
    assert "LocalRelation" in shown, shown
    assert "Filter" not in shown, shown
    spark.read.parquet(*spark.table("f").inputFiles()).where("t < 3").createOrReplaceTempView("e")
    assert values(spark.table("one")) == [("x", 1), ("y", 1)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) AS n FROM one",
        "SELECT k, sum(n) AS n FROM one GROUP BY k",
        "SELECT DISTINCT n FROM one",
        "SELECT * FROM one ORDER BY n",
        "SELECT *, rank() OVER (ORDER BY n) AS at FROM one",
    ],
)
def test_small_results_are_brought_together_by_one_task(spark: SparkSession, text: str) -> None:
    """Without a shuffle."""
    assert "Exchange" not in _executed(spark, text)
    assert values(spark.sql(text)) == values(spark.sql(text.replace("FROM one", "FROM one JOIN one AS o USING (k, n)")))


def test_small_results_that_are_shown_take_no_job(spark: SparkSession) -> None:
    spark.sql("SELECT count(*) FROM one").collect()
    assert _executed(spark, "SELECT * FROM one WHERE n > 1").startswith("LocalTableScan")
    assert _executed(spark, "SELECT k FROM one UNION ALL SELECT k FROM two").count("LocalTableScan") == 2
    assert "Coalesce" not in _executed(spark, "SELECT count(*) FROM one JOIN made USING (k)")


def _executed(spark: SparkSession, text: str) -> str:
    """What Spark runs for a statement."""
    return str(spark.sql(text)._jdf.queryExecution().executedPlan().toString())
