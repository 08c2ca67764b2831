"""Views whose source is gone, or has other columns: they fail when read, and can be dropped and replaced."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.support.sql_cases import fails, position, stream, trends, values

DROPS = ["sql", "catalog", "replace"]


def drop(spark: SparkSession, how: str) -> None:
    if how == "sql":
        spark.sql("DROP VIEW v")
    elif how == "catalog":
        assert spark.catalog.dropTempView("v")
    else:
        spark.sql("CREATE OR REPLACE TEMP VIEW v AS SELECT 1 AS one")


@pytest.mark.parametrize("how", DROPS)
def test_view_is_dropped_after_its_source(spark: SparkSession, how: str) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    spark.sql("DROP VIEW e")
    error = fails(spark, "SELECT * FROM v", "TREND_SOURCE")
    assert "`e`" in str(error)
    assert position(error) == (1, len("CREATE TEMP VIEW v AS SELECT * FROM ") + 1)
    drop(spark, how)
    assert values(spark.sql("SHOW TREND QUERIES")) == []


def test_view_is_dropped_while_a_setting_is_wrong(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    spark.conf.set("spark.sparkext.cache", "sometimes")
    drop(spark, "sql")


def test_source_with_other_columns(spark: SparkSession) -> None:
    """The error shows the statement that made the view; the view works again when the column is back."""
    stream(spark, {"x": "a1 b2"})
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B', 'SUM(A.v) AS s')}")
    assert values(spark.table("v")) == [("x", 10.0)]
    spark.sql("CREATE OR REPLACE TEMP VIEW e AS SELECT 'x' AS k, 1 AS t, 'A' AS ty")
    error = fails(spark, "SELECT * FROM v", "TREND_UNKNOWN_COLUMN")
    assert "`v`" in str(error)
    stream(spark, {"x": "a2 b3"})
    assert values(spark.table("v")) == [("x", 20.0)]


def test_dropping_does_not_plan(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    stream(spark, {"x": "a1 b2"})
    with caplog.at_level("INFO", "sparkext"):
        for number in range(3):
            spark.sql(f"CREATE TEMP VIEW v{number} AS {trends('A B')}")
        for number in range(3):
            spark.sql(f"DROP VIEW v{number}")
        assert values(spark.sql("SHOW TREND QUERIES")) == []
    assert not [record for record in caplog.records if "planned" in record.message]
    assert [table.name for table in spark.catalog.listTables() if table.isTemporary] == ["e"]


def test_a_broken_view_does_not_hide_the_others(spark: SparkSession) -> None:
    stream(spark, {"x": "a1 b2"})
    stream(spark, {"x": "a1 b2"}, "other")
    spark.sql(f"CREATE TEMP VIEW v AS {trends('A B')}")
    spark.sql(f"CREATE TEMP VIEW w AS {trends('A+ B').replace('FROM e', 'FROM other')}")
    spark.sql("DROP VIEW e")
    states = {row["name"]: row["state"] for row in spark.sql("SHOW TREND QUERIES").collect()}
    assert states == {"v": "broken", "w": "planned"}
    text = spark.sql("EXPLAIN SHARING").collect()[0]["plan"]
    assert "broken, reading them says why: v" in text
    assert "w: A+ B" in text
    assert values(spark.table("w")) == [("x", 1)]
    fails(spark, "SELECT * FROM v", "TREND_SOURCE")
    stream(spark, {"x": "a1 a2 b3"})
    assert values(spark.table("v")) == [("x", 2)]
    assert "broken" not in {row["state"] for row in spark.sql("SHOW TREND QUERIES").collect()}
