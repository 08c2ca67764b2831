"""Clauses with more conditions than one word of class bits has."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.sql_cases import relation, stream, trends, values

NUMBER = 150


def test_each_condition_is_evaluated_once(spark: SparkSession, tmp_path: Path) -> None:
    """Spark does not apply them a second time to leave out rows earlier, nor combine them with each other."""
    stream(spark, {"x": "a1 a2 a50 a149 a150 a500", "y": "a7 a8", "z": "a999"}, "made")
    spark.table("made").write.parquet(str(tmp_path / "e"))
    spark.read.parquet(str(tmp_path / "e")).createOrReplaceTempView("e")
    names = [f"V{number}" for number in range(NUMBER)]
    define = ", ".join(f"{name} AS v + 4321 = {number * 10 + 4321}" for number, name in enumerate(names))
    frame = spark.sql(trends(f"({' | '.join(names)})+", more=f"DEFINE {define}", keys="PARTITION BY k ORDER BY t"))
    plan = str(frame._jdf.queryExecution().optimizedPlan().toString())
    assert [plan.count(f"= {number * 10 + 4321}") for number in (1, 70, 149)] == [1, 1, 1], plan
    assert values(frame) == [("x", 2**4 - 1), ("y", 2**2 - 1)]


def test_each_type_is_looked_up_once(spark: SparkSession, tmp_path: Path) -> None:
    """Beside the list of all types, which leaves out the rows of others, unless one of them has a condition."""
    relation(spark, "made", "k, t, ty, v", [f"'x', {at}, '{kind}', 1D" for at, kind in enumerate("ACABDB")])
    spark.table("made").write.parquet(str(tmp_path / "e"))
    spark.read.parquet(str(tmp_path / "e")).createOrReplaceTempView("e")
    for more, rows, looks in (("", [("x", 9)], 1), ("DEFINE A AS v > 0, B AS v > 0", [("x", 9)], 2)):
        frame = spark.sql(trends("A+ B+", more=more, keys="PARTITION BY k TYPE BY ty ORDER BY t"))
        plan = str(frame._jdf.queryExecution().optimizedPlan().toString())
        assert plan.count(" = B)") == looks, plan
        assert " D" not in plan
        assert values(frame) == rows
