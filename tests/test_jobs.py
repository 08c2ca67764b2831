"""What the Spark jobs are called that sparkext starts itself."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.sql_cases import stream, trends, values

DESCRIPTION = "spark.job.description"


def descriptions(spark: SparkSession) -> list[str | None]:
    """Of all jobs that the application has run."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    found = [jobs.apply(place).description() for place in range(jobs.size())]
    return [one.get() if one.isDefined() else None for one in found]


@pytest.mark.parametrize("own", ["what I do", None])
def test_a_sample_has_a_description_and_the_users_is_restored(spark: SparkSession, own: str | None) -> None:
    key = own or "x"
    stream(spark, {key: "a1 b2 a3 b4"})
    for name, pattern in {"one": "A B", "two": "A+ B", "three": "A+ B+"}.items():
        spark.sql(f"CREATE TEMP VIEW {name} AS {trends(pattern)}")
    before = Counter(descriptions(spark))
    context = spark.sparkContext
    context.setLocalProperty(DESCRIPTION, own)  # type: ignore[arg-type]
    try:
        assert values(spark.table("two")) == [(key, 4)]
        assert context.getLocalProperty(DESCRIPTION) == own
        made = Counter(descriptions(spark)) - before
        assert made.pop("sparkext: pool 1, 3 queries") == 1
        assert set(made) == {own}
    finally:
        context.setLocalProperty(DESCRIPTION, None)  # type: ignore[arg-type]
