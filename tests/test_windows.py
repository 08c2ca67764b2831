"""WITHIN and SLIDE: which windows there are, and the bounds that results show."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from pyspark.sql import SparkSession

from tests.sql_cases import relation, results, settings, stream, trends, values

MOMENTS = ["1969-12-31 23:41:07.000001", "1970-01-01 00:00:00", "2024-03-10 09:59:59.999999", "2024-11-03 08:30:00"]
SPANS = [("20 minutes", "20 minutes"), ("20 minutes", "7 minutes"), ("1 day", "11 hours"), ("9 days", "9 days")]


def moments(spark: SparkSession, type_: str) -> None:
    rows = [f"1, {type_}'{moment}', 'A'" for moment in MOMENTS]
    relation(spark, "e", "k, t, ty", rows)


@pytest.mark.parametrize(
    ("type_", "zone"),
    [("TIMESTAMP", "UTC"), ("TIMESTAMP", "America/Los_Angeles"), ("TIMESTAMP_NTZ", "Asia/Kathmandu")],
)
def test_windows_are_those_of_spark(spark: SparkSession, type_: str, zone: str) -> None:
    """The same rows as a grouping by Spark's own window function, where that can be written."""
    with settings(spark, spark_sql_session_timeZone=zone):
        moments(spark, type_)
        ours = [
            f"SELECT window_start AS s, window_end AS e, n FROM ({trends('A', more=f'''WITHIN '{d}' SLIDE '{s}' ''')})"
            for d, s in SPANS
        ]
        found = results(spark, ours, ("s", "e", "n"))
        assert spark.sql(ours[0]).dtypes[:2] == [("s", type_.lower()), ("e", type_.lower())]
        for (length, slide), rows in zip(SPANS, found, strict=True):
            window = f"window(t, '{length}', '{slide}')"
            expected = spark.sql(
                f"SELECT {window}.start AS s, {window}.end AS e, count(*) AS n FROM e GROUP BY {window}"
            )
            assert rows == values(expected), (length, slide)


def test_slide_may_exceed_within(spark: SparkSession) -> None:
    """Windows [0, 3), [10, 13), [-10, -7): events in the gaps are in none."""
    stream(spark, {"x": "a0 a2 b2 b3 a10 b12 b13"})
    assert values(spark.sql(trends("A B", more="WITHIN 3 SLIDE 10"))) == [("x", 0, 3, 1), ("x", 10, 13, 1)]


@pytest.mark.parametrize("type_", ["TINYINT", "SMALLINT", "INT", "BIGINT"])
def test_integral_time(spark: SparkSession, type_: str) -> None:
    relation(
        spark, "e", "t, ty", [f"CAST({time} AS {type_}), '{kind}'" for time, kind in [(-5, "A"), (-3, "B"), (0, "B")]]
    )
    frame = spark.sql(trends("A B", more="WITHIN 6 SLIDE 4", keys="ORDER BY t TYPE BY ty"))
    assert [kind for _, kind in frame.dtypes[:2]] == [spark.table("e").dtypes[0][1]] * 2
    assert values(frame) == [(-8, -2, 1)]


def test_integral_windows_by_hand(spark: SparkSession) -> None:
    """Windows start at the multiples of the slide, below zero too; without SLIDE they do not overlap."""
    stream(spark, {"x": "a1 b3 a5 b6"})
    spark.sql("CREATE OR REPLACE TEMP VIEW below AS SELECT k, t - 9 AS t, ty, v FROM e")
    found = results(
        spark,
        [
            trends("A B", more="WITHIN 4"),
            trends("A B", more="WITHIN 4 SLIDE 2"),
            trends("A B", more="WITHIN 4", source="below"),
            trends("A B", more="WITHIN 1"),
        ],
        ("window_start", "window_end", "n"),
    )
    assert found == [[(0, 4, 1), (4, 8, 1)], [(0, 4, 1), (4, 8, 1)], [(-8, -4, 1), (-4, 0, 1)], []]


def test_times_at_the_ends_of_the_type(spark: SparkSession) -> None:
    relation(spark, "e", "t, ty", ["9223372036854775807, 'A'", "-9223372036854775808, 'A'", "0, 'A'"])
    assert values(spark.sql(trends("A+", keys="ORDER BY t TYPE BY ty"))) == [(7,)]


def test_dates(spark: SparkSession) -> None:
    """A week starts on a Thursday, as 1970-01-01 was one."""
    days = ["2024-02-28", "2024-02-29", "2024-03-06", "1969-12-31"]
    relation(spark, "e", "t, ty", [f"DATE'{day}', 'A'" for day in days])
    frame = spark.sql(trends("A+", more="WITHIN INTERVAL 7 DAYS", keys="ORDER BY t TYPE BY ty"))
    assert [kind for _, kind in frame.dtypes[:2]] == ["date", "date"]
    assert values(frame) == [
        (date(1969, 12, 25), date(1970, 1, 1), 1),
        (date(2024, 2, 22), date(2024, 2, 29), 1),
        (date(2024, 2, 29), date(2024, 3, 7), 3),
    ]


SPELLINGS = {
    "INTERVAL 20 MINUTES": 1200,
    "INTERVAL 20 MINUTE": 1200,
    "INTERVAL '20' MINUTE": 1200,
    "INTERVAL '20 minutes'": 1200,
    "'20 minutes'": 1200,
    "'interval 20 minutes'": 1200,
    "INTERVAL '1 2:03:04' DAY TO SECOND": 93784,
    "INTERVAL 1 DAY 30 SECONDS": 86430,
    "INTERVAL '1:30' MINUTE TO SECOND": 90,
    "INTERVAL 1 WEEK": 604800,
    "INTERVAL 2.5 SECONDS": 2.5,
    "INTERVAL 1 MICROSECOND": 1e-6,
}


def test_spellings_of_intervals(spark: SparkSession) -> None:
    relation(spark, "e", "k, t, ty", ["1, TIMESTAMP'1970-01-01 00:00:00', 'A'"])
    found = results(spark, [trends("A", more=f"WITHIN {text}") for text in SPELLINGS], ("window_start", "window_end"))
    lengths = {
        text: [(end - start).total_seconds() for start, end in rows]
        for text, rows in zip(SPELLINGS, found, strict=True)
    }
    assert lengths == {text: [seconds] for text, seconds in SPELLINGS.items()}


def test_trends_are_counted_in_every_window_that_holds_them(spark: SparkSession) -> None:
    """Windows are half open: [start, end)."""
    stream(spark, {"x": "a0 a4 b5 b9 b10"})
    found = values(spark.sql(trends("A+ B", more="WITHIN 10 SLIDE 5")))
    assert found == [("x", 0, 10, 6)]


def test_daylight_saving_does_not_move_windows(spark: SparkSession) -> None:
    """Windows of a day are days of UTC, shown in the time zone of the session."""
    with settings(spark, spark_sql_session_timeZone="America/New_York"):
        relation(
            spark,
            "e",
            "k, t, ty",
            [f"1, TIMESTAMP'{moment}', 'A'" for moment in ("2024-03-09 12:00:00", "2024-03-10 12:00:00")],
        )
        bounds = "CAST(window_start AS STRING) AS s, CAST(window_end AS STRING) AS e"
        rows = spark.sql(f"SELECT {bounds} FROM ({trends('A', more='WITHIN INTERVAL 1 DAY')})")
        assert values(rows) == [
            ("2024-03-08 19:00:00", "2024-03-09 19:00:00"),
            ("2024-03-09 19:00:00", "2024-03-10 20:00:00"),
        ]


def test_time_may_be_an_expression(spark: SparkSession) -> None:
    relation(spark, "e", "k, s, ty", ["1, '2024-01-01 00:00:30', 'A'", "1, 'never', 'A'", "1, NULL, 'A'"])
    keys = "PARTITION BY k ORDER BY try_to_timestamp(s) ASC TYPE BY ty"
    found = values(spark.sql(trends("A", more="WITHIN '1 minute'", keys=keys)))
    assert [row[0] for row in found] == [1]
    assert isinstance(found[0][1], datetime)
    assert found[0][3] == 1
