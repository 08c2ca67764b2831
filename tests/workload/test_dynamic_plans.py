"""Statistics and changes of plan, through Spark: what EXPLAIN SHARING says of them, and that results stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_cases import settings, trends, values

QUERIES = {
    "q1": trends("A B C D"),
    "q2": trends("E A B C D"),
    "q3": trends("E A B C", "COUNT(*) AS n, SUM(B.v) AS total"),
}
COUNTED = {"A": 60, "B": 6, "C": 6, "D": 2, "E": 2}
SAMPLED = {"A": 1, "B": 6, "C": 6, "D": 2, "E": 2}


@pytest.fixture(autouse=True)
def table(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    """A table of one file whose first keys have few events of A, and the others many."""
    groups = [(key, SAMPLED if key < 10 else COUNTED) for key in range(40)]
    rows = [
        f"'{key:02}', {time}, '{kind}', {time % 3}"
        for key, numbers in groups
        for time, kind in enumerate(
            sorted((kind for kind, number in numbers.items() for _ in range(number)), key="EABCD".index)
        )
    ]
    relation = f"SELECT /*+ COALESCE(1) */ * FROM VALUES {', '.join(f'({row})' for row in rows)} AS r(k, t, ty, v)"
    spark.sql(f"CREATE TABLE changing USING parquet LOCATION '{tmp_path}/changing' AS {relation}")
    spark.sql("CREATE TEMP VIEW e AS SELECT * FROM changing")
    yield
    spark.sql("DROP TABLE changing")


def explained(spark: SparkSession) -> str:
    """Without how many events kernels have interpreted, which depends on what has been compiled on the machine."""
    [row] = spark.sql("EXPLAIN SHARING").collect()
    return "\n".join(line for line in row.plan.split("\n") if not line.lstrip().startswith("Kernels: "))


def create(spark: SparkSession, *names: str) -> None:
    for name in names:
        spark.sql(f"CREATE OR REPLACE TEMP VIEW {name} AS {QUERIES[name]}")


def read(spark: SparkSession, *names: str) -> list[list[tuple[object, ...]]]:
    return [values(spark.table(name)) for name in names]


def test_counters_correct_the_sample_and_the_plan_changes(spark: SparkSession) -> None:
    """When it pays, and once: what was read of the source says nothing of the keys that come later."""
    with settings(spark, spark_sparkext_costModel="paper", spark_sparkext_statistics_sampleRows="100"):
        create(spark, *QUERIES)
        expected = read(spark, *QUERIES)
        text = explained(spark)
        assert "A  1 (sample of 100 rows)" in text
        assert "Migrated" not in text

        spark.catalog.clearCache()
        assert read(spark, *QUERIES) == expected
        text = explained(spark)
        assert "A  45.25 (counted)" in text
        assert "Migrated from a plan that costs" in text

        spark.catalog.clearCache()
        assert read(spark, *QUERIES) == expected
        assert without_moments(explained(spark)) == without_moments(text)


def without_moments(text: str) -> str:
    """A report without when passes were made, and how long that took."""
    return re.sub(r"\S+ \S+ UTC, in \S+ \w+", "", text)


@pytest.mark.long
def test_a_change_that_does_not_pay_is_not_made(spark: SparkSession) -> None:
    """Some dozen keys take microseconds whatever the plan is."""
    with settings(spark, spark_sparkext_statistics_sampleRows="100"):
        create(spark, *QUERIES)
        expected = read(spark, *QUERIES)
        spark.catalog.clearCache()
        assert read(spark, *QUERIES) == expected
        text = explained(spark)
        assert "(sample of 100 rows)" in text
        assert "Migrated" not in text


def test_events_that_a_pass_has_not_found_are_named(spark: SparkSession) -> None:
    """Such as those of a variable that the column of types never has."""
    for name, pattern in {"one": "A Bb", "two": "A+ Bb"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
    assert values(spark.table("one")) == []
    missing = re.findall(r"^ +(.*?) .*; the pass has found none$", explained(spark), re.MULTILINE)
    assert missing == ["Bb"]


def test_given_statistics(spark: SparkSession) -> None:
    """Those of a user are believed, whatever is counted; for other classes something is assumed."""
    given = '{"A": 7, "B": 2.5}'
    with settings(spark, spark_sparkext_statistics=given):
        create(spark, *QUERIES)
        read(spark, "q1")
        text = explained(spark)
        assert "A  7 (given)" in text
        assert "B  2.5 (given)" in text
        assert "C  100 (assumed)" in text


def test_a_view_more_or_less_does_not_disturb_the_others(spark: SparkSession) -> None:
    """What has been computed stays; what has not is planned with all that is known then."""
    create(spark, "q1", "q2")
    expected = read(spark, "q1", "q2")
    create(spark, "q3")
    text = explained(spark)
    assert "Pass 1 (computed" in text
    assert "Pass 2 (" in text
    assert read(spark, "q1", "q2") == expected
    spark.sql("DROP VIEW q1")
    assert read(spark, "q2") == expected[1:]
    spark.sql(f"CREATE OR REPLACE TEMP VIEW q2 AS {QUERIES['q1']}")
    assert read(spark, "q2") == expected[:1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("optimizer", "model"),
    [
        ("gloria", "paper"),
        ("gloria", "measured"),
        ("greedy", "measured"),
        ("exhaustive", "paper"),
        ("none", "measured"),
        ("sharon", "measured"),
        ("mcep", "measured"),
    ],
)
def test_every_optimizer_gives_the_same_results(spark: SparkSession, optimizer: str, model: str) -> None:
    expected = [values(spark.sql(statement)) for statement in QUERIES.values()]
    with settings(spark, spark_sparkext_optimizer=optimizer, spark_sparkext_costModel=model):
        create(spark, *QUERIES)
        assert read(spark, *QUERIES) == expected
        assert f"Optimizer: {optimizer}" in explained(spark)
