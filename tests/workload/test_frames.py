"""`sparkext.match_trend`: the clause over data frames."""

from __future__ import annotations

import doctest
import gc
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import ParseException, PySparkException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sparkext
from sparkext import dataframe_api
from tests.support.sql_cases import stream, trends, values
from tests.support.tiers import first

EVENTS = {"x": "a1 b2 a3 b4 c5", "y": "a1 b1 c2 b3"}


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    stream(spark, EVENTS)
    return spark.table("e")


def shown(spark: SparkSession, column: str) -> list[str]:
    return [row[column] for row in spark.sql("SHOW TREND QUERIES").collect()]


def trend(events: DataFrame, pattern: str, name: str | None = None) -> DataFrame:
    return sparkext.match_trend(
        events, pattern=pattern, order_by="t", partition_by="k", type_by="ty", measures="COUNT(*) AS n", name=name
    )


def test_doctests(spark: SparkSession) -> None:
    outcome = doctest.testmod(dataframe_api, extraglobs={"spark": spark})
    assert outcome.attempted >= 2
    assert not outcome.failed


@pytest.mark.long
@pytest.mark.parametrize("name", ["python.md", "tutorial.md"])
def test_the_page(spark: SparkSession, name: str) -> None:
    """All that it shows."""
    page = Path(__file__).parents[2] / "docs" / name
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    parser = doctest.DocTestParser()
    test = parser.get_doctest(page.read_text(), {"spark": spark}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test)
    assert runner.tries >= 15
    assert not runner.failures


def test_all_arguments(spark: SparkSession, events: DataFrame) -> None:
    """They mean what the sections of the clause mean."""
    frame = sparkext.match_trend(
        events,
        pattern="A+ (B | C)",
        order_by="t",
        measures={"n": "COUNT(*)", "the total": "SUM(A.v)"},
        partition_by=["k"],
        group_by="k AS who",
        type_by="ty",
        define={"B": "B.v > 15"},
        within="4",
        slide="2",
    )
    written = """SELECT * FROM e MATCH_TREND (PARTITION BY k GROUP BY k AS who ORDER BY t TYPE BY ty
        MEASURES COUNT(*) AS n, SUM(A.v) AS `the total` PATTERN (A+ (B | C)) DEFINE B AS B.v > 15 WITHIN 4 SLIDE 2)"""
    assert frame.columns == ["who", "window_start", "window_end", "n", "the total"]
    assert values(frame) == values(spark.sql(written)) != []


def test_columns_numbers_and_durations(spark: SparkSession, events: DataFrame) -> None:
    """What the functions of PySpark take, this takes as well."""
    frame = sparkext.match_trend(
        events,
        pattern="A+ (B | C)",
        order_by=F.col("t"),
        measures=["COUNT(*) AS n"],
        partition_by=F.col("k"),
        group_by=[F.upper("k").alias("who")],
        type_by=F.col("ty").cast("string"),
        define={
            "A": (F.col("A.v") >= 10) & ~F.col("k").isin("it's", "z") & F.col("v").isNotNull(),
            "B": F.when(F.col("v") > 15, F.col("t").between(0, 9)).otherwise(F.lit(False)),
            "C": F.expr("v > PREV(v)"),
        },
        within=4,
        slide=2,
    )
    written = """SELECT * FROM e MATCH_TREND (PARTITION BY k GROUP BY upper(k) AS who ORDER BY t TYPE BY ty
        MEASURES COUNT(*) AS n PATTERN (A+ (B | C)) DEFINE B AS B.v > 15, C AS v > PREV(v) WITHIN 4 SLIDE 2)"""
    assert values(frame) == values(spark.sql(written)) != []


@pytest.mark.parametrize(
    "within", first(1, [timedelta(minutes=20), "20 minutes", "INTERVAL 20 MINUTES", "'20 minutes'"])
)
def test_lengths_of_time(events: DataFrame, within: timedelta | str) -> None:
    timed = events.withColumn("at", F.timestamp_seconds(F.col("t") * 60))
    frame = sparkext.match_trend(
        timed, pattern="A B", order_by="at", type_by="ty", measures="COUNT(*) AS n", within=within, partition_by="k"
    )
    ends = frame.selectExpr("window_end - window_start AS d").distinct()
    assert values(ends) == [(timedelta(minutes=20),)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"order_by": 5}, "order_by must be a str, a Column, or a list of them, not int"),
        ({"partition_by": 5}, "partition_by must be a str, a Column, or a list of them, not int"),
        ({"group_by": {"k": "v"}}, "group_by must be a str, a Column, or a list of them, not dict"),
        ({"partition_by": ["k", 5]}, "partition_by must be a str or a Column, not int"),
        ({"measures": 5}, "measures must be a str, a list of str, or a dict of names and str, not int"),
        ({"measures": {"n": 5}}, "measures must be a str, not int"),
        ({"define": ["A"]}, "define must be a dict of variables and conditions, not list"),
        ({"define": {"A": True}}, "define must be a str or a Column, not bool"),
        ({"within": 1.5}, "within must be a str, an int or a timedelta, not float"),
        ({"within": True}, "within must be a str, an int or a timedelta, not bool"),
        ({"within": " "}, "within is empty"),
        ({"pattern": ["A", "B"]}, "pattern must be a str, not list"),
        ({"name": 5}, "name must be a str, not int"),
    ],
)
def test_arguments_of_other_types(events: DataFrame, arguments: dict[str, Any], said: str) -> None:
    usual: dict[str, Any] = {"pattern": "A", "order_by": "t", "measures": "COUNT(*) AS n", "type_by": "ty"}
    with pytest.raises(PySparkException, match=re.escape(f"match_trend: {said}")):
        sparkext.match_trend(events, **{**usual, **arguments})


def test_what_is_no_data_frame(events: DataFrame) -> None:
    for no_frame in ("e", events.toPandas(), None):
        with pytest.raises(PySparkTypeError, match=r"df must be a DataFrame of Spark, not (str|DataFrame|NoneType)"):
            sparkext.match_trend(no_frame, pattern="A", order_by="t", measures="COUNT(*) AS n")  # type: ignore[arg-type]
    doubled = F.udf(lambda v: 2 * v, "double")
    with pytest.raises(PySparkTypeError, match="cannot be written as SQL; give define as a str"):
        sparkext.match_trend(
            events, pattern="A", order_by="t", measures="COUNT(*) AS n", define={"A": doubled("v") > F.lit(1)}
        )


def test_frames_and_views_are_one_workload(spark: SparkSession, events: DataFrame) -> None:
    """Planned together when the first is used; each lives as long as its frame, or its view."""
    spark.sql(f"CREATE TEMP VIEW written AS {trends('A B')}")
    first, second, named = trend(events, "A B+"), trend(events, "A B+ C"), trend(events, "C | B", "named")
    assert values(first) == [("x", 4), ("y", 1)]
    assert set(shown(spark, "pool")) == {"pool 1"}
    assert set(shown(spark, "state")) == {"computed"}
    assert len(shown(spark, "name")) == 4
    assert values(second.where("n > 1").groupBy().agg(F.sum("n"))) == [(4,)]
    assert values(spark.table("named")) == values(named)
    del first, second, named
    gc.collect()
    assert shown(spark, "name") == ["written", "named"]
    assert [table.name for table in spark.catalog.listTables() if table.name.startswith("match_trend")] == []
    spark.sql("DROP VIEW named")
    spark.sql("DROP VIEW written")
    assert shown(spark, "name") == []


def hidden(spark: SparkSession) -> list[str]:
    """Views that sparkext has made, once it has looked at what is still needed."""
    shown(spark, "name")
    return [table.name for table in spark.catalog.listTables() if table.name.startswith("sparkext_")]


@pytest.mark.long
def test_named_views_leave_nothing_behind(spark: SparkSession, events: DataFrame) -> None:
    """However they go. A data frame that the user keeps stays kept."""
    kept = events.where("t > 0").cache()
    trend(kept, "A B+", "named")
    assert len(hidden(spark)) == 1
    trend(kept, "A B+ C", "named")
    assert values(spark.table("named")) == [("x", 4)]
    assert len(hidden(spark)) == 1
    spark.sql("CREATE OR REPLACE TEMP VIEW named AS SELECT 1 AS one")
    assert hidden(spark) == []
    trend(kept, "A B+", "named")
    spark.sql("DROP VIEW named")
    assert hidden(spark) == []
    trend(kept, "A B+", "named")
    sparkext.disable(spark)
    sparkext.enable(spark)
    assert hidden(spark) == []
    assert kept.storageLevel.useMemory
    kept.unpersist()


def test_a_frame_of_a_frame(events: DataFrame) -> None:
    inner = sparkext.match_trend(
        events, pattern="A B", order_by="t", partition_by="k", type_by="ty", measures=["COUNT(*) AS n", "MAX(B.t) AS t"]
    )
    outer = sparkext.match_trend(inner, pattern="X+", order_by="t", measures={"m": "COUNT(*)"}, define={"X": "X.n > 0"})
    assert values(outer) == [(3,)]


def test_errors(spark: SparkSession, events: DataFrame) -> None:
    """As from SQL, with nothing left behind; and from Python where SQL could not say what is wrong."""
    with pytest.raises(ParseException, match="TREND_PATTERN_SYNTAX"):
        sparkext.match_trend(events, pattern="A ++ B", order_by="t", measures="COUNT(*) AS n", type_by="ty")
    with pytest.raises(ParseException, match="TREND_UNKNOWN_COLUMN") as caught:
        sparkext.match_trend(events, pattern="A", order_by="nowhere", measures="COUNT(*) AS n", type_by="ty")
    assert "nowhere" in str(caught.value)
    assert "Did you mean one of: `k`, `t`, `ty`, `v`?" in str(caught.value)
    with pytest.raises(PySparkValueError, match="pattern is empty"):
        sparkext.match_trend(events, pattern=" ", order_by="t", measures="COUNT(*) AS n")
    assert shown(spark, "name") == []
    assert [table.name for table in spark.catalog.listTables() if "sparkext_source" in table.name] == []


def test_a_session_without_the_extension(plain: SparkSession) -> None:
    with pytest.raises(PySparkValueError, match="a session without sparkext"):
        sparkext.match_trend(plain.range(3), pattern="A", order_by="id", measures="COUNT(*) AS n")
